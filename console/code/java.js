// java.js -- a request for the AWS SDK for Java v2.

import { isOfStreams, isOwn } from '../core/api.js';
import { classOf, isTime, lowerFirst, shapeOf, textsOf, typeOf, unlessUnknown } from './shared.js';

// Java's \u escapes are read before the text, so JSON's serve as they are.
const text = (value) => JSON.stringify(value);
const binary = (base64) => `SdkBytes.fromByteArray(Base64.getDecoder().decode(${text(base64)}))`;

function value(raw) {
  const type = typeOf(raw);
  const content = raw[type];
  switch (type) {
    case 'S': return `AttributeValue.fromS(${text(content)})`;
    case 'N': return `AttributeValue.fromN(${text(content)})`;
    case 'B': return `AttributeValue.fromB(${binary(content)})`;
    case 'BOOL': return `AttributeValue.fromBool(${content})`;
    case 'NULL': return 'AttributeValue.fromNul(true)';
    case 'SS': case 'NS': return `AttributeValue.from${type[0]}s(List.of(${content.map(text).join(', ')}))`;
    case 'BS': return `AttributeValue.fromBs(List.of(${content.map(binary).join(', ')}))`;
    case 'L': return `AttributeValue.fromL(List.of(${content.map(value).join(', ')}))`;
    default: return `AttributeValue.fromM(${map(content, value)})`;
  }
}

function map(raw, print, indent = '    ') {
  const entries = Object.keys(raw).map((name) => `Map.entry(${text(name)}, ${print(raw[name])})`);
  return entries.length === 0 ? 'Map.of()' : `Map.ofEntries(\n${entries.map((entry) => `${indent}        ${entry}`).join(',\n')})`;
}

function structure(content, name, indent, type) {
  const deeper = `${indent}    `;
  return `${type}.builder()${Object.entries(content).map(([one, inner]) => `\n${deeper}.${method(one)}(${argument(inner, one, deeper, name)})`).join('')}\n${deeper}.build()`;
}

// Of a batch: writes, or keys.
function requestItem(content, indent) {
  if (!Array.isArray(content)) return structure(content, 'KeysAndAttributes', indent, 'KeysAndAttributes');
  return `List.of(${content.map((one) => structure(one, 'WriteRequest', indent, 'WriteRequest')).join(', ')})`;
}

const method = (name) => lowerFirst(name).replace(/^sSE/, 'sse');

function argument(content, name, indent, parent) {
  if (shapeOf(name, content) === 'item') return map(content, value, indent);
  if (shapeOf(name, content) === 'list') return content.map(value).join(', ');
  if (shapeOf(name, content) === 'items') return content.map((one) => map(one, value, indent)).join(', ');
  if (name === 'RequestItems') return map(content, (one) => requestItem(one, `${indent}        `), indent);
  const type = classOf(name, parent, content);
  if (type && typeof content === 'object') return [content].flat().map((one) => structure(one, name, indent, type)).join(`,\n${indent}    `);
  if (Array.isArray(content)) return textsOf(content).map(text).join(', ');
  if (content !== null && typeof content === 'object') return map(textsOf(content, name), text, indent);
  if (isTime(name)) return `Instant.ofEpochSecond(${content}L)`;
  return typeof content === 'number' && name.endsWith('CapacityUnits') ? `${content}L` : text(content);
}

export const java = unlessUnknown((operation, parameters, { endpoint, region, auth }) => {
  if (isOwn(operation)) return null;
  const calls = Object.entries(parameters).filter(([, content]) => content !== undefined)
    .map(([name, content]) => `            .${method(name)}(${argument(content, name, '            ')})\n`).join('');
  const client = isOfStreams(operation) ? 'DynamoDbStreamsClient' : 'DynamoDbClient';
  const keys = auth ? '' : '\n            .credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create("x", "x")))';
  return `import java.net.URI;\nimport java.time.Instant;\nimport java.util.*;\nimport software.amazon.awssdk.auth.credentials.*;\nimport software.amazon.awssdk.core.SdkBytes;\nimport software.amazon.awssdk.regions.Region;\n`
    + `import software.amazon.awssdk.services.dynamodb.${isOfStreams(operation) ? 'streams.' : ''}${client};\nimport software.amazon.awssdk.services.dynamodb.model.*;\n\n`
    + `public class Main {\n    public static void main(String[] args) {\n        ${client} client = ${client}.builder()\n            .endpointOverride(URI.create(${text(endpoint)}))\n            .region(Region.of(${text(region)}))${keys}\n            .build();\n`
    + `        ${operation}Response response = client.${lowerFirst(operation)}(${operation}Request.builder()\n${calls}            .build());\n        System.out.println(response);\n    }\n}\n`;
});
