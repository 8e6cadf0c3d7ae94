// Scan: every item once, whole or in segments, page by page.
'use strict';
const assert = require('node:assert/strict');
const { after, before, describe, test } = require('node:test');
const {
  DeleteItemCommand, PutItemCommand, ScanCommand, paginateScan,
} = require('@aws-sdk/client-dynamodb');
const {
  DynamoDBDocumentClient, ScanCommand: DocumentScanCommand, paginateScan: paginateDocumentScan,
} = require('@aws-sdk/lib-dynamodb');
const {
  createClient, createTable, dropTables, refusal, tableShape, validation,
} = require('./lib/client.js');
const { startServer } = require('./lib/server.js');

const TableName = 'scan-things'; // id:S
const LARGE = 'scan-large'; // id:S
const ITEMS = 60;

let server;
let client;
let documents;
const put = (number, table = TableName, more = {}) => client.send(new PutItemCommand({
  TableName: table,
  Item: { id: { S: `thing ${number}` }, number: { N: `${number}` }, ...more },
}));
before(async () => {
  server = await startServer('--in-memory');
  client = createClient(server);
  documents = DynamoDBDocumentClient.from(client);
  await dropTables(client, TableName, LARGE);
  await createTable(client, tableShape(TableName, 'id:S'));
  await createTable(client, tableShape(LARGE, 'id:S'));
  for (let number = 0; number < ITEMS; number++) await put(number);
});
after(async () => {
  await dropTables(client, TableName, LARGE);
  client.destroy();
  await server.stop();
});

const scan = (input = {}) => client.send(new ScanCommand({ TableName, ...input }));
const numbersOf = (page) => page.Items.map((item) => Number(item.number.N));
const sorted = (numbers) => [...numbers].sort((a, b) => a - b);
const everything = Array.from({ length: ITEMS }, (_, index) => index);

async function readAll(input = {}, pageSize = undefined) {
  const numbers = [];
  for await (const page of paginateScan({ client, pageSize }, { TableName, ...input })) {
    assert.ok(pageSize === undefined || page.ScannedCount <= pageSize);
    numbers.push(...numbersOf(page));
  }
  return numbers;
}

test('a scan holds every item once', async () => {
  const page = await scan();
  assert.deepEqual(sorted(numbersOf(page)), everything);
  assert.equal(page.Count, ITEMS);
  assert.equal(page.ScannedCount, ITEMS);
  assert.equal(page.LastEvaluatedKey, undefined);
});

test('pages of any size hold every item once, in one order', async () => {
  const order = numbersOf(await scan());
  for (const size of [1, 2, 7, ITEMS - 1, ITEMS, ITEMS + 1]) {
    assert.deepEqual(await readAll({}, size), order);
  }
});

test('a page counts its limit before the filter', async () => {
  const input = {
    FilterExpression: '#n < :n', ExpressionAttributeNames: { '#n': 'number' },
    ExpressionAttributeValues: { ':n': { N: '10' } },
  };
  const page = await scan({ ...input, Limit: 20 });
  assert.equal(page.ScannedCount, 20);
  assert.ok(page.LastEvaluatedKey);
  assert.deepEqual(sorted(await readAll(input, 20)), everything.slice(0, 10));
});

test('the document client pages as well', async () => {
  const numbers = [];
  for await (const page of paginateDocumentScan({ client: documents, pageSize: 11 }, { TableName })) {
    numbers.push(...page.Items.map((item) => item.number));
  }
  assert.deepEqual(sorted(numbers), everything);
  const page = await documents.send(new DocumentScanCommand({
    TableName, FilterExpression: 'id = :id', ExpressionAttributeValues: { ':id': 'thing 5' },
    ProjectionExpression: 'id',
  }));
  assert.deepEqual(page.Items, [{ id: 'thing 5' }]);
});

