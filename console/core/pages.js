// pages.js -- the table of pages. A page is a module of its own; console/README.md has its contract.
//
// `nav`: its name in the navigation, in the group `group`: data (the default), operations or console;
// `icon`: one of dom.js; `keys`: how to get there; `tab`: its name among the tabs of a table.

export const PAGES = [
  { path: '/', nav: 'Tables', icon: 'table', keys: 'g t', load: () => import('../pages/home.js') },
  { path: '/t/:table/items', tab: 'Items', load: () => import('../pages/explorer.js') },
  { path: '/t/:table/design', tab: 'Definition', load: () => import('../pages/design.js') },
  { path: '/t/:table/capacity', tab: 'Capacity', load: () => import('../capacity/page.js') },
  { path: '/t/:table/stream', tab: 'Stream', load: () => import('../pages/stream.js') },
  { path: '/t/:table/recovery', tab: 'Recovery', load: () => import('../operations/recovery.js') },
  { path: '/t/:table/regions', tab: 'Replicas', load: () => import('../operations/regions.js') },
  { path: '/t/:table/item', load: () => import('../pages/item.js') },
  { path: '/new', nav: 'New table', icon: 'plus', keys: 'g n', load: () => import('../pages/new_table.js') },
  { path: '/q', nav: 'Query desk', icon: 'terminal', keys: 'g q', load: () => import('../pages/desk.js') },
  { path: '/model', nav: 'Modeller', icon: 'code', keys: 'g d', load: () => import('../model/page.js') },
  { path: '/metrics', nav: 'Metrics', icon: 'chart', keys: 'g m', group: 'operations', load: () => import('../operations/metrics.js') },
  { path: '/alarms', nav: 'Alarms', icon: 'bolt', keys: 'g a', group: 'operations', load: () => import('../operations/alarms.js') },
  { path: '/jobs', nav: 'Backups and jobs', icon: 'clock', keys: 'g b', group: 'operations', load: () => import('../operations/recovery.js') },
  { path: '/regions', nav: 'Regions', icon: 'globe', keys: 'g r', group: 'operations', load: () => import('../operations/regions.js') },
  { path: '/keys', nav: 'Keys and policies', icon: 'key', keys: 'g k', group: 'operations', load: () => import('../operations/keys.js') },
  { path: '/settings', nav: 'Settings', icon: 'gear', keys: 'g s', group: 'console', load: () => import('../pages/settings.js') },
];
