// data.js -- tables and items for the tests of the console.
'use strict';

// One attribute of each type, with what other tools lose.
const TEN_TYPES = {
  pk: { S: 'a' },
  s: { S: 'line\nbreak "quoted" 🦉' },
  crlf: { S: 'line\r\nbreak' },
  cr: { S: 'line\rbreak' },
  empty: { S: '' },
  n: { N: '12345678901234567890123456789012345678' },
  small: { N: '-0.00000000000000000000000000000012345' },
  b: { B: 'AP8Q+/8=' },
  yes: { BOOL: true },
  nothing: { NULL: true },
  map: { M: { inner: { M: { $deep: { N: '9007199254740993' } } }, list: { L: [] } } },
  list: { L: [{ N: '1' }, { S: '' }, { L: [{ NULL: true }] }] },
  ss: { SS: ['', 'a', 'b'] },
  ns: { NS: ['-1.5', '9007199254740993'] },
  bs: { BS: ['AA==', '/w=='] },
};

const key = (name, type) => ({ AttributeName: name, KeyType: type });

async function createTable(desk, name, { range, indexes, type = 'S' } = {}) {
  const attributes = [{ AttributeName: 'pk', AttributeType: type }];
  if (range) attributes.push({ AttributeName: range, AttributeType: 'S' });
  for (const one of indexes ?? []) attributes.push({ AttributeName: one, AttributeType: 'S' });
  await desk.call('CreateTable', {
    TableName: name,
    BillingMode: 'PAY_PER_REQUEST',
    KeySchema: [key('pk', 'HASH'), ...(range ? [key(range, 'RANGE')] : [])],
    AttributeDefinitions: attributes,
    GlobalSecondaryIndexes: indexes?.map((one) => ({ IndexName: `by-${one}`, KeySchema: [key(one, 'HASH')], Projection: { ProjectionType: 'ALL' } })),
  });
  for (;;) {
    const { Table } = await desk.call('DescribeTable', { TableName: name });
    if (Table.TableStatus === 'ACTIVE') return;
    await new Promise((resolve) => { setTimeout(resolve, 50); });
  }
}

// Writes items in batches of 25.
async function putAll(desk, name, items) {
  for (let at = 0; at < items.length; at += 25) {
    await desk.call('BatchWriteItem', { RequestItems: { [name]: items.slice(at, at + 25).map((Item) => ({ PutRequest: { Item } })) } });
  }
}

module.exports = { createTable, putAll, TEN_TYPES };
