// keys.js -- access keys, their policies, and what a key may do.

import { forget } from '../core/access.js';
import { call, pages, server } from '../core/api.js';
import { announce, copy, dialog, errorBox, notify } from '../core/dialog.js';
import { field, h, select, show, uniqueId } from '../core/dom.js';
import { current } from '../core/session.js';
import * as tables from '../core/tables.js';
import { changeThen, list, panel, when } from '../parts/panel.js';

const allow = (Action, Resource = '*', more = {}) => JSON.stringify({ Version: '2012-10-17', Statement: [{ Effect: 'Allow', Action, Resource, ...more }] }, null, 2);
const TEMPLATES = {
  'Everything of DynamoDB': () => allow('dynamodb:*'),
  'Read one table': () => allow(['dynamodb:DescribeTable', 'dynamodb:GetItem', 'dynamodb:BatchGetItem', 'dynamodb:Query', 'dynamodb:Scan'], ['arn:aws:dynamodb:*:*:table/NAME', 'arn:aws:dynamodb:*:*:table/NAME/index/*']),
  'Only items of its own': () => allow(['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem', 'dynamodb:DeleteItem', 'dynamodb:Query'], '*', { Condition: { 'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': ['${aws:username}'] } } }),
  'Everything, keys included': () => allow('*'),
};
const ACTIONS = ['GetItem', 'Query', 'Scan', 'PutItem', 'UpdateItem', 'DeleteItem', 'CreateTable', 'UpdateTable', 'DeleteTable', 'ListTables'].map((name) => `dynamodb:${name}`).concat('stator:ListKeys', 'stator:PutKeyPolicy');

async function allKeys(options) {
  const found = [];
  for await (const { Keys } of pages('ListKeys', { MaxResults: 1000 }, ['NextToken', 'NextToken'], options)) found.push(...Keys);
  return found;
}

// The only time that the secret is there.
function showSecret({ AccessKeyId, SecretAccessKey, SessionToken }) {
  const text = [`AWS_ACCESS_KEY_ID=${AccessKeyId}`, `AWS_SECRET_ACCESS_KEY=${SecretAccessKey}`, ...(SessionToken ? [`AWS_SESSION_TOKEN=${SessionToken}`] : [])].join('\n');
  return dialog({
    title: 'Keep this secret now',
    body: [h('p', null, 'The server shows it this once. A new key may do nothing until it has a policy.'), h('pre', { tabindex: '0', 'aria-label': 'Credentials' }, text), h('div', null, h('button', { type: 'button', onclick: () => copy(text, 'Credentials copied') }, 'Copy'))],
    actions: [{ label: 'I have it', value: null }],
    wide: true,
  });
}

