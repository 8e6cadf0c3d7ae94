// Users and groups as an adjacency list, with the DocumentClient of the AWS SDK for JavaScript v2.
//
//   item        pk           sk                     index `inverse`: target, pk
//   user        USER#<id>    USER#<id>              -
//   group       GROUP#<id>   GROUP#<id>             -
//   membership  GROUP#<id>   MEMBER#<role>#<user>   USER#<user>, GROUP#<id>
//   message     GROUP#<id>   MESSAGE#<time>         -
//
// A group is one item collection: its node, its members sorted by role, its messages by time. The
// index is overloaded by whatever an edge points to, and sparse: nodes and messages have no target.
'use strict';
process.env.AWS_SDK_JS_SUPPRESS_MAINTENANCE_MODE_MESSAGE = '1';
const assert = require('node:assert/strict');
const { after, before, test } = require('node:test');
const AWS = require('aws-sdk');
const { startServer } = require('../api/lib/server.js');

const TableName = 'groups-sdk2';

const TABLE = {
  TableName,
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: [
    { AttributeName: 'pk', AttributeType: 'S' },
    { AttributeName: 'sk', AttributeType: 'S' },
    { AttributeName: 'target', AttributeType: 'S' },
  ],
  KeySchema: [
    { AttributeName: 'pk', KeyType: 'HASH' }, { AttributeName: 'sk', KeyType: 'RANGE' },
  ],
  GlobalSecondaryIndexes: [{
    IndexName: 'inverse',
    KeySchema: [
      { AttributeName: 'target', KeyType: 'HASH' }, { AttributeName: 'pk', KeyType: 'RANGE' },
    ],
    Projection: { ProjectionType: 'KEYS_ONLY' },
  }],
};

class Groups {
  constructor(documents) {
    this.documents = documents;
  }

  async load(items) {
    for (let start = 0; start < items.length; start += 25) {
      let RequestItems = {
        [TableName]: items.slice(start, start + 25).map((Item) => ({ PutRequest: { Item } })),
      };
      while (Object.keys(RequestItems).length > 0) {
        RequestItems = (await this.documents.batchWrite({ RequestItems }).promise())
          .UnprocessedItems;
      }
    }
  }

  async beginsWith(group, prefix, more) {
    return this.documents.query({
      TableName,
      KeyConditionExpression: 'pk = :group AND begins_with(sk, :prefix)',
      ExpressionAttributeValues: { ':group': `GROUP#${group}`, ':prefix': prefix },
      ...more,
    }).promise();
  }

  // Of one role, or of all.
  async members(group, role) {
    const { Items } = await this.beginsWith(group, role ? `MEMBER#${role}#` : 'MEMBER#');
    return Items.map(({ target }) => target.slice('USER#'.length));
  }

  async groupsOf(user) {
    const { Items } = await this.documents.query({
      TableName,
      IndexName: 'inverse',
      KeyConditionExpression: 'target = :user',
      ExpressionAttributeValues: { ':user': `USER#${user}` },
    }).promise();
    return Items.map(({ pk }) => pk.slice('GROUP#'.length));
  }

  // The key says the role, so that a new role is a new item. A batch saves a request but is no
  // transaction: a reader may see the edge twice, or not at all, for a moment.
  async changeRole(group, user, before, now) {
    await this.documents.batchWrite({
      RequestItems: {
        [TableName]: [
          { DeleteRequest: { Key: { pk: `GROUP#${group}`, sk: `MEMBER#${before}#${user}` } } },
          { PutRequest: { Item: membership(group, user, now) } },
        ],
      },
    }).promise();
  }

  // Two messages of the same time would be the same item: the later one is refused.
  post(group, time, author, text) {
    return this.documents.put({
      TableName,
      Item: { pk: `GROUP#${group}`, sk: `MESSAGE#${time}`, author, text, likes: 0 },
      ConditionExpression: 'attribute_not_exists(sk)',
    }).promise();
  }

  // The newest page first; `before` is where the last page ended.
  async messages(group, limit, before) {
    const { Items, LastEvaluatedKey } = await this.beginsWith(group, 'MESSAGE#',
      { ScanIndexForward: false, Limit: limit, ExclusiveStartKey: before });
    return { texts: Items.map(({ text }) => text), before: LastEvaluatedKey };
  }

  async messagesBetween(group, first, last) {
    const { Count } = await this.documents.query({
      TableName,
      KeyConditionExpression: 'pk = :group AND sk BETWEEN :first AND :last',
      ExpressionAttributeValues: {
        ':group': `GROUP#${group}`, ':first': `MESSAGE#${first}`, ':last': `MESSAGE#${last}~`,
      },
      Select: 'COUNT',
    }).promise();
    return Count;
  }

  // Counts a user once: the set remembers who liked.
  async like(group, time, user) {
    await this.documents.update({
      TableName,
      Key: { pk: `GROUP#${group}`, sk: `MESSAGE#${time}` },
      UpdateExpression: 'ADD likes :one, likedBy :users',
      ConditionExpression: 'attribute_exists(sk) AND NOT contains(likedBy, :user)',
      ExpressionAttributeValues: {
        ':one': 1, ':users': this.documents.createSet([user]), ':user': user,
      },
    }).promise();
  }

