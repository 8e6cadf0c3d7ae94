// Update expressions that are refused, and in which words; limits, each at, below and above.
'use strict';
const assert = require('node:assert/strict');
const { beforeEach, describe, test } = require('node:test');
const { refusal, validation } = require('./lib/client.js');
const { SAMPLES, enveloped, parameters, useItemTable } = require('./lib/item_table.js');

const table = useItemTable('update-refusals');
const n = (number) => ({ N: String(number) });
const s = (text) => ({ S: text });
const list = (...elements) => ({ L: elements });
const map = (members) => ({ M: members });
const invalid = (message) => validation(enveloped(`Invalid UpdateExpression: ${message}`));
const BAD_PATH = validation(
  'The document path provided in the update expression is invalid for update');

describe('an expression is refused', () => {
  beforeEach(() => table.put({ a: n(1) }));
  const V = { ':v': n(1) };
  const X = { ':v': { SS: ['x'] } };
  const syntax = (token, near) => `Syntax error; token: "${token}", near: "${near}"`;
  const operands = (name, count) => 'Incorrect number of operands for operator or function; '
    + `operator or function: ${name}, number of operands: ${count}`;
  const overlap = (one, two) => 'Two document paths overlap with each other; must remove or '
    + `rewrite one of these paths; path one: ${one}, path two: ${two}`;
  const conflict = (one, two) => 'Two document paths conflict with each other; must remove or '
    + `rewrite one of these paths; path one: ${one}, path two: ${two}`;
  const notHere = (name) => 'The function is not allowed in an update expression; '
    + `function: ${name}`;
  const cases = [
    [' ', undefined, syntax('<EOF>', ' ')],
    ['SET', undefined, syntax('<EOF>', 'SET')],
    ['SET a', undefined, syntax('<EOF>', 'a')],
    ['SET a =', undefined, syntax('<EOF>', '=')],
    ['SET a = :v,', V, syntax('<EOF>', ',')],
    ['SET a = :v REMOVE', V, syntax('<EOF>', 'REMOVE')],
    ['FOO a', undefined, syntax('FOO', 'FOO a')],
    ['a = :v', V, syntax('a', 'a =')],
    ['SET a = :v b = :v', V, syntax('b', ':v b =')],
    ['SET a == :v', V, syntax('=', '== :v')],
    ['SET a = :v;', V, syntax(';', ':v;')],
    ['SET a = 5', undefined, syntax('5', '= 5')],
    ['SET a = -:v', V, syntax('-', '= -:v')],
    ['SET a = :v * :v', V, syntax('*', ':v * :v')],
    ['SET a = :v + :v + :v', V, syntax('+', ':v + :v')],
    ['SET (a) = :v', V, syntax('(', 'SET (a')],
    ['SET :v = :v', V, syntax(':v', 'SET :v =')],
    ['SET size(a) = :v', V, syntax('(', 'size(a')],
    ['REMOVE a,', undefined, syntax('<EOF>', ',')],
    ['REMOVE a b', undefined, syntax('b', 'a b')],
    ['REMOVE :v', V, syntax(':v', 'REMOVE :v')],
    ['REMOVE a = :v', V, syntax('=', 'a = :v')],
    ['ADD a', undefined, syntax('<EOF>', 'a')],
    ['ADD a b', undefined, syntax('b', 'a b')],
    ['ADD a = :v', V, syntax('=', 'a = :v')],
    ['ADD a :v + :v', V, syntax('+', ':v + :v')],
    ['DELETE a', undefined, syntax('<EOF>', 'a')],
    ['DELETE a b', undefined, syntax('b', 'a b')],
    ['SET a = ((:v))', V, 'The expression has redundant parentheses;'],
    ['SET a = foo(a)', undefined, 'Invalid function name; function: foo'],
    ['SET a = IF_NOT_EXISTS(a, :v)', V, 'Invalid function name; function: IF_NOT_EXISTS'],
    ['SET a = attribute_exists(b)', undefined, notHere('attribute_exists')],
    ['SET a = size(b)', undefined, notHere('size')],
    ['SET a = begins_with(b, :v)', V, notHere('begins_with')],
    ['SET a = list_append(:v, list_append(:v, :v))', { ':v': list() },
      'The function is not allowed to be used this way in an expression; function: list_append'],
    ['SET a = list_append(:v)', { ':v': list() }, operands('list_append', 1)],
    ['SET a = list_append(:v, :v, :v)', { ':v': list() }, operands('list_append', 3)],
    ['SET a = if_not_exists(b)', undefined, operands('if_not_exists', 1)],
    ['SET a = if_not_exists(b, :v, :v)', V, operands('if_not_exists', 3)],
    ['SET a = if_not_exists(:v, :v)', V, 'Operator or function requires a document path; '
      + 'operator or function: if_not_exists'],
    ...['S', 'B', 'BOOL', 'NULL', 'L', 'M'].map((type) => ['ADD a :v', { ':v': SAMPLES[type] },
      'Incorrect operand type for operator or function; operator: ADD, operand type: '
      + `${{ S: 'STRING', B: 'BINARY', BOOL: 'BOOLEAN', NULL: 'NULL', L: 'LIST', M: 'MAP' }[type]}`
      + ', typeSet: ALLOWED_FOR_ADD_OPERAND']),
    ...['S', 'N', 'B', 'BOOL', 'NULL', 'L', 'M'].map((type) => [
      'DELETE a :v', { ':v': SAMPLES[type] },
      'Incorrect operand type for operator or function; operator: DELETE, operand type: '
      + `${{ S: 'STRING', N: 'NUMBER', B: 'BINARY', BOOL: 'BOOLEAN', NULL: 'NULL', L: 'LIST',
        M: 'MAP' }[type]}, typeSet: ALLOWED_FOR_DELETE_OPERAND`]),
    ['SET a = :v, a = :v', V, overlap('[a]', '[a]')],
    ['SET a = :v REMOVE a', V, overlap('[a]', '[a]')],
    ['ADD a :v DELETE a :v', X, overlap('[a]', '[a]')],
    ['SET a = :v, a.b = :v', V, overlap('[a]', '[a, b]')],
    ['SET a.b = :v, a = :v', V, overlap('[a, b]', '[a]')],
    ['SET a.b.c = :v REMOVE a.b', V, overlap('[a, b, c]', '[a, b]')],
    ['SET a[0] = :v REMOVE a[0]', V, overlap('[a, [0]]', '[a, [0]]')],
    ['SET a[0].b = :v, a[0] = :v', V, overlap('[a, [0], b]', '[a, [0]]')],
    ['SET a[0] = :v, a.b = :v', V, conflict('[a, [0]]', '[a, b]')],
    ['SET a.b = :v REMOVE a[1]', V, conflict('[a, b]', '[a, [1]]')],
    ['SET a.b.c = :v, a.b[0] = :v', V, conflict('[a, b, c]', '[a, b, [0]]')],
    ['SET status = :v', V, 'Attribute name is a reserved keyword; reserved keyword: status'],
    ['REMOVE Name', undefined, 'Attribute name is a reserved keyword; reserved keyword: Name'],
    ['ADD m.count :v', V, 'Attribute name is a reserved keyword; reserved keyword: count'],
    ['SET a = :w', V, 'An expression attribute value used in expression is not defined; '
      + 'attribute value: :w'],
    ['SET #a = :v', V, 'An expression attribute name used in the document path is not defined; '
      + 'attribute name: #a'],
  ];
  for (const [expression, values, message] of cases) {
    const type = /^(ADD|DELETE) a :v$/.test(expression) ? ` of ${Object.keys(values[':v'])}` : '';
    test(`${JSON.stringify(expression)}${type}`, async () => {
      assert.deepEqual(await refusal(table.update(expression, values)), invalid(message));
    });
  }

  test('with one path by two names', async () => {
    const answer = await refusal(table.update('SET #x = :v, a = :v', undefined,
      parameters(V, { '#x': 'a' })));
    assert.deepEqual(answer, invalid(overlap('[a]', '[a]')));
  });

  test('if it is empty', async () => {
    assert.deepEqual(await refusal(table.update('')),
      validation(enveloped('Invalid UpdateExpression: The expression can not be empty;')));
  });

  for (const [expression, values] of [
    ['SET pk = :v', V], ['REMOVE pk', undefined], ['ADD pk :v', V], ['DELETE pk :v', X],
    ['SET pk.a = :v', V], ['SET a = :v, pk = :v', V],
  ]) {
    test(`if it writes the key: ${expression}`, async () => {
      assert.deepEqual(await refusal(table.update(expression, values)), validation(
        'One or more parameter values were invalid: Cannot update attribute pk. This attribute is '
        + 'part of the key'));
    });
  }

  test('with values or names that nothing uses', async () => {
    const unused = (kind, key) => validation(enveloped(
      `Value provided in ExpressionAttribute${kind} unused in expressions: keys: {${key}}`));
    assert.deepEqual(await refusal(table.update('SET a = :v', { ...V, ':w': n(1) })),
      unused('Values', ':w'));
    assert.deepEqual(await refusal(table.update('SET a = :v', undefined,
      parameters(V, { '#x': 'y' }))), unused('Names', '#x'));
    // One map serves both expressions.
    await table.update('SET a = :v', undefined,
      { ConditionExpression: '#a <> :w', ...parameters({ ...V, ':w': n(7) }, { '#a': 'a' }) });
  });

  test('values or names without an expression', async () => {
    assert.deepEqual(await refusal(table.update(undefined, V)), validation(enveloped(
      'ExpressionAttributeValues can only be specified when using expressions')));
    assert.deepEqual(
      await refusal(table.update(undefined, undefined, parameters(undefined, { '#a': 'a' }))),
      validation(enveloped('ExpressionAttributeNames can only be specified when using '
        + 'expressions')));
  });

  test('before the condition is judged', async () => {
    const answer = await refusal(table.update('SET', undefined,
      { ConditionExpression: 'attribute_exists(nope)' }));
    assert.deepEqual(answer, invalid(syntax('<EOF>', 'SET')));
  });

  test('a condition that fails comes before an operand that does not fit', async () => {
    const answer = await refusal(table.update('SET a = nope', undefined,
      { ConditionExpression: 'attribute_exists(nope)' }));
    assert.equal(answer.name, 'ConditionalCheckFailedException');
  });
});

