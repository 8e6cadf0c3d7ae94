// schedules.js -- scheduled actions: limits of auto scaling that change at set times.

import { call } from '../core/api.js';
import { counted, field, h, select } from '../core/dom.js';
import { changeThen, list, panel, when } from '../parts/panel.js';
import { dimensions, isFor, service, ServiceNamespace } from './targets.js';

const EXAMPLES = ['cron(0 8 ? * MON-FRI *)', 'cron(0 20 ? * * *)', 'rate(1 day)', 'at(2027-01-01T00:00:00)'];

export function schedules(view, table) {
  const all = dimensions(table);
  const labelOf = (action) => all.find((one) => isFor(one)(action))?.label ?? action.ResourceId;
  const part = panel(view, 'Scheduled actions', {
    tools: h('button', { needs: { Action: 'application-autoscaling:PutScheduledAction' }, onclick: () => edit() }, 'Add action'),
    async load(options) {
      const found = [];
      for (const ResourceId of new Set(all.map(({ target }) => target.ResourceId))) {
        let NextToken;
        do {
          const page = await call('DescribeScheduledActions', { ServiceNamespace, ResourceId, NextToken }, { ...options, service });
          found.push(...page.ScheduledActions);
          NextToken = page.NextToken;
        } while (NextToken);
      }
      return found;
    },
    draw: (found) => list('Scheduled actions', ['Name', 'Of', 'When', 'Limits', 'From', 'Until', ''], found.map((one) => {
      const button = (Action, label, onclick, cls) => h('button', { class: cls, needs: { Action: `application-autoscaling:${Action}` }, 'aria-label': `${label} ${one.ScheduledActionName}`, onclick }, label);
      const { MinCapacity, MaxCapacity } = one.ScalableTargetAction ?? {};
      const limit = (value) => (value === undefined ? 'as it is' : counted(value));
      return [one.ScheduledActionName, labelOf(one), h('span', null, h('code', null, one.Schedule), one.Timezone && ` ${one.Timezone}`), `${limit(MinCapacity)} – ${limit(MaxCapacity)}`, when(one.StartTime), when(one.EndTime),
        h('span', { class: 'actions' }, button('PutScheduledAction', 'Change', () => edit(one)), button('DeleteScheduledAction', 'Delete', () => remove(one), 'danger'))];
    }), { empty: 'None. Limits change only when somebody changes them.' }),
  });

  function edit(known) {
    const name = h('input', { class: 'mono-input', autofocus: true, value: known?.ScheduledActionName ?? '', disabled: Boolean(known) });
    const of = select(all.map((one, i) => [String(i), one.label]), { value: String(known ? all.findIndex((one) => isFor(one)(known)) : 0), disabled: Boolean(known) });
    const times = h('datalist', { id: 'schedule-examples' }, EXAMPLES.map((value) => h('option', { value })));
    const schedule = h('input', { class: 'mono-input', list: times.id, value: known?.Schedule ?? EXAMPLES[0] });
    const zone = h('input', { class: 'mono-input', value: known?.Timezone ?? '', placeholder: 'UTC' });
    const number = (value) => h('input', { type: 'number', min: '0', value: value ?? '' });
    const [min, max] = [number(known?.ScalableTargetAction?.MinCapacity), number(known?.ScalableTargetAction?.MaxCapacity)];
    const make = () => {
      const target = all[Number(of.value)]?.target;
      const action = {};
      if (min.value !== '') action.MinCapacity = Number(min.value);
      if (max.value !== '') action.MaxCapacity = Number(max.value);
      return { ...target, ScheduledActionName: name.value.trim(), Schedule: schedule.value.trim(), ...(zone.value.trim() ? { Timezone: zone.value.trim() } : {}), ScalableTargetAction: action };
    };
    changeThen(part, 'Action set', known ? `Change ${known.ScheduledActionName}` : 'New scheduled action', 'PutScheduledAction', [
      h('div', { class: 'row' }, h('div', { class: 'grow' }, field('Name', name)), field('Of', of)), times,
      h('div', { class: 'row' }, h('div', { class: 'grow' }, field('Schedule', schedule, { hint: 'cron(minute hour day month weekday year), rate(1 day) or at(2027-01-01T00:00:00). Auto scaling must have limits first.' })), field('Time zone', zone)),
      h('div', { class: 'row' }, field('At least', min, { hint: 'Empty: stays.' }), field('At most', max, { hint: 'Empty: stays.' }))], make, { label: 'Set', service });
  }

  function remove(one) {
    const { ResourceId, ScalableDimension, ScheduledActionName } = one;
    changeThen(part, 'Action deleted', `Delete ${ScheduledActionName}?`, 'DeleteScheduledAction', [], () => ({ ServiceNamespace, ResourceId, ScalableDimension, ScheduledActionName }), { label: 'Delete', danger: true, service });
  }
  return part.element;
}
