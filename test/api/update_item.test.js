// UpdateItem: what each action makes of an item and what is returned. update_refusals.test.js has
// the expressions that are refused, and the limits.
'use strict';
const assert = require('node:assert/strict');
const { describe, test } = require('node:test');
const { refusal, validation } = require('./lib/client.js');
const { call } = require('./lib/http.js');
const {
  CONDITION_FAILED, KEY, SAMPLES, TYPES, bytes, enveloped, parameters, useItemTable,
} = require('./lib/item_table.js');

const table = useItemTable('update-item');
const n = (number) => ({ N: String(number) });
const s = (text) => ({ S: text });
const list = (...elements) => ({ L: elements });
const map = (members) => ({ M: members });
const invalid = (message) => validation(enveloped(`Invalid UpdateExpression: ${message}`));
const BAD_PATH = validation(
  'The document path provided in the update expression is invalid for update');
const BAD_TYPE = validation('An operand in the update expression has an incorrect data type');
const NOT_THERE = validation(
  'The provided expression refers to an attribute that does not exist in the item');

// What an update makes of an item; undefined for no item before.
async function updated(attributes, expression, values, options) {
  if (attributes) await table.put(attributes);
  else await table.remove();
  await table.update(expression, values, options);
  return table.attributes();
}

async function returned(attributes, ReturnValues, expression, values) {
  if (attributes) await table.put(attributes);
  else await table.remove();
  return (await table.update(expression, values, { ReturnValues })).Attributes;
}

// Each case: name, item before, expression, values, item after.
function becomes(cases) {
  for (const [name, before, expression, values, after] of cases) {
    test(`${name}: ${expression}`, async () => {
      assert.deepEqual(await updated(before, expression, values), after);
    });
  }
}

// Each case: name, item before, expression, values, answer. The item must be untouched.
function isRefused(cases) {
  for (const [name, before, expression, values, answer] of cases) {
    test(`${name}: ${expression}`, async () => {
      await table.put(before);
      assert.deepEqual(await refusal(table.update(expression, values)), answer);
      assert.deepEqual(await table.attributes(), before);
    });
  }
}

