// desk.js -- statements and requests by hand: PartiQL with its plan, and every operation of the API as
// JSON or as a pasted AWS CLI command.

import { fromText } from '../code/cli.js';
import { stateFromRequest } from '../code/form.js';
import { call } from '../core/api.js';
import { errorBox, notify } from '../core/dialog.js';
import { counted, field, h, show, uniqueId } from '../core/dom.js';
import { Grid } from '../core/grid.js';
import { bind } from '../core/keys.js';
import { estimate } from '../core/query.js';
import { go, tableLink } from '../core/router.js';
import { describe, keysOf, known, names } from '../core/tables.js';
import { attributeOf, brief, fromDynamo } from '../core/value.js';
import { codeDialog } from '../parts/code_pane.js';
import { queryFromState } from '../parts/query_bar.js';

const PLAN_DELAY_MS = 300;
const ADDRESS_SIZE_MAX = 8192;

// Keeps what was typed in the address, so that a reload finds it; long texts only in memory.
function keep(view, texts) {
  Object.assign(view.memory, texts);
  const size = Object.values(texts).reduce((sum, text) => sum + text.length, 0);
  view.setQuery({ mode: view.query('mode'), ...(size <= ADDRESS_SIZE_MAX ? texts : {}) });
}
const HISTORY_MAX = 50;
const history_ = []; // Of this visit only: statements hold data.

const OPERATIONS = ['BatchExecuteStatement', 'BatchGetItem', 'BatchWriteItem', 'CreateTable', 'DeleteItem', 'DeleteTable', 'DescribeEndpoints', 'DescribeLimits', 'DescribeStream', 'DescribeTable', 'DescribeTimeToLive', 'ExecuteStatement', 'ExecuteTransaction',
  'GetItem', 'GetRecords', 'GetShardIterator', 'ListStreams', 'ListTables', 'ListTagsOfResource', 'PutItem', 'Query', 'Scan', 'TagResource', 'TransactGetItems', 'TransactWriteItems', 'UntagResource', 'UpdateItem', 'UpdateTable', 'UpdateTimeToLive'];

export function render(view) {
  const mode = view.query('mode') === 'request' ? 'request' : 'partiql';
  const body = h('div', { class: 'page' });
  const tab = (id, label) => h('a', { href: `#/q${id === 'partiql' ? '' : '?mode=request'}`, 'aria-current': id === mode ? 'page' : undefined }, label);
  if (mode === 'partiql') partiqlDesk(view, body);
  else requestDesk(view, body);
  return { title: mode === 'partiql' ? 'PartiQL' : 'Requests', element: h('div', { class: 'page' }, h('h1', null, 'Query desk'), h('nav', { class: 'tabs', 'aria-label': 'Desk' }, tab('partiql', 'PartiQL'), tab('request', 'Any request')), body) };
}

// --- Answers ---

function itemsGrid(items) {
  const grid = new Grid({ label: 'Result' });
  const columns = [...new Set(items.slice(0, 500).flatMap((item) => Object.keys(item)))].slice(0, 40);
  grid.setColumns(columns.map((name) => {
    const of = (row) => attributeOf(row, name);
    const cell = (row) => (of(row) ? brief(fromDynamo(of(row))) : null);
    const longest = items.slice(0, 50).reduce((max, row) => Math.max(max, cell(row)?.length ?? 0), name.length);
    return { name, label: name, cell, width: Math.min(340, Math.max(90, longest * 8 + 24)), numeric: items.slice(0, 50).every((row) => of(row)?.N !== undefined || !of(row)) };
  }));
  grid.setRows(items);
  return grid.element;
}

function showAnswer(place, answer, ms, more) {
  const items = answer.Items ?? (answer.Item ? [answer.Item] : answer.Responses && Array.isArray(answer.Responses) ? answer.Responses.map((one) => one.Item).filter(Boolean) : null);
  const units = [answer.ConsumedCapacity].flat().filter(Boolean).reduce((sum, one) => sum + one.CapacityUnits, 0);
  show(place, items && items.length > 0 && itemsGrid(items),
    h('div', { class: 'footer', role: 'status' }, items && h('span', null, h('strong', null, counted(items.length)), ' items'), units > 0 && h('span', null, h('strong', null, counted(units)), ' units'), h('span', null, h('strong', null, Math.round(ms)), ' ms'), more),
    h('details', { open: !items }, h('summary', null, 'Answer as JSON'), h('pre', { tabindex: '0', 'aria-label': 'Answer' }, JSON.stringify(answer, null, 2))));
}