describe('limits', () => {
  const tooLarge = validation('Item size to update has exceeded the maximum allowed size');
  // What remains for a filler called `f` of an item whose gate or size is `size`.
  const filler = (size) => s('x'.repeat(size - 1));

  test('4,096 bytes of expression are taken and 4,097 are not', async () => {
    const padded = (size) => `SET a = :v${' '.repeat(size - 10)}`;
    await table.update(padded(4095), { ':v': n(1) });
    await table.update(padded(4096), { ':v': n(1) });
    assert.deepEqual(await refusal(table.update(padded(4097), { ':v': n(1) })), invalid(
      'Expression size has exceeded the maximum allowed size;'));
  });

  test('hundreds of actions are taken', async () => {
    await table.remove();
    const names = Array.from({ length: 300 }, (_, index) => `a${index}`);
    await table.update(`SET ${names.map((name) => `${name}=:v`)}`, { ':v': n(1) });
    assert.deepEqual(Object.keys(await table.attributes()).length, 300);
    await table.update(`REMOVE ${names}`);
    assert.deepEqual(await table.attributes(), {});
  });

  test('32 levels of a path are taken and 33 are not', async () => {
    await table.put({ a: n(1) });
    const path = (levels) => `SET a${'.a'.repeat(levels - 1)} = :v`;
    assert.deepEqual(await refusal(table.update(path(32), { ':v': n(1) })), BAD_PATH);
    assert.deepEqual(await refusal(table.update(path(33), { ':v': n(1) })),
      invalid('The document path has too many nesting levels; nesting levels: 33'));
  });

  test('32 levels of nesting are kept and 33 are refused, wherever the value is put', async () => {
    const nested = (levels) => {
      let value = s('deepest');
      for (let level = 1; level < levels; level++) value = map({ a: value });
      return value;
    };
    const tooDeep = validation('Nesting Levels have exceeded supported limits: Attributes in the '
      + 'item have nested levels beyond supported limit');
    await table.put({ m: map({}) });
    await table.update('SET v = :v', { ':v': nested(32) });
    assert.deepEqual(await table.attributes(), { m: map({}), v: nested(32) });
    assert.deepEqual(await refusal(table.update('SET v = :v', { ':v': nested(33) })), tooDeep);
    await table.update('SET m.a = :v', { ':v': nested(31) });
    assert.deepEqual(await table.attributes(), { m: nested(32), v: nested(32) });
    assert.deepEqual(await refusal(table.update('SET m.a = :v', { ':v': nested(32) })), tooDeep);
  });

  // The key, `pk` and `item`, does not count for the gate; 3 and 19 for each writing action do.
  const gates = [
    ['SET f = :f', 3 + 19, {}, 0],
    ['SET f = :f, g = :g', 3 + 2 * 19, { ':g': s('y') }, 2],
    ['SET f = :f ADD g :g', 3 + 2 * 19, { ':g': n(1) }, 3],
    ['SET f = :f REMOVE h', 3 + 19 + 2, {}, 0],
    ['SET f = :f DELETE h :h', 3 + 19 + 2, { ':h': { SS: ['x'] } }, 0],
  ];
  for (const [expression, extra, values, others] of gates) {
    test(`the gate of ${expression}`, async () => {
      const size = 409_600 - extra - others;
      await table.remove();
      await table.update(expression, { ...values, ':f': filler(size) });
      await table.remove();
      assert.deepEqual(
        await refusal(table.update(expression, { ...values, ':f': filler(size + 1) })), tooLarge);
      assert.equal(await table.attributes(), undefined);
    });
  }

  test('an item that is full can be made smaller, not just touched', async () => {
    await table.put({ f: filler(409_600 - 6) });
    assert.deepEqual(await refusal(table.update('SET g = :v', { ':v': n(1) })), tooLarge);
    await table.update('SET f = :v', { ':v': s('x') });
    assert.deepEqual(await table.attributes(), { f: s('x') });
  });
});
