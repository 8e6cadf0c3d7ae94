// dialog.js -- dialogs, and messages that screen readers announce.

import { h, show } from './dom.js';

// Shows a modal dialog; resolves to the value of the button that closed it, or to null.
// actions: [{ label, value, primary, danger, check }]; `check` may return false to stay open.
export function dialog({ title, body, actions = [{ label: 'Close', value: null }], wide, onopen }) {
  return new Promise((resolve) => {
    let result = null;
    let isBusy = false;
    const close = (value) => {
      result = value;
      element.close();
    };
    const buttons = actions.map((action) => h('button', {
      type: action.primary ? 'submit' : 'button',
      class: action.danger ? 'danger' : action.primary ? 'primary' : undefined,
      disabled: action.disabled,
      onclick: action.primary ? undefined : () => close(action.value),
    }, action.label));
    const main = actions.find((action) => action.primary);
    const element = h('dialog', { class: wide ? 'wide' : undefined, 'aria-labelledby': 'dialog-title' },
      h('form', {
        method: 'dialog',
        onsubmit: async (event) => {
          event.preventDefault();
          if (!main || isBusy) return; // A second Enter must not send a request twice.
          isBusy = true;
          try {
            if ((await main.check?.()) !== false) close(main.value);
          } finally {
            isBusy = false;
          }
        },
      }, h('h2', { id: 'dialog-title' }, title), h('div', { class: 'dialog-body' }, body),
      h('div', { class: 'actions' }, buttons)));
    const opener = document.activeElement;
    element.addEventListener('close', () => {
      element.remove();
      opener?.focus?.();
      resolve(result);
    });
    document.body.append(element);
    element.showModal();
    (element.querySelector('[autofocus]') ?? buttons.at(-1)).focus();
    onopen?.({ element, close, buttons });
  });
}

export async function confirm(title, body, { label = 'Continue', danger = false } = {}) {
  return await dialog({
    title,
    body,
    actions: [{ label: 'Cancel', value: null }, { label, value: true, primary: true, danger }],
  }) === true;
}

// Asks for a name to be typed before something is destroyed.
export async function confirmName(title, body, name, label) {
  const input = h('input', { autocomplete: 'off', autofocus: true, 'aria-label': `Type ${name}` });
  return await dialog({
    title,
    body: [body, h('p', null, 'Type ', h('code', null, name), ' to confirm:'), input],
    actions: [{ label: 'Cancel', value: null },
      { label, value: true, primary: true, danger: true, check: () => input.value === name }],
    onopen: ({ buttons }) => {
      const update = () => { buttons.at(-1).disabled = input.value !== name; };
      input.addEventListener('input', update);
      update();
    },
  }) === true;
}

const live = h('div', { class: 'sr', role: 'status', 'aria-live': 'polite' });
const toasts = h('div', { class: 'toasts', role: 'region', 'aria-label': 'Messages' });

export function mountMessages(parent) {
  parent.append(live, toasts);
}

// For screen readers only.
export function announce(text) {
  show(live, text);
}

// A message that goes by itself; errors stay until they are closed.
export function notify(text, { error = false } = {}) {
  const toast = h('div', { class: error ? 'toast bad' : 'toast' }, h('span', null, text),
    h('button', { class: 'plain', 'aria-label': 'Close message', onclick: () => toast.remove() }, '×'));
  toasts.append(toast);
  while (toasts.children.length > 4) toasts.firstChild.remove();
  announce(text);
  if (!error) setTimeout(() => toast.remove(), 5000);
}

// What failed, why, and what the service called it.
export function errorBox(error, retry) {
  const denied = error.name === 'AccessDeniedException';
  return h('div', { class: 'notice bad', role: 'alert' },
    h('strong', null, denied ? 'This key may not do that' : error.name ?? 'Error'),
    h('p', null, error.message),
    retry && h('button', { onclick: retry }, 'Try again'));
}

export async function copy(text, what = 'Copied') {
  try {
    await navigator.clipboard.writeText(text);
    notify(what);
  } catch {
    notify('The browser does not allow copying here.', { error: true });
  }
}
