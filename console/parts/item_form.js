// item_form.js -- an item as a form: one row per attribute with name, type and value; maps and lists
// nest. It edits the typed tree in place; types change only by the menu, which says what is lost.

import { confirm } from '../core/dialog.js';
import { h, select, show } from '../core/dom.js';
import { base64Of, bytesOf, convert, isBase64, normaliseNumber, problem, TYPE_NAMES, TYPES } from '../core/value.js';
import { meaning } from './format.js';
import { quoted, QUOTED_HINT, unquoted } from './value_input.js';

const SHORT_TYPES = TYPES.map((type) => [type, TYPE_NAMES[type]]);
const OPEN_DEPTH = 2; // Deeper maps and lists start closed.

// `fixed`: names that can be neither renamed, retyped nor removed (keys). onchange: after each edit.
export function itemForm(item, { fixed = [], lockKeys = false, expiry, onchange }) {
  const context = { fixed, lockKeys, expiry, onchange };
  return mapRows(item, [], context);
}

function rename(map, from, to) {
  const entries = [...map].map(([name, value]) => [name === from ? to : name, value]);
  map.clear();
  for (const [name, value] of entries) map.set(name, value);
}

// --- Rows ---

function mapRows(map, path, context) {
  const box = h('div', { class: 'rows' });
  const rows = h('div');
    function draw(focus) {
    show(rows, [...map.keys()].map((name) => row(map, name)));
    if (focus !== undefined) rows.children[focus]?.querySelector('input, textarea')?.focus();
  }
  function freshName() {
    let name = path.length ? 'member' : 'attribute';
    for (let i = 2; map.has(name); i += 1) name = `${path.length ? 'member' : 'attribute'}${i}`;
    return name;
  }
  function row(owner, name) {
    const isFixed = path.length === 0 && context.fixed.includes(name);
    const isQuoted = /[\r\n]/.test(name);
    const nameControl = isFixed ? h('span', { class: 'key-name mono' }, name) : h('input', {
      class: 'name', value: isQuoted ? quoted(name) : name, 'aria-label': 'Name', title: isQuoted && QUOTED_HINT, spellcheck: 'false',
      onchange: (event) => {
        const to = isQuoted ? unquoted(event.target.value) : event.target.value;
        if (to === name) return;
        if (to === null || owner.has(to)) {
          event.target.setAttribute('aria-invalid', 'true');
          event.target.title = to === null ? QUOTED_HINT : 'This name is taken';
          return;
        }
        rename(owner, name, to);
        context.onchange();
        draw();
      },
    });
    return valueRow(owner.get(name), {
      nameControl, label: name, path: [...path, name], isFixed, context,
      onremove: isFixed ? null : () => { owner.delete(name); context.onchange(); draw(); },
    });
  }
  const add = h('button', {
    type: 'button', 'aria-label': path.length ? `Add member to ${path.join('.')}` : undefined,
    onclick: () => { map.set(freshName(), { t: 'S', v: '' }); context.onchange(); draw(map.size - 1); rows.lastChild?.querySelector('input')?.select(); },
  }, path.length ? 'Add member' : 'Add attribute');
  draw();
  box.append(rows, h('div', { class: 'actions' }, add));
  return box;
}

function listRows(list, path, context) {
  const rows = h('div');
  function draw() {
    show(rows, list.map((value, i) => valueRow(value, {
      nameControl: h('span', { class: 'key-name mono muted' }, `[${i}]`), label: `${path.at(-1)}[${i}]`, path: [...path, i], context,
      onremove: () => { list.splice(i, 1); context.onchange(); draw(); },
      onmove: (by) => {
        if (i + by < 0 || i + by >= list.length) return;
        list.splice(i + by, 0, ...list.splice(i, 1));
        context.onchange();
        draw();
      },
    })));
  }
  draw();
  return h('div', { class: 'rows' }, rows, h('div', { class: 'actions' }, h('button', {
    type: 'button', 'aria-label': `Add element to ${path.join('.')}`, onclick: () => { list.push({ t: list.at(-1)?.t === 'N' ? 'N' : 'S', v: list.at(-1)?.t === 'N' ? '0' : '' }); context.onchange(); draw(); rows.lastChild.querySelector('textarea, input')?.focus(); },
  }, 'Add element')));
}

