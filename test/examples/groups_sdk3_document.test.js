// Users and groups as an adjacency list, with the document client of the AWS SDK for JavaScript v3.
//
//   item        pk           sk           attributes
//   user        USER#<id>    USER#<id>    name
//   group       GROUP#<id>   GROUP#<id>   title, members, version
//   membership  USER#<id>    GROUP#<id>   role; `invited` until it was accepted
//
// A node's two keys are equal, an edge joins two nodes. The table answers "which groups is this
// user in", the index `inverse` with the keys swapped "who is in this group". The index
// `invitations` is sparse: it holds the edges that still have the attribute `invited`, newest last.
'use strict';
const assert = require('node:assert/strict');
const { after, before, test } = require('node:test');
const {
  CreateTableCommand, DeleteTableCommand, DynamoDBClient, waitUntilTableExists,
} = require('@aws-sdk/client-dynamodb');
const {
  BatchGetCommand, BatchWriteCommand, DynamoDBDocumentClient, GetCommand, PutCommand, QueryCommand,
  ScanCommand, UpdateCommand, paginateQuery,
} = require('@aws-sdk/lib-dynamodb');
const { startServer } = require('../api/lib/server.js');

const TableName = 'groups-sdk3';

const schema = (partitionKey, sortKey) => [
  { AttributeName: partitionKey, KeyType: 'HASH' }, { AttributeName: sortKey, KeyType: 'RANGE' },
];
const TABLE = {
  TableName,
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: ['pk', 'sk', 'invited'].map((AttributeName) => (
    { AttributeName, AttributeType: 'S' })),
  KeySchema: schema('pk', 'sk'),
  GlobalSecondaryIndexes: [
    {
      IndexName: 'inverse',
      KeySchema: schema('sk', 'pk'),
      Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['role'] },
    },
    {
      IndexName: 'invitations',
      KeySchema: schema('sk', 'invited'),
      Projection: { ProjectionType: 'KEYS_ONLY' },
    },
  ],
};

const id = (key) => key.slice(key.indexOf('#') + 1);
const userKey = (user) => ({ pk: `USER#${user}`, sk: `USER#${user}` });
const groupKey = (group) => ({ pk: `GROUP#${group}`, sk: `GROUP#${group}` });
const edgeKey = (user, group) => ({ pk: `USER#${user}`, sk: `GROUP#${group}` });

class Directory {
  constructor(documents) {
    this.documents = documents;
  }

  async load(items) {
    let waiting = items.map((Item) => ({ PutRequest: { Item } }));
    while (waiting.length > 0) {
      const { UnprocessedItems } = await this.documents.send(
        new BatchWriteCommand({ RequestItems: { [TableName]: waiting.slice(0, 25) } }));
      waiting = [...waiting.slice(25), ...(UnprocessedItems[TableName] ?? [])];
    }
  }

  invite(user, group, date) {
    return this.documents.send(new PutCommand({
      TableName,
      Item: { ...edgeKey(user, group), role: 'member', invited: date },
      ConditionExpression: 'attribute_not_exists(pk)',
    }));
  }

  // The edge stays; only the attribute that made it an open invitation goes.
  async accept(user, group) {
    await this.documents.send(new UpdateCommand({
      TableName,
      Key: edgeKey(user, group),
      UpdateExpression: 'REMOVE invited',
      ConditionExpression: 'attribute_exists(invited)',
    }));
    const { Attributes } = await this.documents.send(new UpdateCommand({
      TableName,
      Key: groupKey(group),
      UpdateExpression: 'ADD members :one',
      ExpressionAttributeValues: { ':one': 1 },
      ReturnValues: 'UPDATED_NEW',
    }));
    return Attributes.members;
  }

  async invitations(group, since) {
    const { Items } = await this.documents.send(new QueryCommand({
      TableName,
      IndexName: 'invitations',
      KeyConditionExpression: 'sk = :group AND invited >= :since',
      ExpressionAttributeValues: { ':group': `GROUP#${group}`, ':since': since },
    }));
    return Items.map(({ pk }) => id(pk));
  }

  async allInvitations() {
    const { Count } = await this.documents.send(
      new ScanCommand({ TableName, IndexName: 'invitations', Select: 'COUNT' }));
    return Count;
  }

  // A user's node and edges are one item collection: "GROUP#..." in front of "USER#...".
  async groupsOf(user) {
    const { Items } = await this.documents.send(new QueryCommand({
      TableName,
      KeyConditionExpression: 'pk = :user AND begins_with(sk, :group)',
      FilterExpression: 'attribute_not_exists(invited)',
      ExpressionAttributeValues: { ':user': `USER#${user}`, ':group': 'GROUP#' },
    }));
    return Items.map(({ sk }) => id(sk));
  }

  async membersOf(group, pageSize) {
    const members = [];
    const pages = paginateQuery({ client: this.documents, pageSize }, {
      TableName,
      IndexName: 'inverse',
      KeyConditionExpression: 'sk = :group AND begins_with(pk, :user)',
      ExpressionAttributeValues: { ':group': `GROUP#${group}`, ':user': 'USER#' },
    });
    for await (const { Items } of pages) members.push(...Items.map(({ pk }) => id(pk)));
    return members;
  }

