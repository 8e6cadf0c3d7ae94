// bulk.js -- deletes many items, each only if it is still as it was seen.

import { call } from '../core/api.js';
import { confirm } from '../core/dialog.js';
import { counted, h } from '../core/dom.js';
import { keyNames } from '../core/tables.js';
import { deleteRequest } from '../core/update.js';
import { itemFromDynamo } from '../core/value.js';
import { withProgress } from './progress.js';

const AT_ONCE = 8;

// Resolves to the set of rows that are gone.
export async function deleteItems(table, rows) {
  const gone = new Set();
  const text = rows.length === 1 ? 'Delete this item?' : `Delete ${counted(rows.length)} items?`;
  if (!await confirm(text, h('p', null, 'An item that has changed since it was read stays.'), { label: 'Delete', danger: true })) return gone;
  const keys = keyNames(table);
  const failures = [];
  await withProgress('Deleting', async ({ signal, report }) => {
    let next = 0;
    const worker = async () => {
      while (next < rows.length && !signal.aborted) {
        const row = rows[next];
        next += 1;
        try {
          await call('DeleteItem', deleteRequest(table.TableName, keys, itemFromDynamo(row)), { signal });
          gone.add(row);
        } catch (error) {
          if (error.name === 'AbortError') return;
          failures.push(error.name === 'ConditionalCheckFailedException' ? 'changed meanwhile, not deleted' : error.message);
        }
        report(gone.size + failures.length, rows.length);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    return h('div', { class: failures.length ? 'notice warn' : 'notice good' }, h('strong', null, `${counted(gone.size)} deleted`),
      failures.length > 0 && h('p', null, `${counted(failures.length)} stay: ${failures[0]}`));
  });
  return gone;
}
