// javascript.js -- a request for the AWS SDK for JavaScript v3.

import { isOfStreams, isOwn } from '../core/api.js';
import { shapeOf, typeOf } from './shared.js';

const NAME = /^[A-Za-z_][\w]*$/;
// In an object literal "__proto__": would set the prototype; as a computed name it is a name.
const key = (name) => (name === '__proto__' ? '["__proto__"]' : NAME.test(name) ? name : JSON.stringify(name));
const binary = (base64) => `Buffer.from(${JSON.stringify(base64)}, "base64")`;

function list(parts, indent, open, close) {
  if (parts.length === 0) return open + close;
  const line = `${open} ${parts.join(', ')} ${close}`;
  if (line.length < 70 && !line.includes('\n')) return open === '[' ? `[${parts.join(', ')}]` : line;
  return `${open}\n${parts.map((part) => `${indent}  ${part},\n`).join('')}${indent}${close}`;
}

function value(raw, indent) {
  const type = typeOf(raw);
  const content = raw[type];
  const deeper = `${indent}  `;
  switch (type) {
    case 'B': return `{ B: ${binary(content)} }`;
    case 'BS': return `{ BS: [${content.map(binary).join(', ')}] }`;
    case 'M': return `{ M: ${item(content, indent)} }`;
    case 'L': return `{ L: ${list(content.map((one) => value(one, deeper)), indent, '[', ']')} }`;
    default: return `{ ${type}: ${plain(content, indent)} }`;
  }
}

function item(raw, indent) {
  return list(Object.keys(raw).map((name) => `${key(name)}: ${value(raw[name], `${indent}  `)}`), indent, '{', '}');
}

function plain(content, indent, name) {
  const deeper = `${indent}  `;
  if (shapeOf(name, content) === 'item') return item(content, indent);
  if (shapeOf(name, content) === 'list') return list(content.map((one) => value(one, deeper)), indent, '[', ']');
  if (shapeOf(name, content) === 'items') return list(content.map((one) => item(one, deeper)), indent, '[', ']');
  if (Array.isArray(content)) return list(content.map((one) => plain(one, deeper)), indent, '[', ']');
  if (content !== null && typeof content === 'object') return list(Object.keys(content).map((one) => `${key(one)}: ${plain(content[one], deeper, one)}`), indent, '{', '}');
  return JSON.stringify(content);
}

export function javascript(operation, parameters, { endpoint, region, auth }) {
  if (isOwn(operation)) return null;
  const given = Object.fromEntries(Object.entries(parameters).filter(([, content]) => content !== undefined));
  const keys = auth ? '' : ',\n  credentials: { accessKeyId: "x", secretAccessKey: "x" }';
  const [client, name] = isOfStreams(operation) ? ['DynamoDBStreamsClient', 'dynamodb-streams'] : ['DynamoDBClient', 'dynamodb'];
  return `import { ${client}, ${operation}Command } from "@aws-sdk/client-${name}";\n\n`
    + `const client = new ${client}({\n  endpoint: ${JSON.stringify(endpoint)},\n  region: ${JSON.stringify(region)}${keys},\n});\n`
    + `const response = await client.send(new ${operation}Command(${plain(given, '')}));\nconsole.log(response);\n`;
}
