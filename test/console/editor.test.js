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

  test('edits that are not saved are told of when the page is left, and are there after "back"', async () => {
    const page = await open();
    await page.getByLabel('empty', { exact: true }).fill('kept');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await said(page, 'changes that are not saved');
    await page.locator('.footer').getByText('returned').waitFor();
    await page.goBack();
    await page.getByText('1 change', { exact: true }).waitFor();
    assert.equal(await page.getByLabel('empty', { exact: true }).inputValue(), 'kept');
    await page.getByRole('button', { name: 'Discard changes' }).click();
    await page.goto(desk.url('#/t/things/items'));
    await page.locator('.footer').getByText('returned').waitFor();
    assert.equal(await page.locator('.toasts').getByText('changes that are not saved').count(), 1);
  });

  test('a copy that was left and found again is still a copy', async () => {
    const page = await open();
    await page.getByRole('button', { name: 'Duplicate' }).click();
    await page.getByLabel('pk', { exact: true }).fill('copy');
    assert.equal(await page.locator('main').getByRole('button', { name: /^(Delete|History|Duplicate)$/ }).count(), 0);
    await page.goto(desk.url('#/settings'));
    await page.getByText('Density').first().waitFor();
    await page.goBack();
    await page.getByText('of 400 KB').waitFor();
    assert.equal(await page.getByLabel('pk', { exact: true }).inputValue(), 'copy');
    await page.getByRole('button', { name: 'Create item' }).waitFor();
    await save(page);
    await said(page, 'Saved');
    assert.deepEqual(await stored(), TEN_TYPES);
    assert.deepEqual(await stored('copy'), { ...TEN_TYPES, pk: { S: 'copy' } });
    await page.getByRole('button', { name: 'Save' }).waitFor();
    await page.getByRole('button', { name: 'Duplicate' }).click();
    await page.getByRole('button', { name: 'Discard changes' }).click();
    await page.getByText('unchanged').waitFor();
    await page.locator('main').getByRole('button', { name: 'Delete' }).waitFor();
  });

  // Requests of one operation wait until `go` is called; `seen` resolves when the first one is there.
  const hold = async (page, operation) => {
    const gate = { count: 0 };
    gate.seen = new Promise((resolve) => { gate.arrived = resolve; });
    const open_ = new Promise((resolve) => { gate.go = resolve; });
    await page.route('**/', async (route) => {
      if (!route.request().headers()['x-amz-target']?.endsWith(`.${operation}`)) return route.fallback();
      gate.count += 1;
      gate.arrived();
      await open_;
      return route.continue();
    });
    return gate;
  };
  const addTheirs = (pk = 'a') => desk.call('UpdateItem', { TableName: 'things', Key: { pk: { S: pk } }, UpdateExpression: 'SET theirs = :v', ExpressionAttributeValues: { ':v': { S: 'new' } } });
  const remove = async (page) => {
    await page.locator('main').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  };

  test('what is typed while a save is on its way is not taken for saved, and nothing is sent twice', async () => {
    const page = await open();
    const gate = await hold(page, 'UpdateItem');
    await page.getByLabel('s', { exact: true }).fill('first');
    await save(page);
    await gate.seen;
    await page.getByLabel('empty', { exact: true }).fill('typed meanwhile');
    await page.keyboard.press('Control+s');
    assert.equal(await page.getByRole('dialog').count(), 0);
    gate.go();
    await said(page, 'Saved');
    await page.getByText('1 change', { exact: true }).waitFor();
    assert.equal(gate.count, 1);
    assert.equal(await page.getByLabel('empty', { exact: true }).inputValue(), 'typed meanwhile');
    await save(page);
    await page.getByText('unchanged').waitFor();
    assert.deepEqual(await stored(), { ...TEN_TYPES, s: { S: 'first' }, empty: { S: 'typed meanwhile' } });
  });

  for (const view of ['Form', 'Plain JSON']) {
    test(`what is typed while an item is created goes on to its page: ${view}`, async () => {
      const page = await desk.page('#/t/things/item');
      await page.getByText('of 400 KB').waitFor();
      const pk = `fresh ${view}`;
      const source = page.getByRole('textbox', { name: view });
      if (view === 'Form') await page.getByLabel('pk', { exact: true }).fill(pk);
      else {
        await page.getByRole('tab', { name: view }).click();
        await source.fill(`{"pk": "${pk}"}`);
      }
      const gate = await hold(page, 'PutItem');
      await save(page);
      await gate.seen;
      if (view === 'Form') await page.getByRole('button', { name: 'Add attribute' }).click();
      else await source.fill(`{"pk": "${pk}", "half`);
      gate.go();
      await said(page, 'Saved');
      await page.getByRole('button', { name: 'History' }).waitFor();
      assert.match(decodeURIComponent(page.url()), new RegExp(`k=S:${pk}`));
      if (view === 'Form') await page.getByText('1 change', { exact: true }).waitFor();
      else assert.equal(await source.inputValue(), `{"pk": "${pk}", "half`);
      assert.deepEqual(await stored(pk), { pk: { S: pk } });
    });
  }

  test('line ends that a browser would change are shown as JSON, edited and kept', async () => {
    await desk.call('PutItem', { TableName: 'things', Item: { ...TEN_TYPES, pk: { S: 'a\r\nb' }, 'two\nlines': { S: 'x' }, text: { B: Buffer.from('a\nb').toString('base64') } } });
    const page = await desk.page('#/t/things/item?k=S:a%0D%0Ab');
    const crlf = page.getByLabel('crlf', { exact: true });
    await crlf.waitFor();
    assert.equal(await crlf.inputValue(), '"line\\r\\nbreak"');
    await crlf.fill('"line\\r\\nbr');
    await page.getByText('the value is not changed').waitFor();
    await page.getByText('unchanged', { exact: true }).waitFor();
    await crlf.fill('"line\\r\\nbreaks"');
    await page.getByLabel('cr', { exact: true }).press('End');
    await page.getByLabel('cr', { exact: true }).press('Backspace');
    await page.keyboard.type('s"');
    // The name and the bytes are in inputs, which take line ends away.
    const name = page.locator('input.name').filter({ has: page.locator('xpath=self::*[contains(@title, "JSON")]') });
    assert.equal(await name.inputValue(), '"two\\nlines"');
    await name.fill('"three\\nlines"');
    await name.press('Tab');
    await page.getByLabel('text: shown as').selectOption('text');
    await page.getByText('no UTF-8 text of one line').waitFor();
    await save(page);
    await said(page, 'Saved');
    const { 'two\nlines': gone, ...item } = await stored('a\r\nb');
    assert.equal(gone, undefined);
    assert.deepEqual(item, { ...TEN_TYPES, pk: { S: 'a\r\nb' }, crlf: { S: 'line\r\nbreaks' }, cr: { S: 'line\rbreaks' }, 'three\nlines': { S: 'x' }, text: { B: 'YQpi' } });
    // A key in the query bar.
    await page.goto(desk.url('#/t/things/items?pk=S:a%0D%0Ab'));
    await page.locator('.footer').getByText('1 returned').waitFor();
    await page.getByLabel('pk', { exact: true }).press('End');
    await page.keyboard.press('Backspace');
    await page.keyboard.type('"');
    await page.keyboard.press('Control+Enter');
    await page.locator('.footer').getByText('all read').waitFor();
    await page.locator('.footer').getByText('1 returned').waitFor();
    assert.match(page.url(), /pk=S:a%0D%0Ab/);
  });

  test('an item that gained an attribute, or changed where no condition looks, is not deleted', async () => {
    const many = (n) => ({ pk: { S: 'many' }, ...Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`a${i}`, { N: String(i === n ? -1 : i) }])) });
    await desk.call('PutItem', { TableName: 'things', Item: many() });
    const pages = [await open(), await open('many')];
    await addTheirs();
    await desk.call('PutItem', { TableName: 'things', Item: many(180) });
    await pages[0].getByLabel('s', { exact: true }).fill('not saved yet');
    for (const page of pages) {
      await remove(page);
      await page.getByText('has changed since you opened it').waitFor();
    }
    assert.deepEqual(await stored(), { ...TEN_TYPES, theirs: { S: 'new' } });
    assert.deepEqual(await stored('many'), many(180));
    // Edits that are not saved stay as well.
    assert.equal(await pages[0].getByLabel('s', { exact: true }).inputValue(), 'not saved yet');
  });

  test('an item that gains an attribute in the moment of its deletion is shown, and can be created again', async () => {
    const page = await open();
    const gate = await hold(page, 'DeleteItem');
    await remove(page);
    await gate.seen;
    await addTheirs();
    gate.go();
    await page.getByText('Deleted while somebody changed it').waitFor();
    assert.equal(await stored(), undefined);
    await save(page);
    await said(page, 'Saved');
    assert.deepEqual(await stored(), { ...TEN_TYPES, theirs: { S: 'new' } });
  });

  for (const when of ['before', 'while']) {
    test(`a change of the key takes along what changed ${when} it was sent`, async () => {
      const page = await open();
      await page.getByLabel('pk', { exact: true }).fill(`moved ${when}`);
      const gate = await hold(page, 'TransactWriteItems');
      if (when === 'before') await addTheirs();
      else gate.seen.then(() => desk.call('UpdateItem', { TableName: 'things', Key: { pk: { S: 'a' } }, UpdateExpression: 'SET s = :v, theirs = :v', ExpressionAttributeValues: { ':v': { S: 'new' } } })).then(gate.go);
      await save(page);
      await page.getByText('Somebody changed this item meanwhile').waitFor();
      if (when === 'before') gate.go();
      await page.getByRole('button', { name: 'Merge and save' }).click();
      await said(page, 'Saved');
      assert.equal(await stored(), undefined);
      assert.deepEqual(await stored(`moved ${when}`), { ...TEN_TYPES, pk: { S: `moved ${when}` }, theirs: { S: 'new' }, ...(when === 'while' ? { s: { S: 'new' } } : {}) });
    });
  }

  test('a changed key does not replace the item that has it', async () => {
    await desk.call('PutItem', { TableName: 'things', Item: { pk: { S: 'taken' } } });
    const page = await open();
    await page.getByLabel('pk', { exact: true }).fill('taken');
    await save(page);
    await page.getByText('It was not replaced').waitFor();
    assert.deepEqual([await stored(), await stored('taken')], [TEN_TYPES, { pk: { S: 'taken' } }]);
  });
});
