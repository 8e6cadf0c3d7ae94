// Condition expressions that are refused, and in which words; placeholders; limits, each at, below
// and above.
'use strict';
const assert = require('node:assert/strict');
const { before, describe, test } = require('node:test');
const { refusal, validation } = require('./lib/client.js');
const { SAMPLES, TYPES, enveloped, parameters, useItemTable } = require('./lib/item_table.js');

const table = useItemTable('condition-refusals');

const ITEM = { a: { N: '1' } };
const holds = (ConditionExpression, values, names) => table.holds(
  ITEM, { ConditionExpression, ...parameters(values, names) });
const refused = (ConditionExpression, values, names) => refusal(
  table.put(ITEM, { ConditionExpression, ...parameters(values, names) }));
const invalid = (message) => validation(enveloped(`Invalid ConditionExpression: ${message}`));
const n = (number) => ({ N: String(number) });

describe('an expression is refused', () => {
  before(() => table.put(ITEM));
  const V = { ':v': { S: 'x' } };
  const syntax = (token, near) => `Syntax error; token: "${token}", near: "${near}"`;
  const operands = (name, count) => 'Incorrect number of operands for operator or function; '
    + `operator or function: ${name}, number of operands: ${count}`;
  const needsPath = (name) => 'Operator or function requires a document path; '
    + `operator or function: ${name}`;
  const misused = (name) => 'The function is not allowed to be used this way in an expression; '
    + `function: ${name}`;
  const sameOperand = (operator, operand) => 'The first operand must be distinct from the '
    + `remaining operands for this operator or function; operator: ${operator}, `
    + `first operand: ${operand}`;
  const outOfRange = (index) => `List index is not within the allowable range; index: [${index}]`;
  const cases = [
    [' ', undefined, syntax('<EOF>', ' ')],
    ['a', undefined, syntax('<EOF>', 'a')],
    ['a =', undefined, syntax('<EOF>', '=')],
    ['a = :v AND', V, syntax('<EOF>', 'AND')],
    ['NOT', undefined, syntax('<EOF>', 'NOT')],
    ['= :v', V, syntax('=', '= :v')],
    ['a == :v', V, syntax('=', '== :v')],
    ['a != :v', V, syntax('!', 'a !=')],
    ['a < > :v', V, syntax('>', '< > :v')],
    ['a = :v)', V, syntax(')', ':v)')],
    ['(a = :v', V, syntax('<EOF>', ':v')],
    ['()', undefined, syntax(')', '()')],
    ['a = 1', undefined, syntax('1', '= 1')],
    ["a = 'x'", undefined, syntax("'", "= 'x")],
    ['a > :v < :v', V, syntax('<', ':v < :v')],
    ['a = :v + :v', V, syntax('+', ':v + :v')],
    ['a = :v;', V, syntax(';', ':v;')],
    ['a-b = :v', V, syntax('-', 'a-b')],
    ['1a = :v', V, syntax('1', '1a')],
    ['a$ = :v', V, syntax('$', 'a$ =')],
    ['a[-1] = :v', V, syntax('-', '[-1')],
    ['a[1.5] = :v', V, syntax('.', '1.5')],
    ['a[x] = :v', V, syntax('x', '[x]')],
    ['a[] = :v', V, syntax(']', '[] =')],
    ['a. = :v', V, syntax('=', '. = :v')],
    ['.a = :v', V, syntax('.', '.a')],
    ['a..b = :v', V, syntax('.', '..b')],
    ['a BETWEEN :v', V, syntax('<EOF>', ':v')],
    ['a BETWEEN :v OR :v', V, syntax('OR', ':v OR :v')],
    ['a IN ()', undefined, syntax(')', '()')],
    ['a IN :v', V, syntax(':v', 'IN :v')],
    ['a IN (:v', V, syntax('<EOF>', ':v')],
    ['a IN (:v,)', V, syntax(')', ',)')],
    ['SET a = :v', V, syntax('SET', 'SET a')],
    ['((a = :v))', V, 'The expression has redundant parentheses;'],
    ['((attribute_exists(a)))', undefined, 'The expression has redundant parentheses;'],
    ['a = :v AND ((a = :v))', V, 'The expression has redundant parentheses;'],
    ['(((a = :v)) OR a = :v)', V, 'The expression has redundant parentheses;'],
    ['foo(a)', undefined, 'Invalid function name; function: foo'],
    ['ATTRIBUTE_EXISTS(a)', undefined, 'Invalid function name; function: ATTRIBUTE_EXISTS'],
    ['Size(a) = :v', V, 'Invalid function name; function: Size'],
    ['if_not_exists(a, :v) = :v', V,
      'The function is not allowed in a condition expression; function: if_not_exists'],
    ['list_append(a, :v) = :v', V,
      'The function is not allowed in a condition expression; function: list_append'],
    ['size(a)', undefined, misused('size')],
    ['attribute_exists(a) = :v', V, misused('attribute_exists')],
    ['a = attribute_exists(a)', undefined, misused('attribute_exists')],
    ['attribute_exists(a, b)', undefined, operands('attribute_exists', 2)],
    ['attribute_not_exists(a, b)', undefined, operands('attribute_not_exists', 2)],
    ['attribute_type(a)', undefined, operands('attribute_type', 1)],
    ['begins_with(a)', undefined, operands('begins_with', 1)],
    ['begins_with(a, :v, :v)', V, operands('begins_with', 3)],
    ['contains(a)', undefined, operands('contains', 1)],
    ['size(a, b) = :v', V, operands('size', 2)],
    ['attribute_exists(:v)', V, needsPath('attribute_exists')],
    ['attribute_not_exists(:v)', V, needsPath('attribute_not_exists')],
    ['attribute_exists(size(a))', undefined, needsPath('attribute_exists')],
    ['attribute_type(a, :v)', V, 'Invalid attribute type name found; type: x, valid types: '
      + '{N,BS,L,B,NULL,M,S,SS,NS,BOOL}'],
    ['attribute_type(a, :v)', { ':v': n(1) }, 'Incorrect operand type for operator or function; '
      + 'operator or function: attribute_type, operand type: N'],
    ...TYPES.filter((type) => type !== 'S' && type !== 'B').map((type) => [
      'begins_with(a, :v)', { ':v': SAMPLES[type] },
      'Incorrect operand type for operator or function; operator or function: begins_with, '
      + `operand type: ${type}`]),
    ['contains(a, a)', undefined, sameOperand('contains', '[a]')],
    ['a = a', undefined, sameOperand('=', '[a]')],
    ['a <> a', undefined, sameOperand('<>', '[a]')],
    ['a.b[0] < a.b[0]', undefined, sameOperand('<', '[a, b, [0]]')],
    ['a IN (:v, a)', V, sameOperand('IN', '[a]')],
    ['a BETWEEN a AND :v', V, sameOperand('BETWEEN', '[a]')],
    ['a = :w', V, 'An expression attribute value used in expression is not defined; '
      + 'attribute value: :w'],
    ['#a = :v', V, 'An expression attribute name used in the document path is not defined; '
      + 'attribute name: #a'],
    ['a.#b = :v', V, 'An expression attribute name used in the document path is not defined; '
      + 'attribute name: #b'],
    ['a[99999999999] = :v', V, outOfRange('99999999999')],
    ['a[2147483648] = :v', V, outOfRange('2147483648')],
  ];
  for (const [expression, values, message] of cases) {
    const type = expression === 'begins_with(a, :v)' ? ` of ${Object.keys(values[':v'])}` : '';
    test(`${JSON.stringify(expression)}${type}`, async () => {
      assert.deepEqual(await refused(expression, values), invalid(message));
    });
  }

  test('if it is empty', async () => {
    assert.deepEqual(await refused(''),
      validation(enveloped('Invalid ConditionExpression: The expression can not be empty;')));
  });

  test('if it looks into a key attribute', async () => {
    const scalars = validation("Key attributes must be scalars; list random access '[]' and map "
      + "lookup '.' are not allowed: Key: pk");
    assert.deepEqual(await refused('pk.a = :v', V), scalars);
    assert.deepEqual(await refused('attribute_exists(pk[0])'), scalars);
  });

  test('in UpdateItem and DeleteItem in the same words', async () => {
    const options = { ConditionExpression: 'attribute_exists(status)' };
    const message = 'Invalid ConditionExpression: Attribute name is a reserved keyword; '
      + 'reserved keyword: status';
    assert.deepEqual(await refusal(table.update('REMOVE b', undefined, options)),
      validation(enveloped(message)));
    assert.deepEqual(await refusal(table.remove(options)), validation(enveloped(message)));
    const broken = { ConditionExpression: 'a = ' };
    const near = 'Invalid ConditionExpression: Syntax error; token: "<EOF>", near: "= "';
    assert.deepEqual(await refusal(table.update('REMOVE b', undefined, broken)),
      validation(enveloped(near)));
    assert.deepEqual(await refusal(table.remove(broken)), validation(enveloped(near)));
  });

  test('before the table is looked for', async () => {
    const answer = await refusal(table.put({}, { TableName: 'nope', ConditionExpression: 'a' }));
    assert.deepEqual(answer, invalid(syntax('<EOF>', 'a')));
  });
});

