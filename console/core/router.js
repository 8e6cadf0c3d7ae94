// router.js -- pages by the URL's fragment: #/t/NAME/items?pk=S:x
//
// The fragment never reaches a server, so keys of items are in no access log. A page changes its own
// query with view.setQuery, which does not show the page again; back, forward, links and reloads do.
// `view.memory` belongs to one entry of the browser's history: what a page puts there is found again
// when the user comes back.

import { PAGES } from './pages.js';

const memories = new Map();
const MEMORIES_MAX = 20;
let current = null;
let shown = () => {};

// encodeURIComponent, but leaving what a fragment may hold as it is, so that links can be read.
function encode(text) {
  return encodeURIComponent(text).replace(/%(3A|40|2F|24|2C|3D)/g, (code) => decodeURIComponent(code));
}

export function link(path, query = {}) {
  const words = Object.entries(query)
    .filter(([, value]) => value !== undefined && value !== null && value !== '')
    .flatMap(([name, value]) => (Array.isArray(value) ? value : [value])
      .map((one) => `${name}=${encode(String(one))}`));
  const fragment = path.split('/').map(encodeURIComponent).join('/');
  return `#${fragment}${words.length ? `?${words.join('&')}` : ''}`;
}

export function tableLink(table, page, query) {
  return `#/t/${encodeURIComponent(table)}/${page}${query ? link('', query).slice(1) : ''}`;
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function parse(hash) {
  const [path, query = ''] = hash.replace(/^#/, '').split(/\?(.*)/s);
  const segments = path.split('/').slice(1).map(decode);
  const all = {};
  for (const word of query.split('&').filter(Boolean)) {
    const [name, value = ''] = word.split(/=(.*)/s);
    (all[name] ??= []).push(decode(value));
  }
  return { segments: segments.length ? segments : [''], all };
}

function match(segments) {
  for (const page of PAGES) {
    const words = page.path.split('/').slice(1);
    if (words.length !== segments.length) continue;
    const params = {};
    const fits = words.every((word, i) => {
      if (!word.startsWith(':')) return word === segments[i];
      params[word.slice(1)] = segments[i];
      return segments[i] !== '';
    });
    if (fits) return { page, params };
  }
  return null;
}

function memory() {
  let key = history.state?.key;
  if (!key) {
    key = crypto.getRandomValues(new Uint32Array(1))[0].toString(36);
    history.replaceState({ key }, '');
  }
  if (!memories.has(key)) memories.set(key, {});
  if (memories.size > MEMORIES_MAX) memories.delete(memories.keys().next().value);
  return memories.get(key);
}

class View {
  constructor({ segments, all }, found) {
    this.page = found?.page;
    this.params = found?.params ?? {};
    this.segments = segments;
    this.all = all;
    this.memory = memory();
    this.controller = new AbortController();
    this.signal = this.controller.signal; // Aborted when the page is left.
  }

  query(name) {
    return this.all[name]?.[0];
  }

  // Replaces the query, unless the page was left. `push` makes a step for the back button.
  setQuery(query, { push = false } = {}) {
    if (this.signal.aborted) return;
    const path = location.hash.replace(/^#/, '').split('?')[0] || '/';
    const hash = `#${path}${link('', query).slice(1)}`;
    if (hash === location.hash) return;
    const { all } = parse(hash);
    this.all = all;
    if (push) {
      const kept = this.memory;
      history.pushState(null, '', hash);
      this.memory = Object.assign(memory(), kept);
    } else {
      history.replaceState(history.state, '', hash);
    }
  }
}

export function go(hash) {
  if (hash === location.hash) refresh();
  else location.hash = hash;
}

// Shows the current page again, from scratch.
export function refresh({ keep = false } = {}) {
  current?.controller.abort();
  if (!keep && current) for (const name of Object.keys(memory())) delete memory()[name];
  const parsed = parse(location.hash);
  current = new View(parsed, match(parsed.segments));
  shown(current);
}

export function start(onPage) {
  shown = onPage;
  window.addEventListener('hashchange', () => refresh({ keep: true }));
  refresh({ keep: true });
}
