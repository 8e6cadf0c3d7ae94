// stator's own: with a short --stream-rollover-ms consumers meet what on the service takes four hours,
// shards that end and their children.
'use strict';
const assert = require('node:assert/strict');
const { after, before, test } = require('node:test');
const { DescribeTableCommand, PutItemCommand } = require('@aws-sdk/client-dynamodb');
const {
  DescribeStreamCommand, DynamoDBStreamsClient, GetRecordsCommand, GetShardIteratorCommand,
} = require('@aws-sdk/client-dynamodb-streams');
const { createClient, createTable, tableShape } = require('./lib/client.js');
const { startServer } = require('./lib/server.js');

const ITEMS = 150;

let server;
let client;
let streams;
before(async () => {
  server = await startServer('--stream-rollover-ms', '200');
  client = createClient(server);
  streams = new DynamoDBStreamsClient({
    endpoint: server.url,
    region: 'us-east-1',
    credentials: { accessKeyId: 'AKIATEST', secretAccessKey: 'secret' },
  });
});
after(async () => {
  client.destroy();
  streams.destroy();
  await server.stop();
});

test('a consumer that follows parents to their children misses and repeats nothing', async () => {
  await createTable(client, {
    ...tableShape('followed', 'pk:S'),
    StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_IMAGE' },
  });
  const { Table } = await client.send(new DescribeTableCommand({ TableName: 'followed' }));
  const arn = Table.LatestStreamArn;
  const expected = [];
  const writing = (async () => {
    for (let n = 0; n < ITEMS; n += 1) {
      const key = `key-${n % 10}`;
      expected.push(`${key}:${n}`);
      await client.send(new PutItemCommand({
        TableName: 'followed', Item: { pk: { S: key }, n: { N: `${n}` } },
      }));
    }
  })();

  const seen = [];
  const begun = new Set(); // Shards.
  const follow = async (shardId) => {
    begun.add(shardId);
    let { ShardIterator: next } = await streams.send(new GetShardIteratorCommand({
      StreamArn: arn, ShardId: shardId, ShardIteratorType: 'TRIM_HORIZON',
    }));
    while (next && seen.length < ITEMS) {
      const page = await streams.send(new GetRecordsCommand({ ShardIterator: next }));
      for (const { dynamodb } of page.Records) {
        seen.push(`${dynamodb.NewImage.pk.S}:${dynamodb.NewImage.n.N}`);
      }
      next = page.NextShardIterator;
    }
    if (next) return; // All were seen.
    const { StreamDescription: { Shards: children } } = await streams.send(
      new DescribeStreamCommand({
        StreamArn: arn, ShardFilter: { Type: 'CHILD_SHARDS', ShardId: shardId },
      }));
    assert.equal(children.length, 1);
    assert.equal(children[0].ParentShardId, shardId);
    await follow(children[0].ShardId);
  };
  const { StreamDescription: { Shards } } = await streams.send(
    new DescribeStreamCommand({ StreamArn: arn }));
  const roots = Shards.filter(({ ParentShardId }) => (
    !Shards.some(({ ShardId }) => ShardId === ParentShardId)));
  await Promise.all([writing, ...roots.map(({ ShardId }) => follow(ShardId))]);

  assert.equal(seen.length, ITEMS);
  assert.deepEqual([...seen].sort(), [...expected].sort());
  for (let key = 0; key < 10; key += 1) {
    const ofKey = (list) => list.filter((entry) => entry.startsWith(`key-${key}:`));
    assert.deepEqual(ofKey(seen), ofKey(expected));
  }
  assert.ok(begun.size > roots.length, 'no shard ended meanwhile');
});
