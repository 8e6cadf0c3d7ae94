// checker.js -- asks the server to judge the model after each change: CheckModel has the only rules.

import { call } from '../core/api.js';
import { rowListsOf } from './document.js';

const SIZE_MAX = 1024 * 1024; // What CheckModel takes, in bytes.
const WAIT_MS = 120;
const sizeOf = (text) => new TextEncoder().encode(text).length;

// The text to send. A larger sample is cut: patterns are then judged by its first rows.
export function textToCheck(doc) {
  const compact = JSON.stringify(doc.root);
  const size = sizeOf(compact);
  if (size <= SIZE_MAX) return { text: compact, cut: false };
  const rows = doc.tables.flatMap(rowListsOf);
  const rest = size - rows.reduce((sum, list) => sum + sizeOf(JSON.stringify(list)), 0);
  let share = Math.max(0, SIZE_MAX - rest) / (size - rest);
  for (;;) {
    const short = (list) => (Array.isArray(list) ? list.slice(0, Math.floor(list.length * share)) : list);
    const root = { ...doc.root, DataModel: doc.tables.map((table) => ({ ...table, TableData: short(table.TableData), TableFacets: table.TableFacets?.map((facet) => ({ ...facet, TableData: short(facet.TableData) })) })) };
    const text = JSON.stringify(root);
    if (sizeOf(text) <= SIZE_MAX || share === 0) return { text, cut: true };
    share = share < 0.01 ? 0 : share * 0.8;
  }
}

// Calls back with { report, cut } or { error } for the newest text only.
export class Checker {
  constructor(signal, onresult) {
    Object.assign(this, { signal, onresult, timer: 0, turn: 0 });
    signal.addEventListener('abort', () => clearTimeout(this.timer));
  }

  later(doc) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.now(doc), WAIT_MS);
  }

  async now(doc) {
    this.turn += 1;
    const mine = this.turn;
    const { text, cut } = textToCheck(doc);
    let result;
    try {
      result = { report: await call('CheckModel', { Model: text }, { signal: this.signal }), cut };
    } catch (error) {
      result = { error };
    }
    if (mine === this.turn && !this.signal.aborted) this.onresult(result);
  }
}
