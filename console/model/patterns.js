// patterns.js -- the access patterns: the table with which a design begins.

import { confirm } from '../core/dialog.js';
import { field, h, select, show } from '../core/dom.js';
import { list } from '../parts/panel.js';
import { viewsOf } from './document.js';
import { area, button, checkbox, entityLabel, formDialog, input, put, words } from './forms.js';

const OPERATIONS = ['Query', 'GetItem', 'Scan', 'PutItem', 'UpdateItem', 'DeleteItem'];
const COMPARES = [['', 'any'], ['Equals', '='], ['BeginsWith', 'begins with'], ['Between', 'between'], ['LessThan', '<'], ['AtMost', '≤'], ['GreaterThan', '>'], ['AtLeast', '≥']];

// A sort key as [comparison, text, second text].
function sortKeyOf(value) {
  if (value === undefined) return ['', '', ''];
  if (typeof value === 'string') return ['Equals', value, ''];
  const [[compare, text]] = Object.entries(value);
  return Array.isArray(text) ? [compare, ...text] : [compare, text, ''];
}

export function sortKeyText(value) {
  const [compare, text, second] = sortKeyOf(value);
  const [, label] = COMPARES.find(([id]) => id === compare) ?? ['', compare];
  return compare === '' ? '' : compare === 'Equals' ? text : `${label} ${text}${second ? ` and ${second}` : ''}`;
}

function sortKeyFrom(compare, text, second, before) {
  if (compare === '') return undefined;
  if (compare === 'Equals' && typeof before !== 'object') return text;
  return { [compare]: compare === 'Between' ? [text, second] : text };
}

const lines = (object) => Object.entries(object ?? {}).map(([name, value]) => `${name} = ${typeof value === 'string' ? value : JSON.stringify(value)}`).join('\n');

function fromLines(text, before) {
  const pairs = text.split('\n').filter((line) => line.trim()).map((line) => line.split(/\s*=\s*(.*)/s)).map(([name, value = '']) => [name.trim(), value.trim()]);
  // What was no text, such as a number, stays what it was.
  return pairs.length ? Object.fromEntries(pairs.map(([name, value]) => [name, before?.[name] !== undefined && JSON.stringify(before[name]) === value ? before[name] : value])) : undefined;
}

const jsonText = (value) => (value === undefined ? '' : JSON.stringify(value, null, 2));
function fromJson(text, label) {
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw Object.assign(new Error(`${label}: ${error.message}`), { name: 'Not JSON' });
  }
}

