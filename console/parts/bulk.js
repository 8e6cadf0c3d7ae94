// bulk.js -- deletes many items, each only if it is still as it was seen.
//
// Each item is read once more, and all that its row has is compared. A row may have less than the item,
// if the query or its index leaves attributes out; the dialog says so. The item is then deleted on the
// condition that it is still as it was just read. If it gained attributes in that moment, which no
// condition can see, it is put back.

import { call } from '../core/api.js';
import { confirm } from '../core/dialog.js';
import { counted, h } from '../core/dom.js';
import { readItem } from '../core/items.js';
import { keyNames } from '../core/tables.js';
import { deleteRequest, insertRequest } from '../core/update.js';
import { brief, equal, equalItems, itemFromDynamo, itemToDynamo } from '../core/value.js';
import { Problems, withProgress } from './progress.js';

const AT_ONCE = 8;

const CHANGED = 'changed meanwhile, not deleted';

// Throws an Error if the item stays. `isWhole`: a row has all attributes of its item.
async function deleteSeen(table, keys, seen, isWhole, signal) {
  const now = await readItem(table, keys, seen, { signal });
  if (!now) return; // Somebody else has deleted it.
  const isSame = isWhole ? equalItems(seen, now) : [...seen].every(([name, value]) => equal(value, now.get(name)));
  if (!isSame) throw new Error(CHANGED);
  let gone;
  try {
    // Not aborted by Stop: the answer is needed.
    gone = itemFromDynamo((await call('DeleteItem', deleteRequest(table, keys, now))).Attributes ?? {});
  } catch (error) {
    throw error.name === 'ConditionalCheckFailedException' ? new Error(CHANGED) : error;
  }
  if (equalItems(gone, now)) return;
  try {
    await call('PutItem', insertRequest(table, keys, gone));
  } catch (error) {
    throw new Error(`deleted while it changed, and it could not be put back: ${error.message}: ${JSON.stringify(itemToDynamo(gone))}`);
  }
  throw new Error(CHANGED);
}

// Resolves to the set of rows that are gone.
export async function deleteItems(table, rows, isWhole) {
  const gone = new Set();
  const text = rows.length === 1 ? 'Delete this item?' : `Delete ${counted(rows.length)} items?`;
  const promise = isWhole ? 'Each item is read once more first, and stays if it has changed since it was listed.'
    : 'The list shows only some attributes. Each item is read once more first, and stays if one of these has changed; changes of others are not noticed.';
  if (!await confirm(text, h('p', null, promise), { label: 'Delete', danger: true })) return gone;
  const keys = keyNames(table);
  const problems = new Problems(`${table.TableName}-not-deleted.txt`);
  await withProgress('Deleting', async ({ signal, report }) => {
    let next = 0;
    const worker = async () => {
      while (next < rows.length && !signal.aborted) {
        const row = rows[next];
        next += 1;
        const seen = itemFromDynamo(row);
        try {
          await deleteSeen(table.TableName, keys, seen, isWhole, signal);
          gone.add(row);
        } catch (error) {
          if (error.name === 'AbortError') return;
          problems.add(`${keys.map((name) => brief(seen.get(name))).join(', ')}: ${error.message}`);
        }
        report(gone.size + problems.count, rows.length);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    return h('div', { class: problems.count || signal.aborted ? 'notice warn' : 'notice good' }, h('strong', null, `${counted(gone.size)} deleted`),
      h('p', null, problems.count > 0 && `${counted(problems.count)} stay. `, signal.aborted && 'Stopped before the end.'), problems.element());
  });
  return gone;
}
