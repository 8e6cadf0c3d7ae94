// form.js -- a GetItem, Query or Scan back as the state of the query bar (core/query.js). No DOM.

import { keysOf } from '../core/tables.js';
import { fromDynamo } from '../core/value.js';

const TERM = /\s*(?:(attribute_exists|attribute_not_exists|begins_with|contains|attribute_type)\s*\(\s*([^,()\s]+)\s*(?:,\s*(:\w+)\s*)?\)|NOT\s+contains\s*\(\s*([^,()\s]+)\s*,\s*(:\w+)\s*\)|size\s*\(\s*([^()\s]+)\s*\)\s*([<>])\s*(:\w+)|([^\s()=<>]+)\s*(=|<>|<=|>=|<|>)\s*(:\w+)|([^\s()=<>]+)\s+BETWEEN\s+(:\w+)\s+AND\s+(:\w+)|([^\s()=<>]+)\s+IN\s*\(([^()]*)\))/iy;
const OPERATORS = { attribute_exists: 'exists', attribute_not_exists: 'not_exists', begins_with: 'begins_with', contains: 'contains', attribute_type: 'is_type' };

// A path with its aliases replaced; names that are no plain words stand in quotes.
const resolve = (source, names = {}) => source.trim().replace(/#\w+/g, (alias) => (/^[\w-]+$/.test(names[alias] ?? '') ? names[alias] : JSON.stringify(names[alias] ?? alias)));

// "#a.b = :v AND …" -> { terms: [{ path, op, values }], any }. Throws if it is more than the form has.
function parse(text, { ExpressionAttributeNames: names = {}, ExpressionAttributeValues: values = {} }) {
  const terms = [];
  const joins = new Set();
  let at = 0;
  const value = (alias) => {
    if (!values[alias]) throw new Error(`${alias} has no value`);
    return fromDynamo(values[alias]);
  };
  const path = (source) => resolve(source, names);
  for (;;) {
    TERM.lastIndex = at;
    const m = TERM.exec(text);
    if (!m) throw new Error(`The form has no place for this part of the expression: ${text.slice(at).trim()}`);
    if (m[1]) terms.push({ path: path(m[2]), op: OPERATORS[m[1].toLowerCase()], values: m[3] ? [value(m[3])] : [] });
    else if (m[4]) terms.push({ path: path(m[4]), op: 'not_contains', values: [value(m[5])] });
    else if (m[6]) terms.push({ path: path(m[6]), op: m[7] === '>' ? 'size_over' : 'size_under', values: [value(m[8])] });
    else if (m[9]) terms.push({ path: path(m[9]), op: m[10], values: [value(m[11])] });
    else if (m[12]) terms.push({ path: path(m[12]), op: 'between', values: [value(m[13]), value(m[14])] });
    else terms.push({ path: path(m[15]), op: 'in', values: m[16].split(',').map((one) => value(one.trim())) });
    at = TERM.lastIndex;
    const join = /\s+(AND|OR)\s+/iy;
    join.lastIndex = at;
    const joined = join.exec(text);
    if (!joined) break;
    joins.add(joined[1].toUpperCase());
    at = join.lastIndex;
  }
  if (text.slice(at).trim()) throw new Error(`The form has no place for this part of the expression: ${text.slice(at).trim()}`);
  if (joins.size > 1) throw new Error('The form joins filters either by AND or by OR.');
  return { terms, any: joins.has('OR') };
}

export function stateFromRequest(table, operation, parameters) {
  const { hash, range } = keysOf(table, parameters.IndexName);
  const state = { index: parameters.IndexName ?? '', hash: hash.map(() => null), range: { op: '=', values: [] }, more: [], filters: [], any: false, descending: parameters.ScanIndexForward === false, consistent: parameters.ConsistentRead === true, limit: 200, project: [] };
  if (operation === 'GetItem') {
    state.hash = hash.map((key) => fromDynamo(parameters.Key[key.name]));
    if (range.length) state.range.values = [fromDynamo(parameters.Key[range[0].name])];
    return state;
  }
  if (parameters.KeyConditionExpression) {
    for (const term of parse(parameters.KeyConditionExpression, parameters).terms) {
      const at = hash.findIndex((key) => key.name === term.path);
      const condition = { op: term.op, values: term.values };
      const place = range.findIndex((key) => key.name === term.path);
      if (at >= 0) [state.hash[at]] = term.values;
      else if (place > 0) state.more[place - 1] = condition;
      else state.range = condition;
    }
  }
  if (parameters.FilterExpression) {
    const { terms, any } = parse(parameters.FilterExpression, parameters);
    Object.assign(state, { filters: terms, any });
  }
  if (parameters.ProjectionExpression) state.project = parameters.ProjectionExpression.split(',').map((one) => resolve(one, parameters.ExpressionAttributeNames));
  return state;
}
