// code.test.js -- requests as code: what is printed runs unchanged and gives the console's answer; and
// commands become requests again.
'use strict';
const assert = require('node:assert/strict');
const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { after, before, test } = require('node:test');
const { startServer } = require('../api/lib/server.js');
const { consoleFolder } = require('./lib/browser.js');
const { TEN_TYPES } = require('./lib/data.js');
const { writeSdk } = require('./lib/java_sdk.js');

const COUNT = 100;
const JAVA_COUNT = 40; // javac needs a tenth of a second for each.
const SHELL_COUNT = 6; // So many through a shell; all through the CLI's own code in one process.
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'stator-code-'));
let server;
let languages;
let query;
let value;
let cli;
let form;
let table;
let requests;
let wanted;

// Between two calls the server may have closed idle connections, several of them: once more, then.
const ATTEMPTS = 10;
async function send(request) {
  for (let left = ATTEMPTS; ; left -= 1) {
    try {
      return await fetch(server.url, request);
    } catch (error) {
      if (left === 1) throw error;
    }
  }
}

async function call(operation, body) {
  const response = await send({
    method: 'POST',
    headers: {
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': `DynamoDB_20120810.${operation}`,
      authorization: 'AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0',
    },
    body: JSON.stringify(body),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(JSON.stringify(answer));
  return answer;
}

const load = (name) => import(path.join(consoleFolder, name));
before(async () => {
  [languages, query, value, cli, form] = await Promise.all(['code/languages.js', 'core/query.js', 'core/value.js', 'code/cli.js', 'code/form.js'].map(load));
  server = await startServer('--in-memory');
  await call('CreateTable', {
    TableName: 'things', BillingMode: 'PAY_PER_REQUEST',
    KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }, { AttributeName: 'sk', KeyType: 'RANGE' }],
    AttributeDefinitions: ['pk', 'sk', 'status'].map((AttributeName) => ({ AttributeName, AttributeType: AttributeName === 'sk' ? 'B' : 'S' })),
    GlobalSecondaryIndexes: [{ IndexName: 'by status', KeySchema: [{ AttributeName: 'status', KeyType: 'HASH' }], Projection: { ProjectionType: 'ALL' } }].map((index) => ({ ...index, IndexName: 'by-status' })),
  });
  for (let i = 0; i < 60; i += 1) {
    await call('PutItem', { TableName: 'things', Item: { ...TEN_TYPES, pk: { S: `it's "${i % 5}" $HOME \\ -x` }, sk: { B: Buffer.from([i]).toString('base64') }, status: { S: i % 3 ? '--open' : 'päid' }, n: { N: `${i}.${'9'.repeat(30)}` }, 'a.b-c': { N: String(i) } } });
  }
  table = (await call('DescribeTable', { TableName: 'things' })).Table;
  requests = Array.from({ length: COUNT }, (_, i) => randomRequest(i));
  wanted = [];
  // The writes first: they are the same each time.
  for (const one of requests) if (one.operation === 'UpdateItem') await call('UpdateItem', one.parameters);
  for (const { operation, parameters } of requests) wanted.push(core(await call(operation, parameters)));
  assert.deepEqual([...new Set(requests.map((one) => one.operation))].sort(), ['GetItem', 'Query', 'Scan', 'UpdateItem']);
});
after(async () => {
  await server.stop();
  fs.rmSync(folder, { recursive: true, force: true });
});

let seed = Number(process.env.CODE_SEED ?? 4711);
const random = (n) => { seed = (seed * 1103515245 + 12345) % 2 ** 31; return Math.floor(seed / 65536) % n; };
const pick = (list) => list[random(list.length)];

