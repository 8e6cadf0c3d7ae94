// value.test.js -- typed values, the two JSON forms, and the smallest update, without a browser.
'use strict';
const assert = require('node:assert/strict');
const path = require('node:path');
const { before, test } = require('node:test');
const { consoleFolder } = require('./lib/browser.js');

let value;
let json;
before(async () => {
  value = await import(path.join(consoleFolder, 'core/value.js'));
  json = await import(path.join(consoleFolder, 'core/json_text.js'));
});

function nested(levels) {
  let inner = { S: 'deep' };
  for (let i = 1; i < levels; i += 1) inner = i % 2 ? { M: { a: inner } } : { L: [inner] };
  return inner;
}

// Everything that other tools lose.
const HARD = {
  pk: { S: '' },
  s: { S: 'quote " backslash \\ newline \n nul \u0000 emoji 🦉 line \u2028' },
  long: { N: '12345678901234567890123456789012345678' },
  tiny: { N: '1E-130' },
  huge: { N: '9.9999999999999999999999999999999999999E+125' },
  negative: { N: '-0.00012' },
  over: { N: '9007199254740993' },
  b: { B: 'AP8Q+/8=' },
  empty_b: { B: '' },
  yes: { BOOL: true },
  no: { BOOL: false },
  nothing: { NULL: true },
  ss: { SS: ['', 'a', '$'] },
  ns: { NS: ['1', '9007199254740993', '-1.5'] },
  bs: { BS: ['', 'AA=='] },
  list: { L: [{ N: '1' }, { S: '1' }, { L: [] }, { M: {} }] },
  map: { M: { $B: { S: 'not binary' }, $$: { N: '1' }, '': { S: 'empty name' }, 'a.b[0]': { NULL: true } } },
  deep: nested(32),
  $SS: { L: [{ S: 'x' }] },
  '10': { S: 'ten' },
  '2': { S: 'two' },
};
const hardText = `{"__proto__": {"S": "not special"}, ${JSON.stringify(HARD).slice(1)}`;

test('an item survives each form, value by value', () => {
  const raw = JSON.parse(hardText);
  const item = value.itemFromDynamo(raw);
  assert.equal(item.get('__proto__').v, 'not special');
  assert.deepEqual(JSON.parse(JSON.stringify(value.itemToDynamo(item))), raw);
  for (const [format, parse] of [[json.formatDynamo, json.parseDynamo], [json.formatPlain, json.parsePlain]]) {
    const back = parse(format(item));
    assert.deepEqual([...back.keys()].sort(), [...item.keys()].sort());
    assert.deepEqual(back, item);
    assert.deepEqual(parse(json.lineOf(format(item))), item);
    assert.ok(!json.lineOf(format(item)).includes('\n'));
  }
  assert.deepEqual(json.parseDynamo(hardText), item);
  assert.equal(value.itemProblem(item), null);
});

test('random items survive each form', () => {
  let seed = 4711;
  const random = (n) => { seed = (seed * 1103515245 + 12345) % 2 ** 31; return Math.floor(seed / 65536) % n; };
  const text = () => ['', 'a', '$', '$$x', '__proto__', 'ü"\\', '\u0001', '1'][random(8)];
  const number = () => value.normaliseNumber(`${random(2) ? '-' : ''}${random(10000)}.${random(1000)}E${random(200) - 100}`);
  const make = (depth) => {
    switch (random(depth > 5 ? 6 : 10)) {
      case 0: return { S: text() };
      case 1: return { N: number() };
      case 2: return { B: Buffer.from(text()).toString('base64') };
      case 3: return { BOOL: random(2) === 1 };
      case 4: return { NULL: true };
      case 5: return { SS: [...new Set([text(), text(), text()])] };
      case 6: return { NS: [...new Set([number(), number()])] };
      case 7: return { BS: ['AA==', ''] };
      case 8: return { L: Array.from({ length: random(4) }, () => make(depth + 1)) };
      default: return { M: Object.fromEntries(Array.from({ length: random(4) }, () => [text(), make(depth + 1)]).filter(([name]) => name !== '__proto__')) };
    }
  };
  for (let i = 0; i < 2000; i += 1) {
    const item = value.itemFromDynamo({ a: make(1), b: make(1), $c: make(1) });
    assert.deepEqual(json.parseDynamo(json.formatDynamo(item)), item);
    assert.deepEqual(json.parsePlain(json.formatPlain(item)), item);
    assert.ok(value.equalItems(item, value.cloneItem(item)));
  }
});

