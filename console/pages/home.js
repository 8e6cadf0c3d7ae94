// home.js -- all tables with their state, and how to reach this server from elsewhere.

import { identity, server } from '../core/api.js';
import { copy, errorBox } from '../core/dialog.js';
import { bytes, counted, h, show } from '../core/dom.js';
import { refresh, tableLink } from '../core/router.js';
import * as tables from '../core/tables.js';
import { statusBadge } from '../parts/table_frame.js';

const SHOWN_MAX = 200;
const AT_ONCE = 6;

function row(name, signal) {
  const cells = Array.from({ length: 5 }, () => h('td'));
  const element = h('tr', null, h('th', { scope: 'row' }, h('a', { href: tableLink(name, 'items') }, name)), cells);
  const fill = async () => {
    try {
      const table = await tables.describe(name, { signal });
      const keys = table.KeySchema.map((key) => `${key.AttributeName} (${tables.typeOf(table, key.AttributeName)})`).join(', ');
      const contents = [statusBadge(table.TableStatus), h('code', null, keys), String(tables.indexesOf(table).length), counted(table.ItemCount ?? 0), bytes(table.TableSizeBytes ?? 0)];
      cells.forEach((cell, i) => show(cell, contents[i]));
    } catch (error) {
      if (!signal.aborted) show(cells[0], h('span', { class: 'badge bad', title: error.message }, error.name === 'AccessDeniedException' ? 'not allowed' : error.name));
    }
  };
  cells.slice(2).forEach((cell) => { cell.className = 'number'; });
  return { element, fill };
}

function endpointCard() {
  const environment = ['export AWS_ENDPOINT_URL_DYNAMODB=' + location.origin, `export AWS_REGION=${server.region}`,
    ...(server.auth ? [] : ['export AWS_ACCESS_KEY_ID=x', 'export AWS_SECRET_ACCESS_KEY=x'])].join('\n');
  return h('section', { class: 'card' }, h('div', { class: 'spread' }, h('h2', null, 'Connect'), h('button', { onclick: () => copy(environment, 'Copied') }, 'Copy')),
    h('p', { class: 'muted' }, 'For the AWS CLI and every SDK:'), h('pre', { tabindex: '0', 'aria-label': 'Environment' }, environment));
}

function serverCard() {
  return h('section', { class: 'card' }, h('h2', null, 'Server'), h('dl', { class: 'facts' },
    [['Version', `stator ${server.version}`], ['Region', server.region], ['Account', identity.account], ['You are', identity.arn], ['Sign-in', server.auth ? 'on' : 'off']]
      .filter(([, value]) => value).map(([name, value]) => [h('dt', null, name), h('dd', null, value)])));
}

export function render(view) {
  const body = h('div', { class: 'page' });
  async function fill() {
    const names = await tables.load();
    if (view.signal.aborted) return;
    if (tables.error()) {
      show(body, errorBox(tables.error(), () => refresh()));
      return;
    }
    if (names.length === 0) {
      show(body, h('section', { class: 'card empty' }, h('h2', null, 'No tables yet'), h('p', null, 'Create one here, load a sample with its data, or let your application do it.'),
        h('div', { class: 'actions' }, h('a', { class: 'button primary', href: '#/new' }, 'New table'), h('a', { class: 'button', href: '#/model' }, 'Load a sample'))), h('div', { class: 'cards' }, endpointCard(), serverCard()));
      return;
    }
    const rows = names.slice(0, SHOWN_MAX).map((name) => row(name, view.signal));
    const heads = ['Table', 'Status', 'Keys', 'Indexes', 'Items', 'Size'];
    show(body, h('div', { class: 'table-wrap', tabindex: '0', role: 'region', 'aria-label': 'Tables' }, h('table', null, h('thead', null, h('tr', null, heads.map((head, i) => h('th', { scope: 'col', class: i > 2 ? 'number' : undefined }, head)))), h('tbody', null, rows.map((one) => one.element)))),
      names.length > SHOWN_MAX && h('p', { class: 'muted' }, `${counted(names.length - SHOWN_MAX)} more tables are in the list on the left.`), h('div', { class: 'cards' }, endpointCard(), serverCard()));
    let next = 0;
    const worker = async () => {
      while (next < rows.length && !view.signal.aborted) {
        next += 1;
        await rows[next - 1].fill();
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
  }
  fill();
  return {
    title: 'Tables',
    element: h('div', { class: 'page' }, h('div', { class: 'spread' }, h('h1', null, 'Tables'), h('a', { class: 'button primary', href: '#/new' }, 'New table')), body),
  };
}
