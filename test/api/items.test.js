// Items: what is put comes back, in canonical form; what is refused, and in which words.
'use strict';
const assert = require('node:assert/strict');
const { after, before, describe, test } = require('node:test');
const {
  DeleteItemCommand, GetItemCommand, PutItemCommand,
} = require('@aws-sdk/client-dynamodb');
const {
  createClient, createTable, dropTables, refusal, tableShape, validation,
} = require('./lib/client.js');
const { call } = require('./lib/http.js');
const { enveloped } = require('./lib/item_table.js');
const { startServer } = require('./lib/server.js');

const PLAIN = 'items-plain'; // pk:S
const SORTED = 'items-sorted'; // h:B, r:N
const TEXTS = 'items-texts'; // h:S, r:S
const ITEM_SIZE_MAX = 409_600;

let server;
let client;
before(async () => {
  server = await startServer();
  client = createClient(server);
  await dropTables(client, PLAIN, SORTED, TEXTS);
  await createTable(client, tableShape(PLAIN, 'pk:S'));
  await createTable(client, tableShape(SORTED, 'h:B', 'r:N'));
  await createTable(client, tableShape(TEXTS, 'h:S', 'r:S'));
});
after(async () => {
  await dropTables(client, PLAIN, SORTED, TEXTS);
  client.destroy();
  await server.stop();
});

const bytes = (...values) => Uint8Array.from(values);
const put = (Item, options = {}) => client.send(
  new PutItemCommand({ TableName: PLAIN, Item, ...options }));
const get = (Key, options = {}) => client.send(
  new GetItemCommand({ TableName: PLAIN, Key, ConsistentRead: true, ...options }));
const remove = (Key, options = {}) => client.send(
  new DeleteItemCommand({ TableName: PLAIN, Key, ...options }));
const putSorted = (Item) => put(Item, { TableName: SORTED });
const getSorted = (Key) => get(Key, { TableName: SORTED });

// The SDK lets only one member of a value through, so such requests go out below it.
async function rawPut(Item) {
  const text = JSON.stringify({ TableName: PLAIN, Item }, (key, value) => (
    value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value));
  const { json } = await call(server, 'PutItem', text);
  return { name: json.__type.split('#')[1], message: json.message };
}

describe('an item comes back', () => {
  test('with all ten types', async () => {
    const item = {
      pk: { S: 'ten' },
      string: { S: 'text with "quotes", \\, \u0000, é and 😀' },
      number: { N: '-12.5' },
      binary: { B: bytes(0, 1, 254, 255) },
      yes: { BOOL: true },
      no: { BOOL: false },
      nothing: { NULL: true },
      strings: { SS: ['a', 'b'] },
      numbers: { NS: ['1', '2'] },
      binaries: { BS: [bytes(1), bytes(2)] },
      list: { L: [{ S: 'a' }, { N: '1' }, { L: [{ NULL: true }] }, { M: {} }] },
      map: { M: { a: { S: 'x' }, b: { M: { c: { BOOL: true } } } } },
    };
    await put(item);
    assert.deepEqual((await get({ pk: { S: 'ten' } })).Item, item);
  });

  test('with empty strings, binaries, lists and maps', async () => {
    const item = {
      pk: { S: 'empty' }, s: { S: '' }, b: { B: bytes() }, l: { L: [] }, m: { M: {} },
      ss: { SS: [''] }, bs: { BS: [bytes()] },
    };
    await put(item);
    assert.deepEqual((await get({ pk: { S: 'empty' } })).Item, item);
  });

  test('with its sets in order: bytes for SS and BS, value for NS', async () => {
    await put({
      pk: { S: 'sets' },
      ss: { SS: ['b', 'a', '😀', 'C', '\uFFFD', 'aa', 'é'] },
      ns: { NS: ['10', '9', '-1', '1.50', '0'] },
      bs: { BS: [bytes(255), bytes(0, 0), bytes(16), bytes(0)] },
    });
    const { Item } = await get({ pk: { S: 'sets' } });
    // U+FFFD sorts before U+1F600 by bytes, and after it in UTF-16.
    assert.deepEqual(Item.ss.SS, ['C', 'a', 'aa', 'b', 'é', '\uFFFD', '😀']);
    assert.deepEqual(Item.ns.NS, ['-1', '0', '1.5', '9', '10']);
    assert.deepEqual(Item.bs.BS, [bytes(0), bytes(0, 0), bytes(16), bytes(255)]);
  });

  test('replaced as a whole by a second put', async () => {
    await put({ pk: { S: 'replace' }, old: { S: 'x' } });
    await put({ pk: { S: 'replace' }, new: { S: 'y' } });
    assert.deepEqual((await get({ pk: { S: 'replace' } })).Item,
      { pk: { S: 'replace' }, new: { S: 'y' } });
  });

  test('not at all after it was deleted', async () => {
    await put({ pk: { S: 'deleted' } });
    await remove({ pk: { S: 'deleted' } });
    const answer = await get({ pk: { S: 'deleted' } });
    assert.equal('Item' in answer && answer.Item !== undefined, false);
  });

  test('by a number key in any notation, since 1, 1.0 and 1E0 are one key', async () => {
    const item = { h: { B: bytes(7) }, r: { N: '1' }, v: { S: 'one' } };
    await putSorted({ ...item, r: { N: '1.00' } });
    for (const text of ['1', '1.0', '1E0', '0.1e1', '+1', '01']) {
      const { Item } = await getSorted({ h: item.h, r: { N: text } });
      assert.deepEqual(Item, item, text);
    }
  });
});

