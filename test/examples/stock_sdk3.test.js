// An order is created only if it does not exist, and takes one from stock only if there is one: both
// or neither. With lib-dynamodb by TransactWrite, with a token that makes a retry harmless, and by
// PartiQL.
//
//   item     pk             what it has
//   product  PRODUCT#<id>   stock
//   order    ORDER#<id>     product, customer
'use strict';
const assert = require('node:assert/strict');
const { after, before, beforeEach, describe, test } = require('node:test');
const {
  CreateTableCommand, DeleteTableCommand, DynamoDBClient, TransactionCanceledException,
  waitUntilTableExists,
} = require('@aws-sdk/client-dynamodb');
const {
  DynamoDBDocumentClient, ExecuteTransactionCommand, GetCommand, PutCommand,
  TransactGetCommand, TransactWriteCommand,
} = require('@aws-sdk/lib-dynamodb');
const { startServer } = require('../api/lib/server.js');

const TableName = 'stock-sdk3';
const STOCK = 5;

class SoldOut extends Error {}
class OrderExists extends Error {}

const orderKey = (order) => ({ pk: `ORDER#${order}` });
const productKey = (product) => ({ pk: `PRODUCT#${product}` });

// What did not hold stands in the order of the actions: first the order, then the stock.
async function placeOrExplain(client, command) {
  try {
    await client.send(command);
  } catch (error) {
    if (!(error instanceof TransactionCanceledException)) throw error;
    const [order, stock] = error.CancellationReasons.map(({ Code }) => Code);
    if (['ConditionalCheckFailed', 'DuplicateItem'].includes(order)) throw new OrderExists();
    if (stock === 'ConditionalCheckFailed') throw new SoldOut();
    throw error;
  }
}

const placeBy = {
  TransactWrite: (client, { order, product, customer, token }) => placeOrExplain(client,
    new TransactWriteCommand({
      ClientRequestToken: token,
      TransactItems: [
        {
          Put: {
            TableName,
            Item: { ...orderKey(order), product, customer },
            ConditionExpression: 'attribute_not_exists(pk)',
          },
        },
        {
          Update: {
            TableName,
            Key: productKey(product),
            UpdateExpression: 'SET stock = stock - :one',
            ConditionExpression: 'stock >= :one',
            ExpressionAttributeValues: { ':one': 1 },
          },
        },
      ],
    })),

  PartiQL: (client, { order, product, customer, token }) => placeOrExplain(client,
    new ExecuteTransactionCommand({
      ClientRequestToken: token,
      TransactStatements: [
        {
          Statement: `INSERT INTO "${TableName}" VALUE {'pk': ?, 'product': ?, 'customer': ?}`,
          Parameters: [orderKey(order).pk, product, customer],
        },
        {
          Statement: `UPDATE "${TableName}" SET stock = stock - 1 WHERE pk = ? AND stock >= 1`,
          Parameters: [productKey(product).pk],
        },
      ],
    })),
};

let server;
let client;

const get = async (key) => (await client.send(new GetCommand({ TableName, Key: key }))).Item;
const setStock = (product, stock) => client.send(
  new PutCommand({ TableName, Item: { ...productKey(product), stock } }));

before(async () => {
  server = await startServer();
  client = DynamoDBDocumentClient.from(new DynamoDBClient({
    endpoint: server.url,
    region: 'us-east-1',
    credentials: { accessKeyId: 'any', secretAccessKey: 'any' },
  }));
  await client.send(new CreateTableCommand({
    TableName,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
  }));
  await waitUntilTableExists({ client, maxWaitTime: 20, minDelay: 1, maxDelay: 1 }, { TableName });
});
after(async () => {
  await client.send(new DeleteTableCommand({ TableName }));
  client.destroy();
  await server.stop();
});

for (const [kind, place] of Object.entries(placeBy)) {
  describe(kind, () => {
    const order = (name) => ({ order: `${kind}-${name}`, product: 'lamp', customer: 'ada' });

    beforeEach(() => setStock('lamp', STOCK));

    test('an order takes one from stock', async () => {
      await place(client, order(1));
      const { Responses } = await client.send(new TransactGetCommand({
        TransactItems: [
          { Get: { TableName, Key: orderKey(`${kind}-1`) } },
          { Get: { TableName, Key: productKey('lamp'), ProjectionExpression: 'stock' } },
        ],
      }));
      assert.deepEqual(Responses.map(({ Item }) => Item), [
        { ...orderKey(`${kind}-1`), product: 'lamp', customer: 'ada' }, { stock: STOCK - 1 }]);
    });

    test('an order that exists takes nothing', async () => {
      await place(client, order(2));
      await assert.rejects(place(client, { ...order(2), customer: 'bob' }), OrderExists);
      assert.equal((await get(productKey('lamp'))).stock, STOCK - 1);
      assert.equal((await get(orderKey(`${kind}-2`))).customer, 'ada');
    });

    test('what is sold out is not ordered', async () => {
      await setStock('lamp', 0);
      await assert.rejects(place(client, order(3)), SoldOut);
      assert.equal(await get(orderKey(`${kind}-3`)), undefined);
    });

    test('a retry with the same token takes nothing a second time', async () => {
      const retried = { ...order(4), token: `${kind}-order-4` };
      await place(client, retried);
      await place(client, retried);
      assert.equal((await get(productKey('lamp'))).stock, STOCK - 1);
    });

    test('no more are sold than there are, however many ask', async () => {
      const asked = Array.from({ length: 3 * STOCK }, (_, n) => place(client, order(`many-${n}`)));
      const outcomes = await Promise.allSettled(asked);
      const refused = outcomes.filter(({ reason }) => reason !== undefined);
      assert.equal(outcomes.length - refused.length, STOCK);
      assert.ok(refused.every(({ reason }) => reason instanceof SoldOut));
      assert.equal((await get(productKey('lamp'))).stock, 0);
    });
  });
}
