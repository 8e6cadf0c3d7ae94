// progress.js -- a dialog for long work: how far it is, a button to stop it, a report at the end.

import { dialog, notify } from '../core/dialog.js';
import { counted, h, show } from '../core/dom.js';

// work({ signal, report(done, total, note) }) resolves to the elements of the final report. Stop aborts
// the signal and waits for that report, which says how far the work came.
export async function withProgress(title, work) {
  const controller = new AbortController();
  const bar = h('progress', { max: '1', 'aria-label': title });
  const note = h('p', { role: 'status' }, 'Starting …');
  const box = h('div', { class: 'editor' }, bar, note);
  let state = 'running';
  let button;
  const closed = dialog({
    title, body: box,
    actions: [{ label: 'Stop', value: null, primary: true, check: () => { controller.abort(); return state === 'done'; } }],
    onopen: ({ element, buttons }) => {
      [button] = buttons;
      element.addEventListener('cancel', (event) => {
        if (state === 'done') return;
        event.preventDefault();
        controller.abort();
      });
    },
  }).then(() => {
    controller.abort();
    if (state === 'running') state = 'closed'; // A browser may insist.
  });
  const report = (done, total, text = '') => {
    if (total) bar.value = done / total;
    show(note, `${counted(done)}${total ? ` of ${counted(total)}` : ''} ${text}`);
  };
  let result;
  try {
    result = await work({ signal: controller.signal, report });
  } catch (error) {
    result = h('div', { class: 'notice bad' }, h('strong', null, error.name === 'AbortError' ? 'Stopped' : error.name), h('p', null, error.message));
  }
  if (state === 'closed') {
    notify(result.textContent);
    return;
  }
  state = 'done';
  show(box, result);
  show(button, 'Close');
  button.focus();
  await closed;
}

// --- What went wrong, line by line ---

const SHOWN_MAX = 20;
const KEPT_SIZE_MAX = 16 * 1024 * 1024; // Of all lines.

export class Problems {
  constructor(fileName) {
    Object.assign(this, { fileName, count: 0, lines: [], size: 0 });
  }

  add(text) {
    this.count += 1;
    this.size += text.length;
    if (this.size <= KEPT_SIZE_MAX) this.lines.push(text);
  }

  // The first ones, and all of them as a file.
  element() {
    if (this.count === 0) return null;
    const left = this.count - this.lines.length;
    const save = () => download(this.fileName, [...this.lines, ...(left ? [`… and ${left} more`] : [])].map((one) => `${one}\n`));
    return h('div', null, h('ul', null, this.lines.slice(0, SHOWN_MAX).map((one) => h('li', null, one))),
      this.count > SHOWN_MAX && h('button', { type: 'button', onclick: save }, `Download all ${counted(this.count)}`));
  }
}

export function download(name, parts) {
  const url = URL.createObjectURL(new Blob(parts));
  h('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