describe('numbers', () => {
  const stored = [
    ['0', '0'], ['-0', '0'], ['0.000', '0'], ['1.50', '1.5'], ['007', '7'], ['+5', '5'],
    ['.5', '0.5'], ['1.', '1'], ['1e3', '1000'], ['1e+05', '100000'],
    ['0.00000000000000000000001', '0.00000000000000000000001'],
    ['1'.repeat(38), '1'.repeat(38)],
    [`0.${'1'.repeat(38)}`, `0.${'1'.repeat(38)}`],
    [`1${'0'.repeat(38)}`, `1${'0'.repeat(38)}`],
    ['1E125', `1${'0'.repeat(125)}`],
    [`9.${'9'.repeat(37)}E125`, `${'9'.repeat(38)}${'0'.repeat(88)}`],
    [`-9.${'9'.repeat(37)}E125`, `-${'9'.repeat(38)}${'0'.repeat(88)}`],
    ['1E-130', `0.${'0'.repeat(129)}1`],
    ['-1E-130', `-0.${'0'.repeat(129)}1`],
    ['0.1E-129', `0.${'0'.repeat(129)}1`],
  ];
  for (const [given, canonical] of stored) {
    test(`${given} is kept as ${canonical}`, async () => {
      await put({ pk: { S: 'number' }, n: { N: given }, ns: { NS: [given] } });
      const { Item } = await get({ pk: { S: 'number' } });
      assert.deepEqual(Item, { pk: { S: 'number' }, n: { N: canonical }, ns: { NS: [canonical] } });
    });
  }

  const overflow = 'Number overflow. Attempting to store a number with magnitude larger than '
    + 'supported range';
  const underflow = 'Number underflow. Attempting to store a number with magnitude smaller than '
    + 'supported range';
  const digits = 'Attempting to store more than 38 significant digits in a Number';
  const unreadable = 'The parameter cannot be converted to a numeric value';
  const refused = [
    ['1E126', overflow], ['-1E126', overflow], ['1E-131', underflow], ['-1E-131', underflow],
    ['0E126', overflow], ['0E-131', underflow], ['1E2147483648', overflow],
    ['1E-99999999999', underflow], ['1E9223372036854775808', `${unreadable}: 1E9223372036854775808`],
    ['1'.repeat(39), digits], [`0.${'1'.repeat(39)}`, digits], ['', `${unreadable}: `],
    ...['abc', ' 1', '1 ', '.', '1e', '0x1', '1_000', 'NaN', 'Infinity', '1.2.3', '--1'].map(
      (text) => [text, `${unreadable}: ${text}`]),
  ];
  for (const [given, message] of refused) {
    test(`'${given}' is refused`, async () => {
      const number = put({ pk: { S: 'number' }, n: { N: given } });
      assert.deepEqual(await refusal(number), validation(enveloped(message)));
      const member = put({ pk: { S: 'number' }, n: { NS: [given] } });
      assert.deepEqual(await refusal(member), validation(enveloped(message)));
    });
  }
});