describe('SET', () => {
  for (const type of TYPES) {
    test(`stores a value of type ${type}, over any other type`, async () => {
      for (const before of TYPES) {
        assert.deepEqual(
          await updated({ v: SAMPLES[before] }, 'SET v = :v', { ':v': SAMPLES[type] }),
          { v: SAMPLES[type] }, before);
      }
    });
  }

  becomes([
    ['a new attribute', { a: n(1) }, 'SET b = :v', { ':v': n(2) }, { a: n(1), b: n(2) }],
    ['several', { a: n(1) }, 'SET a = :v, b = :v, c = :w', { ':v': n(2), ':w': s('x') },
      { a: n(2), b: n(2), c: s('x') }],
    ['a copy', { a: n(1) }, 'SET b = a', undefined, { a: n(1), b: n(1) }],
    ['a copy of a nested value', { m: map({ l: list(n(1), n(2)) }) }, 'SET b = m.l[1]',
      undefined, { m: map({ l: list(n(1), n(2)) }), b: n(2) }],
    ['a swap, since operands are read before anything is written', { a: n(1), b: s('x') },
      'SET a = b, b = a', undefined, { a: s('x'), b: n(1) }],
    ['a value beside its own removal elsewhere', { a: n(1) }, 'SET b = a REMOVE a', undefined,
      { b: n(1) }],
    ['in any letter case', { a: n(1) }, 'sEt a = :v rEmOvE b', { ':v': n(2) }, { a: n(2) }],
    ['without spaces', { a: n(1), b: n(1) }, 'SET a=:v,b=b+:v', { ':v': n(2) },
      { a: n(2), b: n(3) }],
    ['in parentheses', { a: n(1) }, 'SET a = (a + :v)', { ':v': n(2) }, { a: n(3) }],
    ['an empty string', {}, 'SET a = :v', { ':v': s('') }, { a: s('') }],
    ['a number in its canonical form', {}, 'SET a = :v', { ':v': n('1.50E1') }, { a: n(15) }],
  ]);

  becomes([
    ['a member', { m: map({ a: n(1) }) }, 'SET m.a = :v', { ':v': n(2) },
      { m: map({ a: n(2) }) }],
    ['a new member', { m: map({}) }, 'SET m.a = :v', { ':v': n(2) }, { m: map({ a: n(2) }) }],
    ['a deep member', { m: map({ m: map({ m: map({ a: n(1), b: n(1) }) }) }) },
      'SET m.m.m.a = :v', { ':v': n(2) },
      { m: map({ m: map({ m: map({ a: n(2), b: n(1) }) }) }) }],
    ['two members', { m: map({ a: n(1), b: n(1), c: n(1) }) }, 'SET m.a = :v, m.c = :v',
      { ':v': n(2) }, { m: map({ a: n(2), b: n(1), c: n(2) }) }],
    ['an element', { l: list(n(0), n(1), n(2)) }, 'SET l[1] = :v', { ':v': s('x') },
      { l: list(n(0), s('x'), n(2)) }],
    ['the element after the last', { l: list(n(0)) }, 'SET l[1] = :v', { ':v': n(1) },
      { l: list(n(0), n(1)) }],
    ['an element past the end is appended', { l: list(n(0)) }, 'SET l[7] = :v',
      { ':v': n(1) }, { l: list(n(0), n(1)) }],
    ['elements past the end are appended in the order of their indexes', { l: list(n(0)) },
      'SET l[9] = :c, l[7] = :a, l[8] = :b', { ':a': n(7), ':b': n(8), ':c': n(9) },
      { l: list(n(0), n(7), n(8), n(9)) }],
    ['the first element of an empty list', { l: list() }, 'SET l[0] = :v', { ':v': n(1) },
      { l: list(n(1)) }],
    ['a member of an element', { l: list(map({ a: n(1) })) }, 'SET l[0].a = :v',
      { ':v': n(2) }, { l: list(map({ a: n(2) })) }],
    ['an element of an element', { l: list(list(n(1), n(2))) }, 'SET l[0][1] = :v',
      { ':v': n(3) }, { l: list(list(n(1), n(3))) }],
    ['elements exchanged', { l: list(n(0), n(1), n(2)) }, 'SET l[0] = l[2], l[2] = l[0]',
      undefined, { l: list(n(2), n(1), n(0)) }],
  ]);

  test('a path may be of #names, which are single attributes', async () => {
    await table.put({ 'a.b': map({ status: n(1) }) });
    await table.update('SET #a.#s = :v', undefined,
      parameters({ ':v': n(2) }, { '#a': 'a.b', '#s': 'status' }));
    assert.deepEqual(await table.attributes(), { 'a.b': map({ status: n(2) }) });
  });

  isRefused([
    ['into what is not there', { a: n(1) }, 'SET b.a = :v', { ':v': n(1) }, BAD_PATH],
    ['into a list that is not there', { a: n(1) }, 'SET b[0] = :v', { ':v': n(1) }, BAD_PATH],
    ['into a missing member', { m: map({}) }, 'SET m.b.c = :v', { ':v': n(1) }, BAD_PATH],
    ['a member of a string', { a: s('x') }, 'SET a.b = :v', { ':v': n(1) }, BAD_PATH],
    ['an element of a string', { a: s('x') }, 'SET a[0] = :v', { ':v': n(1) }, BAD_PATH],
    ['a member of a list', { a: list(n(1)) }, 'SET a.b = :v', { ':v': n(1) }, BAD_PATH],
    ['an element of a map', { a: map({ b: n(1) }) }, 'SET a[0] = :v', { ':v': n(1) }, BAD_PATH],
    ['an element of a set', { a: { SS: ['x'] } }, 'SET a[0] = :v', { ':v': n(1) }, BAD_PATH],
    ['a member of a missing element', { a: list() }, 'SET a[0].b = :v', { ':v': n(1) }, BAD_PATH],
    ['a copy of what is not there', { a: n(1) }, 'SET a = b', undefined, NOT_THERE],
    ['a copy of a missing member', { m: map({}) }, 'SET a = m.b', undefined, NOT_THERE],
    ['a copy of a missing element', { l: list() }, 'SET a = l[0]', undefined, NOT_THERE],
  ]);

  test('is all or nothing', async () => {
    await table.put({ a: n(1) });
    assert.deepEqual(await refusal(table.update('SET a = :v, b = nope', { ':v': n(2) })),
      NOT_THERE);
    assert.deepEqual(await table.attributes(), { a: n(1) });
  });
});

