// Projection expressions in GetItem: which parts of an item come back, what is refused, and in
// which words.
'use strict';
const assert = require('node:assert/strict');
const { before, describe, test } = require('node:test');
const { refusal, validation } = require('./lib/client.js');
const { call } = require('./lib/http.js');
const { KEY, SAMPLES, TYPES, useItemTable } = require('./lib/item_table.js');

const table = useItemTable('projections');
const n = (number) => ({ N: String(number) });
const list = (...elements) => ({ L: elements });
const map = (members) => ({ M: members });
const ITEM = {
  ...Object.fromEntries(TYPES.map((type) => [`v_${type}`, SAMPLES[type]])),
  a: n(1),
  b: n(2),
  m: map({ x: n(1), y: map({ z: n(2), w: n(3) }), l: list(n(4), n(5)) }),
  l: list(n(0), map({ x: n(1), y: n(2) }), list(n(6), n(7)), n(3)),
  'd.o.t': n(8),
  status: n(9),
};

const project = async (ProjectionExpression, ExpressionAttributeNames) => (
  await table.get({ ProjectionExpression, ExpressionAttributeNames })).Item;
const refused = (ProjectionExpression, ExpressionAttributeNames) => refusal(
  table.get({ ProjectionExpression, ExpressionAttributeNames }));
const invalid = (message) => validation(`Invalid ProjectionExpression: ${message}`);

describe('a projection', () => {
  before(() => table.put(ITEM));
  const cases = [
    ['pk', KEY],
    ['a', { a: n(1) }],
    ['a, b', { a: n(1), b: n(2) }],
    [' b,a , pk', { ...KEY, a: n(1), b: n(2) }],
    ['nope', {}],
    ['a, nope', { a: n(1) }],
    ['m', { m: ITEM.m }],
    ['m.x', { m: map({ x: n(1) }) }],
    ['m.x, m.y.z', { m: map({ x: n(1), y: map({ z: n(2) }) }) }],
    ['m.y.z, m.y.w', { m: map({ y: map({ z: n(2), w: n(3) }) }) }],
    ['m.nope', {}],
    ['m.nope, a', { a: n(1) }],
    ['m.y.nope', {}],
    ['m.l[1]', { m: map({ l: list(n(5)) }) }],
    // Elements come in their own order and without gaps.
    ['l[0]', { l: list(n(0)) }],
    ['l[3], l[0]', { l: list(n(0), n(3)) }],
    ['l[9]', {}],
    ['l[9], l[3]', { l: list(n(3)) }],
    ['l[1].y', { l: list(map({ y: n(2) })) }],
    ['l[1].x, l[1].y', { l: list(map({ x: n(1), y: n(2) })) }],
    ['l[2][1], l[0]', { l: list(n(0), list(n(7))) }],
    // A path that does not fit the value is a path to nothing.
    ['a.x', {}], ['a[0]', {}], ['l.x', {}], ['m[0]', {}], ['v_SS[0]', {}],
    ['d.o.t', {}],
  ];
  for (const [expression, expected] of cases) {
    test(`of ${JSON.stringify(expression)}`, async () => {
      assert.deepEqual(await project(expression), expected);
    });
  }

  for (const type of TYPES) {
    test(`of a value of type ${type}`, async () => {
      assert.deepEqual(await project(`v_${type}`), { [`v_${type}`]: SAMPLES[type] });
    });
  }

  test('by names behind #, each a single attribute', async () => {
    assert.deepEqual(await project('#s', { '#s': 'status' }), { status: n(9) });
    assert.deepEqual(await project('#d', { '#d': 'd.o.t' }), { 'd.o.t': n(8) });
    assert.deepEqual(await project('#m.#y.z, m.x', { '#m': 'm', '#y': 'y' }),
      { m: map({ x: n(1), y: map({ z: n(2) }) }) });
    assert.deepEqual(await project('#x', { '#x': 'm.x' }), {});
    assert.deepEqual(await project('l[1].#x', { '#x': 'x' }), { l: list(map({ x: n(1) })) });
  });

  test('of an item that is not there is no item', async () => {
    const Key = { pk: { S: 'nope' } };
    assert.equal((await table.get({ Key, ProjectionExpression: 'a' })).Item, undefined);
  });

  test('that finds nothing is an item without attributes', async () => {
    const body = { TableName: table.name, Key: KEY, ProjectionExpression: 'nope' };
    assert.deepEqual((await call(table.server, 'GetItem', body)).json, { Item: {} });
  });

  test('does not change what is charged', async () => {
    await table.put({ ...ITEM, large: { S: 'x'.repeat(8192) } });
    const { ConsumedCapacity, Item } = await table.get(
      { ProjectionExpression: 'a', ReturnConsumedCapacity: 'TOTAL' });
    await table.put(ITEM);
    assert.deepEqual(Item, { a: n(1) });
    assert.equal(ConsumedCapacity.CapacityUnits, 3);
  });
});

