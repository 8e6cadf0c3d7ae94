// A shop's table is exported, imported, loaded in bulk and restored, with the waiters and paginators
// of the SDK's newest version: that of dynamodb-admin, the only one here that has them all.
'use strict';
const assert = require('node:assert/strict');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { after, before, test } = require('node:test');
const { startServer } = require('../api/lib/server.js');

const TABLE = 'shop';
const ITEMS = 50;
const SDK = path.join(__dirname, 'dynamodb_admin/node_modules/@aws-sdk/client-dynamodb');
const NODE_MAJOR_MIN = 20; // The SDK needs it.

function missing() {
  if (Number(process.versions.node.split('.')[0]) < NODE_MAJOR_MIN)
    return `there is no Node.js ${NODE_MAJOR_MIN} or later`;
  return fs.existsSync(SDK) ? false : 'the packages of test/examples/dynamodb_admin are not installed';
}

const skip = missing();
const sdk = skip ? {} : require(SDK);
const keys = {
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: [{ AttributeName: 'sku', AttributeType: 'S' }],
  KeySchema: [{ AttributeName: 'sku', KeyType: 'HASH' }],
};
let server;
let client;
let folder;
let exported; // The description of an export of all items.
let tableArn;

const waiting = () => ({ client, maxWaitTime: 120, minDelay: 1, maxDelay: 1 });
const put = (key, text) => {
  fs.mkdirSync(path.dirname(path.join(folder, 'bucket', key)), { recursive: true });
  fs.writeFileSync(path.join(folder, 'bucket', key), text);
};
const lines = (records) => records.map((record) => `${JSON.stringify(record)}\n`).join('');

async function count(name) {
  let total = 0;
  for await (const page of sdk.paginateScan({ client }, { TableName: name, ConsistentRead: true }))
    total += page.Count;
  return total;
}

// What a waiter says of something that failed.
async function failure(promise) {
  try {
    await promise;
  } catch (error) {
    return error.message;
  }
  throw new Error('the waiter took it for a success');
}

async function all(pages, member) {
  const found = [];
  for await (const page of pages) {
    assert.ok(page[member].length <= 1);
    found.push(...page[member]);
  }
  return found;
}

before(async () => {
  if (skip) return;
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'stator-recovery-'));
  fs.mkdirSync(path.join(folder, 'bucket'));
  server = await startServer('--buckets', folder);
  client = new sdk.DynamoDBClient({
    endpoint: server.url,
    region: 'us-east-1',
    credentials: { accessKeyId: 'AKIATEST', secretAccessKey: 'secret' },
  });
  await client.send(new sdk.CreateTableCommand({ TableName: TABLE, ...keys }));
  await sdk.waitUntilTableExists(waiting(), { TableName: TABLE });
  await client.send(new sdk.UpdateContinuousBackupsCommand({
    TableName: TABLE,
    PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true, RecoveryPeriodInDays: 7 },
  }));
  for (let i = 0; i < ITEMS; i++)
    await client.send(new sdk.PutItemCommand({
      TableName: TABLE, Item: { sku: { S: `sku-${i}` }, stock: { N: String(i) } },
    }));
  tableArn = (await client.send(new sdk.DescribeTableCommand({ TableName: TABLE }))).Table.TableArn;
});
after(async () => {
  if (skip) return;
  client.destroy();
  await server.stop();
  fs.rmSync(folder, { recursive: true });
});

test('the newest SDK waits for exports, with and without a filter', { skip }, async () => {
  const start = async (more) => (await client.send(new sdk.ExportTableToPointInTimeCommand(
    { TableArn: tableArn, S3Bucket: 'bucket', ...more },
  ))).ExportDescription.ExportArn;
  const arns = [
    await start({}),
    await start({
      FilterSpecification: {
        FilterExpression: 'stock < :few', ExpressionAttributeValues: { ':few': { N: '5' } },
      },
    }),
    await start({ S3Bucket: 'missing' }),
  ];
  const ends = [];
  for (const ExportArn of arns.slice(0, 2)) {
    const end = await sdk.waitUntilExportCompleted(waiting(), { ExportArn });
    assert.equal(end.state, 'SUCCESS');
    ends.push(end.reason.ExportDescription);
  }
  assert.deepEqual(ends.map((end) => end.ItemCount), [ITEMS, 5]);
  assert.match(await failure(sdk.waitUntilExportCompleted(waiting(), { ExportArn: arns[2] })),
    /S3NoSuchBucket/);
  [exported] = ends;
  const found = await all(
    sdk.paginateListExports({ client, pageSize: 1 }, { TableArn: tableArn }), 'ExportSummaries',
  );
  assert.deepEqual(found.map((entry) => entry.ExportArn).sort(), [...arns].sort());
});

