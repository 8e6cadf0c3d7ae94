// files.test.js -- items from files of every form, piece by piece, without a browser.
'use strict';
const assert = require('node:assert/strict');
const path = require('node:path');
const { before, test } = require('node:test');
const { consoleFolder } = require('./lib/browser.js');
const { TEN_TYPES } = require('./lib/data.js');

let csv;
let value;
before(async () => {
  csv = await import(path.join(consoleFolder, 'core/csv.js'));
  value = await import(path.join(consoleFolder, 'core/value.js'));
});

// A file that arrives in pieces of `size` bytes.
const fileOf = (text, size) => ({
  stream: () => new ReadableStream({
    start(controller) {
      const bytes = new TextEncoder().encode(text);
      for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size));
      controller.close();
    },
  }),
});

async function read(format, text, size = 1 << 16) {
  const entries = [];
  for await (const { line, item, error } of csv.fromFile(format, fileOf(text, size))) entries.push(item ? [line, value.itemToDynamo(item)] : [line, error.message]);
  return JSON.parse(JSON.stringify(entries));
}

const CSV = 'pk,n:N,text:S\r\na,1,"quoted ""text"", with\r\ntwo lines"\rb,2,\nc,x,""\n\n"d",,"ü🦉"';
const CSV_ITEMS = [
  [2, { pk: { S: 'a' }, n: { N: '1' }, text: { S: 'quoted "text", with\r\ntwo lines' } }],
  [4, { pk: { S: 'b' }, n: { N: '2' } }],
  [5, 'Not a number'],
  [7, { pk: { S: 'd' }, text: { S: 'ü🦉' } }],
];
const JSON_ITEMS = '{"pk": {"S": "a]}\\"[{"}},\n  {"pk": {"S": "ü\\\\"},\n "m": {"M": {"l": {"L": []}}}}, {"pk": {"X": "c"}}';
const JSON_WANTED = (line) => [[line, { pk: { S: 'a]}"[{' } }], [line + 1, { pk: { S: 'ü\\' }, m: { M: { l: { L: [] } } } }], [line + 2, /"X" is no type/]];

test('a file is the same whatever the pieces in which it comes', async () => {
  const files = [['csv', CSV, CSV_ITEMS], ['dynamo', `\n[${JSON_ITEMS}]\n`, JSON_WANTED(2)], ['dynamo', `{"Items": [${JSON_ITEMS}], "Count": 3, "LastEvaluatedKey": {"pk": {"S": "c"}}}`, JSON_WANTED(1)],
    ['plain', '[{"a": 1},\n{"b": [2]}]', [[1, { a: { N: '1' } }], [2, { b: { L: [{ N: '2' }] } }]]]];
  for (const [format, text, wanted] of files) {
    for (let size = 1; size <= 70; size += 1) {
      // The form of a file shows in its first piece, which a browser never makes that small.
      if (format !== 'csv' && size < 12) continue;
      const found = await read(format, text, size);
      assert.equal(found.length, wanted.length, `${text} in pieces of ${size}`);
      found.forEach(([line, item], i) => {
        assert.equal(line, wanted[i][0], `${text} in pieces of ${size}`);
        if (wanted[i][1] instanceof RegExp) assert.match(item, wanted[i][1]);
        else assert.deepEqual(item, wanted[i][1]);
      });
    }
  }
});

test('items survive each form of file in pieces', async () => {
  const items = Array.from({ length: 5 }, (_, i) => value.itemFromDynamo({ ...TEN_TYPES, pk: { S: `${i}"\r` } }));
  for (const format of ['dynamo', 'plain', 'csv']) {
    const found = await read(format, csv.toText(format, items), 100);
    assert.equal(found.length, items.length);
    found.forEach(([, item], i) => assert.ok(value.equalItems(value.itemFromDynamo(item), items[i]), `${format} ${i}`));
  }
});

test('after a fault in the quotes nothing more is read, and what came before counts', async () => {
  assert.deepEqual(await read('csv', 'pk\na\n"b\nc\n', 4), [[2, { pk: { S: 'a' } }], [3, 'A field begins with a quote that is not closed']]);
  assert.deepEqual(await read('csv', 'pk\na\n"b"c\nd\n', 4), [[2, { pk: { S: 'a' } }], [3, 'A field continues after its closing quote']]);
});

test('an array that is broken off or holds no items is reported', async () => {
  assert.deepEqual(await read('plain', '[{"a": 1},\n{"b": '), [[1, { a: { N: '1' } }], [2, 'The file ends before its array does']]);
  assert.deepEqual(await read('plain', '[{"a": 1},\n 5, {"b": 1}]'), [[1, { a: { N: '1' } }], [2, 'Expected an item']]);
});

test('what is longer than any item is refused, not kept', async () => {
  const long = 'x'.repeat(9 << 20);
  for (const [format, text] of [['csv', `pk\na\n"${long}`], ['plain', `{"a": 1}\n${long}`], ['plain', `[{"a": 1}, {"b": "${long}`]]) {
    const found = await read(format, text);
    assert.equal(found.length, 2);
    assert.match(found[1][1], /No item ends within/);
  }
});
