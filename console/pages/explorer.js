// explorer.js -- the items of a table: query bar, grid, footer. Everything on screen follows from the
// URL's fragment; pages stream in and can be stopped.

import { ask } from '../core/access.js';
import { call } from '../core/api.js';
import { announce, copy, errorBox, notify } from '../core/dialog.js';
import { counted, h, show } from '../core/dom.js';
import { Grid } from '../core/grid.js';
import { bind } from '../core/keys.js';
import { readRequest } from '../core/query.js';
import { go, tableLink } from '../core/router.js';
import * as settings from '../core/settings.js';
import { describe, indexesOf, keyNames, keysOf, known } from '../core/tables.js';
import { attributeOf, brief, fromDynamo, toLink } from '../core/value.js';
import { cellMeaning, discriminator, entityOf, hueOf } from '../parts/format.js';
import { queryBar, queryFromState, stateFromQuery } from '../parts/query_bar.js';
import { tableFrame } from '../parts/table_frame.js';

const COLUMNS_MAX = 40;
const WIDTH_MIN = 90;
const WIDTH_MAX = 340;

export function itemLink(table, row) {
  return tableLink(table.TableName, 'item', { k: keyNames(table).map((name) => toLink(fromDynamo(row[name]))) });
}

const cellText = (raw) => (raw === undefined ? null : brief(fromDynamo(raw)));

// What is copied: the whole value, which a cell may show in part.
const exactText = (raw) => raw && (raw.S ?? raw.N ?? raw.B ?? JSON.stringify(raw));

// The value, and beside it what it probably means. Only shows.
function cellContent(raw) {
  const meaning = raw && settings.get('meanings') && cellMeaning(raw);
  return meaning ? h('span', null, cellText(raw), ' ', h('span', { class: 'muted' }, meaning)) : cellText(raw);
}

// --- Results ---

class Results {
  constructor() {
    Object.assign(this, {
      rows: [], counts: new Map(), scanned: 0, units: 0, pages: 0, ms: 0, last: undefined, ended: '', error: null,
    });
  }

  add(page, ms) {
    const items = page.Items ?? (page.Item ? [page.Item] : []);
    for (const item of items) {
      this.rows.push(item);
      for (const name of Object.keys(item)) this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
    }
    this.scanned += page.ScannedCount ?? items.length;
    this.units += page.ConsumedCapacity?.CapacityUnits ?? 0;
    this.pages += 1;
    this.ms += ms;
    this.last = page.LastEvaluatedKey;
  }
}

// Reads pages into `results` until `limit` more rows are there, the end, or a stop.
async function stream(request, results, limit, { signal, onpage }) {
  const wanted = results.rows.length + limit;
  const hasFilter = request.parameters.FilterExpression !== undefined;
  do {
    const parameters = { ...request.parameters, ReturnConsumedCapacity: 'TOTAL' };
    if (request.operation !== 'GetItem') {
      if (results.last) parameters.ExclusiveStartKey = results.last;
      if (!hasFilter) parameters.Limit = Math.min(wanted - results.rows.length, 10_000);
    }
    const started = performance.now();
    const page = await call(request.operation, parameters, { signal });
    results.add(page, performance.now() - started);
    onpage();
  } while (results.last && results.rows.length < wanted && !signal.aborted);
  results.ended = results.last ? 'more' : 'end';
}

// --- The page ---

export function render(view) {
  const { table: name } = view.params;
  const frame = tableFrame(name, 'items');
  const body = h('div', { class: 'page' });
  frame.element.append(body);
  const open = (table) => {
    if (!view.signal.aborted) new Explorer(view, table, body, frame);
  };
  const read = () => describe(name, { signal: view.signal }).then((table) => { frame.setTable(table); return table; });
  if (known(name) && view.memory.results) {
    frame.setTable(known(name));
    open(known(name));
    read().catch(() => {});
  } else {
    read().then(open, (error) => { if (!view.signal.aborted) show(body, errorBox(error)); });
  }
  return { title: name, crumbs: [['Tables', '#/']], element: frame.element };
}

