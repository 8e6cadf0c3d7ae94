// page.js -- the modeller: a model file, its tabs, and the server's verdicts. The model stays open
// while other pages are shown; nothing of it is kept by the browser.

import { call } from '../core/api.js';
import { announce, confirm, dialog, errorBox, notify } from '../core/dialog.js';
import { counted, field, h, show } from '../core/dom.js';
import { bind } from '../core/keys.js';
import { go, link, refresh, tableLink } from '../core/router.js';
import { aggregateTab } from './aggregate.js';
import { Checker, textToCheck } from './checker.js';
import { coverageTab } from './coverage.js';
import { dataTab } from './data.js';
import { blank, Document, format } from './document.js';
import { entitiesTab } from './entities.js';
import { openFile, saveFile } from './files.js';
import { button, input } from './forms.js';
import { createTable, liveTab } from './live.js';
import { patternsTab } from './patterns.js';
import { applyStyle } from './style.js';
import { tablesTab } from './tables.js';

// `follows`: drawn again when the verdicts come.
const TABS = {
  patterns: { label: 'Patterns', draw: patternsTab, follows: true },
  entities: { label: 'Entities', draw: entitiesTab, follows: true },
  tables: { label: 'Tables and indexes', draw: tablesTab, follows: true },
  data: { label: 'Data', draw: dataTab },
  view: { label: 'Aggregate view', draw: aggregateTab },
  coverage: { label: 'Coverage and cost', draw: coverageTab, follows: true },
  live: { label: 'Live tables', draw: liveTab },
};

// The files of examples/models/, which the server has.
const SAMPLES = ['orders', 'shop', 'membership', 'devices', 'tenants'];
const OPEN_SIZE_MAX = 1024 * 1024; // Bytes: what the server converts and repairs; larger files are taken as they are.

let doc = null;

function leaving(event) {
  if (doc?.isChanged) event.preventDefault();
}

// --- Opening ---

const discard = async () => !doc?.isChanged || confirm('Discard the changes?', h('p', null, `${doc.name} has changes that are not saved.`), { label: 'Discard', danger: true });

// Other forms than Workbench's are converted, and faults of files repaired, by the server.
async function take({ name, text, handle }) {
  let notes = [];
  let converted = text;
  if (new Blob([text]).size <= OPEN_SIZE_MAX) {
    try {
      const report = await call('CheckModel', { Model: text, ReturnModel: true });
      notes = report.Notes;
      converted = report.Model;
    } catch (error) {
      if (error.name === 'ValidationException') throw error; // Others, such as a missing right, are said on the page.
    }
  }
  const opened = new Document(converted, { name, handle });
  opened.onDisk = text;
  if (!Array.isArray(opened.root.DataModel)) throw new Error('The file has no DataModel.');
  doc = opened;
  window.addEventListener('beforeunload', leaving);
  if (location.hash.startsWith('#/model?')) go('#/model');
  else refresh();
  if (notes.length > 0) {
    await dialog({ title: 'What was found in the file', wide: true, body: h('ul', null, notes.slice(0, 100).map(({ Place, Text }) => h('li', null, Place && h('code', null, Place), Place && ': ', Text))) });
  }
}

async function attempt(problem, work) {
  try {
    await work();
  } catch (error) {
    show(problem, errorBox(error));
  }
}

const open = (problem) => attempt(problem, async () => {
  if (!await discard()) return;
  const file = await openFile();
  if (file) await take(file);
});

const create = (problem) => attempt(problem, async () => {
  if (!await discard()) return;
  const name = input('My model', { autofocus: true, class: '' });
  if (await dialog({ title: 'New model', body: field('Name', name), actions: [{ label: 'Cancel', value: null }, { label: 'Create', value: true, primary: true, check: () => name.value.trim() !== '' }] })) await take({ name: 'model.json', text: format(blank(name.value.trim())), handle: null });
});

// The tables of an example, one after the other, each with its rows; then the items of the first.
async function load(name, text, signal) {
  const sample = new Document(text, { name, handle: null });
  for (const table of sample.tables) {
    if (!await createTable(sample, table, signal)) return;
  }
  go(tableLink(sample.tables[0].TableName, 'items'));
}

const sampleTable = (text) => JSON.parse(text).DataModel[0].TableName;

function sampleCard(name, problem, signal) {
  const body = h('div', null, h('h3', null, name));
  fetch(`models/${name}.json`, { signal }).then((answer) => answer.text()).then((text) => {
    const { ModelName, ModelMetadata } = JSON.parse(text);
    show(body, h('h3', null, ModelName), h('p', { class: 'muted' }, ModelMetadata.Description), h('div', { class: 'actions' }, h('button', { 'aria-label': `Open ${ModelName}`, onclick: () => attempt(problem, () => take({ name: `${name}.json`, text, handle: null })) }, 'Open'),
      h('button', { 'aria-label': `Load ${ModelName}`, needs: { Action: 'CreateTable', Resource: sampleTable(text) }, onclick: () => attempt(problem, () => load(name, text, signal)) }, 'Load')));
  }).catch(() => {});
  return h('section', { class: 'card' }, body);
}

