// new_table.js -- a new table: the form on one side, the exact call on the other.

import { call } from '../core/api.js';
import { errorBox, notify } from '../core/dialog.js';
import { h, show } from '../core/dom.js';
import { bind } from '../core/keys.js';
import { go, tableLink } from '../core/router.js';
import * as tables from '../core/tables.js';
import { codeBlock } from '../parts/code_pane.js';
import { blankKey, createRequest, tableForm } from '../parts/table_form.js';

const WAIT_MS = 300;

export async function waitUntilActive(name, signal) {
  for (;;) {
    const table = await tables.describe(name, { signal });
    if (table.TableStatus === 'ACTIVE') return table;
    await new Promise((resolve) => { setTimeout(resolve, WAIT_MS); });
  }
}

export function render(view) {
  const state = { name: '', hash: blankKey(), range: blankKey(), indexes: [], billing: 'PAY_PER_REQUEST', read: '5', write: '5', stream: '', tags: [], protection: false };
  const problem = h('div');
  const preview = h('section', { class: 'card' });
  const draw = () => show(preview, h('h2', null, 'The exact call'), codeBlock('CreateTable', createRequest(state)));
  const create = h('button', { class: 'primary', type: 'submit' }, 'Create table');
  async function submit(event) {
    event?.preventDefault();
    create.disabled = true;
    show(problem);
    try {
      await call('CreateTable', createRequest(state));
      await waitUntilActive(state.name, view.signal);
      await tables.load();
      notify(`Table ${state.name} is ready`);
      go(tableLink(state.name, 'items'));
    } catch (error) {
      if (!view.signal.aborted) show(problem, errorBox(error));
    }
    create.disabled = false;
  }
  bind('New table', [{ keys: 'Ctrl+Enter', label: 'Create the table', run: () => submit() }], view.signal);
  draw();
  return {
    title: 'New table',
    crumbs: [['Tables', '#/']],
    element: h('div', { class: 'page' }, h('h1', null, 'New table'), h('div', { class: 'halves' },
      h('form', { class: 'card', 'aria-label': 'New table', onsubmit: submit }, tableForm(state, draw), problem, h('div', { class: 'actions' }, create)), preview)),
    mounted: () => document.querySelector('main input')?.focus(),
  };
}
