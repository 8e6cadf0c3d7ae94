// coverage.js -- which index serves which pattern and why, what it costs, and what would help.

import { notify } from '../core/dialog.js';
import { counted, h } from '../core/dom.js';
import { applySuggestion, describePatch, viewsOf } from './document.js';
import { button } from './forms.js';
import { verdictBadge } from './patterns.js';

const money = new Intl.NumberFormat('en', { style: 'currency', currency: 'USD', minimumFractionDigits: 2 });
const KIND_NAMES = { USE: 'Use what is there', PROJECT: 'Widen a projection', OVERLOAD: 'Overload an index', INVERT: 'Inverted index', SPARSE: 'Sparse index', ADD: 'New index' };

function cell(found) {
  if (!found) return h('td', { class: 'muted' }, '—');
  return h('td', { class: found.IsUsed ? 'model-used' : undefined }, verdictBadge(found), found.IsUsed && h('span', { class: 'badge' }, 'used'), h('div', { class: 'hint' }, found.Reason));
}

function matrix(desk, table) {
  const views = viewsOf(table);
  const rows = desk.report.Patterns.filter((one) => one.TableName === table.TableName);
  if (rows.length === 0) return h('p', { class: 'muted' }, 'No patterns yet.');
  const numbers = ({ Items, Units, MonthlyCost }) => [Items === undefined ? '' : counted(Items), Units === undefined ? 'not known' : String(Units), MonthlyCost > 0 ? money.format(MonthlyCost) : ''];
  return h('div', { class: 'table-wrap', tabindex: '0', role: 'group', 'aria-label': `Coverage of ${table.TableName}` }, h('table', { class: 'model-matrix' },
    h('thead', null, h('tr', null, ['Access pattern', ...views.map((one) => one.name ?? `table ${table.TableName}`)].map((head) => h('th', { scope: 'col' }, head)), ['Items', 'Units', 'A month'].map((head) => h('th', { scope: 'col', class: 'number' }, head)))),
    h('tbody', null, rows.map((one) => h('tr', null, h('th', { scope: 'row' }, one.Name), views.map((view) => cell(one.Coverage.find((found) => found.IndexName === view.name))), numbers(one).map((text) => h('td', { class: 'number' }, text)))))));
}

function diff(root, patch) {
  return h('ul', { class: 'changes plain-list' }, describePatch(root, patch).map(({ where, before, after }) => h('li', null, h('strong', null, where), before !== undefined && h('div', null, h('del', null, h('code', null, `− ${before}`))), after !== undefined && h('div', null, h('ins', null, h('code', null, `+ ${after}`))))));
}

function suggestions(desk, { Name, Verdict, Reason, Suggestions = [], Hint }, at) {
  const apply = (one) => {
    const count = applySuggestion(desk.doc, one.Patch);
    notify(`Applied${count ? `, and ${counted(count)} rows of the sample got keys` : ''}. Undo takes it back.`);
    desk.changed();
  };
  return h('section', { class: 'card page' }, h('h2', null, Name), h('p', null, `${Verdict}: ${Reason}.`), Hint && h('p', { class: 'muted' }, `Nothing to suggest: ${Hint}.`),
    Suggestions.map((one, n) => h('article', { class: 'notice' }, h('div', { class: 'spread' }, h('strong', null, KIND_NAMES[one.Kind] ?? one.Kind), button('Apply', `suggestion-${at}-${n}`, () => apply(one), { class: n === 0 ? 'primary' : undefined, 'aria-label': `Apply: ${one.Text}` })), h('p', null, `${one.Text[0].toUpperCase()}${one.Text.slice(1)}.`), diff(desk.doc.root, one.Patch))));
}

export function coverageTab(desk) {
  const { doc, report } = desk;
  if (!report) return h('p', { class: 'muted' }, 'The server is judging the model …');
  const open = report.Patterns.map((one, at) => [one, at]).filter(([one]) => !one.IsGood && !one.IsAllowed);
  const { PriceList } = report;
  return h('div', { class: 'page' },
    desk.cut && h('div', { class: 'notice warn' }, h('p', null, 'The sample is large: units are those of its first rows.')),
    !report.IsComplete && h('div', { class: 'notice warn' }, h('p', null, 'The model is large: not everything was judged.')),
    open.length === 0 && report.Patterns.length > 0 && h('div', { class: 'notice good' }, h('p', null, 'Every pattern is served.')),
    doc.tables.map((table) => h('section', { class: 'page' }, doc.tables.length > 1 && h('h2', null, table.TableName), matrix(desk, table))),
    h('p', { class: 'muted' }, `${money.format(report.MonthlyCost)} a month on demand as if on AWS, without storage: units on the sample, times calls per second, by the prices of ${PriceList.Date} for ${PriceList.Region}.`),
    open.map(([one, at]) => suggestions(desk, one, at)));
}
