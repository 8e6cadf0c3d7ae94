// document.js -- the model that is open: its tree, steps back, and what the rows of the sample are.
// The tree is that of the file, so whatever is unknown here stays in its place. No DOM.

import { extract, fill, parametersOf } from './template.js';

// Numbers whose text JavaScript would change keep it.
function keepText(name, value, context) {
  const raw = typeof value === 'number' && context && String(value) !== context.source;
  return raw && JSON.rawJSON ? JSON.rawJSON(context.source) : value;
}

export const parse = (text) => JSON.parse(text, keepText);
export const format = (root) => `${JSON.stringify(root, null, 2)}\n`;

const STEPS_MAX = 50;
const STEPS_SIZE_MAX = 32 * 1024 * 1024; // Characters.

export function blank(name) {
  const key = (AttributeName) => ({ AttributeName, AttributeType: 'S' });
  return {
    ModelName: name,
    ModelMetadata: { Author: '', DateCreated: '', DateLastModified: '', Description: '', AWSService: 'Amazon DynamoDB', Version: '3.0' },
    DataModel: [{ TableName: 'main', KeyAttributes: { PartitionKey: key('PK'), SortKey: key('SK') }, NonKeyAttributes: [], GlobalSecondaryIndexes: [], TableData: [], DataAccess: { MySql: {} }, BillingMode: 'PAY_PER_REQUEST' }],
    Stator: { Entities: [], Patterns: [] },
  };
}

export class Document {
  constructor(text, { name = 'model.json', handle = null } = {}) {
    this.root = parse(text);
    this.text = text;
    this.saved = text;
    this.steps = []; // Texts before changes.
    Object.assign(this, { name, handle });
  }

  get isChanged() {
    return this.text !== this.saved;
  }

  get title() {
    return this.root.ModelName || this.name;
  }

  // Changes the tree; one step back undoes all that `change` does. If it fails half way, nothing is
  // changed. Returns whether something was.
  edit(change) {
    const before = this.text;
    try {
      change(this.root);
    } catch (error) {
      this.root = parse(before);
      throw error;
    }
    this.text = format(this.root);
    if (this.text === before) return false;
    this.steps.push(before);
    let size = this.steps.reduce((sum, one) => sum + one.length, 0);
    while (this.steps.length > STEPS_MAX || (size > STEPS_SIZE_MAX && this.steps.length > 1)) size -= this.steps.shift().length;
    return true;
  }

  undo() {
    if (this.steps.length === 0) return;
    this.text = this.steps.pop();
    this.root = parse(this.text);
  }

  // --- What is in it ---

  get tables() {
    return this.root.DataModel ?? [];
  }

  get entities() {
    return this.root.Stator?.Entities ?? [];
  }

  get patterns() {
    return this.root.Stator?.Patterns ?? [];
  }

  list(name) {
    this.root.Stator ??= {};
    this.root.Stator[name] ??= [];
    return this.root.Stator[name];
  }

  // The first table if none is named.
  table(name) {
    return name === undefined ? this.tables[0] : this.tables.find((one) => one.TableName === name);
  }

  entitiesOf(table) {
    return this.entities.filter((one) => this.table(one.Table) === table);
  }
}

// --- Tables ---

const key = (keys, role) => (keys?.[role] ? { name: keys[role].AttributeName, type: keys[role].AttributeType } : null);

// The table itself, then its indexes: { name (undefined: the table), hash, range, projects(attribute) }.
export function viewsOf(table) {
  const own = { hash: key(table.KeyAttributes, 'PartitionKey'), range: key(table.KeyAttributes, 'SortKey'), projects: () => true };
  const keys = [own.hash?.name, own.range?.name];
  return [own, ...(table.GlobalSecondaryIndexes ?? []).map((index) => {
    const { ProjectionType = 'ALL', NonKeyAttributes = [] } = index.Projection ?? {};
    const hash = key(index.KeyAttributes, 'PartitionKey');
    const range = key(index.KeyAttributes, 'SortKey');
    const names = new Set([...keys, hash?.name, range?.name, ...(ProjectionType === 'INCLUDE' ? NonKeyAttributes : [])]);
    return { name: index.IndexName, hash, range, projection: ProjectionType, projects: (name) => ProjectionType === 'ALL' || names.has(name) };
  })];
}

// Rows are in the table or in its facets.
export const rowListsOf = (table) => [table.TableData, ...(table.TableFacets ?? []).map((facet) => facet.TableData)].filter(Array.isArray);
export const rowsOf = (table) => rowListsOf(table).flat();

export function addRows(table, rows) {
  const names = [table.KeyAttributes?.PartitionKey, table.KeyAttributes?.SortKey].filter(Boolean).map((one) => one.AttributeName);
  const idOf = (row) => JSON.stringify(names.map((name) => row[name]));
  const lists = rowListsOf(table);
  if (lists.length === 0) {
    table.TableData = [];
    lists.push(table.TableData);
  }
  const places = new Map(lists.flatMap((list) => list.map((row, i) => [idOf(row), [list, i]])));
  for (const row of rows) {
    const place = places.get(idOf(row));
    if (place) place[0][place[1]] = row; // The same key: the same item.
    else places.set(idOf(row), [lists[0], lists[0].push(row) - 1]);
  }
  listAttributes(table, rows);
}

// Workbench wants every attribute to be listed.
function listAttributes(table, rows) {
  const known = new Set([table.KeyAttributes?.PartitionKey?.AttributeName, table.KeyAttributes?.SortKey?.AttributeName, ...(table.NonKeyAttributes ?? []).map((one) => one.AttributeName)]);
  for (const row of rows) {
    for (const [AttributeName, value] of Object.entries(row)) {
      if (known.has(AttributeName)) continue;
      known.add(AttributeName);
      (table.NonKeyAttributes ??= []).push({ AttributeName, AttributeType: Object.keys(value)[0] });
    }
  }
}

