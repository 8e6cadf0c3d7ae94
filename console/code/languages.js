// languages.js -- one request, many printers. What is printed runs unchanged: values are exact (a
// number is never a float of the language), endpoint and region are those of this server.
//
// print(operation, parameters, { endpoint, region, auth }) -> text, or null if the language has no way.

import { boto3 } from './boto3.js';
import { cli } from './cli.js';
import { curl, raw } from './curl.js';
import { go } from './go.js';
import { java } from './java.js';
import { javascript } from './javascript.js';
import { partiql } from './partiql.js';

export const LANGUAGES = [
  { id: 'cli', label: 'AWS CLI (version 2)', print: cli },
  { id: 'boto3', label: 'Python (boto3)', print: boto3 },
  { id: 'javascript', label: 'JavaScript (SDK v3)', print: javascript },
  { id: 'java', label: 'Java (SDK v2)', print: java },
  { id: 'go', label: 'Go (SDK v2)', print: go },
  { id: 'partiql', label: 'PartiQL', print: partiql },
  { id: 'curl', label: 'curl', print: curl },
  { id: 'raw', label: 'JSON', print: raw },
];
