// Condition expressions: what holds, for all operators, functions and types, and what the answer is
// when a condition does not hold. condition_refusals.test.js has the expressions that are refused.
'use strict';
const assert = require('node:assert/strict');
const { before, describe, test } = require('node:test');
const { refusal, validation } = require('./lib/client.js');
const {
  CONDITION_FAILED, KEY, SAMPLES, TYPES, bytes, enveloped, parameters, useItemTable,
} = require('./lib/item_table.js');

const table = useItemTable('conditions');

let current = {};
async function store(attributes) {
  current = attributes;
  await table.put(attributes);
}
const holds = (ConditionExpression, values, names) => table.holds(
  current, { ConditionExpression, ...parameters(values, names) });
const refused = (ConditionExpression, values, names) => refusal(
  table.put(current, { ConditionExpression, ...parameters(values, names) }));
const invalid = (message) => validation(enveloped(`Invalid ConditionExpression: ${message}`));
const n = (number) => ({ N: String(number) });
const ofEachType = Object.fromEntries(TYPES.map((type) => [`v_${type}`, SAMPLES[type]]));

describe('equality', () => {
  before(() => store(ofEachType));

  for (const type of TYPES) {
    test(`${type} equals a value of its own type only`, async () => {
      for (const other of TYPES) {
        const values = { ':v': SAMPLES[other] };
        assert.equal(await holds(`v_${type} = :v`, values), type === other, `= ${other}`);
        assert.equal(await holds(`v_${type} <> :v`, values), type !== other, `<> ${other}`);
        assert.equal(await holds(`v_${type} IN (:v)`, values), type === other, `IN ${other}`);
      }
    });
  }

  const pairs = [
    ['numbers in two notations', n('5'), n('0.50e1'), true],
    ['zero and minus zero', n('0'), n('-0'), true],
    ['numbers that differ in the 38th digit', n(`${'1'.repeat(37)}2`), n('1'.repeat(38)), false],
    ['strings that differ in case', { S: 'a' }, { S: 'A' }, false],
    ['é composed and decomposed', { S: '\u00e9' }, { S: 'e\u0301' }, false],
    ['true and false', { BOOL: true }, { BOOL: false }, false],
    ['sets in another order', { SS: ['a', 'b'] }, { SS: ['b', 'a'] }, true],
    ['number sets in other notations', { NS: ['1', '2'] }, { NS: ['2.0', '1e0'] }, true],
    ['a set and a part of it', { SS: ['a', 'b'] }, { SS: ['a'] }, false],
    ['lists in another order', { L: [n(1), n(2)] }, { L: [n(2), n(1)] }, false],
    ['a list and its beginning', { L: [n(1), n(2)] }, { L: [n(1)] }, false],
    ['maps in another order', { M: { a: n(1), b: n(2) } }, { M: { b: n(2), a: n('1.0') } }, true],
    ['maps of which one has more', { M: { a: n(1) } }, { M: { a: n(1), b: n(2) } }, false],
    ['empty lists', { L: [] }, { L: [] }, true],
    ['an empty list and an empty map', { L: [] }, { M: {} }, false],
    ['nested values', { L: [{ M: { a: { L: [n('1')] } } }] },
      { L: [{ M: { a: { L: [n('1.0')] } } }] }, true],
  ];
  for (const [name, left, right, equal] of pairs) {
    test(`${name} are ${equal ? 'equal' : 'not equal'}`, async () => {
      const values = { ':l': left, ':r': right };
      assert.equal(await holds(':l = :r', values), equal);
      assert.equal(await holds(':l <> :r', values), !equal);
    });
  }

  test('an attribute that is not there equals nothing and differs from everything', async () => {
    const values = { ':v': n(1) };
    assert.equal(await holds('nope = :v', values), false);
    assert.equal(await holds('nope <> :v', values), true);
    assert.equal(await holds('NOT nope = :v', values), true);
    assert.equal(await holds('nope = nope2'), false);
    assert.equal(await holds('nope <> nope2'), true);
    assert.equal(await holds('nope IN (:v)', values), false);
  });
});

