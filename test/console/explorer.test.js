// explorer.test.js -- the items of a table: what is sent, what is shown, by which keys.
'use strict';
const assert = require('node:assert/strict');
const { after, before, describe, test } = require('node:test');
const { missing, openDesk } = require('./lib/browser.js');
const { createTable, putAll } = require('./lib/data.js');
const { costliestFrame } = require('./lib/frames.js');

const FRAME_MS_MAX = 50;
const MANY = 100_000;

describe('explorer', { skip: missing() }, () => {
  let desk;
  before(async () => {
    desk = await openDesk();
    await createTable(desk, 'orders', { range: 'sk', indexes: ['status'] });
    await putAll(desk, 'orders', Array.from({ length: 300 }, (_, i) => ({
      pk: { S: `USER#${i % 10}` }, sk: { S: `ORDER#${String(i).padStart(4, '0')}` }, status: { S: i % 3 ? 'open' : 'paid' }, total: { N: `${i}.50` },
    })));
    await createTable(desk, 'binary', { type: 'B' });
    await putAll(desk, 'binary', [{ pk: { B: 'AP8=' } }, { pk: { B: '+/8=' } }]);
  });
  after(() => desk.close());

  const operations = (page) => {
    const sent = [];
    page.on('request', (request) => {
      const target = request.headers()['x-amz-target'];
      if (target) sent.push({ operation: target.split('.')[1], body: JSON.parse(request.postData()) });
    });
    return sent;
  };
  const footer = (page) => page.locator('.footer');

  test('keys decide between Scan, Query and Get, and the button says which', async () => {
    const page = await desk.page('#/t/orders/items');
    await footer(page).getByText('200 returned').waitFor();
    const sent = operations(page);
    await page.getByRole('button', { name: 'Scan' }).waitFor();
    await page.getByLabel('pk', { exact: true }).fill('USER#3');
    await page.getByRole('button', { name: 'Query' }).click();
    await footer(page).getByText('30 returned').waitFor();
    await page.getByLabel('sk (sort key)').fill('ORDER#0003');
    await page.getByRole('button', { name: 'Get item' }).click();
    await footer(page).getByText('1 returned').waitFor();
    await page.getByLabel('sk: comparison').selectOption('begins_with');
    await page.getByLabel('sk (sort key)').fill('ORDER#00');
    await page.keyboard.press('Control+Enter');
    await footer(page).getByText('10 returned').waitFor();
    assert.deepEqual(sent.map((one) => one.operation), ['Query', 'GetItem', 'Query']);
    assert.equal(sent[2].body.KeyConditionExpression, '#0 = :0 AND begins_with(#1, :1)');
    await page.getByLabel('Source').selectOption('by-status');
    await page.getByLabel('status', { exact: true }).fill('paid');
    await page.getByRole('button', { name: 'Query' }).click();
    await footer(page).getByText('100 returned').waitFor();
    assert.equal(sent[3].body.IndexName, 'by-status');
  });

  test('a view is its address: back, forward and reload restore it', async () => {
    const page = await desk.page('#/t/orders/items');
    await footer(page).getByText('200 returned').waitFor();
    await page.getByLabel('pk', { exact: true }).fill('USER#3');
    await page.getByRole('button', { name: 'Add filter' }).click();
    await page.getByLabel('Filter 1: attribute').fill('total');
    await page.getByLabel('Filter 1: comparison').selectOption('>');
    await page.getByLabel('Filter 1: value: type').selectOption('N');
    await page.getByLabel('Filter 1: value', { exact: true }).fill('100');
    await page.keyboard.press('Control+Enter');
    await footer(page).getByText('20 returned').waitFor();
    await footer(page).getByText('30 scanned').waitFor();
    await page.goBack();
    await footer(page).getByText('200 returned').waitFor();
    await page.goForward();
    await footer(page).getByText('20 returned').waitFor();
    await page.reload();
    await footer(page).getByText('20 returned').waitFor();
    assert.equal(await page.getByLabel('Filter 1: value', { exact: true }).inputValue(), '100');
    await page.locator('.grid').focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByText('of 400 KB').waitFor();
    await page.goBack();
    await footer(page).getByText('20 returned').waitFor();
    assert.ok(await page.locator('.grid').evaluate((grid) => grid.contains(document.activeElement)));
  });

  test('entities have the names of the model, of the attribute in the settings, or of their keys', async () => {
    await createTable(desk, 'kinds', { range: 'sk' });
    await putAll(desk, 'kinds', [{ pk: { S: 'U#1' }, sk: { S: 'O#1' }, what: { S: 'Thing' } }, { pk: { S: 'U#1' }, sk: { S: 'O#2' }, what: { S: 'Thing' } }]);
    const page = await desk.page('#/t/kinds/items');
    const chips = () => page.locator('.entity').allTextContents();
    await page.locator('.entity').first().waitFor();
    assert.deepEqual(await chips(), ['O', 'O']);
    await page.goto(desk.url('#/settings'));
    const form = page.getByRole('form', { name: 'Entities' });
    await form.getByLabel('Table').fill('kinds');
    await form.getByLabel('Attribute', { exact: true }).fill('what');
    await form.getByRole('button', { name: 'Set' }).click();
    await form.getByRole('button', { name: 'Forget the attribute of kinds' }).waitFor();
    await page.goto(desk.url('#/t/kinds/items'));
    await page.locator('.entity').first().waitFor();
    assert.deepEqual(await chips(), ['Thing', 'Thing']);
    const key = (AttributeName) => ({ AttributeName, AttributeType: 'S' });
    const Model = JSON.stringify({
      ModelName: 'kinds',
      DataModel: [{ TableName: 'kinds', KeyAttributes: { PartitionKey: key('pk'), SortKey: key('sk') }, NonKeyAttributes: [], BillingMode: 'PAY_PER_REQUEST' }],
      Stator: { Entities: [{ Name: 'First order', Keys: [{ PartitionKey: 'U#<user>', SortKey: 'O#1' }] }, { Name: 'Order', Keys: [{ PartitionKey: 'U#<user>', SortKey: 'O#<order>' }] }] },
    });
    await desk.call('PutModel', { TableName: 'kinds', Mode: 'OBSERVE', Model }, 'Stator_20261101');
    await page.reload();
    await page.locator('.entity').getByText('First order').waitFor();
    assert.deepEqual((await chips()).sort(), ['First order', 'Order']);
  });

  test('cells say what values probably mean, and copy the value alone', async () => {
    await createTable(desk, 'times');
    const long = `line\n${'x'.repeat(500)}`;
    await putAll(desk, 'times', [{ pk: { S: 'a' }, at: { N: '1800000000' }, text: { S: long }, zone: { M: { a: { N: '1' } } } }]);
    const page = await desk.page('#/t/times/items', { permissions: ['clipboard-read', 'clipboard-write'] });
    const cell = page.getByRole('gridcell').filter({ hasText: '1800000000' });
    await cell.getByText('as seconds: 2027-01-15T08:00:00Z').waitFor();
    await page.getByRole('grid').focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('c');
    await page.locator('.toasts').getByText('Cell copied').waitFor();
    const copied = () => page.evaluate(() => navigator.clipboard.readText());
    assert.equal(await copied(), '1800000000');
    for (const value of [long, '{"M":{"a":{"N":"1"}}}']) {
      await page.keyboard.press('ArrowRight');
      await page.keyboard.press('c');
      for (let i = 0; i < 100 && await copied() !== value; i += 1) await page.waitForTimeout(20);
      assert.equal(await copied(), value);
    }
    await page.getByRole('gridcell').filter({ hasText: 'line⏎xxx' }).waitFor();
    await page.goto(desk.url('#/settings'));
    await page.getByLabel('Say what values probably mean').uncheck();
    await page.goto(desk.url('#/t/times/items'));
    await cell.waitFor();
    assert.equal(await cell.textContent(), '1800000000');
  });

  // Address, what to do there, and what shows that the view is as it was.
  const VIEWS = [
    ['an item', '#/t/binary/item?k=B:AP8', (page) => page.getByRole('tab', { name: 'Plain JSON' }).click(), (page) => page.getByRole('textbox', { name: 'Plain JSON' }).waitFor()],
    ['a statement', '#/q', (page) => page.getByLabel('Statement', { exact: true }).fill('SELECT * FROM "orders"\nWHERE pk = \'x\''), async (page) => {
      await page.getByText('Reads 1 range of keys. Expected: about').waitFor();
      assert.equal(await page.getByLabel('Statement', { exact: true }).inputValue(), 'SELECT * FROM "orders"\nWHERE pk = \'x\'');
    }],
    ['a request', '#/q?mode=request', async (page) => {
      await page.getByLabel('Operation', { exact: true }).fill('DescribeTable');
      await page.getByLabel('Parameters').fill('{"TableName": "orders"}');
      await page.keyboard.press('Control+Enter');
    }, async (page) => {
      await page.getByLabel('Operation', { exact: true }).waitFor();
      assert.equal(await page.getByLabel('Operation', { exact: true }).inputValue(), 'DescribeTable');
      assert.equal(await page.getByLabel('Parameters').inputValue(), '{"TableName": "orders"}');
    }],
    ['metrics', '#/metrics', (page) => page.getByLabel('Table', { exact: true }).selectOption('orders'), async (page) => {
      await page.getByText('Contributor Insights is off').waitFor();
      assert.equal(await page.getByLabel('Table', { exact: true }).inputValue(), 'orders');
    }],
    ['a stream', '#/t/streamed/stream', async (page) => {
      await page.getByLabel('Read', { exact: true }).selectOption('TRIM_HORIZON');
      await page.getByLabel('Filter pattern').fill('{"eventName": ["INSERT"]}');
      await page.getByLabel('Filter pattern').press('Tab');
    }, async (page) => {
      await page.getByLabel('Filter pattern').waitFor();
      assert.equal(await page.getByLabel('Filter pattern').inputValue(), '{"eventName": ["INSERT"]}');
      assert.equal(await page.getByLabel('Read', { exact: true }).inputValue(), 'TRIM_HORIZON');
    }],
  ];
  for (const [what, hash, act, check] of VIEWS) {
    test(`back, forward and reload restore ${what}`, async () => {
      if (what === 'a stream') {
        await createTable(desk, 'streamed');
        await desk.call('UpdateTable', { TableName: 'streamed', StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_IMAGE' } });
      }
      const page = await desk.page('#/settings');
      await page.getByLabel('Density').waitFor();
      await page.goto(desk.url(hash));
      await act(page);
      await check(page);
      await page.goto(desk.url('#/settings'));
      await page.getByLabel('Density').waitFor();
      await page.goBack();
      await check(page);
      await page.goBack();
      await page.getByLabel('Density').waitFor();
      await page.goForward();
      await check(page);
      await page.reload();
      await check(page);
    });
  }

  test('an index with several sort keys is read by all of them, and the address and the form keep them', async () => {
    const key = (AttributeName, KeyType) => ({ AttributeName, KeyType });
    await desk.call('CreateTable', {
      TableName: 'wide', BillingMode: 'PAY_PER_REQUEST', KeySchema: [key('pk', 'HASH')], AttributeDefinitions: ['pk', 'a', 'b', 'c'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
      GlobalSecondaryIndexes: [{ IndexName: 'abc', KeySchema: [key('a', 'HASH'), key('b', 'RANGE'), key('c', 'RANGE')], Projection: { ProjectionType: 'ALL' } }],
    });
    while ((await desk.call('DescribeTable', { TableName: 'wide' })).Table.TableStatus !== 'ACTIVE');
    await putAll(desk, 'wide', Array.from({ length: 12 }, (_, i) => ({ pk: { S: `p${i}` }, a: { S: 'x' }, b: { S: `b${i % 3}` }, c: { S: `c${i}` } })));
    const page = await desk.page('#/t/wide/items?index=abc');
    const sent = operations(page);
    await page.getByLabel('a', { exact: true }).fill('x');
    await page.getByLabel('b (sort key)').fill('b1');
    await page.getByLabel('c: comparison').selectOption('begins_with');
    await page.getByLabel('c (sort key)').fill('c1');
    await page.getByRole('button', { name: 'Query' }).click();
    await footer(page).getByText('2 returned').waitFor();
    const { body } = sent.findLast((one) => one.operation === 'Query');
    assert.equal(body.KeyConditionExpression, '#0 = :0 AND #1 = :1 AND begins_with(#2, :2)');
    const { hash } = new URL(page.url());
    await page.reload();
    await footer(page).getByText('2 returned').waitFor();
    assert.equal(await page.getByLabel('c (sort key)').inputValue(), 'c1');
    await page.goto(desk.url('#/q?mode=request'));
    await page.getByLabel('Operation', { exact: true }).fill('Query');
    await page.getByLabel('Parameters').fill(JSON.stringify(body));
    await page.getByRole('button', { name: 'Open as a form' }).click();
    await footer(page).getByText('2 returned').waitFor();
    assert.equal(new URL(page.url()).hash, hash);
  });

  test('names that every object inherits are attributes only of the items that have them', async () => {
    await createTable(desk, 'inherited');
    await desk.call('PutItem', '{"TableName":"inherited","Item":{"pk":{"S":"a"},"constructor":{"S":"own"},"toString":{"N":"1"},"__proto__":{"S":"own too"}}}');
    await desk.call('PutItem', '{"TableName":"inherited","Item":{"pk":{"S":"b"}}}');
    const page = await desk.page('#/t/inherited/items');
    await footer(page).getByText('2 returned').waitFor();
    const rows = page.getByRole('row');
    await rows.filter({ hasText: 'own too' }).waitFor();
    await page.goto(desk.url(`#/q?statement=${encodeURIComponent('SELECT * FROM "inherited"')}`));
    await page.getByText('Reads the whole table').waitFor();
    await page.keyboard.press('Control+Enter');
    await rows.filter({ hasText: 'own too' }).waitFor();
    assert.deepEqual(await rows.filter({ hasText: /^b/ }).getByRole('gridcell').allTextContents(), ['b', '—', '—', '—']);
  });

  test('the next items are fetched on demand', async () => {
    const page = await desk.page('#/t/orders/items');
    await footer(page).getByText('200 returned').waitFor();
    await page.getByRole('button', { name: 'Next items' }).click();
    await footer(page).getByText('300 returned').waitFor();
    await footer(page).getByText('all read').waitFor();
  });

  test('the grid is walked by keyboard, and says where it is', async () => {
    const page = await desk.page('#/t/orders/items');
    await footer(page).getByText('200 returned').waitFor();
    const grid = page.getByRole('grid');
    await grid.focus();
    for (const key of ['ArrowDown', 'ArrowRight', 'PageDown', 'End', 'Home', 'Control+End']) await page.keyboard.press(key);
    const active = await grid.evaluate((element) => document.getElementById(element.getAttribute('aria-activedescendant')).parentElement.getAttribute('aria-rowindex'));
    assert.equal(active, '201');
    await page.keyboard.press('Control+Home');
    await page.keyboard.press('Shift+ArrowDown');
    await page.keyboard.press('Shift+ArrowDown');
    await footer(page).getByText('3 selected').waitFor();
  });

  test('binary keys are opened like others', async () => {
    const page = await desk.page('#/t/binary/items');
    await footer(page).getByText('2 returned').waitFor();
    for (let i = 0; i < 2; i += 1) {
      await page.getByRole('grid').focus();
      await page.keyboard.press('Control+Home');
      if (i) await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      await page.getByText('of 400 KB').waitFor();
      await page.goBack();
    }
  });

  test('many items scroll without a long frame', async () => {
    const page = await desk.page('#/t/orders/items');
    await footer(page).getByText('200 returned').waitFor();
    // The rows of the answer, repeated: the test is about drawing them.
    await page.route('**/', async (route) => {
      if (!route.request().headers()['x-amz-target']?.endsWith('.Scan')) return route.fallback();
      const response = await route.fetch();
      const body = await response.json();
      const Items = Array.from({ length: MANY }, (_, i) => ({ ...body.Items[i % body.Items.length], sk: { S: `ORDER#${i}` } }));
      return route.fulfill({ status: 200, contentType: 'application/x-amz-json-1.0', body: JSON.stringify({ ...body, Items, Count: MANY, ScannedCount: MANY, LastEvaluatedKey: undefined }) });
    });
    await page.getByRole('button', { name: 'Scan' }).click();
    await footer(page).getByText('100,000 returned').waitFor();
    await page.waitForTimeout(300);
    const worst = await costliestFrame(page, page.locator('.grid'), 40);
    const rows = await page.locator('.grid').evaluate((grid) => grid.querySelectorAll('[role=row]').length);
    assert.ok(rows < 100, `${rows} rows exist`);
    assert.ok(worst <= FRAME_MS_MAX, `a frame took ${worst} ms of CPU time`);
  });
});
