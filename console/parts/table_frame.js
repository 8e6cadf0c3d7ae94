// table_frame.js -- what the pages of one table share: its name, its state, its tabs.

import { amount, bytes, h, show } from '../core/dom.js';
import { PAGES } from '../core/pages.js';
import { tableLink } from '../core/router.js';

const STATUS = { ACTIVE: 'good', CREATING: 'warn', UPDATING: 'warn', DELETING: 'bad' };

export function statusBadge(status) {
  return h('span', { class: `badge ${STATUS[status] ?? ''}` }, status.toLowerCase().replace(/_/g, ' '));
}

// `current`: the tab of this page. setTable(definition) fills in the facts.
export function tableFrame(name, current) {
  const facts = h('span', { class: 'row muted' });
  const tabs = PAGES.filter((page) => page.tab).map((page) => {
    const last = page.path.split('/').at(-1);
    return h('a', { href: tableLink(name, last), 'aria-current': last === current ? 'page' : last === `${current}s` ? 'true' : undefined }, page.tab);
  });
  const element = h('div', { class: 'page' },
    h('div', { class: 'spread' }, h('div', { class: 'row' }, h('h1', null, name), facts),
      h('div', { class: 'actions' }, h('a', { class: 'button', needs: { Action: 'PutItem', Resource: name }, href: tableLink(name, 'item') }, 'New item'))),
    h('nav', { class: 'tabs', 'aria-label': 'Table' }, tabs));
  return {
    element,
    setTable(table) {
      show(facts, statusBadge(table.TableStatus), `${amount(table.ItemCount ?? 0, 'item')}, ${bytes(table.TableSizeBytes ?? 0)}`);
    },
  };
}
