// Order management in one table, with the DocumentClient of the AWS SDK for JavaScript v2: plain
// values in and out, requests that end in .promise() or call back.
//
//   item      pk             sk                    index `lookup`                  index `open`
//   customer  CUSTOMER#<id>  PROFILE               EMAIL#<mail>, CUSTOMER#<id>     -
//   order     CUSTOMER#<id>  ORDER#<date>#<order>  ORDERS, <status>#<date>         <order>
//
// `lookup` is overloaded: customers by e-mail, orders by status and date. `open` is sparse: an
// order is in it while it has `openOrder`, so a Scan of that index reads nothing else.
'use strict';
process.env.AWS_SDK_JS_SUPPRESS_MAINTENANCE_MODE_MESSAGE = '1';
const assert = require('node:assert/strict');
const { after, before, test } = require('node:test');
const AWS = require('aws-sdk');
const { startServer } = require('../api/lib/server.js');

const TableName = 'orders-sdk2';

const TABLE = {
  TableName,
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: [
    { AttributeName: 'pk', AttributeType: 'S' },
    { AttributeName: 'sk', AttributeType: 'S' },
    { AttributeName: 'lookupPk', AttributeType: 'S' },
    { AttributeName: 'lookupSk', AttributeType: 'S' },
    { AttributeName: 'openOrder', AttributeType: 'N' },
  ],
  KeySchema: [
    { AttributeName: 'pk', KeyType: 'HASH' }, { AttributeName: 'sk', KeyType: 'RANGE' },
  ],
  GlobalSecondaryIndexes: [
    {
      IndexName: 'lookup',
      KeySchema: [
        { AttributeName: 'lookupPk', KeyType: 'HASH' },
        { AttributeName: 'lookupSk', KeyType: 'RANGE' },
      ],
      Projection: { ProjectionType: 'ALL' },
    },
    {
      IndexName: 'open',
      KeySchema: [{ AttributeName: 'openOrder', KeyType: 'HASH' }],
      Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['total'] },
    },
  ],
};

class Orders {
  constructor(documents) {
    this.documents = documents;
  }

  addCustomer(customer, name, email) {
    return this.documents.put({
      TableName,
      Item: {
        pk: `CUSTOMER#${customer}`,
        sk: 'PROFILE',
        lookupPk: `EMAIL#${email}`,
        lookupSk: `CUSTOMER#${customer}`,
        name,
        tags: this.documents.createSet(['new']),
      },
      ConditionExpression: 'attribute_not_exists(pk)',
    }).promise();
  }

  async customerByEmail(email) {
    const { Items } = await this.documents.query({
      TableName,
      IndexName: 'lookup',
      KeyConditionExpression: 'lookupPk = :email',
      ExpressionAttributeValues: { ':email': `EMAIL#${email}` },
    }).promise();
    return Items[0];
  }

  // Up to 25 orders; the SDK repeats what failed as a whole, the rest is the caller's.
  async load(orders) {
    let RequestItems = {
      [TableName]: orders.map(({ customer, order, placed, total, lines }) => ({
        PutRequest: {
          Item: {
            pk: `CUSTOMER#${customer}`,
            sk: `ORDER#${placed}#${order}`,
            lookupPk: 'ORDERS',
            lookupSk: `PLACED#${placed}`,
            openOrder: order,
            order,
            status: 'PLACED',
            total,
            lines,
          },
        },
      })),
    };
    while (Object.keys(RequestItems).length > 0) {
      const { UnprocessedItems } = await this.documents.batchWrite({ RequestItems }).promise();
      RequestItems = UnprocessedItems;
    }
  }