describe('a value is refused', () => {
  const oneOf = 'must contain exactly one of the supported datatypes';
  const invalid = '1 validation error detected: One or more parameter values were invalid: ';
  const cases = [
    ['with two types', { S: 'x', N: '1' },
      `Supplied AttributeValue has more than one datatypes set, ${oneOf}`],
    ['with no type', {}, `Supplied AttributeValue is empty, ${oneOf}`],
    ['as NULL false', { NULL: false },
      `${invalid}Null attribute value types must have the value of true`],
    ['as an empty string set', { SS: [] }, `${invalid}An string set  may not be empty`],
    ['as an empty number set', { NS: [] }, `${invalid}An number set  may not be empty`],
    ['as an empty binary set', { BS: [] }, `${invalid}Binary sets should not be empty`],
    ['as a string set with a duplicate', { SS: ['a', 'a'] },
      `${invalid}Input collection ["a", "a"] contains duplicates.`],
    ['as a number set with one number in two notations', { NS: ['1', '1.0'] },
      `${invalid}Input collection contains duplicates.`],
    ['as a binary set with a duplicate', { BS: [bytes(0), bytes(0)] },
      `${invalid}Input collection ["AA==","AA=="]of type BS contains duplicates.`],
  ];
  for (const [name, value, message] of cases) {
    test(name, async () => {
      assert.deepEqual(await rawPut({ pk: { S: 'v' }, v: value }), validation(message));
      assert.deepEqual(await rawPut({ pk: { S: 'v' }, v: { L: [value] } }), validation(message));
    });
  }
});

describe('keys', () => {
  const invalid = 'One or more parameter values were invalid: ';
  const schema = 'The provided key element does not match the schema';
  const emptyKey = 'One or more parameter values are not valid. The AttributeValue for a key '
    + 'attribute cannot contain an empty ';
  const h = { B: bytes(1) };
  const r = { N: '1' };
  const hashTooLong = `${invalid}Size of hashkey has exceeded the maximum size limit of2048 bytes`;
  const rangeTooLong = `${invalid}Aggregated size of all range keys has exceeded the size limit `
    + 'of 1024 bytes';

  const puts = [
    ['no partition key', PLAIN, { other: { S: 'x' } }, `${invalid}Missing the key pk in the item`],
    ['no sort key', SORTED, { h }, `${invalid}Missing the key r in the item`],
    ['a partition key of another type', PLAIN, { pk: { N: '1' } },
      `${invalid}Type mismatch for key pk expected: S actual: N`],
    ['a NULL partition key', PLAIN, { pk: { NULL: true } },
      `${invalid}Type mismatch for key pk expected: S actual: NULL`],
    ['an empty string as key', PLAIN, { pk: { S: '' } }, `${emptyKey}string value. Key: pk`],
    ['an empty binary as key', SORTED, { h: { B: bytes() }, r }, `${emptyKey}binary value. Key: h`],
    ['a partition key of 2,049 bytes', PLAIN, { pk: { S: 'k'.repeat(2049) } }, hashTooLong],
    ['a sort key of 1,025 bytes', TEXTS, { h: { S: 'k' }, r: { S: 'k'.repeat(1025) } },
      rangeTooLong],
  ];
  for (const [name, TableName, item, message] of puts) {
    test(`PutItem refuses ${name}`, async () => {
      assert.deepEqual(await refusal(put(item, { TableName })), validation(message));
    });
  }

  const gets = [
    ['no sort key', SORTED, { h }, schema],
    ['one attribute too many', SORTED, { h, r, x: r }, schema],
    ['another attribute than the sort key', SORTED, { h, x: r }, schema],
    ['a sort key of another type', SORTED, { h, r: { S: '1' } }, schema],
    ['no attribute', SORTED, {}, schema],
    ['an empty string', PLAIN, { pk: { S: '' } }, `${emptyKey}string value. Key: pk`],
    ['a partition key of 2,049 bytes', PLAIN, { pk: { S: 'k'.repeat(2049) } }, hashTooLong],
    ['a sort key of 1,025 bytes', TEXTS, { h: { S: 'k' }, r: { S: 'k'.repeat(1025) } },
      rangeTooLong],
  ];
  for (const [name, TableName, key, message] of gets) {
    test(`GetItem and DeleteItem refuse ${name}`, async () => {
      assert.deepEqual(await refusal(get(key, { TableName })), validation(message));
      assert.deepEqual(await refusal(remove(key, { TableName })), validation(message));
    });
  }

  test('of the greatest length are accepted', async () => {
    const longest = { h: { S: 'h'.repeat(2048) }, r: { S: 'é'.repeat(512) } };
    await put(longest, { TableName: TEXTS });
    assert.deepEqual((await get(longest, { TableName: TEXTS })).Item, longest);
  });

  test('a table that is not there', async () => {
    const expected = {
      name: 'ResourceNotFoundException', message: 'Requested resource not found',
    };
    const TableName = 'not-there';
    assert.deepEqual(await refusal(put({ pk: { S: 'a' } }, { TableName })), expected);
    assert.deepEqual(await refusal(get({ pk: { S: 'a' } }, { TableName })), expected);
    assert.deepEqual(await refusal(remove({ pk: { S: 'a' } }, { TableName })), expected);
  });
});

