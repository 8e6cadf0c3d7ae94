// live.js -- the model and the tables of this server: create them, attach the model, see what breaks it.

import { call } from '../core/api.js';
import { toText } from '../core/csv.js';
import { confirm, notify } from '../core/dialog.js';
import { amount, counted, h, uniqueId } from '../core/dom.js';
import { tableLink } from '../core/router.js';
import * as tables from '../core/tables.js';
import { itemFromDynamo } from '../core/value.js';
import { change } from '../parts/change.js';
import { changeThen, list, panel, when } from '../parts/panel.js';
import { withProgress } from '../parts/progress.js';
import { createRequest } from '../parts/table_form.js';
import { importFile } from '../parts/transfer.js';
import { rowsOf, viewsOf } from './document.js';

const POLL_MS = 300;

// What Workbench's form has no place for.
const additionsOf = (doc, table) => doc.root.Stator?.Tables?.find((one) => one.TableName === table.TableName);

const UNITS = 5; // If the model names none, as in `stator model export`.

function createState(doc, table) {
  const key = (one) => ({ name: one?.name ?? '', type: one?.type ?? 'S' });
  const [own, ...views] = viewsOf(table);
  const local = additionsOf(doc, table)?.LocalIndexes ?? [];
  const { ReadCapacityUnits: read = UNITS, WriteCapacityUnits: write = UNITS } = table.ProvisionedCapacitySettings?.ProvisionedThroughput ?? {};
  return {
    name: table.TableName, hash: key(own.hash), range: key(own.range), billing: table.BillingMode ?? 'PAY_PER_REQUEST', read, write, tags: [],
    indexes: views.map((view, i) => ({ kind: local.includes(view.name) ? 'LSI' : 'GSI', name: view.name, hash: key(view.hash), range: key(view.range), projection: view.projection, include: (table.GlobalSecondaryIndexes[i].Projection?.NonKeyAttributes ?? []).join(',') })),
  };
}

// The rows of the sample. Of those with the same key the last one counts; an item that is in the
// table already is left alone.
async function loadRows(table, definition) {
  const keys = tables.keyNames(definition);
  const rows = new Map(rowsOf(table).map((row) => [JSON.stringify(keys.map((name) => row[name])), row]));
  const file = new Blob([toText('dynamo', [...rows.values()].map(itemFromDynamo))]);
  await withProgress(`Loading the sample of ${definition.TableName}`, (progress) => importFile(definition, { file, format: 'dynamo' }, progress));
}

// Creates a table of a model and loads its rows. Resolves to whether the table was created.
export async function createTable(doc, table, signal) {
  const name = table.TableName;
  const count = rowsOf(table).length;
  const ttl = additionsOf(doc, table)?.TimeToLive;
  const withRows = h('input', { type: 'checkbox', id: uniqueId('rows'), checked: true });
  const fields = [count > 0 && h('div', { class: 'check' }, withRows, h('label', { for: withRows.id }, `With the ${amount(count, 'row')} of the sample`)),
    ttl && h('p', { class: 'hint' }, `Then UpdateTimeToLive: items expire by the attribute ${ttl}.`)];
  if (!await change(`Create ${name}`, 'CreateTable', fields, () => createRequest(createState(doc, table)), { label: 'Create' })) return false;
  let definition = await tables.describe(name, { signal });
  while (definition.TableStatus !== 'ACTIVE') {
    await new Promise((resolve) => { setTimeout(resolve, POLL_MS); });
    definition = await tables.describe(name, { signal });
  }
  if (ttl) await call('UpdateTimeToLive', { TableName: name, TimeToLiveSpecification: { Enabled: true, AttributeName: ttl } }, { signal });
  notify('Table created');
  if (count > 0 && withRows.checked) await loadRows(table, definition);
  await tables.load();
  return true;
}

// A button's work, whose failure is shown: a key may create tables and not set their time to live.
const orSay = (work) => async () => {
  try {
    await work();
  } catch (error) {
    if (error.name !== 'AbortError') notify(`${error.name}: ${error.message}`, { error: true });
  }
};

const RULES = (counts) => Object.entries(counts ?? {}).filter(([, count]) => count > 0).map(([rule, count]) => `${rule}: ${counted(count)}`).join(', ') || 'none';

