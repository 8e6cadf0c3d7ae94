// PartiQL's SELECT: what it finds, in which order, page by page, and how it is refused.
'use strict';
const assert = require('node:assert/strict');
const { after, before, describe, test } = require('node:test');
const { ExecuteStatementCommand } = require('@aws-sdk/client-dynamodb');
const {
  createClient, createTable, dropTables, refusal, tableShape, validation,
} = require('./lib/client.js');
const {
  PLAIN, SORTED, createTables, putSongs, runner, song,
} = require('./lib/partiql.js');
const { startServer } = require('./lib/server.js');

const NEXT_TOKEN_MAX = 32768;
const STATEMENT_MAX = 8192;
const IN_MAX = 100;

let server;
let client;
let run;
before(async () => {
  server = await startServer();
  client = createClient(server);
  run = runner(client);
  await createTables(client);
  await putSongs(client);
});
after(async () => {
  await dropTables(client, PLAIN, SORTED);
  client.destroy();
  await server.stop();
});

// "a0 a1": the keys of what a statement finds, in its order.
const keys = async (statement, parameters, options) => {
  const { Items } = await run(statement, parameters, options);
  return Items.map((item) => item.pk.S + item.sk.N).join(' ');
};
const sorted = (text) => text.split(' ').sort().join(' ');

describe('columns', () => {
  test('* is the whole item', async () => {
    const { Items } = await run("SELECT * FROM TAB WHERE pk='a' AND sk=1");
    assert.deepEqual(Items, [song('a', 1)]);
  });
  test('are shown flat, under their last name', async () => {
    const { Items } = await run("SELECT n, m.x, m.l[1], m['l'][0] FROM TAB WHERE pk='a' AND sk=2");
    assert.deepEqual(Items, [{
      n: { N: '20' }, x: { N: '2' }, 'l[1]': { S: 'z' }, 'l[0]': { N: '1' },
    }]);
  });
  test('that an item lacks are left out', async () => {
    const { Items } = await run("SELECT n, nobody, s.x FROM TAB WHERE pk='a' AND sk=0");
    assert.deepEqual(Items, [{ n: { N: '0' } }]);
  });
  test('of an item that has none of them are an empty item', async () => {
    const { Items } = await run("SELECT nobody FROM TAB WHERE pk='a' AND sk=0");
    assert.deepEqual(Items, [{}]);
  });
});

