// item_history.js -- what changed between two versions of an item, and the versions that there were.

import { call } from '../core/api.js';
import { dialog, errorBox } from '../core/dialog.js';
import { h, show } from '../core/dom.js';
import { changes } from '../core/update.js';
import { brief, isSet, itemFromDynamo, pathText } from '../core/value.js';
import { when } from './panel.js';

// Values as people compare them.
export const text = (value) => (value === undefined ? '—' : isSet(value.t) ? brief({ ...value, v: [...value.v].sort() }) : brief(value));

export function changeList(before, after) {
  return h('ul', { class: 'changes' }, changes(before, after).map(({ path, value }) => {
    let old = { t: 'M', v: before };
    for (const step of path) old = old?.t === 'M' ? old.v.get(step) : old?.v[step];
    return h('li', null, h('code', null, pathText(path)), ': ', old !== undefined && h('del', null, `− ${text(old)} `), value !== undefined && h('ins', null, `+ ${text(value)}`));
  }));
}

// Resolves to the version that is to be edited, or to null.
export function chooseVersion(request) {
  const box = h('div', { class: 'editor' }, 'Loading …');
  let close;
  const image = (raw) => (raw ? itemFromDynamo(raw) : new Map());
  const version = ({ CommitTime, EventName, UserIdentity, OldImage, NewImage }) => h('details', { open: true }, h('summary', null, `${when(CommitTime)} ${EventName}`, UserIdentity && ' by expiry'), changeList(image(OldImage), image(NewImage)),
    NewImage && h('button', { type: 'button', 'aria-label': `Edit this version of ${when(CommitTime)}`, onclick: () => close(itemFromDynamo(NewImage)) }, 'Edit this version'));
  async function load(NextToken) {
    try {
      const page = await call('GetItemHistory', { ...request, Limit: 50, NextToken });
      if (!NextToken) show(box, page.Versions.length === 0 && h('p', { class: 'muted' }, 'Nothing has changed within the recovery period.'));
      const more = page.NextToken && h('button', { type: 'button', onclick: () => { more.remove(); load(page.NextToken); } }, 'Older versions');
      box.append(...page.Versions.map(version), ...(more ? [more] : []));
    } catch (error) {
      show(box, errorBox(error));
    }
  }
  load();
  return dialog({ title: 'History of this item', body: box, wide: true, onopen: (opened) => { ({ close } = opened); } });
}
