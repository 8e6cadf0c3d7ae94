// sign_in.js -- the sign-in form. The secret goes from the field into a key that cannot be exported.

import { field, h } from '../core/dom.js';
import * as session from '../core/session.js';

export function signInForm(error, done) {
  if (!session.canSign()) {
    return h('section', { class: 'card narrow' }, h('h1', null, 'Sign in'),
      h('div', { class: 'notice bad' }, h('strong', null, 'Not on this address'),
        h('p', null, 'Browsers sign requests only over https or on this machine. Over plain http, '
          + 'somebody between you and the server could change this page and read your secret. '
          + 'Open the console by https, or by http://localhost on the server itself.')));
  }
  const id = h('input', { autocomplete: 'username', spellcheck: 'false', required: true, onpaste });
  const secret = h('input', { type: 'password', autocomplete: 'current-password', required: true });
  const token = h('input', { type: 'password', autocomplete: 'off' });
  const remember = h('input', { type: 'checkbox', id: 'remember' });

  function onpaste(event) {
    const found = session.fromText(event.clipboardData.getData('text'));
    if (!found) return;
    event.preventDefault();
    id.value = found.id;
    secret.value = found.secret;
    token.value = found.token ?? '';
  }

  async function submit(event) {
    event.preventDefault();
    await session.signIn({
      id: id.value.trim(), secret: secret.value, token: token.value.trim(), remember: remember.checked,
    });
    secret.value = '';
    token.value = '';
    await done();
  }

  return h('form', { class: 'card narrow', onsubmit: submit }, h('h1', null, 'Sign in'),
    error && h('div', { class: 'notice bad', role: 'alert' }, h('strong', null, error.name), h('p', null, error.message),
      /Signature/.test(error.name) && h('p', null, 'Behind a proxy, the Host header '
        + 'and the path must reach the server unchanged.')),
    field('Access key id', id, { hint: 'You can paste the lines that `stator key create` printed.' }),
    field('Secret access key', secret),
    h('details', null, h('summary', null, 'Temporary key'), field('Session token', token)),
    h('div', { class: 'check' }, remember, h('label', { for: 'remember' }, 'Remember on this device')),
    h('p', { class: 'hint' }, 'The secret becomes a key that this browser can use and nobody can read.'),
    h('div', { class: 'actions' }, h('button', { class: 'primary', type: 'submit' }, 'Sign in')));
}
