// The older parameters: Expected with ConditionalOperator, AttributeUpdates, AttributesToGet, and
// that none of them goes together with expressions.
'use strict';
const assert = require('node:assert/strict');
const { before, beforeEach, describe, test } = require('node:test');
const { refusal, validation } = require('./lib/client.js');
const {
  CONDITION_FAILED, KEY, SAMPLES, TYPES, bytes, enveloped, parameters, useItemTable,
} = require('./lib/item_table.js');

const table = useItemTable('legacy');
const n = (number) => ({ N: String(number) });
const s = (text) => ({ S: text });
const b = (...values) => ({ B: bytes(...values) });
const invalid = (message) => validation(`One or more parameter values were invalid: ${message}`);
const envelopedInvalid = (message) => validation(
  enveloped(`One or more parameter values were invalid: ${message}`));
const ITEM = Object.fromEntries(TYPES.map((type) => [`v_${type}`, SAMPLES[type]]));

const holds = (Expected, ConditionalOperator) => table.holds(
  ITEM, { Expected, ConditionalOperator });
const compare = (name, ComparisonOperator, ...AttributeValueList) => ({
  [name]: { ComparisonOperator, AttributeValueList },
});
const expectedRefused = (Expected, ConditionalOperator) => refusal(
  table.put(ITEM, { Expected, ConditionalOperator }));

describe('Expected with Exists and Value', () => {
  before(() => table.put(ITEM));

  test('Value alone, or with Exists true, wants that value', async () => {
    for (const type of TYPES) {
      const name = `v_${type}`;
      assert.equal(await holds({ [name]: { Value: SAMPLES[type] } }), true, type);
      assert.equal(await holds({ [name]: { Value: SAMPLES[type], Exists: true } }), true, type);
      assert.equal(await holds({ [name]: { Value: s('other') } }), false, type);
      assert.equal(await holds({ nope: { Value: SAMPLES[type] } }), false, type);
    }
  });

  test('Exists false wants the attribute not to be there', async () => {
    assert.equal(await holds({ nope: { Exists: false } }), true);
    assert.equal(await holds({ v_S: { Exists: false } }), false);
    assert.equal(await holds({ pk: { Exists: false } }), false);
  });

  test('a name is one attribute, dots included', async () => {
    assert.equal(await holds({ 'v_M.a': { Exists: false } }), true);
    assert.equal(await holds({ 'v_L[0]': { Exists: false } }), true);
  });

  test('an empty map wants nothing', async () => {
    assert.equal(await holds({}), true);
  });
});

