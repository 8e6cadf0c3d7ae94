// Many clients, few items: transactions that meet wait for one another. No update is lost, nobody is
// refused, and everybody gets on; with --txn-conflict=fail some are refused, and retries see it
// through.
'use strict';
const assert = require('node:assert/strict');
const { test } = require('node:test');
const { TransactGetItemsCommand, TransactWriteItemsCommand } = require('@aws-sdk/client-dynamodb');
const { createClient, createTable, tableShape } = require('./lib/client.js');
const { startServer } = require('./lib/server.js');

const TABLE = 'hot'; // pk:S
const CLIENTS = 64;
const ITEMS = 10;
const STEPS = [1, 3, 7]; // From one item to the next; none leads back within three.
const ROUNDS = 15; // Transactions of each client.

const key = (index) => ({ pk: { S: `item-${index}` } });
const increment = (index) => ({
  Update: {
    TableName: TABLE, Key: key(index), UpdateExpression: 'ADD n :one',
    ExpressionAttributeValues: { ':one': { N: '1' } },
  },
});
const range = (count, make) => Array.from({ length: count }, (_, index) => make(index));

// Each client adds one to three of the ten items, in an order of its own, so that latches taken in
// the order of the request would soon stop everything.
async function work(client, number, retry) {
  const added = Array(ITEMS).fill(0);
  let conflicts = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const first = (number * 7 + round * 3) % ITEMS;
    const step = STEPS[number % STEPS.length];
    const items = [first, (first + step) % ITEMS, (first + 2 * step) % ITEMS];
    for (;;) {
      try {
        await client.send(new TransactWriteItemsCommand({ TransactItems: items.map(increment) }));
        break;
      } catch (error) {
        if (!retry || error.name !== 'TransactionCanceledException') throw error;
        const codes = error.CancellationReasons.map(({ Code }) => Code);
        assert.ok(codes.includes('TransactionConflict'), codes.join());
        assert.ok(codes.every((code) => code === 'TransactionConflict' || code === 'None'));
        conflicts++;
      }
    }
    for (const item of items) added[item]++;
  }
  return { added, conflicts };
}

async function run(flags, clientCount, retry) {
  const server = await startServer(...flags);
  const clients = range(clientCount, () => createClient(server));
  try {
    await createTable(clients[0], tableShape(TABLE, 'pk:S'));
    const results = await Promise.all(
      clients.map((client, number) => work(client, number, retry)));
    const { Responses } = await clients[0].send(new TransactGetItemsCommand({
      TransactItems: range(ITEMS, (index) => ({ Get: { TableName: TABLE, Key: key(index) } })),
    }));
    const counted = Responses.map(({ Item }) => Number(Item.n.N));
    const wanted = range(ITEMS, (item) => results.reduce((sum, { added }) => sum + added[item], 0));
    assert.deepEqual(counted, wanted);
    return results.reduce((sum, { conflicts }) => sum + conflicts, 0);
  } finally {
    for (const client of clients) client.destroy();
    await server.stop();
  }
}

test(`${CLIENTS} clients on ${ITEMS} items lose no update and are never refused`, async () => {
  assert.equal(await run([], CLIENTS, false), 0);
});

test('with --txn-conflict=fail, clients that retry lose no update either', async () => {
  await run(['--txn-conflict=fail'], 8, true);
});