class Explorer {
  constructor(view, table, body, frame) {
    Object.assign(this, { view, table, frame });
    this.state = stateFromQuery(table, view);
    this.footer = h('div', { class: 'footer', role: 'status' });
    this.problem = h('div');
    this.actions = h('div', { class: 'actions' });
    this.grid = new Grid({
      label: `Items of ${table.TableName}`,
      onopen: (row) => this.open(row),
      onselect: () => this.drawFooter(),
      onkey: (event) => this.onGridKey(event),
    });
    this.grid.element.addEventListener('scroll', () => { view.memory.scroll = this.grid.element.scrollTop; });
    this.bar = queryBar(table, this.state, { onrun: () => this.run(), onstop: () => this.stop() });
    show(body, this.bar.element, this.problem, this.grid.element, this.footer);
    this.bindKeys();
    view.signal.addEventListener('abort', () => this.stop());
    this.results = view.memory.results ?? new Results();
    if (view.memory.results) this.restore();
    else this.run({ push: false });
    this.readModel().catch(() => {}); // Most tables have none.
  }

  // Entities have the names that the model of the table gives them, if it has one.
  async readModel() {
    const { TableName } = this.table;
    const { signal } = this.view;
    if ((await ask({ Action: 'stator:GetModel', Resource: TableName }))?.Allowed === false) return;
    const { Model } = await call('GetModel', { TableName }, { signal });
    const { entityNames } = await import('../model/document.js');
    if (signal.aborted) return;
    this.byModel = entityNames(Model, keysOf(this.table));
    this.chooseColumns();
    this.grid.redraw();
  }

  bindKeys() {
    bind('Items', [
      { keys: 'Ctrl+Enter', label: 'Run', run: () => this.run() },
      { keys: 'Escape', label: 'Stop a run', run: () => this.stop() },
      { keys: 'q', label: 'Go to the query bar', run: () => this.bar.focus() },
      { keys: 'i', label: 'Go to the items', run: () => this.grid.element.focus() },
      { keys: 'n', label: 'New item', run: () => go(tableLink(this.table.TableName, 'item')) },
      { keys: 'x', label: 'The request as code', run: () => this.showCode() },
    ], this.view.signal);
    bind('Grid', [
      { keys: 'Enter', label: 'Open the item' }, { keys: 'Space', label: 'Select the row' }, { keys: 'Ctrl+a', label: 'Select all' },
      { keys: 'c', label: 'Copy the cell' }, { keys: 'Shift+C', label: 'Copy the item as DynamoDB JSON' }, { keys: 'Delete', label: 'Delete the selected items' },
    ], this.view.signal);
  }

  restore() {
    this.bar.setAttributes([...this.results.counts.keys()]);
    this.chooseColumns();
    this.grid.active = this.view.memory.active ?? this.grid.active;
    this.grid.setRows(this.results.rows);
    this.drawFooter();
    requestAnimationFrame(() => {
      this.grid.draw();
      this.grid.element.scrollTop = this.view.memory.scroll ?? 0;
      if (this.view.memory.active) this.grid.element.focus();
    });
  }

  // --- Running ---

  run({ push = true } = {}) {
    this.view.setQuery({ ...queryFromState(this.state), cols: this.view.query('cols') }, { push });
    this.results = new Results();
    this.view.memory.results = null;
    delete this.view.memory.active;
    this.request = readRequest(this.table, this.state);
    this.grid.active = { row: 0, column: 0 };
    this.chooseColumns();
    this.grid.setRows(this.results.rows);
    this.grid.element.scrollTop = 0;
    return this.fetch(this.state.limit);
  }

  async fetch(limit) {
    this.stop();
    const controller = new AbortController();
    const { results } = this;
    this.controller = controller;
    this.request ??= readRequest(this.table, this.state);
    results.ended = 'running';
    results.error = null;
    this.bar.setRunning(true);
    show(this.problem);
    try {
      await stream(this.request, results, limit, {
        signal: controller.signal,
        onpage: () => { if (results === this.results) this.grownBy(); },
      });
    } catch (error) {
      if (error.name === 'AbortError') results.ended = 'stopped';
      else Object.assign(results, { ended: 'failed', error });
    }
    if (results !== this.results || this.view.signal.aborted) return;
    this.controller = null;
    this.view.memory.results = results.error ? null : results;
    this.bar.setRunning(false);
    this.bar.setAttributes([...results.counts.keys()]);
    if (results.error) show(this.problem, errorBox(results.error, () => this.fetch(limit)));
    this.chooseColumns();
    this.drawFooter();
    announce(`${counted(results.rows.length)} items`);
  }

