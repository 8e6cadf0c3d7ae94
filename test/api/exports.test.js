// Exports by the SDK: started, waited for, listed.
'use strict';
const assert = require('node:assert/strict');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { after, before, test } = require('node:test');
const sdk = require('@aws-sdk/client-dynamodb');
const { createClient, createTable, tableShape } = require('./lib/client.js');
const { startServer } = require('./lib/server.js');

const TABLE = 'exports';
let server;
let client;
let folder;

before(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'stator-exports-'));
  fs.mkdirSync(path.join(folder, 'bucket'));
  server = await startServer('--buckets', folder);
  client = createClient(server);
  await createTable(client, tableShape(TABLE, 'pk:S'));
  await client.send(new sdk.UpdateContinuousBackupsCommand({
    TableName: TABLE, PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
  }));
});
after(async () => {
  client.destroy();
  await server.stop();
  fs.rmSync(folder, { recursive: true });
});

// Until the history of the table has begun.
async function startExport(input) {
  for (;;) {
    try {
      return (await client.send(new sdk.ExportTableToPointInTimeCommand(input))).ExportDescription;
    } catch (error) {
      if (error.name !== 'InvalidExportTimeException')
        throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

// As waitUntilExportCompleted of newer SDKs does.
async function waitFor({ ExportArn }) {
  for (;;) {
    const { ExportDescription } = await client.send(new sdk.DescribeExportCommand({ ExportArn }));
    if (ExportDescription.ExportStatus !== 'IN_PROGRESS')
      return ExportDescription;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

test('an export is waited for and listed', async () => {
  await client.send(new sdk.PutItemCommand({ TableName: TABLE, Item: { pk: { S: 'a' } } }));
  const { Table } = await client.send(new sdk.DescribeTableCommand({ TableName: TABLE }));
  const started = await startExport({ TableArn: Table.TableArn, S3Bucket: 'bucket', ExportType: 'FULL_EXPORT' });
  assert.equal(started.ExportStatus, 'IN_PROGRESS');
  const ended = await waitFor(started);
  assert.equal(ended.ExportStatus, 'COMPLETED');
  assert.equal(ended.ItemCount, 1);
  assert.ok(fs.existsSync(path.join(folder, 'bucket', ended.ExportManifest)));
  const summaries = [];
  for await (const page of sdk.paginateListExports({ client }, { TableArn: Table.TableArn }))
    summaries.push(...page.ExportSummaries);
  assert.deepEqual(summaries.map((entry) => entry.ExportArn), [started.ExportArn]);
});

test('a bucket that is missing fails the export', async () => {
  const { Table } = await client.send(new sdk.DescribeTableCommand({ TableName: TABLE }));
  const started = await startExport({ TableArn: Table.TableArn, S3Bucket: 'missing' });
  const ended = await waitFor(started);
  assert.equal(ended.ExportStatus, 'FAILED');
  assert.equal(ended.FailureCode, 'S3NoSuchBucket');
});
