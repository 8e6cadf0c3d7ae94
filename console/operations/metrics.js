// metrics.js -- what the server does: charts, hot keys, slow requests, what the adviser found.

import { call } from '../core/api.js';
import { chart, rounded } from '../core/chart.js';
import { announce, errorBox } from '../core/dialog.js';
import { counted, field, h, select, show } from '../core/dom.js';
import { tableLink } from '../core/router.js';
import * as tables from '../core/tables.js';
import { changeThen, list, panel, repeat, when } from '../parts/panel.js';

const POLL_MS = 2000;
const SAMPLES_MAX = 150; // Five minutes.
const HISTORY_POLL_MS = 30_000;
// Range -> its seconds, and the seconds of a point.
const RANGES = { '3h': [10_800, 60], '24h': [86_400, 300], '14d': [1_209_600, 3600] };
const CHARTS = {
  'Requests per second': ['Requests', 'Failed'],
  'Latency in milliseconds': ['p50', 'p99'],
  'Units per second': ['Read', 'Write'],
  'Throttled per second': ['Throttled'],
};

// --- Live: the difference of two answers of GetMeters ---

function totals({ Tables }) {
  const out = new Map();
  for (const table of Tables) {
    if (table.TableName === '') continue; // Calls about no table, such as our own.
    const sum = { Requests: 0, Failed: 0, Read: table.ReadUnits, Write: table.WriteUnits, Throttled: table.Throttles, buckets: new Map() };
    for (const one of table.Operations) {
      sum.Requests += one.Successes + one.Failures;
      sum.Failed += one.Failures;
      for (const [end, count] of one.LatencyBuckets) sum.buckets.set(end, (sum.buckets.get(end) ?? 0) + count);
    }
    out.set(table.TableName, sum);
  }
  return out;
}

function percentile(buckets, share) {
  const ends = [...buckets.keys()].sort((a, b) => a - b);
  let rest = share * ends.reduce((sum, end) => sum + buckets.get(end), 0);
  for (const end of ends) {
    rest -= buckets.get(end);
    if (rest <= 0) return end / 1e6;
  }
  return undefined;
}

const RATES = ['Requests', 'Failed', 'Read', 'Write', 'Throttled'];

// What happened in each table that was used, and in all of them under ''.
function difference(before, after, seconds) {
  const out = {};
  const add = (name, now, then) => {
    const to = (out[name] ??= { buckets: new Map(), ...Object.fromEntries(RATES.map((rate) => [rate, 0])) });
    for (const rate of RATES) to[rate] += (now[rate] - (then?.[rate] ?? 0)) / seconds;
    for (const [end, count] of now.buckets) {
      const more = count - (then?.buckets.get(end) ?? 0);
      if (more > 0) to.buckets.set(end, (to.buckets.get(end) ?? 0) + more);
    }
  };
  for (const [name, now] of after) {
    const then = before.get(name);
    if (RATES.every((rate) => now[rate] === (then?.[rate] ?? 0))) continue;
    add('', now, then);
    add(name, now, then);
  }
  for (const one of Object.values(out)) {
    Object.assign(one, { p50: percentile(one.buckets, 0.5), p99: percentile(one.buckets, 0.99) });
    delete one.buckets;
  }
  return out;
}

function liveSeries(samples, table) {
  return (name) => ({ name, points: samples.map(({ time, used }) => [time, used[table]?.[name] ?? (RATES.includes(name) ? 0 : undefined)]).filter(([, value]) => value !== undefined) });
}

// --- History: CloudWatch's metrics ---

function expressions(table, period) {
  const search = (metric, stat, schema = 'TableName') => `SEARCH('{AWS/DynamoDB,${schema}} MetricName="${metric}"${table ? ` TableName="${table}"` : ''}', '${stat}', ${period})`;
  const latency = (stat) => search('SuccessfulRequestLatency', stat, 'Operation,TableName');
  return {
    Requests: `SUM(${latency('SampleCount')})/${period}`,
    Failed: `SUM(${search('SystemErrors', 'Sum', 'Operation,TableName')})/${period}`,
    p50: `MAX(${latency('p50')})`,
    p99: `MAX(${latency('p99')})`,
    Read: `SUM(${search('ConsumedReadCapacityUnits', 'Sum')})/${period}`,
    Write: `SUM(${search('ConsumedWriteCapacityUnits', 'Sum')})/${period}`,
    Throttled: `SUM(${search('ThrottledRequests', 'Sum', 'Operation,TableName')})/${period}`,
  };
}