  grownBy() {
    if (this.results.pages === 1) this.chooseColumns();
    this.grid.grown();
    this.drawFooter();
  }

  stop() {
    this.controller?.abort();
  }

  // --- Columns ---

  chooseColumns() {
    const { rows, counts } = this.results;
    const keys = [...new Set([...keysOf(this.table, this.state.index).hash, ...keysOf(this.table, this.state.index).range,
      ...keysOf(this.table).hash, ...keysOf(this.table).range].map((key) => key.name))];
    const attribute = discriminator(rows, settings.get('discriminators')[this.table.TableName]);
    const tableKeys = keyNames(this.table);
    const entity = (row) => this.byModel?.(row) ?? entityOf(row, attribute, tableKeys);
    this.entity = entity;
    const hasEntities = rows.slice(0, 200).some(entity);
    const chosen = this.view.query('cols')?.split(',').filter(Boolean);
    const rest = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).map(([one]) => one).filter((one) => !keys.includes(one));
    const names = chosen ?? [...keys, ...rest.filter((one) => one !== attribute || !hasEntities)].slice(0, COLUMNS_MAX);
    const columns = names.map((column) => this.column(column, keys.includes(column)));
    if (hasEntities) {
      columns.splice(Math.min(keys.length, columns.length), 0, {
        name: '', label: 'Entity', width: 140,
        cell: (row) => {
          const text = this.entity(row);
          if (text === null) return null;
          const chip = h('span', { class: 'entity' }, text);
          chip.style.setProperty('--hue', hueOf(text));
          return chip;
        },
      });
    }
    const signature = JSON.stringify(columns.map((column) => [column.name, column.width]));
    if (signature !== this.signature) this.grid.setColumns(columns);
    this.signature = signature;
    this.allColumns = [...keys, ...rest];
  }

  column(name, isKey) {
    const sample = this.results.rows.slice(0, 60).map((row) => attributeOf(row, name)).filter(Boolean);
    const numeric = sample.length > 0 && sample.every((raw) => raw.N !== undefined);
    const longest = sample.reduce((max, raw) => Math.max(max, cellText(raw).length + (settings.get('meanings') && cellMeaning(raw)?.length || 0)), name.length);
    const width = Math.min(WIDTH_MAX, Math.max(WIDTH_MIN, Math.round(longest * 7.9) + 24));
    return { name, label: name, width, numeric, isKey, cell: (row) => cellContent(attributeOf(row, name)) };
  }

  async chooseColumnsByHand() {
    const { chooseFrom } = await import('../parts/choose.js');
    const shown = this.grid.columns.map((column) => column.name).filter(Boolean);
    const picked = await chooseFrom('Columns', [...new Set([...shown, ...this.allColumns])], shown);
    if (picked === null) return;
    this.view.setQuery({ ...queryFromState(this.state), cols: picked.join(',') });
    this.chooseColumns();
    this.grid.redraw();
  }

  // --- Footer ---

  drawFooter() {
    const { rows, scanned, units, pages, ms, ended, last } = this.results;
    const part = (value, label) => h('span', null, h('strong', null, value), ` ${label}`);
    const efficiency = scanned > 0 ? Math.round((rows.length / scanned) * 1000) / 10 : 100;
    const reasons = { running: 'running …', stopped: 'stopped by you', more: 'more items follow', end: 'all read', failed: 'failed' };
    const selected = this.grid.selected.size;
    show(this.footer,
      part(counted(rows.length), 'returned'), part(counted(scanned), 'scanned'), part(`${efficiency}%`, 'efficiency'),
      part(counted(units), 'RCU'), part(counted(pages), pages === 1 ? 'page' : 'pages'), part(`${counted(Math.round(ms))}`, 'ms'), h('span', null, reasons[ended] ?? ''),
      selected > 0 && h('span', { class: 'badge' }, `${counted(selected)} selected`),
      h('span', { class: 'actions' },
        last && ended !== 'running' && [h('button', { onclick: () => this.fetch(this.state.limit) }, 'Next items'), h('button', { onclick: () => this.fetch(Infinity) }, 'All')],
        h('button', { onclick: () => this.chooseColumnsByHand() }, 'Columns'),
        h('button', { onclick: () => this.showCode() }, 'Code'),
        h('button', { onclick: () => this.exportItems() }, 'Export'),
        h('button', { needs: { Action: 'PutItem', Resource: this.table.TableName }, onclick: () => this.importItems() }, 'Import'),
        selected > 0 && h('button', { class: 'danger', needs: { Action: 'DeleteItem', Resource: this.table.TableName }, onclick: () => this.deleteSelected() }, 'Delete')),
      this.hint());
    if (ended === 'end' && rows.length === 0) {
      show(this.problem, h('div', { class: 'notice' }, h('strong', null, 'No items'), h('p', null, scanned > 0 ? `${counted(scanned)} items were read, and none matches.` : 'There is nothing here yet.')));
    } else if (!this.results.error) show(this.problem);
  }

  // A filter that throws most of it away is worth an index.
  hint() {
    const { rows, scanned } = this.results;
    if (scanned < 100 || rows.length / scanned > 0.1 || !this.request?.parameters.FilterExpression) return null;
    return h('span', { class: 'badge warn' }, 'The filter discards over 90% of what is read: an index would serve this better');
  }

  // --- Actions ---

  // False, and says so, if the query shows no keys, which name items.
  hasKey(row) {
    const whole = keyNames(this.table).every((name) => attributeOf(row, name));
    if (!whole) notify('The attributes that you chose leave out the key: add it to open or delete items.', { error: true });
    return whole;
  }

  open(row) {
    if (!this.hasKey(row)) return;
    this.view.memory.active = { ...this.grid.active };
    go(itemLink(this.table, row));
  }

  onGridKey(event) {
    const { row, column } = this.grid.current();
    if (event.ctrlKey || event.metaKey) return false;
    if (event.key === 'c' && row) copy(exactText(attributeOf(row, column.name)) ?? '', 'Cell copied');
    else if (event.key === 'C' && row) copy(JSON.stringify(row), 'Item copied');
    else if (event.key === 'e' && row) this.open(row);
    else if (event.key === 'Delete') this.deleteSelected();
    else return false;
    return true;
  }

  async showCode() {
    const { codeDialog } = await import('../parts/code_pane.js');
    const request = readRequest(this.table, this.state);
    codeDialog(request.operation, request.parameters);
  }

  async exportItems() {
    const { exportDialog } = await import('../parts/transfer.js');
    const selected = this.grid.selection();
    exportDialog(this.table, this.request ?? readRequest(this.table, this.state), selected);
  }

  async importItems() {
    const { importDialog } = await import('../parts/transfer.js');
    if (await importDialog(this.table)) this.run({ push: false });
  }

  async deleteSelected() {
    const { deleteItems } = await import('../parts/bulk.js');
    const chosen = this.grid.selected.size ? this.grid.selection() : [this.grid.current().row].filter(Boolean);
    if (chosen.length === 0 || !this.hasKey(chosen[0])) return;
    const { IndexName, ProjectionExpression } = (this.request ?? readRequest(this.table, this.state)).parameters;
    const index = indexesOf(this.table).find((one) => one.IndexName === IndexName);
    const isWhole = !ProjectionExpression && (!index || index.Projection.ProjectionType === 'ALL');
    const gone = await deleteItems(this.table, chosen, isWhole);
    if (gone.size === 0) return;
    this.results.rows = this.results.rows.filter((row) => !gone.has(row));
    this.grid.setRows(this.results.rows);
    this.drawFooter();
    notify(`${counted(gone.size)} deleted`);
  }
}
