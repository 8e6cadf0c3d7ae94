// design.js -- the definition of a table: keys, indexes, settings; every change shows its call first.

import { call } from '../core/api.js';
import { confirmName, errorBox, notify } from '../core/dialog.js';
import { bytes, counted, field, h, select, show } from '../core/dom.js';
import { go, refresh } from '../core/router.js';
import * as tables from '../core/tables.js';
import { change } from '../parts/change.js';
import { codeBlock, codeDialog } from '../parts/code_pane.js';
import { statusBadge, tableFrame } from '../parts/table_frame.js';
import { attributeDefinitions, blankIndex, indexDefinition, indexFields, STREAM_VIEWS } from '../parts/table_form.js';

const POLL_MS = 1000;

// What create-table would need to make this table again.
export function asCreateTable(table) {
  const throughput = ({ ReadCapacityUnits, WriteCapacityUnits }) => ({ ReadCapacityUnits, WriteCapacityUnits });
  const provisioned = table.BillingModeSummary?.BillingMode !== 'PAY_PER_REQUEST';
  const of = (indexes) => indexes?.map(({ IndexName, KeySchema, Projection, ProvisionedThroughput }) => ({ IndexName, KeySchema, Projection, ...(provisioned && ProvisionedThroughput ? { ProvisionedThroughput: throughput(ProvisionedThroughput) } : {}) }));
  const request = { TableName: table.TableName, AttributeDefinitions: table.AttributeDefinitions, KeySchema: table.KeySchema, BillingMode: provisioned ? 'PROVISIONED' : 'PAY_PER_REQUEST' };
  if (provisioned) request.ProvisionedThroughput = throughput(table.ProvisionedThroughput);
  if (table.GlobalSecondaryIndexes) request.GlobalSecondaryIndexes = of(table.GlobalSecondaryIndexes);
  if (table.LocalSecondaryIndexes) request.LocalSecondaryIndexes = of(table.LocalSecondaryIndexes).map(({ ProvisionedThroughput, ...rest }) => rest);
  if (table.StreamSpecification?.StreamEnabled) request.StreamSpecification = table.StreamSpecification;
  if (table.DeletionProtectionEnabled) request.DeletionProtectionEnabled = true;
  return request;
}

export function render(view) {
  const { table: name } = view.params;
  const frame = tableFrame(name, 'design');
  const body = h('div', { class: 'page' });
  frame.element.append(body);
  const page = new Design(view, name, frame, body);
  page.load();
  return { title: 'Definition', crumbs: [['Tables', '#/'], [name, `#/t/${encodeURIComponent(name)}/items`]], element: frame.element };
}

class Design {
  constructor(view, name, frame, body) {
    Object.assign(this, { view, name, frame, body });
  }

  async load() {
    const { signal } = this.view;
    const optional = (promise) => promise.catch((error) => ({ error }));
    try {
      this.table = await tables.describe(this.name, { signal });
      [this.ttl, this.tags] = await Promise.all([
        optional(call('DescribeTimeToLive', { TableName: this.name }, { signal })),
        optional(call('ListTagsOfResource', { ResourceArn: this.table.TableArn }, { signal }))]);
    } catch (error) {
      if (!signal.aborted) show(this.body, errorBox(error, () => refresh()));
      return;
    }
    if (signal.aborted) return;
    this.frame.setTable(this.table);
    this.draw();
    this.follow();
  }

  // While something changes, looks again every second.
  follow() {
    const isBusy = this.table.TableStatus !== 'ACTIVE' || tables.indexesOf(this.table).some((index) => index.IndexStatus && index.IndexStatus !== 'ACTIVE');
    if (isBusy) setTimeout(() => { if (!this.view.signal.aborted && !document.querySelector('dialog[open]')) this.load(); else if (!this.view.signal.aborted) this.follow(); }, POLL_MS);
  }

