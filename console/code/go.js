// go.js -- a request for the AWS SDK for Go v2.

import { isOfStreams, isOwn } from '../core/api.js';
import { classOf, isTime, shapeOf, textsOf, typeOf, unlessUnknown } from './shared.js';

// Go knows JSON's escapes, but no surrogates: those characters stand as they are in JSON.stringify.
const text = (value) => JSON.stringify(value);
const binary = (base64) => `decode(${text(base64)})`;
const MEMBER = 'types.AttributeValueMember';

function value(raw) {
  const type = typeOf(raw);
  const content = raw[type];
  switch (type) {
    case 'B': return `&${MEMBER}B{Value: ${binary(content)}}`;
    case 'BS': return `&${MEMBER}BS{Value: [][]byte{${content.map(binary).join(', ')}}}`;
    case 'SS': case 'NS': return `&${MEMBER}${type}{Value: []string{${content.map(text).join(', ')}}}`;
    case 'M': return `&${MEMBER}M{Value: ${item(content)}}`;
    case 'L': return `&${MEMBER}L{Value: []types.AttributeValue{${content.map(value).join(', ')}}}`;
    default: return `&${MEMBER}${type}{Value: ${JSON.stringify(content)}}`;
  }
}

const item = (raw) => `map[string]types.AttributeValue{${Object.keys(raw).map((name) => `\n\t\t\t${text(name)}: ${value(raw[name])},`).join('')}}`;

// Texts that are types of their own.
const ENUMS = {
  AttributeType: 'ScalarAttributeType', KeyType: 'KeyType', ProjectionType: 'ProjectionType', BillingMode: 'BillingMode', ReturnValues: 'ReturnValue', ReturnConsumedCapacity: 'ReturnConsumedCapacity',
  ReturnValuesOnConditionCheckFailure: 'ReturnValuesOnConditionCheckFailure', StreamViewType: 'StreamViewType', ShardIteratorType: 'ShardIteratorType', Select: 'Select', TableClass: 'TableClass',
};
const NUMBERS = { Limit: 'Int32', Segment: 'Int32', TotalSegments: 'Int32', ReadCapacityUnits: 'Int64', WriteCapacityUnits: 'Int64' };

const fields = (content, parent) => Object.entries(content).map(([one, inner]) => `${one}: ${argument(inner, one, parent)}`).join(', ');

// Of a batch: writes, or keys.
function requestItems(content) {
  const isWrite = Object.values(content).some(Array.isArray);
  const entries = Object.entries(content).map(([one, inner]) => `\n\t\t\t${text(one)}: ${isWrite ? `{${inner.map((write) => `{${fields(write, 'WriteRequest')}}`).join(', ')}}` : `{${fields(inner, 'KeysAndAttributes')}}`},`);
  return `map[string]${isWrite ? '[]types.WriteRequest' : 'types.KeysAndAttributes'}{${entries.join('')}}`;
}

function argument(content, name, parent) {
  if (name === 'RequestItems') return requestItems(content);
  if (shapeOf(name, content) === 'items') return `[]map[string]types.AttributeValue{${content.map(item).join(', ')}}`;
  const struct = classOf(name, parent, content);
  if (shapeOf(name, content) === 'item') return item(content);
  if (shapeOf(name, content) === 'list') return `[]types.AttributeValue{${content.map(value).join(', ')}}`;
  if (Array.isArray(content)) return struct ? `[]types.${struct}{${content.map((one) => `{${fields(one, name)}}`).join(', ')}}` : `[]string{${textsOf(content).map(text).join(', ')}}`;
  if (content !== null && typeof content === 'object') return struct ? `&types.${struct}{${fields(content, name)}}` : `map[string]string{${Object.entries(textsOf(content, name)).map(([one, inner]) => `${text(one)}: ${text(inner)}`).join(', ')}}`;
  if (typeof content === 'boolean') return `aws.Bool(${content})`;
  if (isTime(name)) return `aws.Time(time.Unix(${content}, 0))`;
  if (typeof content === 'number') return `aws.${NUMBERS[name] ?? 'Int32'}(${content})`;
  return ENUMS[name] ? `types.${ENUMS[name]}(${text(content)})` : `aws.String(${text(content)})`;
}

export const go = unlessUnknown((operation, parameters, { endpoint, region, auth }) => {
  if (isOwn(operation)) return null;
  const lines = Object.entries(parameters).filter(([, content]) => content !== undefined).map(([name, content]) => `\t\t${name}: ${argument(content, name)},\n`).join('');
  // What the code uses, not what its texts say: Go refuses imports that are not used.
  const bare = lines.replace(/"(?:[^"\\]|\\.)*"/g, '');
  const usesBinary = bare.includes('decode(');
  const usesTypes = bare.includes('types.');
  const service = isOfStreams(operation) ? 'dynamodbstreams' : 'dynamodb';
  const keys = auth ? '' : '\n\t\tconfig.WithCredentialsProvider(credentials.NewStaticCredentialsProvider("x", "x", "")),';
  return `package main\n\nimport (\n\t"context"\n${usesBinary ? '\t"encoding/base64"\n' : ''}\t"fmt"\n${bare.includes('time.') ? '\t"time"\n' : ''}\n\t"github.com/aws/aws-sdk-go-v2/aws"\n\t"github.com/aws/aws-sdk-go-v2/config"\n${auth ? '' : '\t"github.com/aws/aws-sdk-go-v2/credentials"\n'}\t"github.com/aws/aws-sdk-go-v2/service/${service}"\n${usesTypes ? `\t"github.com/aws/aws-sdk-go-v2/service/${service}/types"\n` : ''})\n\n`
    + (usesBinary ? 'func decode(text string) []byte {\n\tbytes, err := base64.StdEncoding.DecodeString(text)\n\tif err != nil {\n\t\tpanic(err)\n\t}\n\treturn bytes\n}\n\n' : '')
    + `func main() {\n\tctx := context.Background()\n\tcfg, err := config.LoadDefaultConfig(ctx,\n\t\tconfig.WithRegion(${text(region)}),${keys}\n\t)\n\tif err != nil {\n\t\tpanic(err)\n\t}\n\tclient := ${service}.NewFromConfig(cfg, func(o *${service}.Options) { o.BaseEndpoint = aws.String(${text(endpoint)}) })\n`
    + `\tresponse, err := client.${operation}(ctx, &${service}.${operation}Input{\n${lines}\t})\n\tif err != nil {\n\t\tpanic(err)\n\t}\n\tfmt.Printf("%+v\\n", response)\n}\n`;
});
