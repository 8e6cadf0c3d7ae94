// PartiQL's INSERT, UPDATE and DELETE: what they do to an item, and how they are refused.
'use strict';
const assert = require('node:assert/strict');
const { after, before, beforeEach, describe, test } = require('node:test');
const { DeleteItemCommand, GetItemCommand, PutItemCommand } = require('@aws-sdk/client-dynamodb');
const { createClient, dropTables, refusal, validation } = require('./lib/client.js');
const { PLAIN, SORTED, createTables, runner } = require('./lib/partiql.js');
const { startServer } = require('./lib/server.js');

let server;
let client;
let run;
before(async () => {
  server = await startServer();
  client = createClient(server);
  run = runner(client);
  await createTables(client);
});
after(async () => {
  await dropTables(client, PLAIN, SORTED);
  client.destroy();
  await server.stop();
});

const ITEM = {
  id: { S: 'k' },
  n: { N: '1' },
  s: { S: 'x' },
  l: { L: [{ N: '1' }] },
  m: { M: { x: { M: { y: { N: '1' } } } } },
  ns: { NS: ['1', '2'] },
};
const item = async (id = 'k') => (await client.send(
  new GetItemCommand({ TableName: PLAIN, Key: { id: { S: id } }, ConsistentRead: true }))).Item;
const failed = { name: 'ConditionalCheckFailedException', message: 'The conditional request failed' };

beforeEach(() => client.send(new PutItemCommand({ TableName: PLAIN, Item: ITEM })));

describe('INSERT', () => {
  const remove = (id) => client.send(
    new DeleteItemCommand({ TableName: PLAIN, Key: { id: { S: id } } }));

  test('stores literals of every type', async () => {
    await remove('i');
    const answer = await run("INSERT INTO HAB VALUE {'id':'i','s':'it''s','e':'','n':-1.50,'t':true,"
      + "'z':null,'l':[1,'a',[2],{}],'m':{'x':{'y':1e3}},'ns':<<2,1>>,'ss':<<'b','a'>>}");
    assert.deepEqual(answer.Items, []);
    assert.deepEqual(await item('i'), {
      id: { S: 'i' },
      s: { S: "it's" },
      e: { S: '' },
      n: { N: '-1.5' },
      t: { BOOL: true },
      z: { NULL: true },
      l: { L: [{ N: '1' }, { S: 'a' }, { L: [{ N: '2' }] }, { M: {} }] },
      m: { M: { x: { M: { y: { N: '1000' } } } } },
      ns: { NS: ['1', '2'] },
      ss: { SS: ['a', 'b'] },
    });
  });
  test('stores parameters of every type', async () => {
    await remove('p');
    const values = [
      { S: 'p' }, { B: Uint8Array.from([1, 2]) }, { BS: [Uint8Array.from([3])] },
      { L: [{ N: '1' }] }, { M: { a: { BOOL: false } } }, { NS: ['5'] },
    ];
    await run("INSERT INTO HAB VALUE {'id':?,'b':?,'bs':?,'l':?,'m':?,'ns':?}", values);
    const [id, b, bs, l, m, ns] = values;
    assert.deepEqual(await item('p'), { id, b, bs, l, m, ns });
  });
  test('does not replace an item', async () => {
    assert.deepEqual(await refusal(run("INSERT INTO HAB VALUE {'id':'k'}")),
      { name: 'DuplicateItemException', message: 'Duplicate primary key exists in table' });
    assert.deepEqual(await item(), ITEM);
  });

  const cases = [
    ["INSERT INTO HAB VALUE {'n':1}", 'Key attribute should be present in the item: Key id'],
    ["INSERT INTO TAB VALUE {'pk':'a'}", 'Key attribute should be present in the item: Key sk'],
    ["INSERT INTO HAB VALUE {'id':1}",
      "Key attribute's data type should match its data type in table's schema: Key id"],
    ["INSERT INTO HAB VALUE {'id':''}", 'One or more parameter values are not valid. The '
      + 'AttributeValue for a key attribute cannot contain an empty string value. Key: id'],
    ["INSERT INTO TAB VALUE {'pk':'a','sk':1,'g':1}", 'One or more parameter values were invalid: '
      + 'Type mismatch for Index Key g Expected: S Actual: N IndexName: byGroup'],
    ["INSERT INTO HAB VALUE {'id':'q','s':<<1,'a'>>}", 'Unsupported data type in Bag. DynamoDB '
      + 'only supports either numbers or strings in bags'],
    ["INSERT INTO HAB VALUE {'id':'q','s':<<1,1>>}", 'Input collection contains duplicates'],
    ["INSERT INTO HAB VALUE {'id':'q'} RETURNING ALL OLD *", 'RETURNING is not supported in INSERT'],
    ['INSERT INTO HAB VALUE ?', 'Unsupported format in item expression. Please use struct format '
      + '{...} to express item values for insert statement. at 1:35:1'],
    ["INSERT INTO TAB.\"byGroup\" VALUE {'g':'x'}", 'FROM clause may only contain a single table '
      + 'name in data manipulation statements at 1:13:16'],
  ];
  for (const [statement, message] of cases) {
    test(`is refused: ${statement}`, async () => {
      const parameters = statement.includes('?') ? [{ M: { id: { S: 'q' } } }] : undefined;
      assert.deepEqual(await refusal(run(statement, parameters)), validation(message));
    });
  }
});