describe('placeholders', () => {
  before(() => table.put(ITEM));
  const one = { ':v': n(1) };
  const unused = (map, keys) => validation(enveloped(
    `Value provided in ExpressionAttribute${map} unused in expressions: keys: {${keys}}`));
  const badKey = (map, text) => validation(
    `ExpressionAttribute${map} contains invalid key: ${text}`);

  test('all must be used', async () => {
    assert.deepEqual(await refused('a = :v', one, { '#x': 'a' }), unused('Names', '#x'));
    assert.deepEqual(await refused('a = :v', { ...one, ':w': n(1) }), unused('Values', ':w'));
  });

  test('none may be given without an expression', async () => {
    assert.deepEqual(await refusal(table.put({}, parameters(undefined, { '#x': 'a' }))),
      validation(enveloped('ExpressionAttributeNames can only be specified when using '
        + 'expressions')));
    const message = enveloped('ExpressionAttributeValues can only be specified when using '
      + 'expressions');
    assert.deepEqual(await refusal(table.put({}, parameters(one))), validation(message));
    assert.deepEqual(await refusal(table.remove(parameters(one))), validation(message));
  });

  test('the maps may not be empty', async () => {
    assert.deepEqual(await refused('a = :v', {}),
      validation(enveloped('ExpressionAttributeValues must not be empty')));
    assert.deepEqual(await refused('a = :v', one, {}),
      validation(enveloped('ExpressionAttributeNames must not be empty')));
  });

  for (const key of ['v', ':', '#v', ':v-w', ':v.w', ':é']) {
    test(`${key} is no name of a value`, async () => {
      assert.deepEqual(await refused('a = :v', { [key]: n(1) }),
        badKey('Values', `Syntax error; key: "${key}"`));
    });
  }
  for (const key of ['a', '#', ':a', '#a-b', '#a b']) {
    test(`${key} is no name of a name`, async () => {
      assert.deepEqual(await refused('#a = :v', one, { [key]: 'a' }),
        badKey('Names', `Syntax error; key: "${key}"`));
    });
  }

  test('an empty key is refused', async () => {
    const empty = 'The expression attribute map contains an empty key;';
    assert.deepEqual(await refused('a = :v', { '': n(1) }), badKey('Values', empty));
    assert.deepEqual(await refused('a = :v', one, { '': 'a' }), badKey('Names', empty));
  });

  test('an attribute name may not be empty or longer than 65,535 bytes', async () => {
    assert.deepEqual(await refused('#a = :v', one, { '#a': '' }), validation(
      'ExpressionAttributeNames contains invalid value: Empty attribute name for key #a'));
    assert.equal(await holds('attribute_not_exists(#a)', undefined, { '#a': 'n'.repeat(65535) }),
      true);
    const tooLong = await refused('#a = :v', one, { '#a': 'n'.repeat(65536) });
    assert.equal(tooLong.name, 'ValidationException');
  });

  test('a value is checked like any other', async () => {
    assert.deepEqual(await refused('a = :v', { ':v': n('1'.repeat(39)) }), validation(
      enveloped('Attempting to store more than 38 significant digits in a Number')));
  });
});

