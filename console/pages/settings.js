// settings.js -- what this browser remembers about how the console looks and behaves.

import { field, h, select } from '../core/dom.js';
import * as settings from '../core/settings.js';

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

export function render() {
  return {
    title: 'Settings',
    element: h('section', { class: 'card narrow' }, h('h1', null, 'Settings'),
      choice('Theme', 'theme', [['auto', 'As the system says'], ['light', 'Light'], ['dark', 'Dark']]),
      choice('Density', 'density', [['comfortable', 'Comfortable'], ['compact', 'Compact']]),
      flag('Keys of one letter', 'letterKeys', 'Such as g t or ?. Switch them off if you use voice input.'),
      flag('Show writes before they are sent', 'safeMode',
        'A save first shows the exact request. Deleting always asks.'),
      h('p', { class: 'muted' }, 'Kept in this browser. The console stores neither items nor secrets.')),
  };
}
