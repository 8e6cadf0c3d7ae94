// keys.test.js -- access keys and policies, and what a key may not do: said before it is tried.
'use strict';
const assert = require('node:assert/strict');
const { after, before, describe, test } = require('node:test');
const { DynamoDBClient, CreateTableCommand, PutItemCommand, DescribeTableCommand } = require('../api/node_modules/@aws-sdk/client-dynamodb');
const { Keys } = require('../api/lib/keys.js');
const { axeFindings, missing, openDesk } = require('./lib/browser.js');

const said = (page, text) => page.locator('.toasts').getByText(text).last().waitFor();
const allow = (Action, more) => ({ Effect: 'Allow', Action, Resource: '*', ...more });

describe('keys', { skip: missing() }, () => {
  const keys = new Keys();
  let desk;
  let admin;
  before(async () => {
    admin = keys.create('admin', allow('*'));
    desk = await openDesk(...keys.flags, '--auth');
    const client = new DynamoDBClient({ endpoint: desk.server.url, region: 'us-east-1', credentials: admin });
    await client.send(new CreateTableCommand({
      TableName: 'things', BillingMode: 'PAY_PER_REQUEST', KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }], AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
    }));
    while ((await client.send(new DescribeTableCommand({ TableName: 'things' }))).Table.TableStatus !== 'ACTIVE');
    for (const pk of ['bob', 'eve']) await client.send(new PutItemCommand({ TableName: 'things', Item: { pk: { S: pk } } }));
    client.destroy();
  });
  after(async () => {
    await desk.close();
    keys.remove();
  });

  async function signedIn({ accessKeyId, secretAccessKey }, hash, options) {
    const page = await desk.page(hash, options);
    await page.getByLabel('Access key id').fill(accessKeyId);
    await page.getByLabel('Secret access key').fill(secretAccessKey);
    await page.getByLabel('Remember on this device').check();
    await page.getByRole('button', { name: 'Sign in' }).press('Enter');
    await page.locator('main > *:not(form)').first().waitFor();
    return page;
  }

  test('by keyboard: a key is made, its secret shown once, given a policy, disabled, deleted', async () => {
    const page = await signedIn(admin, '#/keys');
    await page.getByRole('button', { name: 'New key' }).press('Enter');
    await page.keyboard.type('bob');
    assert.deepEqual(await axeFindings(page), []);
    await page.getByRole('button', { name: 'Create', exact: true }).press('Enter');
    const shown = await page.getByLabel('Credentials').textContent();
    const bob = { accessKeyId: shown.match(/KEY_ID=(.*)/)[1], secretAccessKey: shown.match(/SECRET_ACCESS_KEY=(.*)/)[1] };
    assert.deepEqual(await axeFindings(page), []);
    await page.getByRole('button', { name: 'I have it' }).press('Enter');
    const row = page.getByRole('row').filter({ hasText: bob.accessKeyId });
    await row.getByText('active').waitFor();
    assert.ok(!(await page.content()).includes(bob.secretAccessKey));

    await row.getByRole('button', { name: 'Add policy' }).press('Enter');
    await page.getByLabel('Policy in IAM').fill('{"Statement": {"Effect": "Perhaps"}}');
    await page.getByRole('button', { name: 'Save', exact: true }).press('Enter');
    await page.getByRole('dialog').getByText('ValidationException').waitFor();
    await page.getByLabel('Start from').selectOption('Only items of its own');
    await page.getByRole('button', { name: 'Save', exact: true }).press('Enter');
    await said(page, 'Policy saved');
    await row.getByRole('button', { name: /^policy of/ }).press('Enter');
    await page.getByRole('dialog').getByText('aws:username').first().waitFor();
    // What somebody else saves meanwhile is not replaced.
    keys.command(['policy', 'put', bob.accessKeyId, 'policy', '-'], JSON.stringify({ Version: '2012-10-17', Statement: [allow('dynamodb:GetItem', { Condition: { 'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': ['${aws:username}'] } } })] }));
    await new Promise((resolve) => { setTimeout(resolve, 1100); });
    await page.getByRole('button', { name: 'Save', exact: true }).press('Enter');
    await page.getByRole('dialog').getByText('Somebody changed this policy').waitFor();
    await page.keyboard.press('Escape');
    await row.getByRole('button', { name: 'Add policy' }).press('Enter');
    assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'policy2');
    await page.getByLabel('Name', { exact: true }).fill('policy');
    await page.getByRole('button', { name: 'Save', exact: true }).press('Enter');
    await page.getByRole('dialog').getByText('has a policy policy already').waitFor();
    await page.keyboard.press('Escape');

    const check = page.getByRole('region', { name: 'What may a key do?' });
    await check.getByLabel('Of').selectOption(bob.accessKeyId);
    await check.getByLabel('Resource').fill('things');
    for (const [key, answer] of [['bob', 'Allowed'], ['eve', 'Denied']]) {
      await check.getByLabel('Partition key').fill(key);
      await check.getByLabel('Partition key').press('Enter');
      await check.getByText(answer, { exact: true }).waitFor();
    }
    for (const size of [1280, 320]) {
      await page.setViewportSize({ width: size, height: 700 });
      assert.deepEqual(await axeFindings(page), [], `${size} pixels`);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= size);
    }
    await page.setViewportSize({ width: 1280, height: 800 });

    // Bob may do what the policy says, and sees what he may not.
    const his = await signedIn(bob, '#/t/things/item?k=S:bob');
    await his.getByText('This key may not do that').first().waitFor(); // DescribeTable is not in the policy.

    await row.getByRole('button', { name: `Disable ${bob.accessKeyId}` }).press('Enter');
    await page.getByRole('button', { name: 'Apply' }).press('Enter');
    await said(page, 'Key changed');
    await row.getByText('disabled').waitFor();
    await row.getByRole('button', { name: `Delete ${bob.accessKeyId}` }).press('Enter');
    await page.getByRole('button', { name: 'Delete', exact: true }).press('Enter');
    await said(page, 'Key deleted');
    await row.waitFor({ state: 'detached' });
  });

  test('dark: the page of keys has no finding of axe', async () => {
    const page = await signedIn(admin, '#/keys', { colorScheme: 'dark' });
    await page.getByRole('rowheader').first().waitFor();
    assert.deepEqual(await axeFindings(page), []);
  });

  test('what a key may not do is disabled with the reason, and what depends on the item is asked of it', async () => {
    const own = { Condition: { 'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': ['${aws:username}'] } } };
    const eve = keys.create('eve', allow(['dynamodb:ListTables', 'dynamodb:DescribeTable', 'dynamodb:GetItem', 'dynamodb:DescribeTimeToLive']), allow('dynamodb:UpdateItem', own));
    await new Promise((resolve) => { setTimeout(resolve, 1100); }); // The server follows the command.
    const page = await signedIn(eve, '#/t/things/design');
    const remove = page.getByRole('button', { name: 'Delete table' });
    await remove.and(page.locator('[aria-disabled=true]')).waitFor();
    assert.match(await remove.getAttribute('title'), /user\/eve is not authorized to perform: dynamodb:DeleteTable/);
    await remove.press('Enter');
    await said(page, 'not authorized to perform: dynamodb:DeleteTable');
    assert.equal(await page.getByRole('dialog').count(), 0);
    assert.deepEqual(await axeFindings(page), []);
    for (const [pk, disabled] of [['bob', 1], ['eve', 0]]) {
      await page.goto(desk.url(`#/t/things/item?k=S:${pk}`));
      await page.getByRole('button', { name: 'Delete' }).and(page.locator('[aria-disabled=true]')).waitFor();
      assert.equal(await page.getByRole('button', { name: 'Save' }).and(page.locator('[aria-disabled=true]')).count(), disabled, pk);
    }
  });

  test('whoever signs in again, because a key has expired, finds unsaved edits', async () => {
    const page = await signedIn(admin, '#/t/things/item?k=S:bob');
    await page.getByText('of 400 KB').waitFor();
    await page.getByRole('button', { name: 'Add attribute' }).click();
    await page.keyboard.type('note');
    await page.keyboard.press('Tab');
    await page.getByLabel('note', { exact: true }).fill('kept');
    await page.route('**/', (route) => route.fulfill({ status: 400, json: { __type: 'ExpiredTokenException', message: 'expired' } }), { times: 1 });
    await page.keyboard.press('Control+s');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByText('ExpiredTokenException').waitFor();
    await page.getByLabel('Access key id').fill(admin.accessKeyId);
    await page.getByLabel('Secret access key').fill(admin.secretAccessKey);
    await page.getByRole('button', { name: 'Sign in' }).press('Enter');
    await page.getByText('1 change', { exact: true }).waitFor();
    assert.equal(await page.getByLabel('note', { exact: true }).inputValue(), 'kept');
    await page.keyboard.press('Control+s');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await said(page, 'Saved');
  });

  test('a key with one allowed action breaks no page', async () => {
    const key = keys.create('lister', allow('dynamodb:ListTables'));
    await new Promise((resolve) => { setTimeout(resolve, 1100); });
    const page = await signedIn(key, '#/');
    await page.getByRole('link', { name: 'things' }).first().waitFor();
    const { PAGES } = await import('../../console/core/pages.js');
    for (const { path } of PAGES) {
      await page.goto(desk.url(`#${path.replace(':table', 'things')}${path.endsWith('/item') ? '?k=S:bob' : ''}`));
      await page.locator('main h1, main h2, main [role=alert]').first().waitFor();
      if (path.startsWith('/t/')) await page.getByText('This key may not do that').first().waitFor();
      assert.deepEqual(await axeFindings(page), [], path);
    }
  });
});