function randomState() {
  const key = { t: 'S', v: `it's "${random(6)}" $HOME \\ -x` };
  const index = random(4) === 0 ? 'by-status' : '';
  const sort = () => ({ t: 'B', v: Buffer.from([random(60)]).toString('base64') });
  const filters = Array.from({ length: random(3) }, () => pick([
    () => ({ path: 'n', op: pick(['<', '>', '<=', '>=', '<>']), values: [{ t: 'N', v: `${random(60)}.5` }] }),
    () => ({ path: '"a.b-c"', op: 'between', values: [{ t: 'N', v: '3' }, { t: 'N', v: '40' }] }),
    () => ({ path: 'ss', op: 'contains', values: [{ t: 'S', v: pick(['a', '', 'nope']) }] }),
    () => ({ path: 'map.inner."$deep"', op: '=', values: [{ t: 'N', v: '9007199254740993' }] }),
    () => ({ path: 'b', op: pick(['=', 'begins_with']), values: [{ t: 'B', v: pick(['AP8Q+/8=', 'AP8=']) }] }),
    () => ({ path: 'yes', op: 'in', values: [{ t: 'BOOL', v: true }, { t: 'NULL', v: true }] }),
    () => ({ path: pick(['empty', 'absent', 'list[1]']), op: pick(['exists', 'not_exists']), values: [] }),
    () => ({ path: 's', op: 'size_over', values: [{ t: 'N', v: String(random(40)) }] }),
    () => ({ path: 'list', op: 'is_type', values: [{ t: 'S', v: 'L' }] }),
  ])());
  const hasHash = random(3) > 0;
  return {
    index,
    hash: [hasHash ? (index ? { t: 'S', v: pick(['--open', 'päid']) } : key) : null],
    range: { op: pick(['=', '<', '>=', 'begins_with', 'between']), values: index || random(2) ? [] : [sort(), sort()].sort((a, b) => Buffer.compare(Buffer.from(a.v, 'base64'), Buffer.from(b.v, 'base64'))) },
    filters, any: random(2) === 1, descending: random(2) === 1, consistent: !index && random(2) === 1, project: random(3) ? [] : ['pk', 'n', 'map.inner', '"a.b-c"'],
  };
}

function randomRequest(i) {
  if (i % 10 === 9) {
    return {
      operation: 'UpdateItem',
      parameters: { TableName: 'things', Key: { pk: { S: `new ${i}'` }, sk: { B: '' || 'AA==' } }, UpdateExpression: 'SET #a = :a, #b = :b', ExpressionAttributeNames: { '#a': 'a"', '#b': 'b' }, ExpressionAttributeValues: { ':a': TEN_TYPES[pick(['s', 'b', 'bs', 'ns', 'map', 'list', 'nothing'])], ':b': { N: TEN_TYPES.n.N } }, ReturnValues: 'ALL_NEW' },
    };
  }
  const { operation, parameters } = query.readRequest(table, randomState());
  return { operation, parameters: { ...parameters, ...(operation !== 'GetItem' && random(4) === 0 ? { Limit: 1 + random(20) } : {}) } };
}

// What answers have in common, whatever printed them.
const core = ({ Items, Item, Attributes, Count, ScannedCount, LastEvaluatedKey }) => JSON.parse(JSON.stringify({ Items, Item, Attributes, Count, ScannedCount, LastEvaluatedKey: LastEvaluatedKey ?? undefined }));

const options = () => ({ endpoint: server.url, region: 'us-east-1', auth: false });
const print = (id, { operation, parameters }) => languages.LANGUAGES.find((one) => one.id === id).print(operation, parameters, options());

function compare(answers) {
  assert.equal(answers.length, COUNT);
  answers.forEach((answer, i) => assert.deepEqual(core(answer), wanted[i], JSON.stringify(requests[i])));
}

test('boto3', () => {
  const file = path.join(folder, 'snippets.json');
  fs.writeFileSync(file, JSON.stringify(requests.map((one) => print('boto3', one))));
  const runner = `
import base64, json, sys
def plain(value):
    if isinstance(value, (bytes, bytearray)): return base64.b64encode(bytes(value)).decode()
    return str(value)
answers = []
for snippet in json.load(open(sys.argv[1])):
    exec(compile(snippet, "snippet", "exec"), {"print": answers.append})
json.dump(answers, sys.stdout, default=plain)
`;
  compare(JSON.parse(execFileSync('/usr/bin/python3', ['-c', runner, file], { maxBuffer: 1e9 })));
});

