// ExecuteTransaction: statements that are carried out all or not at all.
'use strict';
const assert = require('node:assert/strict');
const { after, before, beforeEach, describe, test } = require('node:test');
const { ExecuteTransactionCommand, GetItemCommand, PutItemCommand } = require('@aws-sdk/client-dynamodb');
const { createClient, dropTables, refusal, validation } = require('./lib/client.js');
const {
  PLAIN, SORTED, createTables, named, putSongs, song,
} = require('./lib/partiql.js');
const { startServer } = require('./lib/server.js');

const STATEMENTS_MAX = 100;
const TOKEN_MAX = 36;

let server;
let client;
let fresh = 0;
before(async () => {
  server = await startServer();
  client = createClient(server);
  await createTables(client);
  await putSongs(client);
});
after(async () => {
  await dropTables(client, PLAIN, SORTED);
  client.destroy();
  await server.stop();
});

const ITEM = { id: { S: 'k' }, n: { N: '1' } };
beforeEach(() => client.send(new PutItemCommand({ TableName: PLAIN, Item: ITEM })));

const transact = (statements, options = {}) => client.send(new ExecuteTransactionCommand({
  TransactStatements: statements.map((one) => (typeof one === 'string'
    ? { Statement: named(one) } : { ...one, Statement: named(one.Statement) })),
  ...options,
}));
const item = async (id) => (await client.send(
  new GetItemCommand({ TableName: PLAIN, Key: { id: { S: id } } }))).Item;
const newKey = () => `new${fresh++}`;

// The reasons of a cancellation, as "Code: Message", and its message.
async function cancellation(promise) {
  try {
    await promise;
  } catch (error) {
    assert.equal(error.name, 'TransactionCanceledException', error.message);
    return {
      message: error.message,
      reasons: error.CancellationReasons.map(({ Code, Message }) => (
        Message === undefined ? Code : `${Code}: ${Message}`)),
      items: error.CancellationReasons.map((reason) => reason.Item),
    };
  }
  throw new Error('carried out, though it should have been cancelled');
}

describe('reads', () => {
  test('answer in the order of the statements', async () => {
    const { Responses } = await transact([
      "SELECT * FROM TAB WHERE pk='a' AND sk=1",
      "SELECT n, m.x FROM TAB WHERE pk='b' AND sk=2",
      "SELECT * FROM HAB WHERE id='nobody'",
      { Statement: 'SELECT n FROM HAB WHERE id=?', Parameters: [{ S: 'k' }] },
    ]);
    assert.deepEqual(Responses, [
      { Item: song('a', 1) },
      { Item: { n: { N: '20' }, x: { N: '2' } } },
      {},
      { Item: { n: { N: '1' } } },
    ]);
  });
  test('cost twice as much', async () => {
    const { ConsumedCapacity } = await transact(["SELECT * FROM TAB WHERE pk='a' AND sk=1"],
      { ReturnConsumedCapacity: 'TOTAL' });
    assert.deepEqual(ConsumedCapacity,
      [{ TableName: SORTED, CapacityUnits: 2, ReadCapacityUnits: 2 }]);
  });
  test('must name one item, and nothing else', async () => {
    for (const where of ['', " WHERE pk='a'", " WHERE pk='a' AND sk=1 AND n=1"]) {
      assert.deepEqual(await refusal(transact([`SELECT * FROM TAB${where}`])),
        validation('Validation failed in TransactStatements[0]: Select statements within '
          + 'ExecuteTransaction must specify the primary key in the where clause.'));
    }
  });
  test('of an index are refused', async () => {
    assert.deepEqual(
      await refusal(transact(["SELECT * FROM HAB WHERE id='k'",
        "SELECT * FROM TAB.\"byGroup\" WHERE g='g0' AND sk=1"])),
      validation('Validation failed in TransactStatements[1]: Reads on indices are not supported '
        + 'within transactions.'));
  });
  test('of a key of the wrong type are cancelled', async () => {
    assert.deepEqual(
      (await cancellation(transact(["SELECT * FROM TAB WHERE pk='a' AND sk=1",
        'SELECT * FROM HAB WHERE id=1']))).reasons,
      ['None', "ValidationError: Key attribute's data type should match its data type in table's "
        + 'schema: Key id']);
  });
});

