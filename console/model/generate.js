// generate.js -- rows for the sample: values by kind, keys by the templates of their entity, and ids
// that refer to rows that are there. From a seed, so that a model can be made again. No DOM.

import { base64Of } from '../core/value.js';
import { entityOf, fillKeys, keysOf, parametersIn, rowsOf, viewsOf } from './document.js';
import { fill, parametersOf } from './template.js';

const FIRST = ['Ada', 'Grace', 'Alan', 'Edsger', 'Barbara', 'Radia', 'Leslie', 'Donald', 'Frances', 'Ken'];
const LAST = ['Stone', 'Rivers', 'Fields', 'Woods', 'Hill', 'Marsh', 'Lake', 'Brook', 'Heath', 'Shore'];
const WORDS = ['amber', 'birch', 'cedar', 'delta', 'ember', 'fjord', 'grove', 'harbor', 'iris', 'juniper', 'kite', 'lotus', 'maple', 'north', 'olive', 'pine'];

// The same numbers for the same seed (mulberry32).
export function chanceOf(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const BASE = Date.UTC(2026, 0, 1);
const DAY = 86_400_000;
const pick = (list, chance) => list[Math.floor(chance() * list.length)];
const hex = (size, chance) => Array.from({ length: size }, () => Math.floor(chance() * 16).toString(16)).join('');

// What a kind is called, and what it makes: a text of which the type of the attribute is made.
export const KINDS = {
  counter: (chance, n) => String(n + 1).padStart(4, '0'),
  uuid: (chance) => `${hex(8, chance)}-${hex(4, chance)}-4${hex(3, chance)}-a${hex(3, chance)}-${hex(12, chance)}`,
  name: (chance) => `${pick(FIRST, chance)} ${pick(LAST, chance)}`,
  email: (chance, n) => `${pick(FIRST, chance).toLowerCase()}${n + 1}@example.com`,
  word: (chance) => pick(WORDS, chance),
  sentence: (chance) => Array.from({ length: 8 }, () => pick(WORDS, chance)).join(' '),
  date: (chance) => new Date(BASE + Math.floor(chance() * 300) * DAY).toISOString().slice(0, 10),
  time: (chance) => new Date(BASE + Math.floor(chance() * 300 * DAY)).toISOString().slice(0, 19) + 'Z',
  seconds: (chance) => String(Math.floor((BASE + chance() * 300 * DAY) / 1000)),
  number: (chance) => String(Math.floor(chance() * 1000)),
  price: (chance) => (chance() * 200).toFixed(2),
  boolean: (chance) => String(chance() < 0.5),
};

const KNOWN = [[/mail/i, 'email'], [/(^|_)(name|owner|author|customer|user)$|Name$/i, 'name'], [/price|total|amount|cost/i, 'price'], [/ttl|expire|epoch/i, 'seconds'], [/date|day|month/i, 'date'], [/time|(At|On)$/, 'time'], [/count|quantity|size|number|age/i, 'number'], [/uuid|guid/i, 'uuid'], [/id$|sku|code|key/i, 'counter'], [/text|description|title|note/i, 'sentence']];
const TYPED = { N: 'number', BOOL: 'boolean' };

// "number 5..10", "one of open, paid": a kind with choices. Null if it makes no sense.
export function kindOf(text) {
  const range = /^number\s+(-?\d+)\s*\.\.\s*(-?\d+)$/.exec(text);
  if (range) return (chance) => String(Number(range[1]) + Math.floor(chance() * (Number(range[2]) - Number(range[1]) + 1)));
  const choice = /^one of\s+(.+)$/.exec(text);
  if (choice) return (chance) => pick(choice[1].split(',').map((one) => one.trim()), chance);
  return Object.hasOwn(KINDS, text) ? KINDS[text] : null;
}

const guess = (name, type) => TYPED[type] ?? KNOWN.find(([pattern]) => pattern.test(name))?.[1] ?? 'word';

function templatesOf(entity) {
  return (entity.Keys ?? []).flatMap((one) => [one.PartitionKey, one.SortKey]).filter(Boolean);
}

// The names that need values, with the kinds that they would get: parameters and attributes.
export function needsOf(doc, entity) {
  const table = doc.table(entity.Table);
  const attributes = new Map((entity.Attributes ?? []).map((one) => [one.Name, one.Type ?? 'S']));
  const keys = new Set(viewsOf(table).filter((view) => !view.name || keysOf(entity, view.name)).flatMap((view) => [view.hash?.name, view.range?.name]));
  const parameters = new Set(templatesOf(entity).flatMap(parametersOf));
  const others = doc.entitiesOf(table).filter((one) => one !== entity);
  const isForeign = (name) => parametersOf(keysOf(entity)?.PartitionKey).includes(name) && others.some((one) => [keysOf(one)?.PartitionKey, keysOf(one)?.SortKey].some((template) => parametersOf(template).includes(name)));
  const names = [...parameters, ...[...attributes.keys()].filter((name) => !parameters.has(name) && !keys.has(name) && name !== entity.Discriminator?.Attribute)];
  return names.map((name) => ({ name, type: attributes.get(name) ?? 'S', kind: entity.Samples?.[name] ?? (isForeign(name) ? 'existing' : parameters.has(name) && !KNOWN.some(([pattern]) => pattern.test(name)) ? 'counter' : guess(name, attributes.get(name))) }));
}

const bytesOf = (text) => base64Of(new TextEncoder().encode(text));

function valueOf(type, text, chance) {
  switch (type) {
    case 'N': return { N: /^-?\d+(\.\d+)?$/.test(text) ? text : String(Math.floor(chance() * 1000)) };
    case 'BOOL': return { BOOL: text === 'true' };
    case 'NULL': return { NULL: true };
    case 'B': return { B: bytesOf(text) };
    case 'SS': return { SS: [text] };
    case 'NS': return { NS: [/^-?\d+(\.\d+)?$/.test(text) ? text : '1'] };
    case 'BS': return { BS: [bytesOf(text)] };
    case 'L': return { L: [{ S: text }] };
    case 'M': return { M: { value: { S: text } } };
    default: return { S: text };
  }
}

// `count` rows of an entity. Kinds: name -> kind, as needsOf has them.
export function generate(doc, entity, count, kinds, seed = 1) {
  const table = doc.table(entity.Table);
  const entities = doc.entitiesOf(table);
  const chance = chanceOf(seed);
  const known = {};
  let start = 0;
  for (const row of rowsOf(table)) {
    const of = entityOf(entities, table, row);
    if (!of) continue;
    if (of === entity) start += 1;
    for (const [name, value] of Object.entries(parametersIn(of, table, row))) if (of !== entity) (known[name] ??= new Set()).add(value);
  }
  const pools = Object.fromEntries(Object.entries(known).map(([name, set]) => [name, [...set]]));
  const needs = needsOf(doc, entity).map((one) => ({ ...one, kind: kinds?.[one.name] ?? one.kind }));
  const makers = needs.map(({ name, kind }) => (kind === 'existing' && pools[name] ? () => pick(pools[name], chance) : (kindOf(kind) ?? KINDS.counter)));
  const attributes = new Set((entity.Attributes ?? []).map((one) => one.Name));
  const [own] = viewsOf(table);
  const keys = keysOf(entity) ?? {};
  return Array.from({ length: count }, (_, i) => {
    const values = Object.fromEntries(needs.map(({ name }, at) => [name, makers[at](chance, start + i)]));
    const row = {};
    for (const [template, attribute] of [[keys.PartitionKey ?? '<id>', own.hash], [keys.SortKey ?? '<id>', own.range]]) {
      if (attribute) row[attribute.name] = { [attribute.type]: fill(template, { id: KINDS.counter(chance, start + i), ...values }) ?? String(start + i) };
    }
    if (entity.Discriminator) row[entity.Discriminator.Attribute] = { S: entity.Discriminator.Value };
    for (const { name, type } of needs) if (attributes.has(name)) row[name] = valueOf(type, values[name], chance);
    const temporary = { ...row, ...Object.fromEntries(Object.entries(values).filter(([name]) => row[name] === undefined).map(([name, text]) => [name, { S: text }])) };
    for (const name of fillKeys(entity, table, temporary)) row[name] = temporary[name];
    return row;
  });
}
