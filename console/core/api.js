// api.js -- calls of the API. The console has no powers: each call is what an SDK would send.
//
//   const { Items } = await call('Query', { TableName: 'orders', … }, { signal });
//
// A failure throws ApiError with the service's own exception name and message.

import { current as session } from './session.js';
import { sign } from './sigv4.js';

export class ApiError extends Error {
  constructor(name, message, status, body) {
    super(message);
    this.name = name;
    this.status = status;
    this.body = body ?? {};
  }
}

const SIGN_IN_ERRORS = new Set(['MissingAuthenticationTokenException', 'InvalidSignatureException',
  'UnrecognizedClientException', 'ExpiredTokenException', 'IncompleteSignatureException',
  // The same in the words of STS.
  'MissingAuthenticationToken', 'SignatureDoesNotMatch', 'InvalidClientTokenId', 'ExpiredToken']);

const STREAMS = new Set(['DescribeStream', 'GetRecords', 'GetShardIterator', 'ListStreams']);
const OWN = new Set(['AddFault', 'AddTrigger', 'CancelJob', 'CheckAccess', 'CheckModel',
  'CreateKey', 'CreateSession', 'DeleteKey', 'DeleteKeyPolicy', 'DeleteModel', 'DescribeRegions',
  'ExplainStatement', 'GetAdvice', 'GetHotKeys', 'GetItemHistory', 'GetKeyPolicy', 'GetMeters',
  'GetModel', 'GetSlowRequests', 'ListFaults', 'ListJobs', 'ListKeyPolicies', 'ListKeys',
  'ListTriggers', 'PutKeyPolicy', 'PutModel', 'RemoveFault', 'RemoveTrigger', 'ReplicateSettings',
  'ScanModel', 'UpdateKey', 'WriteDataForReplication']);
export const isOwn = (operation) => OWN.has(operation);
export const isOfStreams = (operation) => STREAMS.has(operation);

const UNSIGNED = 'AWS4-HMAC-SHA256 Credential=console/20260101/us-east-1/dynamodb/aws4_request, '
  + 'SignedHeaders=host;x-amz-date, Signature=0';

// Other services on the same port: signing name and target, for `service` of the options.
const SERVICES = {
  dynamodb: { json: '1.0' },
  cloudwatch: { signing: 'monitoring', target: 'GraniteServiceVersion20100801', json: '1.0' },
  autoscaling: {
    signing: 'application-autoscaling', target: 'AnyScaleFrontendService', json: '1.1',
  },
};

export const server = { auth: false, region: 'us-east-1', version: '' };
export const identity = { arn: '', account: '' };
let skew = 0; // Of the server's clock, as SDKs correct it.
let onSignInNeeded = () => {};
const observers = new Set();

export function observeCalls(observer) {
  observers.add(observer);
  return () => observers.delete(observer);
}

export function target(operation) {
  if (STREAMS.has(operation)) return `DynamoDBStreams_20120810.${operation}`;
  return `${OWN.has(operation) ? 'Stator_20261101' : 'DynamoDB_20120810'}.${operation}`;
}

async function post({ headers, body, signing }, signal) {
  // Without `auth` the server wants credentials all the same, and takes any.
  const all = { ...headers, authorization: UNSIGNED };
  if (server.auth && session()) {
    Object.assign(all, await sign(session(), {
      host: location.host, path: '/', headers, body, region: server.region, service: signing,
      now: Date.now() + skew,
    }));
  }
  try {
    return await fetch('/', { method: 'POST', headers: all, body, signal, cache: 'no-store' });
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new ApiError('Unreachable', 'The server does not answer. Is it still running?', 0);
  }
}

function failure(response, body) {
  const name = (body.__type ?? body.code ?? 'UnknownError').split('#').at(-1);
  const error = new ApiError(name, body.message ?? body.Message ?? `HTTP ${response.status}`,
    response.status, body);
  if (SIGN_IN_ERRORS.has(name)) onSignInNeeded(error);
  return error;
}

export async function call(operation, parameters = {}, { signal, service = 'dynamodb' } = {}) {
  const { signing = 'dynamodb', target: prefix, json } = SERVICES[service];
  const body = JSON.stringify(parameters);
  const headers = {
    'content-type': `application/x-amz-json-${json}`,
    'x-amz-target': prefix ? `${prefix}.${operation}` : target(operation),
  };
  const started = performance.now();
  const response = await post({ headers, body, signing }, signal);
  const text = await response.text();
  let answer;
  try {
    answer = text === '' ? {} : JSON.parse(text);
  } catch {
    answer = { __type: 'UnreadableAnswer', message: text.slice(0, 200) };
  }
  const ms = performance.now() - started;
  for (const observer of observers) observer({ operation, parameters, ms, ok: response.ok });
  if (!response.ok) throw failure(response, answer);
  return answer;
}

// All pages of a listing: pages('ListTables', {}, 'TableNames', ['LastEvaluatedTableName', 'Exclusive…'])
export async function* pages(operation, parameters, [last, start], options) {
  let position;
  do {
    const page = await call(operation, position === undefined ? parameters
      : { ...parameters, [start]: position }, options);
    yield page;
    position = page[last];
  } while (position !== undefined);
}

const unescapeXml = (text) => text.replace(/&(lt|gt|quot|apos|amp);/g,
  (whole, name) => ({ lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' })[name]);

// STS speaks forms and XML.
export async function whoAmI() {
  const body = 'Action=GetCallerIdentity&Version=2011-06-15';
  const headers = { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' };
  const response = await post({ headers, body, signing: 'sts' });
  const text = await response.text();
  const part = (name) => unescapeXml(text.match(new RegExp(`<${name}>([^<]*)</${name}>`))?.[1] ?? '');
  if (!response.ok) throw failure(response, { __type: part('Code'), message: part('Message') });
  identity.arn = part('Arn');
  identity.account = part('Account');
  return identity;
}

export async function connect(signInNeeded) {
  onSignInNeeded = signInNeeded;
  const response = await fetch('server.json', { cache: 'no-store' });
  Object.assign(server, await response.json());
  skew = Date.parse(response.headers.get('date')) - Date.now();
  if (!(Math.abs(skew) > 5000)) skew = 0; // The header knows no parts of a second.
}