function edit(desk, at) {
  const { doc } = desk;
  const pattern = doc.patterns[at] ?? { Operation: 'Query' };
  const name = input(pattern.Name, { autofocus: true, class: '' });
  const operation = select(OPERATIONS, { value: pattern.Operation, onchange: draw });
  const table = select(doc.tables.map((one) => one.TableName), { value: pattern.Table ?? doc.tables[0]?.TableName, onchange: draw });
  const index = select([]);
  const hash = input(pattern.PartitionKey);
  const [compareNow, firstNow, secondNow] = sortKeyOf(pattern.SortKey);
  const compare = select(COMPARES, { value: compareNow, onchange: draw });
  const first = input(firstNow);
  const second = input(secondNow);
  const entities = doc.entities.map((one) => ({ name: one.Name, ...checkbox(one.Name, (pattern.Entities ?? []).includes(one.Name)) }));
  const parameters = area(lines(pattern.Parameters));
  const attributes = input((pattern.Attributes ?? []).join(', '));
  const calls = input(pattern.CallsPerSecond === undefined ? '' : JSON.stringify(pattern.CallsPerSecond), { inputmode: 'decimal' });
  const limit = input(pattern.Limit ?? '', { inputmode: 'numeric' });
  const count = input(pattern.Expect?.Count ?? '', { inputmode: 'numeric' });
  const texts = Object.fromEntries(['Filter', 'Condition', 'Update'].map((one) => [one, input(pattern[one])]));
  const objects = Object.fromEntries(['Names', 'Values', 'Item'].map((one) => [one, area(jsonText(pattern[one]))]));
  const flags = Object.fromEntries([['ConsistentRead', 'Consistent read'], ['Descending', 'Descending'], ['AllowScan', 'A Scan is no fault']].map(([one, label]) => [one, checkbox(label, pattern[one] === true)]));
  const secondField = field('and', second);
  const writeFields = h('div', null, field('Item, as DynamoDB JSON', objects.Item), field('Update', texts.Update), field('Condition', texts.Condition));
  const chosen = pattern.Index ?? '';
  function draw() {
    const now = doc.table(table.value);
    const value = index.value || chosen;
    show(index, viewsOf(now).map((one) => h('option', { value: one.name ?? '' }, one.name ?? 'the table itself')));
    index.value = value;
    if (index.selectedIndex < 0) index.value = '';
    secondField.hidden = compare.value !== 'Between';
    writeFields.hidden = !['PutItem', 'UpdateItem', 'DeleteItem'].includes(operation.value);
  }
  draw();
  return formDialog(desk, at < 0 ? 'New pattern' : `Pattern ${pattern.Name}`, [
    h('div', { class: 'row' }, h('div', { class: 'grow' }, field('Name', name)), field('Operation', operation)),
    h('div', { class: 'row' }, doc.tables.length > 1 && field('Table', table), field('By', index)),
    entities.length > 0 && h('fieldset', null, h('legend', null, 'Entities that it reads or writes'), h('div', { class: 'actions' }, entities.map((one) => one.element))),
    field('Parameters', parameters, { hint: 'What is known when it is asked, one per line: customerId = c1' }),
    field('Partition key', hash, { hint: 'A template: CUSTOMER#<customerId>. Leave it empty if you do not know yet: the coverage tab suggests keys.' }),
    h('div', { class: 'row' }, field('Sort key', compare), h('div', { class: 'grow' }, field('Text', first)), secondField),
    h('div', { class: 'row' }, h('div', { class: 'grow' }, field('Attributes needed, with commas', attributes)), field('Calls per second', calls)),
    h('details', null, h('summary', null, 'More'), h('div', { class: 'editor' }, h('div', { class: 'actions' }, Object.values(flags).map((one) => one.element)),
      h('div', { class: 'row' }, field('Limit', limit), field('Items expected', count)), field('Filter', texts.Filter), field('Names, as JSON', objects.Names), field('Values, as JSON', objects.Values))),
    writeFields,
  ], () => {
    const target = at < 0 ? {} : doc.patterns[at];
    put(target, 'Name', name.value.trim());
    if (doc.tables.length > 1 || target.Table) put(target, 'Table', table.value);
    target.Operation = operation.value;
    put(target, 'Index', index.value);
    put(target, 'PartitionKey', hash.value.trim());
    put(target, 'SortKey', sortKeyFrom(compare.value, first.value.trim(), second.value.trim(), target.SortKey));
    put(target, 'Entities', entities.filter((one) => one.box.checked).map((one) => one.name));
    put(target, 'Parameters', fromLines(parameters.value, target.Parameters));
    put(target, 'Attributes', words(attributes.value));
    put(target, 'CallsPerSecond', calls.value.trim() === '' ? undefined : Number(calls.value));
    put(target, 'Limit', limit.value.trim() === '' ? undefined : Number(limit.value));
    for (const [one, control] of Object.entries(texts)) put(target, one, control.value.trim());
    for (const [one, control] of Object.entries(objects)) put(target, one, fromJson(control.value, one));
    for (const [one, { box }] of Object.entries(flags)) put(target, one, box.checked);
    if (count.value.trim() !== '') target.Expect = { ...target.Expect, Count: Number(count.value) };
    else if (target.Expect) delete target.Expect.Count;
    if (at < 0) doc.list('Patterns').push(target);
  });
}

export function verdictBadge({ IsGood, IsAllowed, Verdict }) {
  return h('span', { class: `badge ${IsGood ? 'good' : IsAllowed ? 'warn' : 'bad'}` }, IsGood ? '✓ ' : IsAllowed ? '! ' : '✗ ', Verdict);
}

export function patternsTab(desk) {
  const { doc, report } = desk;
  const remove = async (at) => {
    if (await confirm('Delete the pattern?', h('p', null, doc.patterns[at].Name), { label: 'Delete', danger: true })) desk.edit(() => doc.patterns.splice(at, 1));
  };
  const rows = doc.patterns.map((one, at) => {
    const found = report?.Patterns[at];
    return [one.Name ?? '', one.Operation ?? '', h('code', null, one.PartitionKey ?? ''), h('code', null, sortKeyText(one.SortKey)), one.Index ?? 'table', h('span', { class: 'actions' }, (one.Entities ?? []).map(entityLabel)), one.CallsPerSecond === undefined ? '' : JSON.stringify(one.CallsPerSecond), found ? verdictBadge(found) : '…',
      h('span', { class: 'actions' }, button('Edit', `pattern-${at}`, () => edit(desk, at), { 'aria-label': `Edit ${one.Name}` }), button('Delete', `pattern-delete-${at}`, () => remove(at), { class: 'danger', 'aria-label': `Delete ${one.Name}` }))];
  });
  return h('div', { class: 'page' }, h('div', { class: 'spread' }, h('p', { class: 'muted' }, 'List what the application asks, then design keys until each pattern is one request.'), button('Add pattern', 'pattern-add', () => edit(desk, -1), { class: 'primary' })),
    list('Access patterns', ['Access pattern', 'Operation', 'Partition key', 'Sort key', 'By', 'Entities', 'Calls/s', 'Verdict', ''], rows, { empty: 'No patterns yet.', numbers: [6] }));
}
