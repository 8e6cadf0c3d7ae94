// stream.js -- a table's stream as it grows, filters tried on it, and the triggers that read it.

import { call } from '../core/api.js';
import { announce, errorBox } from '../core/dialog.js';
import { counted, field, h, select, show } from '../core/dom.js';
import { eventFilter } from '../core/event_filter.js';
import { tableLink } from '../core/router.js';
import { changeThen, list, panel, tablePage, when } from '../parts/panel.js';

const POLL_MS = 1000;
const POSITIONS = [['LATEST', 'From now on'], ['TRIM_HORIZON', 'From the oldest record']];
const RECORDS_MAX = 500;
const STATES = { INSERT: 'good', MODIFY: 'warn', REMOVE: 'bad' };

// Gives every record of the stream to take(), until `signal` says stop.
async function follow(StreamArn, from, signal, take) {
  const iterators = new Map();
  const known = new Set();
  async function look(type) {
    let ExclusiveStartShardId;
    do {
      const { StreamDescription: { Shards, LastEvaluatedShardId } } = await call('DescribeStream', { StreamArn, ExclusiveStartShardId }, { signal });
      for (const { ShardId, SequenceNumberRange } of Shards) {
        const isOver = type === 'LATEST' && SequenceNumberRange.EndingSequenceNumber;
        if (!known.has(ShardId) && !isOver) iterators.set(ShardId, (await call('GetShardIterator', { StreamArn, ShardId, ShardIteratorType: type }, { signal })).ShardIterator);
        known.add(ShardId);
      }
      ExclusiveStartShardId = LastEvaluatedShardId;
    } while (ExclusiveStartShardId);
  }
  await look(from);
  while (!signal.aborted) {
    let isOver = false;
    for (const [id, ShardIterator] of iterators) {
      const { Records, NextShardIterator } = await call('GetRecords', { ShardIterator, Limit: RECORDS_MAX }, { signal });
      Records.forEach(take);
      if (NextShardIterator) iterators.set(id, NextShardIterator);
      else isOver = iterators.delete(id);
    }
    if (isOver) await look('TRIM_HORIZON'); // Its children begin where it ended.
    await new Promise((resolve) => { setTimeout(resolve, POLL_MS); });
  }
}

// What a record changed, attribute by attribute, as exact DynamoDB JSON.
function recordElement({ eventName, dynamodb: { ApproximateCreationDateTime, Keys, OldImage = {}, NewImage = {} } }) {
  const names = [...new Set([...Object.keys(OldImage), ...Object.keys(NewImage)])];
  const text = (value) => value && JSON.stringify(value);
  const changes = names.filter((name) => text(OldImage[name]) !== text(NewImage[name])).map((name) => h('li', null, h('code', null, `${name}: `,
    OldImage[name] && h('del', null, `− ${text(OldImage[name])} `), NewImage[name] && h('ins', null, `+ ${text(NewImage[name])}`))));
  return h('li', null, h('details', null, h('summary', null, `${when(ApproximateCreationDateTime)} `, h('span', { class: `badge ${STATES[eventName] ?? ''}` }, eventName), ' ', h('code', null, Object.values(Keys).map((value) => Object.values(value)[0]).join(' / '))),
    h('ul', { class: 'changes' }, changes.length ? changes : h('li', null, h('code', null, text(Keys))))));
}

function tail(view, arn, pattern) {
  const keep = () => view.setQuery({ from: from.value === 'LATEST' ? '' : from.value, pattern: pattern.value });
  const from = select(POSITIONS, { value: view.query('from') ?? 'LATEST', onchange: keep });
  const patternField = field('Filter pattern', pattern, { hint: 'As triggers take it; empty: all. Tried at once on every record below.' });
  const button = h('button', { class: 'primary', onclick: toggle }, 'Start');
  const status = h('span', { class: 'muted' }, 'Stopped.');
  const problem = h('div');
  const records = h('ul', { class: 'plain-list' });
  let ring = []; // { record, element }, newest first.
  let controller = null;
  let seen = 0;
  let filter = () => true;

  function tell() {
    show(status, `${controller ? 'Running' : 'Stopped'}: ${counted(seen)} seen, ${counted(ring.filter(({ element }) => !element.hidden).length)} of the last ${counted(ring.length)} match.`);
  }

  function take(record) {
    const element = recordElement(record);
    element.hidden = !filter(record);
    ring.unshift({ record, element });
    records.prepend(element);
    for (const { element: old } of ring.splice(RECORDS_MAX)) old.remove();
    seen += 1;
    tell();
  }

  pattern.addEventListener('change', keep);
  const tryPattern = () => {
    try {
      filter = eventFilter(pattern.value);
      patternField.setError('');
    } catch (error) {
      patternField.setError(error.message);
      return;
    }
    for (const { record, element } of ring) element.hidden = !filter(record);
    tell();
  };
  pattern.addEventListener('input', tryPattern);
  if (pattern.value) tryPattern();

  function stop() {
    controller?.abort();
    controller = null;
    show(button, 'Start');
    tell();
  }

  async function toggle() {
    if (controller) {
      stop();
      announce(status.textContent);
      return;
    }
    const mine = new AbortController();
    controller = mine;
    ring = [];
    seen = 0;
    show(records);
    show(problem);
    show(button, 'Stop');
    tell();
    try {
      await follow(arn, from.value, mine.signal, take);
    } catch (error) {
      if (mine.signal.aborted) return;
      show(problem, errorBox(error));
      stop();
    }
  }
  view.signal.addEventListener('abort', () => controller?.abort());
  return h('section', { class: 'card', 'aria-label': 'Records' }, h('div', { class: 'row' }, field('Read', from), h('div', { class: 'field' }, button)), patternField, status, problem,
    h('div', { class: 'records', tabindex: '0', role: 'group', 'aria-label': 'Newest records' }, records));
}

