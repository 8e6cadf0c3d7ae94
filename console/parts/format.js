// format.js -- what a value probably means, for people. Only shows; nothing here changes a value.

import { countAtEnd } from '../core/value.js';

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const STEPS = [['year', 31_536_000], ['month', 2_592_000], ['day', 86_400], ['hour', 3600], ['minute', 60], ['second', 1]];

export function fromNow(ms) {
  const seconds = (ms - Date.now()) / 1000;
  const [unit, size] = STEPS.find(([, step]) => Math.abs(seconds) >= step) ?? STEPS.at(-1);
  return relative.format(Math.round(seconds / size), unit);
}

const at = (ms) => `${new Date(ms).toISOString().replace('.000Z', 'Z')}, ${fromNow(ms)}`;
const plausible = (ms) => ms > 315_532_800_000 && ms < 7_258_118_400_000; // 1980 to 2200.

function ulidTime(text) {
  let ms = 0;
  for (const char of text.slice(0, 10)) ms = ms * 32 + CROCKFORD.indexOf(char);
  return ms;
}

// One line, or null. `isExpiry`: the table's TTL attribute.
export function meaning({ t, v }, { isExpiry = false } = {}) {
  if (t === 'N') {
    if (isExpiry && /^\d{1,12}$/.test(v)) return `expires ${fromNow(Number(v) * 1000)}`;
    if (/^\d{10}$/.test(v) && plausible(Number(v) * 1000)) return `as seconds: ${at(Number(v) * 1000)}`;
    if (/^\d{13}$/.test(v) && plausible(Number(v))) return `as milliseconds: ${at(Number(v))}`;
    return null;
  }
  if (t === 'S') {
    if (/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/.test(v) && plausible(ulidTime(v))) return `ULID of ${at(ulidTime(v))}`;
    const uuid = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[89ab]/i.exec(v);
    if (uuid && plausible(parseInt(uuid[1] + uuid[2], 16))) return `UUIDv7 of ${at(parseInt(uuid[1] + uuid[2], 16))}`;
    if (/^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(v) && !Number.isNaN(Date.parse(v))) return fromNow(Date.parse(v));
    if (/^[[{]/.test(v) && v.length < 100_000) {
      try {
        JSON.parse(v);
        return 'JSON in a text';
      } catch { /* Just a text. */ }
    }
    return v === '' ? 'empty text' : null;
  }
  if (t === 'B') {
    const size = (v.length / 4) * 3 - countAtEnd(v, '=');
    return `${size} bytes${v.startsWith('H4sI') ? ', gzip' : ''}`;
  }
  return null;
}

// The same for a cell of a grid, where long texts are not looked into.
const CELL_SIZE_MAX = 64;
export function cellMeaning(raw) {
  const text = raw.N ?? raw.S;
  return text !== undefined && text.length <= CELL_SIZE_MAX ? meaning({ t: raw.N === undefined ? 'S' : 'N', v: text }) : null;
}

// --- Entities: which kind of thing an item is ---

const DISCRIMINATORS = ['entityType', 'EntityType', 'entity', '_et', '__edb_e__', '_type', '__typename', 'type', 'Type', 'kind', 'itemType'];

// The attribute that tells entities apart: the one chosen, or a usual name that most items have.
export function discriminator(rows, chosen) {
  if (chosen) return chosen;
  const sample = rows.slice(0, 200);
  return DISCRIMINATORS.find((name) => sample.length > 0 && sample.filter((row) => row[name]?.S).length > sample.length / 2) ?? null;
}

const prefix = (value) => /^([A-Za-z][A-Za-z_-]{0,30})[#:|]/.exec(value?.S ?? '')?.[1];

// The name of an item's entity, or null: by its discriminator, or by the prefixes of its keys.
export function entityOf(row, attribute, keys) {
  if (attribute) return row[attribute]?.S ?? null;
  // The sort key says more: USER#7 has the orders of a user, ORDER#9 is one.
  return keys.map((key) => prefix(row[key])).filter(Boolean).at(-1) ?? null;
}

export function hueOf(name) {
  let hash = 7;
  for (const char of name) hash = (hash * 31 + char.codePointAt(0)) % 3600;
  return Math.round((hash * 137.5) % 360);
}
