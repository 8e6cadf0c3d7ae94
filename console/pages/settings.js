// settings.js -- what this browser remembers about how the console looks and behaves.

import { field, h, select, show } from '../core/dom.js';
import * as settings from '../core/settings.js';
import * as tables from '../core/tables.js';

function choice(label, name, options, hint) {
  return field(label, select(options, {
    value: settings.get(name), onchange: (event) => settings.set(name, event.target.value),
  }), { hint });
}

function flag(label, name, hint) {
  const id = `setting-${name}`;
  return h('div', { class: 'field' }, h('div', { class: 'check' }, h('input', {
    type: 'checkbox', id, checked: settings.get(name), 'aria-describedby': `${id}-hint`,
    onchange: (event) => settings.set(name, event.target.checked),
  }), h('label', { for: id }, label)), h('span', { class: 'hint', id: `${id}-hint` }, hint));
}

// Which attribute tells the entities of a table apart.
function discriminators() {
  const known = () => settings.get('discriminators');
  const box = h('ul', { class: 'plain-list' });
  const list = h('datalist', { id: 'known-tables' });
  const table = h('input', { class: 'mono-input', list: 'known-tables', required: true });
  const attribute = h('input', { class: 'mono-input', required: true });
  function draw() {
    show(list, tables.names().map((value) => h('option', { value })));
    show(box, Object.entries(known()).map(([name, one]) => h('li', { class: 'row' }, h('code', null, name), ' by ', h('code', null, one), h('button', {
      type: 'button', class: 'plain', 'aria-label': `Forget the attribute of ${name}`, onclick: () => { const { [name]: gone, ...rest } = known(); settings.set('discriminators', rest); draw(); },
    }, '×'))));
  }
  draw();
  return h('form', {
    'aria-label': 'Entities',
    onsubmit: (event) => {
      event.preventDefault();
      settings.set('discriminators', { ...known(), [table.value.trim()]: attribute.value.trim() });
      table.value = '';
      attribute.value = '';
      draw();
      table.focus();
    },
  }, h('h2', null, 'Entities'), h('p', { class: 'muted' }, 'Items are coloured by the model of their table, by a usual attribute such as entityType, or by the prefixes of their keys. Name another attribute here.'),
  box, list, h('div', { class: 'row' }, field('Table', table), field('Attribute', attribute), h('div', { class: 'field' }, h('button', { type: 'submit' }, 'Set'))));
}

export function render() {
  return {
    title: 'Settings',
    element: h('section', { class: 'card narrow' }, h('h1', null, 'Settings'),
      choice('Theme', 'theme', [['auto', 'As the system says'], ['light', 'Light'], ['dark', 'Dark']]),
      choice('Density', 'density', [['comfortable', 'Comfortable'], ['compact', 'Compact']]),
      flag('Keys of one letter', 'letterKeys', 'Such as g t or ?. Switch them off if you use voice input.'),
      flag('Show writes before they are sent', 'safeMode',
        'A save first shows the exact request. Deleting always asks.'),
      flag('Say what values probably mean', 'meanings', 'Times of numbers, ULIDs and UUIDs, beside the value in the list of items.'),
      discriminators(),
      h('p', { class: 'muted' }, 'Kept in this browser. The console stores neither items nor secrets.')),
  };
}
