// transfer.test.js -- long work on many items: export, import and deletion lose nothing, whatever happens
// on the way.
'use strict';
const assert = require('node:assert/strict');
const fs = require('node:fs');
const { after, before, describe, test } = require('node:test');
const { missing, openDesk } = require('./lib/browser.js');
const { createTable, putAll } = require('./lib/data.js');

describe('long work', { skip: missing() }, () => {
  let desk;
  before(async () => { desk = await openDesk(); });
  after(() => desk.close());

  const operationOf = (route) => route.request().headers()['x-amz-target']?.split('.')[1];
  const scan = async (name) => (await desk.call('Scan', { TableName: name, ConsistentRead: true })).Items.sort((a, b) => (a.pk.S < b.pk.S ? -1 : 1));
  const refuse = (route, name) => route.fulfill({ status: 400, contentType: 'application/x-amz-json-1.0', body: JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: 'on purpose' }) });

  // --- Export ---

  // The first page of an export is followed by another, which `second` answers.
  async function exportInTwo(format, second) {
    const name = `export-${format}-${Math.random().toString(36).slice(2)}`;
    await createTable(desk, name);
    await putAll(desk, name, Array.from({ length: 10 }, (_, i) => ({ pk: { S: `k${i}` }, n: { N: String(i) } })));
    const page = await desk.page(`#/t/${name}/items`);
    await page.locator('.footer').getByText('10 returned').waitFor();
    await page.evaluate(() => { window.showSaveFilePicker = undefined; });
    let count = 0;
    await page.route('**/', async (route) => {
      if (operationOf(route) !== 'Scan') return route.fallback();
      count += 1;
      if (count > 1) return second(route);
      const response = await route.fetch();
      return route.fulfill({ response, body: JSON.stringify({ ...await response.json(), LastEvaluatedKey: { pk: { S: 'k5' } } }) });
    });
    await page.getByRole('button', { name: 'Export' }).click();
    await page.getByLabel('Format').selectOption(format);
    await page.getByLabel('What').selectOption('table');
    return page;
  }
  const start = (page) => page.getByRole('dialog').getByRole('button', { name: 'Export' }).click();

  for (const format of ['dynamo', 'csv']) {
    test(`a stopped export keeps what was read, and says how much: ${format}`, async () => {
      let asked;
      const isAsked = new Promise((resolve) => { asked = resolve; });
      const page = await exportInTwo(format, () => asked()); // No answer.
      await start(page);
      await isAsked;
      const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Stop' }).click()]);
      await page.getByText('10 items exported').waitFor();
      await page.getByText('Stopped before the end').waitFor();
      const text = fs.readFileSync(await download.path(), 'utf8');
      assert.equal(text.trim().split('\n').length, format === 'csv' ? 11 : 10);
      await page.getByRole('button', { name: 'Close' }).last().click();
      assert.equal(await page.getByRole('dialog').count(), 0);
    });
  }

  test('an export that fails leaves no half file, and says so; one that is throttled goes on', async () => {
    const failing = await exportInTwo('dynamo', (route) => refuse(route, 'ValidationException'));
    let downloads = 0;
    failing.on('download', () => { downloads += 1; });
    await start(failing);
    await failing.getByText('No file was written').waitFor();
    await failing.getByText('10 items had been read').waitFor();
    assert.equal(downloads, 0);
    let left = 2;
    const slow = await exportInTwo('dynamo', (route) => {
      left -= 1;
      return left >= 0 ? refuse(route, 'ProvisionedThroughputExceededException') : route.fulfill({ status: 200, contentType: 'application/x-amz-json-1.0', body: '{"Items":[{"pk":{"S":"last"}}],"Count":1}' });
    });
    await start(slow);
    await slow.getByText('11 items exported').waitFor();
  });

  // --- Import ---

  async function importing(name, fileName, text, { rule = 'fail', onput } = {}) {
    const page = await desk.page(`#/t/${name}/design`);
    await page.getByRole('button', { name: 'Import items' }).click();
    await page.getByLabel('File', { exact: true }).setInputFiles({ name: fileName, mimeType: 'text/plain', buffer: Buffer.from(text) });
    await page.getByLabel('Conflicts').selectOption(rule);
    if (onput) await page.route('**/', (route) => (operationOf(route) === 'PutItem' ? onput(route, JSON.parse(route.request().postData()).Item) : route.fallback()));
    await page.getByRole('dialog').getByRole('button', { name: 'Import' }).click();
    return page;
  }

  test('items with one key are written in the order of the file', async () => {
    await createTable(desk, 'ordered');
    let second;
    let go;
    const others = new Promise((resolve) => { go = resolve; });
    const answer = async (route) => route.fulfill({ response: await route.fetch() });
    const page = await importing('ordered', 'x.jsonl', ['{"pk":"k","n":1}', '{"pk":"k","n":2}', '{"pk":"z","n":1}', ''].join('\n'), {
      rule: 'replace',
      // The first write of the key waits until all others that are sent beside it have been made.
      onput: async (route, item) => {
        if (item.n.N === '2') {
          second = answer(route);
          return second;
        }
        if (item.pk.S === 'k') await others;
        await answer(route);
        if (item.pk.S === 'z') {
          await second;
          go();
        }
        return undefined;
      },
    });
    await page.getByText('3 items written').waitFor();
    assert.deepEqual(await scan('ordered'), [{ pk: { S: 'k' }, n: { N: '2' } }, { pk: { S: 'z' }, n: { N: '1' } }]);
  });

  test('throttled and lost requests are repeated, and none is taken for a conflict of its own', async () => {
    await createTable(desk, 'patient');
    desk.expected.push(/ERR_FAILED/);
    const seen = new Map();
    const page = await importing('patient', 'x.json', JSON.stringify(Array.from({ length: 20 }, (_, i) => ({ pk: `k${i}` }))), {
      onput: async (route, item) => {
        const count = (seen.get(item.pk.S) ?? 0) + 1;
        seen.set(item.pk.S, count);
        if (item.pk.S === 'k3' && count < 3) return refuse(route, 'ProvisionedThroughputExceededException');
        if (item.pk.S === 'k5' && count === 1) {
          await route.fetch(); // It arrives, and its answer does not.
          return route.abort();
        }
        return route.continue();
      },
    });
    await page.getByText('20 items written').waitFor();
    await page.getByText('0 skipped because their key exists, 0 failed').waitFor();
    assert.deepEqual([seen.get('k3'), seen.get('k5'), seen.get('k1')], [3, 2, 1]);
    assert.equal((await scan('patient')).length, 20);
  });

  test('each line that was not written is in the report', async () => {
    await createTable(desk, 'reported');
    const page = await importing('reported', 'x.csv', `pk,n:N\n${Array.from({ length: 30 }, (_, i) => `k${i},${i % 10 ? 'x' : i}`).join('\n')}\n"open\nk31,31\n`);
    await page.getByText('3 items written').waitFor();
    await page.getByText('28 failed').waitFor();
    await page.getByText('The rest of the file was not imported: A field begins with a quote that is not closed').waitFor();
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download all 28' }).click()]);
    const lines = fs.readFileSync(await download.path(), 'utf8').trim().split('\n');
    assert.equal(lines.length, 28);
    assert.deepEqual([lines[0], lines[27]], ['Line 3: Not a number', 'Line 32: A field begins with a quote that is not closed']);
  });

  test('an answer of Scan is imported as it is', async () => {
    await createTable(desk, 'answers');
    await createTable(desk, 'copy');
    await putAll(desk, 'answers', Array.from({ length: 5 }, (_, i) => ({ pk: { S: `k${i}` }, n: { N: '12345678901234567890123456789' } })));
    const page = await importing('copy', 'x.json', JSON.stringify(await desk.call('Scan', { TableName: 'answers' }), null, 4));
    await page.getByText('5 items written').waitFor();
    assert.deepEqual(await scan('copy'), await scan('answers'));
  });

  // --- Deletion ---

  const deleteAll = async (page) => {
    await page.getByRole('grid').focus();
    await page.keyboard.press('Control+a');
    await page.keyboard.press('Delete');
  };
  const grow = (name, pk) => desk.call('UpdateItem', { TableName: name, Key: { pk: { S: pk } }, UpdateExpression: 'SET theirs = :v', ExpressionAttributeValues: { ':v': { S: 'new' } } });

  test('items that gained an attribute stay, even in the moment of their deletion', async () => {
    await createTable(desk, 'bulk');
    await putAll(desk, 'bulk', ['a', 'b', 'c'].map((pk) => ({ pk: { S: pk } })));
    const page = await desk.page('#/t/bulk/items');
    await page.locator('.footer').getByText('3 returned').waitFor();
    await grow('bulk', 'a');
    await page.route('**/', async (route) => {
      if (operationOf(route) === 'DeleteItem' && JSON.parse(route.request().postData()).Key.pk.S === 'b') await grow('bulk', 'b');
      return route.fallback();
    });
    await deleteAll(page);
    await page.getByText('stays if it has changed since it was listed').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('1 deleted').first().waitFor();
    await page.getByText('2 stay').waitFor();
    await page.getByText('a: changed meanwhile, not deleted').waitFor();
    assert.deepEqual(await scan('bulk'), ['a', 'b'].map((pk) => ({ pk: { S: pk }, theirs: { S: 'new' } })));
  });

  test('a list of some attributes says that changes of others are not noticed', async () => {
    await createTable(desk, 'partly');
    await putAll(desk, 'partly', ['a', 'b'].map((pk) => ({ pk: { S: pk }, n: { N: '1' }, more: { S: 'x' } })));
    const page = await desk.page('#/t/partly/items?project=pk,n');
    await page.locator('.footer').getByText('2 returned').waitFor();
    await desk.call('PutItem', { TableName: 'partly', Item: { pk: { S: 'b' }, n: { N: '2' } } });
    await deleteAll(page);
    await page.getByText('changes of others are not noticed').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('1 stay').waitFor();
    assert.deepEqual((await scan('partly')).map((one) => one.pk.S), ['b']);
  });
});
