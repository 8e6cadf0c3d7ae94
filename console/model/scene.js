// scene.js -- the aggregate view: a table or an index as item collections, and the picture of it as
// SVG or on a canvas. Both pictures are drawn from one list of shapes. No DOM.

import { brief, fromDynamo } from '../core/value.js';
import { hueOf } from '../parts/format.js';
import { entityOf, textOf } from './document.js';

const ATTRIBUTES_MAX = 6; // Shown of an item.

function compare(a, b, type) {
  if (type === 'N') return Number(a) - Number(b); // For the order of the picture only.
  return a < b ? -1 : a > b ? 1 : 0;
}

// { collections: [{ key, items: [{ sort, entity, values: [[name, text]], row }] }], count, total }: what the
// view has of the rows. Items that lack its keys are not in it.
export function collect(table, view, rows, entities) {
  const groups = new Map();
  let count = 0;
  for (const row of rows) {
    const has = ({ name, type }) => row[name]?.[type] !== undefined;
    if (!view.hash || !has(view.hash) || (view.range && !has(view.range))) continue;
    const key = textOf(row[view.hash.name]);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push({ sort: view.range ? textOf(row[view.range.name]) : '', entity: entityOf(entities, table, row)?.Name ?? null, row });
    count += 1;
  }
  const type = view.range?.type;
  const collections = Array.from(groups, ([key, items]) => ({ key, items: items.sort((a, b) => compare(a.sort, b.sort, type)) }));
  return { collections: collections.sort((a, b) => compare(a.key, b.key, view.hash?.type)), count, total: rows.length };
}

// What is shown of an item besides its keys there.
export function valuesOf(view, row) {
  const names = Object.keys(row).filter((name) => name !== view.hash?.name && name !== view.range?.name && view.projects(name));
  return [names.slice(0, ATTRIBUTES_MAX).map((name) => [name, brief(fromDynamo(row[name]), 40)]), names.length - ATTRIBUTES_MAX];
}

// --- The picture ---

const WIDTH = 560;
const GAP = 24;
const LINE = 22;
const KEY = 150;
const SORT = 170;
const INK = '#1b1d22';
const MUTED = '#5c606b';
const cut = (text, size) => (text.length > size ? `${text.slice(0, size - 1)}…` : text);

function drawView(shapes, view, { collections, count, total }, x, itemsMax) {
  const text = (at, y, words, more = {}) => shapes.push({ kind: 'text', x: at, y, text: words, fill: INK, size: 12, ...more });
  const sparse = view.name && count < total ? `, sparse: ${total - count} items are not in it` : '';
  let y = 64;
  let left = itemsMax;
  text(x, 22, view.name ?? 'Table', { size: 15, bold: true });
  text(x, 42, `${count} items in ${collections.length} collections${sparse}`, { fill: MUTED });
  for (const { key, items } of collections) {
    const shown = items.slice(0, left);
    if (shown.length === 0) break;
    left -= shown.length;
    const height = shown.length * LINE;
    shapes.push({ kind: 'rect', x, y, width: WIDTH, height, fill: '#ffffff', stroke: '#888c97' });
    text(x + 8, y + 15, cut(key, 20), { bold: true });
    for (const item of shown) {
      const hue = item.entity ? hueOf(item.entity) : null;
      shapes.push({ kind: 'rect', x: x + KEY, y, width: WIDTH - KEY, height: LINE, fill: hue === null ? '#f1f2f4' : `hsl(${hue}, 70%, 93%)`, stroke: '#e3e4e8' });
      text(x + KEY + 8, y + 15, cut(item.sort, 24));
      const [values] = valuesOf(view, item.row);
      text(x + KEY + SORT, y + 15, cut([item.entity ?? '?', ...values.map(([name, value]) => `${name}: ${value}`)].join('  '), 38), { fill: hue === null ? MUTED : `hsl(${hue}, 75%, 24%)` });
      y += LINE;
    }
    y += 10;
  }
  if (count > itemsMax) {
    text(x, y + 14, `and ${count - itemsMax} more items`, { fill: MUTED });
    y += 24;
  }
  return y;
}

// All views of a table side by side: { width, height, shapes }.
export function sceneOf(views, itemsMax = Infinity) {
  const shapes = [];
  const bottoms = views.map(([view, content], i) => drawView(shapes, view, content, GAP + i * (WIDTH + GAP), itemsMax));
  return { width: GAP + views.length * (WIDTH + GAP), height: Math.max(...bottoms) + GAP, shapes };
}

const escaped = (text) => text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd').replace(/[&<>"]/g, (char) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[char]);

export function toSvg({ width, height, shapes }) {
  const lines = shapes.map((one) => (one.kind === 'rect'
    ? `<rect x="${one.x}" y="${one.y}" width="${one.width}" height="${one.height}" fill="${one.fill}" stroke="${one.stroke}"/>`
    : `<text x="${one.x}" y="${one.y}" font-size="${one.size}" fill="${one.fill}"${one.bold ? ' font-weight="600"' : ''}>${escaped(one.text)}</text>`));
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif">\n<rect width="100%" height="100%" fill="#f7f7f8"/>\n${lines.join('\n')}\n</svg>\n`;
}

// On a canvas: an image of the SVG would need another policy than the console has.
export function paint(canvas, { width, height, shapes }) {
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext('2d');
  context.fillStyle = '#f7f7f8';
  context.fillRect(0, 0, width, height);
  for (const one of shapes) {
    context.fillStyle = one.fill;
    if (one.kind === 'rect') {
      context.fillRect(one.x, one.y, one.width, one.height);
      context.strokeStyle = one.stroke;
      context.strokeRect(one.x + 0.5, one.y + 0.5, one.width, one.height);
    } else {
      context.font = `${one.bold ? '600 ' : ''}${one.size}px system-ui, sans-serif`;
      context.fillText(one.text, one.x, one.y);
    }
  }
}
