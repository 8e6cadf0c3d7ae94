// BatchExecuteStatement: statements that do not depend on each other, each with its own answer.
'use strict';
const assert = require('node:assert/strict');
const { after, before, describe, test } = require('node:test');
const { BatchExecuteStatementCommand, GetItemCommand } = require('@aws-sdk/client-dynamodb');
const { createClient, dropTables, refusal, validation } = require('./lib/client.js');
const {
  PLAIN, SORTED, createTables, named, putSongs, runner, song,
} = require('./lib/partiql.js');
const { startServer } = require('./lib/server.js');

const STATEMENTS_MAX = 25;

let server;
let client;
let run;
before(async () => {
  server = await startServer();
  client = createClient(server);
  run = runner(client);
  await createTables(client);
  await putSongs(client);
});
after(async () => {
  await dropTables(client, PLAIN, SORTED);
  client.destroy();
  await server.stop();
});

const batch = (statements, options = {}) => client.send(new BatchExecuteStatementCommand({
  Statements: statements.map((one) => (typeof one === 'string'
    ? { Statement: named(one) } : { ...one, Statement: named(one.Statement) })),
  ...options,
}));
const responses = async (...statements) => (await batch(statements)).Responses;
const item = async (id) => (await client.send(
  new GetItemCommand({ TableName: PLAIN, Key: { id: { S: id } } }))).Item;
const failure = (Code, Message) => ({ Error: { Code, Message } });
const singleton = failure('ValidationError', 'Select statements within BatchExecuteStatement must '
  + 'specify the primary key in the where clause.');

describe('reads', () => {
  test('answer in the order of the statements', async () => {
    assert.deepEqual(await responses(
      "SELECT n, m.x FROM TAB WHERE pk='a' AND sk=1",
      "SELECT * FROM HAB WHERE id='nobody'",
      "SELECT * FROM TAB WHERE sk=2 AND pk='a'",
      "SELECT nobody FROM TAB WHERE pk='a' AND sk=0",
    ), [
      { TableName: SORTED, Item: { n: { N: '10' }, x: { N: '1' } } },
      { TableName: PLAIN },
      { TableName: SORTED, Item: song('a', 2) },
      { TableName: SORTED, Item: {} },
    ]);
  });
  test('take parameters and may be consistent', async () => {
    const { Responses, ConsumedCapacity } = await batch([
      {
        Statement: 'SELECT n FROM TAB WHERE pk=? AND sk=?',
        Parameters: [{ S: 'a' }, { N: '1' }],
        ConsistentRead: true,
      },
      "SELECT n FROM TAB WHERE pk='a' AND sk=2",
      "SELECT * FROM HAB WHERE id='nobody'",
    ], { ReturnConsumedCapacity: 'TOTAL' });
    assert.deepEqual(Responses[0], { TableName: SORTED, Item: { n: { N: '10' } } });
    assert.deepEqual(ConsumedCapacity, [
      { TableName: SORTED, CapacityUnits: 1.5 }, { TableName: PLAIN, CapacityUnits: 0.5 },
    ]);
  });
  test('must name one item, and nothing else', async () => {
    assert.deepEqual(await responses(
      'SELECT * FROM TAB',
      "SELECT * FROM TAB WHERE pk='a'",
      "SELECT * FROM TAB WHERE pk='a' AND sk>1",
      "SELECT * FROM TAB WHERE pk='a' AND sk IN [1]",
      "SELECT * FROM TAB WHERE pk='a' AND sk=1 AND n=10",
      "SELECT * FROM TAB.\"byGroup\" WHERE g='g0' AND sk=0",
      "SELECT n FROM TAB WHERE pk='b' AND sk=0",
    ), [...Array(6).fill(singleton), { TableName: SORTED, Item: { n: { N: '0' } } }]);
  });
  test('fail one by one', async () => {
    assert.deepEqual(await responses(
      'SELECT * FROM nobody WHERE id=1',
      'SELEC',
      'SELECT * FROM HAB WHERE id=1',
      'SELECT * FROM HAB WHERE id=?',
      "EXISTS(SELECT * FROM HAB WHERE id='x' AND n=1)",
      "SELECT * FROM TAB WHERE pk='a' AND sk=1",
    ), [
      failure('ResourceNotFound', 'Requested resource not found'),
      failure('ValidationError',
        "Statement wasn't well formed, can't be processed: Expected data manipulation"),
      failure('ValidationError',
        "Key attribute's data type should match its data type in table's schema: Key id"),
      failure('ValidationError', "Number of parameters in request and statement don't match."),
      failure('ValidationError', 'EXISTS can only be used in ExecuteTransaction write requests.'),
      { TableName: SORTED, Item: song('a', 1) },
    ]);
  });
});

