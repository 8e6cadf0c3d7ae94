// item.js -- one item in three views over one typed tree: form, DynamoDB JSON, plain JSON.
//
// Saving sends the smallest conditional update. If the item changed meanwhile, the changes of both
// sides are shown and merged; nothing is ever overwritten that was not seen.

import { call } from '../core/api.js';
import { confirm, dialog, errorBox, notify } from '../core/dialog.js';
import { bytes, counted, h, show } from '../core/dom.js';
import { readItem } from '../core/items.js';
import { formatDynamo, formatPlain, parseDynamo, parsePlain } from '../core/json_text.js';
import { bind } from '../core/keys.js';
import { go, refresh, tableLink } from '../core/router.js';
import * as settings from '../core/settings.js';
import { describe, indexesOf, keyNames, typeOf } from '../core/tables.js';
import { changes, deleteRequest, merge, saveRequest, setPath } from '../core/update.js';
import { cloneItem, equalItems, fromLink, itemFromDynamo, itemProblem, itemSize, itemToDynamo, pathText, toLink } from '../core/value.js';
import { codeBlock } from '../parts/code_pane.js';
import { itemForm } from '../parts/item_form.js';
import { changeList, chooseVersion, text } from '../parts/item_history.js';
import { tableFrame } from '../parts/table_frame.js';

const VIEWS = { form: 'Form', dynamo: 'DynamoDB JSON', plain: 'Plain JSON' };
const TEXTS = { dynamo: [formatDynamo, parseDynamo], plain: [formatPlain, parsePlain] };

export function render(view) {
  const { table: name } = view.params;
  const frame = tableFrame(name, 'item');
  const body = h('div', { class: 'page' });
  frame.element.append(body);
  load(view, name, frame).then(({ table, item, expiry }) => {
    if (!view.signal.aborted) new Editor(view, table, item, expiry, body);
  }).catch((error) => { if (!view.signal.aborted) show(body, errorBox(error)); });
  return { title: view.query('k') ? 'Item' : 'New item', crumbs: [['Tables', '#/'], [name, tableLink(name, 'items')]], element: frame.element };
}

async function load(view, name, frame) {
  const { signal } = view;
  const table = await describe(name, { signal });
  frame.setTable(table);
  const ttl = await call('DescribeTimeToLive', { TableName: name }, { signal }).catch(() => null);
  const expiry = ttl?.TimeToLiveDescription?.AttributeName;
  if (!view.query('k')) return { table, item: null, expiry };
  const names = keyNames(table);
  const values = (view.all.k ?? []).map(fromLink);
  if (values.length !== names.length || values.includes(null)) throw new Error('The key in this address does not fit the table.');
  const item = await readItem(name, names, new Map(names.map((one, i) => [one, values[i]])), { signal });
  if (!item) throw Object.assign(new Error('No item has this key. It may have been deleted.'), { name: 'No such item' });
  // The key first, then as the service sorts.
  return { table, item: new Map([...names.map((one) => [one, item.get(one)]), ...item]), expiry };
}

class Editor {
  constructor(view, table, item, expiry, body) {
    this.keys = keyNames(table);
    Object.assign(this, { view, table, expiry, body });
    const kept = view.memory.draft;
    this.base = item; // As read; null: a new item.
    this.original = item; // What "discard" goes back to.
    this.draft = kept ?? (item ? cloneItem(item) : this.blank());
    // What a draft was made from: the item as it was then, or null if it is a copy that becomes an item.
    if (kept && item && view.memory.base !== undefined) this.base = view.memory.base;
    this.tab = VIEWS[view.query('view')] ? view.query('view') : 'form';
    this.problem = h('div');
    this.status = h('div', { class: 'footer', role: 'status' });
    this.slot = h('div', { class: 'card', role: 'tabpanel', id: 'item-view', 'aria-labelledby': `tab-${this.tab}`, tabindex: '-1' });
    this.tabs = Object.entries(VIEWS).map(([id, label]) => h('button', {
      role: 'tab', id: `tab-${id}`, 'aria-controls': 'item-view', onclick: () => this.switchTo(id),
      onkeydown: (event) => this.onTabKey(event, id),
    }, label));
    const needs = (Action) => ({ Action, Resource: table.TableName, ...(item ? { LeadingKeys: [item.get(this.keys[0]).v] } : {}) });
    this.save_ = h('button', { class: 'primary', needs: needs(item ? 'UpdateItem' : 'PutItem'), 'aria-keyshortcuts': 'Control+S', onclick: () => this.save() }, this.base ? 'Save' : 'Create item');
    this.ofItem = item ? [h('button', { needs: needs('stator:GetItemHistory'), onclick: () => this.history() }, 'History'),
      h('button', { needs: { Action: 'PutItem', Resource: table.TableName }, onclick: () => this.duplicate() }, 'Duplicate'),
      h('button', { class: 'danger', needs: needs('DeleteItem'), onclick: () => this.remove() }, 'Delete')] : [];
    show(body, h('div', { class: 'sticky' }, h('div', { class: 'spread' }, h('div', { class: 'segments', role: 'tablist', 'aria-label': 'View' }, this.tabs),
      h('div', { class: 'actions' }, this.save_,
        h('button', { onclick: () => this.discard() }, 'Discard changes'), this.ofItem)), this.status), this.problem, this.slot);
    bind('Item', [
      { keys: 'Ctrl+s', label: 'Save', run: () => this.save() },
      { keys: 'Escape', label: 'Back to the items', run: () => go(tableLink(table.TableName, 'items')) },
    ], view.signal);
    const warn = (event) => { if (this.hasEdits()) event.preventDefault(); };
    window.addEventListener('beforeunload', warn, { signal: view.signal });
    const page = location.hash.split('?')[0];
    view.signal.addEventListener('abort', () => {
      if (this.hasEdits() && location.hash.split('?')[0] !== page) notify('The item has changes that are not saved. They are still there if you go back.', { error: true });
    });
    this.draw();
  }

