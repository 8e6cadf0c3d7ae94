// An audit log: it tells each change of each order, and is kept by a consumer with the npm package
// `dynamodb-streams-readable`, which makes a Node.js stream of a shard.
//
//   table   partition key  sort key                  what it has
//   orders  <order>                                  customer, total
//   audit   <order>        sequence number, padded   event, before, after
//
// A record has one place in the log, so it does no harm to write it twice. The consumer keeps no
// note of how far it has come: when it starts anew, it reads the stream from its beginning.
'use strict';
const assert = require('node:assert/strict');
const { after, before, test } = require('node:test');
const { setTimeout: sleep } = require('node:timers/promises');
const { BatchWriteCommand, paginateQuery } = require('@aws-sdk/lib-dynamodb');
const { unmarshall } = require('@aws-sdk/util-dynamodb');
const createReadable = require('dynamodb-streams-readable');
const {
  createClients, createTable, eventually, listShards, runLoadAcrossShards, scan,
} = require('./lib/order_load.js');
const { startServerToRestart } = require('../api/lib/server.js');

const ORDERS = 'orders-audited';
const AUDIT = 'audit';
const READ_INTERVAL_MS = 50; // Once a second would do for people.
const BATCH_MAX = 25; // BatchWriteItem takes no more.
const DIGITS_MAX = 40; // Sequence numbers have no more, and are texts: padded they sort as numbers.

function auditEntry({ eventName, dynamodb: { Keys, SequenceNumber, OldImage, NewImage } }) {
  return {
    ...unmarshall(Keys),
    sequence: SequenceNumber.padStart(DIGITS_MAX, '0'),
    event: eventName,
    before: OldImage ? unmarshall(OldImage) : null,
    after: NewImage ? unmarshall(NewImage) : null,
  };
}

async function writeEntries(client, records) {
  for (let start = 0; start < records.length; start += BATCH_MAX) {
    let requests = records.slice(start, start + BATCH_MAX)
      .map((record) => ({ PutRequest: { Item: auditEntry(record) } }));
    while (requests.length > 0) {
      const { UnprocessedItems } = await client.send(
        new BatchWriteCommand({ RequestItems: { [AUDIT]: requests } }));
      requests = UnprocessedItems[AUDIT] ?? [];
    }
  }
}

// What happened to an order, the oldest first.
async function historyOf(client, order) {
  const entries = [];
  for await (const { Items } of paginateQuery({ client }, {
    TableName: AUDIT,
    ConsistentRead: true,
    KeyConditionExpression: '#order = :order',
    ExpressionAttributeNames: { '#order': 'order' },
    ExpressionAttributeValues: { ':order': order },
  })) entries.push(...Items);
  return entries;
}

// The package reads one shard to its end; which ones there are, and that children come behind their
// parents, is up to the application.
class AuditConsumer {
  constructor({ client, streams, StreamArn }) {
    Object.assign(this, { client, streams, StreamArn });
    this.readables = new Map(); // By shard.
    this.closed = false;
  }

  async readShard(shardId) {
    if (this.closed) return;
    const readable = createReadable(this.streams, this.StreamArn,
      { shardId, readInterval: READ_INTERVAL_MS });
    this.readables.set(shardId, readable);
    for await (const records of readable) await writeEntries(this.client, records);
    const shards = await listShards(this.streams, this.StreamArn);
    const children = shards.filter(({ ParentShardId }) => ParentShardId === shardId);
    await Promise.all(children.map(({ ShardId }) => this.readShard(ShardId)));
  }

  // Resolves behind `close`.
  async run() {
    const shards = await listShards(this.streams, this.StreamArn);
    const listed = new Set(shards.map(({ ShardId }) => ShardId));
    const oldest = shards.filter(({ ParentShardId }) => !listed.has(ParentShardId));
    await Promise.all(oldest.map(({ ShardId }) => this.readShard(ShardId)));
  }

  close() {
    this.closed = true;
    for (const readable of this.readables.values()) readable.close();
  }
}

// The example at work.

let server;
let clients;
before(async () => {
  server = await startServerToRestart('--stream-rollover-ms', '2000');
  clients = createClients(server);
});
after(async () => {
  clients.destroy();
  await server.stop();
});

// Each change begins where the one before ended, and the last one left what the table has.
async function assertAuditExplains(client) {
  const orders = new Map((await scan(client, ORDERS)).map((item) => [item.order, item]));
  const audited = new Set((await scan(client, AUDIT)).map(({ order }) => order));
  for (const order of new Set([...orders.keys(), ...audited])) {
    let state = null;
    for (const { event, before: old, after: changed } of await historyOf(client, order)) {
      assert.deepEqual(old, state, `${order} was changed in between`);
      const expected = old && changed ? 'MODIFY' : { true: 'REMOVE', false: 'INSERT' }[!changed];
      assert.equal(event, expected);
      state = changed;
    }
    assert.deepEqual(state, orders.get(order) ?? null);
  }
}

test('the audit log tells each change of each order once', async () => {
  const { client, streams } = clients;
  const StreamArn = await createTable(client, ORDERS, ['order'], 'NEW_AND_OLD_IMAGES');
  await createTable(client, AUDIT, ['order', 'sequence']);
  const roots = await listShards(streams, StreamArn);
  const first = new AuditConsumer({ client, streams, StreamArn });
  const produce = async () => {
    await runLoadAcrossShards({ client, streams, server, TableName: ORDERS, StreamArn });
    await eventually(() => assertAuditExplains(client));
    first.close();
  };
  await Promise.all([produce(), first.run()]);
  await assertAuditExplains(client);
  assert.ok(first.readables.size > roots.length, 'no child was read');

  // Another one writes the same entries again.
  const entries = await scan(client, AUDIT);
  assert.ok(entries.length > 0);
  const second = new AuditConsumer({ client, streams, StreamArn });
  const running = second.run();
  while (second.readables.size <= roots.length) await sleep(READ_INTERVAL_MS);
  second.close();
  await running;
  assert.deepEqual(await scan(client, AUDIT), entries);
});