function startPage(view) {
  const problem = h('div');
  return h('div', { class: 'page' }, h('h1', null, 'Modeller'),
    h('p', { class: 'muted' }, 'Design tables from access patterns. The file is that of NoSQL Workbench, with the patterns and entities under one key of ours, and belongs beside your code.'),
    h('div', { class: 'actions' }, h('button', { class: 'primary', onclick: () => create(problem) }, 'New model'), h('button', { onclick: () => open(problem) }, 'Open file')), problem,
    h('h2', null, 'Examples'), h('p', { class: 'muted' }, 'Open one here, or load its table and rows into this server.'), h('div', { class: 'cards' }, SAMPLES.map((name) => sampleCard(name, problem, view.signal))));
}

// --- An open model ---

class Desk {
  constructor(view) {
    this.view = view;
    this.doc = doc;
    this.report = null;
    this.cut = false;
    this.tabName = TABS[view.query('tab')] ? view.query('tab') : 'patterns';
    this.body = h('div', { class: 'page' });
    this.status = h('div', { role: 'status' });
    this.problem = h('div');
    this.head = h('div', { class: 'spread' });
    this.checker = new Checker(view.signal, (result) => this.judged(result));
    this.checker.now(doc);
    this.draw();
  }

  // Changes the model at once; the verdict follows.
  edit(change) {
    this.doc.edit(change);
    this.changed();
  }

  // Changes the model if the server finds that it makes sense.
  async tryEdit(change) {
    const isChanged = this.doc.edit(change);
    const { text, cut } = textToCheck(this.doc);
    try {
      this.judged({ report: await call('CheckModel', { Model: text }), cut }, true);
    } catch (error) {
      if (error.name === 'ValidationException') {
        if (isChanged) this.doc.undo();
        throw error;
      }
      this.judged({ error }, true); // It cannot be judged: that is no reason to lose it.
    }
  }

  changed() {
    this.later(() => this.draw());
    this.checker.later(this.doc);
  }

  // Not under a dialog: what opened it must be there when it is closed.
  later(work) {
    const dialogs = document.querySelectorAll('dialog[open]');
    if (dialogs.length > 0) dialogs[dialogs.length - 1].addEventListener('close', () => this.later(work), { once: true });
    else if (!this.view.signal.aborted) work();
  }

  judged({ report, cut = false, error }, isNew = false) {
    this.report = report ?? null;
    this.cut = cut;
    show(this.problem, error && errorBox(error, () => this.checker.now(this.doc)));
    this.drawStatus();
    if (isNew || TABS[this.tabName].follows) this.later(() => this.draw());
  }

  drawStatus() {
    const patterns = this.report?.Patterns ?? [];
    const good = patterns.filter((one) => one.IsGood || one.IsAllowed).length;
    show(this.status, this.report && h('span', { class: `badge ${good === patterns.length ? 'good' : 'bad'}` }, good === patterns.length ? '✓ ' : '✗ ', `${counted(good)} of ${counted(patterns.length)} patterns served`));
  }

  draw() {
    const focus = document.activeElement?.dataset?.focus;
    this.drawHead();
    show(this.body, TABS[this.tabName].draw(this));
    if (focus) this.element?.querySelector(`[data-focus="${focus}"]`)?.focus();
  }

  drawHead() {
    const { isChanged, name, title, steps } = this.doc;
    show(this.head, h('div', null, h('h1', null, title), h('p', { class: 'muted' }, name, isChanged ? ', not saved' : ', saved')), h('span', { class: 'actions' }, this.status,
      button('Undo', 'undo', () => this.undo(), { disabled: steps.length === 0 }), button('Save', 'save', () => this.save(), { class: 'primary' }), window.showSaveFilePicker && button('Save as', 'save-as', () => this.save({ as: true })),
      button('Rename', 'rename', () => this.rename()), button('Open file', 'open', () => open(this.problem)), button('Close', 'close', () => this.close())));
  }

  undo() {
    this.doc.undo();
    announce('Undone');
    this.changed();
  }

  async save(options) {
    await attempt(this.problem, async () => {
      const done = await saveFile(this.doc, options);
      if (done) notify(done);
      this.drawHead();
    });
  }

  async rename() {
    const name = input(this.doc.root.ModelName, { autofocus: true, class: '' });
    if (await dialog({ title: 'Name of the model', body: field('Name', name), actions: [{ label: 'Cancel', value: null }, { label: 'Rename', value: true, primary: true }] })) this.edit((root) => { root.ModelName = name.value.trim(); });
  }

  async close() {
    if (!await discard()) return;
    doc = null;
    window.removeEventListener('beforeunload', leaving);
    go('#/model');
    refresh();
  }

  // Shows the tab again with another part of the query.
  show(query) {
    this.view.setQuery({ tab: this.tabName, ...query });
    this.draw();
  }
}

export function render(view) {
  applyStyle();
  if (!doc) return { title: 'Modeller', element: startPage(view) };
  const desk = new Desk(view);
  const tabs = h('nav', { class: 'tabs', 'aria-label': 'Parts of the model' }, Object.entries(TABS).map(([name, { label }]) => h('a', { href: link('/model', { tab: name }), 'aria-current': name === desk.tabName ? 'page' : undefined }, label)));
  desk.element = h('div', { class: 'page' }, desk.head, tabs, desk.problem, desk.body);
  bind('Modeller', [
    { keys: 'Ctrl+s', label: 'Save the model', run: () => desk.save() },
    { keys: 'Ctrl+z', label: 'Undo', run: () => desk.undo() },
    ...Object.entries(TABS).map(([name, { label }], i) => ({ keys: String(i + 1), label, run: () => go(link('/model', { tab: name })) })),
  ], view.signal);
  return { title: TABS[desk.tabName].label, crumbs: [['Modeller', '#/model']], element: desk.element };
}
