// session.js -- who is signed in. The secret exists as a key that cannot be exported; "remember on
// this device" keeps that key object in IndexedDB, where no script can read it either.

import { secretKey } from './sigv4.js';

let credentials = null; // { id, key, token }

function database() {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open('stator', 1);
    request.onupgradeneeded = () => request.result.createObjectStore('session');
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

async function stored(mode, use) {
  const db = await database();
  try {
    return await new Promise((resolve, reject) => {
      const request = use(db.transaction('session', mode).objectStore('session'));
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
  } finally {
    db.close();
  }
}

export function current() {
  return credentials;
}

// False if the browser has no WebCrypto here: plain http, and not this machine. A proxy could change
// the page there, so it does not take a secret.
export const canSign = () => Boolean(globalThis.crypto?.subtle);

export async function restore() {
  try {
    credentials = (await stored('readonly', (store) => store.get('key'))) ?? null;
  } catch {
    credentials = null;
  }
  return credentials;
}

export async function signIn({ id, secret, token, remember }) {
  credentials = { id, key: await secretKey(secret), token: token || undefined };
  // What was remembered before goes in any case: a reload would sign in with it again.
  await stored('readwrite', (store) => (remember ? store.put(credentials, 'key') : store.delete('key'))).catch(() => {});
}

export async function signOut() {
  credentials = null;
  await stored('readwrite', (store) => store.delete('key')).catch(() => {});
}

// "AWS_ACCESS_KEY_ID=..." lines, or the section of a credentials file, as they are copied around.
export function fromText(text) {
  const find = (name) => text.match(new RegExp(`${name}["']?\\s*[=:]\\s*["']?([^\\s"',]+)`, 'i'))?.[1];
  const id = find('access_?key_?id');
  const secret = find('secret_?access_?key');
  return id && secret ? { id, secret, token: find('session_?token') } : null;
}
