// page.js -- what a table and its indexes may use: units, auto scaling, what was used and refused.

import { call } from '../core/api.js';
import { chart } from '../core/chart.js';
import { counted, field, h, select } from '../core/dom.js';
import { tableLink } from '../core/router.js';
import { changeThen, list, panel, repeat, tablePage, when } from '../parts/panel.js';
import { statusBadge } from '../parts/table_frame.js';
import { schedules } from './schedules.js';
import { dimensions, isFor, service, ServiceNamespace } from './targets.js';

const TAG = 'stator:capacity';
const LIMITS = { '': 'As the server is set', enforce: 'Refused, as the service does', account: 'Served, and counted', off: 'Served, not counted' };
const HOUR = 3600;

function scaling(view, name) {
  const number = (value) => h('input', { type: 'number', value, min: '1' });
  const part = panel(view, 'Units and auto scaling', {
    every: 5000,
    tools: h('a', { href: tableLink(name, 'design') }, 'Mode and units'),
    async load(options) {
      const { Table } = await call('DescribeTable', { TableName: name }, options);
      const all = dimensions(Table);
      const more = { ...options, service };
      const [{ ScalableTargets }, { ScalingPolicies }] = await Promise.all([call('DescribeScalableTargets', { ServiceNamespace, ResourceIds: [...new Set(all.map(({ target }) => target.ResourceId))] }, more), call('DescribeScalingPolicies', { ServiceNamespace }, more)]);
      return { Table, all, ScalableTargets, ScalingPolicies };
    },
    draw: ({ Table, all, ScalableTargets, ScalingPolicies }) => list('Capacity', ['Of', 'Units per second', 'Limits', 'Target', ''], all.map((one) => {
      const target = ScalableTargets.find(isFor(one));
      const goal = ScalingPolicies.find(isFor(one))?.TargetTrackingScalingPolicyConfiguration?.TargetValue;
      const button = (Action, label, onclick, cls) => h('button', { class: cls, needs: { Action: `application-autoscaling:${Action}` }, 'aria-label': `${label} of ${one.label}`, onclick }, label);
      return [one.label, Table.BillingModeSummary?.BillingMode === 'PAY_PER_REQUEST' ? 'on demand' : counted(one.units), target ? `${counted(target.MinCapacity)} – ${counted(target.MaxCapacity)}` : 'fixed', goal ? `${goal} %` : '',
        h('span', { class: 'actions' }, button('RegisterScalableTarget', 'Limits', () => setLimits(one, target)), target && button('PutScalingPolicy', 'Target', () => setTarget(one, goal)), target && button('DeregisterScalableTarget', 'Remove', () => changeThen(part, 'Auto scaling removed', `No auto scaling of ${one.label}?`, 'DeregisterScalableTarget', [], () => one.target, { label: 'Remove', danger: true, service }), 'danger'))];
    }), { numbers: [1] }),
  });
  function setLimits(one, known) {
    const [min, max] = [number(known?.MinCapacity ?? 1), number(known?.MaxCapacity ?? 100)];
    changeThen(part, 'Limits set', `Limits of ${one.label}`, 'RegisterScalableTarget', h('div', { class: 'row' }, field('At least', min), field('At most', max)), () => ({ ...one.target, MinCapacity: Number(min.value), MaxCapacity: Number(max.value) }), { label: 'Set', service });
  }
  function setTarget(one, known = 70) {
    const goal = number(known);
    changeThen(part, 'Target set', `Target of ${one.label}`, 'PutScalingPolicy', field('Used, in percent', goal, { hint: 'Units follow the load, so that this share of them is used.' }), () => ({
      ...one.target, PolicyName: `stator-${one.way}`, PolicyType: 'TargetTrackingScaling',
      TargetTrackingScalingPolicyConfiguration: { TargetValue: Number(goal.value), PredefinedMetricSpecification: { PredefinedMetricType: `DynamoDB${one.way}CapacityUtilization` } },
    }), { label: 'Set', service });
  }
  return part.element;
}

function activities(view, name) {
  return panel(view, 'Activities', {
    every: 10_000,
    load: (options) => call('DescribeScalingActivities', { ServiceNamespace }, { ...options, service }),
    draw: ({ ScalingActivities }) => list('Activities', ['Time', 'Of', 'Status', 'What', 'Why'], ScalingActivities.filter(({ ResourceId }) => `${ResourceId}/`.startsWith(`table/${name}/`)).map((one) => [when(one.StartTime), one.ScalableDimension.split(':').slice(1).join(' '), statusBadge(one.StatusCode), one.Description, one.Cause])),
  }).element;
}

function beyond(view, { TableArn, TableName }) {
  const part = panel(view, 'Beyond the units', {
    load: (options) => call('ListTagsOfResource', { ResourceArn: TableArn }, options),
    draw({ Tags }) {
      const value = Tags.find(({ Key }) => Key === TAG)?.Value ?? '';
      const set = () => {
        const choice = select(Object.entries(LIMITS).slice(1), { value: value || 'enforce' });
        changeThen(part, 'Limits changed', 'Requests beyond the units', 'TagResource', field('They are', choice), () => ({ ResourceArn: TableArn, Tags: [{ Key: TAG, Value: choice.value }] }));
      };
      return h('div', { class: 'spread' }, h('p', null, 'Requests: ', h('strong', null, LIMITS[value] ?? value)), h('button', { needs: { Action: 'TagResource', Resource: TableName }, onclick: set }, 'Change'));
    },
  });
  return part.element;
}

// The last hour, as CloudWatch's metrics have it.
function usage(view, table) {
  const charts = ['Read', 'Write', 'Throttled'].map((title) => chart(title === 'Throttled' ? 'Throttled requests per minute' : `${title} units per second`));
  const metric = (name) => ({ Id: name[0].toLowerCase() + name.slice(1), MetricStat: { Metric: { Namespace: 'AWS/DynamoDB', MetricName: name, Dimensions: [{ Name: 'TableName', Value: table.TableName }] }, Period: 60, Stat: 'Sum' } });
  repeat(view, 30_000, async () => {
    const to = Math.ceil(Date.now() / 60_000) * 60;
    const from = to - HOUR;
    const { MetricDataResults: [read, write, readThrottled, writeThrottled] } = await call('GetMetricData', { StartTime: from, EndTime: to, ScanBy: 'TimestampAscending', MetricDataQueries: ['ConsumedReadCapacityUnits', 'ConsumedWriteCapacityUnits', 'ReadThrottleEvents', 'WriteThrottleEvents'].map(metric) }, { signal: view.signal, service: 'cloudwatch' });
    const series = (name, { Timestamps, Values }, by = 1) => ({ name, points: Timestamps.map((time, i) => [time, Values[i] / by]) });
    const level = (units) => (units ? [{ name: 'Provisioned', points: Array.from({ length: 61 }, (_, i) => [from + i * 60, units]) }] : []);
    const units = table.ProvisionedThroughput ?? {};
    const times = { from, to, gap: 60 };
    charts[0].update([series('Used', read, 60), ...level(units.ReadCapacityUnits)], times);
    charts[1].update([series('Used', write, 60), ...level(units.WriteCapacityUnits)], times);
    charts[2].update([series('Reads', readThrottled), series('Writes', writeThrottled)], times);
  }).catch(() => {}); // What may not be read stays empty.
  return h('div', { class: 'halves' }, charts.map(({ element }) => element));
}

export function render(view) {
  return tablePage(view, 'capacity', 'Capacity', (table) => [scaling(view, table.TableName), schedules(view, table), beyond(view, table), usage(view, table), activities(view, table.TableName)]);
}
