// Time to live: the setting, what expires, and how streams and indexes tell of it.
'use strict';
const assert = require('node:assert/strict');
const { setTimeout: sleep } = require('node:timers/promises');
const { after, before, test } = require('node:test');
const {
  DescribeTableCommand, DescribeTimeToLiveCommand, PutItemCommand, ScanCommand,
  UpdateTimeToLiveCommand,
} = require('@aws-sdk/client-dynamodb');
const {
  DescribeStreamCommand, DynamoDBStreamsClient, GetRecordsCommand, GetShardIteratorCommand,
} = require('@aws-sdk/client-dynamodb-streams');
const {
  createClient, createTable, dropTables, refusal, tableShape, validation,
} = require('./lib/client.js');
const { startServer } = require('./lib/server.js');

const WAIT_MS = 60_000;
const FIVE_YEARS = 5 * 365 * 24 * 60 * 60;

let server;
let client;
before(async () => {
  server = await startServer('--ttl-interval', '50');
  client = createClient(server);
});
after(async () => {
  client.destroy();
  await server.stop();
});

async function until(condition) {
  const deadline = Date.now() + WAIT_MS;
  while (!await condition()) {
    assert.ok(Date.now() < deadline, `never came: ${condition}`);
    await sleep(20);
  }
}

const set = (table, enabled, attribute) => client.send(new UpdateTimeToLiveCommand({
  TableName: table, TimeToLiveSpecification: { Enabled: enabled, AttributeName: attribute },
}));
const describeTtl = async (table) => (
  (await client.send(new DescribeTimeToLiveCommand({ TableName: table }))).TimeToLiveDescription);
const status = async (table) => (await describeTtl(table)).TimeToLiveStatus;
const put = (table, item) => client.send(new PutItemCommand({ TableName: table, Item: item }));
const keys = async (table, more) => (
  (await client.send(new ScanCommand({ TableName: table, ...more }))).Items
    .map(({ pk }) => pk.S).sort());
const now = () => Math.floor(Date.now() / 1000);

test('the setting is shown, and comes and goes', async () => {
  await dropTables(client, 'setting');
  await createTable(client, tableShape('setting', 'pk:S'));
  assert.deepEqual(await describeTtl('setting'), { TimeToLiveStatus: 'DISABLED' });
  const { TimeToLiveSpecification } = await set('setting', true, 'expires at');
  assert.deepEqual(TimeToLiveSpecification, { Enabled: true, AttributeName: 'expires at' });
  assert.ok(['ENABLING', 'ENABLED'].includes(await status('setting')));
  await until(async () => await status('setting') === 'ENABLED');
  assert.deepEqual(await describeTtl('setting'),
    { TimeToLiveStatus: 'ENABLED', AttributeName: 'expires at' });
  assert.deepEqual(await refusal(set('setting', true, 'expires at')),
    validation('TimeToLive is already enabled'));
  assert.deepEqual(await refusal(set('setting', false, 'other')),
    validation('TimeToLive is active on a different AttributeName: current AttributeName is expires at'));
  await set('setting', false, 'expires at');
  await until(async () => await status('setting') === 'DISABLED');
  assert.deepEqual(await describeTtl('setting'), { TimeToLiveStatus: 'DISABLED' });
  assert.deepEqual(await refusal(set('setting', false, 'expires at')),
    validation('TimeToLive is already disabled'));
});

test('a table that is not there has none', async () => {
  const notFound = {
    name: 'ResourceNotFoundException',
    message: 'Requested resource not found: Table: nowhere not found',
  };
  assert.deepEqual(await refusal(describeTtl('nowhere')), notFound);
  assert.deepEqual(await refusal(set('nowhere', true, 't')), notFound);
});

test('items go when their time has come, from the table and its index', async () => {
  const shape = tableShape('expiring', 'pk:S');
  await dropTables(client, 'expiring');
  await createTable(client, {
    ...shape,
    AttributeDefinitions: [
      ...shape.AttributeDefinitions, { AttributeName: 'group', AttributeType: 'S' }],
    GlobalSecondaryIndexes: [{
      IndexName: 'by-group',
      KeySchema: [{ AttributeName: 'group', KeyType: 'HASH' }],
      Projection: { ProjectionType: 'ALL' },
    }],
  });
  const start = now();
  const times = {
    past: { N: `${start - 10}` },
    soon: { N: `${start + 2}` },
    later: { N: `${start + 3600}` },
    old: { N: `${start - FIVE_YEARS - 60}` },
    text: { S: `${start - 10}` },
    negative: { N: '-1' },
    huge: { N: '1E100' },
  };
  const group = { S: 'all' };
  await put('expiring', { pk: { S: 'before' }, group, t: { N: `${start - 10}` } });
  await set('expiring', true, 't');
  for (const [pk, t] of Object.entries(times)) await put('expiring', { pk: { S: pk }, group, t });
  await put('expiring', { pk: { S: 'none' }, group });
  const stay = ['huge', 'later', 'negative', 'none', 'old', 'text'];
  await until(async () => (await keys('expiring')).length === stay.length);
  assert.deepEqual(await keys('expiring'), stay);
  assert.deepEqual(await keys('expiring', { IndexName: 'by-group' }), stay);
  assert.ok(now() >= start + 2);
  const { Table } = await client.send(new DescribeTableCommand({ TableName: 'expiring' }));
  assert.equal(Table.ItemCount, stay.length);
});

test('a stream tells that the service made the deletion', async () => {
  await dropTables(client, 'streamed');
  await createTable(client, {
    ...tableShape('streamed', 'pk:S'),
    StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
  });
  await set('streamed', true, 't');
  const item = { pk: { S: 'a' }, t: { N: `${now() - 1}` }, more: { S: 'x' } };
  await put('streamed', item);
  await until(async () => (await keys('streamed')).length === 0);
  const { Table } = await client.send(new DescribeTableCommand({ TableName: 'streamed' }));
  const streams = new DynamoDBStreamsClient({
    endpoint: server.url,
    region: 'us-east-1',
    credentials: { accessKeyId: 'AKIATEST', secretAccessKey: 'secret' },
  });
  const StreamArn = Table.LatestStreamArn;
  const found = [];
  const { StreamDescription } = await streams.send(new DescribeStreamCommand({ StreamArn }));
  for (const { ShardId } of StreamDescription.Shards) {
    const { ShardIterator } = await streams.send(new GetShardIteratorCommand({
      StreamArn, ShardId, ShardIteratorType: 'TRIM_HORIZON',
    }));
    found.push(...(await streams.send(new GetRecordsCommand({ ShardIterator }))).Records);
  }
  streams.destroy();
  assert.deepEqual(found.map(({ eventName }) => eventName), ['INSERT', 'REMOVE']);
  assert.equal(found[0].userIdentity, undefined);
  assert.deepEqual(found[1].userIdentity,
    { PrincipalId: 'dynamodb.amazonaws.com', Type: 'Service' });
  assert.deepEqual(found[1].dynamodb.OldImage, item);
  assert.equal(found[1].dynamodb.NewImage, undefined);
});
