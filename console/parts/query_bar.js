// query_bar.js -- keys, filters and options of a read. It knows the keys of the table and its
// indexes, and says whether it will Get, Query or Scan, and what that is expected to cost.

import { field, h, select, show, uniqueId } from '../core/dom.js';
import { estimate, FILTER_OPERATORS, kindOf, OPERATOR_NAMES, RANGE_OPERATORS } from '../core/query.js';
import { indexesOf, keysOf } from '../core/tables.js';
import { fromLink, toLink, TYPE_NAMES, TYPES } from '../core/value.js';
import { typedInput, valueInput } from './value_input.js';

// --- State from and to the URL ---

const escape = (text) => text.replace(/[\\|]/g, '\\$&');
const split = (text) => [...text.matchAll(/(?:[^\\|]|\\.)*(?:\||$)/gs)].map((match) => match[0].replace(/\|$/, '').replace(/\\(.)/gs, '$1'));
// Filters may compare with booleans and null too.
const linkOf = (value) => ('SNB'.includes(value.t) ? toLink(value) : `${value.t}:${value.v}`);
const valueOf = (text) => fromLink(text) ?? (text.startsWith('BOOL:') ? { t: 'BOOL', v: text === 'BOOL:true' } : text.startsWith('NULL:') ? { t: 'NULL', v: true } : null);

export function stateFromQuery(table, view) {
  const index = indexesOf(table).some((one) => one.IndexName === view.query('index')) ? view.query('index') : '';
  const { hash, range } = keysOf(table, index);
  const filters = (view.all.f ?? []).map((text) => {
    const [path, op, ...values] = split(text);
    return { path, op: op in FILTER_OPERATORS ? op : '=', values: values.filter(Boolean).map(valueOf).filter(Boolean) };
  });
  // "op" and "sk" are of the first sort key, "op2" and "sk2" of the second.
  const condition = (suffix) => ({ op: view.query(`op${suffix}`) in RANGE_OPERATORS ? view.query(`op${suffix}`) : '=', values: (view.all[`sk${suffix}`] ?? []).map(fromLink).filter(Boolean) });
  return {
    index,
    hash: hash.map((key, i) => fromLink(view.all.pk?.[i])),
    range: condition(''),
    more: range.slice(1).map((key, i) => condition(i + 2)),
    filters,
    any: view.query('any') === '1',
    descending: view.query('desc') === '1',
    consistent: view.query('consistent') === '1' && indexesOf(table).find((one) => one.IndexName === index)?.kind !== 'GSI',
    limit: Number(view.query('limit')) || 200,
    project: view.query('project') ? view.query('project').split(',') : [],
  };
}

export function queryFromState(state) {
  return {
    index: state.index,
    pk: state.hash.map((value) => (value ? toLink(value) : '')).filter((text, i, all) => all.some(Boolean)),
    ...Object.fromEntries([state.range, ...(state.more ?? [])].flatMap((one, i) => {
      const suffix = i === 0 ? '' : i + 1;
      return one ? [[`op${suffix}`, one.op === '=' ? '' : one.op], [`sk${suffix}`, one.values.filter(Boolean).map(toLink)]] : [];
    })),
    f: state.filters.filter((one) => one.path).map((one) => [one.path, one.op, ...one.values.map(linkOf)].map(escape).join('|')),
    any: state.any ? 1 : '',
    desc: state.descending ? 1 : '',
    consistent: state.consistent ? 1 : '',
    limit: state.limit === 200 ? '' : state.limit,
    project: state.project.join(','),
  };
}

// --- The bar ---

