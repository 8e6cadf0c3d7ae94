// boto3.js -- a request for Python's client.

import { isOfStreams, isOwn } from '../core/api.js';
import { shapeOf, snake, typeOf } from './shared.js';

const text = (value) => {
  // JSON's escapes are Python's too, but for surrogate pairs, which are written as they are.
  return JSON.stringify(value);
};

// Binary travels as bytes, not as base64.
const binary = (base64) => (base64 === '' ? "b''" : `base64.b64decode(${text(base64)})`);

function value(raw, indent) {
  const type = typeOf(raw);
  const content = raw[type];
  const deeper = `${indent}    `;
  switch (type) {
    case 'B': return `{"B": ${binary(content)}}`;
    case 'BS': return `{"BS": [${content.map(binary).join(', ')}]}`;
    case 'M': return `{"M": ${item(content, indent)}}`;
    case 'L': return content.length === 0 ? '{"L": []}' : `{"L": [\n${content.map((one) => deeper + value(one, deeper)).join(',\n')},\n${indent}]}`;
    default: return `{"${type}": ${plain(content, indent)}}`;
  }
}

function item(raw, indent) {
  const names = Object.keys(raw);
  if (names.length === 0) return '{}';
  const deeper = `${indent}    `;
  return `{\n${names.map((name) => `${deeper}${text(name)}: ${value(raw[name], deeper)}`).join(',\n')},\n${indent}}`;
}

// Anything that holds no attribute values, or holds them below a known name.
function plain(content, indent, name) {
  const deeper = `${indent}    `;
  if (shapeOf(name, content) === 'item') return item(content, indent);
  if (shapeOf(name, content) === 'list') return `[${content.map((one) => value(one, indent)).join(', ')}]`;
  if (shapeOf(name, content) === 'items') return `[\n${content.map((one) => deeper + item(one, deeper)).join(',\n')},\n${indent}]`;
  if (content === true) return 'True';
  if (content === false) return 'False';
  if (content === null) return 'None';
  if (Array.isArray(content)) return content.length === 0 ? '[]' : typeof content[0] !== 'object' ? `[${content.map((one) => plain(one, indent)).join(', ')}]` : `[\n${content.map((one) => deeper + plain(one, deeper)).join(',\n')},\n${indent}]`;
  if (typeof content === 'object') {
    const names = Object.keys(content);
    return names.length === 0 ? '{}' : `{\n${names.map((one) => `${deeper}${text(one)}: ${plain(content[one], deeper, one)}`).join(',\n')},\n${indent}}`;
  }
  return typeof content === 'string' ? text(content) : String(content);
}

export function boto3(operation, parameters, { endpoint, region, auth }) {
  if (isOwn(operation)) return null;
  const body = Object.entries(parameters).filter(([, content]) => content !== undefined)
    .map(([name, content]) => `    ${name}=${plain(content, '    ', name)},\n`).join('');
  const keys = auth ? '' : '    aws_access_key_id="x",\n    aws_secret_access_key="x",\n';
  const needsBase64 = body.includes('base64.b64decode');
  return `${needsBase64 ? 'import base64\n' : ''}import boto3\n\nclient = boto3.client(\n    "dynamodb${isOfStreams(operation) ? 'streams' : ''}",\n    endpoint_url=${text(endpoint)},\n    region_name=${text(region)},\n${keys})\n`
    + `response = client.${snake(operation)}(\n${body})\nprint(response)\n`;
}
