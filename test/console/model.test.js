// model.test.js -- the modeller: a model made by keyboard alone, files, suggestions, pictures, live tables.
'use strict';
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { after, before, describe, test } = require('node:test');
const { axeFindings, consoleFolder, missing, openDesk } = require('./lib/browser.js');
const { costliestFrame } = require('./lib/frames.js');

const EXAMPLES = path.join(__dirname, '..', '..', 'examples', 'models');
const TABS = ['patterns', 'entities', 'tables', 'data', 'view', 'coverage', 'live'];

// A file on a disk that is only in the page: Chromium's pickers need a person.
function fakeFiles() {
  window.fakeDisk = {};
  const handleOf = (name) => ({
    name,
    getFile: async () => new File([window.fakeDisk[name]], name),
    createWritable: async () => {
      let text = '';
      return { write: async (part) => { text += part; }, close: async () => { window.fakeDisk[name] = text; } };
    },
  });
  window.showSaveFilePicker = async ({ suggestedName }) => handleOf(suggestedName);
  window.showOpenFilePicker = async () => [handleOf(window.fakeOpens)];
}

describe('modeller', { skip: missing() }, () => {
  let desk;
  before(async () => { desk = await openDesk(); });
  after(() => desk.close());

  async function opened(hash = '#/model', options = {}) {
    const context = await desk.context(options);
    const page = await context.newPage();
    await page.addInitScript(fakeFiles);
    desk.watch(page);
    await page.goto(desk.url(hash));
    await page.getByRole('heading', { name: 'Modeller' }).waitFor();
    return page;
  }
  const openText = async (page, name, text) => {
    await page.evaluate(([file, content]) => { window.fakeDisk[file] = content; window.fakeOpens = file; }, [name, text]);
    await page.getByRole('button', { name: 'Open file' }).press('Enter');
    await page.getByRole('navigation', { name: 'Parts of the model' }).waitFor();
  };
  const openExample = (page, name) => openText(page, `${name}.json`, fs.readFileSync(path.join(EXAMPLES, `${name}.json`), 'utf8'));
  const tab = async (page, name) => {
    const link = page.getByRole('navigation', { name: 'Parts of the model' }).getByRole('link', { name });
    await link.press('Enter');
    await link.and(page.locator('[aria-current=page]')).waitFor(); // What is pressed next is on the new page.
  };
  const saved = async (page, name) => {
    await page.keyboard.press('Control+s');
    await page.locator('.toasts').getByText(`Saved as ${name}`).last().waitFor();
    return page.evaluate((file) => window.fakeDisk[file], name);
  };

  test('by keyboard: a model from nothing, a pattern that nothing serves, its suggestion, saved and opened again', async () => {
    const page = await opened();
    const type = (text) => page.keyboard.type(text);
    const press = async (...keys) => { for (const key of keys) await page.keyboard.press(key); };
    // Moves with Tab until the control of that name has the focus.
    const reach = async (name) => {
      for (let i = 0; i < 80; i += 1) {
        const label = await page.evaluate(() => {
          const at = document.activeElement;
          return at.getAttribute('aria-label') ?? (at.labels?.[0] ?? at).textContent;
        });
        if (label === name) return;
        await press('Tab');
      }
      throw new Error(`${name} is not reached by Tab`);
    };
    await reach('New model');
    await press('Enter');
    await press('Control+a');
    await type('Library');
    await press('Enter');
    await page.getByRole('heading', { name: 'Library' }).waitFor();

    await press('2'); // Entities.
    await page.getByRole('button', { name: 'Add entity' }).waitFor();
    await reach('Add entity');
    await press('Enter');
    await type('Loan');
    await reach('PK follows');
    await type('READER#<readerId>');
    await press('Tab');
    await type('LOAN#<date>#<loanId>');
    await reach('Attributes');
    await type('status S required');
    await reach('Save');
    await press('Enter');
    await page.locator('main').getByText('READER#<readerId>').waitFor();

    await press('1'); // Patterns.
    await page.getByRole('button', { name: 'Add pattern' }).waitFor();
    await reach('Add pattern');
    await press('Enter');
    await type('Loans by status');
    await reach('Loan');
    await press('Space');
    await press('Tab');
    await type('status = overdue');
    await reach('Calls per second');
    await type('2');
    await reach('Save');
    await press('Enter');
    await page.locator('main').getByText('✗ needs a Scan').waitFor();
    await page.getByText('0 of 1 patterns served').waitFor();

    await press('4'); // Data: rows first, so that the suggestion fills their keys.
    await page.getByRole('button', { name: 'Generate' }).waitFor();
    await reach('Generate');
    await press('Enter');
    await reach('status');
    await press('Control+a');
    await type('one of overdue, returned');
    await reach('Generate');
    await press('Enter');
    await page.getByText('20 rows.').waitFor();

    await press('6'); // Coverage.
    const apply = page.getByRole('button', { name: /^Apply: add the index gsi1 with the keys STATUS#<status>/ });
    await apply.waitFor();
    await page.locator('ins').getByText('"IndexName":"gsi1"').first().waitFor();
    assert.deepEqual(await axeFindings(page), []);
    await reach(await apply.getAttribute('aria-label'));
    await press('Enter');
    await page.getByText('Every pattern is served.').waitFor();
    await page.getByText('1 of 1 patterns served').waitFor();
    await page.locator('.toasts').getByText('20 rows of the sample got keys').waitFor();

    const text = await saved(page, 'model.json');
    const model = JSON.parse(text);
    assert.equal(model.DataModel[0].TableData.length, 20);
    assert.ok(model.DataModel[0].TableData.every((row) => row.GSI1PK.S === `STATUS#${row.status.S}`));
    await page.reload();
    await page.getByRole('heading', { name: 'Modeller' }).waitFor();
    await openText(page, 'model.json', text);
    await page.getByText('1 of 1 patterns served').waitFor();
    assert.equal(await saved(page, 'model.json'), text);
  });

  test('every tab of every example, in both themes and at 320 pixels, has no finding of axe', async () => {
    const served = fs.readFileSync(path.join(consoleFolder, 'model/page.js'), 'utf8').match(/SAMPLES = \[(.*)\]/)[1].match(/\w+/g);
    assert.deepEqual([...served].sort(), fs.readdirSync(EXAMPLES).map((name) => name.replace('.json', '')).sort());
    for (const [theme, width, names] of [['light', 1280, ['orders', 'devices']], ['dark', 1280, ['shop', 'membership']], ['light', 320, ['tenants']]]) {
      const page = await opened('#/model', { colorScheme: theme, viewport: { width, height: 800 } });
      await page.getByRole('button', { name: /^Open / }).nth(5).waitFor();
      assert.deepEqual(await axeFindings(page), []);
      for (const name of names) {
        await openExample(page, name);
        await page.getByText(/^✓ (\d+) of \1 patterns served$/).waitFor();
        for (const one of TABS) {
          await page.evaluate((query) => { location.hash = `#/model?tab=${query}`; }, one);
          await page.locator('nav.tabs [aria-current=page]').and(page.locator(`[href="#/model?tab=${one}"]`)).waitFor();
          if (one === 'view') await page.getByRole('listitem').first().waitFor();
          await page.getByText(/patterns served$/).waitFor();
          assert.deepEqual(await axeFindings(page), [], `${name} ${one} ${theme} ${width}`);
          const wide = await page.evaluate(() => document.documentElement.scrollWidth);
          assert.ok(wide <= width, `${name} ${one}: ${wide} pixels wide`);
        }
      }
      for (const [one, button] of [['patterns', 'Add pattern'], ['entities', 'Add entity'], ['tables', 'Add index'], ['data', 'Generate'], ['data', 'Import']]) {
        await page.evaluate((query) => { location.hash = `#/model?tab=${query}`; }, one);
        await page.getByRole('button', { name: button }).click();
        await page.getByRole('dialog').waitFor();
        assert.deepEqual(await axeFindings(page), [], `${button} ${theme} ${width}`);
        await page.keyboard.press('Escape');
      }
      await page.context().close();
    }
    desk.contexts.length = 0;
  });

  test('unknown keys, their order and the text of numbers survive changes and a save', async () => {
    const page = await opened();
    const model = JSON.parse(fs.readFileSync(path.join(EXAMPLES, 'orders.json'), 'utf8'));
    model.Theirs = { z: 1, a: { deep: [null, true, 'x'] } };
    model.DataModel[0].Unknown = ['kept'];
    model.Stator.Patterns[0].Note = 'ours';
    model.Stator.Entities[0].Colour = { hue: 12 };
    const before = `${JSON.stringify(model, null, 2)}\n`.replace('"z": 1,', '"z": 1.50,\n    "big": 12345678901234567890123,');
    await openText(page, 'mine.json', before);
    const report = page.getByRole('dialog', { name: 'What was found in the file' });
    await report.getByText('DataModel[0].Unknown: it is not known here, and is kept as it is').waitFor();
    await report.getByRole('button', { name: 'Close' }).press('Enter');
    await page.getByText(/patterns served$/).waitFor();
    assert.equal(await saved(page, 'mine.json'), before);
    // Through the forms, without another value: nothing changes.
    for (const [name, part] of [['Patterns', /^Edit .*/], ['Entities', /^Edit .*/], ['Tables and indexes', /^Edit .*/]]) {
      await tab(page, name);
      const buttons = page.locator('main').getByRole('button', { name: part });
      await buttons.first().waitFor();
      for (let i = 0; i < await buttons.count(); i += 1) {
        await buttons.nth(i).press('Enter');
        await page.getByRole('dialog').getByRole('button', { name: 'Save' }).press('Enter');
        await page.getByRole('dialog').waitFor({ state: 'detached' });
      }
    }
    assert.equal(await saved(page, 'mine.json'), before);
    await tab(page, 'Patterns');
    await page.getByRole('button', { name: 'Edit A customer', exact: true }).or(page.getByRole('button', { name: /^Edit / }).first()).first().press('Enter');
    await page.getByLabel('Calls per second').fill('77');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const changed = await saved(page, 'mine.json');
    const lines = (text) => text.split('\n');
    const others = lines(changed).filter((line, i) => line !== lines(before)[i]);
    assert.deepEqual(others.map((line) => line.trim().replace(',', '')), ['"CallsPerSecond": 77']);
    await page.getByRole('button', { name: 'Undo' }).press('Enter');
    await page.getByText('not saved').waitFor();
    assert.equal(await saved(page, 'mine.json'), before);
  });

  test('a file that something else has changed is not replaced without a question', async () => {
    const page = await opened();
    await openExample(page, 'orders');
    const theirs = '{"changed": "by another program"}';
    await page.evaluate((text) => { window.fakeDisk['orders.json'] = text; }, theirs);
    const disk = () => page.evaluate(() => window.fakeDisk['orders.json']);
    await page.keyboard.press('Control+s');
    await page.getByRole('dialog').getByText('was changed by something else').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    assert.equal(await disk(), theirs);
    await page.keyboard.press('Control+s');
    await page.getByRole('dialog').getByRole('button', { name: 'Replace' }).press('Enter');
    await page.locator('.toasts').getByText('Saved as orders.json').waitFor();
    assert.notEqual(await disk(), theirs);
    await saved(page, 'orders.json'); // Without a question.
  });

  test('other forms are converted, with a report, and what makes no sense is refused', async () => {
    const page = await opened();
    await openText(page, 'table.json', JSON.stringify({ TableName: 'plain', KeySchema: [{ AttributeName: 'a', KeyType: 'HASH' }], AttributeDefinitions: [{ AttributeName: 'a', AttributeType: 'S' }] }));
    await tab(page, 'Tables and indexes');
    await page.getByRole('heading', { name: 'plain', level: 2 }).waitFor();
    await page.getByRole('button', { name: 'Close' }).press('Enter');
    await page.getByRole('heading', { name: 'Modeller' }).waitFor();
    await page.evaluate(() => { window.fakeDisk['bad.json'] = '{"x": 1}'; window.fakeOpens = 'bad.json'; });
    await page.getByRole('button', { name: 'Open file' }).press('Enter');
    await page.getByText('Model is not valid').waitFor();
    await openExample(page, 'orders');
    await tab(page, 'Entities');
    await page.getByRole('button', { name: 'Edit Customer' }).press('Enter');
    await page.getByLabel('PK follows', { exact: true }).fill('X#<a><b>');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).press('Enter');
    await page.getByRole('dialog').getByText('Model is not valid').waitFor();
    await page.keyboard.press('Escape');
    await page.locator('main').getByText(', saved').waitFor();
    // A change that fails half way changes nothing.
    await tab(page, 'Patterns');
    await page.getByRole('button', { name: /^Edit / }).first().press('Enter');
    await page.getByLabel('Name', { exact: true }).fill('Half');
    await page.getByText('More', { exact: true }).press('Enter');
    await page.getByLabel('Values, as JSON').fill('{');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).press('Enter');
    await page.getByRole('dialog').getByText('Not JSON').waitFor();
    await page.keyboard.press('Escape');
    await page.locator('main').getByText(', saved').waitFor();
    assert.equal(await page.getByText('Half').count(), 0);
  });

  test('2,000 rows are generated, drawn in every view and scrolled without a long frame; pictures have them', async () => {
    const page = await opened();
    await openExample(page, 'orders');
    await tab(page, 'Data');
    await page.getByRole('button', { name: 'Generate' }).press('Enter');
    await page.getByLabel('Entity').selectOption('Order');
    await page.getByLabel('Rows', { exact: true }).fill('2000');
    await page.getByRole('dialog').getByRole('button', { name: 'Generate' }).press('Enter');
    await page.getByText('2,0', { exact: false }).first().waitFor();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await tab(page, 'Aggregate view');
    const blocks = page.getByRole('group', { name: 'Items of the table' });
    await blocks.waitFor();
    await page.getByText(/^2,0\d\d of 2,0\d\d items/).first().waitFor();
    const size = Number(await blocks.getByRole('listitem').first().getAttribute('aria-setsize'));
    assert.ok(size > 2000, `${size} lines`);
    const worst = await costliestFrame(page, blocks, 20);
    assert.ok(worst <= 50, `a frame took ${worst} ms of CPU time`);
    await blocks.evaluate((element) => { element.scrollTop = element.scrollHeight; });
    await blocks.locator(`[aria-posinset="${size}"]`).waitFor();
    assert.ok(await blocks.getByRole('listitem').count() < 200);

    const [svg] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Save as SVG' }).press('Enter')]);
    const text = fs.readFileSync(await svg.path(), 'utf8');
    assert.equal(svg.suggestedFilename(), 'orders.svg');
    assert.ok(text.startsWith('<svg xmlns="http://www.w3.org/2000/svg"') && text.split('<rect').length > 2000);
    assert.match(text, /sparse: \d+ items are not in it/);
    const [png] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Save as PNG' }).press('Enter')]);
    assert.deepEqual([...fs.readFileSync(await png.path()).subarray(1, 4)], [...Buffer.from('PNG')]);
  });

  test('rows come from CSV and JSON, without a cap, and are edited', async () => {
    const page = await opened();
    await openExample(page, 'orders');
    await tab(page, 'Data');
    const csv = ['PK,SK,type,name,email', ...Array.from({ length: 3000 }, (_, i) => `CUSTOMER#x${i},PROFILE,CUSTOMER,"N, ${i}",n${i}@example.com`)].join('\n');
    const importFile = async (name, text) => {
      await page.getByRole('button', { name: 'Import' }).press('Enter');
      await page.getByLabel('File').setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });
      await page.getByRole('dialog').getByRole('button', { name: 'Import' }).press('Enter');
    };
    await importFile('rows.csv', csv);
    await page.getByText('3,000 rows imported').waitFor();
    await page.getByRole('button', { name: 'Close' }).last().press('Enter');
    await importFile('rows.jsonl', '{"PK": {"S": "CUSTOMER#x1"}, "SK": {"S": "PROFILE"}, "type": {"S": "CUSTOMER"}, "name": {"S": "One"}, "email": {"S": "e"}, "n": {"N": "12345678901234567890"}}\n');
    await page.getByText('1 rows imported').waitFor();
    await page.getByRole('button', { name: 'Close' }).last().press('Enter');
    const model = JSON.parse(await saved(page, 'orders.json'));
    const rows = model.DataModel[0].TableData.filter((row) => row.PK.S.startsWith('CUSTOMER#x'));
    assert.equal(rows.length, 3000);
    assert.equal(rows[1].n.N, '12345678901234567890');
    assert.equal(rows[2].name.S, 'N, 2');
  });

  test('a table is created, the model observed and enforced, and existing items found', async () => {
    const page = await opened();
    await openExample(page, 'membership');
    const name = await page.evaluate(() => JSON.parse(window.fakeDisk['membership.json']).DataModel[0].TableName);
    await tab(page, 'Live tables');
    await page.getByRole('button', { name: 'Create table' }).press('Enter');
    await page.getByLabel('With the 9 rows of the sample').uncheck();
    await page.getByRole('button', { name: 'Create', exact: true }).press('Enter');
    await page.locator('.toasts').getByText('Table created').waitFor();
    await page.getByText('The table has no model.').waitFor();
    const { Table } = await desk.call('DescribeTable', { TableName: name });
    const stray = Object.fromEntries(Table.KeySchema.map((key) => [key.AttributeName, { S: 'stray' }]));
    await desk.call('PutItem', { TableName: name, Item: stray });
    await page.getByRole('button', { name: 'Observe' }).press('Enter');
    await page.getByRole('button', { name: 'Attach' }).press('Enter');
    await page.getByText('observe: what breaks the model is counted').waitFor();
    await desk.call('PutItem', { TableName: name, Item: stray });
    await page.locator('main').focus();
    await page.getByText('Key: 1').waitFor();
    assert.deepEqual(await axeFindings(page), []);
    await page.getByRole('button', { name: 'Scan items' }).press('Enter');
    await page.getByRole('button', { name: 'Scan', exact: true }).press('Enter');
    await page.locator('main').focus();
    await page.getByRole('group', { name: `What the scan of ${name} found` }).getByText('stray').first().waitFor();
    await page.getByRole('button', { name: 'Enforce' }).press('Enter');
    await page.getByRole('button', { name: 'Attach' }).press('Enter');
    await page.getByText('enforce: what breaks the model is refused').waitFor();
    await assert.rejects(desk.call('PutItem', { TableName: name, Item: stray }), /ValidationException/);
    await page.getByRole('button', { name: 'Detach' }).press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Detach' }).press('Enter');
    await page.getByText('The table has no model.').waitFor();
  });

  test('a table has the capacity that its model says', async () => {
    const page = await opened();
    const model = JSON.parse(fs.readFileSync(path.join(EXAMPLES, 'orders.json'), 'utf8'));
    const [table] = model.DataModel;
    Object.assign(table, { TableName: 'sized', BillingMode: 'PROVISIONED', ProvisionedCapacitySettings: { ProvisionedThroughput: { ReadCapacityUnits: 7, WriteCapacityUnits: 3 } } });
    for (const one of [...model.Stator.Entities, ...model.Stator.Patterns]) if (one.Table) one.Table = 'sized';
    for (const one of model.Stator.Tables ?? []) one.TableName = 'sized';
    await openText(page, 'sized.json', JSON.stringify(model));
    await tab(page, 'Live tables');
    await page.getByRole('button', { name: 'Create table' }).press('Enter');
    await page.getByLabel(/^With the/).uncheck();
    await page.getByRole('button', { name: 'Create', exact: true }).press('Enter');
    await page.locator('.toasts').getByText('Table created').waitFor();
    const { Table } = await desk.call('DescribeTable', { TableName: 'sized' });
    assert.ok(Table.GlobalSecondaryIndexes.length > 0);
    for (const { ProvisionedThroughput: units } of [Table, ...Table.GlobalSecondaryIndexes]) assert.deepEqual([units.ReadCapacityUnits, units.WriteCapacityUnits], [7, 3]);
  });

  test('on an empty server a sample is loaded by keyboard: its table, time to live and rows', async () => {
    const empty = await openDesk('--in-memory');
    try {
      const page = await empty.page('#/');
      await page.getByText('No tables yet').first().waitFor();
      await page.getByRole('link', { name: 'Load a sample' }).press('Enter');
      await page.getByRole('button', { name: 'Load Shop with products and sessions' }).press('Enter');
      await page.getByRole('dialog').getByText('UpdateTimeToLive: items expire by the attribute expires').waitFor();
      assert.deepEqual(await axeFindings(page), []);
      await page.getByRole('button', { name: 'Create', exact: true }).press('Enter');
      await page.getByRole('dialog').getByText('9 items written').waitFor();
      await page.getByRole('button', { name: 'Close' }).last().press('Enter');
      await page.getByText('returned').waitFor();
      assert.match(page.url(), /#\/t\/shop\/items/);
      assert.equal((await empty.call('Scan', { TableName: 'shop', Select: 'COUNT' })).Count, 9);
      assert.deepEqual((await empty.call('DescribeTimeToLive', { TableName: 'shop' })).TimeToLiveDescription, { TimeToLiveStatus: 'ENABLED', AttributeName: 'expires' });
      // What is there is not replaced.
      const [item] = (await empty.call('Scan', { TableName: 'shop', Limit: 1 })).Items;
      await empty.call('PutItem', { TableName: 'shop', Item: { ...item, mine: { BOOL: true } } });
      await page.goto(empty.url('#/model'));
      await page.getByRole('button', { name: 'Open Shop with products and sessions' }).press('Enter');
      await page.getByText(/patterns served$/).waitFor();
      await tab(page, 'Live tables');
      await page.getByRole('button', { name: 'Load 9 rows' }).press('Enter');
      await page.getByRole('dialog').getByText('9 skipped because their key exists').waitFor();
      const { Items } = await empty.call('Scan', { TableName: 'shop' });
      assert.equal(Items.filter((one) => one.mine).length, 1);
    } finally {
      await empty.close();
    }
  });

  test('back and forward restore the part of the model', async () => {
    const page = await opened();
    await openExample(page, 'orders');
    await tab(page, 'Coverage');
    const current = () => page.getByRole('navigation', { name: 'Parts of the model' }).locator('[aria-current=page]').getByText('Coverage').waitFor();
    await current();
    await page.goto(desk.url('#/settings'));
    await page.getByLabel('Density').waitFor();
    await page.goBack();
    await current();
    await page.goBack();
    await page.goForward();
    await current();
  });

  test('the modeller is loaded only when it is opened, and changes that are not saved are not lost by accident', async () => {
    const page = await desk.page('#/');
    const loaded = [];
    page.on('request', (request) => loaded.push(new URL(request.url()).pathname));
    await page.goto(desk.url('#/settings'));
    await page.reload();
    await page.getByLabel('Density').waitFor();
    assert.ok(loaded.includes('/console/app.js') && !loaded.includes('/console/model.js'));
    await page.keyboard.press('g');
    await page.keyboard.press('d');
    await page.getByRole('button', { name: 'New model' }).press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Create' }).press('Enter');
    await page.getByRole('heading', { name: 'My model' }).waitFor();
    assert.ok(loaded.includes('/console/model.js'));
    await page.getByRole('button', { name: 'Rename' }).press('Enter');
    await page.getByLabel('Name', { exact: true }).fill('Renamed');
    await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).press('Enter');
    await page.getByText('not saved').waitFor();
    await page.goto(desk.url('#/settings'));
    await page.getByLabel('Density').waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: 'Renamed' }).waitFor();
    await page.getByRole('button', { name: 'Close' }).press('Enter');
    await page.getByRole('dialog').getByText('not saved').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).press('Enter');
    await page.getByRole('heading', { name: 'Renamed' }).waitFor();
  });
});
