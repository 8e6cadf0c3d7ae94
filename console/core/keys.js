// keys.js -- the keyboard map. Pages bind keys while they are shown; `?` lists what is bound.
//
// A key is written as 'g t' (one after the other), 'Ctrl+Enter' (Cmd on a Mac) or '/'. Keys of single
// characters do nothing while the user types, and can be switched off.

import * as settings from './settings.js';

const layers = []; // The latest comes first.
let pending = '';
let pendingTimer = 0;
const SEQUENCE_MS = 1000;

// bindings: [{ keys: 'g t', label: 'Go to tables', run(event) }]. Returns how to unbind them.
export function bind(group, bindings, signal) {
  const layer = { group, bindings };
  layers.unshift(layer);
  const unbind = () => {
    const at = layers.indexOf(layer);
    if (at >= 0) layers.splice(at, 1);
  };
  signal?.addEventListener('abort', unbind);
  return unbind;
}

export function all() {
  return layers.filter((layer) => layer.bindings.length > 0);
}

function isTyping(target) {
  return target.closest?.('input:not([type=checkbox]):not([type=radio]), textarea, select') !== null;
}

function nameOf(event) {
  const held = (event.ctrlKey || event.metaKey ? 'Ctrl+' : '') + (event.altKey ? 'Alt+' : '');
  return held + event.key;
}

function find(name) {
  for (const layer of layers) {
    const found = layer.bindings.find((binding) => binding.keys === name && binding.run);
    if (found) return found;
  }
  return null;
}

function startsSequence(name) {
  return layers.some((layer) => layer.bindings.some((one) => one.keys.startsWith(`${name} `)));
}

function onKey(event) {
  if (event.defaultPrevented || document.querySelector('dialog[open]')) return;
  const name = nameOf(event);
  const isLetter = event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey;
  if (isLetter && (isTyping(event.target) || !settings.get('letterKeys'))) return;
  const full = pending ? `${pending} ${name}` : name;
  clearTimeout(pendingTimer);
  pending = '';
  const binding = find(full) ?? find(name);
  if (binding) {
    event.preventDefault();
    binding.run(event);
  } else if (isLetter && startsSequence(name)) {
    pending = name;
    pendingTimer = setTimeout(() => { pending = ''; }, SEQUENCE_MS);
  }
}

export function start() {
  document.addEventListener('keydown', onKey);
}
