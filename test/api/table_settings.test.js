// What tools ask of a table beside DescribeTable: backups, policies, and features that are never on.
'use strict';
const assert = require('node:assert/strict');
const { after, before, describe, test } = require('node:test');
const {
  CreateTableCommand, DeleteResourcePolicyCommand, DeleteTableCommand,
  DescribeContinuousBackupsCommand, DescribeContributorInsightsCommand,
  DescribeKinesisStreamingDestinationCommand, DescribeTableCommand, GetResourcePolicyCommand,
  ListContributorInsightsCommand, PutResourcePolicyCommand, UpdateContinuousBackupsCommand,
} = require('@aws-sdk/client-dynamodb');
const {
  createClient, createTable, dropTables, refusal, tableShape, validation,
} = require('./lib/client.js');
const { call } = require('./lib/http.js');
const { startServer } = require('./lib/server.js');

const FIVE_MINUTES_MS = 5 * 60 * 1000;
const POLICY_SIZE_MAX = 20 * 1024;

let server;
let client;
let arn;
let streamArn;
before(async () => {
  server = await startServer();
  client = createClient(server);
  await dropTables(client, 'settings', 'fresh');
  await createTable(client, {
    ...tableShape('settings', 'pk:S'),
    StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_IMAGE' },
    GlobalSecondaryIndexes: [{
      IndexName: 'gsi',
      KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
      Projection: { ProjectionType: 'ALL' },
    }],
  });
  const { Table } = await send(new DescribeTableCommand({ TableName: 'settings' }));
  arn = Table.TableArn;
  streamArn = Table.LatestStreamArn;
});
after(async () => {
  client.destroy();
  await server.stop();
});

const send = (command) => client.send(command);
const body = ({ $metadata, ...rest }) => rest;

describe('continuous backups', () => {
  const describeBackups = async (name = 'settings') => (
    (await send(new DescribeContinuousBackupsCommand({ TableName: name })))
      .ContinuousBackupsDescription);
  const updateBackups = async (specification) => (
    (await send(new UpdateContinuousBackupsCommand({
      TableName: 'settings', PointInTimeRecoverySpecification: specification,
    }))).ContinuousBackupsDescription);

  test('are enabled from the start, point-in-time recovery is not', async () => {
    const disabled = {
      ContinuousBackupsStatus: 'ENABLED',
      PointInTimeRecoveryDescription: { PointInTimeRecoveryStatus: 'DISABLED' },
    };
    assert.deepEqual(await describeBackups(), disabled);
    assert.deepEqual(await describeBackups(arn), disabled);
  });

  test('recovery reaches back to when it was enabled, for 35 days unless told', async () => {
    const before_ms = Date.now();
    const enabled = await updateBackups({ PointInTimeRecoveryEnabled: true });
    assert.equal(enabled.ContinuousBackupsStatus, 'ENABLED');
    const recovery = enabled.PointInTimeRecoveryDescription;
    assert.equal(recovery.PointInTimeRecoveryStatus, 'ENABLED');
    assert.equal(recovery.RecoveryPeriodInDays, 35);
    const earliest_ms = recovery.EarliestRestorableDateTime.getTime();
    // A whole second, not before the first change that is kept.
    assert.equal(earliest_ms % 1000, 0);
    assert.ok(earliest_ms > before_ms - 1000 && earliest_ms < Date.now() + 1000);
    const latest_ms = recovery.LatestRestorableDateTime.getTime();
    assert.ok(latest_ms >= earliest_ms && latest_ms <= earliest_ms + FIVE_MINUTES_MS);
    const described = await describeBackups();
    delete described.PointInTimeRecoveryDescription.LatestRestorableDateTime;
    delete recovery.LatestRestorableDateTime;
    assert.deepEqual(described, enabled);
  });

  test('the period can be changed, and recovery disabled', async () => {
    const shorter = await updateBackups({
      PointInTimeRecoveryEnabled: true, RecoveryPeriodInDays: 1,
    });
    assert.equal(shorter.PointInTimeRecoveryDescription.RecoveryPeriodInDays, 1);
    const { PointInTimeRecoveryDescription: disabled } = await updateBackups({
      PointInTimeRecoveryEnabled: false,
    });
    assert.deepEqual(disabled, { PointInTimeRecoveryStatus: 'DISABLED' });
  });

  test('refusals', async () => {
    for (const command of [
      new DescribeContinuousBackupsCommand({ TableName: 'missing' }),
      new UpdateContinuousBackupsCommand({
        TableName: 'missing', PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      }),
    ]) {
      assert.deepEqual(await refusal(send(command)),
        { name: 'TableNotFoundException', message: 'Table not found: missing' });
    }
    assert.deepEqual(
      await refusal(updateBackups({ PointInTimeRecoveryEnabled: true, RecoveryPeriodInDays: 36 })),
      validation("1 validation error detected: Value '36' at 'pointInTimeRecoverySpecification."
        + "recoveryPeriodInDays' failed to satisfy constraint: Member must have value less than "
        + 'or equal to 35'));
  });
});

