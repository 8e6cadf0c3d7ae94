// tables.test.js -- tables come, change and go; a session by keyboard alone; import and export; what a
// key without rights sees.
'use strict';
const assert = require('node:assert/strict');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { after, before, describe, test } = require('node:test');
const { EVERYTHING, Keys } = require('../api/lib/keys.js');
const { missing, openDesk } = require('./lib/browser.js');
const { createTable, putAll, TEN_TYPES } = require('./lib/data.js');

describe('tables', { skip: missing() }, () => {
  let desk;
  before(async () => { desk = await openDesk(); });
  after(() => desk.close());
  const said = (page, text) => page.locator('.toasts').getByText(text).last().waitFor();
  const describeTable = async (name) => (await desk.call('DescribeTable', { TableName: name })).Table;

  test('a table is created with indexes as the form says', async () => {
    const page = await desk.page('#/new');
    await page.getByLabel('Table name').fill('made-here');
    await page.getByLabel('Partition key', { exact: true }).fill('pk');
    await page.getByLabel('Sort key (optional)', { exact: true }).fill('sk');
    await page.getByLabel('Sort key (optional): type').selectOption('N');
    await page.getByRole('button', { name: 'Add global index' }).click();
    const index = page.getByRole('group', { name: 'Global secondary index 1' });
    await index.getByLabel('Index name').fill('by-status');
    await index.getByLabel('Partition key', { exact: true }).fill('status');
    await index.getByLabel('Projection').selectOption('INCLUDE');
    await index.getByLabel('Attributes, with commas').fill('a, b');
    await page.getByLabel('Stream').selectOption('NEW_IMAGE');
    await page.getByLabel('Code', { exact: true }).getByText('"NonKeyAttributes":["a","b"]').waitFor();
    await page.getByRole('button', { name: 'Create table' }).click();
    await said(page, 'made-here is ready');
    const table = await describeTable('made-here');
    assert.deepEqual(table.KeySchema, [{ AttributeName: 'pk', KeyType: 'HASH' }, { AttributeName: 'sk', KeyType: 'RANGE' }]);
    assert.deepEqual(table.GlobalSecondaryIndexes[0].Projection, { ProjectionType: 'INCLUDE', NonKeyAttributes: ['a', 'b'] });
    assert.equal(table.StreamSpecification.StreamViewType, 'NEW_IMAGE');
  });

  test('settings change by the call that is shown, and refusals are the service\'s own', async () => {
    await createTable(desk, 'changing');
    const page = await desk.page('#/t/changing/design');
    await page.getByRole('button', { name: 'Change time to live' }).click();
    await page.getByRole('dialog').getByLabel('Attribute').fill('ends');
    await page.getByRole('dialog').getByText('"AttributeName":"ends"').waitFor();
    await page.getByRole('button', { name: 'Apply' }).click();
    await said(page, 'Time to live changed');
    await page.getByText('ends', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Change capacity' }).click();
    await page.getByLabel('Mode').selectOption('PROVISIONED');
    await page.getByLabel('Read units').fill('0');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByRole('dialog').getByText('ValidationException').waitFor();
    await page.getByLabel('Read units').fill('7');
    await page.getByRole('button', { name: 'Apply' }).click();
    await said(page, 'Capacity changed');
    assert.equal((await describeTable('changing')).ProvisionedThroughput.ReadCapacityUnits, 7);
    await page.getByRole('button', { name: 'Add tag' }).click();
    await page.getByRole('dialog').getByLabel('Key').fill('team');
    await page.getByRole('dialog').getByLabel('Value').fill('us');
    await page.getByRole('button', { name: 'Apply' }).click();
    await said(page, 'Tag added');
    await page.getByRole('button', { name: 'Add index' }).click();
    await page.getByLabel('Index name').fill('by-x');
    await page.getByRole('dialog').getByLabel('Partition key', { exact: true }).fill('x');
    await page.getByRole('button', { name: 'Apply' }).click();
    await said(page, 'The index is being filled');
    await page.getByRole('row', { name: /by-x.*active/ }).waitFor();
    await page.getByRole('button', { name: 'Delete index by-x' }).click();
    await page.getByLabel('Type by-x').fill('by-x');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete index' }).click();
    await said(page, 'being deleted');
  });

  test('a table is deleted only with its name typed', async () => {
    await createTable(desk, 'doomed');
    const page = await desk.page('#/t/doomed/design');
    await page.getByRole('button', { name: 'Delete table' }).click();
    const confirm = page.getByRole('dialog').getByRole('button', { name: 'Delete table' });
    await page.getByLabel('Type doomed').fill('doome');
    assert.ok(await confirm.isDisabled());
    await page.getByLabel('Type doomed').fill('doomed');
    await confirm.click();
    await said(page, 'doomed deleted');
    await page.getByRole('heading', { name: 'Tables', exact: true }).waitFor();
  });

  test('a session by keyboard alone: create, add, edit, query, delete', async () => {
    const page = await desk.page('#/');
    const press = async (...keys) => { for (const key of keys) await page.keyboard.press(key); };
    const tabTo = async (locator) => {
      for (let i = 0; i < 80; i += 1) {
        if (await locator.evaluate((element) => element === document.activeElement).catch(() => false)) return;
        await press('Tab');
      }
      assert.fail(`Tab does not lead to ${locator}`);
    };
    await press('g', 'n');
    await page.getByLabel('Table name').waitFor();
    await tabTo(page.getByLabel('Table name'));
    await page.keyboard.type('by-hand');
    await press('Tab');
    await page.keyboard.type('id');
    await press('Control+Enter');
    await said(page, 'by-hand is ready');
    await page.getByText('No items').waitFor();
    await press('n');
    await page.getByLabel('id', { exact: true }).waitFor();
    await tabTo(page.getByLabel('id', { exact: true }));
    await page.keyboard.type('first');
    await tabTo(page.getByRole('button', { name: 'Add attribute' }));
    await press('Enter');
    await page.keyboard.type('colour');
    await press('Tab');
    await tabTo(page.getByLabel('colour', { exact: true }));
    await page.keyboard.type('blue');
    await press('Control+s');
    await page.getByText('Create this item?').waitFor();
    await press('Enter');
    await said(page, 'Saved');
    await tabTo(page.getByLabel('colour', { exact: true }));
    await press('End');
    await page.keyboard.type(' green');
    await press('Control+s');
    await page.getByText('Save these changes?').waitFor();
    await press('Enter');
    await page.getByText('unchanged').waitFor();
    await press('Control+k');
    await page.keyboard.type('by-hand');
    await press('Enter');
    await page.locator('.footer').getByText('1 returned').waitFor();
    await press('q');
    await page.keyboard.type('x');
    await press('Backspace');
    await tabTo(page.getByLabel('id', { exact: true }));
    await page.keyboard.type('first');
    await press('Control+Enter');
    await page.getByRole('button', { name: 'Get item' }).waitFor();
    await page.locator('.footer').getByText('1 returned').waitFor();
    await page.locator('main').press('i').catch(() => {});
    await tabTo(page.getByRole('grid'));
    await press('Delete');
    await page.getByText('Delete this item?').waitFor();
    await press('Enter');
    await page.getByText('1 deleted').first().waitFor();
    await press('Escape');
    assert.equal((await desk.call('Scan', { TableName: 'by-hand' })).Count, 0);
  });

  for (const format of ['dynamo', 'plain', 'csv']) {
    test(`items survive export and import: ${format}`, async () => {
      const [from, to] = [`from-${format}`, `to-${format}`];
      await createTable(desk, from);
      await createTable(desk, to);
      const items = Array.from({ length: 30 }, (_, i) => (i % 2 ? { ...TEN_TYPES, pk: { S: `k,"${i}` } } : { pk: { S: `k${i}` }, n: { S: 'a text here' }, 'odd:name': { N: '1' } }));
      await putAll(desk, from, items);
      const page = await desk.page(`#/t/${from}/items`);
      await page.locator('.footer').getByText('30 returned').waitFor();
      // Downloads instead of a file picker, which no test can use.
      await page.evaluate(() => { window.showSaveFilePicker = undefined; });
      await page.getByRole('button', { name: 'Export' }).click();
      await page.getByLabel('Format').selectOption(format);
      const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('dialog').getByRole('button', { name: 'Export' }).click()]);
      const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'stator-export-')), download.suggestedFilename());
      await download.saveAs(file);
      await page.getByText('30 items exported').waitFor();
      await page.keyboard.press('Escape');
      await page.goto(desk.url(`#/t/${to}/design`));
      await page.getByRole('button', { name: 'Import items' }).click();
      await page.getByLabel('File', { exact: true }).setInputFiles(file);
      await page.getByText('First item:').waitFor();
      assert.equal(await page.getByLabel('Format').inputValue(), format);
      await page.getByRole('dialog').getByRole('button', { name: 'Import' }).click();
      await page.getByText('30 items written').waitFor();
      const read = async (name) => (await desk.call('Scan', { TableName: name })).Items.sort((a, b) => (a.pk.S < b.pk.S ? -1 : 1));
      assert.deepEqual(await read(to), await read(from));
      fs.rmSync(path.dirname(file), { recursive: true });
    });
  }

  test('statements run at the desk, and pasted commands become requests and forms', async () => {
    await createTable(desk, 'desk');
    await putAll(desk, 'desk', [{ pk: { S: 'a' }, n: { N: '1' } }, { pk: { S: 'b' }, n: { N: '2' } }]);
    const page = await desk.page('#/q');
    await page.getByLabel('Statement', { exact: true }).fill('SELECT * FROM "desk" WHERE n > 1');
    await page.keyboard.press('Control+Enter');
    await page.locator('.footer').getByText('1 items').waitFor();
    await page.goto(desk.url('#/q?mode=request'));
    await page.getByLabel('Operation', { exact: true }).waitFor();
    await page.getByLabel('Parameters').fill(`aws dynamodb query --table-name desk --key-condition-expression '#0 = :0' --expression-attribute-names '{"#0":"pk"}' --expression-attribute-values '{":0":{"S":"b"}}'`);
    await page.keyboard.press('Control+Enter');
    await page.locator('.footer').getByText('1 items').waitFor();
    assert.equal(await page.getByLabel('Operation', { exact: true }).inputValue(), 'Query');
    await page.getByRole('button', { name: 'Open as a form' }).click();
    await page.locator('.footer').getByText('1 returned').waitFor();
    assert.equal(await page.getByLabel('pk', { exact: true }).inputValue(), 'b');
  });
});