  draw() {
    show(this.body, h('div', { class: 'cards' }, this.keysCard(), this.capacityCard(), this.ttlCard(), this.streamCard(), this.tagsCard(), this.dangerCard()), this.indexCard(),
      h('div', { class: 'actions' }, h('button', { onclick: () => codeDialog('CreateTable', asCreateTable(this.table)) }, 'This table as code'), h('button', { onclick: () => import('../parts/transfer.js').then(({ importDialog }) => importDialog(this.table)).then(() => this.load()) }, 'Import items')));
  }

  card(title, facts, ...buttons) {
    return h('section', { class: 'card' }, h('div', { class: 'spread' }, h('h2', null, title), h('span', { class: 'actions' }, buttons)),
      h('dl', { class: 'facts' }, facts.filter(Boolean).map(([name, value]) => [h('dt', null, name), h('dd', null, value)])));
  }

  needs(Action) {
    return { Action, Resource: this.name };
  }

  async changed(done, text) {
    if (!done) return;
    notify(text);
    await this.load();
  }

  // --- Cards ---

  keysCard() {
    const { hash, range } = tables.keysOf(this.table);
    const key = (one) => h('code', null, `${one.name} (${one.type})`);
    return this.card('Table', [['Partition key', key(hash[0])], range.length > 0 && ['Sort key', key(range[0])], ['Items', counted(this.table.ItemCount ?? 0)], ['Size', bytes(this.table.TableSizeBytes ?? 0)],
      ['Created', new Date(this.table.CreationDateTime * 1000).toISOString().slice(0, 19).replace('T', ' ')], ['ARN', h('code', null, this.table.TableArn)]]);
  }

  capacityCard() {
    const { table } = this;
    const provisioned = table.BillingModeSummary?.BillingMode !== 'PAY_PER_REQUEST';
    return this.card('Capacity', [['Mode', provisioned ? 'Provisioned' : 'On demand'], provisioned && ['Read units', counted(table.ProvisionedThroughput.ReadCapacityUnits)], provisioned && ['Write units', counted(table.ProvisionedThroughput.WriteCapacityUnits)]],
      h('button', { needs: this.needs('UpdateTable'), 'aria-label': 'Change capacity', onclick: () => this.changeCapacity(provisioned) }, 'Change'));
  }

  async changeCapacity(provisioned) {
    const { table } = this;
    const mode = select([['PAY_PER_REQUEST', 'On demand'], ['PROVISIONED', 'Provisioned']], { value: provisioned ? 'PROVISIONED' : 'PAY_PER_REQUEST' });
    const read = h('input', { type: 'number', value: table.ProvisionedThroughput?.ReadCapacityUnits || 5 });
    const write = h('input', { type: 'number', value: table.ProvisionedThroughput?.WriteCapacityUnits || 5 });
    const units = () => ({ ReadCapacityUnits: Number(read.value), WriteCapacityUnits: Number(write.value) });
    const make = () => {
      const request = { TableName: this.name, BillingMode: mode.value };
      if (mode.value !== 'PROVISIONED') return request;
      request.ProvisionedThroughput = units();
      // Its global indexes need units of their own when a table leaves on-demand mode.
      if (!provisioned && table.GlobalSecondaryIndexes) request.GlobalSecondaryIndexUpdates = table.GlobalSecondaryIndexes.map(({ IndexName }) => ({ Update: { IndexName, ProvisionedThroughput: units() } }));
      return request;
    };
    await this.changed(await change('Capacity', 'UpdateTable', [field('Mode', mode), field('Read units', read), field('Write units', write)], make), 'Capacity changed');
  }

  ttlCard() {
    const { error, TimeToLiveDescription: ttl } = this.ttl;
    const isOn = ttl?.TimeToLiveStatus === 'ENABLED' || ttl?.TimeToLiveStatus === 'ENABLING';
    return this.card('Time to live', error ? [['State', error.message]] : [['State', (ttl.TimeToLiveStatus ?? 'DISABLED').toLowerCase()], isOn && ['Attribute', h('code', null, ttl.AttributeName)]],
      !error && h('button', { needs: this.needs('UpdateTimeToLive'), 'aria-label': 'Change time to live', onclick: () => this.changeTtl(ttl, isOn) }, 'Change'));
  }

