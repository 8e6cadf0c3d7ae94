// order_load.js -- a random load on a table of orders, while the server is restarted and killed:
// what the consumers of its stream have to keep up with.
//
// The clients are those of an application: the SDK tries again while the server is away, so a
// request may take effect twice. LOAD_SEED repeats the choices of a run, not its timing.
'use strict';
const assert = require('node:assert/strict');
const crypto = require('node:crypto');
const { setTimeout: sleep } = require('node:timers/promises');
const {
  CreateTableCommand, DescribeTableCommand, DynamoDBClient, waitUntilTableExists,
} = require('@aws-sdk/client-dynamodb');
const { DynamoDBStreams } = require('@aws-sdk/client-dynamodb-streams');
const {
  BatchWriteCommand, DeleteCommand, DynamoDBDocumentClient, PutCommand, TransactWriteCommand,
  UpdateCommand, paginateScan,
} = require('@aws-sdk/lib-dynamodb');

const ORDERS = 40; // Few, so that each has a history.
const CUSTOMERS = ['ada', 'bob', 'cem', 'dee'];
const WRITERS = 4;
const STEPS = 50; // Of each writer.
const ENDS = ['SIGTERM', 'SIGKILL'];
const EVENTUALLY_MS = 60_000;
const RETRY_DELAY_MS = 100;
const CONFLICTS = ['TransactionCanceledException', 'TransactionConflictException'];

// Tries again until the server is back, however long that takes on a busy machine: the SDK's own
// strategies give up when a client has failed too often altogether.
const retryToken = (count) => ({ getRetryCount: () => count, getRetryDelay: () => RETRY_DELAY_MS });
const untilTheServerIsBack = {
  mode: 'until the server is back',
  acquireInitialRetryToken: async () => retryToken(0),
  refreshRetryTokenForRetry: async (token, { errorType }) => {
    if (errorType === 'CLIENT_ERROR') throw new Error('no use in trying again');
    return retryToken(token.getRetryCount() + 1);
  },
  recordSuccess: () => {},
};

const settings = (server) => ({
  endpoint: server.url,
  region: 'us-east-1',
  credentials: { accessKeyId: 'any', secretAccessKey: 'any' },
  retryStrategy: untilTheServerIsBack,
});

function createClients(server) {
  const client = DynamoDBDocumentClient.from(new DynamoDBClient(settings(server)));
  const streams = new DynamoDBStreams(settings(server));
  const destroy = () => [client, streams].forEach((one) => one.destroy());
  return { client, streams, destroy };
}

// Keys are strings. Resolves to the ARN of the stream, if there is one.
async function createTable(client, TableName, keys, StreamViewType) {
  await client.send(new CreateTableCommand({
    TableName,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: keys.map((name) => ({ AttributeName: name, AttributeType: 'S' })),
    KeySchema: keys.map((name, index) => (
      { AttributeName: name, KeyType: index === 0 ? 'HASH' : 'RANGE' })),
    ...(StreamViewType && { StreamSpecification: { StreamEnabled: true, StreamViewType } }),
  }));
  await waitUntilTableExists({ client, maxWaitTime: 20, minDelay: 1, maxDelay: 1 }, { TableName });
  const { Table } = await client.send(new DescribeTableCommand({ TableName }));
  return Table.LatestStreamArn;
}

async function scan(client, TableName) {
  const items = [];
  for await (const page of paginateScan({ client }, { TableName, ConsistentRead: true })) {
    items.push(...page.Items);
  }
  return items;
}

// All of them: a page has a hundred at most.
async function listShards(streams, StreamArn) {
  const shards = [];
  let ExclusiveStartShardId;
  do {
    const { StreamDescription: page } = await streams.describeStream(
      { StreamArn, ExclusiveStartShardId });
    shards.push(...page.Shards);
    ExclusiveStartShardId = page.LastEvaluatedShardId;
  } while (ExclusiveStartShardId);
  return shards;
}

