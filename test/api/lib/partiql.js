// partiql.js -- the two tables that the PartiQL tests are about, and a short way to say a statement.
'use strict';
const {
  BatchWriteItemCommand, ExecuteStatementCommand,
} = require('@aws-sdk/client-dynamodb');
const { createTable, dropTables, tableShape } = require('./client.js');

const PLAIN = 'partiql-plain'; // id:S
const SORTED = 'partiql-sorted'; // pk:S, sk:N; index "byGroup" on g:S, sk:N, of all attributes

const song = (pk, sk) => ({
  pk: { S: pk },
  sk: { N: String(sk) },
  g: { S: `g${sk % 2}` },
  n: { N: String(sk * 10) },
  s: { S: `str${sk}` },
  m: { M: { x: { N: String(sk) }, l: { L: [{ N: '1' }, { S: 'z' }] } } },
  ss: { SS: ['a', 'b'] },
  nu: { NULL: true },
});

async function createTables(client) {
  await dropTables(client, PLAIN, SORTED);
  await createTable(client, tableShape(PLAIN, 'id:S'));
  const shape = tableShape(SORTED, 'pk:S', 'sk:N');
  shape.AttributeDefinitions.push({ AttributeName: 'g', AttributeType: 'S' });
  shape.GlobalSecondaryIndexes = [{
    IndexName: 'byGroup',
    KeySchema: [
      { AttributeName: 'g', KeyType: 'HASH' }, { AttributeName: 'sk', KeyType: 'RANGE' },
    ],
    Projection: { ProjectionType: 'ALL' },
  }];
  await createTable(client, shape);
}

// Three items each under the partition keys a and b.
async function putSongs(client) {
  const items = ['a', 'b'].flatMap((pk) => [0, 1, 2].map((sk) => song(pk, sk)));
  await client.send(new BatchWriteItemCommand({
    RequestItems: { [SORTED]: items.map((Item) => ({ PutRequest: { Item } })) },
  }));
}

// A function that runs a statement.
function runner(client) {
  return (statement, Parameters, options = {}) => client.send(new ExecuteStatementCommand({
    Statement: named(statement), Parameters, ...options,
  }));
}

// TAB in a statement stands for the table with a sort key, HAB for the one without.
function named(statement) {
  return statement.replace(/\bTAB\b/g, `"${SORTED}"`).replace(/\bHAB\b/g, `"${PLAIN}"`);
}

module.exports = { PLAIN, SORTED, createTables, named, putSongs, runner, song };
