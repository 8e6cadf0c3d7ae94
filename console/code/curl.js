// curl.js -- a request as curl sends it, and as it travels.

import { target } from '../core/api.js';
import { json, shell } from './shared.js';

export function curl(operation, parameters, { endpoint, region, auth }) {
  const user = auth ? '"$AWS_ACCESS_KEY_ID:$AWS_SECRET_ACCESS_KEY"' : 'x:x';
  const token = auth ? ' \\\n  ${AWS_SESSION_TOKEN:+-H "x-amz-security-token: $AWS_SESSION_TOKEN"}' : '';
  return `curl ${shell(`${endpoint}/`)} \\\n  --aws-sigv4 ${shell(`aws:amz:${region}:dynamodb`)} --user ${user}${token} \\\n`
    + `  -H 'content-type: application/x-amz-json-1.0' \\\n  -H ${shell(`x-amz-target: ${target(operation)}`)} \\\n  -d ${shell(json(parameters))}`;
}

export function raw(operation, parameters) {
  return json(parameters, 2);
}
