// Streams: what is told of changes, shards and iterators, and every refusal; with the SDK's client for
// streams against the same endpoint.
'use strict';
const assert = require('node:assert/strict');
const { after, before, describe, test } = require('node:test');
const {
  BatchWriteItemCommand, DeleteItemCommand, DeleteTableCommand, DescribeTableCommand,
  PutItemCommand, TransactWriteItemsCommand, UpdateItemCommand, UpdateTableCommand,
} = require('@aws-sdk/client-dynamodb');
const {
  DescribeStreamCommand, DynamoDBStreamsClient, GetRecordsCommand, GetShardIteratorCommand,
  ListStreamsCommand,
} = require('@aws-sdk/client-dynamodb-streams');
const {
  createClient, createTable, dropTables, refusal, tableShape, validation,
} = require('./lib/client.js');
const { startServer } = require('./lib/server.js');

const NO_ARN = 'arn:aws:dynamodb:us-east-1:000000000000:table/nobody/stream/2015-05-11T21:21:33.291';
const NO_SHARD = 'shardId-00000001414576573621-f55eea83';

let server;
let client;
let streams;
before(async () => {
  server = await startServer();
  client = createClient(server);
  streams = new DynamoDBStreamsClient({
    endpoint: server.url,
    region: 'us-east-1',
    credentials: { accessKeyId: 'AKIATEST', secretAccessKey: 'secret' },
    maxAttempts: 1,
  });
});
after(async () => {
  client.destroy();
  streams.destroy();
  await server.stop();
});

async function createStreamTable(name, viewType, ...keys) {
  await dropTables(client, name);
  await createTable(client, {
    ...tableShape(name, ...keys),
    StreamSpecification: { StreamEnabled: true, StreamViewType: viewType },
  });
  const { Table } = await client.send(new DescribeTableCommand({ TableName: name }));
  return Table.LatestStreamArn;
}

const describeStream = async (arn, more) => (
  (await streams.send(new DescribeStreamCommand({ StreamArn: arn, ...more }))).StreamDescription);

const iterator = async (arn, shardId, type, sequence) => (
  (await streams.send(new GetShardIteratorCommand({
    StreamArn: arn, ShardId: shardId, ShardIteratorType: type, SequenceNumber: sequence,
  }))).ShardIterator);

const records = (shardIterator, limit) => (
  streams.send(new GetRecordsCommand({ ShardIterator: shardIterator, Limit: limit })));

// Of all shards, in the order of each.
async function allRecords(arn) {
  const found = [];
  for (const { ShardId } of (await describeStream(arn)).Shards) {
    const page = await records(await iterator(arn, ShardId, 'TRIM_HORIZON'));
    found.push(...page.Records.map((record) => ({ ...record, ShardId })));
  }
  return found;
}

const put = (table, item) => client.send(new PutItemCommand({ TableName: table, Item: item }));
const remove = (table, key) => client.send(new DeleteItemCommand({ TableName: table, Key: key }));