async function history(table, from, to, period, options) {
  const queries = Object.entries(expressions(table, period)).map(([name, Expression]) => ({ Id: `m${name}`, Expression }));
  const { MetricDataResults } = await call('GetMetricData', { StartTime: from, EndTime: to, ScanBy: 'TimestampAscending', MetricDataQueries: queries }, { ...options, service: 'cloudwatch' });
  return (name) => {
    const found = MetricDataResults.find(({ Id }) => Id === `m${name}`);
    return { name, points: (found?.Timestamps ?? []).map((time, i) => [time, found.Values[i]]) };
  };
}

// --- The page ---

export function render(view) {
  const table = view.query('table') ?? '';
  const range = RANGES[view.query('range')] ? view.query('range') : '';
  const chosen = select([['', 'All tables'], ...tables.names()], { value: table, onchange: () => choose() });
  const ranges = select([['', 'Live, 5 minutes'], ['3h', '3 hours'], ['24h', '24 hours'], ['14d', '14 days']], { value: range, onchange: () => choose() });
  const charts = Object.keys(CHARTS).map((title) => chart(title));
  const place = h('div');
  const lower = h('div', { class: 'page' });
  let turn = 0;

  const update = (seriesOf, times) => charts.forEach((one, i) => one.update(Object.values(CHARTS)[i].map(seriesOf), times));

  async function live() {
    const { memory } = view;
    memory.samples ??= [];
    const answer = await call('GetMeters', {}, { signal: view.signal });
    const last = memory.last;
    memory.last = { time: answer.Time, totals: totals(answer) };
    if (last && answer.Time > last.time) memory.samples.push({ time: answer.Time, used: difference(last.totals, memory.last.totals, answer.Time - last.time) });
    memory.samples.splice(0, memory.samples.length - SAMPLES_MAX);
    update(liveSeries(memory.samples, chosen.value), { from: answer.Time - SAMPLES_MAX * POLL_MS / 1000, to: answer.Time, gap: 10 });
  }

  async function past() {
    const [seconds, period] = RANGES[ranges.value];
    const to = Math.ceil(Date.now() / 60_000) * 60;
    update(await history(chosen.value, to - seconds, to, period, { signal: view.signal }), { from: to - seconds, to, gap: period });
  }

  function follow() {
    turn += 1;
    const mine = turn;
    show(place);
    repeat(view, ranges.value ? HISTORY_POLL_MS : POLL_MS, async () => {
      if (mine !== turn) return false;
      try {
        await (ranges.value ? past() : live());
        return true;
      } catch (error) {
        if (!view.signal.aborted && mine === turn) show(place, errorBox(error, follow));
        return false;
      }
    });
  }

  function choose() {
    view.setQuery({ table: chosen.value, range: ranges.value });
    announce(`${chosen.selectedOptions[0].text}, ${ranges.selectedOptions[0].text}`);
    follow();
    drawPanels();
  }

  function drawPanels() {
    show(lower, hotKeys(view, chosen.value).element, slowRequests(view).element, advice(view, chosen.value).element);
  }

  follow();
  drawPanels();
  return {
    title: 'Metrics',
    element: h('div', { class: 'page' }, h('div', { class: 'spread' }, h('h1', null, 'Metrics'), h('div', { class: 'row' }, field('Table', chosen), field('Time', ranges))),
      place, h('div', { class: 'halves' }, charts.map(({ element }) => element)), lower),
  };
}

// --- Panels ---

const keyText = (key) => Object.values(key).map((value) => Object.values(value)[0]).join(' / ');