test('JavaScript', () => {
  fs.symlinkSync(path.join(__dirname, '../api/node_modules'), path.join(folder, 'node_modules'));
  requests.forEach((one, i) => fs.writeFileSync(path.join(folder, `${i}.mjs`), print('javascript', one)));
  fs.writeFileSync(path.join(folder, 'run.mjs'), `
const answers = [];
const { log } = console;
console.log = (answer) => answers.push(answer);
for (let i = 0; i < ${COUNT}; i += 1) await import(\`./\${i}.mjs\`);
const plain = (key, value) => (value instanceof Uint8Array || value?.type === 'Buffer' ? Buffer.from(value.data ?? value).toString('base64') : value);
log(JSON.stringify(answers, plain));
`);
  compare(JSON.parse(execFileSync('node', [path.join(folder, 'run.mjs')], { maxBuffer: 1e9 })));
});

test('AWS CLI', () => {
  const commands = requests.map((one) => print('cli', one));
  const file = path.join(folder, 'commands.json');
  // A shell splits the words; then the CLI's own main runs them.
  const words = commands.map((command) => execFileSync('bash', ['-c', `aws() { printf '%s\\0' "$@"; }; ${command}`]).toString().split('\0').slice(0, -1));
  fs.writeFileSync(file, JSON.stringify(words));
  const runner = `
import io, json, sys
from awscli.clidriver import create_clidriver
answers = []
for words in json.load(open(sys.argv[1])):
    sys.stdout = io.StringIO()
    code = create_clidriver().main(words) # One for each: it remembers how it paged.
    text = sys.stdout.getvalue()
    sys.stdout = sys.__stdout__
    if code: sys.exit("exit code %d for %s" % (code, words))
    answers.append(json.loads(text) if text else {})
json.dump(answers, sys.stdout)
`;
  const environment = { ...process.env, AWS_ACCESS_KEY_ID: 'x', AWS_SECRET_ACCESS_KEY: 'x', AWS_DEFAULT_OUTPUT: 'json', PYTHONIOENCODING: 'utf-8', LANG: 'C.UTF-8' };
  compare(JSON.parse(execFileSync('/usr/bin/python3', ['-c', runner, file], { maxBuffer: 1e9, env: environment })));
  // Without a terminal, bash may take itself for a remote shell, and read a file that sets PATH.
  for (let i = 0; i < SHELL_COUNT; i += 1) {
    const text = execFileSync('bash', ['--norc', '-c', commands[i]], { env: { ...process.env, PATH: `/usr/bin:${process.env.PATH}`, AWS_DEFAULT_OUTPUT: 'json', LANG: 'C.UTF-8' } }).toString();
    assert.deepEqual(core(text ? JSON.parse(text) : {}), wanted[i], commands[i]);
  }
});

test('curl', { skip: !fs.existsSync('/usr/bin/curl') && 'no curl' }, () => {
  for (let i = 0; i < COUNT; i += 5) assert.deepEqual(core(JSON.parse(execFileSync('bash', ['-c', `${print('curl', requests[i])} -s`]))), wanted[i]);
});

test('PartiQL, where a request has a statement', async () => {
  let count = 0;
  for (const [i, one] of requests.entries()) {
    const Statement = print('partiql', one);
    if (Statement === null || one.parameters.Limit || one.parameters.ProjectionExpression) continue;
    count += 1;
    const { Items } = await call('ExecuteStatement', { Statement, ConsistentRead: one.parameters.ConsistentRead });
    const want = wanted[i].Items ?? (wanted[i].Item ? [wanted[i].Item] : []);
    const order = (items) => JSON.parse(JSON.stringify(items)).map((item) => JSON.stringify(Object.entries(item).sort())).sort();
    assert.deepEqual(order(Items), order(want), Statement);
  }
  assert.ok(count > 5, `${count} statements`);
});

