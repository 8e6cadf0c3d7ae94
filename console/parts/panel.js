// panel.js -- what the pages of operations share: parts that load by themselves, lists, times.

import { errorBox, notify } from '../core/dialog.js';
import { h, show, uniqueId } from '../core/dom.js';
import { refresh, tableLink } from '../core/router.js';
import * as tables from '../core/tables.js';
import { change } from './change.js';
import { tableFrame } from './table_frame.js';

export const when = (seconds) => (seconds ? new Date(seconds * 1000).toLocaleString('sv') : '');

// Repeats work() while the page is shown, `ms` after it has ended, until it returns false.
export async function repeat({ signal }, ms, work) {
  while (!signal.aborted) {
    if (!document.hidden && await work() === false) return;
    await new Promise((resolve) => { setTimeout(resolve, ms); });
  }
}

// A part of a page: load(options) answers, draw(answer) returns elements. With `every`, it is drawn
// again after so many milliseconds, but not under the keyboard's focus. What the key
// may not do is said in its place.
export function panel(view, title, { load, draw, every, tools }) {
  const id = uniqueId('panel');
  const body = h('div', { class: 'editor' }, h('p', { class: 'muted' }, 'Loading …'));
  const element = h('section', { class: 'card', 'aria-labelledby': id }, h('div', { class: 'spread' }, h('h2', { id }, title), h('span', { class: 'actions' }, tools)), body);
  let turn = 0;
  async function reload() {
    turn += 1;
    const mine = turn;
    let content;
    let ok = true;
    try {
      content = draw(await load({ signal: view.signal }));
    } catch (error) {
      ok = false;
      content = errorBox(error, start);
    }
    if (mine === turn && !view.signal.aborted) show(body, content);
    return ok;
  }
  const start = () => (every ? repeat(view, every, () => body.contains(document.activeElement) || document.querySelector('dialog[open]') !== null || reload()) : reload());
  start();
  return { element, reload };
}

// rows: arrays of cells; the first one names the row. Columns in `numbers` are aligned right.
export function list(label, heads, rows, { empty = 'None.', numbers = [] } = {}) {
  if (rows.length === 0) return h('p', { class: 'muted' }, empty);
  const cls = (i) => (numbers.includes(i) ? 'number' : undefined);
  return h('div', { class: 'table-wrap', tabindex: '0', role: 'group', 'aria-label': label }, h('table', null,
    h('thead', null, h('tr', null, heads.map((head, i) => (head ? h('th', { scope: 'col', class: cls(i) }, head) : h('td', null))))),
    h('tbody', null, rows.map((cells) => h('tr', null, cells.map((cell, i) => (i === 0 ? h('th', { scope: 'row' }, cell) : h('td', { class: cls(i) }, cell))))))));
}

// Shows a change; if it was made, says so, loads the panel again and returns the answer.
export async function changeThen(part, done, ...parameters) {
  const answer = await change(...parameters);
  if (!answer) return null;
  notify(done);
  await part.reload();
  return answer;
}

// A page of one table; draw(definition) returns what it shows.
export function tablePage(view, tab, title, draw) {
  const { table: name } = view.params;
  const frame = tableFrame(name, tab);
  const body = h('div', { class: 'page' });
  frame.element.append(body);
  tables.describe(name, { signal: view.signal }).then((table) => {
    frame.setTable(table);
    show(body, draw(table));
  }).catch((error) => { if (!view.signal.aborted) show(body, errorBox(error, () => refresh())); });
  return { title, crumbs: [['Tables', '#/'], [name, tableLink(name, 'items')]], element: frame.element };
}