test('ScanFilter and AttributesToGet filter and project', async () => {
  const page = await scan({
    ScanFilter: { number: { ComparisonOperator: 'IN', AttributeValueList: [{ N: '3' }, { N: '4' }] } },
    AttributesToGet: ['number'],
  });
  assert.deepEqual(sorted(numbersOf(page)), [3, 4]);
  assert.deepEqual(Object.keys(page.Items[0]), ['number']);
});

test('a page holds one megabyte', async () => {
  const text = { text: { S: 'x'.repeat(200 * 1024) } };
  for (let number = 0; number < 14; number++) await put(number, LARGE, text);
  const pages = [];
  for await (const page of paginateScan({ client }, { TableName: LARGE })) pages.push(page);
  assert.deepEqual(pages.map((page) => page.Count), [6, 6, 2]);
  assert.deepEqual(sorted(pages.flatMap(numbersOf)), everything.slice(0, 14));
});

describe('segments', () => {
  const segments = (TotalSegments, size) => Promise.all(Array.from({ length: TotalSegments },
    (_, Segment) => readAll({ TotalSegments, Segment }, size)));

  test('read in parallel hold every item once', async () => {
    for (const total of [1, 2, 3, 4, 5, 16]) {
      assert.deepEqual(sorted((await segments(total, 3)).flat()), everything);
    }
  });

  test('keep their items while others come and go', async () => {
    const before_ = await segments(4);
    for (let number = 0; number < ITEMS; number += 3) {
      await client.send(new DeleteItemCommand({ TableName, Key: { id: { S: `thing ${number}` } } }));
    }
    assert.deepEqual(await segments(4), before_.map((numbers) => numbers.filter((n) => n % 3 !== 0)));
    for (let number = 0; number < ITEMS; number += 3) await put(number);
    assert.deepEqual(await segments(4), before_);
  });

  test('start within themselves only', async () => {
    const parts = await segments(2);
    const Segment = parts[0].length > 0 ? 0 : 1;
    const ExclusiveStartKey = { id: { S: `thing ${parts[Segment][0]}` } };
    assert.deepEqual(await readAll({ TotalSegments: 2, Segment, ExclusiveStartKey }),
      parts[Segment].slice(1));
    assert.deepEqual(await refusal(scan({ TotalSegments: 2, Segment: 1 - Segment, ExclusiveStartKey })),
      validation('The provided starting key is invalid: Invalid ExclusiveStartKey. Please use '
        + `ExclusiveStartKey with correct Segment. TotalSegments: 2 Segment: ${1 - Segment}`));
  });
});

describe('refused', () => {
  for (const [input, message] of [
    [{ TotalSegments: 2 }, 'The Segment parameter is required but was not present in the request when '
      + 'parameter TotalSegments is present'],
    [{ Segment: 0 }, 'The TotalSegments parameter is required but was not present in the request when '
      + 'Segment parameter is present'],
    [{ TotalSegments: 2, Segment: 2 }, 'The Segment parameter is zero-based and must be less than '
      + 'parameter TotalSegments: Segment: 2 is not less than TotalSegments: 2'],
    [{ Limit: 0 }, "1 validation error detected: Value '0' at 'limit' failed to satisfy constraint: "
      + 'Member must have value greater than or equal to 1'],
    [{ Select: 'SPECIFIC_ATTRIBUTES' }, 'Must specify the AttributesToGet or ProjectionExpression when '
      + 'choosing to get SPECIFIC_ATTRIBUTES'],
    [{ ExclusiveStartKey: { id: { N: '1' } } }, 'The provided starting key is invalid: The provided key '
      + 'element does not match the schema'],
    [{ IndexName: 'none' }, 'The table does not have the specified index: none'],
  ]) {
    test(JSON.stringify(input), async () => {
      assert.deepEqual(await refusal(scan(input)), validation(message));
    });
  }

  test('a table that is not there', async () => {
    assert.deepEqual(await refusal(scan({ TableName: 'scan-none' })),
      { name: 'ResourceNotFoundException', message: 'Requested resource not found' });
  });
});