describe('order', () => {
  before(() => store({ ...ofEachType, six: n(6) }));

  // From small to large.
  const ladders = {
    S: ['', '\u0000', 'A', 'B', 'a', 'aa', 'b', '\u00e9', '\uffff', '\u{1f600}'].map(
      (text) => ({ S: text })),
    N: [`-9.${'9'.repeat(37)}E125`, '-10', '-9.5', '-1E-130', '0', '1E-130', '0.5', '9', '10',
      '1E125'].map(n),
    B: [[], [0], [0, 0], [1], [1, 255], [2], [127], [128], [255]].map((b) => ({ B: bytes(...b) })),
  };
  for (const [type, ladder] of Object.entries(ladders)) {
    test(`of ${type}`, async () => {
      for (let i = 0; i < ladder.length; i++) {
        const same = { ':a': ladder[i], ':b': ladder[i] };
        for (const [operator, held] of [['<', false], ['<=', true], ['>', false], ['>=', true]]) {
          assert.equal(await holds(`:a ${operator} :b`, same), held, `${i} ${operator} itself`);
        }
        if (i === 0) continue;
        const step = { ':a': ladder[i - 1], ':b': ladder[i] };
        for (const [operator, held] of [['<', true], ['<=', true], ['>', false], ['>=', false]]) {
          assert.equal(await holds(`:a ${operator} :b`, step), held, `${i - 1} ${operator} ${i}`);
        }
      }
    });

    test(`BETWEEN of ${type} includes both ends`, async () => {
      for (let i = 0; i < ladder.length; i++) {
        const inside = i >= 2 && i <= 5;
        const values = { ':v': ladder[i], ':low': ladder[2], ':high': ladder[5] };
        assert.equal(await holds(':v BETWEEN :low AND :high', values), inside, String(i));
      }
      const single = { ':v': ladder[3], ':same': ladder[3] };
      assert.equal(await holds(':v BETWEEN :same AND :same', single), true);
    });
  }

  test('there is none between types, nor with what is not there', async () => {
    for (const operator of ['<', '<=', '>', '>=']) {
      for (const type of TYPES.filter((name) => name !== 'N')) {
        assert.equal(await holds(`v_${type} ${operator} :v`, { ':v': n(1) }), false, type);
      }
      assert.equal(await holds(`nope ${operator} :v`, { ':v': n(1) }), false);
      assert.equal(await holds(`v_L ${operator} v_M`), false);
    }
    assert.equal(await holds('v_S BETWEEN :v AND :v', { ':v': n(1) }), false);
  });

  test('between attributes', async () => {
    assert.equal(await holds('v_N < six'), true);
    assert.equal(await holds('v_N > six'), false);
    assert.equal(await holds(':v BETWEEN v_N AND six', { ':v': n('5.5') }), true);
    assert.equal(await holds('v_N BETWEEN :v AND six', { ':v': n('5.5') }), false);
  });

  for (const type of ['BOOL', 'NULL', 'SS', 'NS', 'BS', 'L', 'M']) {
    test(`a value of type ${type} is refused`, async () => {
      const values = { ':v': SAMPLES[type] };
      const wrong = (operator) => invalid('Incorrect operand type for operator or function; '
        + `operator or function: ${operator}, operand type: ${type}`);
      for (const operator of ['<', '<=', '>', '>=']) {
        assert.deepEqual(await refused(`v_N ${operator} :v`, values), wrong(operator));
      }
      assert.deepEqual(await refused('v_N BETWEEN :v AND :v', values), wrong('BETWEEN'));
    });
  }

  test('BETWEEN refuses bounds the wrong way round or of two types', async () => {
    assert.deepEqual(await refused('v_N BETWEEN :a AND :b', { ':a': n(2), ':b': n(1) }), invalid(
      'The BETWEEN operator requires upper bound to be greater than or equal to lower bound; '
      + 'lower bound operand: AttributeValue: {N:2}, upper bound operand: AttributeValue: {N:1}'));
    assert.deepEqual(await refused('v_N BETWEEN :a AND :b', { ':a': n(2), ':b': { S: '1' } }),
      invalid('The BETWEEN operator requires same data type for lower and upper bounds; '
        + 'lower bound operand: AttributeValue: {N:2}, '
        + 'upper bound operand: AttributeValue: {S:1}'));
  });
});

