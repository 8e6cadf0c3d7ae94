// sigv4.js -- signs requests as AWS does, with WebCrypto.
//
// The secret becomes a key that no script can read back; the text is dropped. Keys for a day, region
// and service are derived from it and remembered for that day.

const encoder = new TextEncoder();
const HMAC = { name: 'HMAC', hash: 'SHA-256' };

function hex(buffer) {
  return Array.from(new Uint8Array(buffer), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function importKey(bytes) {
  return crypto.subtle.importKey('raw', bytes, HMAC, false, ['sign']);
}

function hmac(key, text) {
  return crypto.subtle.sign('HMAC', key, encoder.encode(text));
}

export function secretKey(secret) {
  return importKey(encoder.encode(`AWS4${secret}`));
}

const derived = new Map();
async function signingKey(credentials, day, region, service) {
  const name = [credentials.id, day, region, service].join('/');
  if (derived.get(name)?.root !== credentials.key) {
    let key = credentials.key;
    for (const part of [day, region, service, 'aws4_request']) {
      key = await importKey(await hmac(key, part));
    }
    if (derived.size > 8) derived.clear();
    derived.set(name, { root: credentials.key, key });
  }
  return derived.get(name).key;
}

// The headers that sign a POST of `body` to `path`. `headers` has lower-case names; all are signed.
export async function sign(credentials, { host, path, headers, body, region, service, now }) {
  const time = new Date(now).toISOString().replace(/[-:]|\.\d+/g, '');
  const day = time.slice(0, 8);
  const added = { 'x-amz-date': time };
  if (credentials.token) added['x-amz-security-token'] = credentials.token;
  const all = { ...headers, ...added, host };
  const names = Object.keys(all).sort();
  const payload = hex(await crypto.subtle.digest('SHA-256', encoder.encode(body)));
  const canonical = ['POST', path, '', ...names.map((name) => `${name}:${all[name].trim()}`), '',
    names.join(';'), payload].join('\n');
  const scope = `${day}/${region}/${service}/aws4_request`;
  const digest = hex(await crypto.subtle.digest('SHA-256', encoder.encode(canonical)));
  const key = await signingKey(credentials, day, region, service);
  const signature = hex(await hmac(key, `AWS4-HMAC-SHA256\n${time}\n${scope}\n${digest}`));
  added.authorization = `AWS4-HMAC-SHA256 Credential=${credentials.id}/${scope}, `
    + `SignedHeaders=${names.join(';')}, Signature=${signature}`;
  return added;
}