test('numbers are normalised as the service does, or refused', () => {
  const cases = [['007', '7'], ['1.500', '1.5'], ['-0', '0'], ['+5', '5'], ['1e3', '1000'], ['.5', '0.5'], ['100', '100'],
    ['1E-3', '0.001'], ['0.001', '0.001'], ['5.', '5'],
    ['12345678901234567890123456789012345678', '12345678901234567890123456789012345678']];
  for (const [text, want] of cases) assert.equal(value.normaliseNumber(text), want, text);
  const refused = [['', /Not a number/], ['abc', /Not a number/], ['1e', /Not a number/], ['NaN', /Not a number/], ['.', /Not a number/],
    ['123456789012345678901234567890123456789', /38 significant digits/], ['1E126', /Larger/], ['1E-131', /Smaller/]];
  for (const [text, want] of refused) assert.throws(() => value.normaliseNumber(text), want, text);
});

// Regular expressions that try every end need minutes for these.
test('long texts are no trap', () => {
  const zeros = '0'.repeat(300_000);
  assert.throws(() => value.normaliseNumber(`1${zeros}1`), /38 significant digits/);
  assert.equal(value.normaliseNumber(`${zeros}1.5${zeros}`), '1.5');
  assert.equal(value.sizeOf({ t: 'N', v: `1${zeros}1` }), 21);
  assert.equal(value.sizeOf({ t: 'N', v: `1${zeros}` }), 2);
  assert.equal(value.itemProblem(value.itemFromDynamo({ a: { B: `${'='.repeat(300_000)}x` } })).message, 'Not base64');
});

test('mistakes in texts have a place and a reason', () => {
  const cases = [
    ['{', /Line 1, column 2: Expected a name/],
    ['{"a": {"S": "x"}, "a": {"S": "y"}}', /column 19: "a" occurs twice/],
    ['{"a": {"X": "x"}}', /"X" is no type/],
    ['{"a": {"N": 1}}', /N must be a text in quotes/],
    ['{"a": {"S": "x"}}}', /Something follows/],
    ['{\n"a": {"S": "x}\n}', /Line 2, column 12: This text does not end/],
    ['{"a": {"S": "x", "N": "1"}}', /Expected one type/],
    ['{"a": {"NULL": false}}', /NULL must be true/],
  ];
  for (const [text, want] of cases) assert.throws(() => json.parseDynamo(text), want, text);
  assert.throws(() => json.parsePlain('{"a": {"$SS": ["x"], "b": 1}}'), /stands alone/);
  assert.throws(() => json.parsePlain('{"a": {"$X": 1}}'), /is no type/);
  assert.throws(() => json.parsePlain('{"$a": 1}'), /is written \$\$a/);
  assert.throws(() => json.parsePlain('{"a": 01}'), /Expected a comma/);
});

test('what the service would refuse is found before it is sent', () => {
  const wrong = (raw) => value.itemProblem(value.itemFromDynamo(raw))?.message;
  assert.match(wrong({ a: { SS: [] } }), /must not be empty/);
  assert.match(wrong({ a: { NS: ['1', '1.0'] } }), /twice/);
  assert.match(wrong({ a: { B: 'x' } }), /base64/);
  assert.match(wrong({ a: nested(33) }), /32 levels/);
  assert.equal(wrong({ a: nested(32) }), undefined);
  assert.match(wrong({ '': { S: '' } }), /needs a name/);
  assert.match(wrong({ a: { S: 'x'.repeat(409_600) } }), /at most 409600/);
  assert.equal(wrong({ a: { S: 'x'.repeat(409_599) } }), undefined);
});

test('key values survive links', () => {
  for (const one of [{ t: 'S', v: 'a&b=c/d?e#f:g' }, { t: 'N', v: '-1.5' }, { t: 'B', v: '+/8=' }, { t: 'S', v: '' }]) {
    assert.deepEqual(value.fromLink(value.toLink(one)), one);
  }
});