// Numbers from 0 up to `bound`, the same ones for the same seed.
function randomNumbers(seed) {
  let count = 0;
  return (bound) => {
    const hash = crypto.createHash('sha256').update(`${seed} ${count += 1}`).digest();
    return hash.readUInt32BE() % bound;
  };
}

class Writer {
  constructor(client, TableName, random) {
    Object.assign(this, { client, TableName, random });
  }

  order() {
    return {
      order: `order-${this.random(ORDERS)}`,
      customer: CUSTOMERS[this.random(CUSTOMERS.length)],
      total: 1 + this.random(100),
    };
  }

  // Of different keys, as batches and transactions want them.
  orders(count) {
    const found = new Map();
    while (found.size < count) {
      const one = this.order();
      found.set(one.order, one);
    }
    return [...found.values()];
  }

  update() {
    const { order, customer, total } = this.order();
    return {
      TableName: this.TableName,
      Key: { order },
      UpdateExpression: 'SET customer = :customer ADD #total :total',
      ExpressionAttributeNames: { '#total': 'total' },
      ExpressionAttributeValues: { ':customer': customer, ':total': total },
    };
  }

  batch() {
    const requests = this.orders(1 + this.random(10)).map((Item) => (this.random(3) > 0
      ? { PutRequest: { Item } } : { DeleteRequest: { Key: { order: Item.order } } }));
    return new BatchWriteCommand({ RequestItems: { [this.TableName]: requests } });
  }

  // Two orders become one.
  transaction() {
    const { TableName } = this;
    const [from, other, to] = this.orders(3);
    return new TransactWriteCommand({
      TransactItems: [
        { Delete: { TableName, Key: { order: from.order } } },
        { Put: { TableName, Item: to } },
        { Update: { ...this.update(), Key: { order: other.order } } },
      ],
    });
  }

  command() {
    const { TableName } = this;
    switch (this.random(6)) {
      case 0:
      case 1: return new PutCommand({ TableName, Item: this.order() });
      case 2: return new UpdateCommand(this.update());
      case 3: return new DeleteCommand({ TableName, Key: { order: this.order().order } });
      case 4: return this.batch();
      default: return this.transaction();
    }
  }

  async step() {
    await this.client.send(this.command()).catch((error) => {
      if (!CONFLICTS.includes(error.name)) throw error; // Somebody else wrote the same order.
    });
  }
}

// Resolves once all writers are done. Between two parts of their work the server ends: orderly, or
// not at all so, with requests under way.
async function runLoad({ client, server, TableName }) {
  const seed = process.env.LOAD_SEED ?? crypto.randomInt(2 ** 32);
  console.log(`LOAD_SEED=${seed}`);
  let steps = 0;
  const write = async (writer) => {
    for (let step = 0; step < STEPS; step += 1) {
      await writer.step();
      steps += 1;
    }
  };
  const endServer = async () => {
    for (const [index, signal] of ENDS.entries()) {
      while (steps < ((index + 1) * WRITERS * STEPS) / (ENDS.length + 1)) await sleep(5);
      await server.restart(signal);
    }
  };
  const writers = Array.from({ length: WRITERS }, (_, number) => (
    new Writer(client, TableName, randomNumbers(`${seed}-${number}`))));
  await Promise.all([...writers.map(write), endServer()]);
}

// Consumers at work on one load while their shards end, and on one more in the children of these.
async function runLoadAcrossShards({ client, streams, server, TableName, StreamArn }) {
  const first = await listShards(streams, StreamArn);
  await runLoad({ client, server, TableName });
  await eventually(async () => {
    const shards = await listShards(streams, StreamArn);
    assert.ok(shards.length > first.length, 'no shard has ended');
  });
  await runLoad({ client, server, TableName });
}

// Until `check` no longer throws: a consumer is behind for a while.
async function eventually(check) {
  const deadline = Date.now() + EVENTUALLY_MS;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await sleep(100);
    }
  }
}

module.exports = {
  createClients, createTable, eventually, listShards, runLoadAcrossShards, scan,
};
