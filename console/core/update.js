// update.js -- what to send so that an item becomes what the user made of it, and nothing is lost.
//
// A save is the smallest UpdateItem: SET and REMOVE of the paths that changed, on the condition that
// every attribute which it touches is still as it was read. If another client was faster, the service
// refuses and sends the item as it is now; merge() then brings the two changes together.

import { Expression } from './expression.js';
import { clone, cloneItem, equal, equalItems, itemToDynamo } from './value.js';

const OPERATORS_MAX = 300; // Of all expressions of a request.
const EXPRESSION_SIZE_MAX = 4096;

// --- Differences ---

function weigh(value) {
  return JSON.stringify(value, (key, one) => (one instanceof Map ? [...one] : one)).length;
}

// [{ path, value }], value undefined: remove. Lists are compared place by place, unless that says
// more than the whole list would.
function differences(path, before, after, out) {
  if (equal(before, after)) return;
  if (before?.t === 'M' && after?.t === 'M') {
    for (const [name, old] of before.v) differences([...path, name], old, after.v.get(name), out);
    for (const [name, value] of after.v) if (!before.v.has(name)) out.push({ path: [...path, name], value });
    return;
  }
  if (before?.t === 'L' && after?.t === 'L') {
    const steps = [];
    const longest = Math.max(before.v.length, after.v.length);
    for (let i = 0; i < longest; i += 1) {
      if (i >= before.v.length) steps.push({ path: [...path, i], value: after.v[i] });
      else differences([...path, i], before.v[i], after.v[i], steps);
    }
    const cost = steps.reduce((sum, step) => sum + 12 * step.path.length + (step.value ? weigh(step.value) : 0), 0);
    if (cost < weigh(after) + 12 * path.length) {
      out.push(...steps);
      return;
    }
  }
  out.push({ path, value: after });
}

// The changes from one item to another.
export function changes(before, after) {
  const out = [];
  differences([], { t: 'M', v: before }, { t: 'M', v: after }, out);
  return out;
}

// --- Requests ---

const pick = (item, names) => new Map(names.map((name) => [name, item.get(name)]));
const keyOf = (item, names) => itemToDynamo(pick(item, names));

function unchanged(expression, name, value) {
  return value === undefined ? `attribute_not_exists(${expression.name(name)})`
    : `${expression.name(name)} = ${expression.value(value)}`;
}

function buildUpdate(table, keys, before, steps) {
  const expression = new Expression();
  const sets = steps.filter((step) => step.value !== undefined)
    .map((step) => `${expression.path(step.path)} = ${expression.value(step.value)}`);
  const removes = steps.filter((step) => step.value === undefined).map((step) => expression.path(step.path));
  const touched = [...new Set(steps.map((step) => step.path[0]))];
  const update = [sets.length && `SET ${sets.join(', ')}`, removes.length && `REMOVE ${removes.join(', ')}`].filter(Boolean).join(' ');
  const condition = [`attribute_exists(${expression.name(keys[0])})`,
    ...touched.map((name) => unchanged(expression, name, before.get(name)))].join(' AND ');
  const operators = sets.length + removes.length + 2 * touched.length + 1;
  if (operators > OPERATORS_MAX || update.length > EXPRESSION_SIZE_MAX || condition.length > EXPRESSION_SIZE_MAX) return null;
  return {
    TableName: table,
    Key: keyOf(before, keys),
    UpdateExpression: update,
    ConditionExpression: condition,
    ...expression.parameters(),
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  };
}

// Each attribute as a whole: shorter if one of them changed in hundreds of places.
function wholeAttributes(before, after) {
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].filter((name) => !equal(before.get(name), after.get(name)))
    .map((name) => ({ path: [name], value: after.get(name) }));
}

export function insertRequest(table, keys, item) {
  const expression = new Expression();
  const condition = `attribute_not_exists(${expression.name(keys[0])})`;
  return { TableName: table, Item: itemToDynamo(item), ConditionExpression: condition, ...expression.parameters() };
}

// Deletes the item if it is as it was seen. No condition can say that an item has no other attributes,
// and expressions hold 300 operators, so of an item with more than 140 attributes only the first 140
// are compared. Callers read the item first (items.js) and compare all of it; the condition covers the
// time in between, and the answer of DeleteItem has what is gone.
const COMPARED_MAX = 140;
export function deleteRequest(table, keys, item) {
  const expression = new Expression();
  const condition = [...item].slice(0, COMPARED_MAX).map(([name, value]) => unchanged(expression, name, value)).join(' AND ');
  return {
    TableName: table, Key: keyOf(item, keys), ConditionExpression: condition, ...expression.parameters(), ReturnValues: 'ALL_OLD', ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  };
}

// What saves `after` over `before` (null: a new item), as { operation, parameters }; null if nothing
// changed. Throws an Error with a sentence if one request cannot do it.
export function saveRequest(table, keys, before, after) {
  if (before === null) return { operation: 'PutItem', parameters: insertRequest(table, keys, after) };
  if (equalItems(before, after)) return null;
  if (!equalItems(pick(before, keys), pick(after, keys))) {
    const { ReturnValues, ...remove } = deleteRequest(table, keys, before); // Transactions return no values.
    return { operation: 'TransactWriteItems', parameters: { TransactItems: [{ Delete: remove }, { Put: insertRequest(table, keys, after) }] } };
  }
  const parameters = buildUpdate(table, keys, before, changes(before, after))
    ?? buildUpdate(table, keys, before, wholeAttributes(before, after));
  if (!parameters) throw new Error('Too many attributes changed for one request: save in two steps.');
  return { operation: 'UpdateItem', parameters };
}

// --- Merging ---

function mergeMaps(base, mine, theirs, path, out) {
  const merged = new Map();
  for (const name of new Set([...theirs.keys(), ...mine.keys(), ...base.keys()])) {
    const [was, my, their] = [base.get(name), mine.get(name), theirs.get(name)];
    const here = [...path, name];
    let value;
    if (equal(was, my) || equal(my, their)) {
      value = their;
      if (!equal(was, their)) out.theirs.push({ path: here, value: their });
    } else if (equal(was, their)) {
      value = my;
    } else if (was?.t === 'M' && my?.t === 'M' && their?.t === 'M') {
      value = { t: 'M', v: mergeMaps(was.v, my.v, their.v, here, out) };
    } else {
      value = my;
      out.conflicts.push({ path: here, base: was, mine: my, theirs: their });
    }
    if (value !== undefined) merged.set(name, clone(value));
  }
  return merged;
}

// Three-way: `base` as it was read, `mine` as edited, `theirs` as it is now. The merged item has
// both changes; where both changed the same value it has mine, and `conflicts` lists it.
export function merge(base, mine, theirs) {
  const out = { conflicts: [], theirs: [] };
  const merged = mergeMaps(base, mine, theirs, [], out);
  return { merged, ...out };
}

// Sets the value at a path of names; undefined removes it.
export function setPath(item, path, value) {
  const copy = cloneItem(item);
  let map = copy;
  for (const step of path.slice(0, -1)) map = map.get(step).v;
  if (value === undefined) map.delete(path.at(-1));
  else map.set(path.at(-1), clone(value));
  return copy;
}