  // Two steps in the graph: the groups of a user, then everybody in them.
  async acquaintances(user) {
    const groups = await this.groupsOf(user);
    const members = await Promise.all(groups.map((group) => this.membersOf(group)));
    return [...new Set(members.flat())].filter((other) => other !== user).sort();
  }

  async namesOf(users) {
    const { Responses } = await this.documents.send(new BatchGetCommand({
      RequestItems: { [TableName]: { Keys: users.map(userKey) } },
    }));
    return Responses[TableName].map(({ name }) => name).sort();
  }

  async group(group) {
    const { Item } = await this.documents.send(
      new GetCommand({ TableName, Key: groupKey(group), ConsistentRead: true }));
    return Item;
  }

  // Puts the whole item back, if nobody did since it was read.
  save(item) {
    return this.documents.send(new PutCommand({
      TableName,
      Item: { ...item, version: item.version + 1 },
      ConditionExpression: '#version = :read',
      ExpressionAttributeNames: { '#version': 'version' },
      ExpressionAttributeValues: { ':read': item.version },
    }));
  }
}

const USERS = ['ada', 'bob', 'cem', 'dan', 'eve'];
const EDGES = { chess: ['ada', 'bob'], choir: ['bob', 'cem', 'dan'], rowing: ['eve'] };

let server;
let client;
let directory;
before(async () => {
  server = await startServer('--in-memory');
  client = new DynamoDBClient({
    endpoint: server.url,
    region: 'us-east-1',
    credentials: { accessKeyId: 'any', secretAccessKey: 'any' },
  });
  await client.send(new CreateTableCommand(TABLE));
  await waitUntilTableExists({ client, maxWaitTime: 20, minDelay: 1, maxDelay: 1 }, { TableName });
  directory = new Directory(DynamoDBDocumentClient.from(client));
  await directory.load([
    ...USERS.map((user) => ({ ...userKey(user), name: user.toUpperCase() })),
    ...Object.entries(EDGES).flatMap(([group, users]) => [
      { ...groupKey(group), title: `The ${group} club`, members: users.length, version: 1 },
      ...users.map((user) => ({ ...edgeKey(user, group), role: 'member' })),
    ]),
  ]);
});
after(async () => {
  await client.send(new DeleteTableCommand({ TableName }));
  client.destroy();
  await server.stop();
});

test('edges are followed in both directions', async () => {
  assert.deepEqual(await directory.groupsOf('bob'), ['chess', 'choir']);
  assert.deepEqual(await directory.membersOf('choir'), ['bob', 'cem', 'dan']);
  assert.deepEqual(await directory.membersOf('choir', 1), ['bob', 'cem', 'dan']);
});

test('two steps through the graph, and the nodes at their end', async () => {
  const known = await directory.acquaintances('bob');
  assert.deepEqual(known, ['ada', 'cem', 'dan']);
  assert.deepEqual(await directory.namesOf(known), ['ADA', 'CEM', 'DAN']);
  assert.deepEqual(await directory.acquaintances('eve'), []);
});

test('an invitation is in its index until it is accepted', async () => {
  await directory.invite('cem', 'chess', '2026-06-01');
  await directory.invite('dan', 'chess', '2026-06-20');
  await directory.invite('ada', 'rowing', '2026-06-10');
  await assert.rejects(directory.invite('ada', 'chess', '2026-06-02'),
    { name: 'ConditionalCheckFailedException' });
  assert.deepEqual(await directory.invitations('chess', '2026-01-01'), ['cem', 'dan']);
  assert.deepEqual(await directory.invitations('chess', '2026-06-15'), ['dan']);
  assert.equal(await directory.allInvitations(), 3);
  assert.deepEqual(await directory.groupsOf('cem'), ['choir']);

  assert.equal(await directory.accept('cem', 'chess'), 3);
  assert.deepEqual(await directory.invitations('chess', '2026-01-01'), ['dan']);
  assert.equal(await directory.allInvitations(), 2);
  assert.deepEqual(await directory.groupsOf('cem'), ['chess', 'choir']);
  await assert.rejects(directory.accept('cem', 'chess'),
    { name: 'ConditionalCheckFailedException' });
  assert.equal((await directory.group('chess')).members, 3);
});

test('of two editors of a group one has to read it again', async () => {
  const mine = await directory.group('rowing');
  const theirs = await directory.group('rowing');
  await directory.save({ ...theirs, title: 'Rowing' });
  await assert.rejects(directory.save({ ...mine, title: 'Sailing' }),
    { name: 'ConditionalCheckFailedException', message: 'The conditional request failed' });
  await directory.save({ ...await directory.group('rowing'), title: 'Sailing' });
  const { title, version } = await directory.group('rowing');
  assert.deepEqual({ title, version }, { title: 'Sailing', version: 3 });
});
