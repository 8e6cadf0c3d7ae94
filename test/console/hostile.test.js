// hostile.test.js -- data of strangers stays text: in items, names, model files, pictures and code.
//
// The Content-Security-Policy would stop a script; lib/browser.js fails a test when it had to.
'use strict';
const assert = require('node:assert/strict');
const fs = require('node:fs');
const { after, before, describe, test } = require('node:test');
const { missing, openDesk } = require('./lib/browser.js');

const MARKUP = '<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>"\'`${1}';
const ITEM = {
  pk: { S: MARKUP }, [MARKUP]: { S: MARKUP }, type: { S: MARKUP }, url: { S: 'javascript:window.pwned=1' },
  map: { M: { [MARKUP]: { L: [{ S: MARKUP }, { SS: [MARKUP] }] } } }, __proto__x: { S: MARKUP }, constructor: { S: MARKUP },
};
const KEY = `S:${encodeURIComponent(MARKUP)}`;

// Elements that only data could have brought, and addresses that run something.
const intruders = (page) => page.evaluate(() => [
  ...document.querySelectorAll('main img, main script, main iframe, main object, dialog img, dialog script, aside script'),
  ...[...document.querySelectorAll('a')].filter((a) => !/^(https?|blob):$/.test(a.protocol)),
].map((element) => element.outerHTML).concat(window.pwned ? ['a script ran'] : []));

describe('hostile data', { skip: missing() }, () => {
  let desk;
  before(async () => {
    desk = await openDesk();
    await desk.call('CreateTable', {
      TableName: 'strange', BillingMode: 'PAY_PER_REQUEST', KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
      AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }, { AttributeName: MARKUP, AttributeType: 'S' }],
      GlobalSecondaryIndexes: [{ IndexName: 'strange', KeySchema: [{ AttributeName: MARKUP, KeyType: 'HASH' }], Projection: { ProjectionType: 'ALL' } }],
      Tags: [{ Key: 'note', Value: 'a=b+c' }],
    });
    for (;;) {
      const { Table } = await desk.call('DescribeTable', { TableName: 'strange' });
      if (Table.TableStatus === 'ACTIVE') break;
    }
    await desk.call('PutItem', { TableName: 'strange', Item: ITEM });
    await desk.call('PutMetricAlarm', {
      AlarmName: MARKUP, AlarmDescription: MARKUP, Namespace: 'AWS/DynamoDB', MetricName: 'SystemErrors', Dimensions: [{ Name: 'TableName', Value: 'strange' }],
      Statistic: 'Sum', Period: 60, EvaluationPeriods: 1, Threshold: 0, ComparisonOperator: 'GreaterThanThreshold',
    }, 'GraniteServiceVersion20100801');
  });
  after(() => desk.close());

  test('items and names are shown as text on every page', async () => {
    const page = await desk.page('');
    const pages = [['#/t/strange/items', 'returned'], [`#/t/strange/items?pk=${KEY}`, 'returned'], [`#/t/strange/item?k=${KEY}`, 'of 400 KB'], [`#/t/strange/item?k=${KEY}&view=dynamo`, 'of 400 KB'],
      [`#/t/strange/item?k=${KEY}&view=plain`, 'of 400 KB'], ['#/t/strange/design', 'Time to live'], ['#/alarms', '<img src=x'], ['#/metrics?table=strange', 'Contributor Insights is off'],
      [`#/t/${encodeURIComponent(MARKUP)}/items`, 'Validation'], [`#/${encodeURIComponent(MARKUP)}`, 'No such page']];
    for (const [hash, text] of pages) {
      await page.goto(desk.url(hash));
      await page.locator('main').getByText(text).first().waitFor();
      assert.deepEqual(await intruders(page), [], hash);
    }
  });

  test('code, statements and messages have it as text', async () => {
    const page = await desk.page(`#/t/strange/items?pk=${KEY}`);
    await page.locator('main').getByText('returned').waitFor();
    await page.getByRole('button', { name: 'Code' }).press('Enter');
    for (const { value } of await page.getByLabel('Language').evaluate((menu) => Array.from(menu.options, (option) => ({ value: option.value })))) {
      await page.getByLabel('Language').selectOption(value);
      assert.deepEqual(await intruders(page), [], value);
    }
    await page.keyboard.press('Escape');
    await page.goto(desk.url('#/q'));
    await page.getByLabel('Statement', { exact: true }).fill(`SELECT * FROM "strange" WHERE pk = '${MARKUP.replaceAll("'", "''")}'`);
    await page.keyboard.press('Control+Enter');
    await page.locator('.footer').waitFor();
    assert.deepEqual(await intruders(page), []);
    await page.getByLabel('Statement', { exact: true }).fill(MARKUP);
    await page.keyboard.press('Control+Enter');
    await page.locator('main .notice.bad').first().waitFor();
    assert.deepEqual(await intruders(page), []);
  });

  test('a model file is shown as text in every tab, and drawn as text', async () => {
    const context = await desk.context();
    const page = await context.newPage();
    desk.watch(page);
    const key = (name) => ({ AttributeName: name, AttributeType: 'S' });
    const model = {
      ModelName: MARKUP, ModelMetadata: { Author: MARKUP, Description: MARKUP, AWSService: 'Amazon DynamoDB', Version: '3.0' },
      DataModel: [{ TableName: 'strange2', KeyAttributes: { PartitionKey: key(MARKUP) }, NonKeyAttributes: [key('a')], TableData: [{ [MARKUP]: { S: MARKUP }, a: { S: MARKUP } }] }],
      Stator: {
        Entities: [{ Name: MARKUP, Keys: [{ PartitionKey: '<a*>' }], Attributes: [{ Name: MARKUP, Type: 'S' }] }],
        Patterns: [{ Name: MARKUP, Operation: 'Query', PartitionKey: MARKUP.replace('${1}', '${a}').replaceAll('<', '').replaceAll('>', ''), Parameters: { a: MARKUP }, Entities: [MARKUP] }],
      },
    };
    await page.addInitScript((text) => {
      window.showOpenFilePicker = async () => [{ name: 'strange.json', getFile: async () => new File([text], 'strange.json') }];
    }, JSON.stringify(model));
    await page.goto(desk.url('#/model'));
    await page.getByRole('button', { name: 'Open file' }).press('Enter');
    await page.getByRole('navigation', { name: 'Parts of the model' }).waitFor();
    await page.getByText(/patterns served$/).waitFor();
    for (const tab of ['Patterns', 'Entities', 'Tables and indexes', 'Data', 'Coverage and cost', 'Live tables', 'Aggregate view']) {
      await page.getByRole('navigation', { name: 'Parts of the model' }).getByRole('link', { name: tab }).press('Enter');
      await page.locator('nav.tabs [aria-current=page]').and(page.getByRole('link', { name: tab })).waitFor();
      await page.locator('main').getByText('strange').first().waitFor();
      assert.deepEqual(await intruders(page), [], tab);
    }
    const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Save as SVG' }).press('Enter')]);
    const svg = fs.readFileSync(await file.path(), 'utf8');
    assert.deepEqual([...new Set(svg.match(/<[^\s>]+/g))].sort(), ['</svg', '</text', '<rect', '<svg', '<text']);
    assert.doesNotMatch(svg.replace(/>[^<]*</g, '><'), /\son\w+=|href/);
  });
});