function hotKeys(view, table) {
  const switchTo = (action) => changeThen(part, 'Contributor Insights changed', `Contributor Insights of ${table}`, 'UpdateContributorInsights', [], () => ({ TableName: table, ContributorInsightsAction: action }), { label: action === 'ENABLE' ? 'Enable' : 'Disable' });
  const part = panel(view, 'Hot keys', {
    every: 10_000,
    async load(options) {
      if (!table) return {};
      const state = await call('DescribeContributorInsights', { TableName: table }, options);
      const isOn = /^ENABL/.test(state.ContributorInsightsStatus);
      return { isOn, hot: isOn && await call('GetHotKeys', { TableName: table }, options) };
    },
    draw({ isOn, hot }) {
      if (!table) return h('p', { class: 'muted' }, 'Choose a table to see which of its keys are used most.');
      if (!isOn) return [h('p', null, 'Keys are not counted: Contributor Insights is off for this table.'), h('div', null, h('button', { onclick: () => switchTo('ENABLE') }, 'Enable Contributor Insights'))];
      const rows = hot.HotKeys.map(({ Key, Value, ErrorMax }) => [h('code', null, keyText(Key)), rounded(Value), `${rounded(100 * Value / Math.max(hot.Total, 1))} %`, ErrorMax ? `+ ${rounded(ErrorMax)}` : 'exact']);
      return [h('p', { class: 'muted' }, `The last hour: ${rounded(hot.Total)} units, about ${counted(hot.ApproximateUniqueCount)} keys.`),
        list('Hot keys', ['Partition key', 'Units', 'Share', 'Error at most'], rows, { numbers: [1, 2, 3], empty: 'No key was used.' }), h('div', null, h('button', { onclick: () => switchTo('DISABLE') }, 'Disable'))];
    },
  });
  return part;
}

function slowRequests(view) {
  return panel(view, 'Slow requests', {
    every: 10_000,
    load: (options) => call('GetSlowRequests', {}, options),
    draw: ({ ThresholdSeconds, Requests }) => [h('p', { class: 'muted' }, `Requests of ${rounded(ThresholdSeconds * 1000)} ms or more; values are never kept.`),
      list('Slow requests', ['Time', 'Operation', 'Table', 'Milliseconds', 'Read', 'Returned', 'Written', 'Result'], Requests.map((one) => [when(one.Time), one.Operation, [one.TableName, one.IndexName].filter(Boolean).join(' / '), rounded(one.Seconds * 1000),
        counted(one.ItemsRead), counted(one.ItemsReturned), counted(one.ItemsWritten), one.Code || 'OK']), { numbers: [3, 4, 5, 6] })],
  });
}

// Findings with the same rule and advice together, in their order.
function byRule(findings) {
  const groups = new Map();
  for (const one of findings) {
    const name = `${one.Rule} ${one.Action}`;
    groups.set(name, [...(groups.get(name) ?? []), one]);
  }
  return [...groups.values()];
}

function advice(view, table) {
  return panel(view, 'Advice', {
    load: (options) => call('GetAdvice', table ? { TableName: table } : {}, options),
    draw: ({ Findings, NotJudged }) => [
      Findings.length === 0 && h('p', { class: 'muted' }, 'Nothing to improve was found in the last day.'),
      byRule(Findings).map(([first, ...others]) => h('div', { class: first.Severity === 'INFO' ? 'notice' : 'notice warn' }, h('h3', null, first.Rule), h('p', null, first.Action),
        h('ul', null, [first, ...others].map((one) => h('li', null, one.TableName && h('a', { href: tableLink(one.TableName, 'design') }, [one.TableName, one.IndexName].filter(Boolean).join(' / ')), one.TableName && ': ', one.Summary, one.MonthlyCost >= 0.01 && `; $${one.MonthlyCost.toFixed(2)} a month on AWS`))))),
      NotJudged.length > 0 && h('details', null, h('summary', null, `${counted(NotJudged.length)} rules not judged`), h('ul', null, NotJudged.map((one) => h('li', null, `${one.Rule}${one.TableName ? `, ${one.TableName}` : ''}: ${one.Reason}`))))],
  });
}
