// shell.test.js -- the frame around the pages: axe on every page in both themes, sign-in, keys.
'use strict';
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { after, before, describe, test } = require('node:test');
const { EVERYTHING, Keys } = require('../api/lib/keys.js');
const { axeFindings, consoleFolder, missing, openDesk } = require('./lib/browser.js');
const { createTable, TEN_TYPES } = require('./lib/data.js');

// Every page, with a text that shows when it is complete.
const PAGES = {
  '/': ['#/', 'Tables'],
  '/t/:table/items': ['#/t/things/items', 'returned'],
  '/t/:table/item': ['#/t/things/item?k=S:a', 'of 400 KB'],
  '/t/:table/design': ['#/t/things/design', 'Time to live'],
  '/new': ['#/new', 'The exact call'],
  '/q': ['#/q', 'Statement'],
  '/model': ['#/model', 'Examples'],
  '/metrics': ['#/metrics?table=things', 'Contributor Insights is off'],
  '/alarms': ['#/alarms', 'No alarms yet'],
  '/t/:table/stream': ['#/t/things/stream', 'Switch one on'],
  '/t/:table/recovery': ['#/t/things/recovery', 'Switch on'],
  '/t/:table/capacity': ['#/t/things/capacity', 'on demand'],
  '/t/:table/regions': ['#/t/things/regions', 'Only in'],
  '/regions': ['#/regions', 'No table has replicas'],
  '/jobs': ['#/jobs', 'None.'],
  '/keys': ['#/keys', 'there are no access keys'],
  '/settings': ['#/settings', 'Density'],
};

// More states of pages, which have other controls.
const STATES = [
  ['#/q?mode=request', 'Operation'],
  ['#/t/things/item', 'of 400 KB'],
  ['#/t/things/item?k=S:a&view=dynamo', 'of 400 KB'],
  ['#/t/things/item?k=S:a&view=plain', 'of 400 KB'],
  ['#/t/things/items?f=s%7C=%7CS:x&f=n%7Cbetween%7CN:1%7CN:2', 'No items'],
  ['#/nowhere', 'No such page'],
];
const ALL = [...Object.values(PAGES), ...STATES];

describe('shell', { skip: missing() }, () => {
  let desk;
  before(async () => {
    desk = await openDesk();
    await createTable(desk, 'things');
    await desk.call('PutItem', { TableName: 'things', Item: TEN_TYPES });
  });
  after(() => desk.close());

  test('every page is in the list of this test', () => {
    const text = fs.readFileSync(path.join(consoleFolder, 'core/pages.js'), 'utf8');
    const paths = [...text.matchAll(/path: '([^']*)'/g)].map((match) => match[1]);
    assert.deepEqual(Object.keys(PAGES).sort(), paths.sort());
  });

  for (const theme of ['light', 'dark']) {
    test(`no page has a finding of axe: ${theme}`, async () => {
      const page = await desk.page('', { colorScheme: theme });
      for (const [hash, text] of ALL) {
        await page.goto(desk.url(hash));
        await page.locator('main').getByText(text).first().waitFor();
        assert.deepEqual(await axeFindings(page), [], `${hash} ${theme}`);
      }
      for (const [hash, button] of [['#/t/things/items', 'Code'], ['#/t/things/items', 'Columns'], ['#/t/things/design', 'Change capacity'], ['#/', 'Keys']]) {
        await page.goto(desk.url(hash));
        await page.getByRole('button', { name: button }).click();
        await page.getByRole('dialog').waitFor();
        assert.deepEqual(await axeFindings(page), [], `${hash} ${button} ${theme}`);
        await page.keyboard.press('Escape');
      }
    });
  }

  test('a window of 320 pixels has no horizontal scrolling, and no finding of axe', async () => {
    const page = await desk.page('', { viewport: { width: 320, height: 640 } });
    for (const [hash, text] of ALL) {
      await page.goto(desk.url(hash));
      await page.locator('main').getByText(text).first().waitFor();
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(width <= 320, `${hash}: ${width} pixels wide`);
      assert.deepEqual(await axeFindings(page), [], hash);
    }
  });

  test('? lists the keys, unless letters are switched off', async () => {
    const page = await desk.page('#/');
    await page.keyboard.press('?');
    await page.getByRole('dialog').getByText('List the keys').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('g');
    await page.keyboard.press('s');
    await page.getByLabel('Keys of one letter').uncheck();
    await page.locator('main').focus();
    await page.keyboard.press('?');
    assert.equal(await page.getByRole('dialog').count(), 0);
    await page.getByLabel('Keys of one letter').check();
  });

  test('the theme is kept', async () => {
    const page = await desk.page('#/settings');
    await page.getByLabel('Theme', { exact: true }).selectOption('dark');
    await page.reload();
    await page.getByLabel('Theme', { exact: true }).waitFor();
    assert.equal(await page.evaluate(() => getComputedStyle(document.body).colorScheme), 'dark');
  });

  test('a second Enter does not send a change twice', async () => {
    const page = await desk.page('#/alarms');
    let sent = 0;
    let release;
    const held = new Promise((resolve) => { release = resolve; });
    await page.route('**/*', async (route) => {
      if (/PutMetricAlarm/.test(route.request().headers()['x-amz-target'])) {
        sent += 1;
        await held;
      }
      await route.continue();
    });
    await page.getByRole('button', { name: 'New alarm' }).press('Enter');
    await page.getByLabel('Name', { exact: true }).fill('once');
    const request = page.waitForRequest((one) => /PutMetricAlarm/.test(one.headers()['x-amz-target']));
    await page.keyboard.press('Enter');
    await request;
    await page.keyboard.press('Enter');
    await page.getByLabel('Name', { exact: true }).fill('once'); // The page has seen the key by now.
    release();
    await page.locator('.toasts').getByText('Alarm saved').waitFor();
    assert.equal(sent, 1);
  });

  test('an address without a page says so', async () => {
    const page = await desk.page('#/nowhere');
    await page.getByText('No such page').waitFor();
  });
});

