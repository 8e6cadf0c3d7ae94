// item_table.js -- a server with one table and one item in it, and the calls that tests of
// expressions make about that item, one after the other.
'use strict';
const { after, before } = require('node:test');
const {
  DeleteItemCommand, GetItemCommand, PutItemCommand, UpdateItemCommand,
} = require('@aws-sdk/client-dynamodb');
const { createClient, createTable, dropTables, tableShape } = require('./client.js');
const { startServer } = require('./server.js');

const KEY = { pk: { S: 'item' } };

// PutItem and UpdateItem report most faults of their expressions like those of shapes; DeleteItem
// and the reading operations report the same faults bare.
const enveloped = (message) => `1 validation error detected: ${message}`;

const CONDITION_FAILED = {
  name: 'ConditionalCheckFailedException', message: 'The conditional request failed',
};

const bytes = (...values) => Uint8Array.from(values);

// A value of each type.
const SAMPLES = {
  S: { S: 'abc' },
  N: { N: '5' },
  B: { B: bytes(1, 2, 3) },
  BOOL: { BOOL: true },
  NULL: { NULL: true },
  SS: { SS: ['a', 'b'] },
  NS: { NS: ['1', '2'] },
  BS: { BS: [bytes(1), bytes(2)] },
  L: { L: [{ N: '5' }, { S: 'abc' }] },
  M: { M: { a: { N: '5' }, b: { S: 'abc' } } },
};
const TYPES = Object.keys(SAMPLES);

// The parameters of expressions; the maps are left out where there is nothing in them.
function parameters(values, names) {
  return { ExpressionAttributeValues: values, ExpressionAttributeNames: names };
}

// Call it once at the top of a test file. The object is usable from the first test on.
function useItemTable(TableName) {
  const table = { name: TableName };
  before(async () => {
    table.server = await startServer('--in-memory');
    table.client = createClient(table.server);
    await dropTables(table.client, TableName);
    await createTable(table.client, tableShape(TableName, 'pk:S'));
  });
  after(async () => {
    await dropTables(table.client, TableName);
    table.client.destroy();
    await table.server.stop();
  });

  table.put = (attributes, options) => table.client.send(
    new PutItemCommand({ TableName, Item: { ...KEY, ...attributes }, ...options }));
  table.update = (UpdateExpression, values, options) => table.client.send(
    new UpdateItemCommand({
      TableName, Key: KEY, UpdateExpression, ...parameters(values), ...options,
    }));
  table.remove = (options) => table.client.send(
    new DeleteItemCommand({ TableName, Key: KEY, ...options }));
  table.get = (options) => table.client.send(
    new GetItemCommand({ TableName, Key: KEY, ConsistentRead: true, ...options }));
  // Whether a condition holds on these attributes, given by an expression or by Expected. The item
  // is put again as it is, so that it is the same afterwards.
  table.holds = async (attributes, options) => {
    try {
      await table.put(attributes, options);
    } catch (error) {
      if (error.name !== CONDITION_FAILED.name) throw error;
      return false;
    }
    return true;
  };
  // The item without its key; undefined if there is none.
  table.attributes = async () => {
    const { Item } = await table.get();
    if (!Item) return undefined;
    const { pk, ...attributes } = Item;
    return attributes;
  };
  return table;
}

module.exports = {
  CONDITION_FAILED, KEY, SAMPLES, TYPES, bytes, enveloped, parameters, useItemTable,
};