describe('records', () => {
  test('an insert, a change and a removal, with both images', async () => {
    const arn = await createStreamTable('both', 'NEW_AND_OLD_IMAGES', 'Id:N');
    const key = { Id: { N: '101' } };
    const started = Math.floor(Date.now() / 1000);
    await put('both', { ...key, Message: { S: 'New item!' } });
    await client.send(new UpdateItemCommand({
      TableName: 'both',
      Key: key,
      UpdateExpression: 'SET Message = :m',
      ExpressionAttributeValues: { ':m': { S: 'This item has changed' } },
    }));
    await remove('both', key);
    const found = await allRecords(arn);
    assert.deepEqual(found.map((record) => record.eventName), ['INSERT', 'MODIFY', 'REMOVE']);
    const before1 = { ...key, Message: { S: 'New item!' } };
    const after1 = { ...key, Message: { S: 'This item has changed' } };
    assert.deepEqual(found.map(({ dynamodb }) => [dynamodb.OldImage, dynamodb.NewImage]),
      [[undefined, before1], [before1, after1], [after1, undefined]]);
    // The sizes of the developer guide's example.
    assert.deepEqual(found.map(({ dynamodb }) => dynamodb.SizeBytes), [26, 59, 38]);
    for (const record of found) {
      assert.deepEqual(record.dynamodb.Keys, key);
      assert.equal(record.dynamodb.StreamViewType, 'NEW_AND_OLD_IMAGES');
      assert.equal(record.eventSource, 'aws:dynamodb');
      assert.equal(record.eventVersion, '1.1');
      assert.equal(record.userIdentity, undefined);
      assert.match(record.eventID, /^[0-9a-f]{32}$/);
      assert.match(record.dynamodb.SequenceNumber, /^[1-9][0-9]{20,39}$/);
      const seconds = record.dynamodb.ApproximateCreationDateTime.getTime() / 1000;
      assert.ok(Number.isInteger(seconds) && seconds >= started);
    }
    const numbers = found.map(({ dynamodb }) => BigInt(dynamodb.SequenceNumber));
    assert.ok(numbers[0] < numbers[1] && numbers[1] < numbers[2]);
    assert.equal(new Set(found.map((record) => record.eventID)).size, 3);
  });

  const images = {
    KEYS_ONLY: [[], [], []],
    NEW_IMAGE: [['NewImage'], ['NewImage'], []],
    OLD_IMAGE: [[], ['OldImage'], ['OldImage']],
  };
  for (const [viewType, expected] of Object.entries(images)) {
    test(`${viewType} shows no other images`, async () => {
      const arn = await createStreamTable(`view-${viewType}`, viewType, 'pk:S', 'sk:B');
      const key = { pk: { S: 'a' }, sk: { B: Uint8Array.of(0, 255) } };
      await put(`view-${viewType}`, { ...key, n: { N: '1' } });
      await put(`view-${viewType}`, { ...key, n: { N: '2' } });
      await remove(`view-${viewType}`, key);
      const found = await allRecords(arn);
      assert.deepEqual(found.map(({ dynamodb }) => (
        ['NewImage', 'OldImage'].filter((image) => image in dynamodb))), expected);
      for (const { dynamodb } of found) assert.deepEqual(dynamodb.Keys, key);
    });
  }

  test('what changes nothing is not told', async () => {
    const arn = await createStreamTable('nothing', 'KEYS_ONLY', 'pk:S');
    const item = { pk: { S: 'a' }, n: { N: '10' }, tags: { SS: ['x', 'y'] } };
    await remove('nothing', { pk: item.pk });
    await put('nothing', item);
    await put('nothing', { ...item, n: { N: '1E1' }, tags: { SS: ['y', 'x'] } });
    await client.send(new UpdateItemCommand({
      TableName: 'nothing',
      Key: { pk: item.pk },
      UpdateExpression: 'SET n = n + :zero REMOVE absent',
      ExpressionAttributeValues: { ':zero': { N: '0' } },
    }));
    await client.send(new UpdateItemCommand({ TableName: 'nothing', Key: { pk: item.pk } }));
    assert.equal((await refusal(client.send(new PutItemCommand({
      TableName: 'nothing', Item: { pk: item.pk }, ConditionExpression: 'attribute_not_exists(pk)',
    })))).name, 'ConditionalCheckFailedException');
    assert.deepEqual((await allRecords(arn)).map((record) => record.eventName), ['INSERT']);
  });

  test('each item of a batch has its record', async () => {
    const arn = await createStreamTable('batch', 'NEW_IMAGE', 'pk:S');
    const keys = Array.from({ length: 25 }, (_, i) => `key-${i}`);
    await client.send(new BatchWriteItemCommand({
      RequestItems: { batch: keys.map((key) => ({ PutRequest: { Item: { pk: { S: key } } } })) },
    }));
    const found = await allRecords(arn);
    assert.deepEqual(found.map(({ dynamodb }) => dynamodb.Keys.pk.S).sort(), [...keys].sort());
    assert.equal(new Set(found.map(({ dynamodb }) => dynamodb.SequenceNumber)).size, 25);
    assert.ok(new Set(found.map(({ ShardId }) => ShardId)).size > 1);
  });
});

