// screenshots.js -- makes the pictures of doc/console.md: `node test/console/screenshots.js [FOLDER [NAME...]]`.
//
// Starts a server in memory with a small shop in it, and takes each page in both themes.
'use strict';
const fs = require('node:fs');
const path = require('node:path');
const { missing, openDesk } = require('./lib/browser.js');
const { createTable, putAll } = require('./lib/data.js');

const chosen = process.argv.slice(3);
const folder = process.argv[2] ?? path.join(__dirname, '..', '..', 'doc', 'images');
const NAMES = ['Ada Lovelace', 'Grace Hopper', 'Alan Turing', 'Edsger Dijkstra', 'Barbara Liskov', 'Radia Perlman', 'Leslie Lamport', 'Donald Knuth'];
const STATUS = ['open', 'paid', 'shipped'];

function shop() {
  const items = [];
  NAMES.forEach((name, u) => {
    const pk = { S: `USER#${1001 + u}` };
    items.push({
      pk, sk: { S: 'PROFILE' }, name: { S: name }, email: { S: `${name.split(' ')[0].toLowerCase()}@example.com` }, since: { N: String(1_700_000_000 + u * 8_640_000) },
      roles: { SS: u % 3 ? ['buyer'] : ['admin', 'buyer'] }, address: { M: { city: { S: ['London', 'Berlin', 'Tokyo'][u % 3] }, zip: { S: String(10_115 + u) } } }, active: { BOOL: u % 4 !== 0 }, balance: { N: '12345678901234567890.123456789012345678' },
    });
    for (let o = 0; o < 3 + (u % 4); o += 1) {
      items.push({ pk, sk: { S: `ORDER#2026-0${o + 1}-1${u}#${u * 10 + o}` }, total: { N: `${(u * 37 + o * 91) % 400}.50` }, status: { S: STATUS[(u + o) % 3] }, lines: { L: [{ M: { sku: { S: `SKU-${u}${o}` }, count: { N: '2' } } }] } });
    }
  });
  return items;
}

const SHOTS = {
  items: ['#/t/shop/items', 'returned'],
  item: ['#/t/shop/item?k=S:USER%231002&k=S:PROFILE', 'of 400 KB'],
  code: ['#/t/shop/items?pk=S:USER%231002', 'returned', async (page) => {
    await page.keyboard.press('x');
    await page.getByLabel('Language').selectOption('boto3');
  }],
  desk: ['#/q', 'Statement', async (page) => {
    await page.getByLabel('Statement', { exact: true }).fill('SELECT * FROM "shop" WHERE pk = \'USER#1002\' AND begins_with(sk, \'ORDER#\')');
    await page.keyboard.press('Control+Enter');
    await page.locator('.footer').waitFor();
    await page.waitForTimeout(500);
  }],
  capacity: ['#/t/inventory/capacity', 'Table, write', async (page) => {
    await page.getByRole('figure', { name: 'Write units per second' }).getByText('Provisioned').waitFor();
  }],
  model: ['#/model', 'Examples', (page) => openModel(page, 'Aggregate view')],
  coverage: ['#/model', 'Examples', async (page) => {
    await openModel(page, 'Coverage and cost');
    await page.getByRole('heading', { name: 'A customer by email' }).evaluate((heading) => heading.scrollIntoView({ block: 'center' }));
  }],
};

// An example of the modeller, with a pattern that nothing serves.
async function openModel(page, tab) {
  await page.route('**/models/orders.json', async (route) => {
    const answer = await route.fetch();
    const model = await answer.json();
    model.Stator.Patterns.push({ Name: 'A customer by email', Operation: 'Query', Entities: ['Customer'], Parameters: { email: 'ada@example.com' }, CallsPerSecond: 5 });
    await route.fulfill({ response: answer, json: model });
  });
  await page.reload();
  await page.getByRole('button', { name: 'Open Orders and line items' }).click();
  await page.getByText(/patterns served$/).waitFor();
  await page.getByRole('link', { name: tab }).click();
  await page.locator('nav.tabs [aria-current=page]').and(page.getByRole('link', { name: tab })).waitFor();
  await page.waitForTimeout(400);
}

let desk;

// Provisioned, with auto scaling.
async function scaleInventory() {
  await desk.call('UpdateTable', { TableName: 'inventory', BillingMode: 'PROVISIONED', ProvisionedThroughput: { ReadCapacityUnits: 25, WriteCapacityUnits: 10 } });
  const target = { ServiceNamespace: 'dynamodb', ResourceId: 'table/inventory', ScalableDimension: 'dynamodb:table:WriteCapacityUnits' };
  await desk.call('RegisterScalableTarget', { ...target, MinCapacity: 10, MaxCapacity: 400 }, 'AnyScaleFrontendService');
  await desk.call('PutScalingPolicy', {
    ...target, PolicyName: 'writes', PolicyType: 'TargetTrackingScaling',
    TargetTrackingScalingPolicyConfiguration: { TargetValue: 70, PredefinedMetricSpecification: { PredefinedMetricType: 'DynamoDBWriteCapacityUtilization' } },
  }, 'AnyScaleFrontendService');
  await desk.call('PutScheduledAction', { ...target, ScheduledActionName: 'morning', Schedule: 'cron(0 8 ? * MON-FRI *)', ScalableTargetAction: { MinCapacity: 50 } }, 'AnyScaleFrontendService');
  for (let i = 0; i < 200; i += 25) await putAll(desk, 'inventory', Array.from({ length: 25 }, (_, k) => ({ pk: { S: `SKU-${i + k}` } })));
}

async function main() {
  const reason = missing();
  if (reason) throw new Error(reason);
  fs.mkdirSync(folder, { recursive: true });
  desk = await openDesk('--in-memory', '--port', '8000');
  await createTable(desk, 'shop', { range: 'sk', indexes: ['status'] });
  await putAll(desk, 'shop', shop());
  for (const name of ['audit-log', 'inventory', 'sessions']) await createTable(desk, name);
  await scaleInventory();
  for (const theme of ['light', 'dark']) {
    for (const [name, [hash, text, act]] of Object.entries(SHOTS).filter(([one]) => chosen.length === 0 || chosen.includes(one))) {
      const page = await desk.page(hash, { colorScheme: theme, viewport: { width: 1120, height: 700 }, reducedMotion: 'reduce' });
      await page.locator('main').getByText(text).first().waitFor();
      await act?.(page);
      await page.waitForTimeout(200);
      await page.screenshot({ path: path.join(folder, `console-${name}-${theme}.png`) });
      await page.context().close();
    }
  }
  desk.contexts.length = 0;
  await desk.close();
}

main().catch(async (error) => {
  console.error(error);
  process.exitCode = 1;
  await desk?.browser.close();
  await desk?.server.stop();
});
