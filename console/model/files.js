// files.js -- opens and saves files: in place where the browser can, as a download otherwise.

import { confirm } from '../core/dialog.js';
import { h } from '../core/dom.js';

const TYPES = [{ description: 'Model', accept: { 'application/json': ['.json'] } }];

export function download(name, content, type = 'application/json') {
  const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  h('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

// Resolves to { name, text, handle }, or to null if nothing was chosen.
export async function openFile() {
  if (window.showOpenFilePicker) {
    try {
      const [handle] = await window.showOpenFilePicker({ types: TYPES });
      const file = await handle.getFile();
      return { name: file.name, text: await file.text(), handle };
    } catch (error) {
      if (error.name === 'AbortError') return null;
      throw error;
    }
  }
  const input = h('input', { type: 'file', accept: '.json' });
  return new Promise((resolve, reject) => {
    input.addEventListener('cancel', () => resolve(null));
    input.addEventListener('change', () => {
      const [file] = input.files;
      file.text().then((text) => resolve({ name: file.name, text, handle: null }), reject);
    });
    input.click();
  });
}

// Whether the file is as it was read or saved last, or may be replaced all the same.
async function mayReplace({ handle, onDisk, name }) {
  const now = await handle.getFile().then((file) => file.text()).catch(() => onDisk); // It may be gone.
  return now === onDisk || confirm('Replace the file?', h('p', null, `${name} was changed by something else since it was opened. Saving would undo that; “Save as” keeps both.`), { label: 'Replace', danger: true });
}

// Saves where the document was opened. Resolves to what happened, or to null if nothing did.
export async function saveFile(doc, { as = false } = {}) {
  const { text } = doc;
  if (window.showSaveFilePicker) {
    try {
      if (!as && doc.handle && !await mayReplace(doc)) return null;
      if (as || !doc.handle) doc.handle = await window.showSaveFilePicker({ suggestedName: doc.name, types: TYPES });
      const stream = await doc.handle.createWritable();
      await stream.write(text);
      await stream.close();
      doc.name = doc.handle.name;
      doc.onDisk = text;
    } catch (error) {
      if (error.name === 'AbortError') return null;
      throw error;
    }
    doc.saved = text;
    return `Saved as ${doc.name}`;
  }
  download(doc.name, text);
  doc.saved = text;
  return `Downloaded as ${doc.name}`;
}