describe('sign-in', { skip: missing() }, () => {
  const keys = new Keys();
  let desk;
  let key;
  before(async () => {
    key = keys.create('ann', EVERYTHING);
    desk = await openDesk(...keys.flags, '--auth');
  });
  after(async () => {
    await desk.close();
    keys.remove();
  });

  async function signIn(page, { accessKeyId, secretAccessKey }, remember) {
    await page.getByLabel('Access key id').fill(accessKeyId);
    await page.getByLabel('Secret access key').fill(secretAccessKey);
    if (remember) await page.getByLabel('Remember on this device').check();
    await page.getByRole('button', { name: 'Sign in' }).click();
  }

  test('a key signs in, is remembered as what cannot be read, and signs out', async () => {
    const page = await desk.page('#/settings');
    assert.deepEqual(await axeFindings(page), []);
    await signIn(page, key, true);
    await page.getByLabel('Density').waitFor();
    await page.reload();
    await page.getByLabel('Density').waitFor();
    const exported = await page.evaluate(() => new Promise((resolve) => {
      indexedDB.open('stator').onsuccess = ({ target: { result: db } }) => {
        db.transaction('session').objectStore('session').get('key').onsuccess = ({ target }) => {
          db.close();
          crypto.subtle.exportKey('raw', target.result.key)
            .then(() => resolve('exported'), (error) => resolve(error.name));
        };
      };
    }));
    assert.equal(exported, 'InvalidAccessError');
    await page.getByRole('button', { name: 'ann' }).click();
    await page.getByRole('dialog').getByText('user/ann').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Access key id').waitFor();
    await page.reload();
    await page.getByLabel('Access key id').waitFor();
  });

  test('a key that is not to be remembered takes the place of one that was', async () => {
    const page = await desk.page('#/settings');
    await signIn(page, key, true);
    await page.getByLabel('Density').waitFor();
    await page.route('**/', (route) => route.fulfill({ status: 400, json: { __type: 'ExpiredTokenException', message: 'expired' } }), { times: 1 });
    await page.goto(desk.url('#/metrics'));
    await page.getByText('ExpiredTokenException').waitFor();
    await signIn(page, key);
    await page.getByLabel('Access key id').waitFor({ state: 'detached' });
    await page.reload();
    await page.getByLabel('Access key id').waitFor();
  });

  test('a wrong secret is refused in the words of the service', async () => {
    const page = await desk.page('#/');
    await signIn(page, { ...key, secretAccessKey: 'wrong' });
    await page.getByText('SignatureDoesNotMatch').waitFor();
    await signIn(page, key);
    await page.locator('main').getByRole('heading', { name: 'Tables', exact: true }).waitFor();
  });
});