describe('Expected with ComparisonOperator', () => {
  before(() => table.put(ITEM));

  test('EQ and NE know each type', async () => {
    for (const type of TYPES) {
      for (const other of TYPES) {
        const same = type === other;
        assert.equal(await holds(compare(`v_${type}`, 'EQ', SAMPLES[other])), same,
          `${type} EQ ${other}`);
        assert.equal(await holds(compare(`v_${type}`, 'NE', SAMPLES[other])), !same,
          `${type} NE ${other}`);
      }
    }
    assert.equal(await holds(compare('nope', 'EQ', n(1))), false);
    assert.equal(await holds(compare('nope', 'NE', n(1))), true);
  });

  const cases = [
    ['v_N', 'EQ', [n('5.0')], true], ['v_SS', 'EQ', [{ SS: ['b', 'a'] }], true],
    ['v_N', 'LT', [n(6)], true], ['v_N', 'LT', [n(5)], false], ['v_N', 'LE', [n(5)], true],
    ['v_N', 'LE', [n(4)], false], ['v_N', 'GT', [n(4)], true], ['v_N', 'GT', [n(5)], false],
    ['v_N', 'GE', [n(5)], true], ['v_N', 'GE', [n(6)], false], ['v_N', 'LT', [s('9')], false],
    ['v_S', 'LT', [s('abd')], true], ['v_S', 'GE', [s('ab')], true],
    ['v_B', 'GT', [b(1, 2)], true], ['v_B', 'LE', [b(1, 2)], false],
    ['v_L', 'LT', [n(9)], false], ['nope', 'LT', [n(9)], false], ['nope', 'GE', [n(0)], false],
    ['v_N', 'BETWEEN', [n(5), n(6)], true], ['v_N', 'BETWEEN', [n(4), n(5)], true],
    ['v_N', 'BETWEEN', [n(6), n(7)], false], ['v_S', 'BETWEEN', [s('a'), s('b')], true],
    ['v_B', 'BETWEEN', [b(1), b(2)], true], ['v_S', 'BETWEEN', [n(1), n(9)], false],
    ['nope', 'BETWEEN', [n(1), n(9)], false],
    ['v_N', 'IN', [n(1), n(5)], true], ['v_N', 'IN', [n(1)], false], ['v_S', 'IN', [n(5)], false],
    ['v_S', 'IN', [s('x'), s('abc')], true], ['nope', 'IN', [n(1)], false],
    ['v_S', 'BEGINS_WITH', [s('ab')], true], ['v_S', 'BEGINS_WITH', [s('b')], false],
    ['v_B', 'BEGINS_WITH', [b(1, 2)], true], ['v_N', 'BEGINS_WITH', [s('5')], false],
    ['nope', 'BEGINS_WITH', [s('')], false],
    ['v_S', 'CONTAINS', [s('bc')], true], ['v_S', 'CONTAINS', [s('x')], false],
    ['v_B', 'CONTAINS', [b(2, 3)], true], ['v_SS', 'CONTAINS', [s('a')], true],
    ['v_NS', 'CONTAINS', [n('2.0')], true], ['v_BS', 'CONTAINS', [b(2)], true],
    ['v_SS', 'CONTAINS', [n(1)], false], ['v_L', 'CONTAINS', [s('abc')], true],
    ['v_L', 'CONTAINS', [s('ab')], false], ['v_N', 'CONTAINS', [n(5)], false],
    ['nope', 'CONTAINS', [s('')], false],
    ['v_S', 'NOT_CONTAINS', [s('bc')], false], ['v_S', 'NOT_CONTAINS', [s('x')], true],
    ['v_SS', 'NOT_CONTAINS', [s('a')], false], ['v_SS', 'NOT_CONTAINS', [s('c')], true],
    ['v_NS', 'NOT_CONTAINS', [n(2)], false], ['v_L', 'NOT_CONTAINS', [n(5)], false],
    ['v_L', 'NOT_CONTAINS', [n(6)], true],
    // Unlike NOT contains(...) of an expression.
    ['nope', 'NOT_CONTAINS', [s('x')], false],
    ['nope', 'NULL', [], true], ['v_S', 'NULL', [], false], ['v_NULL', 'NULL', [], false],
    ['nope', 'NOT_NULL', [], false], ['v_S', 'NOT_NULL', [], true],
    ['v_NULL', 'NOT_NULL', [], true],
  ];
  for (const [name, operator, values, held] of cases) {
    test(`${name} ${operator} ${JSON.stringify(values)} is ${held}`, async () => {
      assert.equal(await holds(compare(name, operator, ...values)), held);
    });
  }

  test('NULL and NOT_NULL need no list, others take Value instead', async () => {
    assert.equal(await holds({ nope: { ComparisonOperator: 'NULL' } }), true);
    assert.equal(await holds({ v_S: { ComparisonOperator: 'NOT_NULL' } }), true);
    assert.equal(await holds({ v_N: { ComparisonOperator: 'GT', Value: n(4) } }), true);
    assert.equal(await holds({ v_N: { ComparisonOperator: 'GT', Value: n(5) } }), false);
  });
});

describe('ConditionalOperator', () => {
  before(() => table.put(ITEM));
  const yes = { Value: SAMPLES.S };
  const no = { Value: n(0) };

  test('AND, as if it were absent, wants all; OR wants one', async () => {
    for (const operator of [undefined, 'AND']) {
      assert.equal(await holds({ v_S: yes, v_N: { Value: n(5) } }, operator), true);
      assert.equal(await holds({ v_S: yes, v_N: no }, operator), false);
    }
    assert.equal(await holds({ v_S: yes, v_N: no }, 'OR'), true);
    assert.equal(await holds({ v_S: no, v_N: no }, 'OR'), false);
    assert.equal(await holds({ v_S: no, v_N: no, v_B: { Value: SAMPLES.B } }, 'OR'), true);
  });

  test('needs two conditions at least', async () => {
    const without = validation(enveloped('ConditionalOperator cannot be used without Filter or Expected'));
    assert.deepEqual(await expectedRefused(undefined, 'AND'), without);
    assert.deepEqual(await expectedRefused({}, 'OR'), without);
    assert.deepEqual(await expectedRefused({ v_S: yes }, 'OR'), validation(
      enveloped('ConditionalOperator can only be used when Filter or Expected has two or more '
        + 'elements')));
  });

  test('is judged behind the conditions', async () => {
    assert.deepEqual(await expectedRefused({ v_S: { ComparisonOperator: 'EQ' } }, 'OR'), envelopedInvalid(
      'Value or AttributeValueList must be used with ComparisonOperator: EQ for Attribute: v_S'));
  });

  test('is AND or OR', async () => {
    assert.deepEqual(await expectedRefused({ v_S: yes, v_N: no }, 'XOR'), validation(
      "1 validation error detected: Value 'XOR' at 'conditionalOperator' failed to satisfy "
      + 'constraint: Member must satisfy enum value set: [OR, AND]'));
  });
});

