// The wire: what every answer carries, how requests are routed, what compression and CORS do.
'use strict';
const assert = require('node:assert/strict');
const zlib = require('node:zlib');
const { after, before, describe, test } = require('node:test');
const { crc32 } = require('./lib/crc32.js');
const { call, operationHeaders, request } = require('./lib/http.js');
const { startServer } = require('./lib/server.js');

const BODY_SIZE_MAX = 16 * 1024 * 1024;
const CORAL = 'com.amazon.coral.service#';
const TABLE = 'wire';

let server;
before(async () => {
  server = await startServer('--in-memory');
  await call(server, 'DeleteTable', { TableName: TABLE });
  const { status } = await call(server, 'CreateTable', {
    TableName: TABLE,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
  });
  assert.equal(status, 200);
  for (let state; state !== 'ACTIVE';) {
    state = (await call(server, 'DescribeTable', { TableName: TABLE })).json.Table.TableStatus;
  }
});
after(() => server.stop());

describe('every answer', () => {
  const requests = [
    ['that is a success', () => call(server, 'ListTables', {})],
    ['that is an error', () => call(server, 'DescribeTable', { TableName: 'not-there' })],
    ['to an unknown operation', () => call(server, 'Nothing', {})],
    ['to a body that is no JSON', () => call(server, 'ListTables', '{')],
  ];
  for (const [name, ask] of requests) {
    test(`${name} has a request id, the body's CRC-32 and the content type`, async () => {
      const { headers, body } = await ask();
      assert.match(headers['x-amzn-requestid'], /^[A-Z0-9]{52}$/);
      assert.equal(headers['x-amz-crc32'], String(crc32(body)));
      assert.equal(headers['content-type'], 'application/x-amz-json-1.0');
      assert.equal(headers['content-length'], String(body.length));
    });
  }

  test('has a request id of its own', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => call(server, 'ListTables', {})));
    assert.equal(new Set(answers.map(({ headers }) => headers['x-amzn-requestid'])).size, 20);
  });
});

