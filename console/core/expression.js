// expression.js -- the names and values of one request's expressions. Every name gets an alias, so
// reserved words and strange characters need no thought.

import { toDynamo } from './value.js';

export class Expression {
  constructor() {
    this.names = new Map();
    this.values = [];
  }

  name(text) {
    if (!this.names.has(text)) this.names.set(text, `#${this.names.size}`);
    return this.names.get(text);
  }

  // ['a', 'b', 2, 'c'] -> "#0.#1[2].#2"
  path(steps) {
    return steps.map((step, i) => (typeof step === 'number' ? `[${step}]` : (i ? '.' : '') + this.name(step))).join('');
  }

  value(typed) {
    this.values.push(toDynamo(typed));
    return `:${this.values.length - 1}`;
  }

  // The parameters that go with the expressions.
  parameters() {
    const result = {};
    if (this.names.size) result.ExpressionAttributeNames = Object.fromEntries(Array.from(this.names, ([text, alias]) => [alias, text]));
    if (this.values.length) result.ExpressionAttributeValues = Object.fromEntries(this.values.map((value, i) => [`:${i}`, value]));
    return result;
  }
}

// "a.b[2].c" -> ['a', 'b', 2, 'c']; names in double quotes may hold anything: "my.name"[0]
export function parsePath(text) {
  const steps = [];
  const TOKEN = /\s*(?:"((?:[^"\\]|\\.)*)"|\[(\d+)\]|([^.[\]"]+))\s*(\.)?/y;
  let at = 0;
  while (at < text.length) {
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(text);
    if (!match || (match[2] !== undefined && steps.length === 0)) return null;
    if (match[2] !== undefined) steps.push(Number(match[2]));
    else steps.push(match[1] !== undefined ? match[1].replace(/\\(.)/g, '$1') : match[3].trim());
    at = TOKEN.lastIndex;
  }
  return steps.length ? steps : null;
}