describe('Expected is refused', () => {
  before(() => table.put(ITEM));
  const forS = (condition) => ({ s: condition });
  const EQ = { ComparisonOperator: 'EQ' };
  const arguments_ = (operator) => `Invalid number of argument(s) for the ${operator} `
    + 'ComparisonOperator';
  const cases = [
    ['an empty condition', {}, 'Value must be provided when Exists is null for Attribute: s'],
    ['Exists true without a value', { Exists: true },
      'Value must be provided when Exists is true for Attribute: s'],
    ['Exists false with a value', { Exists: false, Value: s('x') },
      'Value cannot be used when Exists is false for Attribute: s'],
    ['Exists with an operator', { ...EQ, AttributeValueList: [s('x')], Exists: true },
      'Exists and ComparisonOperator cannot be used together for Attribute: s'],
    ['Exists false with an operator', { ComparisonOperator: 'NULL', Exists: false },
      'Exists and ComparisonOperator cannot be used together for Attribute: s'],
    ['a list without an operator', { AttributeValueList: [s('x')] },
      'AttributeValueList can only be used with a ComparisonOperator for Attribute: s'],
    ['a list and a value', { ...EQ, AttributeValueList: [s('x')], Value: s('x') },
      'Value and AttributeValueList cannot be used together for Attribute: s'],
    ['an operator alone', EQ, 'Value or AttributeValueList must be used with '
      + 'ComparisonOperator: EQ for Attribute: s'],
    ['bounds of two types', { ComparisonOperator: 'BETWEEN', AttributeValueList: [n(1), s('1')] },
      'AttributeValues inside AttributeValueList must be of same type'],
    ['IN with two types', { ComparisonOperator: 'IN', AttributeValueList: [n(1), s('1')] },
      'AttributeValues inside AttributeValueList must be of same type'],
    ['NULL with a value', { ComparisonOperator: 'NULL', Value: s('x') }, arguments_('NULL')],
    ['NOT_NULL with a list', { ComparisonOperator: 'NOT_NULL', AttributeValueList: [s('x')] },
      arguments_('NOT_NULL')],
    ['BETWEEN with one bound', { ComparisonOperator: 'BETWEEN', AttributeValueList: [n(1)] },
      arguments_('BETWEEN')],
    ['BETWEEN with three bounds',
      { ComparisonOperator: 'BETWEEN', AttributeValueList: [n(1), n(2), n(3)] },
      arguments_('BETWEEN')],
    ['IN with none', { ComparisonOperator: 'IN', AttributeValueList: [] }, arguments_('IN')],
    ...['EQ', 'NE', 'LT', 'LE', 'GT', 'GE', 'BEGINS_WITH', 'CONTAINS', 'NOT_CONTAINS'].flatMap(
      (operator) => [[], [s('x'), s('y')]].map((values) => [
        `${operator} with ${values.length} values`,
        { ComparisonOperator: operator, AttributeValueList: values }, arguments_(operator)])),
  ];
  for (const [name, condition, message] of cases) {
    test(name, async () => {
      assert.deepEqual(await expectedRefused(forS(condition)), envelopedInvalid(message));
    });
  }

  const unordered = ['BOOL', 'NULL', 'SS', 'NS', 'BS', 'L', 'M'];
  const notFor = {
    LT: unordered, LE: unordered, GT: unordered, GE: unordered, BETWEEN: unordered, IN: unordered,
    BEGINS_WITH: TYPES.filter((type) => type !== 'S' && type !== 'B'),
    CONTAINS: ['SS', 'NS', 'BS', 'L', 'M'],
    NOT_CONTAINS: ['SS', 'NS', 'BS', 'L', 'M'],
  };
  for (const [operator, types] of Object.entries(notFor)) {
    test(`${operator} with a value of type ${types.join(', ')}`, async () => {
      for (const type of types) {
        const values = Array(operator === 'BETWEEN' ? 2 : 1).fill(SAMPLES[type]);
        assert.deepEqual(await expectedRefused(compare('s', operator, ...values)), envelopedInvalid(
          `ComparisonOperator ${operator} is not valid for ${type} AttributeValue type`));
      }
    });
  }

  test('BETWEEN with bounds the wrong way round', async () => {
    assert.deepEqual(await expectedRefused(compare('s', 'BETWEEN', n(2), n(1))), validation(
      enveloped('The BETWEEN condition was provided a range where the lower bound is greater than '
        + 'the upper bound')));
  });

  test('an operator that there is not', async () => {
    assert.deepEqual(await expectedRefused(compare('s', 'LIKE', s('x'))), validation(
      "1 validation error detected: Value 'LIKE' at 'expected.s.member.comparisonOperator' failed "
      + 'to satisfy constraint: Member must satisfy enum value set: [IN, NULL, BETWEEN, LT, '
      + 'NOT_CONTAINS, EQ, GT, NOT_NULL, NE, LE, BEGINS_WITH, GE, CONTAINS]'));
  });
});

