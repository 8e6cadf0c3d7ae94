// java_sdk.js -- enough of the AWS SDK for Java to compile a program against, and to see its request.
//
// The SDK is not packaged, but its classes follow from the service's model, which botocore has: one
// class with a builder for each structure, one method for each member, with the member's type. These
// classes send nothing. A client's answer prints the request as JSON, so a test can compare it.
'use strict';
const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');

const MODEL = 'software.amazon.awssdk.services.dynamodb.model';
const SCALARS = { string: 'String', integer: 'Integer', long: 'Long', double: 'Double', boolean: 'Boolean', timestamp: 'java.time.Instant', blob: 'software.amazon.awssdk.core.SdkBytes' };
const lowerFirst = (name) => (name[0].toLowerCase() + name.slice(1)).replace(/^sSE/, 'sse');

function model(service) {
  const code = `import json, botocore.session; print(json.dumps(botocore.session.Session().get_service_model("${service}")._service_description))`;
  return JSON.parse(execFileSync('/usr/bin/python3', ['-c', code], { maxBuffer: 1e9 }));
}

// Members that the SDK has and an older botocore does not know.
const NEWER = {
  string: { ReturnValuesOnConditionCheckFailure: ['PutItemInput', 'UpdateItemInput', 'DeleteItemInput'] },
  boolean: { DeletionProtectionEnabled: ['CreateTableInput', 'UpdateTableInput'] },
};

function addNewer(shapes) {
  for (const [type, members] of Object.entries(NEWER)) {
    shapes[`Newer${type}`] = { type };
    for (const [member, structures] of Object.entries(members)) for (const one of structures) shapes[one].members[member] ??= { shape: `Newer${type}` };
  }
}

// What the names of the model are called in Java.
function typeOf(shapes, name) {
  const shape = shapes[name];
  if (shape.type === 'list') return `java.util.Collection<${typeOf(shapes, shape.member.shape)}>`;
  if (shape.type === 'map') return `java.util.Map<String, ${typeOf(shapes, shape.value.shape)}>`;
  return SCALARS[shape.type] ?? name.replace(/Input$/, 'Request').replace(/Output$/, 'Response');
}

function methods(shapes, { members }) {
  return Object.entries(members).map(([member, { shape }]) => {
    const put = `{ made.values.put("${member}", value); return this; }`;
    const body = `public Builder ${lowerFirst(member)}`;
    const isList = shapes[shape].type === 'list';
    const several = isList ? `@SafeVarargs ${body.replace('public', 'public final')}(${typeOf(shapes, shapes[shape].member.shape)}... value) { return ${lowerFirst(member)}(java.util.Arrays.asList(value)); }\n` : '';
    return `${body}(${typeOf(shapes, shape)} value) ${put}\n${several}`;
  }).join('');
}

const JSON_CLASS = `package ${MODEL};
public abstract class Structure {
  final java.util.Map<String, Object> values = new java.util.LinkedHashMap<>();
  static String quoted(String text) {
    StringBuilder out = new StringBuilder("\\"");
    for (char c : text.toCharArray()) out.append(c < 32 || c == '"' || c == '\\\\' || c > 126 ? String.format("\\\\u%04x", (int) c) : String.valueOf(c));
    return out.append('"').toString();
  }
  static String json(Object value) {
    if (value instanceof String) return quoted((String) value);
    if (value instanceof java.util.Map) {
      StringBuilder out = new StringBuilder();
      for (java.util.Map.Entry<?, ?> one : ((java.util.Map<?, ?>) value).entrySet()) out.append(out.length() > 0 ? "," : "").append(quoted((String) one.getKey())).append(':').append(json(one.getValue()));
      return "{" + out + "}";
    }
    if (value instanceof java.util.Collection) {
      StringBuilder out = new StringBuilder();
      for (Object one : (java.util.Collection<?>) value) out.append(out.length() > 0 ? "," : "").append(json(one));
      return "[" + out + "]";
    }
    if (value instanceof java.time.Instant) return String.valueOf(((java.time.Instant) value).getEpochSecond());
    if (value instanceof Structure) return json(((Structure) value).values);
    if (value instanceof software.amazon.awssdk.core.SdkBytes) return quoted(java.util.Base64.getEncoder().encodeToString(((software.amazon.awssdk.core.SdkBytes) value).bytes));
    return String.valueOf(value);
  }
  public String toString() { return json(this); }
}
`;