describe('transactions', () => {
  test('each changed item has its record, also beside a table without a stream', async () => {
    const arn = await createStreamTable('transacted', 'NEW_AND_OLD_IMAGES', 'pk:S');
    await dropTables(client, 'streamless');
    await createTable(client, tableShape('streamless', 'pk:S'));
    const key = (pk) => ({ pk: { S: pk } });
    await put('transacted', { ...key('changed'), n: { N: '1' } });
    await put('transacted', { ...key('removed'), n: { N: '1' } });
    await put('transacted', { ...key('same'), n: { N: '1' } });
    await client.send(new TransactWriteItemsCommand({
      TransactItems: [
        { Put: { TableName: 'transacted', Item: { ...key('new'), n: { N: '1' } } } },
        {
          Update: {
            TableName: 'transacted',
            Key: key('changed'),
            UpdateExpression: 'ADD n :one',
            ExpressionAttributeValues: { ':one': { N: '1' } },
          },
        },
        { Delete: { TableName: 'transacted', Key: key('removed') } },
        { Put: { TableName: 'transacted', Item: { ...key('same'), n: { N: '1' } } } },
        {
          ConditionCheck: {
            TableName: 'transacted', Key: key('absent'), ConditionExpression: 'attribute_not_exists(pk)',
          },
        },
        { Put: { TableName: 'streamless', Item: key('beside') } },
      ],
    }));
    assert.equal((await refusal(client.send(new TransactWriteItemsCommand({
      TransactItems: [
        { Put: { TableName: 'transacted', Item: key('never') } },
        {
          ConditionCheck: {
            TableName: 'streamless', Key: key('absent'), ConditionExpression: 'attribute_exists(pk)',
          },
        },
      ],
    })))).name, 'TransactionCanceledException');
    const told = (await allRecords(arn)).map(({ eventName, dynamodb }) => (
      [eventName, dynamodb.Keys.pk.S, dynamodb.OldImage?.n.N, dynamodb.NewImage?.n.N].join(' ')));
    assert.deepEqual(told.sort(), [
      'INSERT changed  1', 'INSERT new  1', 'INSERT removed  1', 'INSERT same  1',
      'MODIFY changed 1 2', 'REMOVE removed 1 ',
    ]);
  });
});

describe('iterators', () => {
  test('each type begins where it says, and pages follow', async () => {
    const arn = await createStreamTable('places', 'KEYS_ONLY', 'pk:S');
    for (let n = 0; n < 5; n += 1) await put('places', { pk: { S: 'a' }, n: { N: `${n}` } });
    const [first, second] = await allRecords(arn);
    const { ShardId } = first;
    const count = async (...place) => (
      (await records(await iterator(arn, ShardId, ...place))).Records.length);
    assert.equal(await count('TRIM_HORIZON'), 5);
    assert.equal(await count('LATEST'), 0);
    assert.equal(await count('AT_SEQUENCE_NUMBER', second.dynamodb.SequenceNumber), 4);
    assert.equal(await count('AFTER_SEQUENCE_NUMBER', second.dynamodb.SequenceNumber), 3);
    let next = await iterator(arn, ShardId, 'TRIM_HORIZON');
    const pages = [];
    for (let page = 0; page < 4; page += 1) {
      const answer = await records(next, 2);
      pages.push(answer.Records.length);
      next = answer.NextShardIterator;
    }
    assert.deepEqual(pages, [2, 2, 1, 0]);
    await put('places', { pk: { S: 'a' }, n: { N: '100' } });
    assert.equal((await records(next)).Records.length, 1);
    assert.equal((await records(next)).Records.length, 1);
  });

  test('they are refused in the service\'s words', async () => {
    const arn = await createStreamTable('refused', 'KEYS_ONLY', 'pk:S');
    const { Shards: [{ ShardId }] } = await describeStream(arn);
    assert.deepEqual(await refusal(iterator(NO_ARN, NO_SHARD, 'LATEST')), {
      name: 'ResourceNotFoundException',
      message: `Requested resource not found: Stream: ${NO_ARN} not found`,
    });
    assert.deepEqual(await refusal(iterator(arn, NO_SHARD, 'LATEST')), {
      name: 'ResourceNotFoundException',
      message: 'Requested resource not found: Shard does not exist',
    });
    assert.deepEqual(await refusal(iterator(arn, ShardId, 'AT_SEQUENCE_NUMBER')), validation(
      'One or more parameter values were invalid: Invalid SequenceNumber'));
    assert.deepEqual(
      await refusal(iterator(arn, ShardId, 'AT_SEQUENCE_NUMBER', '000000000000000000001')),
      validation('Invalid SequenceNumber for the shard'));
    assert.deepEqual(
      await refusal(iterator(arn, ShardId, 'TRIM_HORIZON', '000000000000000000001')), validation(
        'One or more parameter values were invalid: SequenceNumber should not be passed for this '
        + 'iterator type'));
    const good = await iterator(arn, ShardId, 'LATEST');
    assert.deepEqual(await refusal(records(`${good.slice(0, -1)}!`)),
      validation('Invalid ShardIterator'));
    assert.deepEqual(await refusal(records(good, 1001)), validation(
      'One or more parameter values were invalid: Limit should be less than or equal to 1000'));
    assert.deepEqual(await refusal(records(good, 0)), validation(
      "1 validation error detected: Value '0' at 'limit' failed to satisfy constraint: Member must "
      + 'have value greater than or equal to 1'));
  });
});

