// grid.js -- a virtual grid: only the rows in sight exist, so that 100,000 scroll like 100.
//
// One element has the focus and names the active cell (aria-activedescendant), so nothing is lost
// when rows come and go. Columns: [{ name, label, width, numeric, isKey, cell(row) -> text or Node }].

import { h, show, uniqueId } from './dom.js';

const OVERSCAN = 6;

export class Grid {
  constructor({ label, onopen, onselect, onkey }) {
    this.id = uniqueId('grid');
    this.rows = [];
    this.columns = [];
    this.active = { row: 0, column: 0 };
    this.selected = new Set(); // Indexes of rows.
    this.anchor = 0;
    this.shown = new Map(); // Index -> element.
    this.pool = [];
    this.frame = 0;
    Object.assign(this, { onopen, onselect, onkey });
    this.head = h('div', { role: 'row', class: 'head', 'aria-rowindex': '1' });
    this.body = h('div', { role: 'rowgroup', class: 'spacer' });
    this.element = h('div', {
      class: 'grid', role: 'grid', tabindex: '0', 'aria-label': label, 'aria-multiselectable': 'true',
      onscroll: () => this.schedule(), onkeydown: (event) => this.onKey(event), onclick: (event) => this.onClick(event),
      ondblclick: (event) => { if (event.target.closest('[role=gridcell]')) this.open(); },
    }, h('div', { role: 'rowgroup' }, this.head), this.body);
    this.observer = new ResizeObserver(() => this.schedule());
    this.observer.observe(this.element);
  }

  setColumns(columns) {
    this.columns = columns;
    this.width = columns.reduce((sum, column) => sum + column.width, 0);
    this.active.column = Math.min(this.active.column, Math.max(0, columns.length - 1));
    this.element.setAttribute('aria-colcount', String(columns.length));
    show(this.head, columns.map((column, i) => h('div', {
      role: 'columnheader', 'aria-colindex': String(i + 1), class: column.numeric ? 'num' : undefined,
      style: { width: `${column.width}px` }, title: column.label,
    }, column.label)));
    this.head.style.width = `${this.width}px`;
    for (const element of this.shown.values()) element.remove();
    this.shown.clear();
    this.pool = [];
    this.schedule();
  }

  setRows(rows) {
    this.rows = rows;
    this.selected.clear();
    this.active.row = Math.min(this.active.row, Math.max(0, rows.length - 1));
    this.redraw();
  }

  // After rows were added to the array.
  grown() {
    this.schedule();
  }

  redraw() {
    for (const index of [...this.shown.keys()]) this.drop(index);
    this.schedule();
  }

  schedule() {
    this.frame ||= requestAnimationFrame(() => this.draw());
  }

  // --- Drawing ---

  draw() {
    this.frame = 0;
    this.rowHeight = parseFloat(getComputedStyle(this.element).getPropertyValue('--row')) || 32;
    this.element.setAttribute('aria-rowcount', String(this.rows.length + 1));
    this.body.style.height = `${this.rows.length * this.rowHeight}px`;
    const top = this.element.scrollTop;
    const first = Math.max(0, Math.floor(top / this.rowHeight) - OVERSCAN);
    const last = Math.min(this.rows.length - 1, Math.ceil((top + this.element.clientHeight) / this.rowHeight) + OVERSCAN);
    for (const index of [...this.shown.keys()]) if (index < first || index > last) this.drop(index);
    for (let index = first; index <= last; index += 1) if (!this.shown.has(index)) this.add(index);
    this.mark();
  }

  drop(index) {
    const element = this.shown.get(index);
    this.shown.delete(index);
    element.hidden = true;
    this.pool.push(element);
  }

  add(index) {
    const row = this.rows[index];
    let element = this.pool.pop();
    if (!element) {
      element = h('div', { role: 'row' }, this.columns.map((column, i) => h('div', {
        role: 'gridcell', 'aria-colindex': String(i + 1), class: [column.numeric && 'num', column.isKey && 'keycol'].filter(Boolean).join(' '),
        style: { width: `${column.width}px` },
      })));
      element.style.width = `${this.width}px`;
      this.body.append(element);
    }
    element.hidden = false;
    element.index = index;
    element.setAttribute('aria-rowindex', String(index + 2));
    element.style.transform = `translateY(${index * this.rowHeight}px)`;
    this.columns.forEach((column, i) => {
      const cell = element.children[i];
      const content = column.cell(row);
      cell.id = `${this.id}-${index}-${i}`;
      cell.classList.toggle('absent', content === null);
      if (content === null || typeof content === 'string') cell.textContent = content ?? '—';
      else cell.replaceChildren(content);
    });
    this.shown.set(index, element);
  }