describe('UPDATE', () => {
  const updates = [
    ['SET n=n+1', { n: { N: '2' } }],
    ['SET n=n-1, s=\'y\'', { n: { N: '0' }, s: { S: 'y' } }],
    ['SET n=1+2 SET z=true', { n: { N: '3' }, z: { BOOL: true } }],
    ['SET l=list_append(l,[9])', { l: { L: [{ N: '1' }, { N: '9' }] } }],
    ['SET ns=set_add(ns,<<9>>)', { ns: { NS: ['1', '2', '9'] } }],
    ['SET ns=SET_DELETE(ns,<<1>>)', { ns: { NS: ['2'] } }],
    ['SET fresh=set_add(fresh,<<\'a\'>>)', { fresh: { SS: ['a'] } }],
    ['SET n=if_not_exists(nobody,7)', { n: { N: '7' } }],
    ['SET copy=s', { copy: { S: 'x' } }],
    ['SET m.x.z=2', { m: { M: { x: { M: { y: { N: '1' }, z: { N: '2' } } } } } }],
    ['SET l[5]=2', { l: { L: [{ N: '1' }, { N: '2' }] } }],
    ['REMOVE n', { n: undefined }],
    ['REMOVE m.x.y REMOVE s SET n=5', { m: { M: { x: { M: {} } } }, s: undefined, n: { N: '5' } }],
  ];
  for (const [clause, change] of updates) {
    test(clause, async () => {
      await run(`UPDATE HAB ${clause} WHERE id='k'`);
      const want = { ...ITEM, ...change };
      for (const name of Object.keys(want)) if (want[name] === undefined) delete want[name];
      assert.deepEqual(await item(), want);
    });
  }
  test('takes parameters in the order of the text', async () => {
    await run('UPDATE HAB SET n=?+? WHERE id=? AND s=?',
      [{ N: '1' }, { N: '2' }, { S: 'k' }, { S: 'x' }]);
    assert.deepEqual((await item()).n, { N: '3' });
  });

  const returned = [
    ['ALL OLD', ITEM],
    ['ALL NEW', { ...ITEM, n: { N: '2' } }],
    ['MODIFIED OLD', { n: { N: '1' } }],
    ['MODIFIED NEW', { n: { N: '2' } }],
  ];
  for (const [clause, want] of returned) {
    test(`RETURNING ${clause} *`, async () => {
      const { Items } = await run(`UPDATE HAB SET n=2 WHERE id='k' RETURNING ${clause} *`);
      assert.deepEqual(Items, [want]);
    });
  }
  // The update, what RETURNING MODIFIED OLD and NEW show of the list [1, 2, 3].
  const elements = [
    ["SET l[0]='a'", ['1'], ['a']],
    ["SET l[2]='c' SET l[0]='a'", ['1', '3'], ['a', 'c']],
    ["SET l[3]='d'", undefined, ['d']],
    ["SET l[9]='d'", undefined, undefined],
    ['REMOVE l[1]', ['2'], ['3']],
    ['REMOVE l[2]', ['3'], undefined],
  ];
  for (const [update, old, fresh] of elements) {
    test(`RETURNING MODIFIED shows what is at the indexes of ${update}`, async () => {
      const list = (texts) => ({ L: texts.map((text) => ({ S: text })) });
      for (const [clause, want] of [['OLD', old], ['NEW', fresh]]) {
        await run("UPDATE HAB SET l=['1', '2', '3'] WHERE id='k'");
        const { Items } = await run(
          `UPDATE HAB ${update} WHERE id='k' RETURNING MODIFIED ${clause} *`);
        assert.deepEqual(Items, want ? [{ l: list(want) }] : []);
      }
    });
  }
  test('returns nothing unless asked', async () => {
    assert.deepEqual((await run("UPDATE HAB SET n=2 WHERE id='k'")).Items, []);
    assert.deepEqual(
      (await run("UPDATE HAB SET fresh=2 WHERE id='k' RETURNING MODIFIED OLD *")).Items, []);
  });

  test('makes no item', async () => {
    assert.deepEqual(await refusal(run("UPDATE HAB SET n=2 WHERE id='nobody'")), failed);
    assert.equal(await item('nobody'), undefined);
  });
  test('needs the rest of its condition to hold', async () => {
    assert.deepEqual(await refusal(run("UPDATE HAB SET n=2 WHERE id='k' AND n=9")), failed);
    await run("UPDATE HAB SET n=2 WHERE id='k' AND n=1");
    assert.deepEqual((await item()).n, { N: '2' });
  });
  test('shows the item whose condition fails if asked', async () => {
    const wanted = { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' };
    await assert.rejects(run("UPDATE HAB SET n=2 WHERE id='k' AND n=9", undefined, wanted),
      (error) => {
        assert.deepEqual(error.Item, ITEM);
        return true;
      });
    await assert.rejects(run("UPDATE HAB SET n=2 WHERE id='nobody'", undefined, wanted),
      (error) => error.Item === undefined);
  });

  const mandatory = 'Where clause does not contain a mandatory equality on all key attributes';
  const cases = [
    ['UPDATE HAB SET n=2', mandatory],
    ['UPDATE HAB SET n=2 WHERE n=1', mandatory],
    ["UPDATE HAB SET n=2 WHERE id>'k'", mandatory],
    ["UPDATE HAB SET n=2 WHERE id='k' OR id='j'", mandatory],
    ["UPDATE HAB SET n=2 WHERE id IN ['k']", mandatory],
    ["UPDATE TAB SET n=2 WHERE pk='k'", mandatory],
    ["UPDATE HAB SET n=2 WHERE id='k' AND id='j'",
      'Multiple conditions on same key id. Only single item Update/Insert/Delete are supported'],
    ['UPDATE HAB SET n=2 WHERE id=1',
      "Key attribute's data type should match its data type in table's schema: Key id"],
    ["UPDATE HAB SET id='x' WHERE id='k'", 'One or more parameter values were invalid: Cannot '
      + 'update attribute id. This attribute is part of the key'],
    ["UPDATE HAB REMOVE id WHERE id='k'", 'One or more parameter values were invalid: Cannot '
      + 'update attribute id. This attribute is part of the key'],
    ["UPDATE HAB SET n=nobody WHERE id='k'",
      'The provided expression refers to an attribute that does not exist in the item'],
    ["UPDATE HAB SET m.q.z=2 WHERE id='k'",
      'The document path provided in the update expression is invalid for update'],
    ["UPDATE HAB SET n=1, n=2 WHERE id='k'", 'Two document paths overlap with each other; must '
      + 'remove or rewrite one of these paths; path one: [n], path two: [n]'],
    ["UPDATE HAB SET n=set_add(ns,<<1>>) WHERE id='k'",
      'The first argument to SET_ADD must equal the assignment value at 1:30:7'],
    ["UPDATE HAB SET s=set_add(s,<<1>>) WHERE id='k'",
      'An operand in the update expression has an incorrect data type'],
    ["UPDATE TAB.\"byGroup\" SET n=1 WHERE pk='k' AND sk=1",
      'This operation is not supported on an index'],
  ];
  for (const [statement, message] of cases) {
    test(`is refused: ${statement}`, async () => {
      assert.deepEqual(await refusal(run(statement)), validation(message));
      assert.deepEqual(await item(), ITEM);
    });
  }
});

describe('DELETE', () => {
  test('removes an item', async () => {
    assert.deepEqual((await run("DELETE FROM HAB WHERE id='k'")).Items, []);
    assert.equal(await item(), undefined);
  });
  test('RETURNING ALL OLD * shows it', async () => {
    assert.deepEqual((await run("DELETE FROM HAB WHERE id='k' RETURNING ALL OLD *")).Items, [ITEM]);
    assert.deepEqual((await run("DELETE FROM HAB WHERE id='k' RETURNING ALL OLD *")).Items, []);
  });
  test('succeeds where there is no item, whatever its condition', async () => {
    await run("DELETE FROM HAB WHERE id='nobody' AND n=1");
  });
  test('needs the rest of its condition to hold', async () => {
    assert.deepEqual(await refusal(run("DELETE FROM HAB WHERE id='k' AND n=9")), failed);
    assert.deepEqual(await item(), ITEM);
    await run("DELETE FROM HAB WHERE id='k' AND n=1 AND ns IS NOT MISSING");
    assert.equal(await item(), undefined);
  });
  test('is refused without a whole key', async () => {
    for (const statement of ['DELETE FROM HAB', 'DELETE FROM HAB WHERE n=1']) {
      assert.deepEqual(await refusal(run(statement)), validation(
        'Where clause does not contain a mandatory equality on all key attributes'));
    }
  });
  test('has no other RETURNING', async () => {
    assert.deepEqual(await refusal(run("DELETE FROM HAB WHERE id='k' RETURNING ALL NEW *")),
      validation('Invalid returning clause: RETURNING ALL NEW *. Only RETURNING ALL OLD * is allowed '
        + 'in DELETE statements.'));
  });
});

test('writes tell what they consumed', async () => {
  const wanted = { ReturnConsumedCapacity: 'INDEXES' };
  const insert = await run("INSERT INTO TAB VALUE {'pk':'c','sk':1,'g':'x'}", undefined, wanted);
  assert.deepEqual(insert.ConsumedCapacity, {
    TableName: SORTED,
    CapacityUnits: 2,
    Table: { CapacityUnits: 1 },
    GlobalSecondaryIndexes: { byGroup: { CapacityUnits: 1 } },
  });
  const remove = await run("DELETE FROM TAB WHERE pk='c' AND sk=1", undefined,
    { ReturnConsumedCapacity: 'TOTAL' });
  assert.deepEqual(remove.ConsumedCapacity, { TableName: SORTED, CapacityUnits: 2 });
});

test('writers of one item never lose an update', async () => {
  await Promise.all(Array.from({ length: 40 }, () => run("UPDATE HAB SET n=n+1 WHERE id='k'")));
  assert.deepEqual((await item()).n, { N: '41' });
});

test('of many inserts of one key exactly one succeeds', async () => {
  await run("DELETE FROM HAB WHERE id='race'");
  const results = await Promise.allSettled(Array.from({ length: 20 },
    (_, index) => run("INSERT INTO HAB VALUE {'id':'race','by':?}", [{ N: String(index) }])));
  const winners = results.flatMap((result, index) => (result.status === 'fulfilled' ? [index] : []));
  assert.equal(winners.length, 1);
  assert.deepEqual((await item('race')).by, { N: String(winners[0]) });
});