describe('functions', () => {
  before(() => store({
    ...ofEachType,
    utf8: { S: 'aé😀' },
    deep: { L: [{ M: { kept: { L: [n(0), { L: [{ S: 'in' }] }] } } }] },
  }));

  test('attribute_exists and attribute_not_exists know each type', async () => {
    for (const type of TYPES) {
      assert.equal(await holds(`attribute_exists(v_${type})`), true, type);
      assert.equal(await holds(`attribute_not_exists(v_${type})`), false, type);
    }
    assert.equal(await holds('attribute_exists(pk)'), true);
    assert.equal(await holds('attribute_not_exists(pk)'), false);
  });

  const paths = [
    ['nope', false], ['v_M.a', true], ['v_M.c', false], ['v_L[0]', true], ['v_L[1]', true],
    ['v_L[2]', false], ['v_S[0]', false], ['v_S.a', false], ['v_L.a', false], ['v_M[0]', false],
    ['v_SS[0]', false], ['nope.a', false], ['nope[0]', false], ['deep[0].kept[1][0]', true],
    ['deep[0].kept[2]', false],
  ];
  for (const [path, exists] of paths) {
    test(`${path} ${exists ? 'exists' : 'does not exist'}`, async () => {
      assert.equal(await holds(`attribute_exists(${path})`), exists);
      assert.equal(await holds(`attribute_not_exists(${path})`), !exists);
    });
  }

  for (const type of TYPES) {
    test(`attribute_type ${type}`, async () => {
      for (const name of TYPES) {
        const held = await holds(`attribute_type(v_${name}, :t)`, { ':t': { S: type } });
        assert.equal(held, name === type, name);
      }
      assert.equal(await holds('attribute_type(nope, :t)', { ':t': { S: type } }), false);
    });
  }

  const begins = [
    ['v_S', { S: 'ab' }, true], ['v_S', { S: 'abc' }, true], ['v_S', { S: '' }, true],
    ['v_S', { S: 'abcd' }, false], ['v_S', { S: 'b' }, false], ['v_S', { B: bytes(97) }, false],
    ['utf8', { S: 'aé' }, true],
    ['v_B', { B: bytes(1, 2) }, true], ['v_B', { B: bytes() }, true],
    ['v_B', { B: bytes(2) }, false], ['v_B', { S: '\u0001' }, false],
    ...TYPES.filter((type) => type !== 'S').map((type) => [`v_${type}`, { S: '' }, false]),
    ['nope', { S: '' }, false],
  ];
  for (const [path, prefix, held] of begins) {
    test(`begins_with(${path}, ${JSON.stringify(prefix)}) is ${held}`, async () => {
      assert.equal(await holds(`begins_with(${path}, :p)`, { ':p': prefix }), held);
    });
  }

  const contained = [
    ['v_S', { S: 'bc' }, true], ['v_S', { S: 'ac' }, false], ['v_S', n(1), false],
    ['utf8', { S: '😀' }, true], ['v_B', { B: bytes(2, 3) }, true],
    ['v_B', { B: bytes(3, 2) }, false],
    ['v_SS', { S: 'a' }, true], ['v_SS', { S: 'c' }, false], ['v_SS', { SS: ['a'] }, false],
    ['v_NS', n('1.0'), true], ['v_NS', n(3), false], ['v_NS', { S: '1' }, false],
    ['v_BS', { B: bytes(2) }, true], ['v_BS', { B: bytes(3) }, false],
    ['v_L', n('5.0'), true], ['v_L', { S: 'abc' }, true], ['v_L', { S: 'ab' }, false],
    ['deep[0].kept', { L: [{ S: 'in' }] }, true], ['deep[0].kept', { S: 'in' }, false],
    ['v_M', { S: 'a' }, false], ['v_N', n(5), false], ['v_BOOL', { BOOL: true }, false],
    ['v_NULL', { NULL: true }, false], ['nope', { S: '' }, false],
  ];
  for (const [path, element, held] of contained) {
    test(`contains(${path}, ${JSON.stringify(element)}) is ${held}`, async () => {
      assert.equal(await holds(`contains(${path}, :e)`, { ':e': element }), held);
    });
  }

  test('operands of contains and begins_with may be attributes', async () => {
    assert.equal(await holds('contains(:set, v_N)', { ':set': { NS: ['5'] } }), true);
    assert.equal(await holds('contains(v_L, v_S)'), true);
    assert.equal(await holds('begins_with(v_S, v_M.b)'), true);
    assert.equal(await holds('begins_with(v_S, v_N)'), false);
  });

  const sizes = { S: 3, B: 3, SS: 2, NS: 2, BS: 2, L: 2, M: 2 };
  for (const [type, size] of Object.entries(sizes)) {
    test(`size of ${type}`, async () => {
      assert.equal(await holds(`size(v_${type}) = :n`, { ':n': n(size) }), true);
      assert.equal(await holds(`size(v_${type}) > :n`, { ':n': n(size - 1) }), true);
      assert.equal(await holds(`size(v_${type}) < :n`, { ':n': n(size) }), false);
    });
  }

  test('size of a string counts as UTF-16 does', async () => {
    assert.equal(await holds('size(utf8) = :n', { ':n': n(4) }), true);
  });

  for (const path of ['v_N', 'v_BOOL', 'v_NULL', 'nope']) {
    test(`${path} has no size`, async () => {
      assert.equal(await holds(`size(${path}) >= :n`, { ':n': n(0) }), false);
      assert.equal(await holds(`size(${path}) < :n`, { ':n': n(1000) }), false);
      assert.equal(await holds(`size(${path}) <> :n`, { ':n': n(0) }), true);
    });
  }

  test('size is an operand like others', async () => {
    const two = { ':n': n(2) };
    assert.equal(await holds('size(v_L) BETWEEN :n AND :n', two), true);
    assert.equal(await holds('size(v_L) IN (:n)', two), true);
    assert.equal(await holds('size(v_L) = size(v_M)'), true);
    assert.equal(await holds('v_N > size(v_M)'), true);
    assert.equal(await holds('size(deep[0].kept[1]) = :n', { ':n': n(1) }), true);
    assert.equal(await holds('size(v_L) = :n', { ':n': { S: '2' } }), false);
  });
});

