// tables.js -- tables and their indexes.

import { confirm } from '../core/dialog.js';
import { field, h, select } from '../core/dom.js';
import { list } from '../parts/panel.js';
import { rowsOf } from './document.js';
import { button, checkbox, formDialog, input, put, words } from './forms.js';

const TYPES = [['S', 'Text'], ['N', 'Number'], ['B', 'Binary']];
const PROJECTIONS = [['ALL', 'All attributes'], ['KEYS_ONLY', 'Keys only'], ['INCLUDE', 'Keys and some']];

function keyFields(label, key) {
  const name = input(key?.AttributeName);
  const type = select(TYPES, { value: key?.AttributeType ?? 'S' });
  return {
    element: h('div', { class: 'row' }, h('div', { class: 'grow' }, field(label, name)), field('Type', type)),
    read: (before) => (name.value.trim() ? { ...before, AttributeName: name.value.trim(), AttributeType: type.value } : undefined),
  };
}

const extra = (doc, name) => doc.root.Stator?.Tables?.find((one) => one.TableName === name);

function extraFor(doc, name) {
  if (!extra(doc, name)) doc.list('Tables').push({ TableName: name });
  return extra(doc, name);
}

function editTable(desk, at) {
  const { doc } = desk;
  const table = doc.tables[at];
  const name = input(table?.TableName, { autofocus: true });
  const hash = keyFields('Partition key', table?.KeyAttributes?.PartitionKey ?? { AttributeName: 'PK' });
  const range = keyFields('Sort key (optional)', table ? table.KeyAttributes?.SortKey : { AttributeName: 'SK' });
  const expiry = input(table && extra(doc, table.TableName)?.TimeToLive);
  return formDialog(desk, table ? `Table ${table.TableName}` : 'New table', [field('Name', name), hash.element, range.element, field('Attribute of time to live (optional)', expiry)], () => {
    const target = at < 0 ? { TableName: '', KeyAttributes: {}, NonKeyAttributes: [], GlobalSecondaryIndexes: [], TableData: [], DataAccess: { MySql: {} }, BillingMode: 'PAY_PER_REQUEST' } : doc.tables[at];
    const before = target.TableName;
    const now = name.value.trim();
    if (at >= 0 && now !== before) {
      for (const one of [...doc.entities, ...doc.patterns]) if (one.Table === before) one.Table = now;
      if (extra(doc, before)) extra(doc, before).TableName = now;
    }
    target.TableName = now;
    target.KeyAttributes ??= {};
    put(target.KeyAttributes, 'PartitionKey', hash.read(target.KeyAttributes.PartitionKey));
    put(target.KeyAttributes, 'SortKey', range.read(target.KeyAttributes.SortKey));
    if (expiry.value.trim() || extra(doc, now)?.TimeToLive) put(extraFor(doc, now), 'TimeToLive', expiry.value.trim());
    if (at < 0) (doc.root.DataModel ??= []).push(target);
  });
}

function editIndex(desk, tableAt, at) {
  const { doc } = desk;
  const table = doc.tables[tableAt];
  const index = table.GlobalSecondaryIndexes?.[at];
  const isLocal = (name) => extra(doc, table.TableName)?.LocalIndexes?.includes(name) === true;
  const name = input(index?.IndexName, { autofocus: true });
  const hash = keyFields('Partition key', index?.KeyAttributes?.PartitionKey);
  const range = keyFields('Sort key (optional)', index?.KeyAttributes?.SortKey);
  const projection = select(PROJECTIONS, { value: index?.Projection?.ProjectionType ?? 'ALL' });
  const include = input((index?.Projection?.NonKeyAttributes ?? []).join(', '));
  const local = checkbox('Local: shares the partition key of the table', isLocal(index?.IndexName));
  return formDialog(desk, index ? `Index ${index.IndexName}` : 'New index', [field('Name', name), hash.element, range.element, field('Projection', projection), field('Attributes, with commas', include, { hint: 'Of "keys and some".' }), local.element], () => {
    const owner = doc.tables[tableAt];
    const target = at < 0 ? {} : owner.GlobalSecondaryIndexes[at];
    const before = target.IndexName;
    const now = name.value.trim();
    target.IndexName = now;
    target.KeyAttributes ??= {};
    put(target.KeyAttributes, 'PartitionKey', hash.read(target.KeyAttributes.PartitionKey));
    put(target.KeyAttributes, 'SortKey', range.read(target.KeyAttributes.SortKey));
    target.Projection = { ...target.Projection, ProjectionType: projection.value };
    put(target.Projection, 'NonKeyAttributes', projection.value === 'INCLUDE' ? words(include.value) : undefined);
    if (at < 0) (owner.GlobalSecondaryIndexes ??= []).push(target);
    else if (before !== now) renameIndex(doc, owner, before, now);
    const others = (extra(doc, owner.TableName)?.LocalIndexes ?? []).filter((one) => one !== before && one !== now);
    if (local.box.checked || isLocal(before)) put(extraFor(doc, owner.TableName), 'LocalIndexes', local.box.checked ? [...others, now] : others);
  });
}

