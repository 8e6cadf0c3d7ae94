// Tables: their life from CreateTable to DeleteTable, what DescribeTable tells, paging, tags.
'use strict';
const assert = require('node:assert/strict');
const { after, before, describe, test } = require('node:test');
const {
  CreateTableCommand, DeleteTableCommand, DescribeEndpointsCommand, DescribeLimitsCommand,
  DescribeTableCommand, GetItemCommand, ListTablesCommand, ListTagsOfResourceCommand,
  PutItemCommand, TagResourceCommand, UntagResourceCommand, UpdateTableCommand,
  paginateListTables, waitUntilTableExists, waitUntilTableNotExists,
} = require('@aws-sdk/client-dynamodb');
const {
  WAIT, createClient, createTable, dropTables, refusal, tableShape, validation,
} = require('./lib/client.js');
const { startServer } = require('./lib/server.js');

let server;
let client;
before(async () => {
  server = await startServer();
  client = createClient(server);
});
after(async () => {
  client.destroy();
  await server.stop();
});

const send = (command) => client.send(command);
const describeTable = async (name) => (
  (await send(new DescribeTableCommand({ TableName: name }))).Table);

describe('the life of a table', () => {
  test('created, found by the waiter, described, deleted, gone by the waiter', async () => {
    await dropTables(client, 'life');
    const shape = tableShape('life', 'pk:S', 'sk:N');
    const { TableDescription: created } = await send(new CreateTableCommand(shape));
    assert.ok(['CREATING', 'ACTIVE'].includes(created.TableStatus));
    assert.equal(created.TableName, 'life');

    const found = await waitUntilTableExists({ client, ...WAIT }, { TableName: 'life' });
    assert.equal(found.state, 'SUCCESS');
    const table = await describeTable('life');
    assert.equal(table.TableStatus, 'ACTIVE');
    assert.deepEqual(table.KeySchema, shape.KeySchema);
    assert.deepEqual(table.AttributeDefinitions, shape.AttributeDefinitions);
    assert.equal(table.TableId, created.TableId);
    assert.match(table.TableId, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    assert.match(table.TableArn, /^arn:aws:dynamodb:[a-z0-9-]+:\d{12}:table\/life$/);
    assert.equal(table.ItemCount, 0);
    assert.equal(table.TableSizeBytes, 0);
    assert.equal(table.DeletionProtectionEnabled, false);
    assert.ok(Math.abs(Date.now() - table.CreationDateTime.getTime()) < 60_000);

    const { TableDescription: deleted } = await send(
      new DeleteTableCommand({ TableName: 'life' }));
    assert.equal(deleted.TableName, 'life');
    assert.equal(deleted.TableStatus, 'DELETING');
    const gone = await waitUntilTableNotExists({ client, ...WAIT }, { TableName: 'life' });
    assert.equal(gone.state, 'SUCCESS');
  });

  test('a second table of the same name is refused', async () => {
    await dropTables(client, 'twice');
    await createTable(client, tableShape('twice', 'pk:S'));
    assert.deepEqual(
      await refusal(send(new CreateTableCommand(tableShape('twice', 'pk:S')))),
      { name: 'ResourceInUseException', message: 'Table already exists: twice' });
    await dropTables(client, 'twice');
  });

  test('of many at the same time, one creates the table', async () => {
    await dropTables(client, 'race');
    const attempts = await Promise.allSettled(Array.from({ length: 20 }, () => (
      send(new CreateTableCommand(tableShape('race', 'pk:S'))))));
    const refused = attempts.filter(({ status }) => status === 'rejected');
    assert.equal(refused.length, 19);
    assert.ok(refused.every(({ reason }) => reason.name === 'ResourceInUseException'));
    await waitUntilTableExists({ client, ...WAIT }, { TableName: 'race' });
    await dropTables(client, 'race');
  });

  test('a table made again under an old name is another table and is empty', async () => {
    await dropTables(client, 'again');
    await createTable(client, tableShape('again', 'pk:S'));
    const first = await describeTable('again');
    await send(new PutItemCommand({ TableName: 'again', Item: { pk: { S: 'a' } } }));
    await dropTables(client, 'again');
    await waitUntilTableNotExists({ client, ...WAIT }, { TableName: 'again' });
    await createTable(client, tableShape('again', 'pk:S'));
    assert.notEqual((await describeTable('again')).TableId, first.TableId);
    const { Item } = await send(
      new GetItemCommand({ TableName: 'again', Key: { pk: { S: 'a' } } }));
    assert.equal(Item, undefined);
    await dropTables(client, 'again');
  });

  for (const Command of [DescribeTableCommand, UpdateTableCommand, DeleteTableCommand]) {
    test(`${Command.name} of a table that is not there`, async () => {
      const input = { TableName: 'not-there', DeletionProtectionEnabled: false };
      assert.deepEqual(await refusal(send(new Command(input))), {
        name: 'ResourceNotFoundException',
        message: 'Requested resource not found: Table: not-there not found',
      });
    });
  }

  test('deletion protection refuses DeleteTable until it is taken off', async () => {
    await dropTables(client, 'protected');
    await createTable(client,
      { ...tableShape('protected', 'pk:S'), DeletionProtectionEnabled: true });
    assert.equal((await describeTable('protected')).DeletionProtectionEnabled, true);
    assert.deepEqual(
      await refusal(send(new DeleteTableCommand({ TableName: 'protected' }))),
      validation('Resource cannot be deleted as it is currently protected against deletion. '
        + 'Disable deletion protection first.'));
    await send(new UpdateTableCommand(
      { TableName: 'protected', DeletionProtectionEnabled: false }));
    await waitUntilTableExists({ client, ...WAIT }, { TableName: 'protected' });
    assert.equal((await describeTable('protected')).DeletionProtectionEnabled, false);
    await send(new DeleteTableCommand({ TableName: 'protected' }));
  });
});

describe('capacity', () => {
  test('an on-demand table shows zero units, its mode, and its warm throughput', async () => {
    await dropTables(client, 'on-demand');
    await createTable(client, tableShape('on-demand', 'pk:S'));
    const table = await describeTable('on-demand');
    assert.equal(table.BillingModeSummary.BillingMode, 'PAY_PER_REQUEST');
    assert.equal(table.ProvisionedThroughput.ReadCapacityUnits, 0);
    assert.equal(table.ProvisionedThroughput.WriteCapacityUnits, 0);
    assert.equal(table.ProvisionedThroughput.NumberOfDecreasesToday, 0);
    assert.deepEqual(table.WarmThroughput,
      { ReadUnitsPerSecond: 12000, WriteUnitsPerSecond: 4000, Status: 'ACTIVE' });
    await dropTables(client, 'on-demand');
  });

  test('a provisioned table shows its units, counts decreases, and can change its mode',
    async () => {
      await dropTables(client, 'provisioned');
      const { BillingMode, ...shape } = tableShape('provisioned', 'pk:S');
      await createTable(client,
        { ...shape, ProvisionedThroughput: { ReadCapacityUnits: 5, WriteCapacityUnits: 3 } });
      let table = await describeTable('provisioned');
      assert.equal(table.ProvisionedThroughput.ReadCapacityUnits, 5);
      assert.equal(table.ProvisionedThroughput.WriteCapacityUnits, 3);
      assert.equal(table.BillingModeSummary, undefined);
      assert.equal(table.WarmThroughput.Status, 'ACTIVE');
      assert.ok(table.WarmThroughput.ReadUnitsPerSecond >= 5);

      const update = async (change) => {
        await send(new UpdateTableCommand({ TableName: 'provisioned', ...change }));
        await waitUntilTableExists({ client, ...WAIT }, { TableName: 'provisioned' });
        table = await describeTable('provisioned');
      };
      await update({ ProvisionedThroughput: { ReadCapacityUnits: 10, WriteCapacityUnits: 3 } });
      assert.equal(table.ProvisionedThroughput.ReadCapacityUnits, 10);
      assert.ok(table.ProvisionedThroughput.LastIncreaseDateTime instanceof Date);
      await update({ ProvisionedThroughput: { ReadCapacityUnits: 4, WriteCapacityUnits: 3 } });
      assert.equal(table.ProvisionedThroughput.ReadCapacityUnits, 4);
      assert.equal(table.ProvisionedThroughput.NumberOfDecreasesToday, 1);

      assert.deepEqual(
        await refusal(update(
          { ProvisionedThroughput: { ReadCapacityUnits: 4, WriteCapacityUnits: 3 } })),
        validation('The provisioned throughput for the table will not change. The requested '
          + 'value equals the current value. Current ReadCapacityUnits provisioned for the '
          + 'table: 4. Requested ReadCapacityUnits: 4. Current WriteCapacityUnits provisioned '
          + 'for the table: 3. Requested WriteCapacityUnits: 3. Refer to the Amazon DynamoDB '
          + 'Developer Guide for current limits and how to request higher limits.'));

      await update({ BillingMode: 'PAY_PER_REQUEST' });
      assert.equal(table.BillingModeSummary.BillingMode, 'PAY_PER_REQUEST');
      assert.ok(table.BillingModeSummary.LastUpdateToPayPerRequestDateTime instanceof Date);
      assert.equal(table.ProvisionedThroughput.ReadCapacityUnits, 0);
      await dropTables(client, 'provisioned');
    });

  test('DescribeLimits tells the default quotas', async () => {
    const { $metadata, ...limits } = await send(new DescribeLimitsCommand({}));
    assert.deepEqual(limits, {
      AccountMaxReadCapacityUnits: 80000,
      AccountMaxWriteCapacityUnits: 80000,
      TableMaxReadCapacityUnits: 40000,
      TableMaxWriteCapacityUnits: 40000,
    });
  });
});

test('DescribeEndpoints names an endpoint and how long it may be kept', async () => {
  const { Endpoints } = await send(new DescribeEndpointsCommand({}));
  assert.equal(Endpoints.length, 1);
  assert.match(Endpoints[0].Address, /^127\.0\.0\.1:\d+$/);
  assert.equal(Endpoints[0].CachePeriodInMinutes, 1440);
});

test('indexes, table class, encryption and stream settings are told back as given', async () => {
  await dropTables(client, 'indexed');
  await createTable(client, {
    ...tableShape('indexed', 'pk:S', 'sk:S'),
    AttributeDefinitions: ['pk', 'sk', 'g', 'l'].map((name) => (
      { AttributeName: name, AttributeType: 'S' })),
    GlobalSecondaryIndexes: [{
      IndexName: 'by-g',
      KeySchema: [{ AttributeName: 'g', KeyType: 'HASH' }],
      Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['x', 'y'] },
    }],
    LocalSecondaryIndexes: [{
      IndexName: 'by-l',
      KeySchema: [
        { AttributeName: 'pk', KeyType: 'HASH' }, { AttributeName: 'l', KeyType: 'RANGE' }],
      Projection: { ProjectionType: 'KEYS_ONLY' },
    }],
    SSESpecification: { Enabled: true },
    TableClass: 'STANDARD_INFREQUENT_ACCESS',
    StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
  });
  const table = await describeTable('indexed');
  const [global] = table.GlobalSecondaryIndexes;
  assert.equal(global.IndexName, 'by-g');
  assert.equal(global.IndexStatus, 'ACTIVE');
  assert.equal(global.IndexArn, `${table.TableArn}/index/by-g`);
  assert.deepEqual(global.KeySchema, [{ AttributeName: 'g', KeyType: 'HASH' }]);
  assert.deepEqual(global.Projection,
    { ProjectionType: 'INCLUDE', NonKeyAttributes: ['x', 'y'] });
  assert.equal(global.ProvisionedThroughput.ReadCapacityUnits, 0);
  assert.equal(global.WarmThroughput.Status, 'ACTIVE');
  const [local] = table.LocalSecondaryIndexes;
  assert.equal(local.IndexName, 'by-l');
  assert.equal(local.IndexArn, `${table.TableArn}/index/by-l`);
  assert.deepEqual(local.Projection, { ProjectionType: 'KEYS_ONLY' });
  assert.equal(table.SSEDescription.Status, 'ENABLED');
  assert.equal(table.SSEDescription.SSEType, 'KMS');
  assert.equal(table.TableClassSummary.TableClass, 'STANDARD_INFREQUENT_ACCESS');
  assert.deepEqual(table.StreamSpecification,
    { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' });
  assert.equal(table.LatestStreamArn, `${table.TableArn}/stream/${table.LatestStreamLabel}`);
  await dropTables(client, 'indexed');
});

describe('ListTables', () => {
  const names = Array.from({ length: 7 }, (_, index) => `list-${index}`);
  before(async () => {
    await dropTables(client, ...names);
    for (const name of [...names].reverse()) await createTable(client, tableShape(name, 'pk:S'));
  });
  after(() => dropTables(client, ...names));

  test('names come in order, whatever the order of creation', async () => {
    const { TableNames } = await send(new ListTablesCommand({}));
    assert.deepEqual(TableNames.filter((name) => name.startsWith('list-')), names);
  });

  test('a page says where it ended, and the next one goes on from there', async () => {
    const pages = [];
    for await (const page of paginateListTables(
      { client, pageSize: 3 }, { ExclusiveStartTableName: 'list-' })) {
      pages.push(page.TableNames);
    }
    assert.deepEqual(pages.flat().filter((name) => name.startsWith('list-')), names);
    assert.ok(pages.every((page) => page.length <= 3));
  });

  test('the last page has no LastEvaluatedTableName', async () => {
    const answer = await send(new ListTablesCommand({ ExclusiveStartTableName: 'zzz' }));
    assert.deepEqual(answer.TableNames, []);
    assert.equal(answer.LastEvaluatedTableName, undefined);
  });

  test('a page may start at a name that no table has', async () => {
    const { TableNames } = await send(
      new ListTablesCommand({ ExclusiveStartTableName: 'list-3x', Limit: 1 }));
    assert.deepEqual(TableNames, ['list-4']);
  });

  for (const [Limit, rule] of [[0, 'greater than or equal to 1'],
    [101, 'less than or equal to 100']]) {
    test(`Limit ${Limit} is refused`, async () => {
      assert.deepEqual(await refusal(send(new ListTablesCommand({ Limit }))),
        validation(`1 validation error detected: Value '${Limit}' at 'limit' failed to satisfy `
          + `constraint: Member must have value ${rule}`));
    });
  }
});

describe('a table named by its ARN', () => {
  let arn;
  before(async () => {
    await dropTables(client, 'by-arn');
    await createTable(client, tableShape('by-arn', 'pk:S'));
    arn = (await describeTable('by-arn')).TableArn;
  });
  after(() => dropTables(client, 'by-arn'));

  test('is the same table', async () => {
    assert.equal((await describeTable(arn)).TableName, 'by-arn');
    await send(new PutItemCommand({ TableName: arn, Item: { pk: { S: 'a' }, v: { N: '1' } } }));
    const { Item } = await send(
      new GetItemCommand({ TableName: 'by-arn', Key: { pk: { S: 'a' } } }));
    assert.deepEqual(Item, { pk: { S: 'a' }, v: { N: '1' } });
  });

  test('consumed capacity repeats the ARN', async () => {
    const { ConsumedCapacity } = await send(new GetItemCommand({
      TableName: arn, Key: { pk: { S: 'a' } }, ReturnConsumedCapacity: 'TOTAL',
    }));
    assert.equal(ConsumedCapacity.TableName, arn);
  });
});

describe('tags', () => {
  let arn;
  const tagsOf = async () => (
    (await send(new ListTagsOfResourceCommand({ ResourceArn: arn }))).Tags);
  before(async () => {
    await dropTables(client, 'tagged');
    await createTable(client,
      { ...tableShape('tagged', 'pk:S'), Tags: [{ Key: 'team', Value: 'a' }] });
    arn = (await describeTable('tagged')).TableArn;
  });
  after(() => dropTables(client, 'tagged'));

  test('are set with the table, added, replaced and removed', async () => {
    assert.deepEqual(await tagsOf(), [{ Key: 'team', Value: 'a' }]);
    await send(new TagResourceCommand({
      ResourceArn: arn, Tags: [{ Key: 'team', Value: 'b' }, { Key: 'empty', Value: '' }],
    }));
    assert.deepEqual(await tagsOf(), [{ Key: 'empty', Value: '' }, { Key: 'team', Value: 'b' }]);
    await send(new UntagResourceCommand({ ResourceArn: arn, TagKeys: ['team', 'never-there'] }));
    assert.deepEqual(await tagsOf(), [{ Key: 'empty', Value: '' }]);
    await send(new UntagResourceCommand({ ResourceArn: arn, TagKeys: ['empty'] }));
    assert.deepEqual(await tagsOf(), []);
  });

  test('50 fit and the 51st is refused', async () => {
    const some = (count) => Array.from({ length: count }, (_, index) => (
      { Key: `k${index}`, Value: 'v' }));
    await send(new TagResourceCommand({ ResourceArn: arn, Tags: some(50) }));
    assert.equal((await tagsOf()).length, 50);
    const refused = await refusal(send(
      new TagResourceCommand({ ResourceArn: arn, Tags: [{ Key: 'one-more', Value: 'v' }] })));
    assert.equal(refused.name, 'ValidationException');
    assert.equal((await tagsOf()).length, 50);
    await send(new UntagResourceCommand(
      { ResourceArn: arn, TagKeys: some(50).map((tag) => tag.Key) }));
  });

  test('of a table that is not there', async () => {
    const ResourceArn = arn.replace('/tagged', '/not-there');
    assert.deepEqual(
      await refusal(send(
        new TagResourceCommand({ ResourceArn, Tags: [{ Key: 'k', Value: 'v' }] }))),
      {
        name: 'ResourceNotFoundException',
        message: `Requested resource not found: ResourceArn: ${ResourceArn} not found`,
      });
  });
});

describe('CreateTable refuses', () => {
  const shape = tableShape('refused', 'pk:S');
  const units = { ReadCapacityUnits: 1, WriteCapacityUnits: 1 };
  const cases = [
    ['a name of two characters', { TableName: 'ab' },
      "1 validation error detected: Value 'ab' at 'tableName' failed to satisfy constraint: "
      + 'Member must have length greater than or equal to 3'],
    ['a name of 256 characters', { TableName: 'a'.repeat(256) },
      `1 validation error detected: Value '${'a'.repeat(256)}' at 'tableName' failed to satisfy `
      + 'constraint: Member must have length less than or equal to 255'],
    ['a space in the name', { TableName: 'a b' },
      "1 validation error detected: Value 'a b' at 'tableName' failed to satisfy constraint: "
      + 'Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+'],
    ['a billing mode that does not exist', { BillingMode: 'FREE' },
      "1 validation error detected: Value 'FREE' at 'billingMode' failed to satisfy constraint: "
      + 'Member must satisfy enum value set: [PROVISIONED, PAY_PER_REQUEST]'],
    ['units on an on-demand table', { ProvisionedThroughput: units },
      'One or more parameter values were invalid: Neither ReadCapacityUnits nor '
      + 'WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST'],
    ['a provisioned table without units', { BillingMode: 'PROVISIONED' },
      'One or more parameter values were invalid: ReadCapacityUnits and WriteCapacityUnits must '
      + 'both be specified when BillingMode is PROVISIONED'],
    ['no units at all', {
      BillingMode: undefined, ProvisionedThroughput: { ...units, ReadCapacityUnits: 0 },
    },
    "1 validation error detected: Value '0' at 'provisionedThroughput.readCapacityUnits' failed "
      + 'to satisfy constraint: Member must have value greater than or equal to 1'],
    ['an attribute type that no key may have',
      { AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'X' }] },
      "1 validation error detected: Value 'X' at 'attributeDefinitions.1.member.attributeType' "
      + 'failed to satisfy constraint: Member must satisfy enum value set: [B, N, S]'],
    ['an attribute that no key uses',
      {
        AttributeDefinitions: [...shape.AttributeDefinitions,
          { AttributeName: 'extra', AttributeType: 'S' }],
      },
      'One or more parameter values were invalid: Number of attributes in KeySchema does not '
      + 'exactly match number of attributes defined in AttributeDefinitions'],
    ['a key that is not defined',
      { AttributeDefinitions: [{ AttributeName: 'other', AttributeType: 'S' }] },
      'One or more parameter values were invalid: Some index key attributes are not defined in '
      + 'AttributeDefinitions. Keys: [pk], AttributeDefinitions: [other]'],
    ['a sort key without a partition key',
      { KeySchema: [{ AttributeName: 'pk', KeyType: 'RANGE' }] },
      'Invalid KeySchema: The first KeySchemaElement is not a HASH key type'],
  ];
  for (const [name, change, message] of cases) {
    test(name, async () => {
      assert.deepEqual(await refusal(send(new CreateTableCommand({ ...shape, ...change }))),
        validation(message));
    });
  }

  for (const length of [3, 255]) {
    test(`but not a name of ${length} characters`, async () => {
      const name = 'n'.repeat(length);
      await dropTables(client, name);
      await createTable(client, tableShape(name, 'pk:S'));
      await dropTables(client, name);
    });
  }
});
