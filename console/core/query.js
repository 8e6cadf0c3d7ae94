// query.js -- from what the query bar says to a GetItem, Query or Scan. No DOM.
//
// State: { index, hash: [value or null], range: { op, values }, more: [{ op, values }], filters: [{ path,
// op, values }], any, descending, limit, consistent, project: [path text] }. Values are typed (value.js).
// `more` has the conditions of the second and later sort keys, which an index may have.

import { Expression, parsePath } from './expression.js';
import { indexesOf, keysOf } from './tables.js';
import { itemToDynamo } from './value.js';

// Operator -> how many values it takes.
export const RANGE_OPERATORS = { '=': 1, begins_with: 1, between: 2, '<': 1, '<=': 1, '>': 1, '>=': 1 };
export const FILTER_OPERATORS = {
  '=': 1, '<>': 1, '<': 1, '<=': 1, '>': 1, '>=': 1, between: 2, in: -1, begins_with: 1, contains: 1, not_contains: 1,
  exists: 0, not_exists: 0, is_type: 1, size_over: 1, size_under: 1,
};
export const OPERATOR_NAMES = {
  '=': '=', '<>': '≠', '<': '<', '<=': '≤', '>': '>', '>=': '≥', between: 'between', in: 'is one of', begins_with: 'begins with',
  contains: 'contains', not_contains: 'does not contain', exists: 'exists', not_exists: 'does not exist', is_type: 'has type',
  size_over: 'size >', size_under: 'size <',
};

function term(expression, path, op, values) {
  const name = expression.path(path);
  const value = (i) => expression.value(values[i]);
  switch (op) {
    case 'between': return `${name} BETWEEN ${value(0)} AND ${value(1)}`;
    case 'in': return `${name} IN (${values.map((one) => expression.value(one)).join(', ')})`;
    case 'begins_with': case 'contains': return `${op}(${name}, ${value(0)})`;
    case 'not_contains': return `NOT contains(${name}, ${value(0)})`;
    case 'exists': return `attribute_exists(${name})`;
    case 'not_exists': return `attribute_not_exists(${name})`;
    case 'is_type': return `attribute_type(${name}, ${value(0)})`;
    case 'size_over': return `size(${name}) > ${value(0)}`;
    case 'size_under': return `size(${name}) < ${value(0)}`;
    default: return `${name} ${op} ${value(0)}`;
  }
}

const isComplete = ({ op, values }, operators) => {
  const wanted = operators[op];
  return wanted === -1 ? values.length > 0 : values.length >= wanted && values.slice(0, wanted).every(Boolean);
};

// How the state would be read: 'Get', 'Query' or 'Scan'.
export function kindOf(table, state) {
  const { hash, range } = keysOf(table, state.index);
  const hasHash = hash.every((key, i) => state.hash[i]);
  if (!hasHash) return 'Scan';
  const hasRange = range.length === 0 || (range.length === 1 && state.range?.op === '=' && isComplete(state.range, RANGE_OPERATORS));
  return !state.index && hasRange && state.filters.length === 0 ? 'Get' : 'Query';
}

function readKeys(table, state, expression) {
  const { hash, range } = keysOf(table, state.index);
  const terms = hash.flatMap((key, i) => (state.hash[i] ? [term(expression, [key.name], '=', [state.hash[i]])] : []));
  range.forEach(({ name }, i) => {
    const condition = i === 0 ? state.range : state.more?.[i - 1];
    if (condition && isComplete(condition, RANGE_OPERATORS)) terms.push(term(expression, [name], condition.op, condition.values));
  });
  return terms;
}

function optional(state, kind) {
  const result = {};
  if (state.index) result.IndexName = state.index;
  if (state.consistent) result.ConsistentRead = true;
  if (kind === 'Query' && state.descending) result.ScanIndexForward = false;
  return result;
}

// { kind, operation, parameters } of the first page.
export function readRequest(table, state) {
  const kind = kindOf(table, state);
  const expression = new Expression();
  const projected = (state.project ?? []).map(parsePath).filter(Boolean);
  const project = () => (projected.length ? { ProjectionExpression: projected.map((path) => expression.path(path)).join(', ') } : {});
  if (kind === 'Get') {
    const keys = keysOf(table);
    const key = new Map([[keys.hash[0].name, state.hash[0]]]);
    if (keys.range.length) key.set(keys.range[0].name, state.range.values[0]);
    return {
      kind,
      operation: 'GetItem',
      parameters: { TableName: table.TableName, Key: itemToDynamo(key), ...(state.consistent ? { ConsistentRead: true } : {}), ...project(), ...expression.parameters() },
    };
  }
  const keyTerms = readKeys(table, state, expression);
  const filters = state.filters.filter((one) => isComplete(one, FILTER_OPERATORS) && parsePath(one.path))
    .map((one) => term(expression, parsePath(one.path), one.op, one.values));
  const filter = state.any ? filters.join(' OR ') : filters.join(' AND ');
  const parameters = { TableName: table.TableName, ...optional(state, kind) };
  if (kind === 'Query') {
    parameters.KeyConditionExpression = keyTerms.join(' AND ');
    if (filter) parameters.FilterExpression = filter;
  } else {
    // Keys that do not make a Query still choose items.
    const all = [...keyTerms, ...(filter ? [state.any && filters.length > 1 && keyTerms.length ? `(${filter})` : filter] : [])];
    if (all.length) parameters.FilterExpression = all.join(' AND ');
  }
  return { kind, operation: kind, parameters: { ...parameters, ...project(), ...expression.parameters() } };
}

// What it will cost, in a sentence, from the statistics of the table.
export function estimate(table, state) {
  const source = state.index ? indexesOf(table).find((index) => index.IndexName === state.index) : table;
  const items = source?.ItemCount ?? 0;
  const size = (state.index ? source?.IndexSizeBytes : table.TableSizeBytes) ?? 0;
  const each = items ? size / items : 0;
  const half = state.consistent ? 1 : 0.5;
  const units = (bytes) => Math.max(half, Math.ceil(bytes / 4096) * half);
  const number = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });
  switch (kindOf(table, state)) {
    case 'Get': return `1 item, about ${units(each)} RCU`;
    case 'Query': return each ? `about ${number.format((each / 4096) * half * 100)} RCU per 100 items of ${Math.round(each)} bytes` : 'reads one item collection';
    default: return `reads all ${number.format(items)} items: about ${number.format(units(size))} RCU`;
  }
}
