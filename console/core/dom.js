// dom.js -- makes elements. Text only ever becomes text nodes: there is no markup from strings, and
// Trusted Types make the browser enforce that.

const SVG = 'http://www.w3.org/2000/svg';
// Properties, because their attributes only set the initial state.
const PROPERTIES = new Set(['value', 'checked', 'indeterminate', 'selected', 'disabled', 'open']);

// What becomes of `needs`: core/access.js.
let guard = () => {};
export function setGuard(use) {
  guard = use;
}

function fill(element, props, children) {
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name === 'needs') guard(element, value);
    else if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'class') element.setAttribute('class', value);
    else if (name === 'style') Object.assign(element.style, value); // CSSOM, which the CSP allows.
    else if (name === 'data') Object.assign(element.dataset, value);
    else if (PROPERTIES.has(name)) element[name] = value;
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  append(element, children);
  // A select takes its value only once it has its options.
  if (element.tagName === 'SELECT' && props?.value !== undefined) element.value = props.value;
  return element;
}

function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
}

// h('button', { class: 'primary', onclick: run }, 'Run')
export function h(name, props, ...children) {
  return fill(document.createElement(name), props, children);
}

export function svg(name, props, ...children) {
  return fill(document.createElementNS(SVG, name), props, children);
}

// Replaces all children of an element.
export function show(element, ...children) {
  element.replaceChildren();
  append(element, children);
  return element;
}

// Marks whose meaning is in the text beside them or in the control's label.
const ICONS = {
  table: 'M3 5h18v14H3zM3 10h18M9 10v9',
  plus: 'M12 5v14M5 12h14',
  code: 'M9 7l-5 5 5 5M15 7l5 5-5 5',
  key: 'M8 11a4.5 4.5 0 1 0 .01 0M11 12l9-9M16 7l4 4',
  sun: 'M12 8a4 4 0 1 0 .01 0M12 2v3M12 19v3M2 12h3M19 12h3M5 5l2 2M17 17l2 2M19 5l-2 2M7 17l-2 2',
  help: 'M9 9a3 3 0 1 1 4.5 2.6c-1 .6-1.5 1.2-1.5 2.4M12 17.5v.5',
  menu: 'M4 7h16M4 12h16M4 17h16',
  gear: 'M4 8h10M18 8h2M4 16h2M10 16h10M16 6v4M8 14v4',
  search: 'M11 5a6 6 0 1 0 .01 0M16 16l4 4',
  terminal: 'M4 6l6 6-6 6M12 18h8',
  chart: 'M4 20V10M10 20V4M16 20v-8M22 20H2',
  clock: 'M12 3a9 9 0 1 0 .01 0M12 7v5l3 2',
  globe: 'M12 3a9 9 0 1 0 .01 0M3 12h18M12 3c-5 5-5 13 0 18M12 3c5 5 5 13 0 18',
  bolt: 'M13 3L5 14h6l-1 7 8-11h-6z',
};

export function icon(name) {
  return svg('svg', { class: 'icon', viewBox: '0 0 24 24', 'aria-hidden': 'true' },
    svg('path', { d: ICONS[name] ?? ICONS.table }));
}

let count = 0;
export function uniqueId(prefix) {
  count += 1;
  return `${prefix}-${count}`;
}

// A labelled control: field('Name', h('input', …), { hint }). The hint and errors are tied to it.
export function field(label, control, { hint, inline } = {}) {
  control.id ||= uniqueId('f');
  const note = h('span', { class: 'hint', id: `${control.id}-hint` }, hint);
  const error = h('span', { class: 'error', id: `${control.id}-error`, role: 'alert' });
  control.setAttribute('aria-describedby', `${note.id} ${error.id}`);
  const root = h('div', { class: inline ? 'field inline' : 'field' },
    h('label', { for: control.id }, label), control, note, error);
  root.setError = (text) => {
    show(error, text);
    if (text) control.setAttribute('aria-invalid', 'true');
    else control.removeAttribute('aria-invalid');
  };
  root.setHint = (text) => show(note, text);
  return root;
}

export function select(options, props) {
  return h('select', props, options.map((option) => {
    const [value, label] = Array.isArray(option) ? option : [option, option];
    return h('option', { value }, label);
  }));
}

const plain = new Intl.NumberFormat('en');
export const counted = (number) => plain.format(number);
// 1 item, 2 items
export const amount = (number, what) => `${counted(number)} ${what}${number === 1 ? '' : 's'}`;

const UNITS = ['bytes', 'KB', 'MB', 'GB', 'TB'];
export function bytes(size) {
  let unit = 0;
  let number = size;
  while (number >= 1024 && unit < UNITS.length - 1) {
    number /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? plain.format(number) : number.toFixed(number < 10 ? 1 : 0)} ${UNITS[unit]}`;
}