describe('logic', () => {
  before(() => store({ yes: n(1) }));
  const T = 'attribute_exists(yes)';
  const F = 'attribute_exists(nope)';
  const cases = [
    [T, true], [F, false], [`NOT ${T}`, false], [`NOT ${F}`, true], [`NOT NOT ${T}`, true],
    [`${T} AND ${T}`, true], [`${T} AND ${F}`, false], [`${F} OR ${T}`, true],
    [`${F} OR ${F}`, false],
    // AND binds tighter than OR, NOT tighter than AND.
    [`${T} OR ${F} AND ${F}`, true], [`(${T} OR ${F}) AND ${F}`, false],
    [`${F} AND ${F} OR ${T}`, true], [`${F} AND (${F} OR ${T})`, false],
    [`NOT ${F} AND ${F}`, false], [`NOT (${F} AND ${F})`, true],
    [`NOT ${T} OR ${T}`, true], [`NOT (${T} OR ${T})`, false],
    [`${T} AND NOT ${F} OR ${F}`, true],
    ['NOT yes = :v', false], ['NOT yes BETWEEN :v AND :v', false], ['NOT yes IN (:w)', true],
    // The AND of BETWEEN is its own.
    ['yes BETWEEN :v AND :v AND yes = :v', true], ['yes BETWEEN :v AND :v AND yes = :w', false],
    [`(${T})`, true], [`(${T}) AND (${T})`, true], ['(yes = :v OR yes = :w)', true],
    ['yes = :v aNd nOt yes = :w oR yes bEtWeEn :w And :w', true], ['yes iN (:w, :v)', true],
    [` \t\n${T}\r `, true], ['yes=:v', true],
  ];
  for (const [expression, held] of cases) {
    test(`${JSON.stringify(expression)} is ${held}`, async () => {
      const values = { ':v': n(1), ':w': n(2) };
      const used = Object.keys(values).filter((name) => expression.includes(name));
      assert.equal(await holds(expression,
        used.length ? Object.fromEntries(used.map((name) => [name, values[name]])) : undefined),
      held);
    });
  }

  test('IN looks at each operand, attributes too', async () => {
    assert.equal(await holds('yes IN (:w, nope, :v)', { ':v': n(1), ':w': n(2) }), true);
    assert.equal(await holds(':v IN (nope, yes)', { ':v': n(1) }), true);
    assert.equal(await holds(':v IN (nope, pk)', { ':v': n(1) }), false);
  });
});