  blank() {
    return new Map(this.keys.map((name) => {
      const t = typeOf(this.table, name);
      return [name, { t, v: t === 'N' ? '0' : '' }];
    }));
  }

  isDirty() {
    return this.base === null ? !equalItems(this.draft, this.blank()) : !equalItems(this.base, this.draft);
  }

  // A text that cannot be read yet counts.
  hasEdits() {
    return this.isDirty() || this.view.memory.source !== undefined;
  }

  // --- Views ---

  draw() {
    this.tabs.forEach((tab, i) => {
      const isCurrent = Object.keys(VIEWS)[i] === this.tab;
      tab.setAttribute('aria-selected', String(isCurrent));
      tab.tabIndex = isCurrent ? 0 : -1;
    });
    this.slot.setAttribute('aria-labelledby', `tab-${this.tab}`);
    if (this.tab === 'form') {
      this.source = null;
      show(this.slot, itemForm(this.draft, { fixed: this.keys, expiry: this.expiry, onchange: () => this.changed() }));
    } else {
      this.source = h('textarea', {
        value: this.view.memory.source ?? TEXTS[this.tab][0](this.draft), 'aria-label': VIEWS[this.tab], spellcheck: 'false',
        oninput: () => this.readSource(),
      });
      show(this.slot, h('div', { class: 'source' }, this.source), this.tab === 'plain' && h('p', { class: 'hint' },
        'Numbers keep all their digits. Sets are {"$SS": […]}, {"$NS": […]}, {"$BS": […]}, binary is {"$B": "base64"}; a name that begins with $ gets a second one.'));
      if (this.view.memory.source !== undefined) this.readSource();
    }
    this.changed();
  }

  // False if the text cannot be read; the draft then stays as it was.
  readSource() {
    if (!this.source) return true;
    try {
      this.draft = TEXTS[this.tab][1](this.source.value);
      delete this.view.memory.source;
      this.source.removeAttribute('aria-invalid');
      show(this.problem);
      this.changed();
      return true;
    } catch (error) {
      this.view.memory.source = this.source.value;
      this.source.setAttribute('aria-invalid', 'true');
      show(this.problem, h('div', { class: 'notice bad', role: 'alert' }, h('strong', null, 'Not yet readable'), h('p', null, error.message),
        error.at !== undefined && h('button', { onclick: () => { this.source.focus(); this.source.setSelectionRange(error.at, error.at + 1); } }, 'Go there')));
      return false;
    }
  }

  switchTo(tab) {
    if (tab === this.tab) return;
    if (!this.readSource()) {
      this.source.focus();
      return;
    }
    this.tab = tab;
    this.view.setQuery({ k: this.view.all.k, view: tab === 'form' ? '' : tab });
    this.draw();
    this.tabs[Object.keys(VIEWS).indexOf(tab)].focus();
  }

  onTabKey(event, id) {
    const ids = Object.keys(VIEWS);
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    this.switchTo(ids[(ids.indexOf(id) + step + ids.length) % ids.length]);
  }

  changed() {
    this.view.memory.draft = this.isDirty() ? this.draft : undefined;
    this.view.memory.base = this.base;
    for (const button of this.ofItem) button.hidden = this.base === null;
    const size = itemSize(this.draft);
    const wrong = itemProblem(this.draft);
    const count = this.base ? changes(this.base, this.draft).length : 0;
    show(this.status, h('span', null, h('strong', null, bytes(size)), ' of 400 KB'), h('span', null, h('strong', null, counted(Math.max(1, Math.ceil(size / 1024)))), ' WCU'),
      this.base && h('span', null, count === 0 ? 'unchanged' : `${counted(count)} ${count === 1 ? 'change' : 'changes'}`), this.indexNotes(),
      wrong && h('span', { class: 'badge bad' }, `${pathText(wrong.path)}: ${wrong.message}`));
  }

