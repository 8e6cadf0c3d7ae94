// value_input.js -- a control for one scalar value of a fixed or chosen type.

import { h, select } from '../core/dom.js';
import { normaliseNumber, TYPE_NAMES } from '../core/value.js';

const BASE64_HINT = 'base64';

// Controls of a browser change line ends: an input leaves them out, and a textarea makes \n of \r\n and
// \r. A text with such ends is shown and edited as JSON has it, in quotes and with \r.
export const quoted = JSON.stringify;

// The text of a JSON text in quotes; null if it is none.
export function unquoted(source) {
  try {
    const text = JSON.parse(source);
    return typeof text === 'string' ? text : null;
  } catch {
    return null;
  }
}
export const QUOTED_HINT = 'Written as JSON, because of its line ends';

// A text as a typed value; null if nothing was entered. Throws an Error with the reason.
export function read(type, text) {
  switch (type) {
    case 'N': return text.trim() === '' ? null : { t: 'N', v: normaliseNumber(text) };
    case 'BOOL': return { t: 'BOOL', v: text !== 'false' };
    case 'NULL': return { t: 'NULL', v: true };
    case 'B': return text === '' ? null : { t: 'B', v: text.trim() };
    default: return text === '' ? null : { t: 'S', v: text };
  }
}

// An input of a fixed type: { element, value(): typed or null, setError }.
export function valueInput(type, initial, { label, oninput, list }) {
  const isQuoted = type === 'S' && /[\r\n]/.test(initial?.v);
  const element = h('input', {
    class: 'mono-input', 'aria-label': label, value: isQuoted ? quoted(initial.v) : initial?.v ?? '', title: isQuoted && QUOTED_HINT, spellcheck: 'false', autocomplete: 'off', list,
    placeholder: type === 'B' ? BASE64_HINT : TYPE_NAMES[type]?.toLowerCase(), inputmode: type === 'N' ? 'decimal' : undefined,
    oninput: () => { check(); oninput?.(); },
  });
  function check() {
    try {
      const source = element.value;
      const text = isQuoted && source !== '' ? unquoted(source) : source;
      if (text === null) throw new Error('Not a JSON text in quotes');
      const value = read(type, text);
      element.removeAttribute('aria-invalid');
      element.title = isQuoted ? QUOTED_HINT : '';
      return value;
    } catch (error) {
      element.setAttribute('aria-invalid', 'true');
      element.title = error.message;
      return null;
    }
  }
  return { element, value: check };
}

const SCALARS = ['S', 'N', 'BOOL', 'NULL', 'B'];

// An input with a menu of types.
export function typedInput(initial, { label, oninput }) {
  let type = initial?.t ?? 'S';
  const box = h('span', { class: 'row grow' });
  const menu = select(SCALARS.map((one) => [one, TYPE_NAMES[one]]), {
    value: type, 'aria-label': `${label}: type`, onchange: () => { type = menu.value; build(null); oninput?.(); },
  });
  let inner = null;
  function build(value) {
    if (type === 'BOOL') {
      const choice = select(['true', 'false'], { value: String(value?.v ?? true), 'aria-label': label, onchange: () => oninput?.() });
      inner = { element: choice, value: () => ({ t: 'BOOL', v: choice.value === 'true' }) };
    } else if (type === 'NULL') inner = { element: h('span', { class: 'muted' }, 'null'), value: () => ({ t: 'NULL', v: true }) };
    else inner = valueInput(type, value, { label, oninput });
    box.replaceChildren(menu, inner.element);
  }
  build(initial);
  return { element: box, value: () => inner.value() };
}