// What the pages of tables and of recovery send, beside reads.
const CHANGES = [
  ['PutItem', { TableName: 'things', Item: { ...TEN_TYPES, deep: { M: { l: { L: [{ M: {} }, { L: [] }] } } } }, ConditionExpression: 'attribute_not_exists(pk)' }],
  ['DeleteItem', { TableName: 'things', Key: { pk: { S: '\u2028 \\ "' } }, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' }],
  ['TransactWriteItems', { TransactItems: [{ Delete: { TableName: 'things', Key: { pk: { S: 'a' } } } }, { Put: { TableName: 'things', Item: { pk: { S: 'b' } } } }, { Update: { TableName: 'things', Key: { pk: { S: 'c' } }, UpdateExpression: 'SET a = :a', ExpressionAttributeValues: { ':a': { N: '1' } } } }] }],
  ['CreateTable', {
    TableName: 'new', BillingMode: 'PROVISIONED', ProvisionedThroughput: { ReadCapacityUnits: 5, WriteCapacityUnits: 6 }, KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }], AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }], DeletionProtectionEnabled: true, Tags: [{ Key: 'a', Value: 'b' }],
    GlobalSecondaryIndexes: [{ IndexName: 'i', KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }], Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['x', 'y'] }, ProvisionedThroughput: { ReadCapacityUnits: 1, WriteCapacityUnits: 1 } }], StreamSpecification: { StreamEnabled: true, StreamViewType: 'KEYS_ONLY' },
  }],
  ['UpdateTable', { TableName: 'new', GlobalSecondaryIndexUpdates: [{ Delete: { IndexName: 'i' } }] }],
  ['UpdateTable', { TableName: 'new', BillingMode: 'PROVISIONED', ProvisionedThroughput: { ReadCapacityUnits: 5, WriteCapacityUnits: 6 }, GlobalSecondaryIndexUpdates: [{ Update: { IndexName: 'i', ProvisionedThroughput: { ReadCapacityUnits: 1, WriteCapacityUnits: 1 } } }] }],
  ['UpdateTable', { TableName: 'new', AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }], GlobalSecondaryIndexUpdates: [{ Create: { IndexName: 'i', KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }], Projection: { ProjectionType: 'ALL' } } }] }],
  ['UpdateTimeToLive', { TableName: 'new', TimeToLiveSpecification: { Enabled: true, AttributeName: 'expires' } }],
  ['TagResource', { ResourceArn: 'arn', Tags: [{ Key: 'a', Value: 'b' }] }],
  ['UntagResource', { ResourceArn: 'arn', TagKeys: ['a'] }],
  ['UpdateContinuousBackups', { TableName: 'new', PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true } }],
  ['RestoreTableToPointInTime', { SourceTableName: 'a', TargetTableName: 'b', RestoreDateTime: 1_794_853_057 }],
  ['RestoreTableFromBackup', { TargetTableName: 'b', BackupArn: 'arn' }],
  ['CreateBackup', { TableName: 'a', BackupName: 'b' }],
  ['UpdateContributorInsights', { TableName: 'a', ContributorInsightsAction: 'ENABLE' }],
  ['DeleteTable', { TableName: 'a' }],
  ['BatchGetItem', { RequestItems: { things: { Keys: [{ pk: { S: 'a' } }, { pk: { S: 'b' } }], ConsistentRead: true, ProjectionExpression: '#0', ExpressionAttributeNames: { '#0': 'pk' } }, 'other-1': { Keys: [{ pk: { B: 'AA==' } }] } } }],
  ['BatchWriteItem', { RequestItems: { things: [{ PutRequest: { Item: TEN_TYPES } }, { DeleteRequest: { Key: { pk: { S: 'b' } } } }], other: [{ DeleteRequest: { Key: { pk: { N: '1' } } } }] } }],
  ['TransactGetItems', { TransactItems: [{ Get: { TableName: 'things', Key: { pk: { S: 'a' } } } }] }],
  ['BatchExecuteStatement', { Statements: [{ Statement: 'SELECT * FROM "things" WHERE pk = ?', Parameters: [{ S: 'a' }] }] }],
  ['ExecuteTransaction', { TransactStatements: [{ Statement: 'SELECT * FROM "things" WHERE pk = ?', Parameters: [{ S: 'a' }] }] }],
  ['GetShardIterator', { StreamArn: 'arn', ShardId: 'shard', ShardIteratorType: 'AFTER_SEQUENCE_NUMBER', SequenceNumber: '1' }],
  ['ListStreams', { TableName: 'a', Limit: 5 }],
].map(([operation, parameters]) => ({ operation, parameters }));