describe('WHERE', () => {
  const cases = [
    ["pk='a'", 'a0 a1 a2'],
    ["'a'=pk", 'a0 a1 a2'],
    ["pk='a' AND sk=1", 'a1'],
    ["pk='a' AND sk>0", 'a1 a2'],
    ["pk='a' AND 1>=sk", 'a0 a1'],
    ["pk='a' AND sk>0 AND sk<2", 'a1'],
    ["pk='a' AND sk BETWEEN 1 AND 2", 'a1 a2'],
    ["pk='a' AND sk IN [2,0]", 'a0 a2'],
    ["pk='a' AND (sk=2 OR sk=1)", 'a1 a2'],
    ["pk='a' AND sk=1 AND sk=2", ''],
    ["pk='a' AND pk='b'", ''],
    ["pk='a' AND n<>10", 'a0 a2'],
    ["pk='a' AND n!=10", 'a0 a2'],
    ["pk='a' AND NOT n=10", 'a0 a2'],
    ["pk='a' AND n NOT IN [10]", 'a0 a2'],
    ["pk='a' AND n NOT BETWEEN 10 AND 20", 'a0'],
    ["pk='a' AND begins_with(s,'str1')", 'a1'],
    ["pk='a' AND begins_with(\"s\",'str')", 'a0 a1 a2'],
    ["pk='a' AND contains(ss,'b') AND sk=1", 'a1'],
    ["pk='a' AND attribute_type(m,'M') AND sk=1", 'a1'],
    ["pk='a' AND size(s)=4 AND size(ss)>1 AND sk=1", 'a1'],
    ["pk='a' AND nu IS NULL AND sk=1", 'a1'],
    ["pk='a' AND nobody IS NULL", ''],
    ["pk='a' AND n IS NOT NULL AND sk=1", 'a1'],
    ["pk='a' AND nobody IS MISSING AND sk=1", 'a1'],
    ["pk='a' AND n IS NOT MISSING AND sk=1", 'a1'],
    ["pk='a' AND s IS STRING AND n IS NUMERIC AND sk=1", 'a1'],
    ["pk='a' AND m.x=2 AND m.l[1]='z'", 'a2'],
    ["pk='a' AND m={'x':1,'l':[1,'z']}", 'a1'],
    ["pk='a' AND ss=<<'b','a'>> AND sk=1", 'a1'],
    ["pk='a' AND nu=null AND sk=1", 'a1'],
    ["pk IN ['b','a']", 'b0 b1 b2 a0 a1 a2'],
    ["pk IN ('b','a') AND sk IN [2,1]", 'b1 b2 a1 a2'],
    ["pk='b' OR pk='a'", 'b0 b1 b2 a0 a1 a2'],
    ["(pk='b' OR pk IN ['a','b']) AND sk>=2", 'b2 a2'],
  ];
  for (const [where, want] of cases) {
    test(where, async () => {
      assert.equal(await keys(`SELECT * FROM TAB WHERE ${where}`), want);
    });
  }
  const scans = [
    ['n>=20', 'a2 b2'],
    ['n=sk', 'a0 b0'],
    ["pk='a' OR n=20", 'a0 a1 a2 b2'],
    ["pk>'a' AND sk=0", 'b0'],
    ["sk='x'", ''],
    ['1=1 AND sk=0', 'a0 b0'],
  ];
  for (const [where, want] of scans) {
    test(`${where}, which is a scan`, async () => {
      assert.equal(sorted(await keys(`SELECT * FROM TAB WHERE ${where}`)), want);
    });
  }
  test('is not needed', async () => {
    assert.equal(sorted(await keys('SELECT * FROM TAB')), 'a0 a1 a2 b0 b1 b2');
  });
  test('takes parameters', async () => {
    assert.equal(await keys('SELECT * FROM TAB WHERE pk=? AND sk BETWEEN ? AND ?',
      [{ S: 'a' }, { N: '1' }, { N: '5' }]), 'a1 a2');
    assert.equal(await keys('SELECT * FROM TAB WHERE pk IN [?,?] AND sk=?',
      [{ S: 'a' }, { S: 'b' }, { N: '1' }]), 'a1 b1');
  });
  test('keywords are keywords in any letter case', async () => {
    assert.equal(await keys("select * from TAB where pk='a' and not sk>0"), 'a0');
  });
  test('comments and a semicolon mean nothing', async () => {
    assert.equal(await keys("SELECT * /* all */ FROM TAB -- of it\nWHERE pk='a' AND sk=1;"), 'a1');
  });
});

describe('ORDER BY', () => {
  const cases = [
    ["pk='a' ORDER BY sk", 'a0 a1 a2'],
    ["pk='a' ORDER BY sk ASC", 'a0 a1 a2'],
    ["pk='a' ORDER BY sk DESC", 'a2 a1 a0'],
    ["pk='a' AND sk IN [0,2,1] ORDER BY sk DESC", 'a2 a1 a0'],
    ["pk='a' AND sk<2 ORDER BY sk DESC", 'a1 a0'],
    ["pk IN ['b','a'] ORDER BY pk", 'a0 a1 a2 b0 b1 b2'],
    ["pk IN ['a','b'] ORDER BY pk DESC, sk DESC", 'b2 b1 b0 a2 a1 a0'],
  ];
  for (const [where, want] of cases) {
    test(where, async () => {
      assert.equal(await keys(`SELECT * FROM TAB WHERE ${where}`), want);
    });
  }
  const refusals = [
    ["SELECT * FROM TAB WHERE pk='a' ORDER BY n",
      'Variable reference n in ORDER BY clause must be part of the primary key'],
    ['SELECT * FROM TAB ORDER BY sk',
      'Must have WHERE clause in the statement when using ORDER BY clause.'],
    ['SELECT * FROM TAB WHERE n>1 ORDER BY sk', 'Must have at least one non-optional hash key '
      + 'condition in WHERE clause when using ORDER BY clause.'],
    ["SELECT * FROM TAB WHERE pk='a' OR n=1 ORDER BY sk", 'Must have at least one non-optional '
      + 'hash key condition in WHERE clause when using ORDER BY clause.'],
  ];
  for (const [statement, message] of refusals) {
    test(`is refused: ${statement}`, async () => {
      assert.deepEqual(await refusal(run(statement)), validation(message));
    });
  }
});

