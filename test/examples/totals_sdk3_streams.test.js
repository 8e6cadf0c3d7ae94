// A derived total: what each customer's orders come to, kept by a consumer of the stream of orders
// that polls with the plain client of the AWS SDK for JavaScript v3.
//
//   table   key                what it has
//   orders  <order>            customer, total
//   totals  CUSTOMER#<name>    amount, orders
//           SHARD#<shard id>   seen: the last record of the shard that the totals have
//
// A total is added to, so no record may count twice. The consumer therefore writes the totals and
// how far it has come in one transaction, and goes on from there, whoever ended: the server or
// itself. It reads a shard once it has come to the end of its parent, as every consumer must that
// needs the changes of an item in their order.
'use strict';
const assert = require('node:assert/strict');
const { after, before, test } = require('node:test');
const { setTimeout: sleep } = require('node:timers/promises');
const { GetCommand, TransactWriteCommand } = require('@aws-sdk/lib-dynamodb');
const { unmarshall } = require('@aws-sdk/util-dynamodb');
const {
  createClients, createTable, eventually, listShards, runLoadAcrossShards, scan,
} = require('./lib/order_load.js');
const { startServerToRestart } = require('../api/lib/server.js');

const ORDERS = 'orders-streamed';
const TOTALS = 'totals';
const POLL_MS = 50; // Once a second would do for people.
const RECORDS_MAX = 50; // Of one transaction: it has an action per customer, and 100 at most.

const shardKey = (shard) => ({ pk: `SHARD#${shard}` });
const customerKey = (customer) => ({ pk: `CUSTOMER#${customer}` });

// What the records add to each customer; less than nothing for what went away.
function differences(records) {
  const found = new Map();
  const count = (image, sign) => {
    if (!image) return;
    const { customer, total } = unmarshall(image);
    const { amount, orders } = found.get(customer) ?? { amount: 0, orders: 0 };
    found.set(customer, { amount: amount + sign * total, orders: orders + sign });
  };
  for (const { dynamodb: { OldImage, NewImage } } of records) {
    count(OldImage, -1);
    count(NewImage, 1);
  }
  return [...found];
}

class TotalsConsumer {
  constructor({ client, streams, StreamArn }) {
    Object.assign(this, { client, streams, StreamArn });
    this.open = new Map(); // Shard: { iterator, seen }.
    this.finished = new Set();
  }

  // From behind the last record that the totals have.
  async openShard(ShardId) {
    const { Item } = await this.client.send(new GetCommand(
      { TableName: TOTALS, Key: shardKey(ShardId), ConsistentRead: true }));
    const from = Item
      ? { ShardIteratorType: 'AFTER_SEQUENCE_NUMBER', SequenceNumber: Item.seen }
      : { ShardIteratorType: 'TRIM_HORIZON' };
    const { ShardIterator } = await this.streams.getShardIterator(
      { StreamArn: this.StreamArn, ShardId, ...from });
    this.open.set(ShardId, { iterator: ShardIterator, seen: Item?.seen });
  }

  async pollShard(ShardId) {
    if (!this.open.has(ShardId)) await this.openShard(ShardId);
    const shard = this.open.get(ShardId);
    const { Records, NextShardIterator } = await this.streams.getRecords(
      { ShardIterator: shard.iterator, Limit: RECORDS_MAX });
    if (Records.length > 0) {
      const last = Records.at(-1).dynamodb.SequenceNumber;
      await this.addToTotals(ShardId, shard.seen, last, differences(Records));
      shard.seen = last;
    }
    shard.iterator = NextShardIterator;
    if (!NextShardIterator) {
      this.open.delete(ShardId);
      this.finished.add(ShardId);
    }
  }

  // The condition refuses a second consumer at the same shard. The SDK sends a token, so what it
  // tries again takes effect once.
  async addToTotals(ShardId, seen, last, changes) {
    const checkpoint = {
      TableName: TOTALS,
      Key: shardKey(ShardId),
      UpdateExpression: 'SET seen = :last',
      ...(seen ? {
        ConditionExpression: 'seen = :seen',
        ExpressionAttributeValues: { ':last': last, ':seen': seen },
      } : {
        ConditionExpression: 'attribute_not_exists(pk)',
        ExpressionAttributeValues: { ':last': last },
      }),
    };
    const additions = changes.map(([customer, { amount, orders }]) => ({
      TableName: TOTALS,
      Key: customerKey(customer),
      UpdateExpression: 'ADD amount :amount, orders :orders',
      ExpressionAttributeValues: { ':amount': amount, ':orders': orders },
    }));
    await this.client.send(new TransactWriteCommand(
      { TransactItems: [checkpoint, ...additions].map((Update) => ({ Update })) }));
  }

  // One page of each shard that is neither at its end nor behind a parent that is not. A parent
  // that is not listed any more has been trimmed: nothing of it is left to read.
  async poll() {
    const shards = await listShards(this.streams, this.StreamArn);
    const listed = new Set(shards.map(({ ShardId }) => ShardId));
    for (const { ShardId, ParentShardId } of shards) {
      const waits = listed.has(ParentShardId) && !this.finished.has(ParentShardId);
      if (!waits && !this.finished.has(ShardId)) await this.pollShard(ShardId);
    }
  }
}

async function readTotals(client) {
  const totals = (await scan(client, TOTALS)).filter(({ orders }) => orders > 0);
  return new Map(totals.map(({ pk, amount, orders }) => [pk, { amount, orders }]));
}

async function computeTotals(client) {
  const totals = new Map();
  for (const { customer, total } of await scan(client, ORDERS)) {
    const { pk } = customerKey(customer);
    const { amount, orders } = totals.get(pk) ?? { amount: 0, orders: 0 };
    totals.set(pk, { amount: amount + total, orders: orders + 1 });
  }
  return totals;
}

// The example at work.

const POLLS_UNTIL_END = 2; // Then the consumer ends, and another one takes over.

let server;
let clients;
before(async () => {
  server = await startServerToRestart('--stream-rollover-ms', '500');
  clients = createClients(server);
});
after(async () => {
  clients.destroy();
  await server.stop();
});

test('totals follow the orders, whoever ends meanwhile', async () => {
  const { client, streams } = clients;
  const StreamArn = await createTable(client, ORDERS, ['order'], 'NEW_AND_OLD_IMAGES');
  await createTable(client, TOTALS, ['pk']);
  let done = false;
  const consume = async () => {
    while (!done) {
      const consumer = new TotalsConsumer({ client, streams, StreamArn });
      for (let count = 0; count < POLLS_UNTIL_END && !done; count += 1) {
        await consumer.poll();
        await sleep(POLL_MS);
      }
    }
  };
  const compare = async () => {
    assert.deepEqual(await readTotals(client), await computeTotals(client));
  };
  const produce = async () => {
    try {
      await runLoadAcrossShards({ client, streams, server, TableName: ORDERS, StreamArn });
      await eventually(compare);
    } finally {
      done = true;
    }
  };
  await Promise.all([produce(), consume()]);
  await compare();
  assert.ok((await computeTotals(client)).size > 0);
  const seen = (await scan(client, TOTALS)).filter(({ pk }) => pk.startsWith('SHARD#'));
  const shards = await listShards(streams, StreamArn);
  const children = shards.filter(({ ParentShardId }) => ParentShardId)
    .map(({ ShardId }) => shardKey(ShardId).pk);
  assert.ok(seen.some(({ pk }) => children.includes(pk)), 'no child had a record');
});
