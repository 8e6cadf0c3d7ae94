// client.js -- the SDK's client, and the few table shapes that every test file needs.
'use strict';
const {
  CreateTableCommand, DeleteTableCommand, DynamoDBClient, waitUntilTableExists,
} = require('@aws-sdk/client-dynamodb');

const WAIT = { maxWaitTime: 20, minDelay: 0.05, maxDelay: 0.5 };

function createClient(server) {
  return new DynamoDBClient({
    endpoint: server.url,
    region: 'us-east-1',
    credentials: { accessKeyId: 'AKIATEST', secretAccessKey: 'secret' },
    maxAttempts: 1, // A retry would hide the answer under test.
  });
}

// `keys` lists name:type pairs, the partition key first: tableShape('t', 'pk:S', 'sk:N').
function tableShape(name, ...keys) {
  const pairs = keys.map((key) => key.split(':'));
  return {
    TableName: name,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: pairs.map(([attribute, type]) => (
      { AttributeName: attribute, AttributeType: type })),
    KeySchema: pairs.map(([attribute], index) => (
      { AttributeName: attribute, KeyType: index === 0 ? 'HASH' : 'RANGE' })),
  };
}

async function createTable(client, shape) {
  await client.send(new CreateTableCommand(shape));
  await waitUntilTableExists({ client, ...WAIT }, { TableName: shape.TableName });
}

// Against a server that outlives the test, tables of an earlier run may still be there.
async function dropTables(client, ...names) {
  for (const name of names) {
    await client.send(new DeleteTableCommand({ TableName: name })).catch((error) => {
      if (error.name !== 'ResourceNotFoundException') throw error;
    });
  }
}

// What a promise was rejected with, as the pair that tests compare.
async function refusal(promise) {
  try {
    await promise;
  } catch (error) {
    return { name: error.name, message: error.message };
  }
  throw new Error('accepted, though it should have been refused');
}

const validation = (message) => ({ name: 'ValidationException', message });

module.exports = { WAIT, createClient, createTable, dropTables, refusal, tableShape, validation };
