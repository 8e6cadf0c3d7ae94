// app.js -- the shell: navigation, top bar, sign-in; shows the page that the URL names.

import * as access from './core/access.js';
import { announce, dialog, errorBox, mountMessages } from './core/dialog.js';
import { h, icon, show } from './core/dom.js';
import * as keys from './core/keys.js';
import { PAGES } from './core/pages.js';
import { openPalette } from './core/palette.js';
import * as router from './core/router.js';
import * as session from './core/session.js';
import * as settings from './core/settings.js';
import { connect, identity, server, whoAmI } from './core/api.js';
import * as tables from './core/tables.js';
import { signInForm } from './parts/sign_in.js';

const main = h('main', { id: 'main', tabindex: '-1' });
const crumbs = h('nav', { class: 'crumbs', 'aria-label': 'Breadcrumb' });
const who = h('button', { class: 'plain who', onclick: showIdentity, 'aria-haspopup': 'dialog' });
const tableList = h('ul', { class: 'tables' });
const tableFilter = h('input', {
  type: 'search', placeholder: 'Filter tables', 'aria-label': 'Filter tables', 'aria-keyshortcuts': '/',
  oninput: listTables,
  onkeydown: (event) => {
    if (event.key === 'Enter') tableList.querySelector('a')?.click();
    if (event.key === 'ArrowDown') tableList.querySelector('a')?.focus();
  },
});
const rail = h('aside', { class: 'rail', 'aria-label': 'Navigation' });
const menu = h('button', {
  class: 'plain menu', 'aria-label': 'Menu', 'aria-expanded': 'false',
  onclick: () => setMenu(!document.body.classList.contains('menu-open')),
}, icon('menu'));

function setMenu(open) {
  document.body.classList.toggle('menu-open', open);
  menu.setAttribute('aria-expanded', String(open));
}

// --- Navigation ---

function navLink(page) {
  return h('li', null, h('a', { href: `#${page.path}`, data: { path: page.path } }, icon(page.icon), page.nav));
}

function buildRail() {
  const group = (name) => PAGES.filter((page) => page.nav && (page.group ?? 'data') === name);
  const section = (label, pages) => pages.length > 0
    && h('nav', { 'aria-label': label }, h('ul', null, pages.map(navLink)));
  show(rail,
    h('a', { class: 'brand', href: '#/' }, h('img', { src: 'icon.svg', alt: '', width: 24, height: 24 }),
      'stator'),
    section('Data', group('data')),
    h('div', { class: 'table-nav' }, tableFilter, h('nav', { 'aria-label': 'Tables' }, tableList)),
    section('Operations', group('operations')), section('Console', group('console')));
}

function listTables() {
  const words = tableFilter.value.toLowerCase();
  const found = tables.names().filter((name) => name.toLowerCase().includes(words));
  const path = router.parse(location.hash).segments;
  const currentTable = path[0] === 't' ? path[1] : '';
  show(tableList, found.slice(0, 500).map((name) => h('li', null, h('a', {
    href: router.tableLink(name, 'items'), 'aria-current': name === currentTable ? 'page' : undefined,
  }, name))), found.length === 0 && h('li', { class: 'muted' },
    words ? 'No table matches' : tables.error() ? 'Tables may not be listed' : 'No tables yet'));
}

function markCurrent(view) {
  for (const anchor of rail.querySelectorAll('a[data-path]')) {
    if (anchor.dataset.path === view.page?.path) anchor.setAttribute('aria-current', 'page');
    else anchor.removeAttribute('aria-current');
  }
  listTables();
}

// --- Pages ---

async function showPage(view) {
  setMenu(false);
  markCurrent(view);
  const { signal } = view;
  const place = { title: '', crumbs: [], element: null };
  try {
    if (!view.page) throw Object.assign(new Error('The console has no page at this address.'), { name: 'No such page' });
    const module = await view.page.load();
    if (signal.aborted) return;
    Object.assign(place, module.render(view));
  } catch (error) {
    place.title = 'Error';
    place.element = [h('h1', null, 'Error'), errorBox(error, () => router.refresh())];
  }
  document.title = `${place.title} · stator`;
  const path = [...(place.crumbs ?? []), [place.title]];
  show(crumbs, h('ol', null, path.map(([label, href], i) => h('li', null, href
    ? h('a', { href }, label)
    : h('span', { 'aria-current': i === path.length - 1 ? 'page' : undefined }, label)))));
  show(main, place.element);
  place.mounted?.();
  announce(place.title);
  if (!main.contains(document.activeElement) && view.page?.focus !== false) main.focus({ preventScroll: true });
}

// --- Who am I ---