describe('arithmetic', () => {
  const nines = '9'.repeat(38);
  const largest = `${nines}${'0'.repeat(88)}`;
  becomes([
    ['sum', { a: n(1) }, 'SET a = a + :v', { ':v': n('2.5') }, { a: n('3.5') }],
    ['difference', { a: n(1) }, 'SET a = a - :v', { ':v': n('2.5') }, { a: n('-1.5') }],
    ['of values', {}, 'SET a = :v - :w', { ':v': n('0.3'), ':w': n('0.1') }, { a: n('0.2') }],
    ['of attributes', { a: n(1), b: n(2) }, 'SET c = a + b', undefined,
      { a: n(1), b: n(2), c: n(3) }],
    ['of nested values', { m: map({ l: list(n(4)) }) }, 'SET m.l[0] = m.l[0] + :v',
      { ':v': n(1) }, { m: map({ l: list(n(5)) }) }],
    ['to zero', { a: n('-5') }, 'SET a = a + :v', { ':v': n(5) }, { a: n(0) }],
    ['of 38 digits', { a: n(nines) }, 'SET a = a - :v', { ':v': n(1) },
      { a: n(`${'9'.repeat(37)}8`) }],
    ['a carry into the 39th digit is fine if the rest is zeros', { a: n(nines) },
      'SET a = a + :v', { ':v': n(1) }, { a: n(`1${'0'.repeat(38)}`) }],
    ['of a small and a large number within 38 digits', { a: n(1) }, 'SET a = a + :v',
      { ':v': n('1E-37') }, { a: n(`1.${'0'.repeat(36)}1`) }],
    ['up to the largest number', { a: n(`${'9'.repeat(37)}8E88`) }, 'SET a = a + :v',
      { ':v': n('1E88') }, { a: n(largest) }],
    ['down to the smallest number', { a: n('3E-130') }, 'SET a = a - :v', { ':v': n('2E-130') },
      { a: n(`0.${'0'.repeat(129)}1`) }],
  ]);

  const digits = validation('Number overflow. Attempting to store a number with magnitude larger '
    + 'than supported range');
  const overflow = validation('Number overflow. Attempting to store a number with magnitude '
    + 'larger than supported range');
  isRefused([
    ['39 digits', { a: n(nines) }, 'SET a = a + :v', { ':v': n(2) }, digits],
    ['39 digits apart', { a: n(1) }, 'SET a = a + :v', { ':v': n('1E-38') }, digits],
    ['far apart', { a: n(1) }, 'SET a = a + :v', { ':v': n('1E125') }, digits],
    ['39 digits by ADD', { a: n(nines) }, 'ADD a :v', { ':v': n(2) }, digits],
    ['overflow', { a: n(`9${'0'.repeat(125)}`) }, 'SET a = a + :v', { ':v': n('1E125') }, overflow],
    ['overflow by ADD', { a: n(`-9${'0'.repeat(125)}`) }, 'ADD a :v', { ':v': n('-1E125') },
      overflow],
    ['a string', { a: s('5') }, 'SET a = a + :v', { ':v': n(1) }, BAD_TYPE],
    ['a set', { a: { NS: ['5'] } }, 'SET a = a - :v', { ':v': n(1) }, BAD_TYPE],
    ['the right side a string', { a: n(1), b: s('x') }, 'SET a = a + b', undefined, BAD_TYPE],
    ['what is not there', { a: n(1) }, 'SET a = b + :v', { ':v': n(1) }, NOT_THERE],
  ]);

  for (const type of TYPES.filter((name) => name !== 'N')) {
    test(`a value of type ${type} is refused`, async () => {
      await table.put({ a: n(1) });
      for (const sign of ['+', '-']) {
        assert.deepEqual(
          await refusal(table.update(`SET a = a ${sign} :v`, { ':v': SAMPLES[type] })),
          invalid('Incorrect operand type for operator or function; operator or function: '
            + `${sign}, operand type: ${type}`));
      }
    });
  }
});