describe('a key with few rights', { skip: missing() }, () => {
  const keys = new Keys();
  let desk;
  let all;
  let few;
  before(async () => {
    all = keys.create('all', EVERYTHING);
    few = keys.create('few', { Effect: 'Allow', Action: 'dynamodb:ListTables', Resource: '*' });
    desk = await openDesk(...keys.flags, '--auth');
  });
  after(async () => {
    await desk.close();
    keys.remove();
  });
  const signIn = async (page, { accessKeyId, secretAccessKey }) => {
    await page.getByLabel('Access key id').fill(accessKeyId);
    await page.getByLabel('Secret access key').fill(secretAccessKey);
    await page.getByRole('button', { name: 'Sign in' }).click();
  };

  test('breaks no page, and each says what is not allowed', async () => {
    const maker = await desk.page('#/new');
    await signIn(maker, all);
    await maker.getByLabel('Table name').fill('secret');
    await maker.getByLabel('Partition key', { exact: true }).fill('pk');
    await maker.getByRole('button', { name: 'Create table' }).click();
    await maker.locator('.toasts').getByText('secret is ready').waitFor();
    const page = await desk.page('#/');
    await signIn(page, few);
    await page.getByText('not allowed').waitFor();
    for (const hash of ['#/t/secret/items', '#/t/secret/item?k=S:a', '#/t/secret/design']) {
      await page.evaluate((to) => { location.hash = to; }, hash);
      await page.getByText('This key may not do that').waitFor();
    }
    await page.evaluate(() => { location.hash = '#/q'; });
    await page.getByLabel('Statement', { exact: true }).fill('SELECT * FROM "secret"');
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByText('This key may not do that').waitFor();
  });
});