describe('the life of a stream', () => {
  const setStream = async (table, specification) => (await client.send(new UpdateTableCommand({
    TableName: table, StreamSpecification: specification,
  }))).TableDescription;
  const KEYS_ONLY = { StreamEnabled: true, StreamViewType: 'KEYS_ONLY' };

  test('it is described with its shards', async () => {
    const arn = await createStreamTable('described', 'NEW_IMAGE', 'pk:S', 'sk:N');
    const stream = await describeStream(arn);
    assert.equal(stream.StreamArn, arn);
    assert.equal(stream.StreamLabel, arn.split('/stream/')[1]);
    assert.equal(stream.StreamStatus, 'ENABLED');
    assert.equal(stream.StreamViewType, 'NEW_IMAGE');
    assert.equal(stream.TableName, 'described');
    assert.equal(stream.CreationRequestDateTime.toISOString(), `${stream.StreamLabel}Z`);
    assert.deepEqual(stream.KeySchema, [{ AttributeName: 'pk', KeyType: 'HASH' },
      { AttributeName: 'sk', KeyType: 'RANGE' }]);
    for (const shard of stream.Shards) {
      assert.match(shard.ShardId, /^shardId-[0-9]{20}-[0-9a-f]{8,}$/);
      assert.equal(shard.SequenceNumberRange.EndingSequenceNumber, undefined);
    }
    const page = await describeStream(arn, { Limit: 1 });
    assert.equal(page.Shards.length, 1);
    const rest = await describeStream(arn, { ExclusiveStartShardId: page.LastEvaluatedShardId });
    assert.deepEqual([...page.Shards, ...rest.Shards], stream.Shards);
    const children = await describeStream(arn, {
      ShardFilter: { Type: 'CHILD_SHARDS', ShardId: stream.Shards[0].ShardId },
    });
    assert.deepEqual(children.Shards, []);
  });

  test('disabled, it stays readable; enabled again, it is another one', async () => {
    const first = await createStreamTable('toggled', 'KEYS_ONLY', 'pk:S');
    assert.deepEqual(await refusal(setStream('toggled', KEYS_ONLY)),
      validation('Table already has an enabled stream: TableName: toggled'));
    await put('toggled', { pk: { S: 'a' } });
    const disabled = await setStream('toggled', { StreamEnabled: false });
    assert.equal(disabled.StreamSpecification, undefined);
    assert.equal(disabled.LatestStreamArn, first);
    assert.equal((await refusal(setStream('toggled', { StreamEnabled: false }))).name,
      'ValidationException');
    await put('toggled', { pk: { S: 'unseen' } });
    const second = (await setStream('toggled', KEYS_ONLY)).LatestStreamArn;
    assert.notEqual(second, first);
    await put('toggled', { pk: { S: 'b' } });
    const old = await describeStream(first);
    assert.equal(old.StreamStatus, 'DISABLED');
    for (const { ShardId, SequenceNumberRange } of old.Shards) {
      assert.ok(BigInt(SequenceNumberRange.EndingSequenceNumber)
        >= BigInt(SequenceNumberRange.StartingSequenceNumber));
      const page = await records(await iterator(first, ShardId, 'TRIM_HORIZON'));
      assert.equal(page.NextShardIterator, undefined);
    }
    const keys = async (arn) => (await allRecords(arn)).map(({ dynamodb }) => dynamodb.Keys.pk.S);
    assert.deepEqual(await keys(first), ['a']);
    assert.deepEqual(await keys(second), ['b']);
    const { Streams } = await streams.send(new ListStreamsCommand({ TableName: 'toggled' }));
    assert.deepEqual(Streams.map((stream) => stream.StreamArn).sort(), [first, second].sort());
  });

  test('the stream of a deleted table stays', async () => {
    const arn = await createStreamTable('deleted', 'KEYS_ONLY', 'pk:S');
    await put('deleted', { pk: { S: 'a' } });
    await client.send(new DeleteTableCommand({ TableName: 'deleted' }));
    assert.equal((await describeStream(arn)).StreamStatus, 'DISABLED');
    assert.equal((await allRecords(arn)).length, 1);
  });

  test('streams are listed in pages', async () => {
    const arns = [];
    for (const name of ['list-a', 'list-b', 'list-c']) {
      arns.push(await createStreamTable(name, 'KEYS_ONLY', 'pk:S'));
    }
    const found = [];
    let start;
    do {
      const page = await streams.send(new ListStreamsCommand({
        Limit: 1, ExclusiveStartStreamArn: start,
      }));
      assert.ok(page.Streams.length <= 1);
      found.push(...page.Streams.map((stream) => stream.StreamArn));
      start = page.LastEvaluatedStreamArn;
    } while (start);
    assert.deepEqual(found.filter((arn) => arns.includes(arn)), arns);
    assert.equal(new Set(found).size, found.length);
  });
});