describe('if_not_exists', () => {
  becomes([
    ['there', { a: n(1) }, 'SET a = if_not_exists(a, :v)', { ':v': n(9) }, { a: n(1) }],
    ['not there', {}, 'SET a = if_not_exists(a, :v)', { ':v': n(9) }, { a: n(9) }],
    ['of another attribute', { b: n(1) }, 'SET a = if_not_exists(b, :v)', { ':v': n(9) },
      { a: n(1), b: n(1) }],
    ['a member', { m: map({}) }, 'SET m.a = if_not_exists(m.a, :v)', { ':v': n(9) },
      { m: map({ a: n(9) }) }],
    ['a path into nothing is not there', {}, 'SET a = if_not_exists(b.c[3], :v)', { ':v': n(9) },
      { a: n(9) }],
    ['another attribute instead', { b: n(2) }, 'SET a = if_not_exists(a, b)', undefined,
      { a: n(2), b: n(2) }],
    ['within itself', {}, 'SET a = if_not_exists(b, if_not_exists(c, :v))', { ':v': n(9) },
      { a: n(9) }],
    ['NULL is there', { a: { NULL: true } }, 'SET a = if_not_exists(a, :v)', { ':v': n(9) },
      { a: { NULL: true } }],
    ['a counter that starts itself', {}, 'SET a = if_not_exists(a, :z) + :v',
      { ':z': n(0), ':v': n(1) }, { a: n(1) }],
    ['on the right of a sum', { a: n(5) }, 'SET a = :v + if_not_exists(a, :z)',
      { ':z': n(0), ':v': n(1) }, { a: n(6) }],
    ['in list_append', {}, 'SET a = list_append(if_not_exists(a, :e), :v)',
      { ':e': list(), ':v': list(n(1)) }, { a: list(n(1)) }],
  ]);
  isRefused([
    ['neither is there', { a: n(1) }, 'SET a = if_not_exists(b, c)', undefined, NOT_THERE],
    ['of a wrong type for a sum', { a: s('x') }, 'SET a = if_not_exists(a, :v) + :v',
      { ':v': n(1) }, BAD_TYPE],
  ]);
});

describe('list_append', () => {
  const ab = list(s('a'), s('b'));
  becomes([
    ['at the end', { l: ab }, 'SET l = list_append(l, :v)', { ':v': list(s('c')) },
      { l: list(s('a'), s('b'), s('c')) }],
    ['at the front', { l: ab }, 'SET l = list_append(:v, l)', { ':v': list(s('c')) },
      { l: list(s('c'), s('a'), s('b')) }],
    ['to itself', { l: ab }, 'SET l = list_append(l, l)', undefined,
      { l: list(s('a'), s('b'), s('a'), s('b')) }],
    ['of values', {}, 'SET l = list_append(:v, :w)', { ':v': list(n(1)), ':w': list(n(2)) },
      { l: list(n(1), n(2)) }],
    ['nothing', { l: ab }, 'SET l = list_append(l, :v)', { ':v': list() }, { l: ab }],
    ['in a member', { m: map({ l: ab }) }, 'SET m.l = list_append(m.l, :v)',
      { ':v': list(n(1)) }, { m: map({ l: list(s('a'), s('b'), n(1)) }) }],
  ]);
  isRefused([
    ['a string', { l: s('x') }, 'SET l = list_append(l, :v)', { ':v': list() }, BAD_TYPE],
    ['a set', { l: { SS: ['x'] } }, 'SET l = list_append(:v, l)', { ':v': list() }, BAD_TYPE],
    ['what is not there', { a: n(1) }, 'SET l = list_append(l, :v)', { ':v': list() }, NOT_THERE],
  ]);
  for (const type of TYPES.filter((name) => name !== 'L')) {
    test(`a value of type ${type} is refused`, async () => {
      assert.deepEqual(
        await refusal(table.update('SET l = list_append(l, :v)', { ':v': SAMPLES[type] })),
        invalid('Incorrect operand type for operator or function; operator or function: '
          + `list_append, operand type: ${type}`));
    });
  }
});

