// The document client: plain JavaScript values in and out.
'use strict';
const assert = require('node:assert/strict');
const { after, before, test } = require('node:test');
const {
  DeleteCommand, DynamoDBDocumentClient, GetCommand, NumberValue, PutCommand,
} = require('@aws-sdk/lib-dynamodb');
const { createClient, createTable, dropTables, tableShape } = require('./lib/client.js');
const { startServer } = require('./lib/server.js');

const TableName = 'documents';
let server;
let client;
let documents;
before(async () => {
  server = await startServer('--in-memory');
  client = createClient(server);
  documents = DynamoDBDocumentClient.from(client, {
    marshallOptions: { removeUndefinedValues: true },
    unmarshallOptions: { wrapNumbers: false },
  });
  await dropTables(client, TableName);
  await createTable(client, tableShape(TableName, 'id:S', 'version:N'));
});
after(async () => {
  await dropTables(client, TableName);
  client.destroy();
  await server.stop();
});

test('a document comes back as it went in', async () => {
  const document = {
    id: 'order-1',
    version: 3,
    total: 12.75,
    paid: true,
    note: null,
    lines: [{ sku: 'a', count: 2 }, { sku: 'b', count: 0 }],
    address: { city: 'Zürich', tags: new Set(['home', 'work']) },
    codes: new Set([3, 1, 2]),
    blob: Uint8Array.from([1, 2, 3]),
    empty: '',
  };
  await documents.send(new PutCommand({ TableName, Item: { ...document, skipped: undefined } }));
  const { Item } = await documents.send(
    new GetCommand({ TableName, Key: { id: 'order-1', version: 3 } }));
  assert.deepEqual(Item, { ...document, codes: new Set([1, 2, 3]) });
});

test('a number beyond the precision of a double keeps its digits', async () => {
  const exact = '12345678901234567890.123456789012345678';
  await documents.send(new PutCommand(
    { TableName, Item: { id: 'exact', version: 1, n: NumberValue.from(exact) } }));
  // A client of its own: document clients of one client share their options.
  const wrapping = DynamoDBDocumentClient.from(createClient(server),
    { unmarshallOptions: { wrapNumbers: true } });
  const { Item } = await wrapping.send(
    new GetCommand({ TableName, Key: { id: 'exact', version: 1 } }));
  wrapping.destroy();
  assert.equal(Item.n.value, exact);
});

test('a deleted document is returned once', async () => {
  const Key = { id: 'gone', version: 1 };
  await documents.send(new PutCommand({ TableName, Item: { ...Key, v: 'x' } }));
  const request = { TableName, Key, ReturnValues: 'ALL_OLD' };
  assert.deepEqual((await documents.send(new DeleteCommand(request))).Attributes,
    { ...Key, v: 'x' });
  assert.equal((await documents.send(new DeleteCommand(request))).Attributes, undefined);
});