  async changeTtl(ttl, isOn) {
    const attribute = h('input', { class: 'mono-input', value: ttl.AttributeName ?? 'expires', disabled: isOn });
    const make = () => ({ TableName: this.name, TimeToLiveSpecification: { Enabled: !isOn, AttributeName: attribute.value } });
    await this.changed(await change(isOn ? 'Switch time to live off' : 'Switch time to live on', 'UpdateTimeToLive', [field('Attribute', attribute, { hint: 'A number: seconds since 1970.' })], make), 'Time to live changed');
  }

  streamCard() {
    const spec = this.table.StreamSpecification;
    return this.card('Stream', [['State', spec?.StreamEnabled ? 'on' : 'off'], spec?.StreamEnabled && ['View', spec.StreamViewType], this.table.LatestStreamArn && ['ARN', h('code', null, this.table.LatestStreamArn)]],
      h('button', { needs: this.needs('UpdateTable'), 'aria-label': 'Change stream', onclick: () => this.changeStream(spec) }, 'Change'));
  }

  async changeStream(spec) {
    const isOn = spec?.StreamEnabled === true;
    const view = select(STREAM_VIEWS.slice(1));
    const make = () => ({ TableName: this.name, StreamSpecification: isOn ? { StreamEnabled: false } : { StreamEnabled: true, StreamViewType: view.value } });
    await this.changed(await change(isOn ? 'Switch the stream off' : 'Switch a stream on', 'UpdateTable', isOn ? h('p', null, 'Records stay readable for a day.') : field('View', view), make), 'Stream changed');
  }

  tagsCard() {
    const { error, Tags = [] } = this.tags;
    return this.card('Tags', error ? [['State', error.message]] : Tags.map(({ Key, Value }) => [Key, h('span', { class: 'actions' }, h('span', null, Value),
      h('button', { class: 'plain', needs: this.needs('UntagResource'), 'aria-label': `Remove tag ${Key}`, onclick: () => this.removeTag(Key) }, '×'))]),
    !error && h('button', { needs: this.needs('TagResource'), 'aria-label': 'Add tag', onclick: () => this.addTag() }, 'Add'));
  }

  async addTag() {
    const key = h('input', { autofocus: true });
    const value = h('input');
    const make = () => ({ ResourceArn: this.table.TableArn, Tags: [{ Key: key.value, Value: value.value }] });
    await this.changed(await change('Add a tag', 'TagResource', [field('Key', key), field('Value', value)], make), 'Tag added');
  }

  async removeTag(key) {
    const make = () => ({ ResourceArn: this.table.TableArn, TagKeys: [key] });
    await this.changed(await change(`Remove the tag ${key}`, 'UntagResource', [], make), 'Tag removed');
  }

  dangerCard() {
    const isProtected = this.table.DeletionProtectionEnabled === true;
    return this.card('Deletion', [['Protection', isProtected ? 'on' : 'off']],
      h('button', { needs: this.needs('UpdateTable'), onclick: async () => this.changed(await change('Deletion protection', 'UpdateTable', [], () => ({ TableName: this.name, DeletionProtectionEnabled: !isProtected }), { label: isProtected ? 'Switch off' : 'Switch on' }), 'Protection changed') }, isProtected ? 'Unprotect' : 'Protect'),
      h('button', { class: 'danger', disabled: isProtected, needs: this.needs('DeleteTable'), onclick: () => this.remove() }, 'Delete table'));
  }

