// transfer.js -- items to files and back: streamed, with progress, a stop button and a report.

import { call } from '../core/api.js';
import { columnsOf, FORMATS, fromFile, fromText, toText } from '../core/csv.js';
import { dialog } from '../core/dialog.js';
import { counted, field, h, select, show } from '../core/dom.js';
import { keyNames, typeOf } from '../core/tables.js';
import { insertRequest } from '../core/update.js';
import { base64Of, bytesOf, equalItems, itemFromDynamo, itemProblem, itemToDynamo, normaliseNumber, pathText } from '../core/value.js';
import { download, Problems, withProgress } from './progress.js';

const formats = Object.entries(FORMATS).map(([id, { label }]) => [id, label]);
const AT_ONCE = 8;

// --- Calls that wait their turn ---

const WAITING = /^(ProvisionedThroughputExceededException|ThrottlingException|RequestLimitExceeded|TransactionConflictException|Unreachable)$/;
const ATTEMPTS_MAX = 8;
const PAUSE_MS = 50; // Doubles each time.

const pause = (ms, signal) => new Promise((resolve) => {
  let timer;
  const end = () => {
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
    resolve();
  };
  timer = setTimeout(end, ms);
  signal.addEventListener('abort', end);
});

// Calls again if the service asks for patience or does not answer.
async function patiently(operation, parameters, signal) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await call(operation, parameters, { signal });
    } catch (error) {
      error.attempts = attempt;
      if (attempt === ATTEMPTS_MAX || !(WAITING.test(error.name) || error.status >= 500)) throw error;
    }
    await pause(PAUSE_MS * 2 ** attempt * (0.5 + Math.random() / 2), signal);
  }
}

// --- Export ---

// A place to write to: straight to disk where the browser can, or in memory and then as a download.
async function openFile(name) {
  if (window.showSaveFilePicker) {
    const handle = await window.showSaveFilePicker({ suggestedName: name });
    const stream = await handle.createWritable();
    return { write: (text) => stream.write(text), close: () => stream.close(), abort: () => stream.abort().catch(() => {}) };
  }
  const parts = [];
  return {
    write: (text) => parts.push(text),
    close: () => download(name, parts),
    abort: () => {},
  };
}

async function* pagesOf(request, signal) {
  let last;
  do {
    const page = await patiently(request.operation, last ? { ...request.parameters, ExclusiveStartKey: last } : request.parameters, signal);
    yield (page.Items ?? (page.Item ? [page.Item] : [])).map(itemFromDynamo);
    last = page.LastEvaluatedKey;
  } while (last && !signal.aborted);
}

export async function exportDialog(table, request, selected) {
  const format = select(formats);
  const what = select([...(selected.length ? [['selection', `${counted(selected.length)} selected items`]] : []), ['result', 'All items of this query'], ['table', 'The whole table']]);
  const ok = await dialog({
    title: 'Export items', body: [field('What', what), field('Format', format, { hint: 'DynamoDB JSON and CSV keep every type; CSV names it in the header, as in price:N.' })],
    actions: [{ label: 'Cancel', value: null }, { label: 'Export', value: true, primary: true }],
  });
  if (!ok) return;
  let file;
  try {
    file = await openFile(`${table.TableName}.${FORMATS[format.value].extension}`);
  } catch {
    return; // No file was chosen.
  }
  const source = what.value === 'table' ? { operation: 'Scan', parameters: { TableName: table.TableName } } : request;
  await withProgress('Exporting', (progress) => exportTo(file, {
    format: format.value, total: what.value === 'table' ? table.ItemCount : 0,
    pages: (signal) => (what.value === 'selection' ? [selected.map(itemFromDynamo)] : pagesOf(source, signal)),
  }, progress));
}

// Writes pages of items to a file and resolves to a report. Stop keeps what was written so far; after
// an error there is no file, because half of one would look like all of it.
async function exportTo(file, { format, total, pages }, { signal, report }) {
  let done = 0;
  const kept = []; // CSV needs all columns before its first line.
  try {
    try {
      for await (const items of pages(signal)) {
        if (format === 'csv') kept.push(...items);
        else await file.write(toText(format, items));
        done += items.length;
        report(done, total ? Math.max(done, total) : 0, 'items');
      }
    } catch (error) {
      if (error.name !== 'AbortError') throw error;
    }
    if (format === 'csv') await file.write(toText('csv', kept, columnsOf(kept)));
    await file.close();
  } catch (error) {
    await file.abort();
    return h('div', { class: 'notice bad' }, h('strong', null, error.name), h('p', null, error.message), h('p', null, `${counted(done)} items had been read. No file was written.`));
  }
  return h('div', { class: signal.aborted ? 'notice warn' : 'notice good' }, h('strong', null, `${counted(done)} items exported`), signal.aborted && h('p', null, 'Stopped before the end: the file has the items so far.'));
}

// --- Import ---

const RULES = [['fail', 'Skip items whose key exists'], ['replace', 'Replace items whose key exists']];

