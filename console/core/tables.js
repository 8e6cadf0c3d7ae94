// tables.js -- the names of the tables and their definitions, shared by the shell and the pages.

import { call, pages } from './api.js';

let list = [];
let failure = null;
const definitions = new Map(); // Name -> definition as last read.
const listeners = new Set();

export const names = () => list;
export const error = () => failure;

export function onChange(listener) {
  listeners.add(listener);
}

function changed() {
  for (const listener of listeners) listener();
}

export async function load() {
  const found = [];
  try {
    for await (const page of pages('ListTables', {}, ['LastEvaluatedTableName', 'ExclusiveStartTableName'])) {
      found.push(...page.TableNames);
    }
    failure = null;
  } catch (caught) {
    failure = caught;
  }
  list = found;
  changed();
  return list;
}

export async function describe(name, options) {
  const { Table } = await call('DescribeTable', { TableName: name }, options);
  definitions.set(name, Table);
  return Table;
}

// The definition as last read; null if it was not read yet.
export const known = (name) => definitions.get(name) ?? null;

export function forget(name) {
  definitions.delete(name);
  list = list.filter((one) => one !== name);
  changed();
}

export function typeOf(table, attribute) {
  return table.AttributeDefinitions.find((one) => one.AttributeName === attribute)?.AttributeType;
}

// The keys of the table or of one of its indexes: { hash: [{ name, type }], range: […] }. An index
// may have up to four attributes of each kind.
export function keysOf(table, indexName) {
  const source = indexName ? indexesOf(table).find((index) => index.IndexName === indexName) : table;
  const of = (type) => (source?.KeySchema ?? []).filter((key) => key.KeyType === type)
    .map((key) => ({ name: key.AttributeName, type: typeOf(table, key.AttributeName) }));
  return { hash: of('HASH'), range: of('RANGE') };
}

export function indexesOf(table) {
  return [...(table.GlobalSecondaryIndexes ?? []).map((index) => ({ ...index, kind: 'GSI' })),
    ...(table.LocalSecondaryIndexes ?? []).map((index) => ({ ...index, kind: 'LSI' }))];
}

export const keyNames = (table) => table.KeySchema.map((key) => key.AttributeName);