describe('writes', () => {
  test('each have their own fate', async () => {
    await run("INSERT INTO HAB VALUE {'id':'w1','n':1}");
    await run("INSERT INTO HAB VALUE {'id':'w2','n':1}");
    assert.deepEqual(await responses(
      "INSERT INTO HAB VALUE {'id':'w1'}",
      "UPDATE HAB SET n=5 WHERE id='w2' RETURNING ALL NEW *",
      "INSERT INTO HAB VALUE {'id':'w3'}",
      "UPDATE HAB SET n=1 WHERE id='nobody'",
      "DELETE FROM HAB WHERE id='nothing' AND n=1",
      'UPDATE HAB SET n=1 WHERE n=1',
      'UPDATE nobody SET n=1 WHERE n=1',
      "UPDATE TAB SET n=nobody WHERE pk='a' AND sk=1",
    ), [
      { ...failure('DuplicateItem', 'Duplicate primary key exists in table'), TableName: PLAIN },
      { TableName: PLAIN, Item: { id: { S: 'w2' }, n: { N: '5' } } },
      { TableName: PLAIN },
      { ...failure('ConditionalCheckFailed', 'The conditional request failed'), TableName: PLAIN },
      { TableName: PLAIN },
      failure('ValidationError',
        'Where clause does not contain a mandatory equality on all key attributes'),
      failure('ResourceNotFound', 'Requested resource not found'),
      {
        ...failure('ValidationError',
          'The provided expression refers to an attribute that does not exist in the item'),
        TableName: SORTED,
      },
    ]);
    assert.deepEqual(await item('w1'), { id: { S: 'w1' }, n: { N: '1' } });
    assert.deepEqual(await item('w2'), { id: { S: 'w2' }, n: { N: '5' } });
    assert.deepEqual(await item('w3'), { id: { S: 'w3' } });
    assert.equal(await item('nobody'), undefined);
  });
  test('do not show the item whose condition fails', async () => {
    await run("INSERT INTO HAB VALUE {'id':'w4'}");
    const { Responses } = await batch([{
      Statement: "UPDATE HAB SET n=5 WHERE id='w4' AND n=1",
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    }]);
    assert.deepEqual(Responses, [
      { ...failure('ConditionalCheckFailed', 'The conditional request failed'), TableName: PLAIN },
    ]);
  });
  test('may all fail', async () => {
    assert.deepEqual(await responses("UPDATE HAB SET n=1 WHERE id='nobody'", 'DELETE FROM HAB'), [
      { ...failure('ConditionalCheckFailed', 'The conditional request failed'), TableName: PLAIN },
      failure('ValidationError',
        'Where clause does not contain a mandatory equality on all key attributes'),
    ]);
  });
  test('tell what they consumed', async () => {
    const { ConsumedCapacity } = await batch([
      "INSERT INTO TAB VALUE {'pk':'c','sk':1,'g':'x'}",
      "INSERT INTO HAB VALUE {'id':'w5'}",
      "DELETE FROM TAB WHERE pk='nobody' AND sk=1",
    ], { ReturnConsumedCapacity: 'INDEXES' });
    assert.deepEqual(ConsumedCapacity, [
      {
        TableName: SORTED,
        CapacityUnits: 3,
        Table: { CapacityUnits: 2 },
        GlobalSecondaryIndexes: { byGroup: { CapacityUnits: 1 } },
      },
      { TableName: PLAIN, CapacityUnits: 1, Table: { CapacityUnits: 1 } },
    ]);
  });
});

describe('whole requests are refused', () => {
  test('that mix reads and writes', async () => {
    assert.deepEqual(
      await refusal(batch(["SELECT * FROM HAB WHERE id='x'", 'SELEC',
        "INSERT INTO HAB VALUE {'id':'mixed'}"])),
      validation('Read and write requests together in the same batch is not supported.'));
    assert.equal(await item('mixed'), undefined);
  });
  test('that name an item twice', async () => {
    const twice = validation('Provided list of item keys contains duplicates');
    assert.deepEqual(await refusal(batch(["SELECT * FROM HAB WHERE id='x'",
      "SELECT n FROM HAB WHERE id='x'"])), twice);
    assert.deepEqual(await refusal(batch(["INSERT INTO HAB VALUE {'id':'two'}",
      "UPDATE HAB SET n=1 WHERE id='two'"])), twice);
    assert.equal(await item('two'), undefined);
  });
  test('by the number of statements', async () => {
    const reads = (count) => Array.from({ length: count },
      (_, index) => `SELECT * FROM HAB WHERE id='many${index}'`);
    for (const count of [1, STATEMENTS_MAX - 1, STATEMENTS_MAX]) {
      assert.equal((await batch(reads(count))).Responses.length, count);
    }
    const { name, message } = await refusal(batch(reads(STATEMENTS_MAX + 1)));
    assert.equal(name, 'ValidationException');
    assert.match(message, new RegExp("at 'statements' failed to satisfy constraint: Member must have "
      + `length less than or equal to ${STATEMENTS_MAX}$`));
    assert.deepEqual(await refusal(batch([])),
      validation("1 validation error detected: Value '[]' at 'statements' failed to satisfy "
        + 'constraint: Member must have length greater than or equal to 1'));
  });
});
