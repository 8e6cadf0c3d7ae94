// recovery.js -- the ways back: recovery to a point in time, backups, exports, imports; of one table,
// or of all.

import { call } from '../core/api.js';
import { bytes, counted, field, h } from '../core/dom.js';
import * as tables from '../core/tables.js';
import { changeThen, list, panel, tablePage, when } from '../parts/panel.js';
import { statusBadge } from '../parts/table_frame.js';

const EVERY = 5000;

async function restore(part, title, source, operation, make) {
  const target = h('input', { autofocus: true, value: `${source}-restored` });
  await changeThen(part, 'The table is being restored', title, operation, field('Name of the new table', target), () => ({ TargetTableName: target.value, ...make }), { label: 'Restore' });
  tables.load();
}

// Every second that can be restored, on one axis; arrow keys step through it.
function timeline(from, to) {
  const input = h('input', { type: 'range', min: from, max: to, step: '1', value: to });
  const element = field(`Instant from ${when(from)} to ${when(to)}`, input);
  const tell = () => {
    element.setHint(when(input.value));
    input.setAttribute('aria-valuetext', when(input.value));
  };
  input.addEventListener('input', tell);
  tell();
  return { element, instant: () => Number(input.value) };
}

function pointInTime(view, name) {
  const part = panel(view, 'Point-in-time recovery', {
    load: (options) => call('DescribeContinuousBackups', { TableName: name }, options),
    draw({ ContinuousBackupsDescription: { PointInTimeRecoveryDescription: state } }) {
      const isOn = state.PointInTimeRecoveryStatus === 'ENABLED';
      const label = isOn ? 'Switch off' : 'Switch on';
      const toggle = h('button', { needs: { Action: 'UpdateContinuousBackups', Resource: name }, onclick: () => changeThen(part, 'Recovery changed', 'Point-in-time recovery', 'UpdateContinuousBackups', [], () => ({ TableName: name, PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: !isOn } }), { label }) }, label);
      if (!isOn) return [h('p', null, 'Off: what was overwritten is gone.'), h('div', null, toggle)];
      const { element, instant } = timeline(Math.ceil(state.EarliestRestorableDateTime), Math.floor(state.LatestRestorableDateTime));
      return [element, h('div', { class: 'actions' }, h('button', { class: 'primary', needs: { Action: 'RestoreTableToPointInTime', Resource: name }, onclick: () => restore(part, `Restore ${name} as of ${when(instant())}`, name, 'RestoreTableToPointInTime', { SourceTableName: name, RestoreDateTime: instant() }) }, 'Restore this instant'), toggle)];
    },
  });
  return part.element;
}

function backups(view, TableName) {
  const button = (one, Action, label, onclick, cls) => h('button', { class: cls, needs: { Action, Resource: one.BackupArn }, 'aria-label': `${label} ${one.BackupName}`, onclick }, label);
  const part = panel(view, 'Backups', {
    every: EVERY,
    tools: TableName && h('button', { needs: { Action: 'CreateBackup', Resource: TableName }, onclick: () => create() }, 'Create backup'),
    load: (options) => call('ListBackups', { TableName }, options),
    draw: ({ BackupSummaries }) => list('Backups', ['Backup', 'Table', 'Status', 'Created', 'Size', ''], BackupSummaries.map((one) => [one.BackupName, one.TableName, statusBadge(one.BackupStatus), when(one.BackupCreationDateTime), bytes(one.BackupSizeBytes ?? 0),
      h('span', { class: 'actions' }, button(one, 'RestoreTableFromBackup', 'Restore', () => restore(part, `Restore ${one.BackupName}`, one.TableName, 'RestoreTableFromBackup', { BackupArn: one.BackupArn })),
        button(one, 'DeleteBackup', 'Delete', () => changeThen(part, 'Backup deleted', `Delete ${one.BackupName}?`, 'DeleteBackup', [], () => ({ BackupArn: one.BackupArn }), { label: 'Delete', danger: true }), 'danger'))])),
  });
  function create() {
    const name = h('input', { autofocus: true, value: `${TableName}-${new Date().toISOString().slice(0, 10)}` });
    changeThen(part, 'Backup created', `Back ${TableName} up`, 'CreateBackup', field('Name', name), () => ({ TableName, BackupName: name.value }), { label: 'Create' });
  }
  return part.element;
}

function jobs(view, kind, parameters, of, row, title = `${kind}s`) {
  const part = panel(view, title, {
    every: EVERY,
    load: (options) => call(`List${kind}s`, parameters, options),
    draw: (answer) => list(title, ['Job', 'Table', 'Status', 'Kind', ''], answer[of].map((one) => {
      const arn = one[`${kind}Arn`];
      return [arn.split('/').at(-1), arn.split('/')[1], statusBadge(one[`${kind}Status`]), row(one, part)];
    })),
  });
  return part.element;
}

// Only bulk operations can be stopped.
function bulkCell({ BulkOperationArn, BulkOperationStatus, StartTime }, part) {
  const cancel = () => changeThen(part, 'Bulk operation cancelled', 'Cancel this bulk operation?', 'CancelBulkOperation', h('p', null, 'What it has written stays.'), () => ({ BulkOperationArn }), { label: 'Cancel it', danger: true });
  return h('span', { class: 'actions' }, `put, ${when(StartTime)}`, BulkOperationStatus === 'IN_PROGRESS' && h('button', { class: 'danger', needs: { Action: 'CancelBulkOperation', Resource: BulkOperationArn }, 'aria-label': `Cancel ${BulkOperationArn.split('/').at(-1)}`, onclick: cancel }, 'Cancel'));
}

// Everything long that the server does or did, with its progress.
function allJobs(view) {
  return panel(view, 'All jobs', {
    every: 2000,
    load: (options) => call('ListJobs', {}, options),
    draw: ({ Jobs }) => list('All jobs', ['Job', 'Kind', 'Table', 'Status', 'Items', 'Errors', 'Started', 'Ended', 'Why'], Jobs.map((one) => [one.JobId, one.Kind, one.TableName, statusBadge(one.Status),
      [counted(one.ItemsDone), one.ItemsTotal > one.ItemsDone && ` of ${counted(one.ItemsTotal)}`], counted(one.Errors), when(one.StartTime), when(one.EndTime), one.FailureMessage ?? '']), { numbers: [4, 5] }),
  }).element;
}

const all = (view, { TableName, TableArn } = {}) => [backups(view, TableName),
  jobs(view, 'Export', { TableArn }, 'ExportSummaries', (one) => one.ExportType),
  jobs(view, 'Import', { TableArn }, 'ImportSummaryList', (one) => one.InputFormat),
  !TableName && [jobs(view, 'BulkOperation', {}, 'BulkOperationsSummaryList', bulkCell, 'Bulk operations'), allJobs(view)]];

export function render(view) {
  if (view.params.table) return tablePage(view, 'recovery', 'Recovery', (table) => [pointInTime(view, table.TableName), all(view, table)]);
  return { title: 'Backups and jobs', element: h('div', { class: 'page' }, h('h1', null, 'Backups and jobs'), all(view)) };
}