describe('ReturnValues', () => {
  const key = { pk: { S: 'return' } };
  const first = { ...key, v: { N: '1' } };

  test('ALL_OLD is the item before, absent if there was none', async () => {
    await remove(key);
    assert.equal((await put(first, { ReturnValues: 'ALL_OLD' })).Attributes, undefined);
    assert.deepEqual((await put(key, { ReturnValues: 'ALL_OLD' })).Attributes, first);
    assert.deepEqual((await remove(key, { ReturnValues: 'ALL_OLD' })).Attributes, key);
    assert.equal((await remove(key, { ReturnValues: 'ALL_OLD' })).Attributes, undefined);
  });

  test('NONE is nothing', async () => {
    await put(first);
    assert.equal((await put(first, { ReturnValues: 'NONE' })).Attributes, undefined);
    assert.equal((await remove(key, { ReturnValues: 'NONE' })).Attributes, undefined);
  });

  for (const ReturnValues of ['ALL_NEW', 'UPDATED_OLD', 'UPDATED_NEW']) {
    test(`${ReturnValues} is for UpdateItem only`, async () => {
      assert.deepEqual(await refusal(put(first, { ReturnValues })),
        validation('1 validation error detected: ReturnValues can only be ALL_OLD or NONE'));
      assert.equal((await refusal(remove(key, { ReturnValues }))).name, 'ValidationException');
    });
  }

  test('every bad enumeration is reported at once', async () => {
    const bad = {
      ReturnValues: 'X', ReturnConsumedCapacity: 'Y', ReturnItemCollectionMetrics: 'Z',
    };
    const must = 'failed to satisfy constraint: Member must satisfy enum value set:';
    assert.deepEqual(await refusal(put(first, bad)), validation(
      `3 validation errors detected: Value 'Y' at 'returnConsumedCapacity' ${must} `
      + `[INDEXES, TOTAL, NONE]; Value 'X' at 'returnValues' ${must} `
      + "[ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]; Value 'Z' at "
      + `'returnItemCollectionMetrics' ${must} [SIZE, NONE]`));
  });
});

describe('a condition that fails', () => {
  const key = { pk: { S: 'condition' } };
  const item = { ...key, v: { N: '1' } };
  const conditions = [
    ['ConditionExpression', { ConditionExpression: 'attribute_not_exists(pk)' }],
    ['Expected', { Expected: { v: { Exists: false } } }],
  ];
  for (const [name, condition] of conditions) {
    test(`given as ${name} leaves the item as it was`, async () => {
      await put(item);
      await refusal(put({ ...key, v: { N: '2' } }, condition));
      await refusal(remove(key, condition));
      assert.deepEqual((await get(key)).Item, item);
    });
  }
});

describe('AttributesToGet', () => {
  const key = { pk: { S: 'projected' } };
  before(() => put({ ...key, a: { N: '1' }, b: { S: 'x' } }));

  test('picks the attributes that are there', async () => {
    assert.deepEqual((await get(key, { AttributesToGet: ['b', 'nope'] })).Item, { b: { S: 'x' } });
    assert.deepEqual((await get(key, { AttributesToGet: ['nope'] })).Item, {});
  });

  test('refuses a name given twice', async () => {
    assert.deepEqual(await refusal(get(key, { AttributesToGet: ['a', 'a'] })), validation(
      'One or more parameter values were invalid: Duplicate value in attribute name: a'));
  });

  test('refuses an empty list', async () => {
    assert.deepEqual(await refusal(get(key, { AttributesToGet: [] })), validation(
      "1 validation error detected: Value '[]' at 'attributesToGet' failed to satisfy "
      + 'constraint: Member must have length greater than or equal to 1'));
  });
});