  async remove() {
    const request = { TableName: this.name };
    const body = [h('p', null, `All ${counted(this.table.ItemCount ?? 0)} items and all indexes go with it.`), codeBlock('DeleteTable', request)];
    if (!await confirmName('Delete this table?', body, this.name, 'Delete table')) return;
    try {
      await call('DeleteTable', request);
    } catch (error) {
      notify(error.message, { error: true });
      return;
    }
    tables.forget(this.name);
    notify(`Table ${this.name} deleted`);
    go('#/');
  }

  // --- Indexes ---

  indexCard() {
    const rows = tables.indexesOf(this.table).map((index) => {
      const keys = index.KeySchema.map((key) => `${key.AttributeName} (${tables.typeOf(this.table, key.AttributeName)})`).join(', ');
      const projection = index.Projection.ProjectionType === 'INCLUDE' ? `INCLUDE ${index.Projection.NonKeyAttributes.join(', ')}` : index.Projection.ProjectionType;
      const isBuilding = index.IndexStatus === 'CREATING';
      return h('tr', null, h('th', { scope: 'row' }, index.IndexName), h('td', null, index.kind), h('td', null, index.IndexStatus ? statusBadge(index.IndexStatus) : '',
        isBuilding && h('span', { class: 'row' }, h('progress', { max: String(Math.max(1, this.table.ItemCount ?? 1)), value: String(index.ItemCount ?? 0), 'aria-label': `${index.IndexName} is being filled` }), `${counted(index.ItemCount ?? 0)} of ${counted(this.table.ItemCount ?? 0)}`)),
      h('td', null, h('code', null, keys)), h('td', null, projection), h('td', { class: 'number' }, counted(index.ItemCount ?? 0)), h('td', { class: 'number' }, bytes(index.IndexSizeBytes ?? 0)),
      h('td', null, index.kind === 'GSI' && h('button', { class: 'danger', needs: this.needs('UpdateTable'), 'aria-label': `Delete index ${index.IndexName}`, onclick: () => this.removeIndex(index.IndexName) }, 'Delete')));
    });
    return h('section', { class: 'editor' }, h('div', { class: 'spread' }, h('h2', null, 'Indexes'), h('button', { needs: this.needs('UpdateTable'), onclick: () => this.addIndex() }, 'Add index')),
      rows.length === 0 ? h('p', { class: 'muted' }, 'None.') : h('div', { class: 'table-wrap', tabindex: '0', role: 'region', 'aria-label': 'Indexes' }, h('table', null, h('thead', null, h('tr', null, ['Index', 'Kind', 'Status', 'Keys', 'Projection', 'Items', 'Size'].map((head, i) => h('th', { scope: 'col', class: i > 4 ? 'number' : undefined }, head)), h('td', null))), h('tbody', null, rows))));
  }

  async addIndex() {
    const index = blankIndex('GSI');
    const provisioned = this.table.BillingModeSummary?.BillingMode !== 'PAY_PER_REQUEST' ? { ReadCapacityUnits: 5, WriteCapacityUnits: 5 } : undefined;
    const known = this.table.AttributeDefinitions.map((one) => ({ name: one.AttributeName, type: one.AttributeType }));
    const box = h('div', { class: 'editor' });
    const make = () => ({ TableName: this.name, AttributeDefinitions: attributeDefinitions([...known, index.hash, index.range]), GlobalSecondaryIndexUpdates: [{ Create: indexDefinition(index, null, provisioned) }] });
    show(box, indexFields(index, () => {}));
    await this.changed(await change('Add a global index', 'UpdateTable', box, make), 'The index is being filled');
  }

  async removeIndex(name) {
    const request = { TableName: this.name, GlobalSecondaryIndexUpdates: [{ Delete: { IndexName: name } }] };
    if (!await confirmName('Delete this index?', codeBlock('UpdateTable', request), name, 'Delete index')) return;
    try {
      await call('UpdateTable', request);
      await this.changed(true, 'The index is being deleted');
    } catch (error) {
      notify(error.message, { error: true });
    }
  }
}