describe('names', () => {
  before(() => store({
    status: n(1), 'a.b': n(2), 'c[0]': n(3), 'with space': n(4), 'ö': n(5),
    m: { M: { 'x.y': { L: [n(7)] } } }, under_score9: n(8),
  }));
  const cases = [
    ['#s = :v', { '#s': 'status' }, 1], ['#s = :v', { '#s': 'a.b' }, 2],
    ['#s = :v', { '#s': 'c[0]' }, 3], ['#s = :v', { '#s': 'with space' }, 4],
    ['#s = :v', { '#s': 'ö' }, 5], ['m.#s[0] = :v', { '#s': 'x.y' }, 7],
    ['#m.#s[0] = :v', { '#m': 'm', '#s': 'x.y' }, 7], ['under_score9 = :v', undefined, 8],
    ['#1_a = :v', { '#1_a': 'status' }, 1],
  ];
  for (const [expression, names, value] of cases) {
    test(`${expression} with ${JSON.stringify(names)}`, async () => {
      assert.equal(await holds(expression, { ':v': n(value) }, names), true);
      assert.equal(await holds(expression, { ':v': n(value + 1) }, names), false);
    });
  }

  test('a name behind # is one attribute, whatever is in it', async () => {
    assert.equal(await holds('attribute_exists(#s)', undefined, { '#s': 'm.x' }), false);
    assert.equal(await holds('attribute_exists(a.b)'), false);
  });

  for (const word of ['status', 'Name', 'COUNT', 'abort', 'zone', 'timestamp', 'year']) {
    test(`${word} is reserved`, async () => {
      const reserved = invalid(
        `Attribute name is a reserved keyword; reserved keyword: ${word}`);
      assert.deepEqual(await refused(`attribute_exists(${word})`), reserved);
      assert.deepEqual(await refused(`attribute_exists(m.${word})`), reserved);
    });
  }
});

describe('a condition that does not hold', () => {
  const item = { a: n(1), m: { M: { l: { L: [{ B: bytes(1) }] } } } };
  const no = { ConditionExpression: 'attribute_exists(nope)' };
  const writes = {
    PutItem: (options) => table.put({ b: n(2) }, options),
    UpdateItem: (options) => table.update('SET b = :v', { ':v': n(2) }, options),
    DeleteItem: (options) => table.remove(options),
  };

  for (const [name, write] of Object.entries(writes)) {
    test(`leaves the item as it was: ${name}`, async () => {
      await store(item);
      assert.deepEqual(await refusal(write(no)), CONDITION_FAILED);
      assert.deepEqual(await table.attributes(), item);
      await write({ ConditionExpression: 'attribute_exists(a)' });
      assert.notDeepEqual(await table.attributes(), item);
    });

    test(`leaves nothing where nothing was: ${name}`, async () => {
      await table.remove();
      assert.deepEqual(await refusal(write(no)), CONDITION_FAILED);
      assert.equal(await table.attributes(), undefined);
    });

    test(`returns the item with the error if asked to: ${name}`, async () => {
      await store(item);
      for (const [wanted, returned] of [
        ['ALL_OLD', { ...KEY, ...item }], ['NONE', undefined], [undefined, undefined],
      ]) {
        const options = { ...no, ReturnValuesOnConditionCheckFailure: wanted };
        const error = await write(options).catch((caught) => caught);
        assert.equal(error.name, CONDITION_FAILED.name);
        assert.deepEqual(error.Item, returned, wanted);
      }
      await table.remove();
      const options = { ...no, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' };
      const error = await write(options).catch((caught) => caught);
      assert.deepEqual([error.name, error.Item], [CONDITION_FAILED.name, undefined]);
    });
  }

  test('ReturnValuesOnConditionCheckFailure knows two values', async () => {
    const answer = await refusal(writes.PutItem({
      ...no, ReturnValuesOnConditionCheckFailure: 'ALL_NEW',
    }));
    assert.deepEqual(answer, validation("1 validation error detected: Value 'ALL_NEW' at "
      + "'returnValuesOnConditionCheckFailure' failed to satisfy constraint: Member must satisfy "
      + 'enum value set: [ALL_OLD, NONE]'));
  });

  test('the item that a condition sees is the one before the write', async () => {
    await store({ a: n(1) });
    const seen = { ConditionExpression: 'a = :old', ...parameters({ ':old': n(1) }) };
    await table.put({ a: n(2) }, seen);
    assert.deepEqual(await refusal(table.put({ a: n(2) }, seen)), CONDITION_FAILED);
  });

  test('attribute_not_exists of the key creates an item once', async () => {
    await table.remove();
    const create = { ConditionExpression: 'attribute_not_exists(pk)' };
    await table.put({ a: n(1) }, create);
    assert.deepEqual(await refusal(table.put({ a: n(2) }, create)), CONDITION_FAILED);
    assert.deepEqual(await table.attributes(), { a: n(1) });
  });

  test('ReturnValues and capacity are answered when it holds', async () => {
    await store({ a: n(1) });
    const answer = await table.put({ a: n(2) }, {
      ConditionExpression: 'attribute_exists(a)', ReturnValues: 'ALL_OLD',
      ReturnConsumedCapacity: 'TOTAL',
    });
    assert.deepEqual(answer.Attributes, { ...KEY, a: n(1) });
    assert.deepEqual(answer.ConsumedCapacity, { TableName: table.name, CapacityUnits: 1 });
  });
});