const FIXED = {
  'software/amazon/awssdk/core/SdkBytes': 'package software.amazon.awssdk.core; public class SdkBytes { public byte[] bytes; public static SdkBytes fromByteArray(byte[] b) { SdkBytes made = new SdkBytes(); made.bytes = b; return made; } }',
  'software/amazon/awssdk/regions/Region': 'package software.amazon.awssdk.regions; public class Region { public static Region of(String name) { return new Region(); } }',
  'software/amazon/awssdk/auth/credentials/AwsBasicCredentials': 'package software.amazon.awssdk.auth.credentials; public class AwsBasicCredentials { public static AwsBasicCredentials create(String id, String secret) { return new AwsBasicCredentials(); } }',
  'software/amazon/awssdk/auth/credentials/StaticCredentialsProvider': 'package software.amazon.awssdk.auth.credentials; public class StaticCredentialsProvider { public static StaticCredentialsProvider create(AwsBasicCredentials credentials) { return new StaticCredentialsProvider(); } }',
};

function attributeValue(shapes) {
  const makers = Object.entries(shapes.AttributeValue.members).map(([member, { shape }]) => {
    const name = { BOOL: 'Bool', NULL: 'Nul' }[member] ?? member[0] + member.slice(1).toLowerCase();
    const type = typeOf(shapes, shape).replace('Collection', 'List');
    return `public static AttributeValue from${name}(${type} value) { AttributeValue made = new AttributeValue(); made.values.put("${member}", value); return made; }\n`;
  });
  return `package ${MODEL};\npublic class AttributeValue extends Structure {\n${makers.join('')}}\n`;
}

function structure(shapes, name, java) {
  return `package ${MODEL};\npublic class ${java} extends Structure {\npublic static Builder builder() { return new Builder(); }\npublic static class Builder {\nfinal ${java} made = new ${java}();\n${methods(shapes, shapes[name])}public ${java} build() { return made; }\n}\n}\n`;
}

// The files of a client and of what it sends. Structures of several services are in one package.
function addClient(files, { operations, shapes }, folder, client) {
  for (const [name, shape] of Object.entries(shapes)) {
    if (shape.type !== 'structure' || shape.exception || name.endsWith('Output')) continue;
    const java = typeOf(shapes, name);
    files[`${MODEL.replaceAll('.', '/')}/${java}`] ??= name === 'AttributeValue' ? attributeValue(shapes) : structure(shapes, name, java);
  }
  const calls = [];
  for (const [name, { input }] of Object.entries(operations)) {
    files[`${MODEL.replaceAll('.', '/')}/${name}Request`] = structure(shapes, input.shape, `${name}Request`);
    files[`${MODEL.replaceAll('.', '/')}/${name}Response`] = `package ${MODEL};\npublic class ${name}Response extends Structure {\nfinal Structure request;\npublic ${name}Response(Structure request) { this.request = request; }\npublic String toString() { return request.toString(); }\n}\n`;
    calls.push(`public ${name}Response ${lowerFirst(name)}(${name}Request request) { return new ${name}Response(request); }\n`);
  }
  files[`software/amazon/awssdk/services/${folder}/${client}`] = `package software.amazon.awssdk.services.${folder.replaceAll('/', '.')};\nimport ${MODEL}.*;\npublic class ${client} {\npublic static Builder builder() { return new Builder(); }\n${calls.join('')}`
    + 'public static class Builder {\npublic Builder endpointOverride(java.net.URI uri) { return this; }\npublic Builder region(software.amazon.awssdk.regions.Region region) { return this; }\n'
    + `public Builder credentialsProvider(software.amazon.awssdk.auth.credentials.StaticCredentialsProvider provider) { return this; }\npublic ${client} build() { return new ${client}(); }\n}\n}\n`;
}

// Writes the classes below `folder`.
function writeSdk(folder) {
  const main = model('dynamodb');
  addNewer(main.shapes);
  const files = { ...FIXED, [`${MODEL.replaceAll('.', '/')}/Structure`]: JSON_CLASS };
  addClient(files, main, 'dynamodb', 'DynamoDbClient');
  addClient(files, model('dynamodbstreams'), 'dynamodb/streams', 'DynamoDbStreamsClient');
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(folder, `${name}.java`);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, text);
  }
}

module.exports = { writeSdk };