function checkItem(table, item) {
  const missing = keyNames(table).find((name) => item.get(name)?.t !== typeOf(table, name));
  if (missing) return `the key ${missing} is missing or has another type`;
  const wrong = itemProblem(item);
  return wrong ? `${pathText(wrong.path)}: ${wrong.message}` : null;
}

// Resolves to whether an import began.
export async function importDialog(table) {
  const file = h('input', { type: 'file', accept: '.json,.jsonl,.ndjson,.csv,.txt' });
  const format = select(formats);
  const rule = select(RULES);
  const dry = h('input', { type: 'checkbox', id: 'dry-run' });
  const preview = h('div');
  const START_SIZE = 64 * 1024;
  file.addEventListener('change', async () => {
    if (!file.files[0]) return;
    const start = await file.files[0].slice(0, START_SIZE).text();
    format.value = file.files[0].name.endsWith('.csv') ? 'csv' : /"\s*:\s*\{\s*"(S|N|B|M|L|BOOL|NULL|SS|NS|BS)"\s*:/.test(start) ? 'dynamo' : 'plain';
    const [first] = fromText(format.value, start.includes('\n') ? start.slice(0, start.lastIndexOf('\n')) : start);
    show(preview, h('p', { class: 'hint' }, first?.item ? `First item: ${[...first.item.keys()].join(', ')}` : first?.error?.message));
  });
  const ok = await dialog({
    title: `Import into ${table.TableName}`,
    body: [field('File', file), field('Format', format), field('Conflicts', rule), h('div', { class: 'check' }, dry, h('label', { for: 'dry-run' }, 'Only check the file')), preview],
    actions: [{ label: 'Cancel', value: null }, { label: 'Import', value: true, primary: true, check: () => file.files.length === 1 }],
  });
  if (!ok) return false;
  await withProgress('Importing', (progress) => importFile(table, { file: file.files[0], format: format.value, replace: rule.value === 'replace', dry: dry.checked }, progress));
  return true;
}

// The same for every spelling of a key.
function keyText(keys, item) {
  return JSON.stringify(keys.map((name) => {
    const { t, v } = item.get(name);
    return t === 'N' ? normaliseNumber(v) : t === 'B' ? base64Of(bytesOf(v)) : v;
  }));
}

// Writes one item. Resolves to false if its key exists.
async function writeItem(table, keys, item, replace, signal) {
  const request = replace ? { TableName: table, Item: itemToDynamo(item) } : { ...insertRequest(table, keys, item), ReturnValuesOnConditionCheckFailure: 'ALL_OLD' };
  try {
    await patiently('PutItem', request, signal);
    return true;
  } catch (error) {
    if (error.name !== 'ConditionalCheckFailedException') throw error;
    // An earlier attempt may have arrived whose answer did not.
    return error.attempts > 1 && error.body.Item !== undefined && equalItems(itemFromDynamo(error.body.Item), item);
  }
}

// Writes the items of a file, or of a Blob, and resolves to a report. Items with the same key are
// written in the order of the file.
export async function importFile(table, { file, format, replace, dry }, { signal, report }) {
  const counts = { written: 0, skipped: 0, failed: 0 };
  const problems = new Problems(`${table.TableName}-import.txt`);
  const keys = keyNames(table);
  const lines = fromFile(format, file);
  const writing = new Map(); // Key -> the last write of it that has begun: at most one per worker.
  let end = ''; // Why the rest of the file was not read.
  const fail = (line, message) => {
    counts.failed += 1;
    problems.add(`Line ${line}: ${message}`);
  };
  const write = async ({ line, item }, earlier) => {
    await earlier;
    if (signal.aborted) return;
    try {
      counts[await writeItem(table.TableName, keys, item, replace, signal) ? 'written' : 'skipped'] += 1;
    } catch (error) {
      if (error.name === 'AbortError') return;
      fail(line, error.message);
      if (error.name === 'Unreachable') end = error.message;
    }
  };
  const worker = async () => {
    for (;;) {
      const { value: entry, done } = await lines.next();
      if (done || signal.aborted || end) return;
      const wrong = entry.error?.message ?? checkItem(table, entry.item);
      if (entry.isLast) end = wrong;
      if (wrong) fail(entry.line, wrong);
      else if (dry) counts.written += 1;
      else {
        const key = keyText(keys, entry.item);
        const mine = write(entry, writing.get(key));
        writing.set(key, mine);
        await mine;
        if (writing.get(key) === mine) writing.delete(key);
      }
      report(counts.written + counts.skipped + counts.failed, 0, 'items');
    }
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
  } catch (error) {
    end = error.message; // The file cannot be read.
  }
  return h('div', { class: counts.failed || end ? 'notice warn' : 'notice good' },
    h('strong', null, `${counted(counts.written)} ${dry ? 'items are fine' : 'items written'}`),
    h('p', null, `${counted(counts.skipped)} skipped because their key exists, ${counted(counts.failed)} failed${signal.aborted ? '; stopped before the end' : ''}.`),
    end && h('p', null, `The rest of the file was not imported: ${end}`), problems.element());
}
