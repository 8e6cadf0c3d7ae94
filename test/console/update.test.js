// update.test.js -- the smallest conditional update between two items, run against a server; merges.
'use strict';
const assert = require('node:assert/strict');
const path = require('node:path');
const { after, before, test } = require('node:test');
const { startServer } = require('../api/lib/server.js');
const { consoleFolder } = require('./lib/browser.js');

let server;
let update;
let value;
before(async () => {
  update = await import(path.join(consoleFolder, 'core/update.js'));
  value = await import(path.join(consoleFolder, 'core/value.js'));
  server = await startServer('--in-memory');
  await call('CreateTable', {
    TableName: 'items', BillingMode: 'PAY_PER_REQUEST', KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
    AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
  });
});
after(() => server.stop());

async function call(operation, body) {
  const response = await fetch(server.url, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': `DynamoDB_20120810.${operation}`,
      authorization: 'AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0',
    },
    body: JSON.stringify(body),
  });
  const answer = await response.json();
  if (!response.ok) throw Object.assign(new Error(answer.message ?? answer.Message), answer);
  return answer;
}

const of = (raw) => value.itemFromDynamo(raw);
const save = (from, to) => update.saveRequest('items', ['pk'], from && of(from), of(to));
async function stored(pk = 'a') {
  return (await call('GetItem', { TableName: 'items', Key: { pk: { S: pk } }, ConsistentRead: true })).Item;
}

const BASE = {
  pk: { S: 'a' }, s: { S: 'x' }, n: { N: '1' }, gone: { S: 'y' }, b: { B: 'AA==' }, nul: { NULL: true },
  ss: { SS: ['a', 'b'] }, map: { M: { keep: { S: 'k' }, change: { N: '1' }, drop: { BOOL: true } } },
  list: { L: [{ S: 'long enough to be worth a path' }, { N: '2' }, { S: 'long enough to be worth a path' }] },
};
const put = (item) => call('PutItem', { TableName: 'items', Item: item });

test('an unchanged item sends nothing, whatever the spelling of its numbers and the order of its sets', () => {
  assert.equal(save(BASE, BASE), null);
  assert.equal(save(BASE, { ...BASE, n: { N: '1.0' }, ss: { SS: ['b', 'a'] } }), null);
});

test('only what changed is sent, and each change arrives', async () => {
  const cases = [
    [{ s: { S: 'z' } }, 'SET #0 = :0'],
    [{ s: { S: '' } }, 'SET #0 = :0'],
    [{ added: { L: [] } }, 'SET #0 = :0'],
    [{ map: { M: { keep: { S: 'k' }, change: { N: '2' } } } }, 'SET #0.#1 = :0 REMOVE #0.#2'],
    [{ list: { L: [BASE.list.L[0], { N: '3' }, BASE.list.L[2]] } }, 'SET #0[1] = :0'],
    [{ list: { L: [...BASE.list.L, { N: '4' }, { N: '5' }] } }, 'SET #0[3] = :0, #0[4] = :1'],
    [{ list: { L: BASE.list.L.slice(0, 2) } }, 'REMOVE #0[2]'],
    [{ list: { L: [] } }, 'SET #0 = :0'],
    [{ gone: undefined }, 'REMOVE #0'],
    [{ nul: { S: 'no longer' } }, 'SET #0 = :0'],
    [{ b: { B: '/w==' } }, 'SET #0 = :0'],
  ];
  for (const [change, expression] of cases) {
    await put(BASE);
    const want = JSON.parse(JSON.stringify({ ...BASE, ...change }));
    const { operation, parameters } = save(BASE, want);
    assert.equal(operation, 'UpdateItem');
    assert.equal(parameters.UpdateExpression, expression);
    await call(operation, parameters);
    assert.ok(value.equalItems(of(await stored()), of(want)), JSON.stringify(change));
  }
});

test('a value that another client changed is not overwritten, and comes with the refusal', async () => {
  for (const touched of ['s', 'map', 'list', 'b', 'nul', 'ss']) {
    await put({ ...BASE, [touched]: { S: 'theirs' } });
    const { operation, parameters } = save(BASE, { ...BASE, [touched]: { S: 'mine' } });
    await assert.rejects(call(operation, parameters), (error) => {
      assert.match(error.__type, /ConditionalCheckFailedException/);
      assert.deepEqual(error.Item[touched], { S: 'theirs' });
      return true;
    });
    assert.deepEqual((await stored())[touched], { S: 'theirs' });
  }
});

