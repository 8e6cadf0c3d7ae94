// csv.js -- CSV with typed headers ("price:N"), and items from and to lines of files. No DOM.

import { formatDynamo, formatPlain, lineOf, parseDynamo, parsePlain } from './json_text.js';
import { isBase64, normaliseNumber } from './value.js';

export const FORMATS = {
  dynamo: { label: 'DynamoDB JSON lines', extension: 'jsonl' },
  plain: { label: 'Plain JSON lines', extension: 'jsonl' },
  csv: { label: 'CSV', extension: 'csv' },
};

// --- CSV ---

const quote = (text) => (/[",\r\n]|^\s|\s$/.test(text) || text === '' ? `"${text.replace(/"/g, '""')}"` : text);

// Splits a text into records; ends may be \n or \r\n, quoted fields may hold both.
export function* records(text) {
  let fields = [];
  let at = 0;
  const FIELD = /"((?:[^"]|"")*)"(,|\r?\n|$)|([^,\r\n]*)(,|\r?\n|\r|$)/y;
  while (at < text.length) {
    FIELD.lastIndex = at;
    const match = FIELD.exec(text);
    if (!match) throw new Error(`The quotes of a field near character ${at + 1} do not fit`);
    // An empty field without quotes is an absent attribute; "" is an empty text.
    fields.push(match[1] !== undefined ? match[1].replace(/""/g, '"') : match[3] === '' ? null : match[3]);
    at = FIELD.lastIndex;
    if ((match[2] ?? match[4]) !== ',') {
      if (fields.length > 1 || fields[0] !== null) yield fields;
      fields = [];
    } else if (at >= text.length) fields.push(null);
  }
  if (fields.length) yield fields;
}

const JSON_TYPES = new Set(['M', 'L', 'SS', 'NS', 'BS']);

function cell(value, type) {
  if (value === undefined) return '';
  if (value.t === 'NULL') return 'null';
  return quote(JSON_TYPES.has(type) ? lineOf(formatPlain(new Map([['v', value]]))) : String(value.v));
}

// The columns of items: name and type; an attribute with values of several types gets several columns.
export function columnsOf(items) {
  const seen = new Map();
  for (const item of items) for (const [name, { t }] of item) seen.set(`${name}\u0000${t}`, { name, t });
  return [...seen.values()];
}

export function toCsv(items, columns = columnsOf(items)) {
  const head = columns.map(({ name, t }) => quote(`${name}:${t}`)).join(',');
  const lines = items.map((item) => columns.map(({ name, t }) => (item.get(name)?.t === t ? cell(item.get(name), t) : '')).join(','));
  return `${[head, ...lines].join('\r\n')}\r\n`;
}

function fromCell(text, type) {
  switch (type) {
    case 'N': return { t: 'N', v: normaliseNumber(text) };
    case 'BOOL': if (!/^(true|false)$/i.test(text)) throw new Error(`"${text}" is neither true nor false`); return { t: 'BOOL', v: /^true$/i.test(text) };
    case 'NULL': return { t: 'NULL', v: true };
    case 'B': if (!isBase64(text)) throw new Error(`"${text}" is not base64`); return { t: 'B', v: text };
    case 'S': return { t: 'S', v: text };
    default: return parsePlain(text).get('v');
  }
}

function* fromCsv(text) {
  let columns = null;
  let line = 0;
  for (const fields of records(text.replace(/^\ufeff/, ''))) {
    line += 1;
    if (!columns) {
      columns = fields.map((head) => {
        const match = /^(.*):(S|N|B|BOOL|NULL|M|L|SS|NS|BS)$/s.exec(head ?? '');
        return match ? { name: match[1], t: match[2] } : { name: head, t: 'S' };
      });
      continue;
    }
    let item = new Map();
    let error;
    try {
      fields.forEach((field, i) => {
        if (field === null || field === undefined || !columns[i]?.name) return;
        const value = fromCell(field, columns[i].t);
        item.set(columns[i].name, value);
      });
    } catch (caught) {
      error = caught;
      item = null;
    }
    yield { line, item, error };
  }
}

// --- Files ---

export function toText(format, items, columns) {
  if (format === 'csv') return toCsv(items, columns);
  const print = format === 'dynamo' ? formatDynamo : formatPlain;
  return items.map((item) => `${lineOf(print(item))}\n`).join('');
}

// The same for a file of any size: lines are read as they are needed. CSV is read as a whole, since
// its fields may hold line ends.
export async function* fromFile(format, file) {
  if (format === 'csv') {
    yield* fromCsv(await file.text());
    return;
  }
  const decoder = new TextDecoder();
  const reader = file.stream().getReader();
  let rest = '';
  let line = 0;
  for (;;) {
    const { value, done } = await reader.read();
    rest += done ? decoder.decode() : decoder.decode(value, { stream: true });
    const end = done ? rest.length : rest.lastIndexOf('\n') + 1;
    for (const entry of fromText(format, rest.slice(0, end))) yield { ...entry, line: line + entry.line };
    line += rest.slice(0, end).split('\n').length - 1;
    rest = rest.slice(end);
    if (done) return;
  }
}

// { line, item } or { line, error } for each item of a text. DynamoDB JSON may be wrapped as exports
// of the service are: {"Item": {…}}.
export function* fromText(format, text) {
  if (format === 'csv') {
    yield* fromCsv(text);
    return;
  }
  let line = 0;
  for (const one of text.split('\n')) {
    line += 1;
    if (one.trim() === '') continue;
    try {
      const isWrapped = format === 'dynamo' && /^\s*\{\s*"Item"\s*:\s*\{\s*"[^"]*"\s*:\s*\{/.test(one);
      const item = format === 'plain' ? parsePlain(one) : parseDynamo(isWrapped ? one.replace(/^\s*\{\s*"Item"\s*:/, '').replace(/\}\s*$/, '') : one);
      yield { line, item };
    } catch (error) {
      yield { line, item: null, error };
    }
  }
}
