// UpdateTable creates and deletes global indexes while the table is in use.
'use strict';
const assert = require('node:assert/strict');
const { after, before, describe, test } = require('node:test');
const {
  BatchWriteItemCommand, DeleteItemCommand, DescribeTableCommand, PutItemCommand, QueryCommand,
  ScanCommand, UpdateItemCommand, UpdateTableCommand, paginateQuery, waitUntilTableExists,
} = require('@aws-sdk/client-dynamodb');
const {
  WAIT, createClient, createTable, dropTables, refusal, tableShape, validation,
} = require('./lib/client.js');
const { startServer } = require('./lib/server.js');

const TABLE = 'index-changes';
const ITEMS = 500;
const INVALID = 'One or more parameter values were invalid: ';
const ONE_AT_A_TIME = {
  name: 'LimitExceededException',
  message: 'Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table',
};

const definition = (name) => {
  const [AttributeName, AttributeType] = name.split(':');
  return { AttributeName, AttributeType };
};
const create = (IndexName, hash, rest = {}) => ({
  Create: {
    IndexName,
    KeySchema: [{ AttributeName: hash, KeyType: 'HASH' }],
    Projection: { ProjectionType: 'ALL' },
    ...rest,
  },
});
const remove = (IndexName) => ({ Delete: { IndexName } });

let server;
let client;

const update = (updates, ...definitions) => client.send(new UpdateTableCommand({
  TableName: TABLE,
  AttributeDefinitions: definitions.length > 0 ? definitions.map(definition) : undefined,
  GlobalSecondaryIndexUpdates: updates,
}));

const indexOf = (description, name) => description.GlobalSecondaryIndexes?.find(
  (index) => index.IndexName === name);

// The index as DescribeTable shows it once it is ACTIVE, or once it is gone: undefined.
async function settled(name) {
  for (;;) {
    const { Table } = await client.send(new DescribeTableCommand({ TableName: TABLE }));
    const index = indexOf(Table, name);
    if (index === undefined || index.IndexStatus === 'ACTIVE') return index;
    await new Promise((resolve) => { setTimeout(resolve, 10); });
  }
}

const item = (number, extra = {}) => ({
  pk: { S: `item-${number}` }, group: { S: `group-${number % 5}` }, number: { N: `${number}` }, ...extra,
});

async function load() {
  const requests = Array.from({ length: ITEMS }, (_, number) => ({ PutRequest: { Item: item(number) } }));
  for (let at = 0; at < ITEMS; at += 25) {
    await client.send(new BatchWriteItemCommand({
      RequestItems: { [TABLE]: requests.slice(at, at + 25) },
    }));
  }
}

async function queryAll(index, name, value) {
  const items = [];
  const pages = paginateQuery({ client }, {
    TableName: TABLE,
    IndexName: index,
    KeyConditionExpression: '#k = :v',
    ExpressionAttributeNames: { '#k': name },
    ExpressionAttributeValues: { ':v': value },
  });
  for await (const page of pages) items.push(...page.Items);
  return items;
}

before(async () => {
  server = await startServer('--in-memory');
  client = createClient(server);
  await dropTables(client, TABLE);
  await createTable(client, tableShape(TABLE, 'pk:S'));
  await load();
});
after(async () => {
  client.destroy();
  await server.stop();
});

describe('the rules of GlobalSecondaryIndexUpdates', () => {
  const cases = [
    ['two creations', [create('aaa', 'group'), create('bbb', 'group')], ['group:S'], ONE_AT_A_TIME],
    ['one creation and one deletion', [create('aaa', 'group'), remove('bbb')], ['group:S'], ONE_AT_A_TIME],
    ['two actions for one index', [create('aaa', 'group'), remove('aaa')], ['group:S'],
      validation(`${INVALID}Only one global secondary index update per index is allowed simultaneously. Index: aaa`)],
    ['no action', [{}], [],
      validation(`${INVALID}One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, `
        + 'GlobalSecondaryIndexUpdate.Delete must not be null')],
    ['no definition', [create('aaa', 'group')], [],
      validation(`${INVALID}AttributeDefinitions is not specified for index: aaa`)],
    ['another definition', [create('aaa', 'group')], ['other:S'],
      validation(`${INVALID}Some index key attributes are not defined in AttributeDefinitions. Keys: [group], `
        + 'AttributeDefinitions: [other]')],
    ['throughput of a table on demand',
      [create('aaa', 'group', { ProvisionedThroughput: { ReadCapacityUnits: 1, WriteCapacityUnits: 1 } })], ['group:S'],
      validation(`${INVALID}Neither ReadCapacityUnits nor WriteCapacityUnits can be specified for index: aaa when `
        + 'BillingMode is PAY_PER_REQUEST')],
    ['an unknown index', [remove('aaa')], [],
      { name: 'ResourceNotFoundException', message: `Requested resource not found: Index aaa for table ${TABLE}` }],
  ];
  for (const [name, updates, definitions, expected] of cases) {
    test(`refuse ${name}`, async () => {
      assert.deepEqual(await refusal(update(updates, ...definitions)), expected);
    });
  }
});