function shownModel({ Mode, UpdatedDateTime, Violations, Scan }, name) {
  return [
    h('dl', { class: 'facts' }, [['Mode', Mode === 'ENFORCE' ? 'enforce: what breaks the model is refused' : 'observe: what breaks the model is counted'], ['Attached', when(UpdatedDateTime)], ['Broken rules', RULES(Violations?.ByRule)],
      ['Scan', Scan && `${Scan.Status.toLowerCase()}, ${counted(Scan.Items)} items, ${counted(Scan.Violations)} break the model`]].filter(([, value]) => value).map(([term, value]) => [h('dt', null, term), h('dd', null, value)])),
    Violations?.Entries?.length > 0 && list(`Violations of ${name}`, ['Rule', 'Entity', 'Attribute', 'Caller', 'Count'], Violations.Entries.map((one) => [one.Rule, one.Entity ?? '', one.Attribute ?? '', one.Caller ?? '', counted(one.Count)]), { numbers: [4] }),
    Scan?.Examples?.length > 0 && list(`What the scan of ${name} found`, ['Rule', 'Entity', 'Key'], Scan.Examples.map((one) => [one.Rule, one.Entity ?? '', h('code', null, JSON.stringify(one.Key))])),
  ];
}

function livePanel(desk, table) {
  const { doc, view } = desk;
  const name = table.TableName;
  const model = () => JSON.stringify({ ...doc.root, DataModel: doc.tables.map(({ TableData, TableFacets, ...rest }) => rest) });
  const part = panel(view, name, {
    every: 3000,
    async load(options) {
      if (!tables.names().includes(name)) return { absent: true };
      try {
        return await call('GetModel', { TableName: name }, options);
      } catch (error) {
        if (error.name === 'ResourceNotFoundException') return {};
        throw error;
      }
    },
    draw(found) {
      const put = (Mode, label) => h('button', { needs: { Action: 'stator:PutModel', Resource: name }, 'aria-pressed': String(found.Mode === Mode), onclick: () => changeThen(part, 'Model attached', `Attach the model to ${name}`, 'PutModel', [], () => ({ TableName: name, Mode, Model: model() }), { label: 'Attach' }) }, label);
      const remove = orSay(async () => {
        if (!await confirm('Detach the model?', h('p', null, name), { label: 'Detach', danger: true })) return;
        await call('DeleteModel', { TableName: name });
        part.reload();
      });
      if (found.absent) {
        return [h('p', null, 'This server has no such table.'), h('div', { class: 'actions' }, h('button', {
          class: 'primary', needs: { Action: 'CreateTable', Resource: name },
          onclick: orSay(async () => {
            try {
              await createTable(doc, table, view.signal);
            } finally {
              part.reload();
            }
          }),
        }, 'Create table'))];
      }
      const load = orSay(async () => loadRows(table, await tables.describe(name, { signal: view.signal })));
      const count = rowsOf(table).length;
      return [found.Mode ? shownModel(found, name) : h('p', null, 'The table has no model.'), h('div', { class: 'actions' }, h('a', { class: 'button', href: tableLink(name, 'items') }, 'Items'),
        count > 0 && h('button', { needs: { Action: 'PutItem', Resource: name }, onclick: load }, `Load ${amount(count, 'row')}`), put('OBSERVE', 'Observe'), put('ENFORCE', 'Enforce'),
        found.Mode && h('button', { needs: { Action: 'stator:ScanModel', Resource: name }, onclick: () => changeThen(part, 'Scan started', `Find items of ${name} that break the model`, 'ScanModel', [], () => ({ TableName: name }), { label: 'Scan' }) }, 'Scan items'),
        found.Mode && h('button', { class: 'danger', needs: { Action: 'stator:DeleteModel', Resource: name }, onclick: remove }, 'Detach'))];
    },
  });
  return part.element;
}

export function liveTab(desk) {
  return h('div', { class: 'page' }, h('p', { class: 'muted' }, 'A table with a model counts or refuses items that do not follow it. Entities without templates ask nothing.'), desk.doc.tables.map((table) => livePanel(desk, table)));
}
