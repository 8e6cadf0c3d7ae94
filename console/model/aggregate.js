// aggregate.js -- the table and every index side by side, with item collections as blocks.

import { notify } from '../core/dialog.js';
import { counted, h } from '../core/dom.js';
import { hueOf } from '../parts/format.js';
import { rowsOf, viewsOf } from './document.js';
import { download } from './files.js';
import { button, entityLabel, tableMenu } from './forms.js';
import { collect, paint, sceneOf, toSvg, valuesOf } from './scene.js';

const PICTURE_ITEMS_MAX = 500; // Of each view, on a PNG: browsers bound a canvas.
const LINE = 28; // Pixels.
const GAP = 10; // Between collections.
const OVERSCAN = 10; // Lines.

// A view as lines: each collection has a head, then its items. `top` is in pixels.
function linesOf({ collections }) {
  let top = -GAP;
  const at = (line, more) => {
    top += more;
    const placed = { ...line, top };
    top += LINE;
    return placed;
  };
  return collections.flatMap(({ key, items }) => [at({ key, count: items.length }, GAP), ...items.map((item, i) => at({ item, last: i === items.length - 1 }, 0))]);
}

// The first line that ends below a place.
function lineAt(lines, top) {
  let low = 0;
  let high = lines.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (lines[middle].top + LINE > top) high = middle;
    else low = middle + 1;
  }
  return low;
}

function drawLine(view, { key, count, item, last }) {
  if (!item) return h('div', { class: 'model-line model-head', role: 'listitem' }, h('code', null, key), h('span', { class: 'muted' }, `${counted(count)} item${count === 1 ? '' : 's'}`));
  const [values, more] = valuesOf(view, item.row);
  return h('div', { class: `model-line model-item${last ? ' model-last' : ''}`, role: 'listitem', style: { cssText: `--hue: ${item.entity ? hueOf(item.entity) : 0}` }, data: item.entity ? {} : { none: '' } },
    view.range && h('code', { class: 'model-sort' }, item.sort), entityLabel(item.entity), h('span', { class: 'model-values' }, values.map(([name, text]) => `${name}: ${text}`).join('  '), more > 0 && ` and ${more} more`));
}

// Only the lines in sight exist, so that a large sample scrolls like a small one.
function lineBox(view, content) {
  const lines = linesOf(content);
  const shown = new Map();
  const space = h('div', { class: 'model-space', role: 'list', style: { height: `${lines.at(-1).top + LINE}px` } });
  let frame = 0;
  function draw() {
    frame = 0;
    const from = Math.max(0, lineAt(lines, box.scrollTop) - OVERSCAN);
    const to = Math.min(lines.length, lineAt(lines, box.scrollTop + box.clientHeight) + OVERSCAN);
    for (const [at, element] of shown) {
      if (at >= from && at < to) continue;
      element.remove();
      shown.delete(at);
    }
    for (let at = from; at < to; at += 1) {
      if (shown.has(at)) continue;
      const element = drawLine(view, lines[at]);
      element.style.top = `${lines[at].top}px`;
      element.setAttribute('aria-setsize', String(lines.length));
      element.setAttribute('aria-posinset', String(at + 1));
      space.append(element);
      shown.set(at, element);
    }
  }
  const later = () => { frame ||= requestAnimationFrame(draw); };
  const box = h('div', { class: 'model-blocks', tabindex: '0', role: 'group', 'aria-label': `Items of ${view.name ?? 'the table'}`, onscroll: later }, space);
  new ResizeObserver(later).observe(box);
  return box;
}

function viewCard(view, content) {
  const sparse = view.name !== undefined && content.count < content.total;
  const keys = [view.hash, view.range].filter(Boolean).map((one) => one.name).join(', ');
  return h('section', { class: 'card model-view' }, h('h2', null, view.name ? `Index ${view.name}` : 'Table', ' ', h('code', { class: 'muted' }, keys)),
    h('p', { class: 'spread' }, h('span', null, `${counted(content.count)} of ${counted(content.total)} items, ${counted(content.collections.length)} collections`), sparse && h('span', { class: 'badge warn' }, 'sparse'), view.projection && h('span', { class: 'badge' }, view.projection)),
    view.name && h('meter', { min: '0', max: String(Math.max(1, content.total)), value: String(content.count), 'aria-label': `Items in ${view.name}` }), content.count > 0 && lineBox(view, content));
}

async function savePng(name, scene) {
  const canvas = h('canvas');
  paint(canvas, scene);
  const blob = await new Promise((resolve) => { canvas.toBlob(resolve, 'image/png'); });
  if (blob) download(`${name}.png`, blob);
  else notify('The picture is too large for this browser. SVG has no such limit.', { error: true });
}

export function aggregateTab(desk) {
  const { doc, view } = desk;
  const table = doc.table(view.query('table')) ?? doc.tables[0];
  if (!table) return h('p', { class: 'muted' }, 'The model has no table.');
  const rows = rowsOf(table);
  const entities = doc.entitiesOf(table);
  const contents = viewsOf(table).map((one) => [one, collect(table, one, rows, entities)]);
  return h('div', { class: 'page' },
    h('div', { class: 'spread' }, h('span', { class: 'actions' }, entities.map((one) => entityLabel(one.Name))), h('span', { class: 'actions' }, tableMenu(doc, table, (name) => desk.show({ table: name })),
      button('SVG', 'svg', () => download(`${table.TableName}.svg`, toSvg(sceneOf(contents)), 'image/svg+xml'), { 'aria-label': 'Save as SVG' }), button('PNG', 'png', () => savePng(table.TableName, sceneOf(contents, PICTURE_ITEMS_MAX)), { 'aria-label': 'Save as PNG' }))),
    rows.length === 0 && h('p', { class: 'muted' }, 'The sample has no rows yet: generate some on the tab "Data".'),
    h('div', { class: 'model-views' }, contents.map(([one, content]) => viewCard(one, content))));
}
