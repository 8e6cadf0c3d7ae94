// cli.js -- a request as an AWS CLI command, and a command back as a request.

import { isOfStreams, isOwn } from '../core/api.js';
import { json, kebab, shell } from './shared.js';

const FLAGS = { ConsistentRead: 'consistent-read', ScanIndexForward: 'scan-index-forward' };

// For version 2, which takes binary values as base64; version 1 would encode them once more.
export function cli(operation, parameters, { endpoint, region, auth, service = isOfStreams(operation) ? 'dynamodbstreams' : 'dynamodb' }) {
  if (isOwn(operation)) return null;
  const words = [];
  for (const [name, value] of Object.entries(parameters)) {
    if (value === undefined) continue;
    if (typeof value === 'boolean') words.push(`--${value ? '' : 'no-'}${FLAGS[name] ?? kebab(name)}`);
    else if (typeof value === 'object') words.push(`--${kebab(name)} ${shell(json(value))}`);
    // A text that begins with a dash would look like an option.
    else words.push(String(value).startsWith('-') ? `--${kebab(name)}=${shell(String(value))}` : `--${kebab(name)} ${shell(String(value))}`);
  }
  // One page, as the request says: the CLI would fetch all of them by itself.
  if (['Query', 'Scan', 'ListTables'].includes(operation)) words.push('--no-paginate');
  words.push(`--endpoint-url ${shell(endpoint)}`, `--region ${shell(region)}`);
  const credentials = auth ? '' : 'AWS_ACCESS_KEY_ID=x AWS_SECRET_ACCESS_KEY=x ';
  return `${credentials}aws ${service.replace(/^auto/, 'application-auto')} ${kebab(operation)} \\\n  ${words.join(' \\\n  ')}`;
}

// --- Back ---

// Splits a line as a shell would, without running anything.
function words(text) {
  const out = [];
  let word = null;
  let at = 0;
  const source = text.replace(/\\\r?\n/g, ' ');
  const quoted = (end) => {
    const from = at;
    while (at < source.length && source[at] !== end) at += end === '"' && source[at] === '\\' ? 2 : 1;
    const inner = source.slice(from, at);
    at += 1;
    return end === '"' ? inner.replace(/\\(["\\$`])/g, '$1') : inner;
  };
  while (at < source.length) {
    const char = source[at];
    at += 1;
    if (/\s/.test(char)) {
      if (word !== null) out.push(word);
      word = null;
    } else if (char === "'" || char === '"') word = (word ?? '') + quoted(char);
    else if (char === '\\') { word = (word ?? '') + (source[at] ?? ''); at += 1; }
    else word = (word ?? '') + char;
  }
  if (word !== null) out.push(word);
  return out;
}

const pascal = (name) => name.replace(/(^|-)([a-z])/g, (whole, dash, letter) => letter.toUpperCase()).replace(/^Sse/, 'SSE');
const IGNORED = new Set(['endpoint-url', 'region', 'profile', 'output', 'query', 'cli-binary-format', 'page-size', 'max-items', 'starting-token']);
const SWITCHES = new Set(['no-paginate', 'no-cli-pager', 'no-verify-ssl', 'debug', 'no-sign-request']);
const NUMBERS = new Set(['limit', 'segment', 'total-segments']);

// "aws dynamodb query --table-name …" -> { operation, parameters }. Throws with a sentence.
export function fromCli(text) {
  const all = words(text.trim());
  while (all.length && /^\w+=/.test(all[0])) all.shift();
  if (all[0] !== 'aws' || !/^dynamodb(streams)?$/.test(all[1] ?? '')) throw new Error('A command begins with: aws dynamodb');
  const operation = pascal(all[2] ?? '');
  const parameters = {};
  for (let at = 3; at < all.length; at += 1) {
    if (!all[at].startsWith('--')) throw new Error(`"${all[at]}" is no option`);
    let [name, value] = all[at].slice(2).split(/=(.*)/s);
    const next = all[at + 1];
    if (SWITCHES.has(name)) continue;
    if (value === undefined && next !== undefined && !next.startsWith('--')) { value = next; at += 1; }
    if (IGNORED.has(name)) continue;
    if (name === 'cli-input-json') Object.assign(parameters, JSON.parse(value));
    else if (value === undefined) parameters[pascal(name.replace(/^no-/, ''))] = !name.startsWith('no-');
    else if (/^\s*[[{]/.test(value)) parameters[pascal(name)] = JSON.parse(value);
    else parameters[pascal(name)] = NUMBERS.has(name) ? Number(value) : value;
  }
  return { operation, parameters };
}

// JSON with DynamoDB's parameters: the operation follows from what is there.
const BY_PARAMETER = {
  TransactStatements: 'ExecuteTransaction', Statements: 'BatchExecuteStatement', Statement: 'ExecuteStatement', UpdateExpression: 'UpdateItem', Item: 'PutItem',
  KeyConditionExpression: 'Query', KeySchema: 'CreateTable', Key: 'GetItem', TableName: 'Scan',
};

export function fromJson(text) {
  const parameters = JSON.parse(text);
  const has = (name) => Object.hasOwn(parameters, name);
  const { RequestItems, TransactItems } = parameters;
  const operation = has('operation') && has('parameters') ? parameters.operation
    : RequestItems ? (Object.values(RequestItems).some(Array.isArray) ? 'BatchWriteItem' : 'BatchGetItem')
      : TransactItems ? (TransactItems[0]?.Get ? 'TransactGetItems' : 'TransactWriteItems')
        : BY_PARAMETER[Object.keys(BY_PARAMETER).find(has)];
  if (!operation) throw new Error('These are no parameters of a request that the console knows.');
  return { operation, parameters: has('operation') ? parameters.parameters : parameters };
}

export const fromText = (text) => (/^\s*[{]/.test(text) ? fromJson(text) : fromCli(text));
