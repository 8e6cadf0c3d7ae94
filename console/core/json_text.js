// json_text.js -- reads and writes JSON text without losing anything: number text stays as written,
// a name that occurs twice is an error, and errors have a line and a column.
//
// parse() gives nodes { type, value, at }: 'object' (array of [name, node]), 'array', 'string',
// 'number' (its text), 'true', 'false', 'null'.

const DEPTH_MAX = 100;

export class JsonError extends Error {
  constructor(message, text, at) {
    const before = text.slice(0, at).split('\n');
    super(`Line ${before.length}, column ${before.at(-1).length + 1}: ${message}`);
    this.at = at;
  }
}

export function parse(text) {
  let at = 0;
  const fail = (message, where = at) => { throw new JsonError(message, text, where); };
  const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
  const BLANK = /[ \t\r\n]*/y;

  function skip() {
    BLANK.lastIndex = at;
    BLANK.exec(text);
    at = BLANK.lastIndex;
  }
  function string() {
    const start = at;
    at += 1;
    for (;;) {
      const char = text[at];
      if (char === undefined || char === '\n') fail('This text does not end', start);
      if (char === '"') break;
      at += char === '\\' ? 2 : 1;
    }
    at += 1;
    try {
      return JSON.parse(text.slice(start, at));
    } catch {
      return fail('This text has a character or an escape that JSON does not allow', start);
    }
  }
  function object(depth, node) {
    const names = new Set();
    at += 1;
    skip();
    if (text[at] === '}') { at += 1; return; }
    for (;;) {
      skip();
      if (text[at] !== '"') fail('Expected a name in quotes');
      const start = at;
      const name = string();
      if (names.has(name)) fail(`"${name}" occurs twice`, start);
      names.add(name);
      skip();
      if (text[at] !== ':') fail('Expected a colon');
      at += 1;
      node.value.push([name, value(depth + 1)]);
      skip();
      if (text[at] === '}') { at += 1; return; }
      if (text[at] !== ',') fail('Expected a comma or }');
      at += 1;
    }
  }
  function array(depth, node) {
    at += 1;
    skip();
    if (text[at] === ']') { at += 1; return; }
    for (;;) {
      node.value.push(value(depth + 1));
      skip();
      if (text[at] === ']') { at += 1; return; }
      if (text[at] !== ',') fail('Expected a comma or ]');
      at += 1;
    }
  }
  function value(depth) {
    if (depth > DEPTH_MAX) fail('Nested too deeply');
    skip();
    const node = { at, type: '', value: [] };
    const char = text[at];
    if (char === '{') { node.type = 'object'; object(depth, node); return node; }
    if (char === '[') { node.type = 'array'; array(depth, node); return node; }
    if (char === '"') { node.type = 'string'; node.value = string(); return node; }
    NUMBER.lastIndex = at;
    const number = NUMBER.exec(text);
    if (number) {
      at = NUMBER.lastIndex;
      return Object.assign(node, { type: 'number', value: number[0] });
    }
    for (const word of ['true', 'false', 'null']) {
      if (text.startsWith(word, at)) {
        at += word.length;
        return Object.assign(node, { type: word });
      }
    }
    return fail(char === undefined ? 'The text ends too early' : 'Expected a value');
  }

  const result = value(1);
  skip();
  if (at < text.length) fail('Something follows after the end');
  return result;
}

// --- Items as DynamoDB JSON ---

function textOf(node, text, what) {
  if (node.type !== 'string') throw new JsonError(`${what} must be a text in quotes`, text, node.at);
  return node.value;
}

function dynamoValue(node, text) {
  const wrong = (message) => { throw new JsonError(message, text, node.at); };
  if (node.type !== 'object' || node.value.length !== 1) wrong('Expected one type, as in {"S": "text"}');
  const [[t, inner]] = node.value;
  const list = () => (inner.type === 'array' ? inner.value : wrong(`${t} must be an array`));
  switch (t) {
    case 'S': case 'N': case 'B': return { t, v: textOf(inner, text, t) };
    case 'BOOL': return inner.type === 'true' || inner.type === 'false' ? { t, v: inner.type === 'true' } : wrong('BOOL must be true or false');
    case 'NULL': return inner.type === 'true' ? { t, v: true } : wrong('NULL must be true');
    case 'SS': case 'NS': case 'BS': return { t, v: list().map((one) => textOf(one, text, `A member of ${t}`)) };
    case 'L': return { t, v: list().map((one) => dynamoValue(one, text)) };
    case 'M': return { t, v: dynamoItem(inner, text) };
    default: return wrong(`"${t}" is no type: S, N, B, BOOL, NULL, M, L, SS, NS or BS`);
  }
}

function dynamoItem(node, text) {
  if (node.type !== 'object') throw new JsonError('Expected an object', text, node.at);
  return new Map(node.value.map(([name, inner]) => [name, dynamoValue(inner, text)]));
}

