// operations.test.js -- pages that watch the server and bring data back: metrics, alarms, streams,
// triggers, recovery.
'use strict';
const assert = require('node:assert/strict');
const fs = require('node:fs');
const http = require('node:http');
const os = require('node:os');
const path = require('node:path');
const { after, before, describe, test } = require('node:test');
const { Keys } = require('../api/lib/keys.js');
const { axeFindings, missing, openDesk } = require('./lib/browser.js');
const { createTable } = require('./lib/data.js');

const said = (page, text) => page.locator('.toasts').getByText(text).last().waitFor();

describe('operations', { skip: missing() }, () => {
  let desk;
  before(async () => {
    desk = await openDesk();
    await createTable(desk, 'orders');
  });
  after(() => desk.close());
  const put = (pk, more) => desk.call('PutItem', { TableName: 'orders', Item: { pk: { S: pk }, ...more } });

  test('metrics: requests show in the live chart, and as numbers', async () => {
    const page = await desk.page('#/metrics');
    const chart = page.getByRole('figure', { name: 'Requests per second' });
    await chart.getByText('Numbers').click();
    const count = async () => Number(await chart.locator('tbody tr td').first().textContent().catch(() => 0));
    do await put('a'); while (!(await count() > 0));
    await page.getByRole('figure', { name: 'Units per second' }).getByText('Write').waitFor();
    assert.match(await chart.locator('path.line-0').first().getAttribute('d'), /^M/);
    await page.getByLabel('Time').selectOption('3h');
    await chart.locator('tbody tr').first().waitFor();
    assert.match(page.url(), /range=3h/);
  });

  test('metrics: keys are counted after Contributor Insights is enabled, the call being shown', async () => {
    const page = await desk.page('#/metrics?table=orders');
    await page.getByRole('button', { name: 'Enable Contributor Insights' }).click();
    await page.getByLabel('Code', { exact: true }).getByText('update-contributor-insights').waitFor();
    await page.getByRole('button', { name: 'Enable', exact: true }).click();
    await said(page, 'Contributor Insights changed');
    await put('hottest');
    await page.reload();
    await page.getByRole('region', { name: 'Hot keys' }).getByText('hottest').last().waitFor();
    assert.deepEqual(await axeFindings(page), []);
  });

  test('alarms: made, seen with its history, deleted, by keyboard', async () => {
    const page = await desk.page('#/alarms');
    await page.getByRole('button', { name: 'New alarm' }).press('Enter');
    await page.keyboard.type('many-writes');
    await page.getByLabel('Metric').selectOption('SuccessfulRequestLatency');
    await page.getByLabel('Statistic').selectOption('p99');
    await page.getByLabel('Operation', { exact: true }).selectOption('PutItem');
    await page.getByLabel('Code', { exact: true }).getByText('aws cloudwatch put-metric-alarm').waitFor();
    assert.deepEqual(await axeFindings(page), []);
    await page.getByRole('button', { name: 'Save alarm' }).press('Enter');
    await said(page, 'Alarm saved');
    await page.getByRole('cell', { name: 'p99 of SuccessfulRequestLatency' }).waitFor();
    await page.getByRole('cell', { name: 'Alarm "many-writes" created' }).waitFor();
    assert.deepEqual(await axeFindings(page), []);
    await page.getByRole('button', { name: 'Delete alarm many-writes' }).press('Enter');
    await page.getByRole('button', { name: 'Delete', exact: true }).press('Enter');
    await said(page, 'Alarm many-writes deleted');
    await page.getByText('No alarms yet').waitFor();
  });

  // --- Streams, triggers ---

  test('stream: records come in, a filter is tried on them, stop stops', async () => {
    await desk.call('UpdateTable', { TableName: 'orders', StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' } });
    const page = await desk.page('#/t/orders/stream');
    const records = page.getByRole('region', { name: 'Records' });
    await records.getByLabel('Read').selectOption('TRIM_HORIZON');
    await records.getByRole('button', { name: 'Start' }).press('Enter');
    await put('first', { n: { N: '12345678901234567890123456789012345678' } });
    await put('second', { n: { N: '1' } });
    await desk.call('DeleteItem', { TableName: 'orders', Key: { pk: { S: 'second' } } });
    await records.getByText('REMOVE').waitFor();
    await records.getByText('first', { exact: true }).click();
    await records.getByText('{"N":"12345678901234567890123456789012345678"}').waitFor();
    await records.getByLabel('Filter pattern').fill('{"eventName": ["REMOVE"]}');
    await records.getByText('3 seen, 1 of the last 3 match').waitFor();
    assert.equal(await records.getByText('INSERT').filter({ visible: true }).count(), 0);
    await records.getByLabel('Filter pattern').fill('{"eventName": "REMOVE"}');
    await records.getByText('"eventName" takes a list').waitFor();
    assert.deepEqual(await axeFindings(page), []);
    await records.getByRole('button', { name: 'Stop' }).press('Enter');
    await put('third');
    await records.getByText('Stopped: 3 seen').waitFor();
  });

  test('stream: a trigger is added with the filter that was tried, and removed', async () => {
    const page = await desk.page('#/t/orders/stream');
    await page.getByLabel('Filter pattern').fill('{"eventName": ["INSERT"]}');
    await page.getByRole('button', { name: 'Add trigger' }).press('Enter');
    await page.keyboard.type('http://127.0.0.1:1/function');
    await page.getByLabel('Code', { exact: true }).getByText('Stator_20261101.AddTrigger').waitFor();
    await page.getByRole('button', { name: 'Add', exact: true }).press('Enter');
    await said(page, 'Trigger added');
    await page.getByRole('cell', { name: '{"eventName": ["INSERT"]}' }).waitFor();
    await page.getByRole('button', { name: 'Remove trigger http://127.0.0.1:1/function' }).press('Enter');
    await page.getByRole('button', { name: 'Remove', exact: true }).press('Enter');
    await said(page, 'Trigger removed');
    await page.getByRole('region', { name: 'Triggers' }).getByText('None.').waitFor();
  });

  // --- Recovery ---

  test('recovery: a backup is made, restored and deleted; instants have a timeline', async () => {
    const page = await desk.page('#/t/orders/recovery');
    const backups = page.getByRole('region', { name: 'Backups' });
    await backups.getByRole('button', { name: 'Create backup' }).press('Enter');
    await page.getByRole('dialog').getByLabel('Name').fill('before-launch');
    await page.getByRole('button', { name: 'Create', exact: true }).press('Enter');
    await said(page, 'Backup created');
    await backups.getByText('available').waitFor();
    await backups.getByRole('button', { name: 'Restore before-launch' }).press('Enter');
    await page.getByRole('button', { name: 'Restore', exact: true }).press('Enter');
    await said(page, 'The table is being restored');
    await page.getByRole('navigation', { name: 'Tables' }).getByText('orders-restored').waitFor();
    await backups.getByRole('button', { name: 'Delete before-launch' }).press('Enter');
    await page.getByRole('button', { name: 'Delete', exact: true }).press('Enter');
    await said(page, 'Backup deleted');
    await page.getByRole('button', { name: 'Switch on' }).press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Switch on' }).press('Enter');
    await said(page, 'Recovery changed');
    await page.getByLabel('Instant from').waitFor();
    assert.deepEqual(await axeFindings(page), []);
  });
});

// What keeps data, and what needs it kept.
describe('history and capacity', { skip: missing() }, () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'stator-console-'));
  let desk;
  before(async () => {
    desk = await openDesk('--data-dir', path.join(folder, 'data'), '--recovery-lag-ms', '0', '--buckets', path.join(folder, 'buckets'));
    await createTable(desk, 'orders', { indexes: ['status'] });
    await desk.call('UpdateContinuousBackups', { TableName: 'orders', PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true } });
  });
  after(async () => {
    await desk.close();
    fs.rmSync(folder, { recursive: true, force: true });
  });
  const put = (pk, more) => desk.call('PutItem', { TableName: 'orders', Item: { pk: { S: pk }, ...more } });
  const seconds = (count) => new Promise((resolve) => { setTimeout(resolve, count * 1000); });

  test('an earlier version of an item is found and taken back by the smallest update, by keyboard', async () => {
    const first = '12345678901234567890123456789012345678';
    await put('a', { n: { N: first }, kept: { SS: ['x', 'y'] } });
    await put('a', { n: { N: '2' }, kept: { SS: ['x', 'y'] } });
    const page = await desk.page('#/t/orders/item?k=S:a');
    await page.getByRole('button', { name: 'History' }).press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.getByText('MODIFY').waitFor();
    await dialog.getByText(`− ${first}`).waitFor();
    assert.deepEqual(await axeFindings(page), []);
    await dialog.getByRole('button', { name: /^Edit this version/ }).last().press('Enter');
    await page.getByText('1 change', { exact: true }).waitFor();
    await page.keyboard.press('Control+s');
    await page.getByRole('button', { name: 'Save', exact: true }).last().press('Enter');
    await said(page, 'Saved');
    const { Item } = await desk.call('GetItem', { TableName: 'orders', Key: { pk: { S: 'a' } } });
    assert.deepEqual(Item, { pk: { S: 'a' }, n: { N: first }, kept: { SS: ['x', 'y'] } });
  });

  test('without recovery, the history says what to do', async () => {
    await createTable(desk, 'plain');
    await desk.call('PutItem', { TableName: 'plain', Item: { pk: { S: 'a' } } });
    const page = await desk.page('#/t/plain/item?k=S:a');
    await page.getByRole('button', { name: 'History' }).press('Enter');
    await page.getByRole('dialog').getByText('Point in time recovery is not enabled').waitFor();
  });

  test('a table is restored to an instant that arrow keys chose', async () => {
    await put('wanted', {});
    await seconds(2.1); // Instants are whole seconds.
    await desk.call('DeleteItem', { TableName: 'orders', Key: { pk: { S: 'wanted' } } });
    const deleted = Math.floor(Date.now() / 1000);
    await seconds(1.1);
    const page = await desk.page('#/t/orders/recovery');
    const axis = page.getByLabel('Instant from');
    await axis.focus();
    while (Number(await axis.inputValue()) >= deleted) await page.keyboard.press('ArrowLeft');
    await page.getByRole('button', { name: 'Restore this instant' }).press('Enter');
    await page.getByRole('dialog').getByText('restore-table-to-point-in-time').waitFor();
    assert.deepEqual(await axeFindings(page), []);
    await page.getByLabel('Name of the new table').fill('orders-then');
    await page.getByRole('button', { name: 'Restore', exact: true }).press('Enter');
    await said(page, 'The table is being restored');
    for (;;) {
      const { Table } = await desk.call('DescribeTable', { TableName: 'orders-then' });
      if (Table.TableStatus === 'ACTIVE') break;
      await seconds(0.1);
    }
    const then = await desk.call('GetItem', { TableName: 'orders-then', Key: { pk: { S: 'wanted' } } });
    assert.deepEqual(then.Item, { pk: { S: 'wanted' } });
    assert.equal((await desk.call('GetItem', { TableName: 'orders', Key: { pk: { S: 'wanted' } } })).Item, undefined);
    await page.goto(desk.url('#/jobs'));
    const jobs = page.getByRole('region', { name: 'All jobs' });
    await jobs.getByRole('cell', { name: 'restore' }).waitFor();
    await jobs.getByRole('cell', { name: 'orders-then' }).waitFor();
    assert.deepEqual(await axeFindings(page), []);
  });

  test('a bulk operation is among the jobs, and can be cancelled', async () => {
    fs.mkdirSync(path.join(folder, 'buckets', 'bulk'), { recursive: true });
    const lines = Array.from({ length: 30_000 }, (_, i) => JSON.stringify({ Item: { pk: { S: `bulk-${i}` } } }));
    fs.writeFileSync(path.join(folder, 'buckets', 'bulk', 'items.json'), lines.join('\n'));
    await desk.call('StartBulkPutItems', {
      TableName: 'orders', MaxWriteRequestUnits: 1024, InputS3Configuration: { S3Bucket: 'bulk', S3KeyPrefix: 'items', InputFormat: 'DYNAMODB_JSON' }, OutputS3Configuration: { S3Bucket: 'bulk', OutputType: ['ERROR'] },
    });
    const page = await desk.page('#/jobs');
    const bulk = page.getByRole('region', { name: 'Bulk operations' });
    await bulk.getByText('in progress').waitFor();
    await bulk.getByRole('button', { name: /^Cancel/ }).press('Enter');
    await page.getByRole('button', { name: 'Cancel it' }).press('Enter');
    await said(page, 'Bulk operation cancelled');
    await bulk.getByText('cancel').first().waitFor();
  });

  test('triggers tell how far behind they are, and what they gave up', async (t) => {
    await createTable(desk, 'events');
    await desk.call('UpdateTable', { TableName: 'events', StreamSpecification: { StreamEnabled: true, StreamViewType: 'KEYS_ONLY' } });
    const failing = http.createServer((request, response) => response.writeHead(500, { 'X-Amz-Function-Error': 'Unhandled' }).end('{"errorMessage": "no"}'));
    const stop = () => { failing.closeAllConnections(); failing.close(); };
    t.after(stop);
    await new Promise((resolve) => { failing.listen(0, '127.0.0.1', resolve); });
    const page = await desk.page('#/t/events/stream');
    await page.getByRole('button', { name: 'Add trigger' }).press('Enter');
    await page.keyboard.type(`http://127.0.0.1:${failing.address().port}/f`);
    await page.getByLabel('Retries').fill('0');
    await page.getByLabel('Dead letter file').fill('letters.jsonl');
    await page.getByRole('button', { name: 'Add', exact: true }).press('Enter');
    await said(page, 'Trigger added');
    const write = (pk) => desk.call('PutItem', { TableName: 'events', Item: { pk: { S: pk } } });
    await write('lost');
    await page.locator('main').focus();
    await page.getByRole('cell', { name: '1 in letters.jsonl' }).waitFor();
    await page.getByRole('cell', { name: 'nothing waits' }).waitFor();
    stop();
    await write('waits'); // A function that cannot be reached is tried again.
    await page.getByRole('cell', { name: /^\d+ s$/ }).waitFor();
    assert.deepEqual(await axeFindings(page), []);
  });

  test('capacity: units scale by a target, with limits, by keyboard; limits are enforced by a tag', async () => {
    const page = await desk.page('#/t/orders/design');
    await page.getByRole('button', { name: 'Change capacity' }).press('Enter');
    await page.getByLabel('Mode').selectOption('PROVISIONED');
    await page.getByRole('button', { name: 'Apply' }).press('Enter');
    await said(page, 'Capacity changed');
    await page.goto(desk.url('#/t/orders/capacity'));
    await page.getByRole('button', { name: 'Limits of Table, write' }).press('Enter');
    await page.getByLabel('At least').fill('7');
    await page.getByLabel('At most').fill('90');
    await page.getByRole('dialog').getByText('application-autoscaling register-scalable-target').waitFor();
    assert.deepEqual(await axeFindings(page), []);
    await page.getByRole('button', { name: 'Set', exact: true }).press('Enter');
    await said(page, 'Limits set');
    await page.getByRole('cell', { name: '7 – 90' }).waitFor();
    await page.getByRole('button', { name: 'Target of Table, write' }).press('Enter');
    await page.getByLabel('Used, in percent').fill('60');
    await page.getByRole('button', { name: 'Set', exact: true }).press('Enter');
    await said(page, 'Target set');
    await page.getByRole('cell', { name: '60 %' }).waitFor();
    await page.getByRole('region', { name: 'Activities' }).getByText('minimum capacity').first().waitFor({ timeout: 60_000 });
    const plans = page.getByRole('region', { name: 'Scheduled actions' });
    await plans.getByRole('button', { name: 'Add action' }).press('Enter');
    await page.getByLabel('Name', { exact: true }).fill('morning');
    await page.getByLabel('Of', { exact: true }).selectOption('Table, write');
    await page.getByLabel('Schedule', { exact: true }).fill('cron(0 8 ? * MON-FRI *)');
    await page.getByLabel('At least').fill('20');
    await page.getByRole('dialog').getByText('application-autoscaling put-scheduled-action').waitFor();
    assert.deepEqual(await axeFindings(page), []);
    await page.getByRole('button', { name: 'Set', exact: true }).press('Enter');
    await said(page, 'Action set');
    await plans.getByRole('cell', { name: '20 – as it is' }).waitFor();
    await plans.getByRole('button', { name: 'Change morning' }).press('Enter');
    await page.getByLabel('At most').fill('80');
    await page.getByRole('button', { name: 'Set', exact: true }).press('Enter');
    await plans.getByRole('cell', { name: '20 – 80' }).waitFor();
    const target = { ServiceNamespace: 'dynamodb', ResourceId: 'table/orders' };
    const { ScheduledActions } = await desk.call('DescribeScheduledActions', target, 'AnyScaleFrontendService');
    assert.deepEqual(ScheduledActions.map((one) => [one.ScheduledActionName, one.Schedule, one.ScalableTargetAction]), [['morning', 'cron(0 8 ? * MON-FRI *)', { MinCapacity: 20, MaxCapacity: 80 }]]);
    await plans.getByRole('button', { name: 'Delete morning' }).press('Enter');
    await page.getByRole('button', { name: 'Delete', exact: true }).press('Enter');
    await said(page, 'Action deleted');
    await plans.getByText('None.').waitFor();
    const beyond = page.getByRole('region', { name: 'Beyond the units' });
    await beyond.getByRole('button', { name: 'Change' }).press('Enter');
    await page.getByRole('button', { name: 'Apply' }).press('Enter');
    await said(page, 'Limits changed');
    await beyond.getByText('Refused, as the service does').waitFor();
    await page.getByRole('figure', { name: 'Write units per second' }).getByText('Provisioned').waitFor();
    for (const width of [1280, 320]) {
      await page.setViewportSize({ width, height: 700 });
      assert.deepEqual(await axeFindings(page), [], `${width} pixels`);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= width);
    }
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.getByRole('button', { name: 'Remove of Table, write' }).press('Enter');
    await page.getByRole('button', { name: 'Remove', exact: true }).press('Enter');
    await said(page, 'Auto scaling removed');
  });
});

