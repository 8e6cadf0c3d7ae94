// table_form.js -- the fields of a new table or index, and the CreateTable that follows from them.

import { field, h, select, show, uniqueId } from '../core/dom.js';

const KEY_TYPES = [['S', 'String'], ['N', 'Number'], ['B', 'Binary']];
const PROJECTIONS = [['ALL', 'All attributes'], ['KEYS_ONLY', 'Keys only'], ['INCLUDE', 'Some attributes']];

// One key attribute: name and type. `state`: { name, type }; an empty name is no key.
function keyFields(label, state, onchange) {
  const name = h('input', { class: 'mono-input', value: state.name, spellcheck: 'false', oninput: () => { state.name = name.value.trim(); onchange(); } });
  const type = select(KEY_TYPES, { value: state.type, 'aria-label': `${label}: type`, onchange: () => { state.type = type.value; onchange(); } });
  const root = field(label, name);
  root.classList.add('grow');
  return h('div', { class: 'row' }, root, h('div', { class: 'field' }, type));
}

export const blankKey = () => ({ name: '', type: 'S' });
export const blankIndex = (kind) => ({ kind, name: '', hash: blankKey(), range: blankKey(), projection: 'ALL', include: '' });

// The fields of one index.
export function indexFields(index, onchange) {
  const name = h('input', { class: 'mono-input', value: index.name, oninput: () => { index.name = name.value.trim(); onchange(); } });
  const include = field('Attributes, with commas', h('input', { class: 'mono-input', value: index.include, oninput: (event) => { index.include = event.target.value; onchange(); } }));
  include.hidden = index.projection !== 'INCLUDE';
  const projection = select(PROJECTIONS, { value: index.projection, onchange: () => { index.projection = projection.value; include.hidden = index.projection !== 'INCLUDE'; onchange(); } });
  return [field('Index name', name), index.kind === 'GSI' && keyFields('Partition key', index.hash, onchange), keyFields(index.kind === 'GSI' ? 'Sort key (optional)' : 'Sort key', index.range, onchange), field('Projection', projection), include];
}

const schema = (hash, range) => [{ AttributeName: hash.name, KeyType: 'HASH' }, ...(range.name ? [{ AttributeName: range.name, KeyType: 'RANGE' }] : [])];

export function indexDefinition(index, tableHash, throughput) {
  const Projection = { ProjectionType: index.projection };
  if (index.projection === 'INCLUDE') Projection.NonKeyAttributes = index.include.split(',').map((one) => one.trim()).filter(Boolean);
  return {
    IndexName: index.name, KeySchema: schema(index.kind === 'GSI' ? index.hash : tableHash, index.range), Projection,
    ...(index.kind === 'GSI' && throughput ? { ProvisionedThroughput: throughput } : {}),
  };
}

// Attribute definitions of all keys, each once.
export function attributeDefinitions(keys) {
  const seen = new Map(keys.filter((key) => key.name).map((key) => [key.name, key.type]));
  return Array.from(seen, ([AttributeName, AttributeType]) => ({ AttributeName, AttributeType }));
}

export function createRequest(state) {
  const throughput = state.billing === 'PROVISIONED' ? { ReadCapacityUnits: Number(state.read) || 0, WriteCapacityUnits: Number(state.write) || 0 } : undefined;
  const of = (kind) => state.indexes.filter((index) => index.kind === kind).map((index) => indexDefinition(index, state.hash, throughput));
  const request = {
    TableName: state.name,
    AttributeDefinitions: attributeDefinitions([state.hash, state.range, ...state.indexes.flatMap((index) => (index.kind === 'GSI' ? [index.hash, index.range] : [index.range]))]),
    KeySchema: schema(state.hash, state.range),
    BillingMode: state.billing,
  };
  if (throughput) request.ProvisionedThroughput = throughput;
  if (of('GSI').length) request.GlobalSecondaryIndexes = of('GSI');
  if (of('LSI').length) request.LocalSecondaryIndexes = of('LSI');
  if (state.stream) request.StreamSpecification = { StreamEnabled: true, StreamViewType: state.stream };
  if (state.tags.length) request.Tags = state.tags;
  if (state.protection) request.DeletionProtectionEnabled = true;
  return request;
}

export const STREAM_VIEWS = [['', 'Off'], ['NEW_AND_OLD_IMAGES', 'New and old images'], ['NEW_IMAGE', 'New image'], ['OLD_IMAGE', 'Old image'], ['KEYS_ONLY', 'Keys only']];

// The form of a new table; onchange after each edit.
export function tableForm(state, onchange) {
  const root = h('div', { class: 'editor' });
  const indexes = h('div', { class: 'editor' });
  const capacity = h('div', { class: 'row' });
  function drawIndexes() {
    show(indexes, state.indexes.map((index, i) => h('fieldset', { class: 'card' }, h('legend', null, `${index.kind === 'GSI' ? 'Global' : 'Local'} secondary index ${i + 1}`), indexFields(index, onchange),
      h('button', { type: 'button', class: 'danger', onclick: () => { state.indexes.splice(i, 1); drawIndexes(); onchange(); } }, 'Remove index'))),
    h('div', { class: 'actions' }, ['GSI', 'LSI'].map((kind) => h('button', { type: 'button', onclick: () => { state.indexes.push(blankIndex(kind)); drawIndexes(); onchange(); indexes.querySelector('fieldset:last-of-type input').focus(); } }, `Add ${kind === 'GSI' ? 'global' : 'local'} index`))));
  }
  function drawCapacity() {
    const number = (label, name) => field(label, h('input', { type: 'number', min: '1', value: state[name], oninput: (event) => { state[name] = event.target.value; onchange(); } }));
    show(capacity, state.billing === 'PROVISIONED' && [number('Read units', 'read'), number('Write units', 'write')]);
  }
  const name = h('input', { class: 'mono-input', value: state.name, autofocus: true, oninput: () => { state.name = name.value.trim(); onchange(); } });
  const billing = select([['PAY_PER_REQUEST', 'On demand'], ['PROVISIONED', 'Provisioned']], { value: state.billing, onchange: () => { state.billing = billing.value; drawCapacity(); onchange(); } });
  const stream = select(STREAM_VIEWS, { value: state.stream, onchange: () => { state.stream = stream.value; onchange(); } });
  const protection = h('input', { type: 'checkbox', id: uniqueId('protection'), checked: state.protection, onchange: () => { state.protection = protection.checked; onchange(); } });
  drawIndexes();
  drawCapacity();
  show(root, field('Table name', name), keyFields('Partition key', state.hash, onchange), keyFields('Sort key (optional)', state.range, onchange), indexes,
    h('div', { class: 'row' }, field('Capacity', billing), capacity, field('Stream', stream)), h('div', { class: 'check' }, protection, h('label', { for: protection.id }, 'Protect from deletion')));
  return root;
}
