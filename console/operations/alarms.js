// alarms.js -- alarms of CloudWatch's API: their state, why, what happened, new ones.

import { call } from '../core/api.js';
import { field, h, select } from '../core/dom.js';
import * as tables from '../core/tables.js';
import { changeThen, list, panel, when } from '../parts/panel.js';

const service = 'cloudwatch';
const STATES = { OK: 'good', ALARM: 'bad', INSUFFICIENT_DATA: 'warn' };
const SIGNS = { GreaterThanThreshold: '>', GreaterThanOrEqualToThreshold: '≥', LessThanThreshold: '<', LessThanOrEqualToThreshold: '≤' };
const METRICS = ['ReadThrottleEvents', 'WriteThrottleEvents', 'ThrottledRequests', 'ConsumedReadCapacityUnits', 'ConsumedWriteCapacityUnits', 'SuccessfulRequestLatency', 'SystemErrors', 'ConditionalCheckFailedRequests', 'TransactionConflict'];
// Metrics that are counted for each operation.
const BY_OPERATION = ['ThrottledRequests', 'SuccessfulRequestLatency', 'SystemErrors'];
const STATISTICS = ['Sum', 'Average', 'Maximum', 'Minimum', 'SampleCount', 'p50', 'p90', 'p99'];
const OPERATIONS = ['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem', 'Query', 'Scan', 'BatchGetItem', 'BatchWriteItem', 'TransactGetItems', 'TransactWriteItems'];

const badge = (state) => h('span', { class: `badge ${STATES[state] ?? ''}` }, state.toLowerCase().replace('_', ' '));

function condition(alarm) {
  if (alarm.AlarmRule) return alarm.AlarmRule;
  const of = (alarm.Dimensions ?? []).map(({ Value }) => Value).join(', ');
  const what = alarm.MetricName ? `${alarm.Statistic ?? alarm.ExtendedStatistic} of ${alarm.MetricName}${of ? ` (${of})` : ''}` : 'an expression';
  return `${what} ${SIGNS[alarm.ComparisonOperator] ?? alarm.ComparisonOperator} ${alarm.Threshold ?? ''}, ${alarm.EvaluationPeriods} × ${alarm.Period ?? '?'} s`;
}

export function render(view) {
  const options = { signal: view.signal, service };
  const remove = (name) => changeThen(alarms, `Alarm ${name} deleted`, `Delete the alarm ${name}?`, 'DeleteAlarms', [], () => ({ AlarmNames: [name] }), { label: 'Delete', danger: true, service }).then(past.reload);
  const alarms = panel(view, 'Now', {
    every: 5000,
    tools: h('button', { class: 'primary', onclick: create }, 'New alarm'),
    load: () => call('DescribeAlarms', { AlarmTypes: ['MetricAlarm', 'CompositeAlarm'] }, options),
    draw: ({ MetricAlarms, CompositeAlarms }) => list('Alarms', ['Alarm', 'State', 'Since', 'Condition', 'Why', ''], [...MetricAlarms, ...CompositeAlarms].map((one) => [one.AlarmName, badge(one.StateValue), when(one.StateTransitionedTimestamp), condition(one), one.StateReason,
      h('button', { class: 'danger', 'aria-label': `Delete alarm ${one.AlarmName}`, onclick: () => remove(one.AlarmName) }, 'Delete')]), { empty: 'No alarms yet.' }),
  });
  const past = panel(view, 'History', {
    every: 15_000,
    load: () => call('DescribeAlarmHistory', { MaxRecords: 50 }, options),
    draw: ({ AlarmHistoryItems }) => list('History of alarms', ['Time', 'Alarm', 'Kind', 'What happened'], AlarmHistoryItems.map((one) => [when(one.Timestamp), one.AlarmName, one.HistoryItemType, one.HistorySummary])),
  });

  async function create() {
    const name = h('input', { autofocus: true, autocomplete: 'off' });
    const table = select(tables.names());
    const metric = select(METRICS);
    const operation = select(OPERATIONS);
    const statistic = select(STATISTICS);
    const sign = select(Object.entries(SIGNS));
    const threshold = h('input', { type: 'number', step: 'any', value: '0' });
    const period = h('input', { type: 'number', value: '60', min: '10' });
    const periods = h('input', { type: 'number', value: '1', min: '1' });
    const action = h('input', { placeholder: 'http://127.0.0.1:9000/alarm' });
    const operationField = field('Operation', operation);
    const make = () => {
      const byOperation = BY_OPERATION.includes(metric.value);
      operationField.hidden = !byOperation;
      return {
        AlarmName: name.value, Namespace: 'AWS/DynamoDB', MetricName: metric.value,
        Dimensions: [{ Name: 'TableName', Value: table.value }, ...(byOperation ? [{ Name: 'Operation', Value: operation.value }] : [])],
        ...(statistic.value.startsWith('p') ? { ExtendedStatistic: statistic.value } : { Statistic: statistic.value }),
        ComparisonOperator: sign.value, Threshold: Number(threshold.value), Period: Number(period.value), EvaluationPeriods: Number(periods.value),
        TreatMissingData: 'notBreaching', ...(action.value ? { AlarmActions: [action.value] } : {}),
      };
    };
    const fields = [field('Name', name), h('div', { class: 'row' }, field('Table', table), field('Metric', metric), operationField),
      h('div', { class: 'row' }, field('Statistic', statistic), field('Is', sign), field('Threshold', threshold), field('Seconds', period), field('Times in a row', periods)),
      field('Calls this URL', action, { hint: 'Optional: the server posts to it when the alarm goes off.' })];
    await changeThen(alarms, 'Alarm saved', 'New alarm', 'PutMetricAlarm', fields, make, { label: 'Save alarm', service });
    past.reload();
  }

  return { title: 'Alarms', element: h('div', { class: 'page' }, h('h1', null, 'Alarms'), alarms.element, past.element) };
}
