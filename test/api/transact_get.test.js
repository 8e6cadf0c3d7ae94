// TransactGetItems through the SDK: order, projections, reasons, one moment for all items.
'use strict';
const assert = require('node:assert/strict');
const { after, before, describe, test } = require('node:test');
const {
  PutItemCommand, TransactGetItemsCommand, TransactWriteItemsCommand,
} = require('@aws-sdk/client-dynamodb');
const {
  createClient, createTable, dropTables, refusal, tableShape, validation,
} = require('./lib/client.js');
const { startServer } = require('./lib/server.js');

const PLAIN = 'transact-get-plain'; // pk:S
const SORTED = 'transact-get-sorted'; // h:S, r:N
const READS_MAX = 100;

let server;
let client;
before(async () => {
  server = await startServer();
  client = createClient(server);
  await dropTables(client, PLAIN, SORTED);
  await createTable(client, tableShape(PLAIN, 'pk:S'));
  await createTable(client, tableShape(SORTED, 'h:S', 'r:N'));
  await Promise.all([
    put(PLAIN, { pk: { S: 'a' }, n: { N: '1' }, m: { M: { x: { S: 'deep' } } } }),
    put(SORTED, { h: { S: 'h' }, r: { N: '1' }, n: { N: '2' } }),
  ]);
});
after(async () => {
  await dropTables(client, PLAIN, SORTED);
  client.destroy();
  await server.stop();
});

const put = (TableName, Item) => client.send(new PutItemCommand({ TableName, Item }));
const transact = (TransactItems, options = {}) => client.send(
  new TransactGetItemsCommand({ TransactItems, ...options }));
const get = (text, options) => ({ Get: { TableName: PLAIN, Key: { pk: { S: text } }, ...options } });
const getSorted = (text, number) => (
  { Get: { TableName: SORTED, Key: { h: { S: text }, r: { N: String(number) } } } });
const range = (count, make) => Array.from({ length: count }, (_, index) => make(index));

describe('a transaction of reads', () => {
  test('answers in the order of the request, with nothing for what is not there', async () => {
    const { Responses } = await transact([getSorted('h', '1.0'), get('nobody'), get('a')]);
    assert.deepEqual(Responses, [
      { Item: { h: { S: 'h' }, r: { N: '1' }, n: { N: '2' } } },
      {},
      { Item: { pk: { S: 'a' }, n: { N: '1' }, m: { M: { x: { S: 'deep' } } } } },
    ]);
  });

  test('projects', async () => {
    const { Responses } = await transact([
      get('a', { ProjectionExpression: '#m.x', ExpressionAttributeNames: { '#m': 'm' } }),
    ]);
    assert.deepEqual(Responses, [{ Item: { m: { M: { x: { S: 'deep' } } } } }]);
    assert.deepEqual((await transact([get('a', { ProjectionExpression: 'zzz' })])).Responses, [{}]);
  });

  test('costs twice as much as consistent reads', async () => {
    const { ConsumedCapacity } = await transact([get('a'), get('nobody'), getSorted('h', 1)],
      { ReturnConsumedCapacity: 'INDEXES' });
    assert.deepEqual(ConsumedCapacity, [
      {
        TableName: PLAIN, CapacityUnits: 4, ReadCapacityUnits: 4,
        Table: { CapacityUnits: 4, ReadCapacityUnits: 4 },
      },
      {
        TableName: SORTED, CapacityUnits: 2, ReadCapacityUnits: 2,
        Table: { CapacityUnits: 2, ReadCapacityUnits: 2 },
      },
    ]);
  });

  test(`has up to ${READS_MAX} reads`, async () => {
    const { Responses } = await transact(range(READS_MAX, (index) => get(`none-${index}`)));
    assert.equal(Responses.length, READS_MAX);
    const { name, message } = await refusal(
      transact(range(READS_MAX + 1, (index) => get(`none-${index}`))));
    assert.equal(name, 'ValidationException');
    assert.match(message, /Member must have length less than or equal to 100$/);
  });

  test('is cancelled for a key that does not fit', async () => {
    const wrong = { Get: { TableName: PLAIN, Key: { x: { S: 'a' } } } };
    await assert.rejects(transact([get('a'), wrong]), (error) => {
      assert.equal(error.name, 'TransactionCanceledException');
      assert.equal(error.message, 'Transaction cancelled, please refer cancellation reasons for '
        + 'specific reasons [None, ValidationError]');
      assert.deepEqual(error.CancellationReasons, [{ Code: 'None' }, {
        Code: 'ValidationError', Message: 'The provided key element does not match the schema',
      }]);
      return true;
    });
  });

  test('is refused for an item named twice', async () => {
    assert.deepEqual(await refusal(transact([get('a'), get('a')])),
      validation('Transaction request cannot include multiple operations on one item'));
  });

  test('is refused for a table that is not there', async () => {
    assert.deepEqual(
      await refusal(transact([{ Get: { TableName: 'nowhere', Key: { pk: { S: 'a' } } } }])),
      { name: 'ResourceNotFoundException', message: 'Requested resource not found' });
  });
});

// Two items always carry the same number. Whoever reads both in one transaction never sees two.
test('all items are of one moment', async () => {
  const ROUNDS = 60;
  const write = (number) => client.send(new TransactWriteItemsCommand({
    TransactItems: ['left', 'right'].map((text) => (
      { Put: { TableName: PLAIN, Item: { pk: { S: text }, n: { N: String(number) } } } })),
  }));
  await write(0);
  let writing = true;
  const writer = (async () => {
    for (let number = 1; number <= ROUNDS; number++) await write(number);
    writing = false;
  })();
  const reader = async () => {
    let last = 0;
    while (writing) {
      const { Responses } = await transact([get('left'), get('right')]);
      const [left, right] = Responses.map(({ Item }) => Number(Item.n.N));
      assert.equal(left, right);
      assert.ok(left >= last, 'time does not go back');
      last = left;
    }
  };
  await Promise.all([writer, ...range(4, reader)]);
  const { Responses } = await transact([get('left'), get('right')]);
  assert.deepEqual(Responses.map(({ Item }) => Item.n.N), [String(ROUNDS), String(ROUNDS)]);
});
