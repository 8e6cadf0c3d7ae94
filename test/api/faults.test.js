// Fault injection: the SDK's retries get through a server that fails on purpose.
'use strict';
const assert = require('node:assert/strict');
const { after, before, describe, test } = require('node:test');
const {
  CreateTableCommand, DynamoDBClient, GetItemCommand, PutItemCommand,
} = require('@aws-sdk/client-dynamodb');
const { startServer } = require('./lib/server.js');

let server;
let client;
before(async () => {
  server = await startServer('--fault-injection');
  client = new DynamoDBClient({
    endpoint: server.url,
    region: 'us-east-1',
    credentials: { accessKeyId: 'AKIATEST', secretAccessKey: 'secret' },
    maxAttempts: 6,
  });
});
after(async () => {
  client.destroy();
  await server.stop();
});

// Our own operations have no command in the SDK. A server without `auth` takes any signature.
async function addFault(fault) {
  const response = await fetch(server.url, {
    method: 'POST',
    headers: {
      'X-Amz-Target': 'Stator_20261101.AddFault',
      'Content-Type': 'application/x-amz-json-1.0',
      Authorization: 'AWS4-HMAC-SHA256 Credential=x/20260101/us-east-1/dynamodb/aws4_request, '
        + 'SignedHeaders=host, Signature=0',
    },
    body: JSON.stringify(fault),
  });
  assert.equal(response.status, 200);
}

describe('injected faults', () => {
  for (const Fault of ['Throttle', 'InternalServerError', 'CutConnection', 'LoseAnswer']) {
    test(`the SDK retries ${Fault}`, async () => {
      const TableName = `Table${Fault}`;
      await client.send(new CreateTableCommand({
        TableName,
        AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
        KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
        BillingMode: 'PAY_PER_REQUEST',
      }));
      await addFault({ TableName, Fault, MaxCount: 3, Operations: ['PutItem'] });
      const put = await client.send(new PutItemCommand({ TableName, Item: { pk: { S: 'a' } } }));
      assert.equal(put.$metadata.attempts, 4);
      const got = await client.send(new GetItemCommand({ TableName, Key: { pk: { S: 'a' } } }));
      assert.deepEqual(got.Item, { pk: { S: 'a' } });
    });
  }
});
