// transfer.js -- items to files and back: streamed, with progress, a stop button and a report.

import { call } from '../core/api.js';
import { columnsOf, FORMATS, fromFile, fromText, toText } from '../core/csv.js';
import { dialog } from '../core/dialog.js';
import { counted, field, h, select, show } from '../core/dom.js';
import { keyNames, typeOf } from '../core/tables.js';
import { insertRequest } from '../core/update.js';
import { itemFromDynamo, itemProblem, itemToDynamo, pathText } from '../core/value.js';
import { withProgress } from './progress.js';

const formats = Object.entries(FORMATS).map(([id, { label }]) => [id, label]);
const AT_ONCE = 8;

// --- Export ---

// A place to write to: straight to disk where the browser can, or in memory and then as a download.
async function openFile(name) {
  if (window.showSaveFilePicker) {
    const handle = await window.showSaveFilePicker({ suggestedName: name });
    const stream = await handle.createWritable();
    return { write: (text) => stream.write(text), close: () => stream.close(), abort: () => stream.abort() };
  }
  const parts = [];
  return {
    write: (text) => parts.push(text),
    close: () => {
      const url = URL.createObjectURL(new Blob(parts));
      h('a', { href: url, download: name }).click();
      setTimeout(() => URL.revokeObjectURL(url), 10_000);
    },
    abort: () => {},
  };
}

async function* pagesOf(request, signal) {
  let last;
  do {
    const page = await call(request.operation, last ? { ...request.parameters, ExclusiveStartKey: last } : request.parameters, { signal });
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
  await withProgress('Exporting', async ({ signal, report }) => {
    let done = 0;
    const kept = []; // CSV needs all columns before its first line.
    const pages = what.value === 'selection' ? [selected.map(itemFromDynamo)] : pagesOf(source, signal);
    for await (const items of pages) {
      if (format.value === 'csv') kept.push(...items);
      else await file.write(toText(format.value, items));
      done += items.length;
      report(done, what.value === 'table' ? Math.max(done, table.ItemCount) : 0, 'items');
    }
    if (format.value === 'csv') await file.write(toText('csv', kept, columnsOf(kept)));
    await file.close();
    return h('div', { class: 'notice good' }, h('strong', null, `${counted(done)} items exported`), signal.aborted && h('p', null, 'Stopped before the end.'));
  });
}

// --- Import ---

const RULES = [['fail', 'Skip items whose key exists'], ['replace', 'Replace items whose key exists']];

function checkItem(table, item) {
  const missing = keyNames(table).find((name) => item.get(name)?.t !== typeOf(table, name));
  if (missing) return `the key ${missing} is missing or has another type`;
  const wrong = itemProblem(item);
  return wrong ? `${pathText(wrong.path)}: ${wrong.message}` : null;
}

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
  if (!ok) return;
  await withProgress('Importing', (progress) => importFile(table, { file: file.files[0], format: format.value, replace: rule.value === 'replace', dry: dry.checked }, progress));
}

// Writes the items of a file, or of a Blob, and resolves to a report.
export async function importFile(table, { file, format, replace, dry }, { signal, report }) {
  const counts = { written: 0, skipped: 0, failed: 0 };
  const problems = [];
  const keys = keyNames(table);
  const lines = fromFile(format, file);
  const fail = (line, message) => {
    counts.failed += 1;
    if (problems.length < 20) problems.push(`Line ${line}: ${message}`);
  };
  const worker = async () => {
    for (;;) {
      const { value: entry, done } = await lines.next();
      if (done || signal.aborted) return;
      const wrong = entry.error?.message ?? checkItem(table, entry.item);
      if (wrong) fail(entry.line, wrong);
      else if (dry) counts.written += 1;
      else {
        try {
          await call('PutItem', replace ? { TableName: table.TableName, Item: itemToDynamo(entry.item) } : insertRequest(table.TableName, keys, entry.item), { signal });
          counts.written += 1;
        } catch (error) {
          if (error.name === 'AbortError') return;
          if (error.name === 'ConditionalCheckFailedException') counts.skipped += 1;
          else fail(entry.line, error.message);
        }
      }
      report(counts.written + counts.skipped + counts.failed, 0, 'items');
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return h('div', { class: counts.failed ? 'notice warn' : 'notice good' },
    h('strong', null, `${counted(counts.written)} ${dry ? 'items are fine' : 'items written'}`),
    h('p', null, `${counted(counts.skipped)} skipped because their key exists, ${counted(counts.failed)} failed${signal.aborted ? '; stopped before the end' : ''}.`),
    problems.length > 0 && h('ul', null, problems.map((one) => h('li', null, one))));
}