describe('a condition of Expected that does not hold', () => {
  const writes = {
    PutItem: (options) => table.put({ w: n(2) }, options),
    UpdateItem: (options) => table.update(undefined, undefined,
      { AttributeUpdates: { w: { Value: n(2) } }, ...options }),
    DeleteItem: (options) => table.remove(options),
  };
  for (const [name, write] of Object.entries(writes)) {
    test(`leaves the item as it was: ${name}`, async () => {
      await table.put({ v: n(1) });
      const Expected = { v: { Value: n(2) } };
      assert.deepEqual(await refusal(write({ Expected })), CONDITION_FAILED);
      assert.deepEqual(await table.attributes(), { v: n(1) });
      await write({ Expected: { v: { Value: n(1) } } });
      assert.notDeepEqual(await table.attributes(), { v: n(1) });
    });

    test(`returns the item with the error if asked to: ${name}`, async () => {
      await table.put({ v: n(1) });
      const error = await write({
        Expected: { v: { Exists: false } }, ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }).catch((caught) => caught);
      assert.equal(error.name, CONDITION_FAILED.name);
      assert.deepEqual(error.Item, { ...KEY, v: n(1) });
    });
  }

  test('Exists false of the key creates an item once', async () => {
    await table.remove();
    const Expected = { pk: { Exists: false } };
    await table.put({ v: n(1) }, { Expected });
    assert.deepEqual(await refusal(table.put({ v: n(2) }, { Expected })), CONDITION_FAILED);
  });
});

