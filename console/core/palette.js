// palette.js -- Ctrl+K: type a few letters of a table or page, press Enter.

import { h, show, uniqueId } from './dom.js';
import { PAGES } from './pages.js';
import { go, tableLink } from './router.js';
import { names } from './tables.js';

function entries() {
  return [...names().map((name) => ({ label: name, kind: 'Table', hash: tableLink(name, 'items') })),
    ...PAGES.filter((page) => page.nav).map((page) => ({ label: page.nav, kind: 'Page', hash: `#${page.path}` }))];
}

export function openPalette() {
  const all = entries();
  const id = uniqueId('palette');
  let chosen = 0;
  let found = [];
  const list = h('ul', { role: 'listbox', id, 'aria-label': 'Matches' });
  const input = h('input', {
    role: 'combobox', 'aria-controls': id, 'aria-expanded': 'true', autocomplete: 'off',
    'aria-label': 'Go to a table or page', placeholder: 'Go to a table or page', oninput: () => search(),
  });
  const element = h('dialog', { class: 'palette', 'aria-label': 'Go to', onkeydown: onKey }, input, list);

  function mark() {
    [...list.children].forEach((item, i) => item.setAttribute('aria-selected', String(i === chosen)));
    const item = list.children[chosen];
    input.setAttribute('aria-activedescendant', item?.id ?? '');
    item?.scrollIntoView({ block: 'nearest' });
  }
  function search() {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    found = all.filter((one) => words.every((word) => one.label.toLowerCase().includes(word))).slice(0, 50);
    chosen = 0;
    show(list, found.map((one, i) => h('li', {
      role: 'option', id: `${id}-${i}`, onclick: () => open(one),
    }, h('span', null, one.label), h('span', { class: 'muted' }, one.kind))));
    mark();
  }
  function open(one) {
    element.close();
    if (one) go(one.hash);
  }
  function onKey(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && found.length) {
      chosen = (chosen + step + found.length) % found.length;
      mark();
      event.preventDefault();
    } else if (event.key === 'Enter') {
      open(found[chosen]);
      event.preventDefault();
    }
  }
  element.addEventListener('close', () => element.remove());
  document.body.append(element);
  element.showModal();
  search();
  input.focus();
}