function triggers(view, name, pattern) {
  const part = panel(view, 'Triggers', {
    every: 3000,
    tools: h('button', { needs: { Action: 'AddTrigger', Resource: name }, onclick: () => add() }, 'Add trigger'),
    load: (options) => call('ListTriggers', { TableName: name }, options),
    draw: ({ Triggers }) => list('Triggers', ['URL', 'State', 'Last result', 'Behind', 'Delivered', 'Given up', 'Dead letters', 'Batch', 'Filters', ''], Triggers.map((one) => [one.Url, one.State, one.LastProcessingResult,
      one.Statistics.IteratorAgeMilliseconds ? `${counted(Math.ceil(one.Statistics.IteratorAgeMilliseconds / 1000))} s` : 'nothing waits', counted(one.Statistics.RecordsDelivered), counted(one.Statistics.RecordsGivenUp),
      one.DeadLetterFile ? `${counted(one.Statistics.DeadLetters)} in ${one.DeadLetterFile}` : 'not kept', counted(one.BatchSize), h('code', null, (one.FilterCriteria?.Filters ?? []).map(({ Pattern }) => Pattern).join(' or ')),
      h('button', { class: 'danger', needs: { Action: 'RemoveTrigger', Resource: name }, 'aria-label': `Remove trigger ${one.Url}`, onclick: () => changeThen(part, 'Trigger removed', 'Remove this trigger?', 'RemoveTrigger', [], () => ({ UUID: one.UUID }), { label: 'Remove', danger: true }) }, 'Remove')]), { numbers: [4, 5, 7] }),
  });
  async function add() {
    const url = h('input', { autofocus: true, placeholder: 'http://127.0.0.1:9000/2015-03-31/functions/f/invocations' });
    const from = select(POSITIONS);
    const batch = h('input', { type: 'number', value: '100' });
    const wanted = h('textarea', { rows: '2', value: pattern.value });
    const dead = h('input');
    const retries = h('input', { type: 'number', value: '-1', min: '-1' });
    const make = () => ({
      TableName: name, Url: url.value, StartingPosition: from.value, BatchSize: Number(batch.value), MaximumRetryAttempts: Number(retries.value),
      ...(wanted.value.trim() ? { FilterCriteria: { Filters: [{ Pattern: wanted.value }] } } : {}), ...(dead.value ? { DeadLetterFile: dead.value } : {}),
    });
    await changeThen(part, 'Trigger added', 'Add a trigger', 'AddTrigger', [field('URL', url, { hint: 'Records are posted there in the format of AWS Lambda.' }), field('Pattern', wanted),
      h('div', { class: 'row' }, field('Start', from), field('Batch size', batch), field('Retries', retries, { hint: '−1: until it is delivered' }), field('Dead letter file', dead))], make, { label: 'Add' });
  }
  return part.element;
}

export function render(view) {
  const pattern = h('textarea', { rows: '2', spellcheck: 'false', value: view.query('pattern') ?? '', placeholder: '{"eventName": ["INSERT"]}' });
  return tablePage(view, 'stream', 'Stream', ({ TableName, LatestStreamArn }) => [
    LatestStreamArn ? tail(view, LatestStreamArn, pattern) : h('p', { class: 'notice' }, 'This table has no stream. ', h('a', { href: tableLink(TableName, 'design') }, 'Switch one on'), ' to see its changes.'),
    triggers(view, TableName, pattern)]);
}