const hasJava = () => { try { return Boolean(execFileSync('javac', ['-version'], { stdio: 'pipe' })); } catch { return false; } };

// The SDK is not packaged; java_sdk.js makes its classes from the service's model.
test('Java compiles with the types of the SDK, and makes exactly the request', { skip: !hasJava() && 'no javac' }, () => {
  const sources = path.join(folder, 'java');
  writeSdk(sources);
  const all = [...requests.slice(0, JAVA_COUNT), ...CHANGES];
  all.forEach((one, i) => fs.writeFileSync(path.join(sources, `Main${i}.java`), print('java', one).replace('public class Main ', `public class Main${i} `)));
  fs.writeFileSync(path.join(sources, 'Run.java'), `public class Run {\n  public static void main(String[] args) {\n${all.map((_, i) => `    Main${i}.main(args);\n`).join('')}  }\n}\n`);
  const classes = path.join(folder, 'classes');
  execFileSync('javac', ['-encoding', 'UTF-8', '-proc:none', '-nowarn', '-d', classes, '-sourcepath', sources, path.join(sources, 'Run.java')], { stdio: 'pipe' });
  const lines = execFileSync('java', ['-cp', classes, 'Run'], { maxBuffer: 1e9 }).toString().trim().split('\n');
  assert.equal(lines.length, all.length);
  lines.forEach((line, i) => assert.deepEqual(JSON.parse(line), JSON.parse(JSON.stringify(all[i].parameters))));
});

const hasGo = () => { try { return Boolean(execFileSync('gofmt', ['-h'], { stdio: 'pipe' })); } catch (error) { return error.code !== 'ENOENT'; } };

test('Go has the form that gofmt reads', { skip: !hasGo() && 'no Go' }, () => {
  const files = [...requests, ...CHANGES].map((one, i) => {
    const file = path.join(folder, `${i}.go`);
    fs.writeFileSync(file, print('go', one));
    return file;
  });
  execFileSync('gofmt', ['-e', '-l', ...files], { stdio: 'pipe' });
});

test('Go names every value and parameter, and its brackets and texts close', () => {
  for (const one of [...requests, ...CHANGES]) {
    const code = print('go', one);
    for (const name of Object.keys(one.parameters)) assert.ok(code.includes(`${name}: `), name);
    for (const text of JSON.stringify(one.parameters).match(/"N":"[^"]*"/g) ?? []) assert.ok(code.includes(text.slice(5, -1)), text);
    const bare = code.replace(/"(?:[^"\\\n]|\\.)*"/g, '');
    assert.ok(!bare.includes('"'));
    for (const [open, close] of ['()', '{}', '[]']) assert.equal(bare.split(open).length, bare.split(close).length, code);
  }
});

test('a request whose structures are not known has no Java and no Go, rather than wrong ones', () => {
  for (const SSESpecification of [{ Enabled: true }, { SSEType: 'KMS' }]) {
    const one = { operation: 'UpdateTable', parameters: { TableName: 'things', SSESpecification } };
    assert.equal(print('java', one), null);
    assert.equal(print('go', one), null);
  }
});

test('Go imports what the code uses, whatever its texts say', () => {
  const imports = (parameters, operation = 'Query') => [...print('go', { operation, parameters }).matchAll(/^\t"([^"]*)"$/gm)].map((match) => match[1].split('/').at(-1)).sort();
  const least = ['aws', 'config', 'context', 'credentials', 'dynamodb', 'fmt'];
  assert.deepEqual(imports({ TableName: 'time.types.decode("' }), least);
  assert.deepEqual(imports({ TableName: 'a', ExpressionAttributeValues: { ':a': { S: 'time.Now() decode("' } } }), [...least, 'types'].sort());
  assert.deepEqual(imports({ TableName: 'a', ExpressionAttributeValues: { ':a': { B: 'AA==' } } }), [...least, 'base64', 'types'].sort());
  assert.deepEqual(imports({ SourceTableName: 'a', RestoreDateTime: 1 }, 'RestoreTableToPointInTime'), [...least, 'time'].sort());
});