// --- Entities ---

export const textOf = (value) => value?.S ?? value?.N ?? value?.B;
export const keysOf = (entity, index) => (entity.Keys ?? []).find((one) => one.Index === index);

function follows(entity, table, row) {
  const keys = keysOf(entity);
  const hash = key(table.KeyAttributes, 'PartitionKey');
  const range = key(table.KeyAttributes, 'SortKey');
  const fits = (template, attribute) => !template || !attribute || (textOf(row[attribute.name]) !== undefined && extract(template, textOf(row[attribute.name])) !== null);
  return fits(keys?.PartitionKey, hash) && fits(keys?.SortKey, range);
}

// The entity of a row: by its discriminator and keys, or null.
export function entityOf(entities, table, row) {
  const by = ({ Discriminator }) => !Discriminator || row[Discriminator.Attribute]?.S === Discriminator.Value;
  return entities.find((one) => by(one) && follows(one, table, row)) ?? entities.find((one) => one.Discriminator && by(one)) ?? null;
}

// The names of entities by the model that GetModel shows: a function of a row, which may return null.
// `keys`: of the table, as core/tables.js has them.
export function entityNames(text, { hash, range }) {
  const { Entities: entities = [] } = JSON.parse(text);
  const [PartitionKey, SortKey] = [hash[0], range[0]].map((one) => one && { AttributeName: one.name, AttributeType: one.type });
  return (row) => entityOf(entities, { KeyAttributes: { PartitionKey, SortKey } }, row)?.Name ?? null;
}

// What the parameters of an entity stand for in a row: by its keys, and by attributes of their names.
export function parametersIn(entity, table, row) {
  const values = {};
  for (const [name, value] of Object.entries(row)) {
    const text = value.S ?? value.N;
    if (text !== undefined) values[name] = text;
  }
  for (const view of viewsOf(table)) {
    const keys = keysOf(entity, view.name);
    for (const [template, attribute] of [[keys?.PartitionKey, view.hash], [keys?.SortKey, view.range]]) {
      const text = attribute && textOf(row[attribute.name]);
      if (template && text !== undefined) Object.assign(values, extract(template, text));
    }
  }
  return values;
}

// A key without parameters such as STATUS#open is for the items that have that status.
function isWanted(template, values) {
  if (parametersOf(template).length > 0) return true;
  const words = template.split('#');
  const names = new Map(Object.entries(values).map(([name, value]) => [name.toUpperCase(), value]));
  return words.every((word, i) => !names.has(word) || i + 1 >= words.length || names.get(word) === words[i + 1]);
}

// Gives a row the keys of indexes that it lacks and that can be told. Returns their names.
export function fillKeys(entity, table, row) {
  const values = parametersIn(entity, table, row);
  const added = [];
  for (const view of viewsOf(table).slice(1)) {
    const keys = keysOf(entity, view.name);
    if (!keys?.PartitionKey || !view.hash || !isWanted(keys.PartitionKey, values)) continue;
    const wanted = [[keys.PartitionKey, view.hash], ...(view.range ? [[keys.SortKey, view.range]] : [])].filter(([, attribute]) => row[attribute.name] === undefined);
    const texts = wanted.map(([template]) => template && fill(template, values));
    if (!texts.every((text) => text)) continue;
    wanted.forEach(([, attribute], i) => {
      row[attribute.name] = { [attribute.type]: texts[i] };
      added.push(attribute.name);
    });
  }
  return added;
}

// --- Changes as JSON Patch, as far as CheckModel uses it ---

const partsOf = (path) => path.split('/').slice(1).map((part) => part.replace(/~1/g, '/').replace(/~0/g, '~'));

function place(root, path) {
  const parts = partsOf(path);
  const last = parts.pop();
  return [parts.reduce((node, part) => node[part], root), last];
}

export function applyPatch(root, patch) {
  for (const { op, path, value } of patch) {
    const [parent, last] = place(root, path);
    if (op === 'remove') delete parent[last];
    else if (Array.isArray(parent) && last === '-') parent.push(parse(JSON.stringify(value)));
    else parent[last] = parse(JSON.stringify(value));
  }
}

// The lines of a patch: { where, before, after }, of which one may be undefined.
export function describePatch(root, patch) {
  return patch.map(({ op, path, value }) => {
    const [parent, last] = place(root, path);
    const parts = partsOf(path);
    const names = parts.map((part, i) => {
      const node = parts.slice(0, i + 1).reduce((at, one) => at?.[one], root);
      return node?.Name ?? node?.TableName ?? node?.IndexName ?? part;
    }).filter((name) => !['Stator', 'DataModel', '-'].includes(name));
    const before = last === '-' ? undefined : parent[last];
    return { where: names.join(' › '), before: before === undefined ? undefined : JSON.stringify(before), after: op === 'remove' ? undefined : JSON.stringify(value) };
  });
}

// Applies a patch, and gives the rows of the sample the keys that it asks for. Returns how many.
export function applySuggestion(doc, patch) {
  let count = 0;
  doc.edit((root) => {
    applyPatch(root, patch);
    for (const table of doc.tables) {
      const entities = doc.entitiesOf(table);
      const changed = rowsOf(table).filter((row) => {
        const entity = entityOf(entities, table, row);
        return entity && fillKeys(entity, table, row).length > 0;
      });
      listAttributes(table, changed);
      count += changed.length;
    }
  });
  return count;
}