describe('errors', () => {
  const same = async (answer, body) => {
    const { status, body: bytes } = await answer;
    assert.deepEqual({ status, body: bytes.toString() }, { status: 400, body });
  };

  test('an exception of the service, byte for byte', async () => {
    await same(call(server, 'DescribeTable', { TableName: 'not-there' }),
      '{"__type":"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException","message":'
      + '"Requested resource not found: Table: not-there not found"}');
  });

  test('a validation error, byte for byte', async () => {
    await same(call(server, 'ListTables', { Limit: 0 }),
      '{"__type":"com.amazon.coral.validate#ValidationException","message":"1 validation error '
      + "detected: Value '0' at 'limit' failed to satisfy constraint: Member must have value "
      + 'greater than or equal to 1"}');
  });

  for (const [name, target] of [
    ['an unknown operation', 'DynamoDB_20120810.Nothing'],
    ['another version', 'DynamoDB_20111205.ListTables'],
    ['an empty target', ''],
    ['no dot', 'ListTables'],
    ['a name in another case', 'DynamoDB_20120810.listtables'],
    ['no target', undefined],
    ["a stream's operation among the tables'", 'DynamoDB_20120810.ListStreams'],
    ["a table's operation among the streams'", 'DynamoDBStreams_20120810.ListTables'],
  ]) {
    test(`${name} is an UnknownOperationException`, async () => {
      await same(call(server, 'ListTables', {}, { 'X-Amz-Target': target }),
        `{"__type":"${CORAL}UnknownOperationException"}`);
    });
  }

  for (const [name, text] of [
    ['cut off', '{'], ['empty', ''], ['followed by more', '{} x'], ['no JSON', 'nonsense'],
    ['with a trailing comma', '{"Limit":1,}'], ['with a bare control character', '{"a":"\n"}'],
    ['nested without end', '['.repeat(100_000)],
    ['nested without end below an unknown member', `{"a":${'['.repeat(100_000)}`],
    ['of bytes that are not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
  ]) {
    test(`a body ${name} is a SerializationException`, async () => {
      const { status, json } = await call(server, 'ListTables', text);
      assert.equal(status, 400);
      assert.equal(json.__type, `${CORAL}SerializationException`);
    });
  }

  for (const [name, body, message] of [
    ['a string for an integer', '{"Limit":"a"}', 'STRING_VALUE cannot be converted to Integer'],
    ['a number for a string', '{"ExclusiveStartTableName":5}',
      'NUMBER_VALUE cannot be converted to String'],
    ['a structure for a string', '{"ExclusiveStartTableName":{}}',
      'Start of structure or map found where not expected'],
  ]) {
    test(`${name} is a SerializationException that says so`, async () => {
      const { status, json } = await call(server, 'ListTables', body);
      assert.equal(status, 400);
      assert.deepEqual(json, { __type: `${CORAL}SerializationException`, Message: message });
    });
  }

  test('a member that the operation does not know is skipped', async () => {
    const { status } = await call(server, 'ListTables', '{"New":{"a":[1,{"b":null}]}}');
    assert.equal(status, 200);
  });

  test('a request without credentials is refused, but only once its operation is known',
    async () => {
      await same(call(server, 'ListTables', {}, { Authorization: undefined }),
        `{"__type":"${CORAL}MissingAuthenticationTokenException","message":"Request is missing `
        + 'Authentication Token"}');
      await same(call(server, 'Nothing', {}, { Authorization: undefined }),
        `{"__type":"${CORAL}UnknownOperationException"}`);
    });
});

describe('paths and methods', () => {
  for (const path of ['/healthz', '/readyz']) {
    test(`GET ${path} is 200`, async () => {
      assert.equal((await request(server, { method: 'GET', path })).status, 200);
    });
  }

  for (const method of ['GET', 'HEAD']) {
    test(`a bare ${method} / is 200`, async () => {
      assert.equal((await request(server, { method, path: '/' })).status, 200);
    });
  }

  test('an answer to HEAD has no body', async () => {
    assert.equal((await request(server, { method: 'HEAD', path: '/healthz' })).body.length, 0);
  });
});

describe('content types', () => {
  for (const type of ['application/x-amz-json-1.0', 'Application/X-Amz-JSON-1.0; charset=utf-8',
    'application/json']) {
    test(`${type} is read`, async () => {
      const { status, headers } = await call(server, 'ListTables', {}, { 'Content-Type': type });
      assert.equal(status, 200);
      assert.equal(headers['content-type'],
        type === 'application/json' ? type : 'application/x-amz-json-1.0');
    });
  }

  for (const type of ['application/x-amz-json-1.1', 'text/plain', undefined]) {
    test(`${type} is another protocol`, async () => {
      const { status, body } = await call(server, 'ListTables', {}, { 'Content-Type': type });
      assert.deepEqual({ status, body: body.toString() },
        { status: 404, body: '<UnknownOperationException/>\n' });
    });
  }
});

describe('CORS', () => {
  const PAGE = 'http://localhost:3000';
  const preflight = (Origin) => request(server, {
    method: 'OPTIONS',
    headers: {
      Origin,
      'Access-Control-Request-Method': 'POST',
      'Access-Control-Request-Headers': 'x-amz-target, authorization, content-type',
    },
  });

  test('a preflight is allowed what it asks for', async () => {
    const { status, headers, body } = await preflight(PAGE);
    assert.equal(status, 200);
    assert.equal(body.length, 0);
    assert.equal(headers['access-control-allow-origin'], PAGE);
    assert.match(headers['access-control-allow-methods'], /\bPOST\b/);
    assert.equal(headers['access-control-allow-headers'],
      'x-amz-target, authorization, content-type');
    assert.equal(headers['access-control-max-age'], '172800');
  });

  test('an answer to a request with an origin may be read there', async () => {
    const withOrigin = await call(server, 'ListTables', {}, { Origin: PAGE });
    assert.equal(withOrigin.status, 200);
    assert.equal(withOrigin.headers['access-control-allow-origin'], PAGE);
    const without = await call(server, 'ListTables', {});
    assert.equal(without.headers['access-control-allow-origin'], undefined);
  });

  test('a page of another host reaches nothing, and a preflight tells it so', async () => {
    for (const Origin of ['http://app.example', 'null', 'http://localhost.app.example']) {
      const Item = { pk: { S: Origin } };
      const put = await call(server, 'PutItem', { TableName: TABLE, Item }, { Origin });
      assert.equal(put.status, 403);
      assert.match(put.body.toString(), /cors-origins/);
      assert.equal(put.headers['access-control-allow-origin'], undefined);
      const asked = await preflight(Origin);
      assert.equal(asked.status, 403);
      for (const name of Object.keys(asked.headers))
        assert.ok(!name.startsWith('access-control-'), name);
      const { json } = await call(server, 'GetItem', { TableName: TABLE, Key: Item });
      assert.equal(json.Item, undefined);
    }
  });

  test('a page cannot reach the server by a name of its own', async () => {
    const { status, body } = await call(server, 'ListTables', {},
      { Host: 'evil.example:8000', 'Sec-Fetch-Site': 'same-origin' });
    assert.equal(status, 421);
    assert.match(body.toString(), /allowed-hosts/);
    const rebound = await call(server, 'ListTables', {},
      { Host: 'evil.example:8000', Origin: 'http://evil.example:8000' });
    assert.equal(rebound.status, 403);
  });

  test('SDKs and tools may use any name for the server', async () => {
    for (const Host of ['dynamodb:8000', 'db.example', 'host.docker.internal:8000'])
      assert.equal((await call(server, 'ListTables', {}, { Host })).status, 200);
    // Node's own fetch, of which the SDK for edge runtimes makes use, is not a browser either.
    const answer = await fetch(`http://127.0.0.1:${server.port}/`, {
      method: 'POST', body: '{}', headers: operationHeaders('ListTables'),
    });
    assert.equal(answer.status, 200);
  });
});

describe('compression', () => {
  for (const [encoding, compress] of [['gzip', zlib.gzipSync], ['deflate', zlib.deflateSync]]) {
    test(`a request body in ${encoding} is read`, async () => {
      const Item = { pk: { S: encoding }, v: { S: 'x'.repeat(1000) } };
      const { status } = await call(server, 'PutItem',
        compress(JSON.stringify({ TableName: TABLE, Item })), { 'Content-Encoding': encoding });
      assert.equal(status, 200);
      const { json } = await call(server, 'GetItem', { TableName: TABLE, Key: { pk: Item.pk } });
      assert.deepEqual(json.Item, Item);
    });

    test(`a body that is not ${encoding}, though it says so, is refused`, async () => {
      const { status, json } = await call(server, 'ListTables', '{}',
        { 'Content-Encoding': encoding });
      assert.equal(status, 400);
      assert.equal(json.__type, `${CORAL}SerializationException`);
    });

    test(`a cut-off ${encoding} body is refused`, async () => {
      const whole = compress(JSON.stringify({ filler: 'x'.repeat(5000) }));
      const { status } = await call(server, 'ListTables', whole.subarray(0, whole.length - 9),
        { 'Content-Encoding': encoding });
      assert.equal(status, 400);
    });

    test(`${encoding} of 16 MB is read, and of one byte more refused`, async () => {
      const ofSize = (size) => compress(Buffer.from(
        `{"filler":"${' '.repeat(size - '{"filler":""}'.length)}"}`));
      const headers = { 'Content-Encoding': encoding };
      assert.equal((await call(server, 'ListTables', ofSize(BODY_SIZE_MAX), headers)).status, 200);
      assert.equal((await call(server, 'ListTables', ofSize(BODY_SIZE_MAX + 1), headers)).status,
        413);
    });
  }

  test('an unknown encoding is refused', async () => {
    const { status } = await call(server, 'ListTables', '{}', { 'Content-Encoding': 'br' });
    assert.ok(status === 400 || status === 415, `status ${status}`);
  });

  describe('of answers', () => {
    const Key = { pk: { S: 'large' } };
    const Item = { ...Key, v: { S: 'x'.repeat(8000) } };
    before(() => call(server, 'PutItem', { TableName: TABLE, Item }));
    const ask = (headers) => call(server, 'GetItem', { TableName: TABLE, Key }, headers);

    test('over 4 KB happens for a client that accepts it; the CRC is of the bytes sent',
      async () => {
        const { headers, body } = await ask({ 'Accept-Encoding': 'gzip, deflate' });
        assert.equal(headers['content-encoding'], 'gzip');
        assert.equal(headers['x-amz-crc32'], String(crc32(body)));
        assert.ok(body.length < 1000);
        assert.deepEqual(JSON.parse(zlib.gunzipSync(body).toString()), { Item });
      });

    for (const accepted of [undefined, 'identity', 'gzip;q=0', 'br']) {
      test(`does not happen for Accept-Encoding: ${accepted}`, async () => {
        const { headers, json } = await ask({ 'Accept-Encoding': accepted });
        assert.equal(headers['content-encoding'], undefined);
        assert.deepEqual(json, { Item });
      });
    }

    test('does not happen for a small one', async () => {
      const { headers } = await call(server, 'ListTables', {}, { 'Accept-Encoding': 'gzip' });
      assert.equal(headers['content-encoding'], undefined);
    });
  });
});

describe('limits', () => {
  test('a body of 16 MB is read, and of one byte more refused', async () => {
    const ofSize = (size) => Buffer.from(
      `{"filler":"${' '.repeat(size - '{"filler":""}'.length)}"}`);
    assert.equal((await call(server, 'ListTables', ofSize(BODY_SIZE_MAX))).status, 200);
    // The refusal may arrive, and the connection end, before all is sent.
    const refused = await call(server, 'ListTables', ofSize(BODY_SIZE_MAX + 1)).catch(
      (error) => ({ error }));
    if (refused.error) assert.match(refused.error.code, /^(ECONNRESET|EPIPE)$/);
    else assert.equal(refused.status, 413);
  });

  test('headers of 17 KB are refused', async () => {
    const headers = { ...operationHeaders('ListTables'), 'X-Filler': 'x'.repeat(17 * 1024) };
    assert.equal((await request(server, { headers, body: '{}' })).status, 431);
  });

  test('headers of 15 KB are read', async () => {
    const headers = { ...operationHeaders('ListTables'), 'X-Filler': 'x'.repeat(15 * 1024 - 500) };
    assert.equal((await request(server, { headers, body: '{}' })).status, 200);
  });
});