  mark() {
    this.element.querySelector('.active')?.classList.remove('active');
    for (const [index, element] of this.shown) element.setAttribute('aria-selected', String(this.selected.has(index)));
    const cell = this.shown.get(this.active.row)?.children[this.active.column];
    cell?.classList.add('active');
    if (cell) this.element.setAttribute('aria-activedescendant', cell.id);
    else this.element.removeAttribute('aria-activedescendant');
  }

  // --- Moving ---

  move(row, column, extend) {
    const from = this.active.row;
    this.active.row = Math.max(0, Math.min(this.rows.length - 1, row));
    this.active.column = Math.max(0, Math.min(this.columns.length - 1, column));
    if (extend) {
      if (this.selected.size === 0) this.anchor = from;
      this.selected.clear();
      const [low, high] = [Math.min(this.anchor, this.active.row), Math.max(this.anchor, this.active.row)];
      for (let i = low; i <= high; i += 1) this.selected.add(i);
      this.onselect?.(this.selection());
    }
    this.reveal();
    this.draw();
  }

  reveal() {
    const { element, rowHeight } = this;
    const top = this.active.row * rowHeight;
    const seen = element.clientHeight - this.head.offsetHeight;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + rowHeight > element.scrollTop + seen) element.scrollTop = top + rowHeight - seen;
    const left = this.columns.slice(0, this.active.column).reduce((sum, column) => sum + column.width, 0);
    const width = this.columns[this.active.column]?.width ?? 0;
    if (left < element.scrollLeft) element.scrollLeft = left;
    else if (left + width > element.scrollLeft + element.clientWidth) element.scrollLeft = left + width - element.clientWidth;
  }

  onKey(event) {
    if (event.altKey || this.rows.length === 0) return;
    const { row, column } = this.active;
    const control = event.ctrlKey || event.metaKey;
    const page = Math.max(1, Math.floor(this.element.clientHeight / this.rowHeight) - 2);
    const targets = {
      ArrowUp: [row - 1, column], ArrowDown: [row + 1, column], ArrowLeft: [row, column - 1], ArrowRight: [row, column + 1],
      PageUp: [row - page, column], PageDown: [row + page, column],
      Home: control ? [0, 0] : [row, 0], End: control ? [this.rows.length - 1, column] : [row, this.columns.length - 1],
    };
    const target = targets[event.key];
    if (target) this.move(...target, event.shiftKey);
    else if (event.key === 'Enter' && !control) this.open();
    else if (event.key === ' ') this.toggle(row);
    else if (control && event.key === 'a') this.selectAll();
    else if (!this.onkey?.(event)) return;
    event.preventDefault();
  }

  onClick(event) {
    const cell = event.target.closest('[role=gridcell]');
    if (!cell) return;
    const row = cell.parentElement.index;
    const column = Number(cell.getAttribute('aria-colindex')) - 1;
    if (event.shiftKey) this.move(row, column, true);
    else {
      this.move(row, column);
      if (event.ctrlKey || event.metaKey) this.toggle(row);
      else if (column === 0) this.open();
    }
  }

  toggle(row) {
    if (!this.selected.delete(row)) this.selected.add(row);
    this.anchor = row;
    this.onselect?.(this.selection());
    this.mark();
  }

  selectAll() {
    const all = this.selected.size === this.rows.length;
    this.selected = new Set(all ? [] : this.rows.keys());
    this.onselect?.(this.selection());
    this.mark();
  }

  selection() {
    return [...this.selected].sort((a, b) => a - b).map((index) => this.rows[index]);
  }

  current() {
    return { row: this.rows[this.active.row], column: this.columns[this.active.column] };
  }

  open() {
    if (this.rows.length) this.onopen?.(this.rows[this.active.row], this.active.row);
  }
}