describe('an index', () => {
  test('is queried by its own key', async () => {
    assert.equal(sorted(await keys('SELECT * FROM TAB."byGroup" WHERE g=\'g1\'')), 'a1 b1');
    assert.equal(await keys('SELECT * FROM TAB."byGroup" WHERE g=\'g0\' AND sk>0 AND pk=\'b\''),
      'b2');
  });
  test('is ordered by its sort key', async () => {
    const { Items } = await run('SELECT sk FROM TAB."byGroup" WHERE g=\'g0\' ORDER BY sk DESC');
    assert.deepEqual(Items.map((item) => item.sk.N), ['2', '2', '0', '0']);
  });
  test('that a table does not have is refused', async () => {
    assert.deepEqual(await refusal(run('SELECT * FROM TAB."nobody"')),
      validation('The table does not have the specified index'));
    assert.deepEqual(
      await refusal(run('SELECT * FROM TAB."nobody"', undefined, { ConsistentRead: true })),
      validation('The table does not have the specified index'));
  });
  test('of the whole table has no consistent reads', async () => {
    assert.deepEqual(
      await refusal(run('SELECT * FROM TAB."byGroup"', undefined, { ConsistentRead: true })),
      validation('Strongly consistent read is not supported on Global Secondary Indexes'));
  });
});

// All items, in pages of `Limit`, with how many each page had.
async function readPages(statement, Limit, parameters) {
  const items = [];
  const counts = [];
  let NextToken;
  do {
    const page = await run(statement, parameters, { Limit, NextToken });
    items.push(...page.Items);
    counts.push(page.Items.length);
    NextToken = page.NextToken;
  } while (NextToken !== undefined && counts.length < 20);
  return { found: items.map((item) => item.pk.S + item.sk.N).join(' '), counts };
}

