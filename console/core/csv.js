// csv.js -- CSV with typed headers ("price:N"), and items from and to files of any size. No DOM.
//
// A file is read piece by piece: a reader takes pieces of text, keeps what is not whole yet, and yields
// { line, item } or { line, item: null, error } for each item. `isLast` in such an entry: the reader
// cannot tell where the next item begins, and yields nothing more.

import { formatDynamo, formatPlain, lineOf, parseDynamo, parsePlain } from './json_text.js';
import { isBase64, normaliseNumber } from './value.js';

export const FORMATS = {
  dynamo: { label: 'DynamoDB JSON lines', extension: 'jsonl' },
  plain: { label: 'Plain JSON lines', extension: 'jsonl' },
  csv: { label: 'CSV', extension: 'csv' },
};

// --- CSV ---

const quote = (text) => (/[",\r\n]|^\s|\s$/.test(text) || text === '' ? `"${text.replace(/"/g, '""')}"` : text);

// The end of the text that begins at `at`, inside of quotes; -1 if it is not here.
function closingQuote(text, at) {
  for (let end = text.indexOf('"', at); end >= 0; end = text.indexOf('"', end + 2)) if (text[end + 1] !== '"') return end;
  return -1;
}

// The record at `from`, as { fields, end }; null if more of the file is needed. Ends may be \n, \r\n or
// \r; fields in quotes may hold them. A field without quotes that is empty is null: an absent attribute.
function recordAt(text, from, isWhole) {
  const fields = [];
  const DELIMITER = /[,\r\n]/g;
  for (let at = from; ;) {
    const isQuoted = text[at] === '"';
    let end;
    if (isQuoted) {
      end = closingQuote(text, at + 1) + 1;
      if (end === 0) {
        if (isWhole) throw new Error('A field begins with a quote that is not closed');
        return null;
      }
    } else {
      DELIMITER.lastIndex = at;
      end = DELIMITER.exec(text)?.index ?? text.length;
    }
    if (!isWhole && end + 1 >= text.length) return null; // The next character may belong to this one.
    fields.push(isQuoted ? text.slice(at + 1, end - 1).replace(/""/g, '"') : end === at ? null : text.slice(at, end));
    const next = text[end];
    if (next === '\r' || next === '\n' || next === undefined) return { fields, end: end + (text.startsWith('\r\n', end) ? 2 : 1) };
    if (next !== ',') throw new Error('A field continues after its closing quote');
    at = end + 1;
  }
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

function columnsOfHead(fields) {
  return fields.map((head) => {
    const match = /^(.*):(S|N|B|BOOL|NULL|M|L|SS|NS|BS)$/s.exec(head ?? '');
    return match ? { name: match[1], t: match[2] } : { name: head, t: 'S' };
  });
}

function itemOfFields(columns, fields) {
  const item = new Map();
  fields.forEach((field, i) => {
    if (field !== null && columns[i]?.name) item.set(columns[i].name, fromCell(field, columns[i].t));
  });
  return item;
}

// --- Readers ---

const PIECE_SIZE_MAX = 8 * 1024 * 1024; // An item has 400 KB; what is longer than this is none.
const TOO_LONG = `No item ends within ${PIECE_SIZE_MAX} characters`;

function entry(line, make) {
  try {
    return { line, item: make() };
  } catch (error) {
    return { line, item: null, error };
  }
}

const fault = (line, message) => ({ line, item: null, error: new Error(message), isLast: true });

function csvReader() {
  let columns = null;
  let rest = '';
  let line = 1;
  return function* read(text, isWhole) {
    rest += text;
    let at = 0;
    while (at < rest.length) {
      let record;
      try {
        record = recordAt(rest, at, isWhole);
      } catch (error) {
        yield fault(line, error.message);
        return;
      }
      if (!record) break;
      const { fields, end } = record;
      const isBlank = fields.length === 1 && fields[0] === null;
      if (!isBlank && columns) yield entry(line, () => itemOfFields(columns, fields));
      else if (!isBlank) columns = columnsOfHead(fields);
      line += rest.slice(at, end).match(/\r\n|\r|\n/g)?.length ?? 0;
      at = end;
    }
    rest = rest.slice(at);
    if (rest.length > PIECE_SIZE_MAX) yield fault(line, TOO_LONG);
  };
}

// DynamoDB JSON may be wrapped as exports of the service are: {"Item": {…}}.
function itemOfJson(format, text) {
  if (format === 'plain') return parsePlain(text);
  const isWrapped = /^\s*\{\s*"Item"\s*:\s*\{\s*"[^"]*"\s*:\s*\{/.test(text);
  return parseDynamo(isWrapped ? text.replace(/^\s*\{\s*"Item"\s*:/, '').replace(/\}\s*$/, '') : text);
}

function lineReader(format) {
  let rest = '';
  let line = 0;
  return function* read(text, isWhole) {
    const lines = (rest + text).split('\n');
    rest = isWhole ? '' : lines.pop();
    for (const one of lines) {
      line += 1;
      if (one.trim() !== '') yield entry(line, () => itemOfJson(format, one));
    }
    if (rest.length > PIECE_SIZE_MAX) yield fault(line + 1, TOO_LONG);
  };
}

// The items of one JSON text: the objects `depth` levels deep, until their array ends.
function arrayReader(format, depth) {
  let rest = '';
  let at = 0; // So far `rest` has been looked at.
  let from = -1; // Where the item begins.
  let level = 0;
  let inText = false;
  let line = 1;
  let start = 1;
  let isOver = false;
  return function* read(text, isWhole) {
    rest += text;
    for (; at < rest.length && !isOver; at += 1) {
      const char = rest[at];
      if (char === '\n') line += 1;
      if (inText) {
        if (char === '\\') at += 1;
        else if (char === '"') inText = false;
      } else if (level === depth && !' \t\r\n,{]'.includes(char)) {
        yield fault(line, 'Expected an item');
        return;
      } else if (char === '"') inText = true;
      else if (char === '{' || char === '[') {
        if (level === depth) [from, start] = [at, line];
        level += 1;
      } else if (char === '}' || char === ']') {
        level -= 1;
        isOver = level < depth;
        if (level === depth) {
          const item = rest.slice(from, at + 1);
          yield entry(start, () => itemOfJson(format, item));
          rest = rest.slice(at + 1);
          [at, from] = [-1, -1];
        }
      }
    }
    if (isOver) rest = '';
    else if (isWhole) yield fault(start, 'The file ends before its array does');
    else if (rest.length > PIECE_SIZE_MAX) yield fault(start, TOO_LONG);
  };
}

// By how the file begins: an array of items, an answer of Scan or Query, or an item per line.
function readerOf(format, start) {
  if (format === 'csv') return csvReader();
  if (/^\s*\[/.test(start)) return arrayReader(format, 1);
  return /^\s*\{\s*"Items"\s*:\s*\[/.test(start) ? arrayReader(format, 2) : lineReader(format);
}

// --- Files ---

export function toText(format, items, columns) {
  if (format === 'csv') return toCsv(items, columns);
  const print = format === 'dynamo' ? formatDynamo : formatPlain;
  return items.map((item) => `${lineOf(print(item))}\n`).join('');
}

export async function* fromFile(format, file) {
  const decoder = new TextDecoder();
  const pieces = file.stream().getReader();
  let read;
  for (;;) {
    const { value, done } = await pieces.read();
    const text = done ? decoder.decode() : decoder.decode(value, { stream: true });
    read ??= readerOf(format, text);
    for (const one of read(text, done)) {
      yield one;
      if (one.isLast) return;
    }
    if (done) return;
  }
}

export const fromText = (format, text) => readerOf(format, text)(text, true);