describe('REMOVE', () => {
  const l = list(n(0), n(1), n(2), n(3));
  becomes([
    ['an attribute', { a: n(1), b: n(2) }, 'REMOVE a', undefined, { b: n(2) }],
    ['several', { a: n(1), b: n(2), c: n(3) }, 'REMOVE a, c', undefined, { b: n(2) }],
    ['what is not there', { a: n(1) }, 'REMOVE b', undefined, { a: n(1) }],
    ['a member', { m: map({ a: n(1), b: n(2) }) }, 'REMOVE m.a', undefined,
      { m: map({ b: n(2) }) }],
    ['the last member', { m: map({ a: n(1) }) }, 'REMOVE m.a', undefined, { m: map({}) }],
    ['a member that is not there', { m: map({}) }, 'REMOVE m.a', undefined, { m: map({}) }],
    ['an element', { l }, 'REMOVE l[1]', undefined, { l: list(n(0), n(2), n(3)) }],
    ['several elements, by the indexes from before', { l }, 'REMOVE l[0], l[2]', undefined,
      { l: list(n(1), n(3)) }],
    ['in another order', { l }, 'REMOVE l[2], l[0]', undefined, { l: list(n(1), n(3)) }],
    ['an element past the end', { l }, 'REMOVE l[4]', undefined, { l }],
    ['the last element', { l: list(n(1)) }, 'REMOVE l[0]', undefined, { l: list() }],
    ['a member of an element', { l: list(map({ a: n(1), b: n(2) })) }, 'REMOVE l[0].a',
      undefined, { l: list(map({ b: n(2) })) }],
    ['beside SET in one list', { l }, 'REMOVE l[0] SET l[1] = :v', { ':v': s('x') },
      { l: list(s('x'), n(2), n(3)) }],
  ]);
  isRefused([
    ['a member of what is not there', { a: n(1) }, 'REMOVE b.c', undefined, BAD_PATH],
    ['an element of what is not there', { a: n(1) }, 'REMOVE b[0]', undefined, BAD_PATH],
    ['a member of a missing member', { m: map({}) }, 'REMOVE m.b.c', undefined, BAD_PATH],
    ['a member of a number', { a: n(1) }, 'REMOVE a.b', undefined, BAD_PATH],
    ['an element of a map', { m: map({}) }, 'REMOVE m[0]', undefined, BAD_PATH],
    ['a member of a list', { l }, 'REMOVE l.a', undefined, BAD_PATH],
  ]);
});

describe('ADD', () => {
  becomes([
    ['to a number', { a: n(1) }, 'ADD a :v', { ':v': n('2.5') }, { a: n('3.5') }],
    ['a negative number', { a: n(1) }, 'ADD a :v', { ':v': n(-2) }, { a: n(-1) }],
    ['a number to nothing', {}, 'ADD a :v', { ':v': n(3) }, { a: n(3) }],
    ['to a string set', { a: { SS: ['b'] } }, 'ADD a :v', { ':v': { SS: ['c', 'a', 'b'] } },
      { a: { SS: ['a', 'b', 'c'] } }],
    ['to a number set', { a: { NS: ['2'] } }, 'ADD a :v', { ':v': { NS: ['2.0', '10', '1'] } },
      { a: { NS: ['1', '2', '10'] } }],
    ['to a binary set', { a: { BS: [bytes(2)] } }, 'ADD a :v', { ':v': { BS: [bytes(1)] } },
      { a: { BS: [bytes(1), bytes(2)] } }],
    ['a set to nothing', {}, 'ADD a :v', { ':v': { SS: ['b', 'a'] } }, { a: { SS: ['a', 'b'] } }],
    ['to a member', { m: map({ a: n(1) }) }, 'ADD m.a :v', { ':v': n(1) },
      { m: map({ a: n(2) }) }],
    ['to a missing member', { m: map({}) }, 'ADD m.a :v', { ':v': n(1) }, { m: map({ a: n(1) }) }],
    ['to an element', { l: list(n(1)) }, 'ADD l[0] :v', { ':v': n(1) }, { l: list(n(2)) }],
    ['several', { a: n(1) }, 'ADD a :v, b :v', { ':v': n(1) }, { a: n(2), b: n(1) }],
  ]);
  isRefused([
    ['a number to a string', { a: s('x') }, 'ADD a :v', { ':v': n(1) }, BAD_TYPE],
    ['a number to a set', { a: { NS: ['1'] } }, 'ADD a :v', { ':v': n(1) }, BAD_TYPE],
    ['a set to a number', { a: n(1) }, 'ADD a :v', { ':v': { NS: ['1'] } }, BAD_TYPE],
    ['a set to one of another type', { a: { SS: ['1'] } }, 'ADD a :v', { ':v': { NS: ['1'] } },
      BAD_TYPE],
    ['a number to a list', { a: list(n(1)) }, 'ADD a :v', { ':v': n(1) }, BAD_TYPE],
    ['into what is not there', { a: n(1) }, 'ADD b.c :v', { ':v': n(1) }, BAD_PATH],
  ]);
});

