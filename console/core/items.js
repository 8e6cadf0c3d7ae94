// items.js -- an item as it is now, and whether it may go: a delete or a change of the key must not
// take away what nobody here has seen.

import { call } from './api.js';
import { itemFromDynamo, itemToDynamo } from './value.js';

// The item with the keys of `item`, or null.
export async function readItem(table, keys, item, options) {
  const Key = itemToDynamo(new Map(keys.map((name) => [name, item.get(name)])));
  const { Item } = await call('GetItem', { TableName: table, Key, ConsistentRead: true }, options);
  return Item ? itemFromDynamo(Item) : null;
}
