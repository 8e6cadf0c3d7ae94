// progress.js -- a dialog for long work: how far it is, a button to stop it, a report at the end.

import { dialog } from '../core/dialog.js';
import { counted, h, show } from '../core/dom.js';

// work({ signal, report(done, total, note) }) resolves to the elements of the final report.
export async function withProgress(title, work) {
  const controller = new AbortController();
  const bar = h('progress', { max: '1', 'aria-label': title });
  const note = h('p', { role: 'status' }, 'Starting …');
  const box = h('div', { class: 'editor' }, bar, note);
  let finish = () => {};
  const closed = dialog({
    title, body: box, actions: [{ label: 'Stop', value: null }],
    onopen: ({ close, buttons }) => { finish = () => { show(buttons[0], 'Close'); buttons[0].focus(); }; },
  }).then(() => controller.abort());
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
  show(box, result);
  finish();
  await closed;
}