test('an item that is gone does not come back by a save', async () => {
  await call('DeleteItem', { TableName: 'items', Key: { pk: { S: 'a' } } });
  const { operation, parameters } = save(BASE, { ...BASE, brand: { S: 'new' } });
  await assert.rejects(call(operation, parameters), /conditional request failed/);
  assert.equal(await stored(), undefined);
});

test('a new item does not replace one, and a changed key moves the item', async () => {
  await put(BASE);
  const insert = save(null, BASE);
  await assert.rejects(call(insert.operation, insert.parameters), /conditional request failed/);
  const move = save(BASE, { ...BASE, pk: { S: 'b' } });
  assert.equal(move.operation, 'TransactWriteItems');
  await call(move.operation, move.parameters);
  assert.equal(await stored('a'), undefined);
  assert.ok(value.equalItems(of(await stored('b')), of({ ...BASE, pk: { S: 'b' } })));
  await put(BASE);
  await assert.rejects(call(move.operation, move.parameters), /TransactionCanceled|cancelled/);
});

test('deletion is refused if anything changed', async () => {
  await put({ ...BASE, new: { S: 'x' }, s: { S: 'other' } });
  await assert.rejects(call('DeleteItem', update.deleteRequest('items', ['pk'], of(BASE))), /conditional/);
  await put(BASE);
  await call('DeleteItem', update.deleteRequest('items', ['pk'], of(BASE)));
  assert.equal(await stored(), undefined);
});

test('hundreds of changes in one attribute become one', async () => {
  const wide = (n) => ({ pk: { S: 'a' }, m: { M: Object.fromEntries(Array.from({ length: 400 }, (_, i) => [`k${i}`, { N: String(i * n) }])) } });
  await put(wide(1));
  const { operation, parameters } = save(wide(1), wide(2));
  assert.equal(parameters.UpdateExpression, 'SET #0 = :0');
  await call(operation, parameters);
  assert.ok(value.equalItems(of(await stored()), of(wide(2))));
  const many = (n) => Object.fromEntries([['pk', { S: 'a' }], ...Array.from({ length: 200 }, (_, i) => [`k${i}`, { N: String(i * n + 1) }])]);
  assert.throws(() => save(many(1), many(2)), /save in two steps/);
});

test('changes of different values merge; the same value is a conflict', () => {
  const mine = of({ ...BASE, s: { S: 'mine' }, map: { M: { ...BASE.map.M, keep: { S: 'mine' } } } });
  const theirs = of({ ...BASE, n: { N: '9' }, map: { M: { keep: BASE.map.M.keep, change: { N: '7' } } } });
  const easy = update.merge(of(BASE), mine, theirs);
  assert.deepEqual(easy.conflicts, []);
  assert.deepEqual(value.itemToDynamo(easy.merged).map.M, value.itemToDynamo(of({ keep: { S: 'mine' }, change: { N: '7' } })));
  assert.equal(easy.merged.get('s').v, 'mine');
  assert.equal(easy.merged.get('n').v, '9');
  const hard = update.merge(of(BASE), of({ ...BASE, s: { S: 'mine' } }), of({ ...BASE, s: { S: 'theirs' } }));
  assert.deepEqual(hard.conflicts.map((one) => one.path), [['s']]);
  assert.equal(update.setPath(hard.merged, ['s'], hard.conflicts[0].theirs).get('s').v, 'theirs');
});

test('numbers look as the service writes them', async () => {
  const texts = ['1E10', '1E37', '1E38', '1E125', '-1.5E-5', '1E-38', '1E-37', '1E-130', '123E36', '12.5E36', '0.1E-37', '1234567890E-45', '9.9E125'];
  const { L } = (await (await put({ pk: { S: 'a' }, l: { L: texts.map((N) => ({ N })) } }), await stored())).l;
  assert.deepEqual(texts.map((text) => value.normaliseNumber(text)), L.map((one) => one.N));
});