test('streams are asked by their own clients', async () => {
  await call('UpdateTable', { TableName: 'things', StreamSpecification: { StreamEnabled: true, StreamViewType: 'KEYS_ONLY' } });
  const one = { operation: 'ListStreams', parameters: { TableName: 'things' } };
  const arn = `arn:aws:dynamodb:us-east-1:[0-9]+:table/things/stream`;
  fs.writeFileSync(path.join(folder, 'streams.py'), print('boto3', one));
  assert.match(execFileSync('/usr/bin/python3', [path.join(folder, 'streams.py')]).toString(), new RegExp(arn));
  fs.writeFileSync(path.join(folder, 'streams.mjs'), print('javascript', one));
  assert.match(execFileSync('node', [path.join(folder, 'streams.mjs')]).toString(), new RegExp(arn));
  assert.match(print('go', one), /dynamodbstreams\.NewFromConfig[^]*&dynamodbstreams\.ListStreamsInput/);
});

test('a value that looks like a function stays a value in PartiQL', async () => {
  const text = "attribute_exists(x) OR size(y)'s #0 :0";
  await call('PutItem', { TableName: 'things', Item: { pk: { S: text }, sk: { B: 'AA==' }, a: { S: text } } });
  const parameters = { TableName: 'things', KeyConditionExpression: '#0 = :0', FilterExpression: 'attribute_exists(#1) AND #1 = :0', ExpressionAttributeNames: { '#0': 'pk', '#1': 'a' }, ExpressionAttributeValues: { ':0': { S: text } } };
  const { Items } = await call('ExecuteStatement', { Statement: print('partiql', { operation: 'Query', parameters }) });
  assert.deepEqual(Items.map((item) => item.a), [{ S: text }]);
});

test('the names of options are those of the CLI', () => {
  const one = { operation: 'CreateTable', parameters: { TableName: 'a', SSESpecification: { Enabled: true }, LocalSecondaryIndexes: [], DeletionProtectionEnabled: true } };
  const code = print('cli', one);
  assert.match(code, / --sse-specification '/);
  assert.match(code, /--local-secondary-indexes /);
  assert.deepEqual(cli.fromText(code), one);
});

test('pasted JSON tells its operation', () => {
  const cases = CHANGES.filter((one) => /^(Batch|Transact|Execute|Create.*Table|PutItem)/.test(one.operation));
  assert.ok(cases.length > 6);
  for (const { operation, parameters } of cases) assert.equal(cli.fromText(JSON.stringify(parameters)).operation, operation);
});

test('a command becomes the request that it was', () => {
  for (const one of requests) {
    const back = cli.fromText(print('cli', one));
    assert.deepEqual(back, JSON.parse(JSON.stringify({ operation: one.operation, parameters: one.parameters })));
    assert.deepEqual(cli.fromText(JSON.stringify(one.parameters)).parameters, back.parameters);
  }
  assert.throws(() => cli.fromText('rm -rf /'), /begins with: aws dynamodb/);
  assert.deepEqual(cli.fromText('aws dynamodb get-item --table-name "a" --key \'{"pk": {"S": "it\'\\\'\'s"}}\' --consistent-read --profile x'),
    { operation: 'GetItem', parameters: { TableName: 'a', Key: { pk: { S: "it's" } }, ConsistentRead: true } });
});

test('a read becomes the form that it came from', async () => {
  let count = 0;
  for (let i = 0; i < 200; i += 1) {
    const state = randomState();
    const { operation, parameters } = query.readRequest(table, state);
    let back;
    try {
      back = form.stateFromRequest(table, operation, parameters);
    } catch (error) {
      // A Scan with key terms and OR-joined filters has parentheses, which the form does not show.
      assert.match(error.message, /form/);
      continue;
    }
    count += 1;
    const again = query.readRequest(table, back);
    assert.equal(again.operation, operation);
    assert.deepEqual((await call(again.operation, again.parameters)).Items, (await call(operation, parameters)).Items);
  }
  assert.ok(count > 100, `${count} of 200`);
});