describe('an expression is refused', () => {
  before(() => table.put(ITEM));
  const syntax = (token, near) => `Syntax error; token: "${token}", near: "${near}"`;
  const overlap = (one, two) => 'Two document paths overlap with each other; must remove or '
    + `rewrite one of these paths; path one: ${one}, path two: ${two}`;
  const conflict = (one, two) => 'Two document paths conflict with each other; must remove or '
    + `rewrite one of these paths; path one: ${one}, path two: ${two}`;
  const cases = [
    ['', 'The expression can not be empty;'],
    [' ', syntax('<EOF>', ' ')],
    ['a,', syntax('<EOF>', ',')],
    [',a', syntax(',', ',a')],
    ['a b', syntax('b', 'a b')],
    ['a.', syntax('<EOF>', '.')],
    ['a[', syntax('<EOF>', '[')],
    ['a[b]', syntax('b', '[b]')],
    ['a[-1]', syntax('-', '[-1')],
    ['a = b', syntax('=', 'a = b')],
    ['(a)', syntax('(', '(a')],
    ['a;', syntax(';', 'a;')],
    [':v', syntax(':v', ':v')],
    ['size(a)', syntax('(', 'size(a')],
    ['a, a', overlap('[a]', '[a]')],
    ['m, m.x', overlap('[m]', '[m, x]')],
    ['m.x, m', overlap('[m, x]', '[m]')],
    ['l[0], l', overlap('[l, [0]]', '[l]')],
    ['l[0], l[0]', overlap('[l, [0]]', '[l, [0]]')],
    ['l[1].x, l[1].x.y', overlap('[l, [1], x]', '[l, [1], x, y]')],
    ['m.x, m[0]', conflict('[m, x]', '[m, [0]]')],
    ['l[0], l.x', conflict('[l, [0]]', '[l, x]')],
    ['status', 'Attribute name is a reserved keyword; reserved keyword: status'],
    ['m.Count', 'Attribute name is a reserved keyword; reserved keyword: Count'],
    ['#d', 'An expression attribute name used in the document path is not defined; attribute '
      + 'name: #d'],
    ['l[99999999999]', 'List index is not within the allowable range; index: [99999999999]'],
  ];
  for (const [expression, message] of cases) {
    test(JSON.stringify(expression), async () => {
      assert.deepEqual(await refused(expression), invalid(message));
    });
  }

  test('if one path is written in two ways', async () => {
    assert.deepEqual(await refused('a, #x', { '#x': 'a' }), invalid(overlap('[a]', '[a]')));
  });

  test('if it looks into a key attribute', async () => {
    const scalars = validation("Key attributes must be scalars; list random access '[]' and map "
      + "lookup '.' are not allowed: Key: pk");
    assert.deepEqual(await refused('pk.x'), scalars);
    assert.deepEqual(await refused('pk[0]'), scalars);
  });

  test('with names that are not used, not defined, or without an expression', async () => {
    assert.deepEqual(await refused('a', { '#x': 'b' }), validation(
      'Value provided in ExpressionAttributeNames unused in expressions: keys: {#x}'));
    assert.deepEqual(await refused('#y', { '#x': 'b' }), invalid('An expression attribute name '
      + 'used in the document path is not defined; attribute name: #y'));
    assert.deepEqual(await refused('a', {}),
      validation('ExpressionAttributeNames must not be empty'));
    assert.deepEqual(await refused(undefined, { '#x': 'b' }), validation(
      'ExpressionAttributeNames can only be specified when using expressions'));
    assert.deepEqual(await refused('a', { x: 'b' }), validation(
      'ExpressionAttributeNames contains invalid key: Syntax error; key: "x"'));
  });

  test('beside AttributesToGet', async () => {
    const mixed = validation('Can not use both expression and non-expression parameters in the '
      + 'same request: Non-expression parameters: {AttributesToGet} Expression parameters: '
      + '{ProjectionExpression}');
    assert.deepEqual(await refusal(
      table.get({ ProjectionExpression: 'a', AttributesToGet: ['b'] })), mixed);
  });
});

describe('limits', () => {
  before(() => table.put(ITEM));
  test('4,096 bytes of expression are taken and 4,097 are not', async () => {
    const padded = (size) => `a${' '.repeat(size - 1)}`;
    assert.deepEqual(await project(padded(4095)), { a: n(1) });
    assert.deepEqual(await project(padded(4096)), { a: n(1) });
    assert.deepEqual(await refused(padded(4097)), invalid(
      'Expression size has exceeded the maximum allowed size; expression size: 4097'));
  });

  test('32 levels of a path are taken and 33 are not', async () => {
    for (const step of ['.x', '[0]']) {
      assert.deepEqual(await project(`m${step.repeat(30)}`), {});
      assert.deepEqual(await project(`m${step.repeat(31)}`), {});
      assert.deepEqual(await refused(`m${step.repeat(32)}`),
        invalid('The document path has too many nesting levels; nesting levels: 33'));
    }
  });

  test('a path reaches the 32nd level of an item', async () => {
    let nested = n(1);
    for (let level = 1; level < 32; level++) nested = map({ x: nested });
    await table.put({ ...ITEM, deep: nested });
    assert.deepEqual(await project(`deep${'.x'.repeat(31)}`), { deep: nested });
    await table.put(ITEM);
  });

  test('names of 255 bytes are taken and of 256 are not', async () => {
    const name = (size) => `#${'p'.repeat(size - 1)}`;
    assert.deepEqual(await project(name(254), { [name(254)]: 'a' }), { a: n(1) });
    assert.deepEqual(await project(name(255), { [name(255)]: 'a' }), { a: n(1) });
    assert.deepEqual(await refused(name(256), { [name(256)]: 'a' }), validation(
      'ExpressionAttributeNames contains invalid key: The expression attribute map contains a key '
      + 'that is too long; size of key: 256'));
  });

  test('hundreds of paths are taken', async () => {
    const paths = Array.from({ length: 500 }, (_, index) => `l[${index}]`);
    assert.deepEqual(await project(paths.join()), { l: ITEM.l });
  });
});