describe('capacity units', () => {
  const key = { pk: { S: 'u' } };
  // 2 + 1 for the key, 1 for the filler's name.
  const ofSize = (size) => ({ ...key, f: { S: 'x'.repeat(size - 4) } });
  const total = { ReturnConsumedCapacity: 'TOTAL' };
  const units = async (promise) => (await promise).ConsumedCapacity.CapacityUnits;

  for (const [size, write, read] of [
    [4, 1, 1], [1024, 1, 1], [1025, 2, 1], [4096, 4, 1], [4097, 5, 2], [8192, 8, 2], [8193, 9, 3],
  ]) {
    test(`${size} bytes: ${write} to write or delete, ${read} to read consistently`, async () => {
      await remove(key);
      assert.equal(await units(put(ofSize(size), total)), write);
      assert.equal(await units(get(key, total)), read);
      assert.equal(await units(get(key, { ...total, ConsistentRead: false })), read / 2);
      // What is read is charged, not what is returned.
      assert.equal(await units(get(key, { ...total, AttributesToGet: ['pk'] })), read);
      assert.equal(await units(remove(key, total)), write);
    });
  }

  test('a put over a larger item is charged for that one', async () => {
    await put(ofSize(3000));
    assert.equal(await units(put(ofSize(10), total)), 3);
    assert.equal(await units(put(ofSize(10), total)), 1);
  });

  test('what is not there costs the least', async () => {
    await remove(key);
    assert.equal(await units(remove(key, total)), 1);
    assert.equal(await units(get(key, total)), 1);
    assert.equal(await units(get(key, { ...total, ConsistentRead: false })), 0.5);
  });

  test('TOTAL names the table, INDEXES adds its share, NONE tells nothing', async () => {
    assert.deepEqual((await put(key, total)).ConsumedCapacity,
      { TableName: PLAIN, CapacityUnits: 1 });
    assert.deepEqual((await get(key, { ReturnConsumedCapacity: 'INDEXES' })).ConsumedCapacity,
      { TableName: PLAIN, CapacityUnits: 1, Table: { CapacityUnits: 1 } });
    assert.equal((await put(key, { ReturnConsumedCapacity: 'NONE' })).ConsumedCapacity, undefined);
  });

  // Sizes that the unit border reveals: each value with its bytes.
  const sizes = [
    ['N 1', { N: '1' }, 2], ['N -1', { N: '-1' }, 3], ['N 12345', { N: '12345' }, 4],
    ['N 1.5', { N: '1.5' }, 3], ['N 1000', { N: '1000' }, 2], ['N 0', { N: '0' }, 1],
    ['BOOL', { BOOL: true }, 1], ['NULL', { NULL: true }, 1], ['B', { B: bytes(0, 1, 2) }, 3],
    ['S counts bytes of UTF-8', { S: 'é😀' }, 6], ['SS', { SS: ['ab', 'c'] }, 3],
    ['NS', { NS: ['1', '22'] }, 4], ['empty L', { L: [] }, 3], ['empty M', { M: {} }, 3],
    ['L adds one for each element', { L: [{ S: 'ab' }, { NULL: true }] }, 3 + 1 + 2 + 1 + 1],
    ['M adds one for each member', { M: { k: { S: 'ab' } } }, 3 + 1 + 1 + 2],
  ];
  for (const [name, v, size] of sizes) {
    test(`size of ${name}`, async () => {
      const filled = (itemSize) => ({ ...ofSize(itemSize - 1 - size), v });
      await remove(key);
      assert.equal(await units(put(filled(1024), total)), 1);
      assert.equal(await units(put(filled(1025), total)), 2);
    });
  }
});

describe('limits', () => {
  const key = { pk: { S: 'l' } };
  const ofSize = (size) => ({ ...key, f: { S: 'x'.repeat(size - 4) } });

  test('an item of 409,600 bytes is kept and one of 409,601 is refused', async () => {
    const item = ofSize(ITEM_SIZE_MAX);
    const { ConsumedCapacity } = await put(item, { ReturnConsumedCapacity: 'TOTAL' });
    assert.equal(ConsumedCapacity.CapacityUnits, 400);
    assert.deepEqual((await get(key)).Item, item);
    assert.deepEqual(await refusal(put(ofSize(ITEM_SIZE_MAX + 1))),
      validation('Item size has exceeded the maximum allowed size'));
    assert.deepEqual((await get(key)).Item, item);
  });

  for (const wrap of [(v) => ({ L: [v] }), (v) => ({ M: { m: v } })]) {
    const kind = Object.keys(wrap({}))[0];
    test(`32 levels of ${kind} are kept and 33 are refused`, async () => {
      const nested = (levels) => {
        let value = { S: 'deepest' };
        for (let level = 1; level < levels; level++) value = wrap(value);
        return { ...key, v: value };
      };
      await put(nested(32));
      assert.deepEqual((await get(key)).Item, nested(32));
      assert.deepEqual(await refusal(put(nested(33))),
        validation('Nesting Levels have exceeded supported limits: Attributes in the item have '
          + 'nested levels beyond supported limit'));
    });
  }

  test('an attribute name of 65,535 bytes is kept', async () => {
    const item = { ...key, ['n'.repeat(65535)]: { S: 'v' } };
    await put(item);
    assert.deepEqual((await get(key)).Item, item);
  });

  test('an item of a thousand attributes is kept', async () => {
    const item = { ...key };
    for (let index = 0; index < 1000; index++) item[`a${index}`] = { N: String(index) };
    await put(item);
    assert.deepEqual((await get(key)).Item, item);
  });
});