describe('pages', () => {
  const whole = 'b0 b1 b2 a0 a1 a2';
  for (const limit of [1, 2, 3, 4, 5]) {
    test(`of ${limit} of several partition keys leave nothing out`, async () => {
      const { found } = await readPages("SELECT * FROM TAB WHERE pk IN ['b','a']", limit);
      assert.equal(found, whole);
    });
    test(`of ${limit} read backward leave nothing out`, async () => {
      const { found } = await readPages(
        "SELECT * FROM TAB WHERE pk IN ['a','b'] ORDER BY pk DESC, sk DESC", limit);
      assert.equal(found, 'b2 b1 b0 a2 a1 a0');
    });
    test(`of ${limit} of a scan leave nothing out`, async () => {
      const { found } = await readPages('SELECT * FROM TAB', limit);
      assert.equal(sorted(found), sorted(whole));
    });
    test(`of ${limit} of an index leave nothing out`, async () => {
      const { found } = await readPages('SELECT * FROM TAB."byGroup" WHERE g=\'g0\'', limit);
      assert.equal(sorted(found), 'a0 a2 b0 b2');
    });
  }
  test('Limit counts items before the filter', async () => {
    const { found, counts } = await readPages("SELECT * FROM TAB WHERE pk='a' AND n=20", 1);
    assert.equal(found, 'a2');
    assert.deepEqual(counts.slice(0, 3), [0, 0, 1]);
  });
  test('go on with the parameters of the first', async () => {
    const { found } = await readPages('SELECT * FROM TAB WHERE pk=? AND sk>=?', 1,
      [{ S: 'a' }, { N: '1' }]);
    assert.equal(found, 'a1 a2');
  });

  const token = async () => (await run("SELECT * FROM TAB WHERE pk='a'", undefined, { Limit: 1 }))
    .NextToken;
  const bad = validation('Invalid NextToken');
  const other = validation('NextToken does not match request');
  test('a NextToken of another statement is refused', async () => {
    const NextToken = await token();
    assert.deepEqual(await refusal(run("SELECT * FROM TAB WHERE pk='b'", undefined, { NextToken })),
      other);
    assert.deepEqual(await refusal(run('SELECT * FROM TAB WHERE pk=?', [{ S: 'a' }], { NextToken })),
      other);
  });
  test('a NextToken that was changed is refused', async () => {
    const NextToken = await token();
    for (let at = 0; at < NextToken.length; at += 7) {
      const letter = NextToken[at] === 'A' ? 'B' : 'A';
      const changed = NextToken.slice(0, at) + letter + NextToken.slice(at + 1);
      const answer = await refusal(run("SELECT * FROM TAB WHERE pk='a'", undefined, { NextToken: changed }));
      assert.ok([bad.message, other.message].includes(answer.message), answer.message);
    }
  });
  test('a NextToken that is none is refused', async () => {
    for (const NextToken of ['', 'abc', 'AAAA', '*', 'A'.repeat(NEXT_TOKEN_MAX)]) {
      assert.deepEqual(await refusal(run("SELECT * FROM TAB WHERE pk='a'", undefined, { NextToken })),
        bad);
    }
  });
  test('a NextToken that is too long breaks a constraint', async () => {
    const NextToken = 'A'.repeat(NEXT_TOKEN_MAX + 1);
    assert.deepEqual(await refusal(run("SELECT * FROM TAB WHERE pk='a'", undefined, { NextToken })),
      validation(`1 validation error detected: Value '${NextToken}' at 'nextToken' failed to `
        + `satisfy constraint: Member must have length less than or equal to ${NEXT_TOKEN_MAX}`));
  });
  test('a NextToken belongs to a SELECT', async () => {
    assert.deepEqual(
      await refusal(run("DELETE FROM TAB WHERE pk='x' AND sk=1", undefined, { NextToken: 'x' })),
      validation('NextToken is only valid on a SELECT statement'));
  });
});