describe('filter patterns', () => {
  test('decide as those of triggers do', async () => {
    const { eventFilter } = await import('../../console/core/event_filter.js');
    const record = { eventName: 'INSERT', dynamodb: { SizeBytes: 26, NewImage: { Total: { N: '150' }, Tags: { SS: ['a', 'b'] }, Gone: { NULL: true } } } };
    const image = (pattern) => ({ dynamodb: { NewImage: pattern } });
    const cases = [
      [{ eventName: ['INSERT', 'MODIFY'] }, true], [{ eventName: ['REMOVE'] }, false],
      [image({ Total: { N: [{ prefix: '15' }] } }), true], [image({ Total: { N: [{ suffix: '1' }] } }), false],
      [image({ Total: { N: [{ numeric: ['>', 100] }] } }), false], // A number of an item is a text.
      [{ dynamodb: { SizeBytes: [{ numeric: ['>', 20, '<=', 26] }] } }, true], [{ dynamodb: { SizeBytes: [{ numeric: ['<', 26] }] } }, false],
      [{ eventName: [{ 'equals-ignore-case': 'insert' }] }, true], [{ eventName: [{ 'anything-but': ['INSERT'] }] }, false],
      [image({ Tags: { SS: ['b'] } }), true], [image({ Gone: { NULL: [true] } }), true],
      [image({ Other: { S: [{ exists: false }] } }), true], [image({ Total: { N: [{ exists: false }] } }), false],
      [image({ Total: [{ exists: true }] }), false], // Only values without members exist.
      [{ $or: [{ eventName: ['REMOVE'] }, image({ Total: { N: ['150'] } })] }, true],
    ];
    for (const [pattern, expected] of cases) assert.equal(eventFilter(JSON.stringify(pattern))(record), expected, JSON.stringify(pattern));
    for (const bad of ['[]', '{"a": 1}', '{"a": []}', '{"a": [{"like": "x"}]}', '{"a": [{"numeric": [">>", 1]}]}', '{']) assert.throws(() => eventFilter(bad), bad);
  });
});