  // Reads, then writes if the version is still the one that was read.
  async rename(group, seen, title) {
    await this.documents.update({
      TableName,
      Key: { pk: `GROUP#${group}`, sk: `GROUP#${group}` },
      UpdateExpression: 'SET title = :title, version = :next',
      ConditionExpression: 'version = :seen',
      ExpressionAttributeValues: {
        ':title': title, ':next': seen.version + 1, ':seen': seen.version,
      },
    }).promise();
  }

  async group(group) {
    const Key = { pk: `GROUP#${group}`, sk: `GROUP#${group}` };
    return (await this.documents.get({ TableName, Key }).promise()).Item;
  }
}

const node = (kind, id, more) => ({ pk: `${kind}#${id}`, sk: `${kind}#${id}`, ...more });
const membership = (group, user, role) => (
  { pk: `GROUP#${group}`, sk: `MEMBER#${role}#${user}`, target: `USER#${user}` });

let server;
let dynamodb;
let groups;
before(async () => {
  server = await startServer('--in-memory');
  dynamodb = new AWS.DynamoDB({
    endpoint: server.url, region: 'us-east-1', accessKeyId: 'any', secretAccessKey: 'any',
  });
  await dynamodb.createTable(TABLE).promise();
  await dynamodb.waitFor('tableExists', { TableName, $waiter: { delay: 1 } }).promise();
  groups = new Groups(new AWS.DynamoDB.DocumentClient({ service: dynamodb }));
  await groups.load([
    ...['ada', 'bob', 'cem'].map((user) => node('USER', user, { name: user })),
    node('GROUP', 'chess', { title: 'Chess', version: 1 }),
    node('GROUP', 'choir', { title: 'Choir', version: 1 }),
    membership('chess', 'cem', 'admin'), membership('chess', 'ada', 'guest'),
    membership('chess', 'bob', 'guest'), membership('choir', 'ada', 'admin'),
    ...Array.from({ length: 30 }, (_, n) => membership('choir', `u${n + 10}`, 'guest')),
  ]);
});
after(async () => {
  await dynamodb.deleteTable({ TableName }).promise();
  await server.stop();
});
const CONDITION_FAILED = { code: 'ConditionalCheckFailedException' };

test('members of a group, groups of a user', async () => {
  assert.deepEqual(await groups.members('chess'), ['cem', 'ada', 'bob']);
  assert.deepEqual(await groups.members('chess', 'guest'), ['ada', 'bob']);
  assert.equal((await groups.members('choir')).length, 31);
  assert.deepEqual(await groups.groupsOf('ada'), ['chess', 'choir']);
});

test('a new role moves an edge in the table and keeps it in the index', async () => {
  await groups.changeRole('chess', 'bob', 'guest', 'admin');
  assert.deepEqual(await groups.members('chess', 'admin'), ['bob', 'cem']);
  assert.deepEqual(await groups.members('chess', 'guest'), ['ada']);
  assert.deepEqual(await groups.groupsOf('bob'), ['chess']);
});

test('messages are read from the newest back, page by page', async () => {
  for (let day = 1; day <= 5; day++) {
    await groups.post('chess', `2026-07-0${day}T10:00`, 'ada', `message ${day}`);
  }
  await assert.rejects(groups.post('chess', '2026-07-05T10:00', 'bob', 'me too'), CONDITION_FAILED);
  let page = await groups.messages('chess', 2);
  assert.deepEqual(page.texts, ['message 5', 'message 4']);
  page = await groups.messages('chess', 2, page.before);
  assert.deepEqual(page.texts, ['message 3', 'message 2']);
  page = await groups.messages('chess', 2, page.before);
  assert.deepEqual(page, { texts: ['message 1'], before: undefined });
  assert.equal(await groups.messagesBetween('chess', '2026-07-02', '2026-07-04'), 3);
});

test('a like counts once', async () => {
  await groups.post('choir', '2026-08-01T20:00', 'ada', 'Tonight!');
  await groups.like('choir', '2026-08-01T20:00', 'u10');
  await groups.like('choir', '2026-08-01T20:00', 'u11');
  await assert.rejects(groups.like('choir', '2026-08-01T20:00', 'u10'), CONDITION_FAILED);
  const { Items: [message] } = await groups.beginsWith('choir', 'MESSAGE#2026-08');
  assert.equal(message.likes, 2);
  assert.deepEqual([...message.likedBy.values].sort(), ['u10', 'u11']);
});

test('a group is renamed by who saw its last name', async () => {
  const seen = await groups.group('choir');
  await groups.rename('choir', seen, 'Chamber choir');
  await assert.rejects(groups.rename('choir', seen, 'Rock choir'), CONDITION_FAILED);
  assert.equal((await groups.group('choir')).title, 'Chamber choir');
});