describe('limits', () => {
  before(() => table.put(ITEM));
  const one = { ':v': n(1) };
  const padded = (size) => `a = :v${' '.repeat(size - 6)}`;

  test('4,096 bytes of expression are taken and 4,097 are not', async () => {
    assert.equal(await holds(padded(4095), one), true);
    assert.equal(await holds(padded(4096), one), true);
    assert.deepEqual(await refused(padded(4097), one), invalid(
      'Expression size has exceeded the maximum allowed size; expression size: 4097'));
  });

  test('300 operators are taken and 301 are not: comparisons, AND, OR and NOT', async () => {
    const comparisons = (count) => Array(count).fill('a=:v').join(' OR ');
    assert.equal(await holds(comparisons(150), one), true); // 150 and 149.
    assert.equal(await holds(`NOT ${comparisons(150)}`, one), true);
    const tooMany = invalid('The expression contains too many operators; operator count: 301');
    assert.deepEqual(await refused(comparisons(151), one), tooMany);
    assert.deepEqual(await refused(`NOT NOT ${comparisons(150)}`, one), tooMany);
    assert.equal(await holds(`${'NOT '.repeat(299)}a=:v`, one), false);
    assert.deepEqual(await refused(`${'NOT '.repeat(300)}a=:v`, one), tooMany);
  });

  test('parentheses are not counted', async () => {
    let expression = '(a=:v)';
    for (let level = 0; level < 149; level++) expression = `(${expression} OR a=:v)`;
    assert.equal(await holds(expression, one), true);
  });

  test('100 operands of IN are taken and 101 are not', async () => {
    const among = (count) => `a IN (${Array(count).fill(':v').join()})`;
    assert.equal(await holds(among(99), one), true);
    assert.equal(await holds(among(100), one), true);
    assert.deepEqual(await refused(among(101), one), invalid(
      'The IN operator is provided with too many operands; number of operands: 101'));
  });

  test('32 levels of a path are taken and 33 are not', async () => {
    for (const step of ['.a', '[0]', '.#a']) {
      const names = step === '.#a' ? { '#a': 'a' } : undefined;
      const path = (levels) => `attribute_not_exists(b${step.repeat(levels - 1)})`;
      assert.equal(await holds(path(31), undefined, names), true);
      assert.equal(await holds(path(32), undefined, names), true);
      assert.deepEqual(await refused(path(33), undefined, names), invalid(
        'The document path has too many nesting levels; nesting levels: 33'));
    }
  });

  test('placeholders of 255 bytes are taken and of 256 are not', async () => {
    const long = (sign, size) => sign + 'p'.repeat(size - 1);
    for (const size of [254, 255]) {
      assert.equal(await holds(`${long('#', size)} = ${long(':', size)}`,
        { [long(':', size)]: n(1) }, { [long('#', size)]: 'a' }), true);
    }
    const tooLong = 'The expression attribute map contains a key that is too long;';
    assert.deepEqual(await refused(`a = ${long(':', 256)}`, { [long(':', 256)]: n(1) }),
      validation(`ExpressionAttributeValues contains invalid key: ${tooLong}`));
    assert.deepEqual(await refused(`${long('#', 256)} = :v`, one, { [long('#', 256)]: 'a' }),
      validation(`ExpressionAttributeNames contains invalid key: ${tooLong} size of key: 256`));
  });

  test('an index of 2,147,483,647 is taken', async () => {
    assert.equal(await holds('attribute_exists(a[2147483647])'), false);
  });
});
