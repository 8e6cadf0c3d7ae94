// regions.js -- global tables: the replicas of one table, or of all, and how far behind they are.

import { call, server } from '../core/api.js';
import { counted, field, h } from '../core/dom.js';
import { tableLink } from '../core/router.js';
import { changeThen, list, panel, tablePage } from '../parts/panel.js';
import { statusBadge } from '../parts/table_frame.js';

const EVERY = 2000;
const COUNTED_MAX = 10000; // DescribeRegions counts no further.
const HEADS = ['Status', 'Reached', 'Items waiting', 'Sent', 'Received', 'Clock'];

const seconds = (value) => (value === undefined ? 'not yet' : `${value.toFixed(1)} s ago`);
const count = (value) => (value >= COUNTED_MAX ? `${counted(COUNTED_MAX)} or more` : counted(value));
const clock = (ahead) => (Math.abs(ahead) < 0.05 ? 'equal' : `${Math.abs(ahead).toFixed(1)} s ${ahead > 0 ? 'ahead' : 'behind'}`);

// `state` is what this server knows of the member; undefined if the key may not ask.
function cells(status, state) {
  if (!state) return [statusBadge(status), '', '', '', '', ''];
  const { Reached, WaitingItems, SendLagSeconds, ReceiveLagSeconds, ClockAheadSeconds } = state;
  return [statusBadge(status), h('span', { class: `badge ${Reached ? 'good' : 'bad'}` }, Reached ? 'yes' : 'no'), count(WaitingItems), seconds(SendLagSeconds), seconds(ReceiveLagSeconds), ClockAheadSeconds === undefined ? '' : clock(ClockAheadSeconds)];
}

const explanation = () => h('p', { class: 'muted' }, 'Sent: the age of the newest moment up to which that region has all that was written here; received: the same the other way round.');

function all(view) {
  const part = panel(view, 'Replicas', {
    every: EVERY,
    load: (options) => call('DescribeRegions', {}, options),
    draw: ({ Peers, Tables }) => [h('p', null, `This is ${server.region}. `, Peers.length ? `Its peers: ${Peers.join(', ')}.` : 'It has no peers: the setting region-peers names the servers of other regions.'),
      list('Replicas', ['Table', 'Region', ...HEADS], Tables.flatMap(({ TableName, Members }) => Members.map((one) => [h('a', { href: tableLink(TableName, 'regions') }, TableName), one.RegionName, ...cells(one.ReplicaStatus, one)])), { numbers: [4, 5, 6], empty: 'No table has replicas.' }), Tables.length > 0 && explanation()],
  });
  return part.element;
}

function ofTable(view, TableName) {
  let free = [];
  const part = panel(view, 'Replicas', {
    every: EVERY,
    tools: h('button', { needs: { Action: 'UpdateTable', Resource: TableName }, onclick: () => add() }, 'Add replica'),
    async load(options) {
      const { Table } = await call('DescribeTable', { TableName }, options);
      const known = await call('DescribeRegions', { TableName }, options).catch(() => null); // Perhaps it is not allowed.
      return { members: Table.Replicas ?? [], known };
    },
    draw({ members, known }) {
      const state = known?.Tables[0];
      free = (known?.Peers ?? []).filter((region) => !members.some(({ RegionName }) => RegionName === region));
      if (members.length === 0) return h('p', null, `Only in ${server.region}.`);
      return [list('Replicas', ['Region', ...HEADS, ''], members.map(({ RegionName, ReplicaStatus }) => [RegionName, ...cells(ReplicaStatus, state?.Members.find((one) => one.RegionName === RegionName)),
        h('button', { class: 'danger', needs: { Action: 'UpdateTable', Resource: TableName }, 'aria-label': `Delete replica in ${RegionName}`, onclick: () => remove(RegionName) }, 'Delete')]), { numbers: [3, 4, 5] }),
      explanation(), state && h('p', { class: 'muted' }, `${count(state.WaitingStamps)} stamps are kept until all regions have everything.`)];
    },
  });
  const change = (done, title, kind, body, region, options) => changeThen(part, done, title, 'UpdateTable', body, () => ({ TableName, ReplicaUpdates: [{ [kind]: { RegionName: region() } }] }), options);
  function add() {
    const region = h('input', { autofocus: true, value: free[0] ?? '' });
    const hint = free.length ? `Peers without one: ${free.join(', ')}` : 'One of the setting region-peers.';
    change('The replica is being made', `Add a replica of ${TableName}`, 'Create', field('Region', region, { hint }), () => region.value, { label: 'Add' });
  }
  function remove(region) {
    change('The replica is being deleted', `Delete the replica in ${region}?`, 'Delete', h('p', null, `This deletes the table ${TableName} in ${region} with all its items there.`), () => region, { label: 'Delete', danger: true });
  }
  return part.element;
}

export function render(view) {
  if (view.params.table) return tablePage(view, 'regions', 'Replicas', () => ofTable(view, view.params.table));
  return { title: 'Regions', element: h('div', { class: 'page' }, h('h1', null, 'Regions'), all(view)) };
}