describe('resource policies', () => {
  const document = (sid) => JSON.stringify({
    Version: '2012-10-17',
    Statement: [{
      Sid: sid, Effect: 'Deny', Principal: '*', Action: 'dynamodb:Get*', Resource: '*',
    }],
  });
  const get = (resource) => send(new GetResourcePolicyCommand({ ResourceArn: resource }));
  const put = (resource, policy, expected) => send(new PutResourcePolicyCommand({
    ResourceArn: resource, Policy: policy, ExpectedRevisionId: expected,
  }));
  const remove = (resource, expected) => send(new DeleteResourcePolicyCommand({
    ResourceArn: resource, ExpectedRevisionId: expected,
  }));
  const nameOf = async (promise) => (await refusal(promise)).name;

  test('are put, returned, and deleted, for a table and for its stream', async () => {
    for (const resource of [arn, streamArn]) {
      assert.equal(await nameOf(get(resource)), 'PolicyNotFoundException');
      const { RevisionId: revision } = await put(resource, document(resource));
      assert.match(revision, /^\d+$/);
      assert.deepEqual(body(await get(resource)),
        { Policy: document(resource), RevisionId: revision });
    }
    for (const resource of [arn, streamArn]) {
      const { RevisionId: revision } = await get(resource);
      assert.deepEqual(body(await remove(resource)), { RevisionId: revision });
      assert.equal(await nameOf(get(resource)), 'PolicyNotFoundException');
      assert.ok((await remove(resource)).RevisionId > revision); // Of the deletion.
    }
  });

  test('change only at the expected revision', async () => {
    const { RevisionId: first } = await put(arn, document('a'), 'NO_POLICY');
    assert.equal(await nameOf(put(arn, document('b'), 'NO_POLICY')), 'PolicyNotFoundException');
    assert.equal((await put(arn, document('a'), first)).RevisionId, first); // The same document.
    const { RevisionId: second } = await put(arn, document('b'), first);
    assert.notEqual(second, first);
    assert.equal(await nameOf(put(arn, document('c'), first)), 'PolicyNotFoundException');
    assert.equal(await nameOf(remove(arn, first)), 'PolicyNotFoundException');
    assert.equal((await get(arn)).Policy, document('b'));
    await remove(arn, second);
    assert.equal(await nameOf(remove(arn, second)), 'PolicyNotFoundException');
  });

  test('must be JSON of at most 20 KB', async () => {
    const sized = (size) => document('a').padEnd(size, ' ');
    await put(arn, sized(POLICY_SIZE_MAX - 1));
    await put(arn, sized(POLICY_SIZE_MAX));
    assert.equal(await nameOf(put(arn, sized(POLICY_SIZE_MAX + 1))), 'ValidationException');
    const { name, message } = await refusal(put(arn, '{"Version":'));
    assert.equal(name, 'ValidationException');
    assert.match(message, /^One or more parameter values were invalid: Invalid policy document: /);
    await remove(arn);
  });

  test('must be policies, also where nothing is enforced', async () => {
    const statement = {
      Effect: 'Deny', Principal: '*', Action: 'dynamodb:GetItem', Resource: arn,
    };
    for (const change of [
      { Effect: 'Perhaps' }, { Principal: undefined }, { Action: undefined }, { Resource: 7 },
      { Else: 1 }, { Condition: { StringSounds: { 'aws:username': 'a' } } },
    ]) {
      const policy = JSON.stringify({ Version: '2012-10-17', Statement: { ...statement, ...change } });
      const { name, message } = await refusal(put(arn, policy));
      assert.equal(name, 'ValidationException');
      assert.match(message, /^One or more parameter values were invalid: Invalid policy document: /);
    }
    assert.equal(await nameOf(get(arn)), 'PolicyNotFoundException');
    // What the documentation's examples ask of requests, though none has it here.
    await put(arn, JSON.stringify({
      Version: '2012-10-17',
      Statement: {
        ...statement,
        Condition: {
          StringEquals: { 'aws:PrincipalOrgID': 'o-1', 'aws:SourceVpce': 'vpce-1' },
          Bool: { 'aws:ViaAWSService': 'false' },
        },
      },
    }));
    await remove(arn);
  });

  test('belong to resources that exist', async () => {
    assert.equal(await nameOf(get(`${arn}-missing`)), 'ResourceNotFoundException');
    assert.equal(await nameOf(get(`${streamArn}1`)), 'ResourceNotFoundException');
    assert.equal(await nameOf(put(`${arn}-missing`, document('a'))), 'ResourceNotFoundException');
    assert.equal(await nameOf(get('settings')), 'ValidationException');
  });

  test('are given to CreateTable, and end with their table', async () => {
    const shape = tableShape('fresh', 'pk:S');
    const freshArn = arn.replace(/settings$/, 'fresh');
    await createTable(client, { ...shape, ResourcePolicy: document('fresh') });
    assert.equal((await get(freshArn)).Policy, document('fresh'));
    await send(new DeleteTableCommand({ TableName: 'fresh' }));
    await createTable(client, shape);
    assert.equal(await nameOf(get(freshArn)), 'PolicyNotFoundException');
    assert.equal(
      await nameOf(send(new CreateTableCommand({ ...tableShape('bad', 'pk:S'), ResourcePolicy: '' }))),
      'ValidationException');
  });
});