test('the newest SDK waits for imports, of that export and of nonsense', { skip }, async () => {
  const start = async (TableName, more) => (await client.send(new sdk.ImportTableCommand({
    S3BucketSource: { S3Bucket: 'bucket', S3KeyPrefix: `${TableName}/` },
    InputFormat: 'DYNAMODB_JSON',
    TableCreationParameters: { TableName, ...keys },
    ...more,
  }))).ImportTableDescription.ImportArn;
  const data = `${path.dirname(exported.ExportManifest)}/data/`;
  put('nonsense/a', 'nonsense\n');
  const good = await start('imported', {
    S3BucketSource: { S3Bucket: 'bucket', S3KeyPrefix: data }, InputCompressionType: 'GZIP',
  });
  const bad = await start('nonsense', {});
  const end = await sdk.waitUntilImportCompleted(waiting(), { ImportArn: good });
  assert.equal(end.state, 'SUCCESS');
  assert.equal(end.reason.ImportTableDescription.ImportedItemCount, ITEMS);
  assert.equal(await count('imported'), ITEMS);
  assert.match(await failure(sdk.waitUntilImportCompleted(waiting(), { ImportArn: bad })),
    /ItemValidationError/);
  const found = await all(sdk.paginateListImports({ client, pageSize: 1 }, {}), 'ImportSummaryList');
  assert.deepEqual(found.map((entry) => entry.ImportArn).sort(), [good, bad].sort());
});

test('the newest SDK waits for bulk operations, whatever their end', { skip }, async () => {
  const start = async (prefix, more) => (await client.send(new sdk.StartBulkPutItemsCommand({
    TableName: TABLE,
    InputS3Configuration: { S3Bucket: 'bucket', S3KeyPrefix: prefix, InputFormat: 'DYNAMODB_JSON' },
    OutputS3Configuration: {
      S3Bucket: 'bucket', S3KeyPrefix: 'report', OutputType: ['ERROR', 'CONDITION_CHECK_FAILURE'],
    },
    ...more,
  }))).BulkOperationDescription.BulkOperationArn;
  const record = (sku) => ({ Item: { sku: { S: sku }, stock: { N: '1' } } });
  const many = Array.from({ length: 20_000 }, (unused, i) => record(`many-${i}`));
  put('fresh/a', lines([record('fresh-1'), record('fresh-2')]));
  put('flawed/a', lines([record('flawed-1'), { Item: { stock: { N: '1' } } }, record('flawed-2')]));
  put('many/a', lines(many));
  const slow = await start('many/', { MaxWriteRequestUnits: 1024 }); // Twenty seconds.
  const arns = [await start('fresh/'), await start('flawed/')];
  const cancelled = await client.send(new sdk.CancelBulkOperationCommand({ BulkOperationArn: slow }));
  assert.equal(cancelled.BulkOperationStatus, 'CANCELLING');
  const ends = [];
  for (const BulkOperationArn of arns) {
    const end = await sdk.waitUntilBulkOperationCompleted(waiting(), { BulkOperationArn });
    assert.equal(end.state, 'SUCCESS');
    const description = end.reason.BulkOperationDescription;
    ends.push([description.BulkOperationStatus, description.ProcessedItemCount,
      description.FailedItemCount]);
  }
  assert.deepEqual(ends, [['COMPLETED', 2, 0], ['COMPLETED_WITH_ERRORS', 3, 1]]);
  assert.match(await failure(sdk.waitUntilBulkOperationCompleted(waiting(), { BulkOperationArn: slow })),
    /CANCELLED/);
  let token;
  const found = [];
  do {
    const page = await client.send(new sdk.ListBulkOperationsCommand({ MaxResults: 1, NextToken: token }));
    found.push(...page.BulkOperationsSummaryList);
    token = page.NextToken;
  } while (token !== undefined);
  assert.deepEqual(found.map((entry) => entry.BulkOperationArn).sort(), [slow, ...arns].sort());
  const written = await count(TABLE);
  assert.ok(written >= ITEMS + 4 && written < ITEMS + 4 + many.length, `${written} items`);
});

test('the newest SDK waits for a restored table', { skip }, async () => {
  await client.send(new sdk.RestoreTableToPointInTimeCommand({
    SourceTableName: TABLE, TargetTableName: 'restored', UseLatestRestorableTime: true,
  }));
  await sdk.waitUntilTableExists(waiting(), { TableName: 'restored' });
  assert.equal(await count('restored'), await count(TABLE));
});