// Entities have keys in it, and patterns use it; undefined: it is gone.
function renameIndex(doc, table, from, to) {
  for (const entity of doc.entitiesOf(table)) {
    if (entity.Keys) entity.Keys = entity.Keys.flatMap((one) => (one.Index !== from ? [one] : to === undefined ? [] : [{ ...one, Index: to }]));
  }
  for (const pattern of doc.patterns) if (doc.table(pattern.Table) === table && pattern.Index === from) put(pattern, 'Index', to);
}

const keyText = (keys) => [keys?.PartitionKey, keys?.SortKey].filter(Boolean).map((one) => `${one.AttributeName} (${one.AttributeType})`).join(', ');

function tableCard(desk, table, at) {
  const { doc, report } = desk;
  const found = report?.Tables[at];
  const removeIndex = async (n) => {
    const { IndexName } = table.GlobalSecondaryIndexes[n];
    if (!await confirm('Delete the index?', h('p', null, `${IndexName}, and the keys of entities in it.`), { label: 'Delete', danger: true })) return;
    desk.edit(() => {
      const owner = doc.tables[at];
      owner.GlobalSecondaryIndexes.splice(n, 1);
      renameIndex(doc, owner, IndexName, undefined);
      const more = extra(doc, owner.TableName);
      if (more?.LocalIndexes) put(more, 'LocalIndexes', more.LocalIndexes.filter((one) => one !== IndexName));
    });
  };
  const removeTable = async () => {
    if (!await confirm('Delete the table of the model?', h('p', null, `${table.TableName}, with its rows, entities and patterns.`), { label: 'Delete', danger: true })) return;
    desk.edit((root) => {
      const owner = doc.tables[at];
      const rest = (all) => all.filter((one) => doc.table(one.Table) !== owner);
      if (root.Stator?.Entities) root.Stator.Entities = rest(doc.entities);
      if (root.Stator?.Patterns) root.Stator.Patterns = rest(doc.patterns);
      root.DataModel.splice(at, 1);
    });
  };
  const rows = (table.GlobalSecondaryIndexes ?? []).map((one, n) => [one.IndexName, h('code', null, keyText(one.KeyAttributes)), [one.Projection?.ProjectionType ?? 'ALL', ...(one.Projection?.NonKeyAttributes ?? [])].join(' '), extra(doc, table.TableName)?.LocalIndexes?.includes(one.IndexName) ? 'local' : 'global',
    h('span', { class: 'actions' }, button('Edit', `index-${at}-${n}`, () => editIndex(desk, at, n), { 'aria-label': `Edit ${one.IndexName}` }), button('Delete', `index-delete-${at}-${n}`, () => removeIndex(n), { class: 'danger', 'aria-label': `Delete ${one.IndexName}` }))]);
  return h('section', { class: 'card page' }, h('div', { class: 'spread' }, h('h2', null, table.TableName), h('span', { class: 'actions' }, button('Edit', `table-${at}`, () => editTable(desk, at), { 'aria-label': `Edit table ${table.TableName}` }), button('Add index', `index-add-${at}`, () => editIndex(desk, at, -1), { class: 'primary' }), button('Delete', `table-delete-${at}`, removeTable, { class: 'danger', 'aria-label': `Delete table ${table.TableName}` }))),
    h('dl', { class: 'facts' }, [['Keys', keyText(table.KeyAttributes)], ['Time to live', extra(doc, table.TableName)?.TimeToLive], ['Rows', String(rowsOf(table).length)]].filter(([, value]) => value).map(([term, value]) => [h('dt', null, term), h('dd', null, value)])),
    (found?.Waste ?? []).map(({ Text }) => h('div', { class: 'notice warn' }, h('p', null, Text))),
    list(`Indexes of ${table.TableName}`, ['Index', 'Keys', 'Projection', 'Kind', ''], rows, { empty: 'No indexes.' }));
}

export function tablesTab(desk) {
  return h('div', { class: 'page' }, h('div', { class: 'spread' }, h('p', { class: 'muted' }, 'Keys and indexes. One table serves most designs.'), button('Add table', 'table-add', () => editTable(desk, -1))), desk.doc.tables.map((table, at) => tableCard(desk, table, at)));
}