describe('writes', () => {
  test('are carried out together', async () => {
    const id = newKey();
    const { Responses } = await transact([
      "EXISTS(SELECT * FROM TAB WHERE pk='a' AND sk=1 AND n=10 AND nobody IS MISSING)",
      { Statement: "INSERT INTO HAB VALUE {'id':?,'n':7}", Parameters: [{ S: id }] },
      "UPDATE HAB SET n=n+1 WHERE id='k' AND n=1",
      "DELETE FROM HAB WHERE id='nobody' AND n=1",
    ]);
    assert.deepEqual(Responses, []);
    assert.deepEqual(await item(id), { id: { S: id }, n: { N: '7' } });
    assert.deepEqual((await item('k')).n, { N: '2' });
  });
  test('are cancelled together, with a reason for each', async () => {
    const id = newKey();
    const { message, reasons } = await cancellation(transact([
      `INSERT INTO HAB VALUE {'id':'${id}'}`,
      "INSERT INTO HAB VALUE {'id':'k'}",
      "UPDATE HAB SET n=1 WHERE id='nobody'",
      "DELETE FROM TAB WHERE pk='a' AND sk=1 AND n=77",
      "UPDATE TAB SET n=nobody WHERE pk='a' AND sk=2",
    ]));
    assert.deepEqual(reasons, [
      'None',
      'DuplicateItem: Duplicate primary key exists in table',
      'ConditionalCheckFailed: The conditional request failed',
      'ConditionalCheckFailed: The conditional request failed',
      'ValidationError: The provided expression refers to an attribute that does not exist in the '
        + 'item',
    ]);
    assert.equal(message, 'Transaction cancelled, please refer cancellation reasons for specific '
      + 'reasons [None, DuplicateItem, ConditionalCheckFailed, ConditionalCheckFailed, '
      + 'ValidationError]');
    assert.equal(await item(id), undefined);
  });
  test('show the item whose condition fails if asked', async () => {
    const { items } = await cancellation(transact([
      { Statement: "DELETE FROM HAB WHERE id='k' AND n=9",
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD' },
      "DELETE FROM TAB WHERE pk='a' AND sk=1 AND n=77",
    ]));
    assert.deepEqual(items, [ITEM, undefined]);
  });
  test('EXISTS needs an item, and its condition to hold', async () => {
    const id = newKey();
    const insert = `INSERT INTO HAB VALUE {'id':'${id}'}`;
    for (const where of ["id='k' AND n=2", "id='nobody' AND n IS MISSING"]) {
      assert.deepEqual(
        (await cancellation(transact([`EXISTS(SELECT * FROM HAB WHERE ${where})`, insert]))).reasons,
        ['ConditionalCheckFailed: The conditional request failed', 'None']);
    }
    assert.equal(await item(id), undefined);
    await transact(["EXISTS(SELECT * FROM HAB WHERE id='k' AND n=1)", insert]);
    assert.deepEqual(await item(id), { id: { S: id } });
  });
  test('EXISTS names one item and a condition', async () => {
    for (const where of ["id='k'", 'n=1']) {
      assert.deepEqual(
        await refusal(transact(["DELETE FROM HAB WHERE id='x'",
          `EXISTS(SELECT * FROM HAB WHERE ${where})`])),
        validation('Validation failed in TransactStatements[1]: EXISTS() must contain a single item '
          + 'read with additional condition'));
    }
  });
  test('cost twice as much', async () => {
    const { ConsumedCapacity } = await transact(["UPDATE HAB SET n=2 WHERE id='k'"],
      { ReturnConsumedCapacity: 'TOTAL' });
    assert.deepEqual(ConsumedCapacity,
      [{ TableName: PLAIN, CapacityUnits: 2, WriteCapacityUnits: 2 }]);
  });
  test('without a whole key are cancelled', async () => {
    assert.deepEqual(
      (await cancellation(transact(["UPDATE HAB SET n=1 WHERE id='k'", 'DELETE FROM HAB WHERE n=1',
        "INSERT INTO HAB VALUE {'n':1}"]))).reasons,
      ['None', 'ValidationError: Where clause does not contain a mandatory equality on all key '
        + 'attributes', 'None']);
    assert.deepEqual((await cancellation(transact(["INSERT INTO TAB VALUE {'pk':'x'}"]))).reasons,
      ['ValidationError: Key attribute should be present in the item: Key sk']);
    assert.deepEqual((await cancellation(transact(["UPDATE HAB SET id='x' WHERE id='k'"]))).reasons,
      ['ValidationError: One or more parameter values were invalid: Cannot update attribute id. '
        + 'This attribute is part of the key']);
  });
  test('of two transactions that need the same state one is cancelled', async () => {
    const results = await Promise.allSettled(Array.from({ length: 8 }, (_, index) => transact([
      `UPDATE HAB SET winner=${index}, n=2 WHERE id='k' AND n=1`,
      "EXISTS(SELECT * FROM TAB WHERE pk='a' AND sk=1 AND n=10)"])));
    assert.equal(results.filter((result) => result.status === 'fulfilled').length, 1);
  });
});

describe('ClientRequestToken', () => {
  const add = "UPDATE HAB SET n=n+1 WHERE id='k'";
  test('makes a repeated request harmless', async () => {
    const options = { ClientRequestToken: newKey() };
    assert.deepEqual((await transact([add], options)).Responses, []);
    assert.deepEqual((await transact([add], options)).Responses, []);
    assert.deepEqual((await item('k')).n, { N: '2' });
  });
  test('belongs to one request', async () => {
    const options = { ClientRequestToken: newKey() };
    await transact([{ Statement: 'UPDATE HAB SET n=n+1 WHERE id=?', Parameters: [{ S: 'k' }] }],
      options);
    for (const other of [add,
      { Statement: 'UPDATE HAB SET n=n+1 WHERE id=?', Parameters: [{ S: 'j' }] }]) {
      assert.deepEqual(await refusal(transact([other], options)), {
        name: 'IdempotentParameterMismatchException',
        message: 'DynamoDB rejected the request because you retried a request with a different '
          + 'payload but with an idempotent token that was already used.',
      });
    }
    assert.deepEqual((await item('k')).n, { N: '2' });
  });
  test('has a bounded length', async () => {
    await transact([add], { ClientRequestToken: newKey().padEnd(TOKEN_MAX, 'x') });
    assert.deepEqual(await refusal(transact([add], { ClientRequestToken: 'x'.repeat(TOKEN_MAX + 1) })),
      validation(`1 validation error detected: Value '${'x'.repeat(TOKEN_MAX + 1)}' at `
        + "'clientRequestToken' failed to satisfy constraint: Member must have length less than or "
        + `equal to ${TOKEN_MAX}`));
  });
});

describe('whole requests are refused', () => {
  const cases = [
    [["SELECT * FROM HAB WHERE id='k'", "INSERT INTO HAB VALUE {'id':'m'}"],
      'ExecuteTransaction API does not support both read and write operations in the same request.'],
    [["EXISTS(SELECT * FROM HAB WHERE id='k' AND n=1)", "SELECT * FROM HAB WHERE id='j'"],
      'ExecuteTransaction API does not support both read and write operations in the same request.'],
    [["SELECT * FROM HAB WHERE id='k'", "SELECT n FROM HAB WHERE id='k'"],
      'Transaction request cannot include multiple operations on one item'],
    [["INSERT INTO HAB VALUE {'id':'m'}", "UPDATE HAB SET n=1 WHERE id='m'"],
      'Transaction request cannot include multiple operations on one item'],
    [["UPDATE HAB SET n=1 WHERE id='k' RETURNING ALL NEW *"], 'Validation failed in '
      + 'TransactStatements[0]: RETURNING clause is not supported in ExecuteTransaction.'],
    [["DELETE FROM HAB WHERE id='k'", 'SELEC'],
      "Statement wasn't well formed, can't be processed: Expected data manipulation"],
    [["DELETE FROM HAB WHERE id='k'", 'DELETE FROM HAB WHERE id=?'], 'Validation failed in '
      + "TransactStatements[1]: Number of parameters in request and statement don't match."],
    [["UPDATE HAB SET n=n*2 WHERE id='k'"], 'Validation failed in TransactStatements[0]: '
      + 'Unsupported operator in Update Expression. Operator: *'],
    [["INSERT INTO HAB VALUE {'id':''}"], 'One or more parameter values are not valid. The '
      + 'AttributeValue for a key attribute cannot contain an empty string value. Key: id'],
  ];
  for (const [statements, message] of cases) {
    test(statements.join('; '), async () => {
      assert.deepEqual(await refusal(transact(statements)), validation(message));
      assert.deepEqual(await item('k'), ITEM);
      assert.equal(await item('m'), undefined);
    });
  }
  test('for a table that is not there', async () => {
    for (const statement of ["SELECT * FROM nobody WHERE id='k'", "DELETE FROM nobody WHERE id='k'"]) {
      assert.deepEqual(await refusal(transact([statement])),
        { name: 'ResourceNotFoundException', message: 'Requested resource not found' });
    }
  });
  test('by the number of statements', async () => {
    const reads = (count) => Array.from({ length: count },
      (_, index) => `SELECT * FROM HAB WHERE id='many${index}'`);
    for (const count of [1, STATEMENTS_MAX - 1, STATEMENTS_MAX]) {
      assert.equal((await transact(reads(count))).Responses.length, count);
    }
    const { name, message } = await refusal(transact(reads(STATEMENTS_MAX + 1)));
    assert.equal(name, 'ValidationException');
    assert.match(message, new RegExp("at 'transactStatements' failed to satisfy constraint: Member "
      + `must have length less than or equal to ${STATEMENTS_MAX}$`));
  });
  test('by the size of what is sent', async () => {
    const values = (count) => Array.from({ length: count }, () => ({
      Statement: `INSERT INTO HAB VALUE {'id':'${newKey()}','v':?}`,
      Parameters: [{ S: 'x'.repeat(399 * 1024) }],
    }));
    await transact(values(10));
    const { name, message } = await refusal(transact(values(11)));
    assert.equal(name, 'ValidationException');
    assert.match(message, /^Transaction payload size cannot exceed 4MB. Payload Size: \d+$/);
  });
});