  async newest(customer, Limit) {
    const { Items } = await this.documents.query({
      TableName,
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :order)',
      ExpressionAttributeValues: { ':pk': `CUSTOMER#${customer}`, ':order': 'ORDER#' },
      ScanIndexForward: false,
      Limit,
    }).promise();
    return Items;
  }

  // One page and the key that the next one starts at; the caller may show it in a link.
  async pageByStatus(status, from, to, Limit, ExclusiveStartKey) {
    const { Items, LastEvaluatedKey } = await this.documents.query({
      TableName,
      IndexName: 'lookup',
      KeyConditionExpression: 'lookupPk = :orders AND lookupSk BETWEEN :from AND :to',
      ProjectionExpression: '#order, #total',
      ExpressionAttributeNames: { '#order': 'order', '#total': 'total' },
      ExpressionAttributeValues: {
        ':orders': 'ORDERS', ':from': `${status}#${from}`, ':to': `${status}#${to}~`,
      },
      Limit,
      ExclusiveStartKey,
    }).promise();
    return { items: Items, next: LastEvaluatedKey };
  }

  // The older way to go through the pages: the request calls back for each, then with null.
  openOrders() {
    const request = this.documents.scan({ TableName, IndexName: 'open', Limit: 2 });
    const found = [];
    return new Promise((resolve, reject) => {
      request.eachPage((error, page) => {
        if (error) reject(error);
        else if (page === null) resolve(found.sort((a, b) => a - b));
        else found.push(...page.Items.map(({ openOrder }) => openOrder));
        return true;
      });
    });
  }

  async close({ pk, sk }, status) {
    const placed = sk.split('#')[1];
    const { Attributes } = await this.documents.update({
      TableName,
      Key: { pk, sk },
      UpdateExpression: 'SET #status = :status, lookupSk = :lookup REMOVE openOrder',
      ConditionExpression: 'attribute_exists(openOrder)',
      ExpressionAttributeNames: { '#status': 'status' },
      ExpressionAttributeValues: { ':status': status, ':lookup': `${status}#${placed}` },
      ReturnValues: 'UPDATED_OLD',
    }).promise();
    return Attributes;
  }

  async reopen({ pk, sk, order }) {
    await this.documents.update({
      TableName,
      Key: { pk, sk },
      UpdateExpression: 'SET #status = :status, lookupSk = :lookup, openOrder = :order',
      ExpressionAttributeNames: { '#status': 'status' },
      ExpressionAttributeValues: {
        ':status': 'PLACED', ':lookup': `PLACED#${sk.split('#')[1]}`, ':order': order,
      },
    }).promise();
  }
}

let server;
let dynamodb;
let orders;
before(async () => {
  server = await startServer('--in-memory');
  dynamodb = new AWS.DynamoDB({
    endpoint: server.url, region: 'us-east-1', accessKeyId: 'any', secretAccessKey: 'any',
  });
  await dynamodb.createTable(TABLE).promise();
  await dynamodb.waitFor('tableExists', { TableName, $waiter: { delay: 1 } }).promise();
  orders = new Orders(new AWS.DynamoDB.DocumentClient({ service: dynamodb }));
  await orders.addCustomer('ada', 'Ada', 'ada@example.com');
  await orders.addCustomer('bob', 'Bob', 'bob@example.com');
  await orders.load(Array.from({ length: 10 }, (_, n) => ({
    customer: n % 2 ? 'bob' : 'ada',
    order: 100 + n,
    placed: `2026-03-${String(n + 1).padStart(2, '0')}`,
    total: n * 1.25,
    lines: [{ article: 'pen', count: n }],
  })));
});
after(async () => {
  await dynamodb.deleteTable({ TableName }).promise();
  await server.stop();
});
const numbers = (items) => items.map(({ order }) => order);

test('customers are found by e-mail, and added once', async () => {
  const bob = await orders.customerByEmail('bob@example.com');
  assert.equal(bob.name, 'Bob');
  assert.deepEqual(bob.tags.values, ['new']);
  assert.equal(await orders.customerByEmail('eve@example.com'), undefined);
  await assert.rejects(orders.addCustomer('bob', 'Robert', 'robert@example.com'),
    { code: 'ConditionalCheckFailedException', statusCode: 400, retryable: false });
});

test('the newest orders of a customer', async () => {
  const newest = await orders.newest('ada', 2);
  assert.deepEqual(numbers(newest), [108, 106]);
  assert.deepEqual(newest[0].lines, [{ article: 'pen', count: 8 }]);
});

test('orders of a status between two dates, page by page', async () => {
  const first = await orders.pageByStatus('PLACED', '2026-03-03', '2026-03-05', 2);
  assert.deepEqual(first.items, [{ order: 102, total: 2.5 }, { order: 103, total: 3.75 }]);
  assert.deepEqual(first.next, {
    pk: 'CUSTOMER#bob',
    sk: 'ORDER#2026-03-04#103',
    lookupPk: 'ORDERS',
    lookupSk: 'PLACED#2026-03-04',
  });
  const second = await orders.pageByStatus('PLACED', '2026-03-03', '2026-03-05', 2, first.next);
  assert.deepEqual(second, { items: [{ order: 104, total: 5 }], next: undefined });
});

test('an order is open until it is closed, and again when it is reopened', async () => {
  const all = [100, 101, 102, 103, 104, 105, 106, 107, 108, 109];
  assert.deepEqual(await orders.openOrders(), all);
  const [newest] = await orders.newest('bob', 1);
  assert.deepEqual(await orders.close(newest, 'SHIPPED'),
    { status: 'PLACED', lookupSk: 'PLACED#2026-03-10', openOrder: 109 });
  assert.deepEqual(await orders.openOrders(), all.slice(0, 9));
  const shipped = await orders.pageByStatus('SHIPPED', '2026-03-01', '2026-03-31', 10);
  assert.deepEqual(numbers(shipped.items), [109]);
  await assert.rejects(orders.close(newest, 'CANCELLED'),
    { code: 'ConditionalCheckFailedException' });
  await orders.reopen(newest);
  assert.deepEqual(await orders.openOrders(), all);
});