describe('operations of a key without rights', { skip: missing() }, () => {
  const keys = new Keys();
  let desk;
  let key;
  before(async () => {
    key = keys.create('eve', { Effect: 'Allow', Action: 'dynamodb:ListTables', Resource: '*' });
    desk = await openDesk(...keys.flags, '--auth');
  });
  after(async () => {
    await desk.close();
    keys.remove();
  });

  test('each part says what the key may not do', async () => {
    const page = await desk.page('#/metrics');
    await page.getByLabel('Access key id').fill(key.accessKeyId);
    await page.getByLabel('Secret access key').fill(key.secretAccessKey);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('region', { name: 'Slow requests' }).getByText('This key may not do that').waitFor();
    await page.getByRole('link', { name: 'Alarms' }).click();
    await page.getByRole('region', { name: 'Now' }).getByText('may not').first().waitFor();
    assert.deepEqual(await axeFindings(page), []);
  });
});

describe('replicas', { skip: missing() }, () => {
  let desk;
  before(async () => {
    desk = await openDesk('--regions', 'us-east-1,eu-west-1');
    await createTable(desk, 'orders');
  });
  after(() => desk.close());

  test('a replica is added, its lag is seen, and it is deleted, the call being shown', async () => {
    const page = await desk.page('#/t/orders/regions');
    await page.getByText('Only in us-east-1').waitFor();
    await page.getByRole('button', { name: 'Add replica' }).click();
    assert.equal(await page.getByLabel('Region', { exact: true }).inputValue(), 'eu-west-1');
    await page.getByLabel('Code', { exact: true }).getByText('update-table').first().waitFor();
    assert.deepEqual(await axeFindings(page), []);
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await said(page, 'The replica is being made');
    const row = page.getByRole('row', { name: /eu-west-1/ });
    await row.getByText('active').waitFor();
    await row.getByText('s ago').first().waitFor();
    assert.deepEqual(await axeFindings(page), []);
    await page.goto(desk.url('#/regions'));
    await page.getByText('Its peers: eu-west-1.').waitFor();
    await page.getByRole('row', { name: /orders/ }).getByText('active').waitFor();
    assert.deepEqual(await axeFindings(page), []);
    await page.getByRole('link', { name: 'orders' }).last().click();
    await page.getByRole('button', { name: 'Delete replica in eu-west-1' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await said(page, 'The replica is being deleted');
    await page.getByText('Only in us-east-1').waitFor();
  });
});
