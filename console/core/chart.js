// chart.js -- a line chart of our own SVG, with its numbers as a table for whoever cannot see it.
//
//   const requests = chart('Requests per second');
//   requests.update([{ name: 'Failed', points: [[seconds, value], …] }], { from, to, gap });
//
// Points further apart than `gap` seconds are not joined.

import { h, show, svg } from './dom.js';

const WIDTH = 600;
const HEIGHT = 120;
const ROWS_MAX = 60;

export const rounded = (value) => (value >= 100 ? Math.round(value) : Number(value.toPrecision(3))).toLocaleString('en');
export const clockTime = (seconds, long) => new Date(seconds * 1000).toLocaleString('sv').slice(long ? 5 : 11, long ? 16 : 19);

// The next 1, 2 or 5 times a power of ten.
function ceiling(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].find((step) => step * power >= value) * power;
}

function pathOf(points, x, y, gap) {
  let last = -Infinity;
  return points.map(([time, value]) => {
    const joined = time - last <= gap;
    last = time;
    const at = `${x(time).toFixed(1)} ${y(value).toFixed(1)}`;
    return joined ? `L${at}` : `M${at}h1`; // So that a lonely point is seen.
  }).join('');
}

export function chart(title) {
  const top = h('span');
  const times = h('div', { class: 'spread muted' });
  const lines = svg('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none', 'aria-hidden': 'true' });
  const legend = h('ul', { class: 'plain-list row' });
  const numbers = h('div', { class: 'table-wrap', tabindex: '0', role: 'group', 'aria-label': `${title}, numbers` });
  let all = [];
  const details = h('details', { ontoggle: () => drawNumbers() }, h('summary', null, 'Numbers'), numbers);

  function drawNumbers() {
    if (!details.open) return;
    const stamps = [...new Set(all.flatMap(({ points }) => points.map(([time]) => time)))].sort((a, b) => b - a).slice(0, ROWS_MAX);
    const values = all.map(({ points }) => new Map(points));
    show(numbers, h('table', null, h('thead', null, h('tr', null, h('th', { scope: 'col' }, 'Time'), all.map(({ name }) => h('th', { scope: 'col', class: 'number' }, name)))),
      h('tbody', null, stamps.map((time) => h('tr', null, h('th', { scope: 'row' }, clockTime(time)), values.map((one) => h('td', { class: 'number' }, one.has(time) ? rounded(one.get(time)) : '–')))))));
  }

  function update(series, { from, to, gap }) {
    all = series;
    const highest = ceiling(Math.max(1, ...series.flatMap(({ points }) => points.map(([, value]) => value))));
    const x = (time) => ((time - from) / (to - from)) * (WIDTH - 2);
    const y = (value) => HEIGHT - 2 - (value / highest) * (HEIGHT - 4);
    show(top, rounded(highest));
    const long = to - from > 80_000;
    show(times, h('span', null, clockTime(from, long)), h('span', null, clockTime(to, long)));
    show(lines, series.map(({ points }, i) => svg('path', { class: `line line-${i}`, d: pathOf(points, x, y, gap) })));
    show(legend, series.map(({ name, points }, i) => h('li', null, svg('svg', { class: 'sample', viewBox: '0 0 24 8', 'aria-hidden': 'true' }, svg('path', { class: `line line-${i}`, d: 'M0 4H24' })), ` ${name} `, h('strong', null, points.length ? rounded(points.at(-1)[1]) : '–'))));
    drawNumbers();
  }
  return {
    element: h('figure', { class: 'card chart', 'aria-label': title }, h('div', { class: 'spread' }, h('h2', null, title), legend), h('div', { class: 'plot' }, top, lines), times, details),
    update,
  };
}
