// editor.test.js -- an item in each view: nothing is lost, nothing is overwritten.
'use strict';
const assert = require('node:assert/strict');
const { after, before, beforeEach, describe, test } = require('node:test');
const { missing, openDesk } = require('./lib/browser.js');
const { createTable, TEN_TYPES } = require('./lib/data.js');

const VIEWS = ['Form', 'DynamoDB JSON', 'Plain JSON'];

describe('editor', { skip: missing() }, () => {
  let desk;
  before(async () => {
    desk = await openDesk();
    await createTable(desk, 'things', { indexes: ['status'] });
  });
  after(() => desk.close());
  beforeEach(() => desk.call('PutItem', { TableName: 'things', Item: TEN_TYPES }));

  const stored = async (pk = 'a') => (await desk.call('GetItem', { TableName: 'things', Key: { pk: { S: pk } }, ConsistentRead: true })).Item;
  const open = async (pk = 'a') => {
    const page = await desk.page(`#/t/things/item?k=S:${pk}`);
    await page.getByText('of 400 KB').waitFor();
    return page;
  };
  const save = async (page) => {
    await page.keyboard.press('Control+s');
    await page.getByRole('dialog').getByRole('button', { name: /^(Save|Create)$/ }).click();
  };
  const said = (page, text) => page.locator('.toasts').getByText(text).last().waitFor();

  test('an unchanged item sends nothing from any view', async () => {
    const page = await open();
    const writes = [];
    page.on('request', (request) => { if (/Put|Update|Transact/.test(request.headers()['x-amz-target'] ?? '')) writes.push(request.postData()); });
    for (const view of [...VIEWS, ...VIEWS]) {
      await page.getByRole('tab', { name: view }).click();
      await page.getByText('unchanged').waitFor();
      await page.keyboard.press('Control+s');
      await said(page, 'Nothing has changed');
    }
    assert.deepEqual(writes, []);
    assert.deepEqual(await stored(), TEN_TYPES);
  });

  for (const view of VIEWS) {
    test(`an edit in ${view} changes one value and keeps all others`, async () => {
      const page = await open();
      await page.getByRole('tab', { name: view }).click();
      if (view === 'Form') await page.getByLabel('empty', { exact: true }).fill('no longer');
      else {
        const source = page.getByRole('textbox', { name: view });
        const text = await source.inputValue();
        assert.ok(text.includes('12345678901234567890123456789012345678'));
        await source.fill(text.replace(/"empty": (\{"S": )?""/, '"empty": $1"no longer"'));
      }
      await page.getByText('1 change', { exact: true }).waitFor();
      await save(page);
      await said(page, 'Saved');
      assert.deepEqual(await stored(), { ...TEN_TYPES, empty: { S: 'no longer' } });
    });
  }

  test('each type can be entered in the form', async () => {
    const page = await desk.page('#/t/things/item');
    await page.getByText('of 400 KB').waitFor();
    await page.getByLabel('pk', { exact: true }).fill('new');
    const add = async (name, type) => {
      await page.getByRole('button', { name: 'Add attribute' }).click();
      const field = page.getByLabel('Name').last();
      await field.fill(name);
      await field.press('Tab');
      await page.getByLabel(`${name}: type`).selectOption(type);
    };
    await add('text', 'S');
    await page.getByLabel('text', { exact: true }).fill('hello');
    await add('number', 'N');
    await page.getByLabel('number', { exact: true }).fill('99999999999999999999999999999999999999');
    await add('flag', 'BOOL');
    await page.getByLabel('flag', { exact: true }).selectOption('false');
    await add('none', 'NULL');
    await add('bin', 'B');
    await page.getByLabel('bin: shown as').selectOption('hex');
    await page.getByLabel('bin', { exact: true }).fill('00 ff');
    await add('tags', 'NS');
    for (const one of ['1', '2.5']) {
      await page.getByLabel('Add to tags').fill(one);
      await page.getByLabel('Add to tags').press('Enter');
    }
    await page.getByLabel('Add to tags').fill('1.0');
    await page.getByLabel('Add to tags').press('Enter');
    await page.getByText('A set must not hold a member twice').waitFor();
    await add('doc', 'M');
    await page.getByRole('button', { name: 'Add member to doc' }).click();
    await add('rows', 'L');
    await page.getByRole('button', { name: 'Add element to rows' }).click();
    await save(page);
    await said(page, 'Saved');
    assert.deepEqual(await stored('new'), {
      pk: { S: 'new' }, text: { S: 'hello' }, number: { N: '99999999999999999999999999999999999999' }, flag: { BOOL: false }, none: { NULL: true },
      bin: { B: 'AP8=' }, tags: { NS: ['1', '2.5'] }, doc: { M: { member: { S: '' } } }, rows: { L: [{ S: '' }] },
    });
  });

  for (const order of ['first saves first', 'second saves first']) {
    test(`two editors of different attributes lose nothing: ${order}`, async () => {
      const pages = [await open(), await open()];
      await pages[0].getByLabel('s', { exact: true }).fill('from the first');
      await pages[1].getByLabel('empty', { exact: true }).fill('from the second');
      if (order.startsWith('second')) pages.reverse();
      await save(pages[0]);
      await said(pages[0], 'Saved');
      // Both touched the item, but not the same attribute: the update is smaller than the item.
      await save(pages[1]);
      await said(pages[1], 'Saved');
      assert.deepEqual(await stored(), { ...TEN_TYPES, s: { S: 'from the first' }, empty: { S: 'from the second' } });
    });
  }

  test('changes inside of one map are merged', async () => {
    const page = await open();
    await page.getByRole('tab', { name: 'Plain JSON' }).click();
    const source = page.getByRole('textbox', { name: 'Plain JSON' });
    await source.fill((await source.inputValue()).replace('"list": []', '"list": [1]'));
    await desk.call('UpdateItem', { TableName: 'things', Key: { pk: { S: 'a' } }, UpdateExpression: 'SET #m.#n = :v', ExpressionAttributeNames: { '#m': 'map', '#n': 'theirs' }, ExpressionAttributeValues: { ':v': { S: 'x' } } });
    await save(page);
    await page.getByText('do not touch each other').waitFor();
    await page.getByRole('button', { name: 'Merge and save' }).click();
    await said(page, 'Saved');
    assert.deepEqual((await stored()).map, { M: { ...TEN_TYPES.map.M, list: { L: [{ N: '1' }] }, theirs: { S: 'x' } } });
  });

  for (const choice of ['Yours', 'Theirs']) {
    test(`a value that both changed is chosen: ${choice}`, async () => {
      const page = await open();
      await page.getByLabel('s', { exact: true }).fill('mine');
      await desk.call('UpdateItem', { TableName: 'things', Key: { pk: { S: 'a' } }, UpdateExpression: 'SET s = :v, extra = :v', ExpressionAttributeValues: { ':v': { S: 'theirs' } } });
      await save(page);
      await page.getByText('Somebody changed this item meanwhile').waitFor();
      assert.deepEqual((await stored()).s, { S: 'theirs' });
      await page.getByRole('radio', { name: choice === 'Yours' ? 'mine' : 'theirs' }).check();
      await page.getByRole('button', { name: 'Merge and save' }).click();
      await said(page, choice === 'Yours' ? 'Saved' : 'already as you want it');
      assert.deepEqual(await stored(), { ...TEN_TYPES, extra: { S: 'theirs' }, s: { S: choice === 'Yours' ? 'mine' : 'theirs' } });
    });
  }

  test('an item that was deleted meanwhile comes back only if asked for', async () => {
    const page = await open();
    await page.getByLabel('s', { exact: true }).fill('mine');
    await desk.call('DeleteItem', { TableName: 'things', Key: { pk: { S: 'a' } } });
    await save(page);
    await page.getByText('was deleted meanwhile').waitFor();
    await page.keyboard.press('Escape');
    assert.equal(await stored(), undefined);
  });

  test('an item that changed is not deleted', async () => {
    const page = await open();
    await desk.call('UpdateItem', { TableName: 'things', Key: { pk: { S: 'a' } }, UpdateExpression: 'SET s = :v', ExpressionAttributeValues: { ':v': { S: 'theirs' } } });
    const remove = async () => {
      await page.locator('main').getByRole('button', { name: 'Delete' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    };
    await remove();
    await page.getByText('has changed since you opened it').waitFor();
    await remove();
    await said(page, 'Deleted');
    assert.equal(await stored(), undefined);
  });

  test('a text that cannot be read stays as it is, with the place of the mistake', async () => {
    const page = await open();
    await page.getByRole('tab', { name: 'DynamoDB JSON' }).click();
    await page.getByRole('textbox', { name: 'DynamoDB JSON' }).fill('{\n  "pk": {"S": 1}\n}');
    await page.getByText('Line 2, column 15: S must be a text in quotes').waitFor();
    await page.getByRole('tab', { name: 'Form' }).click();
    assert.equal(await page.getByRole('tab', { name: 'DynamoDB JSON' }).getAttribute('aria-selected'), 'true');
    assert.equal(await page.getByRole('textbox', { name: 'DynamoDB JSON' }).inputValue(), '{\n  "pk": {"S": 1}\n}');
  });
});