describe('the life of an index', () => {
  test('begins with CREATING, in a table that is UPDATING', async () => {
    const { TableDescription } = await update([create('by-group', 'group')], 'group:S');
    assert.equal(TableDescription.TableStatus, 'UPDATING');
    const index = indexOf(TableDescription, 'by-group');
    assert.equal(index.IndexStatus, 'CREATING');
    assert.equal(index.Backfilling, false);
    assert.deepEqual(TableDescription.AttributeDefinitions, ['group:S', 'pk:S'].map(definition));
  });

  test('goes on in the background until it is ACTIVE', async () => {
    await waitUntilTableExists({ client, ...WAIT }, { TableName: TABLE });
    const index = await settled('by-group');
    assert.equal('Backfilling' in index, false);
    assert.equal(index.ItemCount, ITEMS);
    const found = await queryAll('by-group', 'group', { S: 'group-3' });
    assert.equal(found.length, ITEMS / 5);
    assert.deepEqual(found.find((one) => one.pk.S === 'item-3'), item(3));
  });

  test('refuses a second index of its name', async () => {
    assert.deepEqual(await refusal(update([create('by-group', 'number')], 'number:N')),
      validation('Attempting to create an index which already exists'));
  });

  test('ends with DELETING, and its definitions go', async () => {
    const { TableDescription } = await update([remove('by-group')]);
    assert.equal(indexOf(TableDescription, 'by-group').IndexStatus, 'DELETING');
    assert.deepEqual(TableDescription.AttributeDefinitions, [definition('pk:S')]);
    assert.equal(await settled('by-group'), undefined);
    assert.deepEqual(await refusal(queryAll('by-group', 'group', { S: 'group-3' })),
      validation('The table does not have the specified index: by-group'));
  });
});

test('writes go on while an index is built, and it has all of them', async () => {
  let building = true;
  let round = 0;
  const writer = (async () => {
    while (building || round < 3) {
      for (let number = 0; number < 40; number++) {
        await client.send(new PutItemCommand({
          TableName: TABLE, Item: item(number, { group: { S: `round-${round}` } }),
        }));
      }
      await client.send(new UpdateItemCommand({
        TableName: TABLE, Key: { pk: { S: 'item-1' } }, UpdateExpression: 'REMOVE #g',
        ExpressionAttributeNames: { '#g': 'group' },
      }));
      await client.send(new DeleteItemCommand({ TableName: TABLE, Key: { pk: { S: 'item-2' } } }));
      round++;
    }
  })();
  await update([create('by-group', 'group')], 'group:S');
  const index = await settled('by-group');
  building = false;
  await writer;
  assert.equal(index.IndexStatus, 'ACTIVE');
  const all = await client.send(new ScanCommand({ TableName: TABLE }));
  const indexed = await client.send(new ScanCommand({ TableName: TABLE, IndexName: 'by-group' }));
  const byKey = (items) => items.filter((one) => one.group).sort((a, b) => (a.pk.S < b.pk.S ? -1 : 1));
  assert.deepEqual(byKey(indexed.Items), byKey(all.Items));
  const now = await settled('by-group');
  assert.equal(now.ItemCount, indexed.Count);
  await update([remove('by-group')]);
  await settled('by-group');
});

test('items that cannot be keys are skipped, and refused from then on', async () => {
  const odd = (value) => ({ TableName: TABLE, Item: { pk: { S: 'odd' }, kind: value } });
  await client.send(new PutItemCommand(odd({ N: '1' })));
  await update([create('by-kind', 'kind')], 'kind:S');
  const index = await settled('by-kind');
  assert.equal(index.ItemCount, 0);
  assert.deepEqual(await refusal(client.send(new PutItemCommand(odd({ N: '2' })))),
    validation(`${INVALID}Type mismatch for Index Key kind Expected: S Actual: N IndexName: by-kind`));
  await client.send(new PutItemCommand(odd({ S: 'two' })));
  const { Count } = await client.send(new QueryCommand({
    TableName: TABLE,
    IndexName: 'by-kind',
    KeyConditionExpression: 'kind = :k',
    ExpressionAttributeValues: { ':k': { S: 'two' } },
  }));
  assert.equal(Count, 1);
});
