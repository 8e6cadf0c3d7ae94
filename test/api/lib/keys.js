// keys.js -- access keys in a folder of one's own, as `stator key` and `stator policy` make them.
'use strict';
const { execFileSync } = require('node:child_process');
const crypto = require('node:crypto');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { binary } = require('./server.js');

const EVERYTHING = { Effect: 'Allow', Action: 'dynamodb:*', Resource: '*' };

// What a command prints as NAME=VALUE lines, as the SDK takes it.
function credentials(text) {
  const [accessKeyId, secretAccessKey, sessionToken] = text.trim().split('\n')
    .map((line) => line.slice(line.indexOf('=') + 1));
  return { accessKeyId, secretAccessKey, sessionToken };
}

class Keys {
  constructor() {
    this.folder = fs.mkdtempSync(path.join(os.tmpdir(), 'stator-keys-'));
    const master = path.join(this.folder, 'master.key');
    fs.writeFileSync(master, crypto.randomBytes(32).toString('hex'), { mode: 0o600 });
    // A server needs these, and `--auth`.
    this.flags = ['--data-dir', path.join(this.folder, 'data'), '--master-key-file', master];
  }

  command(words, input) {
    return execFileSync(binary(), [...words, ...this.flags], { input }).toString();
  }

  // A key of the user, with one policy.
  create(user, ...statements) {
    const key = credentials(this.command(['key', 'create', user]));
    const policy = JSON.stringify({ Version: '2012-10-17', Statement: statements });
    this.command(['policy', 'put', key.accessKeyId, 'policy', '-'], policy);
    return key;
  }

  // A temporary key that may do what the other one may.
  session({ accessKeyId }, seconds) {
    return credentials(this.command(['key', 'session', accessKeyId, String(seconds)]));
  }

  remove() {
    fs.rmSync(this.folder, { recursive: true, force: true });
  }
}

module.exports = { EVERYTHING, Keys };
