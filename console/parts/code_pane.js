// code_pane.js -- a request as code of every language, with a button to copy it.

import { LANGUAGES } from '../code/languages.js';
import { copy, dialog } from '../core/dialog.js';
import { h, select, show } from '../core/dom.js';
import { server } from '../core/api.js';

let last = 'cli';

// The request in the language that was chosen last; a menu for the others.
// Of another service than DynamoDB, in the languages that know it.
export function codeBlock(operation, parameters, service) {
  const options = { endpoint: location.origin, region: server.region, auth: server.auth, service };
  const usable = LANGUAGES.filter((one) => (!service || ['cli', 'raw'].includes(one.id)) && one.print(operation, parameters, options) !== null);
  const output = h('pre', { tabindex: '0', 'aria-label': 'Code' });
  let text = '';
  const menu = select(usable.map((one) => [one.id, one.label]), { 'aria-label': 'Language', onchange: () => { last = menu.value; draw(); } });
  if (usable.some((one) => one.id === last)) menu.value = last;
  function draw() {
    text = usable.find((one) => one.id === menu.value).print(operation, parameters, options);
    show(output, text);
  }
  draw();
  return h('div', { class: 'editor' }, h('div', { class: 'spread' }, menu, h('button', { type: 'button', onclick: () => copy(text, 'Code copied') }, 'Copy')), output);
}

export function codeDialog(operation, parameters) {
  return dialog({ title: `${operation} as code`, body: codeBlock(operation, parameters), wide: true });
}
