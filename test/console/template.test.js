// template.test.js -- the console reads keys by their templates as the server does, without a browser.
'use strict';
const assert = require('node:assert/strict');
const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { after, before, test } = require('node:test');
const { binary } = require('../api/lib/server.js');
const { consoleFolder } = require('./lib/browser.js');

const CASES = 600;
const CASES_PER_MODEL = 100; // A model has so many tables.
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'stator-template-'));
let template;
before(async () => { template = await import(path.join(consoleFolder, 'model/template.js')); });
after(() => fs.rmSync(folder, { recursive: true }));

// The same cases each time.
let seed = 1;
const below = (limit) => {
  seed = (seed * 1103515245 + 12345) % 2 ** 31;
  return Math.floor((seed / 2 ** 31) * limit);
};
const pick = (list) => list[below(list.length)];
// Few letters, so that a text occurs again in the parameters around it.
const word = (sizeMin, sizeMax, letters = 'aab#é') => Array.from(
  { length: sizeMin + below(sizeMax - sizeMin + 1) }, () => pick([...letters])).join('');

// A template and a value that follows it, nearly follows it, or is anything.
function makeCase() {
  let text = word(0, 2);
  let value = text;
  const count = 1 + below(4);
  for (let i = 0; i < count; i += 1) {
    const last = i + 1 === count;
    const all = last && below(3) === 0;
    text += pick([`<p${i}${all ? '*' : ''}>`, `\${p${i}${all ? '*' : ''}}`]);
    value += word(1, 3, all ? 'ab#' : 'aaabé');
    const next = all ? '' : word(last ? 0 : 1, 2);
    text += next;
    value += next;
  }
  const at = below(value.length + 1);
  if (below(3) === 0) value = value.slice(0, at) + word(0, 2) + value.slice(at + below(2));
  if (below(10) === 0) value = word(1, 8);
  return { text, value: value || 'a' };
}

// What the server finds: the tests that it writes for a model build each row of the sample that
// follows its entity's template, from the parameters that it read from the row.
function askServer(cases, name) {
  const file = path.join(folder, `${name}.json`);
  fs.writeFileSync(file, JSON.stringify({
    ModelName: name,
    DataModel: cases.map(({ value }, i) => ({
      TableName: `table${i}`,
      KeyAttributes: { PartitionKey: { AttributeName: 'pk', AttributeType: 'S' } },
      NonKeyAttributes: [],
      TableData: [{ pk: { S: value } }],
    })),
    Stator: {
      Entities: cases.map(({ text }, i) => ({ Name: `e${i}`, Table: `table${i}`, Keys: [{ PartitionKey: text }] })),
      Patterns: [],
    },
  }));
  execFileSync(binary(), ['model', 'code', file, '--language', 'typescript', '--out', path.join(folder, name)]);
  const code = fs.readFileSync(path.join(folder, name, 'access.test.ts'), 'utf8');
  const found = cases.map(() => null);
  for (const [, i, values] of code.matchAll(/access\.newE(\d+)\((\{.*\})\);/g)) {
    found[Number(i)] = JSON.parse(values.replace(/(p\d+): "/g, '"$1": "'));
  }
  return found;
}

test('parameters are what the server finds, for any template and value', () => {
  let followed = 0;
  for (let done = 0; done < CASES; done += CASES_PER_MODEL) {
    const cases = Array.from({ length: CASES_PER_MODEL }, makeCase);
    const wanted = askServer(cases, `model${done}`);
    cases.forEach(({ text, value }, i) => {
      assert.deepEqual(template.extract(text, value), wanted[i], `${text} of ${value}`);
      followed += wanted[i] !== null;
    });
  }
  assert.ok(followed > CASES / 4 && followed < CASES * 0.9, `${followed}`);
});

// A regular expression needs years for this, and 5 s for 46 characters of it.
test('a template of many parameters is no trap', () => {
  const count = 16;
  const text = Array.from({ length: count }, (_, i) => `<p${i}>`).join('x');
  assert.equal(template.extract(`${text}y`, 'x'.repeat(1024)), null);
  assert.equal(template.extract(`${text}#`, 'x'.repeat(1024)), null);
  const found = template.extract(text, 'x'.repeat(1024));
  assert.equal(found.p0, 'x');
  assert.equal(found.p15.length, 1024 - 2 * (count - 1));
  assert.deepEqual(template.parametersOf(`${'${'.repeat(200_000)}a}`), ['a']);
});
