// choose.js -- a dialog to choose and order some of many names, by keyboard.

import { dialog } from '../core/dialog.js';
import { h, show } from '../core/dom.js';

// Resolves to the chosen names in their order, or to null.
export async function chooseFrom(title, names, chosen) {
  const list = names.map((name) => ({ name, on: chosen.includes(name) }));
  const box = h('ul', { class: 'plain-list' });
  function move(at, by) {
    const to = at + by;
    if (to < 0 || to >= list.length) return;
    list.splice(to, 0, ...list.splice(at, 1));
    draw();
    box.children[to].querySelectorAll('button')[by < 0 ? 0 : 1].focus();
  }
  function draw() {
    show(box, list.map((entry, i) => {
      const id = `choice-${i}`;
      return h('li', { class: 'spread' }, h('span', { class: 'check' }, h('input', { type: 'checkbox', id, checked: entry.on, onchange: (event) => { entry.on = event.target.checked; } }), h('label', { for: id, class: 'mono' }, entry.name)),
        h('span', null, h('button', { type: 'button', class: 'plain', 'aria-label': `Move ${entry.name} up`, onclick: () => move(i, -1) }, '↑'),
          h('button', { type: 'button', class: 'plain', 'aria-label': `Move ${entry.name} down`, onclick: () => move(i, 1) }, '↓')));
    }));
  }
  draw();
  const ok = await dialog({ title, body: box, actions: [{ label: 'Cancel', value: null }, { label: 'Show', value: true, primary: true }] });
  return ok ? list.filter((entry) => entry.on).map((entry) => entry.name) : null;
}