function valueRow(value, { nameControl, label, path, isFixed, context, onremove, onmove }) {
  const error = h('span', { class: 'error', role: 'alert' });
  const slot = h('div');
  const inner = h('div', { class: 'inner' });
  const type = select(SHORT_TYPES, { value: value.t, 'aria-label': `${label}: type`, disabled: isFixed, onchange: retype });
  const element = h('div', { class: 'attr' }, nameControl, type, slot, h('span', { class: 'actions' },
    onmove && [h('button', { type: 'button', class: 'plain', 'aria-label': `Move ${label} up`, onclick: () => onmove(-1) }, '↑'),
      h('button', { type: 'button', class: 'plain', 'aria-label': `Move ${label} down`, onclick: () => onmove(1) }, '↓')],
    onremove && h('button', { type: 'button', class: 'plain', 'aria-label': `Remove ${label}`, onclick: onremove }, '×')), error, inner);

  async function retype() {
    const [next, loses] = convert(value, type.value);
    if (loses && !await confirm('Change the type?', h('p', null, `As ${TYPE_NAMES[type.value].toLowerCase()}, ${label} cannot keep its present value.`), { label: 'Change' })) {
      type.value = value.t;
      return;
    }
    Object.assign(value, next);
    draw();
    changed();
  }
  function changed() {
    const wrong = ['M', 'L'].includes(value.t) ? null : problem(value, path);
    show(error, wrong?.message);
    context.onchange();
  }
  function draw() {
    show(inner);
    const isExpiry = path.length === 1 && path[0] === context.expiry;
    const disabled = isFixed && context.lockKeys;
    const control = controls[value.t](value, { label, changed, disabled, isExpiry });
    show(slot, control);
    if (value.t === 'M' || value.t === 'L') fold();
  }
  function fold() {
    const size = value.t === 'M' ? value.v.size : value.v.length;
    let isOpen = path.length < OPEN_DEPTH || size === 0;
    const toggle = h('button', { type: 'button', class: 'plain', 'aria-expanded': String(isOpen), onclick: () => { isOpen = !isOpen; update(); } });
    function update() {
      toggle.setAttribute('aria-expanded', String(isOpen));
      const count = value.t === 'M' ? value.v.size : value.v.length;
      show(toggle, isOpen ? '▾' : '▸', ` ${count} ${value.t === 'M' ? (count === 1 ? 'member' : 'members') : (count === 1 ? 'element' : 'elements')}`, h('span', { class: 'sr' }, ` of ${label}`));
      show(inner, isOpen && (value.t === 'M' ? mapRows(value.v, path, context) : listRows(value.v, path, context)));
      inner.hidden = !isOpen;
    }
    show(slot, toggle);
    update();
  }
  inner.hidden = true;
  draw();
  return element;
}

// --- Controls by type ---

const hintOf = (value, options) => h('span', { class: 'hint' }, meaning(value, options));

function textControl(value, { label, changed, disabled, isExpiry }) {
  const isQuoted = value.v.includes('\r');
  const hintText = () => (isQuoted ? QUOTED_HINT : meaning(value, { isExpiry }));
  const hint = h('span', { class: 'hint' }, hintText());
  const rows = Math.min(8, Math.max(1, value.v.split('\n').length, Math.ceil(value.v.length / 90)));
  const control = h('textarea', {
    rows, value: isQuoted ? quoted(value.v) : value.v, 'aria-label': label, spellcheck: 'false', disabled,
    oninput: () => {
      const text = isQuoted ? unquoted(control.value) : control.value;
      control.setAttribute('aria-invalid', String(text === null));
      show(hint, text === null ? 'Not a JSON text in quotes: the value is not changed' : hintText());
      if (text === null) return;
      value.v = text;
      changed();
    },
  });
  return [control, hint];
}

function numberControl(value, { label, changed, disabled, isExpiry }) {
  const hint = hintOf(value, { isExpiry });
  const control = h('input', {
    class: 'mono-input', style: { width: '100%' }, value: value.v, inputmode: 'decimal', 'aria-label': label, disabled,
    oninput: () => {
      value.v = control.value.trim();
      let wrong = false;
      try { normaliseNumber(value.v); } catch { wrong = true; }
      control.setAttribute('aria-invalid', String(wrong));
      show(hint, meaning(value, { isExpiry }));
      changed();
    },
  });
  return [control, hint];
}