// --- PartiQL ---

// What a read is expected to cost, from the statistics of the table; empty if they may not be read.
async function costOf({ Operation, TableName, IndexName, KeyRanges, ConsistentRead }, signal) {
  if (!['Scan', 'Query'].includes(Operation)) return '';
  try {
    const table = known(TableName) ?? await describe(TableName, { signal });
    const hash = Operation === 'Scan' ? [] : keysOf(table, IndexName).hash;
    const text = estimate(table, { index: IndexName, hash, range: { op: '=', values: [] }, filters: [], consistent: ConsistentRead });
    return ` Expected: ${text}${KeyRanges > 1 ? ', for each range' : ''}.`;
  } catch {
    return '';
  }
}

function planView(plan, cost) {
  const isScan = plan.Operation === 'Scan';
  return h('div', { class: `notice ${isScan ? 'warn' : 'good'}` }, h('strong', null, plan.Operation, plan.IndexName ? ` of index ${plan.IndexName}` : '', ` on ${plan.TableName}`),
    h('p', null, isScan ? `Reads the whole ${plan.IndexName ? 'index' : 'table'}${plan.HasFilter ? '; the condition only filters what was read' : ''}.` : plan.Operation === 'Query' ? `Reads ${counted(plan.KeyRanges)} ${plan.KeyRanges === 1 ? 'range' : 'ranges'} of keys.` : 'Touches one item.',
      cost));
}

function partiqlDesk(view, body) {
  const list = names();
  const statement = h('textarea', { rows: '4', spellcheck: 'false', value: view.memory.statement ?? view.query('statement') ?? (list.length ? `SELECT * FROM "${list[0]}"` : ''), oninput: () => explainSoon() });
  const parameters = h('textarea', { rows: '2', spellcheck: 'false', value: view.memory.parameters ?? view.query('parameters') ?? '', placeholder: '[{"S": "value of the first ?"}]', oninput: () => explainSoon() });
  const plan = h('div', { 'aria-live': 'polite' });
  const result = h('div', { class: 'page' });
  let timer = 0;
  let next;
  const request = () => ({ Statement: statement.value.trim(), ...(parameters.value.trim() ? { Parameters: JSON.parse(parameters.value) } : {}) });
  function explainSoon() {
    view.memory.statement = statement.value;
    view.memory.parameters = parameters.value;
    clearTimeout(timer);
    timer = setTimeout(explain, PLAN_DELAY_MS);
  }
  async function explain() {
    if (view.signal.aborted) return;
    if (view.memory.statement !== undefined) keep(view, { statement: statement.value, parameters: parameters.value });
    if (statement.value.trim() === '') {
      show(plan);
      return;
    }
    try {
      const asked = statement.value;
      const answer = await call('ExplainStatement', request(), { signal: view.signal });
      const cost = await costOf(answer, view.signal);
      if (statement.value === asked) show(plan, planView(answer, cost));
    } catch (error) {
      if (!view.signal.aborted) show(plan, h('div', { class: 'notice' }, h('strong', null, 'Not yet a statement that runs'), h('p', null, error.message)));
    }
  }
  async function run(token) {
    let parameters_;
    try {
      parameters_ = request();
    } catch (error) {
      show(result, errorBox(Object.assign(new Error(error.message), { name: 'The parameters are no JSON' })));
      return;
    }
    const started = performance.now();
    remember(parameters_.Statement);
    try {
      const answer = await call('ExecuteStatement', { ...parameters_, ReturnConsumedCapacity: 'TOTAL', ...(token ? { NextToken: token } : {}) }, { signal: view.signal });
      next = answer.NextToken;
      showAnswer(result, answer, performance.now() - started, next && h('button', { onclick: () => run(next) }, 'Next page'));
    } catch (error) {
      if (!view.signal.aborted) show(result, errorBox(error));
    }
  }
  function remember(text) {
    if (history_[0] === text) return;
    history_.unshift(text);
    history_.length = Math.min(history_.length, HISTORY_MAX);
    drawHistory();
  }
  const past = h('details', null);
  function drawHistory() {
    show(past, h('summary', null, `History of this visit (${history_.length})`), h('ul', { class: 'plain-list' }, history_.map((text) => h('li', null, h('button', { class: 'plain mono', type: 'button', onclick: () => { statement.value = text; explainSoon(); statement.focus(); } }, text.slice(0, 120))))));
  }
  drawHistory();
  bind('Query desk', [{ keys: 'Ctrl+Enter', label: 'Run', run: () => run() }], view.signal);
  show(body, h('form', { class: 'card', 'aria-label': 'PartiQL statement', onsubmit: (event) => { event.preventDefault(); run(); } }, field('Statement', statement), field('Parameters', parameters, { hint: 'Optional: values for each ?, as DynamoDB JSON.' }), plan,
    h('div', { class: 'actions' }, h('button', { class: 'primary', type: 'submit' }, 'Run'), h('button', { type: 'button', onclick: () => { try { codeDialog('ExecuteStatement', request()); } catch (error) { notify(error.message, { error: true }); } } }, 'Code')), past), result);
  explain();
}

