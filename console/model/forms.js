// forms.js -- what the tabs of the modeller share: dialogs whose change is judged before it is taken,
// small inputs, entity labels.

import { dialog, errorBox } from '../core/dialog.js';
import { h, select, show } from '../core/dom.js';
import { hueOf } from '../parts/format.js';

export const input = (value, props) => h('input', { class: 'mono-input', autocomplete: 'off', spellcheck: 'false', value: value ?? '', ...props });
export const area = (value, props) => h('textarea', { rows: '3', spellcheck: 'false', value: value ?? '', ...props });

let number = 0;
export function checkbox(label, checked) {
  number += 1;
  const box = h('input', { type: 'checkbox', id: `model-check-${number}`, checked });
  return { box, element: h('span', { class: 'check' }, box, h('label', { for: box.id }, label)) };
}

// A dialog whose change the server judges: what makes no sense stays open, with the reason.
export function formDialog(desk, title, fields, change, { label = 'Save' } = {}) {
  const problem = h('div');
  return dialog({
    title, wide: true, body: h('div', { class: 'editor' }, fields, problem),
    actions: [{ label: 'Cancel', value: null }, {
      label, value: true, primary: true,
      check: async () => {
        try {
          await desk.tryEdit(change);
          return true;
        } catch (error) {
          show(problem, errorBox(error));
          return false;
        }
      },
    }],
  });
}

export const words = (text) => text.split(',').map((one) => one.trim()).filter(Boolean);

// Sets a member, or removes it where there is nothing to say.
export function put(object, name, value) {
  const isEmpty = value === undefined || value === '' || value === false || (Array.isArray(value) && value.length === 0);
  if (isEmpty) delete object[name];
  else object[name] = value;
}

export function entityLabel(name) {
  return h('span', { class: 'entity', style: { cssText: `--hue: ${hueOf(name ?? '?')}` } }, name ?? 'no entity');
}

// A menu of the tables; nothing if there is one only.
export function tableMenu(doc, current, onchange) {
  if (doc.tables.length < 2) return null;
  return select(doc.tables.map((one) => one.TableName), { 'aria-label': 'Table', value: current.TableName, onchange: (event) => onchange(event.target.value) });
}

// A button that keeps the focus when the tab is drawn again.
export function button(label, id, onclick, props) {
  return h('button', { type: 'button', data: { focus: id }, onclick, ...props }, label);
}