// A small generator, so that a run can be repeated: the same numbers for the same seed.
function numbers(seed) {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

// A condition on keys and other attributes, most often one that a Query can use.
function randomCondition(below, depth = 0) {
  const pick = (...choices) => choices[below(choices.length)];
  const pk = () => pick("'a'", "'b'", "'c'");
  const sk = () => pick('0', '1', '2', '1.5');
  const leaf = () => pick(
    `pk=${pk()}`, `${pk()}=pk`, `pk IN [${pk()},${pk()}]`, `(pk=${pk()} OR pk=${pk()})`, `pk>${pk()}`,
    `sk=${sk()}`, `sk IN [${sk()},${sk()}]`, `sk${pick('<', '<=', '>', '>=', '<>')}${sk()}`,
    `${sk()}${pick('<', '<=', '>', '>=')}sk`, `sk BETWEEN 0 AND ${sk()}`, `n=${pick('0', '10')}`,
    `g=${pick("'g0'", "'g1'")}`, `g IN ['g0','g1']`, 'begins_with(s,\'str1\')', 'nobody IS MISSING',
    `NOT sk=${sk()}`,
  );
  if (depth === 3 || below(4) === 0) return leaf();
  const joined = [0, 1].map(() => randomCondition(below, depth + 1));
  return `(${joined.join(pick(' AND ', ' AND ', ' AND ', ' OR '))})`;
}

test('what narrows a read never changes what is found', async () => {
  const below = numbers(20261115);
  for (let round = 0; round < 150; round++) {
    const condition = randomCondition(below);
    const source = below(4) === 0 ? 'TAB."byGroup"' : 'TAB';
    // No term of a negation can narrow anything, so this is a scan.
    const scanned = await keys(`SELECT * FROM ${source} WHERE NOT NOT (${condition})`);
    const { found } = await readPages(`SELECT * FROM ${source} WHERE ${condition}`, 1 + below(7));
    assert.equal(sorted(found), sorted(scanned), `${source} WHERE ${condition}`);
  }
});

// More ranges than a statement may read one by one: then the condition on the sort key only filters.
test('many values of both keys', async () => {
  const list = (count, make) => Array.from({ length: count }, (_, index) => make(index)).join(',');
  for (const keyCount of [9, 10, 11]) {
    const statement = `SELECT * FROM TAB WHERE pk IN ['b','a',${list(keyCount - 2,
      (index) => `'k${index}'`)}] AND sk IN [2,0,${list(98, (index) => String(index + 5))}]`;
    assert.equal(await keys(statement), 'b0 b2 a0 a2');
  }
});

describe('an index whose keys have several attributes', () => {
  const MANY = 'partiql-many';
  const names = ['t', 'u', 'v', 'w'];
  before(async () => {
    await dropTables(client, MANY);
    const shape = tableShape(MANY, 'id:S');
    for (const name of names) {
      shape.AttributeDefinitions.push({ AttributeName: name, AttributeType: 'N' });
    }
    shape.GlobalSecondaryIndexes = [{
      IndexName: 'many',
      KeySchema: names.map((AttributeName, index) => (
        { AttributeName, KeyType: index < 2 ? 'HASH' : 'RANGE' })),
      Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['x'] },
    }];
    await createTable(client, shape);
    for (let number = 0; number < 16; number++) {
      const bits = names.map((name, index) => `'${name}':${(number >> (3 - index)) & 1}`).join(',');
      const id = number.toString(2).padStart(4, '0');
      await client.send(new ExecuteStatementCommand({
        Statement: `INSERT INTO "${MANY}" VALUE {'id':'${id}',${bits},'x':1,'y':1}`,
      }));
    }
  });
  after(() => dropTables(client, MANY));
  const ids = async (where) => (await client.send(new ExecuteStatementCommand({
    Statement: `SELECT id FROM "${MANY}"."many" WHERE ${where}`,
  }))).Items.map((item) => item.id.S).join(' ');

  const cases = [
    ['t=0 AND u=1', '0100 0101 0110 0111'],
    ['t IN [1,0] AND u=1 AND v=0', '1100 1101 0100 0101'],
    ['t=1 AND u=1 AND v=1 AND w>0', '1111'],
    ['t=1 AND u=1 AND v IN [1,0] AND w=1', '1101 1111'],
    ['t=1 AND u=1 AND w=1', '1101 1111'],
    ['t=1 AND u=1 ORDER BY v DESC', '1111 1110 1101 1100'],
    ['t IN [0,1] AND u IN [0,1] AND v=1 AND w=1 ORDER BY t DESC', '1011 1111 0011 0111'],
    ['t IN [0,1] AND u IN [0,1] AND v=1 AND w=1 ORDER BY u DESC, t', '0111 0011 1111 1011'],
  ];
  for (const [where, want] of cases) {
    test(where, async () => {
      assert.equal(await ids(where), want);
    });
  }
  test('is not ordered in two directions', async () => {
    for (const order of ['v DESC, w', 'v, v DESC']) {
      assert.deepEqual(await refusal(ids(`t=1 AND u=1 ORDER BY ${order}`)),
        validation('The attributes of a sort key in ORDER BY clause must be in the same order'));
    }
  });
  test('is scanned without all of its partition key', async () => {
    assert.equal(sorted(await ids('t=1 AND v=1 AND w=1')), '1011 1111');
  });
  test('shows what it has, and is refused what it has not', async () => {
    const read = (columns) => client.send(new ExecuteStatementCommand({
      Statement: `SELECT ${columns} FROM "${MANY}"."many" WHERE t=1 AND u=1 AND v=1 AND w=1`,
    }));
    const number = (N) => ({ N });
    assert.deepEqual((await read('*')).Items, [{
      id: { S: '1111' }, t: number('1'), u: number('1'), v: number('1'), w: number('1'), x: number('1'),
    }]);
    assert.deepEqual(await refusal(read('x, y')),
      validation('One or more parameter values were invalid: Global secondary index many does not '
        + 'project [y]'));
  });
});