function keyList(view, onKeys) {
  const button = (Action, label, what, onclick, cls) => h('button', { class: cls, needs: { Action: `stator:${Action}` }, 'aria-label': `${label === '×' ? 'Delete' : label} ${what}`, onclick }, label);
  // Other answers are stale once a policy has changed.
  const apply = (done, ...more) => changeThen(part, done, ...more).then((answer) => {
    if (answer) forget();
    return answer;
  });
  const warning = (id) => id === current()?.id && h('p', { class: 'notice warn' }, 'You are signed in with this key.');

  async function create() {
    const user = h('input', { autofocus: true, autocomplete: 'off' });
    const answer = await apply('Key created', 'New access key', 'CreateKey', field('User name', user, { hint: 'Policies know it as ${aws:username}. A user may have several keys.' }), () => ({ UserName: user.value }), { label: 'Create' });
    if (answer) await showSecret(answer.Key);
  }

  async function session(AccessKeyId) {
    const seconds = h('input', { type: 'number', value: '3600', min: '1' });
    const answer = await apply('Temporary key created', 'Temporary key', 'CreateSession', field('Seconds', seconds, { hint: `It may do what ${AccessKeyId} may.` }), () => ({ AccessKeyId, DurationSeconds: Number(seconds.value) }), { label: 'Create' });
    if (answer) await showSecret(answer.Key);
  }

  const wrong = (message) => Object.assign(new Error(message), { name: 'Not saved' });
  // What somebody else has saved meanwhile is not replaced.
  async function unchangedPolicy(parameters, document) {
    if ((await call('GetKeyPolicy', parameters)).PolicyDocument !== document) throw wrong('Somebody changed this policy meanwhile. Close this, and open it again.');
  }
  async function newPolicy({ AccessKeyId, PolicyNames }, name) {
    const names = await call('ListKeyPolicies', { AccessKeyId }).then((answer) => answer.PolicyNames, () => PolicyNames);
    if (names.includes(name)) throw wrong(`The key has a policy ${name} already. Choose another name.`);
  }

  async function editPolicy(key, PolicyName) {
    const { AccessKeyId } = key;
    let document = TEMPLATES['Everything of DynamoDB']();
    try {
      if (PolicyName) document = (await call('GetKeyPolicy', { AccessKeyId, PolicyName })).PolicyDocument;
    } catch (error) {
      notify(error.message, { error: true });
      return;
    }
    const before = document;
    let free = 'policy';
    for (let i = 2; key.PolicyNames.includes(free); i += 1) free = `policy${i}`;
    const verify = () => (PolicyName ? unchangedPolicy({ AccessKeyId, PolicyName }, before) : newPolicy(key, name.value));
    const name = h('input', { value: PolicyName ?? free, disabled: PolicyName !== undefined, autofocus: !PolicyName });
    const text = h('textarea', { rows: '14', spellcheck: 'false', value: document, autofocus: PolicyName !== undefined });
    const template = select([['', 'Choose …'], ...Object.keys(TEMPLATES)], { onchange: () => { if (template.value) text.value = TEMPLATES[template.value](); } });
    await apply('Policy saved', `Policy of ${AccessKeyId}`, 'PutKeyPolicy', [warning(AccessKeyId), h('div', { class: 'row' }, field('Name', name), field('Start from', template)), field('Policy in IAM\'s JSON', text)], () => ({ AccessKeyId, PolicyName: name.value, PolicyDocument: text.value }), { label: 'Save', verify });
  }
  const removePolicy = (AccessKeyId, PolicyName) => apply('Policy deleted', `Delete the policy ${PolicyName}?`, 'DeleteKeyPolicy', warning(AccessKeyId), () => ({ AccessKeyId, PolicyName }), { label: 'Delete', danger: true });
  const setStatus = (AccessKeyId, Status) => apply('Key changed', `${Status === 'Active' ? 'Enable' : 'Disable'} ${AccessKeyId}?`, 'UpdateKey', warning(AccessKeyId), () => ({ AccessKeyId, Status }), { danger: Status !== 'Active' });
  const remove = (AccessKeyId) => apply('Key deleted', `Delete ${AccessKeyId}?`, 'DeleteKey', [warning(AccessKeyId), h('p', null, 'Its temporary keys go with it.')], () => ({ AccessKeyId }), { label: 'Delete', danger: true });

  function row(key) {
    const { AccessKeyId: id, ParentAccessKeyId: parent } = key;
    const isActive = key.Status === 'Active';
    const state = isActive ? (key.Usable ? ['good', 'active'] : ['bad', 'unusable']) : ['warn', 'disabled'];
    return [h('code', null, id), key.UserName, h('span', { class: `badge ${state[0]}` }, state[1]), when(key.CreateDate),
      parent ? `of ${parent} until ${when(key.Expiration)}` : h('span', { class: 'actions' }, key.PolicyNames.map((name) => h('span', { class: 'token' }, button('GetKeyPolicy', name, `of ${id}`, () => editPolicy(key, name), 'plain'), button('DeleteKeyPolicy', '×', `${name} of ${id}`, () => removePolicy(id, name), 'plain'))), button('PutKeyPolicy', 'Add policy', `to ${id}`, () => editPolicy(key))),
      h('span', { class: 'actions' }, !parent && button('CreateSession', 'Temporary key', `of ${id}`, () => session(id)), button('UpdateKey', isActive ? 'Disable' : 'Enable', id, () => setStatus(id, isActive ? 'Inactive' : 'Active')), button('DeleteKey', 'Delete', id, () => remove(id), 'danger'))];
  }

  const part = panel(view, 'Access keys', {
    tools: h('button', { class: 'primary', needs: { Action: 'stator:CreateKey' }, onclick: create }, 'New key'),
    load: allKeys,
    draw(keys) {
      onKeys(keys.map((key) => [key.AccessKeyId, `${key.UserName} ${key.AccessKeyId}`]));
      return list('Access keys', ['Key', 'User', 'State', 'Created', 'Policies', ''], keys.map(row));
    },
  });
  return part.element;
}

// Asks the server for the decision that a request would get.
function checker() {
  const listId = uniqueId('actions');
  const key = select([['', 'My own key']]);
  const action = h('input', { value: 'dynamodb:GetItem', list: listId, class: 'mono-input' });
  const resource = h('input', { value: tables.names()[0] ?? '*', class: 'mono-input' });
  const leading = h('input', { class: 'mono-input' });
  const result = h('div', { role: 'status' });
  async function run(event) {
    event.preventDefault();
    try {
      const question = { Action: action.value, Resource: resource.value, ...(leading.value ? { LeadingKeys: [leading.value] } : {}) };
      const { Answers: [answer] } = await call('CheckAccess', { ...(key.value ? { AccessKeyId: key.value } : {}), Questions: [question] });
      const depends = answer.DependsOn.length > 0 && h('p', null, `Depends on ${answer.DependsOn.join(' and ')}, which the question does not name.`);
      show(result, h('div', { class: answer.Allowed ? 'notice good' : 'notice bad' }, h('strong', null, answer.Allowed ? 'Allowed' : 'Denied'), h('p', null, answer.Message ?? `${answer.Action} on ${answer.Resource}`), depends));
    } catch (error) {
      show(result, errorBox(error));
    }
    announce(result.textContent);
  }
  const element = h('section', { class: 'card', 'aria-label': 'What may a key do?' }, h('h2', null, 'What may a key do?'), h('form', { class: 'row', onsubmit: run }, field('Of', key), field('Action', action), field('Resource', resource), field('Partition key', leading), h('div', { class: 'field' }, h('button', { class: 'primary' }, 'Ask'))),
    h('datalist', { id: listId }, ACTIONS.map((value) => h('option', { value }))), result);
  return { element, setKeys: (keys) => show(key, [['', 'My own key'], ...keys].map(([value, label]) => h('option', { value }, label))) };
}

export function render(view) {
  const parts = [];
  if (server.auth) {
    const check = checker();
    parts.push(keyList(view, check.setKeys), check.element);
  } else parts.push(h('p', { class: 'notice' }, 'Requests are not authenticated here, so there are no access keys. Start the server with auth = true and create the first one with the command “stator key create”.'));
  return { title: 'Keys and policies', element: h('div', { class: 'page' }, h('h1', null, 'Keys and policies'), parts) };
}