const ENCODINGS = {
  base64: [(v) => v, (text) => (isBase64(text) ? text : null)],
  hex: [(v) => Array.from(bytesOf(v), (byte) => byte.toString(16).padStart(2, '0')).join(' '), (text) => {
    const digits = text.replace(/\s/g, '');
    return /^([0-9a-f]{2})*$/i.test(digits) ? base64Of(Uint8Array.from(digits.match(/../g) ?? [], (pair) => parseInt(pair, 16))) : null;
  }],
  text: [(v) => {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytesOf(v));
    if (/[\r\n]/.test(text)) throw new Error('An input would leave out its line ends');
    return text;
  }, (text) => base64Of(new TextEncoder().encode(text))],
};

function binaryControl(value, { label, changed, disabled }) {
  const hint = hintOf(value);
  let encoding = 'base64';
  const control = h('input', {
    class: 'mono-input grow', value: value.v, 'aria-label': label, spellcheck: 'false', disabled,
    oninput: () => {
      const read = ENCODINGS[encoding][1](control.value);
      control.setAttribute('aria-invalid', String(read === null));
      if (read === null) {
        show(hint, `Not ${encoding}: the value is not changed`);
        return;
      }
      value.v = read;
      show(hint, meaning(value));
      changed();
    },
  });
  const menu = select(Object.keys(ENCODINGS), {
    value: encoding, 'aria-label': `${label}: shown as`,
    onchange: () => {
      try {
        control.value = ENCODINGS[menu.value][0](value.v);
        encoding = menu.value;
      } catch {
        show(hint, 'These bytes are no UTF-8 text of one line');
        menu.value = encoding;
      }
    },
  });
  const file = h('input', {
    type: 'file', hidden: true, 'aria-label': `${label}: file`, onchange: async () => {
      if (!file.files[0]) return;
      value.v = base64Of(new Uint8Array(await file.files[0].arrayBuffer()));
      control.value = ENCODINGS[encoding === 'text' ? (menu.value = encoding = 'base64') : encoding][0](value.v);
      show(hint, meaning(value));
      changed();
    },
  });
  return [h('span', { class: 'row' }, control, menu, !disabled && h('button', { type: 'button', onclick: () => file.click() }, 'File'), file), hint];
}

function setControl(value, { label, changed }) {
  const note = h('span', { class: 'hint', role: 'alert' });
  const tokens = h('span', { class: 'tokens' });
  const member = value.t[0];
  const input = h('input', {
    class: 'mono-input', 'aria-label': `Add to ${label}`, placeholder: member === 'B' ? 'base64' : 'add a member', onkeydown: (event) => {
      if (event.key !== 'Enter') return;
      event.preventDefault();
      add();
    },
  });
  function add() {
    const text = member === 'S' ? input.value : input.value.trim();
    const wrong = problem({ t: value.t, v: [...value.v, text] });
    if (wrong) {
      show(note, wrong.message);
      return;
    }
    show(note);
    value.v.push(text);
    input.value = '';
    draw();
    changed();
    input.focus();
  }
  function draw() {
    show(tokens, value.v.map((one, i) => h('span', { class: 'token' }, one === '' ? h('em', { class: 'muted' }, 'empty') : one, h('button', {
      type: 'button', class: 'plain', 'aria-label': `Remove ${one} from ${label}`, onclick: () => { value.v.splice(i, 1); draw(); changed(); input.focus(); },
    }, '×'))), input, h('button', { type: 'button', 'aria-label': `Add member to ${label}`, onclick: add }, 'Add'));
  }
  draw();
  return [tokens, note];
}

const controls = {
  S: textControl,
  N: numberControl,
  B: binaryControl,
  BOOL: (value, { label, changed }) => {
    const control = select(['true', 'false'], { value: String(value.v), 'aria-label': label, onchange: () => { value.v = control.value === 'true'; changed(); } });
    return control;
  },
  NULL: () => h('span', { class: 'key-name muted' }, 'null'),
  SS: setControl,
  NS: setControl,
  BS: setControl,
  M: () => null,
  L: () => null,
};