describe('DELETE', () => {
  const abc = { SS: ['a', 'b', 'c'] };
  becomes([
    ['from a string set', { a: abc }, 'DELETE a :v', { ':v': { SS: ['b', 'x'] } },
      { a: { SS: ['a', 'c'] } }],
    ['from a number set', { a: { NS: ['1', '2'] } }, 'DELETE a :v', { ':v': { NS: ['1.0'] } },
      { a: { NS: ['2'] } }],
    ['from a binary set', { a: { BS: [bytes(1), bytes(2)] } }, 'DELETE a :v',
      { ':v': { BS: [bytes(1)] } }, { a: { BS: [bytes(2)] } }],
    ['nothing of it', { a: abc }, 'DELETE a :v', { ':v': { SS: ['x'] } }, { a: abc }],
    ['all of it, and the attribute goes', { a: abc, b: n(1) }, 'DELETE a :v', { ':v': abc },
      { b: n(1) }],
    ['from what is not there', { b: n(1) }, 'DELETE a :v', { ':v': abc }, { b: n(1) }],
    ['from a member', { m: map({ a: abc }) }, 'DELETE m.a :v', { ':v': { SS: ['a', 'b'] } },
      { m: map({ a: { SS: ['c'] } }) }],
    ['all of a member', { m: map({ a: abc }) }, 'DELETE m.a :v', { ':v': abc }, { m: map({}) }],
    ['from a missing member', { m: map({}) }, 'DELETE m.a :v', { ':v': abc }, { m: map({}) }],
  ]);
  isRefused([
    ['from a string', { a: s('a') }, 'DELETE a :v', { ':v': abc }, BAD_TYPE],
    ['from a set of another type', { a: { NS: ['1'] } }, 'DELETE a :v', { ':v': abc }, BAD_TYPE],
    ['from a list', { a: list(s('a')) }, 'DELETE a :v', { ':v': abc }, BAD_TYPE],
    ['from a member of what is not there', { a: n(1) }, 'DELETE b.c :v', { ':v': abc }, BAD_PATH],
  ]);
});

describe('sections', () => {
  becomes([
    ['all four, in any order', { a: n(1), b: n(1), c: n(1), d: { SS: ['x', 'y'] } },
      'DELETE d :x ADD c :n REMOVE b SET a = :n', { ':x': { SS: ['x'] }, ':n': n(5) },
      { a: n(5), c: n(6), d: { SS: ['y'] } }],
    ['all read the item from before', { a: n(1), b: n(10) }, 'ADD a :n SET b = a', { ':n': n(5) },
      { a: n(6), b: n(1) }],
  ]);
  for (const [section, clause] of [
    ['SET', 'a = :v'], ['REMOVE', 'a'], ['ADD', 'a :v'], ['DELETE', 'a :v'],
  ]) {
    test(`${section} comes once`, async () => {
      const values = section === 'REMOVE' ? undefined
        : { ':v': section === 'DELETE' ? { SS: ['x'] } : n(1) };
      const other = clause.replace('a', 'b');
      assert.deepEqual(
        await refusal(table.update(`${section} ${clause} ${section} ${other}`, values)),
        invalid(`The "${section}" section can only be used once in an update expression;`));
    });
  }
});

describe('a new item', () => {
  const one = { ':v': n(1) };
  becomes([
    ['is made by SET', undefined, 'SET a = :v', one, { a: n(1) }],
    ['is made by ADD', undefined, 'ADD a :v', one, { a: n(1) }],
    ['is not made by REMOVE', undefined, 'REMOVE a', undefined, undefined],
    ['is not made by DELETE', undefined, 'DELETE a :v', { ':v': { SS: ['x'] } }, undefined],
    ['is made by no expression at all', undefined, undefined, undefined, {}],
    ['may copy its key', undefined, 'SET a = pk', undefined, { a: KEY.pk }],
  ]);

  test('is not made by an expression that fails', async () => {
    await table.remove();
    assert.deepEqual(await refusal(table.update('SET a = a + :v', one)), NOT_THERE);
    assert.deepEqual(await refusal(table.update('SET a.b = :v', one)), BAD_PATH);
    assert.equal(await table.attributes(), undefined);
  });

  test('is not made if a condition wants the item to exist', async () => {
    await table.remove();
    assert.deepEqual(
      await refusal(table.update('SET a = :v', one,
        { ConditionExpression: 'attribute_exists(pk)' })),
      CONDITION_FAILED);
    assert.equal(await table.attributes(), undefined);
  });
});