describe('large items', () => {
  test('end a page at 1 MB', async () => {
    const value = 'x'.repeat(300 * 1024);
    for (const sk of [1, 2, 3, 4, 5]) {
      await run("INSERT INTO TAB VALUE {'pk':'large','sk':?,'v':?}", [{ N: String(sk) }, { S: value }]);
    }
    const statement = "SELECT pk, sk FROM TAB WHERE pk='large'";
    const first = await run(statement);
    assert.deepEqual(first.Items.map((item) => item.sk.N), ['1', '2', '3', '4']);
    const second = await run(statement, undefined, { NextToken: first.NextToken });
    assert.deepEqual(second.Items.map((item) => item.sk.N), ['5']);
    assert.equal(second.NextToken, undefined);
    for (const sk of [1, 2, 3, 4, 5]) {
      await run("DELETE FROM TAB WHERE pk='large' AND sk=?", [{ N: String(sk) }]);
    }
  });
});

describe('capacity', () => {
  test('is that of a Query or Scan', async () => {
    const total = async (statement, options) => {
      const { ConsumedCapacity } = await run(statement, undefined,
        { ReturnConsumedCapacity: 'TOTAL', ...options });
      return ConsumedCapacity;
    };
    assert.deepEqual(await total("SELECT n FROM TAB WHERE pk='a'"),
      { TableName: SORTED, CapacityUnits: 0.5 });
    assert.deepEqual(await total("SELECT n FROM TAB WHERE pk='a'", { ConsistentRead: true }),
      { TableName: SORTED, CapacityUnits: 1 });
    assert.deepEqual(await total("SELECT n FROM TAB WHERE pk='nobody' AND sk=1"),
      { TableName: SORTED, CapacityUnits: 0.5 });
  });
  test('of an index is told apart', async () => {
    const { ConsumedCapacity } = await run('SELECT n FROM TAB."byGroup" WHERE g=\'g0\'', undefined,
      { ReturnConsumedCapacity: 'INDEXES' });
    assert.deepEqual(ConsumedCapacity, {
      TableName: SORTED,
      CapacityUnits: 0.5,
      Table: { CapacityUnits: 0 },
      GlobalSecondaryIndexes: { byGroup: { CapacityUnits: 0.5 } },
    });
  });
});