  // Which indexes the item enters or leaves.
  indexNotes() {
    const isIn = (item, index) => item !== null && index.KeySchema.every(({ AttributeName }) => item.get(AttributeName)?.t === typeOf(this.table, AttributeName));
    return indexesOf(this.table).map((index) => {
      const [was, is] = [isIn(this.base, index), isIn(this.draft, index)];
      return h('span', { class: was !== is ? 'badge warn' : is ? 'badge good' : 'badge' }, `${index.IndexName}: ${is ? (was ? 'in' : 'enters') : was ? 'leaves' : 'not in'}`);
    });
  }

  // --- Saving ---

  // One thing at a time: until the answer is here, nobody knows what the item is.
  async alone(work) {
    if (this.isBusy) return;
    this.isBusy = true;
    this.save_.disabled = true;
    try {
      await work();
    } catch (error) {
      show(this.problem, errorBox(error));
    }
    this.isBusy = false;
    this.save_.disabled = false;
  }

  save() {
    return this.alone(() => this.attempt());
  }

  async attempt() {
    if (!this.readSource()) return;
    const sent = cloneItem(this.draft); // What is typed until the answer comes is not in it.
    const wrong = itemProblem(sent);
    const missing = this.keys.find((name) => sent.get(name)?.t !== typeOf(this.table, name));
    if (wrong || missing) {
      show(this.problem, errorBox(Object.assign(new Error(wrong ? `${pathText(wrong.path)}: ${wrong.message}` : `The key ${missing} must be of type ${typeOf(this.table, missing)}.`), { name: 'This cannot be saved' })));
      return;
    }
    const request = saveRequest(this.table.TableName, this.keys, this.base, sent);
    if (request === null) {
      notify('Nothing has changed, so nothing was sent');
      return;
    }
    if (settings.get('safeMode') && !await this.preview(request)) return;
    await this.send(request, sent);
  }

  async preview(request) {
    return await dialog({
      title: this.base ? 'Save these changes?' : 'Create this item?',
      body: [this.base && changeList(this.base, this.draft), h('details', null, h('summary', null, 'The exact request'), codeBlock(request.operation, request.parameters))],
      wide: true,
      actions: [{ label: 'Cancel', value: null }, { label: this.base ? 'Save' : 'Create', value: true, primary: true }],
    }) === true;
  }

  async send({ operation, parameters }, sent) {
    // A change of the key deletes the item that was: all of it must have been seen.
    if (operation === 'TransactWriteItems') {
      const now = await readItem(this.table.TableName, this.keys, this.base);
      if (!now || !equalItems(now, this.base)) return this.reconcile(now);
    }
    try {
      await call(operation, parameters);
    } catch (error) {
      return this.refused(error);
    }
    notify('Saved');
    this.base = sent;
    this.view.memory.base = sent; // Also if the text cannot be read.
    if (this.readSource()) {
      show(this.problem);
      this.changed();
    }
    const k = this.keys.map((name) => toLink(sent.get(name)));
    if (!this.view.signal.aborted && JSON.stringify(k) !== JSON.stringify(this.view.all.k)) this.moveTo(k);
    return undefined;
  }

  // The address of the item changes, and what was typed meanwhile goes with it.
  moveTo(k) {
    const { memory } = this.view;
    this.view.setQuery({ k, view: this.view.query('view') }, { push: true });
    for (const name of ['draft', 'base', 'source']) delete memory[name];
    refresh({ keep: true });
  }

  async refused(error) {
    const reasons = error.body?.CancellationReasons ?? [];
    const [old, put] = reasons.map(({ Code }) => Code === 'ConditionalCheckFailed');
    const isCondition = error.name === 'ConditionalCheckFailedException';
    const theirs = isCondition ? error.body.Item : reasons[0]?.Item;
    if (old || (isCondition && this.base !== null)) await this.reconcile(theirs ? itemFromDynamo(theirs) : null);
    else if (put || isCondition) throw Object.assign(new Error('An item with this key exists already. It was not replaced.'), { name: this.base === null ? 'Not created' : 'Not moved' });
    else throw error;
  }