describe('ReturnValues', () => {
  const item = {
    a: n(1), b: n(1), l: list(n(0), n(1), n(2)), m: map({ x: n(1), y: map({ z: n(1), w: n(1) }) }),
    set: { SS: ['x'] },
  };
  const whole = { ...KEY, ...item };
  const nine = { ':v': n(9) };
  // The expression, its values, UPDATED_OLD, UPDATED_NEW, what ALL_NEW changes.
  const cases = [
    ['SET a = :v', nine, { a: n(1) }, { a: n(9) }, { a: n(9) }],
    ['SET c = :v', nine, undefined, { c: n(9) }, { c: n(9) }],
    ['SET a = :v, c = :v', nine, { a: n(1) }, { a: n(9), c: n(9) }, { a: n(9), c: n(9) }],
    ['SET a = a', undefined, { a: n(1) }, { a: n(1) }, {}],
    ['ADD a :v', nine, { a: n(1) }, { a: n(10) }, { a: n(10) }],
    ['REMOVE a', undefined, { a: n(1) }, undefined, { a: undefined }],
    ['REMOVE nope', undefined, undefined, undefined, {}],
    ['REMOVE a SET b = :v', nine, { a: n(1), b: n(1) }, { b: n(9) }, { a: undefined, b: n(9) }],
    ['DELETE #set :d', { ':d': { SS: ['x'] } }, { set: { SS: ['x'] } }, undefined,
      { set: undefined }],
    ['DELETE #set :d', { ':d': { SS: ['y'] } }, { set: { SS: ['x'] } }, { set: { SS: ['x'] } },
      {}],
    // Of a map, just what was touched.
    ['SET m.x = :v', nine, { m: map({ x: n(1) }) }, { m: map({ x: n(9) }) },
      { m: map({ ...item.m.M, x: n(9) }) }],
    ['SET m.y.z = :v', nine, { m: map({ y: map({ z: n(1) }) }) },
      { m: map({ y: map({ z: n(9) }) }) },
      { m: map({ x: n(1), y: map({ z: n(9), w: n(1) }) }) }],
    ['SET m.x = :v, m.y.w = :v', nine, { m: map({ x: n(1), y: map({ w: n(1) }) }) },
      { m: map({ x: n(9), y: map({ w: n(9) }) }) },
      { m: map({ x: n(9), y: map({ z: n(1), w: n(9) }) }) }],
    ['REMOVE m.x', undefined, { m: map({ x: n(1) }) }, undefined,
      { m: map({ y: item.m.M.y }) }],
    // Of a list, just the elements at the expression's indexes, before and after.
    ['SET l[1] = :v', nine, { l: list(n(1)) }, { l: list(n(9)) },
      { l: list(n(0), n(9), n(2)) }],
    ['SET l[2] = :v, l[0] = :v', nine, { l: list(n(0), n(2)) }, { l: list(n(9), n(9)) },
      { l: list(n(9), n(1), n(9)) }],
    ['SET l[3] = :v', nine, undefined, { l: list(n(9)) }, { l: list(...item.l.L, n(9)) }],
    ['SET l[7] = :v', nine, undefined, undefined, { l: list(...item.l.L, n(9)) }],
    ['REMOVE l[2]', undefined, { l: list(n(2)) }, undefined, { l: list(n(0), n(1)) }],
    ['REMOVE l[0]', undefined, { l: list(n(0)) }, { l: list(n(1)) }, { l: list(n(1), n(2)) }],
    ['SET m.y.z = :v, l[0] = :v', nine, { m: map({ y: map({ z: n(1) }) }), l: list(n(0)) },
      { m: map({ y: map({ z: n(9) }) }), l: list(n(9)) },
      { m: map({ x: n(1), y: map({ z: n(9), w: n(1) }) }), l: list(n(9), n(1), n(2)) }],
  ];
  for (const [expression, values, old, fresh, changes] of cases) {
    test(`of ${expression} ${values ? JSON.stringify(values) : ''}`, async () => {
      const names = expression.includes('#set') ? { '#set': 'set' } : undefined;
      const answer = async (ReturnValues) => {
        await table.put(item);
        return (await table.update(expression, undefined,
          { ReturnValues, ...parameters(values, names) })).Attributes;
      };
      assert.equal(await answer(undefined), undefined);
      assert.equal(await answer('NONE'), undefined);
      assert.deepEqual(await answer('ALL_OLD'), whole);
      assert.deepEqual(await answer('UPDATED_OLD'), old);
      assert.deepEqual(await answer('UPDATED_NEW'), fresh);
      const expected = { ...whole, ...changes };
      for (const name of Object.keys(expected)) {
        if (expected[name] === undefined) delete expected[name];
      }
      assert.deepEqual(await answer('ALL_NEW'), expected);
    });
  }

  test('of an item that was not there', async () => {
    for (const [wanted, expected] of [
      ['NONE', undefined], ['ALL_OLD', undefined], ['UPDATED_OLD', undefined],
      ['ALL_NEW', { ...KEY, a: n(9) }], ['UPDATED_NEW', { a: n(9) }],
    ]) {
      assert.deepEqual(await returned(undefined, wanted, 'SET a = :v', nine), expected, wanted);
    }
    assert.deepEqual(await returned(undefined, 'ALL_NEW', undefined), KEY);
    assert.equal(await returned(undefined, 'UPDATED_NEW', 'REMOVE a'), undefined);
  });

  test('are absent from the answer, not empty, if there are none', async () => {
    await table.put(item);
    const { json } = await call(table.server, 'UpdateItem', {
      TableName: table.name, Key: KEY, UpdateExpression: 'REMOVE a', ReturnValues: 'UPDATED_NEW',
    });
    assert.deepEqual(json, {});
  });

  test('of bad enumerations the first is reported', async () => {
    const must = 'failed to satisfy constraint: Member must satisfy enum value set:';
    const answer = (parameters) => refusal(table.update('REMOVE a', undefined, parameters));
    const rest = { ReturnConsumedCapacity: 'Y', ReturnItemCollectionMetrics: 'Z' };
    assert.deepEqual(await answer({ ReturnValues: 'X', ...rest }), validation(
      '1 validation error detected: Failed to satisfy constraint: Member must satisfy enum value '
      + 'set: [ALL_OLD, UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE]'));
    assert.deepEqual(await answer(rest), validation(
      `1 validation error detected: Value 'Y' at 'returnConsumedCapacity' ${must} `
      + '[INDEXES, TOTAL, NONE]'));
  });
});