describe('AttributeUpdates', () => {
  const abc = { SS: ['a', 'b', 'c'] };
  const update = (AttributeUpdates, options) => table.update(undefined, undefined,
    { AttributeUpdates, ...options });
  const put = (Value) => ({ Action: 'PUT', Value });
  const add = (Value) => ({ Action: 'ADD', Value });
  const del = (Value) => ({ Action: 'DELETE', Value });
  // Each case: name, item before (undefined: none), updates, item after.
  const cases = [
    ['PUT is the default', { v: n(1) }, { v: { Value: n(2) } }, { v: n(2) }],
    ['PUT over another type', { v: n(1) }, { v: put(abc) }, { v: abc }],
    ['PUT of a new attribute', { v: n(1) }, { w: put(s('')) }, { v: n(1), w: s('') }],
    ['PUT into no item', undefined, { v: put(n(1)) }, { v: n(1) }],
    ['a name is one attribute', { m: { M: { a: n(1) } } }, { 'm.a': put(n(2)) },
      { m: { M: { a: n(1) } }, 'm.a': n(2) }],
    ['a reserved word', {}, { status: put(n(1)) }, { status: n(1) }],
    ['ADD to a number', { v: n(1) }, { v: add(n('-2.5')) }, { v: n('-1.5') }],
    ['ADD to nothing', {}, { v: add(n(3)) }, { v: n(3) }],
    ['ADD into no item', undefined, { v: add(n(3)) }, { v: n(3) }],
    ['ADD to a set', { v: abc }, { v: add({ SS: ['d', 'a'] }) },
      { v: { SS: ['a', 'b', 'c', 'd'] } }],
    ['ADD of a set to nothing', {}, { v: add(abc) }, { v: abc }],
    ['ADD to a list appends', { v: { L: [n(1)] } }, { v: add({ L: [n(2), n(1)] }) },
      { v: { L: [n(1), n(2), n(1)] } }],
    ['ADD of a list to nothing', {}, { v: add({ L: [n(2)] }) }, { v: { L: [n(2)] } }],
    ['DELETE', { v: n(1), w: n(2) }, { v: { Action: 'DELETE' } }, { w: n(2) }],
    ['DELETE of what is not there', { v: n(1) }, { w: { Action: 'DELETE' } }, { v: n(1) }],
    ['DELETE with a value takes from a set', { v: abc }, { v: del({ SS: ['a', 'x'] }) },
      { v: { SS: ['b', 'c'] } }],
    ['DELETE of a whole set', { v: abc, w: n(1) }, { v: del(abc) }, { w: n(1) }],
    ['DELETE with a value of what is not there', { w: n(1) }, { v: del(abc) }, { w: n(1) }],
    ['DELETE into no item makes none', undefined, { v: { Action: 'DELETE' } }, undefined],
    ['none at all makes an item', undefined, {}, {}],
    ['all at once', { a: n(1), d: n(1), s: abc }, {
      a: add(n(1)), d: { Action: 'DELETE' }, p: put(n(9)), s: del({ SS: ['a'] }),
    }, { a: n(2), p: n(9), s: { SS: ['b', 'c'] } }],
  ];
  for (const [name, item, updates, after] of cases) {
    test(name, async () => {
      if (item) await table.put(item);
      else await table.remove();
      await update(updates);
      assert.deepEqual(await table.attributes(), after);
    });
  }

  const mismatch = validation('Type mismatch for attribute to update');
  const onlyDelete = invalid('Only DELETE action is allowed when no attribute value is specified');
  const partOfKey = invalid('Cannot update attribute pk. This attribute is part of the key');
  const refusals = [
    ['PUT without a value', { v: { Action: 'PUT' } }, onlyDelete],
    ['ADD without a value', { v: { Action: 'ADD' } }, onlyDelete],
    ['neither action nor value', { v: {} }, onlyDelete],
    ...['S', 'B', 'BOOL', 'NULL', 'M'].map((type) => [`ADD of type ${type}`,
      { v: add(SAMPLES[type]) },
      invalid(`ADD action is not supported for the type ${type}`)]),
    ...['S', 'N', 'B', 'BOOL', 'NULL', 'L', 'M'].map((type) => [`DELETE with type ${type}`,
      { v: del(SAMPLES[type]) },
      invalid(`DELETE action with value is not supported for the type ${type}`)]),
    ['ADD of a number to a string', { text: add(n(1)) }, mismatch],
    ['ADD of a set to a number', { v: add(abc) }, mismatch],
    ['ADD of a set to one of another type', { strings: add({ NS: ['1'] }) }, mismatch],
    ['DELETE from a string', { text: del(abc) }, mismatch],
    ['DELETE from a set of another type', { strings: del({ NS: ['1'] }) }, mismatch],
    ['the key with PUT', { pk: put(s('x')) }, partOfKey],
    ['the key with ADD', { pk: add(n(1)) }, partOfKey],
    ['the key with DELETE', { pk: { Action: 'DELETE' } }, partOfKey],
    ['too many digits', { v: add(n('1E-38')) },
      validation('Number overflow. Attempting to store a number with magnitude larger than '
        + 'supported range')],
    ['an action that there is not', { v: { Action: 'INCREMENT', Value: n(1) } }, validation(
      "1 validation error detected: Value 'INCREMENT' at 'attributeUpdates.v.member.action' "
      + 'failed to satisfy constraint: Member must satisfy enum value set: [ADD, PUT, DELETE]')],
  ];
  describe('is refused', () => {
    const item = { v: n(1), text: s('x'), strings: abc };
    beforeEach(() => table.put(item));
    for (const [name, updates, answer] of refusals) {
      test(name, async () => {
        assert.deepEqual(await refusal(update(updates)), answer);
        assert.deepEqual(await table.attributes(), item);
      });
    }
  });

  test('ReturnValues', async () => {
    const answer = async (ReturnValues) => {
      await table.put({ a: n(1), d: n(1), x: n(7) });
      return (await update({ a: add(n(1)), d: { Action: 'DELETE' }, p: put(n(9)) },
        { ReturnValues })).Attributes;
    };
    assert.equal(await answer('NONE'), undefined);
    assert.deepEqual(await answer('ALL_OLD'), { ...KEY, a: n(1), d: n(1), x: n(7) });
    assert.deepEqual(await answer('UPDATED_OLD'), { a: n(1), d: n(1) });
    assert.deepEqual(await answer('ALL_NEW'), { ...KEY, a: n(2), p: n(9), x: n(7) });
    assert.deepEqual(await answer('UPDATED_NEW'), { a: n(2), p: n(9) });
  });
});