describe('refusals', () => {
  const malformed = "Statement wasn't well formed, can't be processed: ";
  const cases = [
    ['SELEC', `${malformed}Expected data manipulation`],
    ['SELECT key FROM TAB', `${malformed}Unexpected keyword`],
    ["SELECT * FROM TAB WHERE pk='a' foo", `${malformed}Unexpected token after expression`],
    ["SELECT n AS m FROM TAB WHERE pk='a'", 'Aliasing is not supported'],
    ['SELECT COUNT(*) FROM TAB', 'Unexpected path component at 1:8:5'],
    ['SELECT m.x, n.x FROM TAB', 'Duplicate identifiers in select clause: x'],
    ['SELECT * FROM TAB LIMIT 1', 'Unsupported clause: LIMIT at 1:38:1'],
    ["SELECT * FROM TAB WHERE n LIKE 'a%'",
      'Unsupported operator in Condition Expression. Operator: like'],
    ['SELECT * FROM TAB WHERE n', 'WHERE clause must contain an expression that resolves to a '
      + 'boolean'],
    ['SELECT * FROM TAB WHERE n=MISSING', 'MISSING must be compared using IS operator'],
    ['SELECT * FROM TAB WHERE n IN []', 'IN operator must have a left hand argument of type '
      + 'Variable Reference and right hand argument of type Seq with at least one member'],
    ['SELECT * FROM TAB WHERE n BETWEEN 2 AND 1',
      'The BETWEEN operator requires upper bound to be greater than or equal to lower bound; '
      + 'lower bound operand: AttributeValue: {N:2}, upper bound operand: AttributeValue: {N:1}'],
    ['SELECT * FROM TAB WHERE pk=1',
      "Key attribute's data type should match its data type in table's schema: Key pk"],
    ["SELECT * FROM TAB WHERE pk IN ['a',1]",
      "Key attribute's data type should match its data type in table's schema: Key pk"],
    ["SELECT * FROM TAB WHERE pk='a' AND begins_with(sk,'1')",
      "Key attribute's data type should match its data type in table's schema: Key sk"],
    ["SELECT * FROM TAB WHERE pk=''", 'One or more parameter values are not valid. The '
      + 'AttributeValue for a key attribute cannot contain an empty string value. Key: pk'],
    ["SELECT * FROM TAB WHERE pk.x='a'", 'Key attributes must be scalars; list random access '
      + "'[]' and map lookup '.' are not allowed: Key: pk"],
    ["EXISTS(SELECT * FROM TAB WHERE pk='a' AND sk=1)",
      'EXISTS can only be used in ExecuteTransaction write requests.'],
    ['SELECT * FROM "ab"', "Table name should be within the length [3, 255] and only contain "
      + "'a-z', 'A-Z', '0-9', '-', '_', '.'."],
  ];
  for (const [statement, message] of cases) {
    test(statement, async () => {
      assert.deepEqual(await refusal(run(statement)), validation(message));
    });
  }
  test('a table that is not there', async () => {
    assert.deepEqual(await refusal(run('SELECT * FROM nobody')),
      { name: 'ResourceNotFoundException', message: 'Requested resource not found' });
  });
  test('too few parameters', async () => {
    assert.deepEqual(await refusal(run('SELECT * FROM TAB WHERE pk=? AND sk=?', [{ S: 'a' }])),
      validation('Number of parameters in request and statement don\'t match.'));
  });
  test('a parameter that is no value', async () => {
    assert.deepEqual(await refusal(run('SELECT * FROM TAB WHERE sk=?', [{ N: 'x' }])),
      validation('The parameter cannot be converted to a numeric value: x'));
    assert.deepEqual(await refusal(run('SELECT * FROM TAB WHERE pk=?', [])),
      validation("1 validation error detected: Value '[]' at 'parameters' failed to satisfy "
        + 'constraint: Member must have length greater than or equal to 1'));
  });
  test('Limit below 1', async () => {
    assert.deepEqual(await refusal(run('SELECT * FROM TAB', undefined, { Limit: 0 })),
      validation("1 validation error detected: Value '0' at 'limit' failed to satisfy constraint: "
        + 'Member must have value greater than or equal to 1'));
  });
  test('the length of a statement', async () => {
    const padded = (length) => 'SELECT * FROM TAB'.replace('TAB', `"${SORTED}"`).padEnd(length);
    for (const length of [STATEMENT_MAX - 1, STATEMENT_MAX]) {
      assert.equal((await run(padded(length))).Items.length, 6);
    }
    const long = padded(STATEMENT_MAX + 1);
    assert.deepEqual(await refusal(run(long)),
      validation(`1 validation error detected: Value '${long}' at 'statement' failed to satisfy `
        + `constraint: Member must have length less than or equal to ${STATEMENT_MAX}`));
    assert.deepEqual(await refusal(run('')),
      validation("1 validation error detected: Value '' at 'statement' failed to satisfy "
        + 'constraint: Member must have length greater than or equal to 1'));
  });
  test('the operands of IN', async () => {
    const list = (count) => Array.from({ length: count }, (_, index) => `'k${index}'`).join(',');
    for (const count of [IN_MAX - 1, IN_MAX]) {
      assert.deepEqual((await run(`SELECT * FROM TAB WHERE pk IN [${list(count)}]`)).Items, []);
    }
    assert.deepEqual(await refusal(run(`SELECT * FROM TAB WHERE pk IN [${list(IN_MAX + 1)}]`)),
      validation('The IN operator is provided with too many operands; number of operands: '
        + `${IN_MAX + 1}`));
  });
});