  // Somebody else was faster. `theirs`: the item as it is now, or null.
  async reconcile(theirs) {
    if (!this.readSource()) return; // The next save comes here again.
    if (!theirs) {
      const again = await confirm('The item was deleted meanwhile', h('p', null, 'You can create it again as you see it here.'), { label: 'Create again' });
      if (again) {
        this.becomeNew();
        this.changed();
        await this.attempt();
      }
      return;
    }
    const result = merge(this.base, this.draft, theirs);
    const choices = new Map();
    const options = (conflict, i) => ['mine', 'theirs'].map((side) => h('td', null, h('label', { class: 'check' },
      h('input', { type: 'radio', name: `conflict-${i}`, checked: side === 'mine', onchange: () => choices.set(i, side) }), text(conflict[side]))));
    const ok = await dialog({
      title: 'Somebody changed this item meanwhile',
      wide: true,
      body: [
        result.theirs.length > 0 && [h('h3', null, 'Their changes, which stay'), h('ul', { class: 'changes' }, result.theirs.map(({ path, value }) => h('li', null, h('code', null, pathText(path)), ': ', h('ins', null, text(value)))))],
        result.conflicts.length > 0 && h('div', { class: 'table-wrap merge' }, h('table', null, h('thead', null, h('tr', null, ['Changed by both', 'As you read it', 'Yours', 'Theirs'].map((one) => h('th', null, one)))),
          h('tbody', null, result.conflicts.map((conflict, i) => h('tr', null, h('td', null, pathText(conflict.path)), h('td', null, text(conflict.base)), options(conflict, i)))))),
        result.conflicts.length === 0 && h('p', null, 'Your changes and theirs do not touch each other.')],
      actions: [{ label: 'Go on editing', value: null }, { label: 'Merge and save', value: true, primary: true }],
    });
    let { merged } = result;
    result.conflicts.forEach((conflict, i) => { if (choices.get(i) === 'theirs') merged = setPath(merged, conflict.path, conflict.theirs); });
    this.base = theirs;
    this.draft = merged;
    this.draw();
    if (!ok) return;
    const sent = cloneItem(merged);
    const request = saveRequest(this.table.TableName, this.keys, theirs, sent);
    if (request) await this.send(request, sent);
    else notify('The item is already as you want it');
  }

  // --- Other actions ---

  discard() {
    delete this.view.memory.source;
    this.base ??= this.original;
    this.draft = this.base ? cloneItem(this.base) : this.blank();
    if (this.base) show(this.save_, 'Save');
    show(this.problem);
    this.draw();
  }

  duplicate() {
    if (this.isBusy) return;
    this.becomeNew(this.base);
    notify('Change the key, then create the copy');
    this.tab = 'form';
    this.draw();
    this.slot.querySelector('textarea, input')?.focus();
  }

  becomeNew(original = null) {
    this.base = null;
    this.original = original;
    show(this.save_, 'Create item');
  }

  // A version becomes the draft: saving it is an update like any other.
  async history() {
    const Key = itemToDynamo(new Map(this.keys.map((name) => [name, this.base.get(name)])));
    const version = await chooseVersion({ TableName: this.table.TableName, Key });
    if (!version) return;
    this.draft = version;
    this.draw();
    notify('Save to go back to this version');
  }

  async remove() {
    const request = deleteRequest(this.table.TableName, this.keys, this.base);
    const key = this.keys.map((name) => text(this.base.get(name))).join(', ');
    if (!await confirm('Delete this item?', [h('p', null, h('code', null, key)), h('p', null, 'It is read once more first, and stays if it has changed since you opened it.'),
      h('details', null, h('summary', null, 'The exact request'), codeBlock('DeleteItem', request))], { label: 'Delete', danger: true })) return;
    await this.alone(() => this.removeNow(request));
  }

  async removeNow(request) {
    const warn = (title, message) => show(this.problem, h('div', { class: 'notice warn', role: 'alert' }, h('strong', null, title), h('p', null, message)));
    delete this.view.memory.source;
    const changed = (now) => {
      this.draft = merge(this.base, this.draft, now).merged; // Edits that are not saved stay.
      this.base = now;
      this.draw();
      warn('Not deleted', 'The item has changed since you opened it. Here is what it is now.');
    };
    const now = await readItem(this.table.TableName, this.keys, this.base);
    if (now && !equalItems(now, this.base)) {
      changed(now);
      return;
    }
    let last;
    try {
      last = itemFromDynamo((await call('DeleteItem', request)).Attributes ?? {});
    } catch (error) {
      if (error.name !== 'ConditionalCheckFailedException' || !error.body.Item) throw error;
      changed(itemFromDynamo(error.body.Item));
      return;
    }
    if (!equalItems(last, this.base)) {
      this.draft = last;
      this.becomeNew();
      this.draw();
      warn('Deleted while somebody changed it', 'Here is what it was at the end. Create it again if that should not be lost.');
      return;
    }
    delete this.view.memory.draft;
    this.draft = this.base; // Edits of what is gone are not missed.
    notify('Deleted');
    go(tableLink(this.table.TableName, 'items'));
  }
}