// --- Any request ---

function requestDesk(view, body) {
  const known = uniqueId('operations');
  const operation = h('input', { class: 'mono-input', list: known, value: view.memory.operation ?? view.query('operation') ?? 'ListTables', oninput: () => { view.memory.operation = operation.value; }, onchange: keepRequest });
  const source = h('textarea', { rows: '12', spellcheck: 'false', value: view.memory.source ?? view.query('source') ?? '{}', oninput: () => { view.memory.source = source.value; }, onchange: keepRequest, onpaste: () => setTimeout(adopt) });
  function keepRequest() {
    keep(view, { operation: operation.value, source: source.value });
  }
  const result = h('div', { class: 'page' });
  const fail = (error) => show(result, errorBox(Object.assign(error, { name: error.name === 'SyntaxError' ? 'This is no JSON' : error.name })));
  // A pasted command or request says which operation it is.
  function adopt() {
    try {
      const found = fromText(source.value);
      const isCommand = !/^\s*\{/.test(source.value);
      operation.value = isCommand || operation.value === 'ListTables' ? found.operation : operation.value;
      source.value = JSON.stringify(found.parameters, null, 2);
      keepRequest();
      if (isCommand) notify('The command became a request');
    } catch { /* It is not whole yet. */ }
  }
  const read = () => {
    if (!/^\s*\{/.test(source.value)) adopt();
    return JSON.parse(source.value || '{}');
  };
  async function run() {
    const started = performance.now();
    try {
      keepRequest();
      const parameters = read(); // Which may set the operation.
      const answer = await call(operation.value, parameters, { signal: view.signal });
      showAnswer(result, answer, performance.now() - started);
    } catch (error) {
      if (!view.signal.aborted) fail(error);
    }
  }
  async function openForm() {
    try {
      const parameters = read();
      const table = await describe(parameters.TableName, { signal: view.signal });
      go(tableLink(table.TableName, 'items', queryFromState(stateFromRequest(table, operation.value, parameters))));
    } catch (error) {
      if (!view.signal.aborted) fail(error);
    }
  }
  bind('Query desk', [{ keys: 'Ctrl+Enter', label: 'Send', run }], view.signal);
  show(body, h('form', { class: 'card', 'aria-label': 'Any request', onsubmit: (event) => { event.preventDefault(); run(); } }, h('datalist', { id: known }, OPERATIONS.map((value) => h('option', { value }))), field('Operation', operation), field('Parameters', source, { hint: 'JSON, or paste an AWS CLI command.' }),
    h('div', { class: 'actions' }, h('button', { class: 'primary', type: 'submit' }, 'Send'), h('button', { type: 'button', onclick: openForm }, 'Open as a form'), h('button', { type: 'button', onclick: () => { try { const parameters = read(); codeDialog(operation.value, parameters); } catch (error) { fail(error); } } }, 'Code'))), result);
}