describe('what a table never has', () => {
  test('contributor insights', async () => {
    const status = { TableName: 'settings', ContributorInsightsStatus: 'DISABLED' };
    assert.deepEqual(
      body(await send(new DescribeContributorInsightsCommand({ TableName: 'settings' }))), status);
    assert.deepEqual(
      body(await send(new DescribeContributorInsightsCommand({
        TableName: arn, IndexName: 'gsi',
      }))),
      { ...status, IndexName: 'gsi' });
    assert.equal(
      (await refusal(send(new DescribeContributorInsightsCommand({
        TableName: 'settings', IndexName: 'missing',
      })))).name,
      'ResourceNotFoundException');
    assert.deepEqual(body(await send(new ListContributorInsightsCommand({}))),
      { ContributorInsightsSummaries: [] });
  });

  test('Kinesis destinations', async () => {
    assert.deepEqual(
      body(await send(new DescribeKinesisStreamingDestinationCommand({ TableName: 'settings' }))),
      { TableName: 'settings', KinesisDataStreamDestinations: [] });
  });
});

test('the exceptions have their full names on the wire', async () => {
  const typeOf = async (operation, request) => (await call(server, operation, request)).json.__type;
  assert.equal(await typeOf('DescribeContinuousBackups', { TableName: 'missing' }),
    'com.amazonaws.dynamodb.v20120810#TableNotFoundException');
  assert.equal(await typeOf('GetResourcePolicy', { ResourceArn: arn }),
    'com.amazonaws.dynamodb.v20120810#PolicyNotFoundException');
});
