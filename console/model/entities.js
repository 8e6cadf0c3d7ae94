// entities.js -- the kinds of items: discriminators, templates of keys, attributes.

import { confirm } from '../core/dialog.js';
import { field, h, select, show } from '../core/dom.js';
import { list } from '../parts/panel.js';
import { keysOf, viewsOf } from './document.js';
import { area, button, entityLabel, formDialog, input, put } from './forms.js';

const TYPES = ['S', 'N', 'B', 'BOOL', 'NULL', 'L', 'M', 'SS', 'NS', 'BS'];
const attributeLine = ({ Name, Type, Required }) => [Name, Type, Required && 'required'].filter(Boolean).join(' ');

// "email S required"; members that are unknown here stay with the name.
function attributesFrom(text, before = []) {
  return text.split('\n').map((line) => line.trim()).filter(Boolean).map((line) => {
    const [name, ...rest] = line.split(/\s+/);
    const target = { ...(before.find((one) => one.Name === name) ?? { Name: name }) };
    const wrong = rest.find((word) => !TYPES.includes(word) && word !== 'required');
    if (wrong) throw Object.assign(new Error(`"${wrong}" is no type. An attribute is written as in: email S required`), { name: 'Attributes' });
    put(target, 'Type', rest.find((word) => TYPES.includes(word)));
    put(target, 'Required', rest.includes('required'));
    return target;
  });
}

// Patterns name entities.
function rename(doc, from, to) {
  for (const pattern of doc.patterns) {
    for (const holder of [pattern, pattern.Expect]) {
      if (Array.isArray(holder?.Entities)) holder.Entities = holder.Entities.map((one) => (one === from ? to : one)).filter((one) => one !== undefined);
    }
  }
}

function edit(desk, at) {
  const { doc } = desk;
  const entity = doc.entities[at] ?? {};
  const name = input(entity.Name, { autofocus: true });
  const table = select(doc.tables.map((one) => one.TableName), { value: entity.Table ?? doc.tables[0]?.TableName, onchange: draw });
  const attribute = input(entity.Discriminator?.Attribute, { placeholder: 'type' });
  const value = input(entity.Discriminator?.Value);
  const attributes = area((entity.Attributes ?? []).map(attributeLine).join('\n'), { rows: '5' });
  const keys = h('div', { class: 'editor' });
  let controls = [];
  function draw() {
    controls = viewsOf(doc.table(table.value)).map((view) => ({ view, hash: input(keysOf(entity, view.name)?.PartitionKey), range: view.range && input(keysOf(entity, view.name)?.SortKey) }));
    show(keys, controls.map(({ view, hash, range }) => h('fieldset', null, h('legend', null, view.name ? `In index ${view.name}` : 'Key of the table'), h('div', { class: 'row' },
      h('div', { class: 'grow' }, field(`${view.hash?.name} follows`, hash)), range && h('div', { class: 'grow' }, field(`${view.range.name} follows`, range))))));
  }
  draw();
  return formDialog(desk, at < 0 ? 'New entity' : `Entity ${entity.Name}`, [
    h('div', { class: 'row' }, h('div', { class: 'grow' }, field('Name', name)), doc.tables.length > 1 && field('Table', table)), keys,
    h('p', { class: 'hint' }, 'Templates are text with parameters: ORDER#<date>#<orderId>. An item without the keys of an index is not in it.'),
    h('div', { class: 'row' }, h('div', { class: 'grow' }, field('Discriminator attribute', attribute)), h('div', { class: 'grow' }, field('Its value', value))),
    field('Attributes', attributes, { hint: 'One per line: email S required' }),
  ], () => {
    const target = at < 0 ? {} : doc.entities[at];
    const before = target.Name;
    put(target, 'Name', name.value.trim());
    if (doc.tables.length > 1 || target.Table) put(target, 'Table', table.value);
    put(target, 'Discriminator', attribute.value.trim() ? { ...target.Discriminator, Attribute: attribute.value.trim(), Value: value.value } : undefined);
    const shown = new Set(controls.map(({ view }) => view.name));
    put(target, 'Keys', [...controls.map(({ view, hash, range }) => {
      const one = { ...keysOf(target, view.name) };
      put(one, 'Index', view.name);
      put(one, 'PartitionKey', hash.value.trim());
      put(one, 'SortKey', range?.value.trim());
      return one;
    }).filter((one) => one.PartitionKey || one.SortKey), ...(target.Keys ?? []).filter((one) => !shown.has(one.Index))]);
    put(target, 'Attributes', attributesFrom(attributes.value, target.Attributes));
    if (at < 0) doc.list('Entities').push(target);
    else if (before !== target.Name) rename(doc, before, target.Name);
  });
}

export function entitiesTab(desk) {
  const { doc, report } = desk;
  const remove = async (at) => {
    const { Name } = doc.entities[at];
    if (!await confirm('Delete the entity?', h('p', null, `${Name}. Rows of the sample stay.`), { label: 'Delete', danger: true })) return;
    desk.edit(() => {
      doc.entities.splice(at, 1);
      rename(doc, Name, undefined);
    });
  };
  const keyText = (one) => h('div', null, h('code', null, [one.PartitionKey, one.SortKey].filter(Boolean).join('  ·  ')), one.Index && h('span', { class: 'muted' }, ` in ${one.Index}`));
  const rows = doc.entities.map((one, at) => [entityLabel(one.Name), one.Discriminator ? h('code', null, `${one.Discriminator.Attribute} = ${one.Discriminator.Value}`) : '', (one.Keys ?? []).map(keyText), (one.Attributes ?? []).map(attributeLine).join(', '),
    h('span', { class: 'actions' }, button('Edit', `entity-${at}`, () => edit(desk, at), { 'aria-label': `Edit ${one.Name}` }), button('Delete', `entity-delete-${at}`, () => remove(at), { class: 'danger', 'aria-label': `Delete ${one.Name}` }))]);
  return h('div', { class: 'page' }, h('div', { class: 'spread' }, h('p', { class: 'muted' }, 'What the items are, and how their keys are made.'), button('Add entity', 'entity-add', () => edit(desk, -1), { class: 'primary' })),
    (report?.Collisions ?? []).map(([a, b]) => h('div', { class: 'notice bad' }, h('p', null, `${a} and ${b} collide: an item of one may have the key of the other.`))),
    list('Entities', ['Entity', 'Discriminator', 'Keys', 'Attributes', ''], rows, { empty: 'No entities yet.' }));
}