export function queryBar(table, state, { onrun, onstop, attributes }) {
  const names = uniqueId('attributes');
  const root = h('form', { class: 'card query', 'aria-label': 'Query', onsubmit: (event) => { event.preventDefault(); onrun(); } });
  const plan = h('span', { class: 'plan', role: 'status' });
  const run = h('button', { class: 'primary', type: 'submit', 'aria-keyshortcuts': 'Control+Enter' });
  const stop = h('button', { type: 'button', hidden: true, onclick: onstop }, 'Stop');
  const keyLine = h('div', { class: 'query-line' });
  const filterBox = h('div', { class: 'editor' });
  const known = h('datalist', { id: names });

  function changed() {
    const kind = kindOf(table, state);
    show(run, kind === 'Get' ? 'Get item' : kind);
    show(plan, h('span', { class: kind === 'Scan' ? 'badge warn' : 'badge good' }, kind), h('span', { class: 'muted' }, estimate(table, state)));
  }

  function buildKeys() {
    const { hash, range } = keysOf(table, state.index);
    const source = select([['', `Table ${table.TableName}`], ...indexesOf(table).map((one) => [one.IndexName, `${one.kind} ${one.IndexName}`])], {
      value: state.index,
      onchange: () => {
        Object.assign(state, { index: source.value, hash: [], range: { op: '=', values: [] }, more: [] });
        if (indexesOf(table).find((one) => one.IndexName === state.index)?.kind === 'GSI') state.consistent = false;
        buildKeys();
        buildOptions();
        changed();
      },
    });
    const fields = [field('Source', source)];
    hash.forEach((key, i) => {
      const input = valueInput(key.type, state.hash[i], { label: key.name, oninput: () => { state.hash[i] = input.value(); changed(); } });
      const root_ = field(`${key.name} (partition key)`, input.element);
      root_.classList.add('wide');
      fields.push(root_);
    });
    range.forEach((key, i) => fields.push(...rangeFields(key, i === 0 ? state.range : (state.more[i - 1] ??= { op: '=', values: [] }))));
    show(keyLine, fields);
  }

  function rangeFields(key, condition) {
    const box = h('span', { class: 'row' });
    const op = select(Object.keys(RANGE_OPERATORS).filter((one) => one !== 'begins_with' || key.type !== 'N').map((one) => [one, OPERATOR_NAMES[one]]), {
      value: condition.op, 'aria-label': `${key.name}: comparison`,
      onchange: () => { condition.op = op.value; build(); changed(); },
    });
    function build() {
      const inputs = Array.from({ length: RANGE_OPERATORS[op.value] }, (_, i) => {
        const input = valueInput(key.type, condition.values[i], {
          label: i ? `${key.name}: upper end` : `${key.name} (sort key)`, oninput: () => { condition.values[i] = input.value(); changed(); },
        });
        return input.element;
      });
      condition.values.length = Math.min(condition.values.length, inputs.length);
      show(box, inputs.map((input) => h('span', { class: 'grow' }, input)));
    }
    build();
    const values = h('div', { class: 'field wide' }, h('span', { class: 'label' }, `${key.name} (sort key)`), h('span', { class: 'row' }, op, h('span', { class: 'grow' }, box)));
    return [values];
  }

  function buildFilters() {
    const rows = state.filters.map((filter, at) => {
      const label = `Filter ${at + 1}`;
      const values = h('span', { class: 'row grow' });
      const path = h('input', {
        class: 'mono-input', value: filter.path, list: names, 'aria-label': `${label}: attribute`, placeholder: 'attribute, a.b[0].c', oninput: () => { filter.path = path.value; changed(); },
      });
      const op = select(Object.keys(FILTER_OPERATORS).map((one) => [one, OPERATOR_NAMES[one]]), {
        value: filter.op, 'aria-label': `${label}: comparison`, onchange: () => { filter.op = op.value; filter.values = []; buildValues(); changed(); },
      });
      function buildValues() {
        const count = FILTER_OPERATORS[filter.op];
        if (filter.op === 'is_type') {
          filter.values[0] ??= { t: 'S', v: 'S' };
          const type = select(TYPES.map((one) => [one, TYPE_NAMES[one]]), { value: filter.values[0].v, 'aria-label': `${label}: type`, onchange: () => { filter.values = [{ t: 'S', v: type.value }]; changed(); } });
          show(values, type);
          return;
        }
        if (filter.op.startsWith('size')) {
          const input = valueInput('N', filter.values[0], { label: `${label}: size`, oninput: () => { filter.values = [input.value()].filter(Boolean); changed(); } });
          show(values, input.element);
          return;
        }
        const wanted = count === -1 ? Math.max(1, filter.values.length + 1) : count;
        show(values, Array.from({ length: wanted }, (_, i) => {
          const input = typedInput(filter.values[i], { label: `${label}: value${i ? ` ${i + 1}` : ''}`, oninput: () => { filter.values[i] = input.value(); if (count === -1) filter.values = filter.values.filter(Boolean); changed(); } });
          return input.element;
        }));
      }
      buildValues();
      return h('div', { class: 'filter' }, h('span', { class: 'muted' }, at === 0 ? 'Filter' : state.any ? 'or' : 'and'), path, op, values,
        h('button', { type: 'button', class: 'plain', 'aria-label': `Remove filter ${at + 1}`, onclick: () => { state.filters.splice(at, 1); buildFilters(); changed(); } }, '×'));
    });
    const add = h('button', { type: 'button', onclick: () => { state.filters.push({ path: '', op: '=', values: [] }); buildFilters(); changed(); filterBox.querySelector('.filter:last-of-type input')?.focus(); } }, 'Add filter');
    const any = state.filters.length > 1 && select([['', 'All must match'], ['1', 'One must match']], { value: state.any ? '1' : '', 'aria-label': 'How filters join', onchange: (event) => { state.any = event.target.value === '1'; buildFilters(); changed(); } });
    show(filterBox, rows, h('div', { class: 'row top-aligned' }, add, any, options));
  }

  const options = h('details', { class: 'options' });
  function buildOptions() {
    const isGsi = indexesOf(table).find((one) => one.IndexName === state.index)?.kind === 'GSI';
    const check = (label, name, disabled) => {
      const id = uniqueId('option');
      return h('span', { class: 'check' }, h('input', { type: 'checkbox', id, checked: state[name], disabled, onchange: (event) => { state[name] = event.target.checked; changed(); } }), h('label', { for: id }, label));
    };
    const limit = select([['50', '50 items'], ['200', '200 items'], ['1000', '1,000 items'], ['10000', '10,000 items'], ['100000', '100,000 items'], ['1000000', 'All items']], { value: String(state.limit), onchange: () => { state.limit = Number(limit.value); } });
    const project = h('input', { class: 'mono-input', value: state.project.join(', '), placeholder: 'all attributes', list: names, onchange: () => { state.project = project.value.split(',').map((one) => one.trim()).filter(Boolean); } });
    show(options, h('summary', null, 'Options'), h('div', { class: 'query-line' }, field('Fetch at once', limit), field('Attributes, with commas', project),
      check('Descending', 'descending'), check('Consistent', 'consistent', isGsi)));
  }

  buildKeys();
  buildOptions();
  buildFilters();
  changed();
  show(root, known, keyLine, filterBox, h('div', { class: 'spread' }, plan, h('span', { class: 'actions' }, stop, run)));
  return {
    element: root,
    setRunning(running) {
      stop.hidden = !running;
      run.disabled = running;
    },
    setAttributes(list) {
      show(known, list.map((name) => h('option', { value: name })));
    },
    focus: () => keyLine.querySelector('input')?.focus(),
  };
}