export function parseDynamo(text) {
  return dynamoItem(parse(text), text);
}

// --- Items as plain JSON ---
// Numbers unquoted with all their digits; sets {"$SS": […]}, binary {"$B": "base64"}; a name that
// begins with $ gets another one: {"$$SS": …}. So each value has one form, and each form one value.

function plainValue(node, text) {
  const wrong = (message) => { throw new JsonError(message, text, node.at); };
  switch (node.type) {
    case 'string': return { t: 'S', v: node.value };
    case 'number': return { t: 'N', v: node.value };
    case 'true': case 'false': return { t: 'BOOL', v: node.type === 'true' };
    case 'null': return { t: 'NULL', v: true };
    case 'array': return { t: 'L', v: node.value.map((one) => plainValue(one, text)) };
    default:
  }
  const special = node.value.find(([name]) => name.startsWith('$') && !name.startsWith('$$'));
  if (!special) return { t: 'M', v: plainItem(node, text) };
  const [name, inner] = special;
  const t = name.slice(1);
  if (node.value.length !== 1) wrong(`${name} stands alone; a name that begins with $ is written $${name}`);
  if (t === 'B') return { t, v: textOf(inner, text, name) };
  if (!['SS', 'NS', 'BS'].includes(t)) wrong(`${name} is no type; a name that begins with $ is written $${name}`);
  if (inner.type !== 'array') wrong(`${name} must be an array`);
  return { t, v: inner.value.map((one) => (t === 'NS' && one.type === 'number' ? one.value : textOf(one, text, `A member of ${name}`))) };
}

function plainItem(node, text) {
  return new Map(node.value.map(([name, inner]) => [name.startsWith('$$') ? name.slice(1) : name, plainValue(inner, text)]));
}

export function parsePlain(text) {
  const node = parse(text);
  if (node.type !== 'object') throw new JsonError('Expected an object', text, node.at);
  const special = node.value.find(([name]) => name.startsWith('$') && !name.startsWith('$$'));
  if (special) throw new JsonError(`A name that begins with $ is written $${special[0]}`, text, node.at);
  return plainItem(node, text);
}

// --- Writing ---

const WIDTH = 80;
const quote = (text) => JSON.stringify(text);

// `parts`: [prefix, text] pairs that stand between the brackets; in one line if they fit.
function bracket(open, parts, close, indent) {
  if (parts.length === 0) return open + close;
  const line = `${open}${parts.join(', ')}${close}`;
  if (line.length + indent.length <= WIDTH && !line.includes('\n')) return line;
  const inner = `${indent}  `;
  return `${open}\n${parts.map((part) => inner + part).join(',\n')}\n${indent}${close}`;
}

function dynamoText({ t, v }, indent) {
  const deeper = `${indent}  `;
  const content = t === 'M' ? bracket('{', Array.from(v, ([name, one]) => `${quote(name)}: ${dynamoText(one, deeper)}`), '}', indent)
    : t === 'L' ? bracket('[', v.map((one) => dynamoText(one, deeper)), ']', indent)
      : isArray(v) ? bracket('[', v.map(quote), ']', indent) : quote(v);
  return `{"${t}": ${content}}`;
}

const isArray = Array.isArray;

function plainText({ t, v }, indent) {
  const deeper = `${indent}  `;
  switch (t) {
    case 'S': return quote(v);
    case 'N': return /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(v) ? v : quote(v);
    case 'BOOL': return String(v);
    case 'NULL': return 'null';
    case 'B': return `{"$B": ${quote(v)}}`;
    case 'SS': case 'BS': return `{"$${t}": ${bracket('[', v.map(quote), ']', indent)}}`;
    case 'NS': return `{"$NS": ${bracket('[', v, ']', indent)}}`;
    case 'L': return bracket('[', v.map((one) => plainText(one, deeper)), ']', indent);
    default: return plainObject(v, indent);
  }
}

function plainObject(item, indent) {
  return bracket('{', Array.from(item, ([name, one]) => `${quote(name.startsWith('$') ? `$${name}` : name)}: ${plainText(one, `${indent}  `)}`), '}', indent);
}

function open(item, each) {
  return item.size === 0 ? '{}' : `{\n${Array.from(item, ([name, value]) => `  ${each(name, value)}`).join(',\n')}\n}`;
}

export function formatDynamo(item) {
  return open(item, (name, value) => `${quote(name)}: ${dynamoText(value, '  ')}`);
}

export function formatPlain(item) {
  return open(item, (name, value) => `${quote(name.startsWith('$') ? `$${name}` : name)}: ${plainText(value, '  ')}`);
}

// In one line, for files with an item per line.
export const lineOf = (text) => text.replace(/\n\s*/g, ' ');