describe('AttributesToGet', () => {
  before(() => table.put({ a: n(1), m: { M: { a: n(2) } }, 'm.a': n(3), status: n(4) }));

  test('takes whole attributes by their names, whatever is in them', async () => {
    const get = async (...AttributesToGet) => (await table.get({ AttributesToGet })).Item;
    assert.deepEqual(await get('m.a', 'status', 'nope'), { 'm.a': n(3), status: n(4) });
    assert.deepEqual(await get('m', 'pk'), { ...KEY, m: { M: { a: n(2) } } });
    assert.deepEqual(await get('m[0]'), {});
  });

  test('goes with no names of expressions', async () => {
    assert.deepEqual(await refusal(
      table.get({ AttributesToGet: ['a'], ExpressionAttributeNames: { '#a': 'a' } })),
    validation('ExpressionAttributeNames can only be specified when using expressions'));
  });
});

describe('older parameters and expressions are not mixed', () => {
  before(() => table.put({ a: n(1) }));
  const mixed = (older, expressions) => 'Can not use both expression and non-expression parameters '
    + `in the same request: Non-expression parameters: {${older}} Expression parameters: `
    + `{${expressions}}`;
  const Expected = { a: { Exists: false } };
  const two = { ...Expected, b: { Exists: false } };
  const AttributeUpdates = { a: { Value: n(1) } };
  const ConditionExpression = 'attribute_exists(a)';

  test('in PutItem', async () => {
    const answer = (options) => refusal(table.put({}, { ConditionExpression, ...options }));
    assert.deepEqual(await answer({ Expected }),
      validation(enveloped(mixed('Expected', 'ConditionExpression'))));
    assert.deepEqual(await answer({ ConditionalOperator: 'AND' }),
      validation(enveloped(mixed('ConditionalOperator', 'ConditionExpression'))));
    assert.deepEqual(await answer({ Expected: two, ConditionalOperator: 'AND' }),
      validation(enveloped(mixed('Expected, ConditionalOperator', 'ConditionExpression'))));
  });

  test('in DeleteItem', async () => {
    assert.deepEqual(await refusal(table.remove({ ConditionExpression, Expected })),
      validation(enveloped(mixed('Expected', 'ConditionExpression'))));
  });

  test('in UpdateItem', async () => {
    const answer = (options) => refusal(table.update('SET a = :v', { ':v': n(1) }, options));
    assert.deepEqual(await answer({ AttributeUpdates }),
      validation(enveloped(mixed('AttributeUpdates', 'UpdateExpression'))));
    assert.deepEqual(await answer({ Expected }),
      validation(enveloped(mixed('Expected', 'UpdateExpression'))));
    assert.deepEqual(await refusal(table.update(undefined, undefined,
      { AttributeUpdates, ConditionExpression })),
      validation(enveloped(mixed('AttributeUpdates', 'ConditionExpression'))));
    assert.deepEqual(await answer({
      AttributeUpdates, Expected: two, ConditionalOperator: 'OR', ConditionExpression,
    }), validation(enveloped(mixed('AttributeUpdates, Expected, ConditionalOperator',
      'UpdateExpression, ConditionExpression'))));
  });

  test('nor with the names and values of expressions', async () => {
    assert.deepEqual(await refusal(table.put({}, { Expected, ...parameters({ ':v': n(1) }) })),
      validation(enveloped('ExpressionAttributeValues can only be specified when using '
        + 'expressions')));
    assert.deepEqual(
      await refusal(table.put({}, { Expected, ...parameters(undefined, { '#v': 'v' }) })),
      validation(enveloped('ExpressionAttributeNames can only be specified when using '
        + 'expressions')));
  });
});