describe('capacity and metrics', () => {
  const total = { ReturnConsumedCapacity: 'TOTAL' };
  const units = async (...update) => (await table.update(...update)).ConsumedCapacity.CapacityUnits;
  // 6 for the key, 1 for the name.
  const ofSize = (size) => s('x'.repeat(size - 7));

  test('the larger of the item before and after is charged', async () => {
    await table.remove();
    assert.equal(await units('SET f = :v', { ':v': ofSize(1024) }, total), 1);
    assert.equal(await units('SET f = :v', { ':v': ofSize(1025) }, total), 2);
    assert.equal(await units('SET f = :v', { ':v': ofSize(3000) }, total), 3);
    assert.equal(await units('REMOVE f', undefined, total), 3);
    assert.equal(await units('REMOVE f', undefined, total), 1);
  });

  test('TOTAL names the table, INDEXES adds its share, NONE tells nothing', async () => {
    const answer = async (ReturnConsumedCapacity) => (
      await table.update('REMOVE a', undefined, { ReturnConsumedCapacity })).ConsumedCapacity;
    assert.deepEqual(await answer('TOTAL'), { TableName: table.name, CapacityUnits: 1 });
    assert.deepEqual(await answer('INDEXES'),
      { TableName: table.name, CapacityUnits: 1, Table: { CapacityUnits: 1 } });
    assert.equal(await answer('NONE'), undefined);
  });

  test('a table without local indexes has no item collections', async () => {
    const answer = await table.update('REMOVE a', undefined,
      { ReturnItemCollectionMetrics: 'SIZE' });
    assert.equal(answer.ItemCollectionMetrics, undefined);
  });
});

describe('the key', () => {
  const schema = validation('The provided key element does not match the schema');
  const withKey = (Key) => refusal(table.update('REMOVE a', undefined, { Key }));
  test('must be the whole key and nothing else', async () => {
    assert.deepEqual(await withKey({}), schema);
    assert.deepEqual(await withKey({ pk: n(1) }), schema);
    assert.deepEqual(await withKey({ pk: s('a'), b: s('b') }), schema);
    assert.deepEqual(await withKey({ pk: s('') }), validation('One or more parameter values are '
      + 'not valid. The AttributeValue for a key attribute cannot contain an empty string value. '
      + 'Key: pk'));
  });

  test('a table that is not there', async () => {
    assert.deepEqual(await refusal(table.update('REMOVE a', undefined, { TableName: 'nope' })),
      { name: 'ResourceNotFoundException', message: 'Requested resource not found' });
  });
});