function describeIdentity() {
  const label = !server.auth ? 'No sign-in needed'
    : identity.arn ? identity.arn.split(/[/:]/).at(-1) : session.current() ? session.current().id : 'Signed out';
  who.setAttribute('aria-label', `Who am I: ${label}`); // Narrow windows show the icon alone.
  show(who, icon('key'), h('span', null, label));
}

async function showIdentity() {
  const rows = [['Account', identity.account], ['ARN', identity.arn], ['Region', server.region],
    ['Access key', session.current()?.id], ['Server', `stator ${server.version}`],
    ['Endpoint', location.origin]];
  const result = await dialog({
    title: 'Who am I',
    body: [h('dl', { class: 'facts' }, rows.filter(([, value]) => value)
      .map(([name, value]) => [h('dt', null, name), h('dd', null, h('code', null, value))])),
    h('p', { class: 'muted' }, server.auth
      ? 'Every call of the console is signed with this key, and its policies decide what it may do.'
      : 'This server does not authenticate: whoever reaches the port may do everything.')],
    actions: [...(server.auth && session.current() ? [{ label: 'Sign out', value: 'out' }] : []),
      { label: 'Close', value: null }],
  });
  if (result === 'out') {
    await session.signOut();
    identity.arn = '';
    identity.account = '';
    askToSignIn();
  }
}

let signingIn = false;
function askToSignIn(error) {
  if (signingIn || !server.auth) return;
  signingIn = true;
  describeIdentity();
  document.title = 'Sign in · stator';
  show(crumbs, h('ol', null, h('li', null, 'Sign in')));
  show(main, signInForm(error, async () => {
    signingIn = false;
    await enter();
  }));
  main.querySelector('input')?.focus();
}

let started = false;
async function enter() {
  const before = identity.arn;
  try {
    await whoAmI();
  } catch (error) {
    if (signingIn) return;
  }
  describeIdentity();
  await tables.load();
  listTables();
  // Whoever signs in again, because a key has expired, finds the page as it was, edits included.
  if (started) router.refresh({ keep: before !== '' && before === identity.arn });
  else router.start(showPage);
  started = true;
}

// --- Keys ---

function listKeys() {
  const groups = keys.all().map((layer) => h('section', null, h('h3', null, layer.group),
    h('dl', { class: 'keys' }, layer.bindings.map((binding) => [
      h('dt', null, binding.keys.split(' ').map((key) => h('kbd', null, key))), h('dd', null, binding.label)]))));
  dialog({ title: 'Keys', body: h('div', { class: 'key-groups' }, groups), wide: true });
}

function bindKeys() {
  keys.bind('Everywhere', [
    { keys: '?', label: 'List the keys', run: listKeys },
    { keys: 'Ctrl+k', label: 'Go to a table or page', run: openPalette },
    { keys: '/', label: 'Filter tables', run: () => { setMenu(true); tableFilter.focus(); } },
    ...PAGES.filter((page) => page.keys).map((page) => ({
      keys: page.keys, label: `Go to ${page.nav}`, run: () => router.go(`#${page.path}`),
    })),
    { keys: 'y', label: 'Copy a link to this view', run: () => import('./core/dialog.js').then(({ copy }) => copy(location.href, 'Link copied')) },
  ]);
  keys.start();
}

const THEMES = ['auto', 'light', 'dark'];
function nextTheme() {
  const next = THEMES[(THEMES.indexOf(settings.get('theme')) + 1) % THEMES.length];
  settings.set('theme', next);
  announce(`Theme: ${next}`);
}

async function boot() {
  settings.apply();
  access.start();
  buildRail();
  show(document.getElementById('app'),
    h('button', { class: 'skip', onclick: () => main.focus() }, 'Skip to the content'), rail,
    h('div', { class: 'column' }, h('header', { class: 'top' }, menu, crumbs, h('div', { class: 'tools' },
      h('button', { class: 'plain', onclick: openPalette, 'aria-label': 'Go to a table or page' }, icon('search')),
      h('button', { class: 'plain', onclick: listKeys, 'aria-label': 'Keys' }, icon('help')),
      h('button', { class: 'plain', onclick: nextTheme, 'aria-label': 'Change theme' }, icon('sun')), who)), main));
  mountMessages(document.body);
  bindKeys();
  tables.onChange(listTables);
  try {
    await connect(askToSignIn);
  } catch (error) {
    show(main, errorBox(new Error('The server does not answer.'), () => location.reload()));
    return;
  }
  if (server.auth && session.canSign()) await session.restore();
  if (server.auth && !session.current()) askToSignIn();
  else await enter();
}

boot();
