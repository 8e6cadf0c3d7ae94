// value.js -- typed values: the one form of an item behind every view of it.
//
// A value is { t: type, v: content }:
//   S, B    text; B is base64 as the service writes it
//   N       text, the number's digits; no number ever becomes a JavaScript number
//   BOOL    true or false; NULL: true
//   M       Map of name -> value; an item is such a Map
//   L       array of values
//   SS NS BS  array of texts, in no particular order
// A Map, because names like "__proto__" are names like any other.

export const TYPES = ['S', 'N', 'B', 'BOOL', 'NULL', 'M', 'L', 'SS', 'NS', 'BS'];
export const TYPE_NAMES = {
  S: 'String', N: 'Number', B: 'Binary', BOOL: 'Boolean', NULL: 'Null', M: 'Map', L: 'List',
  SS: 'String set', NS: 'Number set', BS: 'Binary set',
};
export const DEPTH_MAX = 32;
export const ITEM_SIZE_MAX = 400 * 1024;
const DIGITS_MAX = 38;
const EXPONENT_MAX = 125;
const EXPONENT_MIN = -130;

export const isSet = (type) => type === 'SS' || type === 'NS' || type === 'BS';

// --- From and to DynamoDB JSON, as JSON.parse makes it. N is text there, so nothing is lost. ---

export function fromDynamo(raw) {
  const type = Object.keys(raw)[0];
  const content = raw[type];
  switch (type) {
    case 'M': return { t: 'M', v: itemFromDynamo(content) };
    case 'L': return { t: 'L', v: content.map(fromDynamo) };
    case 'SS': case 'NS': case 'BS': return { t: type, v: [...content] };
    default: return { t: type, v: content };
  }
}

// An attribute of a raw item, if it has it: every object inherits something called "constructor".
export const attributeOf = (raw, name) => (Object.hasOwn(raw, name) ? raw[name] : undefined);

export function itemFromDynamo(raw) {
  return new Map(Object.keys(raw).map((name) => [name, fromDynamo(raw[name])]));
}

export function toDynamo({ t, v }) {
  switch (t) {
    case 'M': return { M: itemToDynamo(v) };
    case 'L': return { L: v.map(toDynamo) };
    default: return { [t]: isSet(t) ? [...v] : v };
  }
}

export function itemToDynamo(item) {
  const raw = Object.create(null); // So that "__proto__" is a name like any other.
  for (const [name, value] of item) raw[name] = toDynamo(value);
  return raw;
}

export function clone({ t, v }) {
  switch (t) {
    case 'M': return { t, v: cloneItem(v) };
    case 'L': return { t, v: v.map(clone) };
    default: return { t, v: isSet(t) ? [...v] : v };
  }
}

export function cloneItem(item) {
  return new Map(Array.from(item, ([name, value]) => [name, clone(value)]));
}

// How many of `char` a text ends with. /0+$/ would try every run of them: the square of the text.
export function countAtEnd(text, char) {
  let count = 0;
  while (count < text.length && text[text.length - 1 - count] === char) count += 1;
  return count;
}

// --- Numbers ---

// The number as the service stores and shows it: no leading zeros, no trailing ones, no exponent.
// Throws an Error that says what is wrong.
export function normaliseNumber(text) {
  const match = /^\s*([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,6}))?\s*$/.exec(text);
  if (!match || (match[2] === '' && !match[3])) throw new Error('Not a number');
  const [, sign, whole, fraction = '', exponent = '0'] = match;
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = digits.slice(0, digits.length - countAtEnd(digits, '0'));
  if (significant === '') return '0';
  if (significant.length > DIGITS_MAX) throw new Error(`More than ${DIGITS_MAX} significant digits`);
  // The value is 0.SIGNIFICANT times ten to the power of `point`.
  const point = digits.length - fraction.length + Number(exponent);
  if (point - 1 > EXPONENT_MAX) throw new Error('Larger than 9.99…E+125');
  if (point - 1 < EXPONENT_MIN) throw new Error('Smaller than 1E-130');
  return (sign === '-' ? '-' : '') + layOut(significant, point);
}

// The service writes all digits, and never an exponent.
function layOut(digits, point) {
  if (point >= digits.length) return digits.padEnd(point, '0');
  if (point > 0) return `${digits.slice(0, point)}.${digits.slice(point)}`;
  return `0.${'0'.repeat(-point)}${digits}`;
}

export function sameNumber(a, b) {
  if (a === b) return true;
  try {
    return normaliseNumber(a) === normaliseNumber(b);
  } catch {
    return false;
  }
}

// --- Equality ---

function sameSet(a, b, same) {
  if (a.length !== b.length) return false;
  if (same === undefined) {
    const all = new Set(a);
    return b.every((one) => all.has(one));
  }
  return a.every((one) => b.some((other) => same(one, other)));
}

export function equal(a, b) {
  if (a === b) return true;
  if (!a || !b || a.t !== b.t) return false;
  switch (a.t) {
    case 'M': return equalItems(a.v, b.v);
    case 'L': return a.v.length === b.v.length && a.v.every((one, i) => equal(one, b.v[i]));
    case 'N': return sameNumber(a.v, b.v);
    case 'NS': return sameSet(a.v, b.v, sameNumber);
    case 'SS': case 'BS': return sameSet(a.v, b.v);
    default: return a.v === b.v;
  }
}

export function equalItems(a, b) {
  if (a.size !== b.size) return false;
  for (const [name, value] of a) if (!equal(value, b.get(name))) return false;
  return true;
}

// --- Binary ---

export function bytesOf(base64) {
  return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
}

export function base64Of(bytes) {
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}

export function isBase64(text) {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
}

// --- Sizes, by the rules of the service ---

const encoder = new TextEncoder();
const textSize = (text) => encoder.encode(text).length;

function numberSize(text) {
  const digits = text.replace(/E.*$/i, '').replace(/[^\d]/g, '').replace(/^0+/, '');
  return Math.min(21, Math.ceil((digits.length - countAtEnd(digits, '0')) / 2) + 1 + (text.startsWith('-') ? 1 : 0));
}

const binarySize = (base64) => (base64.length / 4) * 3 - countAtEnd(base64, '=');

export function sizeOf({ t, v }) {
  switch (t) {
    case 'S': return textSize(v);
    case 'N': return numberSize(v);
    case 'B': return binarySize(v);
    case 'SS': return v.reduce((sum, one) => sum + textSize(one), 0);
    case 'NS': return v.reduce((sum, one) => sum + numberSize(one), 0);
    case 'BS': return v.reduce((sum, one) => sum + binarySize(one), 0);
    case 'L': return 3 + v.reduce((sum, one) => sum + 1 + sizeOf(one), 0);
    case 'M': return 3 + v.size + itemSize(v);
    default: return 1;
  }
}

export function itemSize(item) {
  let sum = 0;
  for (const [name, value] of item) sum += textSize(name) + sizeOf(value);
  return sum;
}

// --- Checks before a write: the first thing wrong as { path, message }, or null ---

export function problem(value, path = [], depth = 1) {
  const at = (message) => ({ path, message });
  const { t, v } = value;
  if (depth > DEPTH_MAX) return at(`Nested deeper than ${DEPTH_MAX} levels`);
  try {
    if (t === 'N') normaliseNumber(v);
    if (t === 'NS') v.forEach(normaliseNumber);
  } catch (error) {
    return at(error.message);
  }
  if (t === 'B' && !isBase64(v)) return at('Not base64');
  if (t === 'BS' && !v.every(isBase64)) return at('Not base64');
  if (isSet(t)) {
    if (v.length === 0) return at('A set must not be empty');
    const seen = new Set(t === 'NS' ? v.map(normaliseNumber) : v);
    if (seen.size !== v.length) return at('A set must not hold a member twice');
  }
  const inner = t === 'M' ? [...v] : t === 'L' ? v.map((one, i) => [i, one]) : [];
  for (const [name, one] of inner) {
    const found = problem(one, [...path, name], depth + 1);
    if (found) return found;
  }
  return null;
}

export function itemProblem(item) {
  for (const [name, value] of item) {
    const found = name === '' ? { path: [name], message: 'An attribute needs a name' } : problem(value, [name]);
    if (found) return found;
  }
  const size = itemSize(item);
  return size > ITEM_SIZE_MAX ? { path: [], message: `The item has ${size} bytes, at most ${ITEM_SIZE_MAX}` } : null;
}

// "a.b[2].c" for people.
export function pathText(path) {
  return path.map((step, i) => (typeof step === 'number' ? `[${step}]` : (i ? '.' : '') + step)).join('');
}

// --- Short texts, for cells and links ---

// A value in one line; cut long ones before they cost anything.
export function brief({ t, v }, max = 200) {
  switch (t) {
    // In one line; where it breaks is to be seen.
    case 'S': return (v.length > max ? `${v.slice(0, max)}…` : v).replace(/\r\n?|\n/g, '⏎');
    case 'N': return v;
    case 'B': return v.length > max ? `${v.slice(0, max)}…` : v;
    case 'BOOL': return String(v);
    case 'NULL': return 'null';
    case 'SS': case 'NS': case 'BS': return `{ ${v.slice(0, 8).join(', ').slice(0, max)}${v.length > 8 ? ', …' : ''} }`;
    case 'L': return `[ ${v.slice(0, 4).map((one) => brief(one, 30)).join(', ')}${v.length > 4 ? `, … ${v.length}` : ''} ]`;
    default: {
      const names = [...v.keys()];
      return `{ ${names.slice(0, 4).map((name) => `${name}: ${brief(v.get(name), 20)}`).join(', ')}${names.length > 4 ? `, … ${names.length}` : ''} }`;
    }
  }
}

// Key values in links: "S:text", "N:12", "B:base64url".
export function toLink({ t, v }) {
  return `${t}:${t === 'B' ? v.replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '') : v}`;
}

export function fromLink(text) {
  const match = /^([SNB]):(.*)$/s.exec(text ?? '');
  if (!match) return null;
  const [, t, v] = match;
  if (t !== 'B') return { t, v };
  const base64 = v.replace(/-/g, '+').replace(/_/g, '/');
  return { t, v: base64.padEnd(Math.ceil(base64.length / 4) * 4, '=') };
}

// An empty value of a type, or the nearest thing to `from`; the second result says what is lost.
export function convert(from, t) {
  const text = ['S', 'N', 'B'].includes(from.t) ? from.v : from.t === 'BOOL' ? String(from.v) : null;
  const members = isSet(from.t) ? from.v : from.t === 'L' ? from.v.filter((one) => 'SNB'.includes(one.t)).map((one) => one.v) : null;
  switch (t) {
    case 'S': return [{ t, v: text ?? '' }, text === null && members?.length !== 0];
    case 'N': {
      try {
        return [{ t, v: normaliseNumber(text ?? '') }, false];
      } catch {
        return [{ t, v: '0' }, text !== ''];
      }
    }
    case 'B': return from.t === 'S' && isBase64(from.v) ? [{ t, v: from.v }, false]
      : from.t === 'S' ? [{ t, v: base64Of(encoder.encode(from.v)) }, false] : [{ t, v: '' }, true];
    case 'BOOL': return [{ t, v: text === 'true' }, text !== 'true' && text !== 'false' && text !== ''];
    case 'NULL': return [{ t, v: true }, text !== ''];
    case 'M': return [{ t, v: new Map() }, text !== '' && from.t !== 'NULL'];
    case 'L': return isSet(from.t)
      ? [{ t, v: from.v.map((one) => ({ t: from.t[0], v: one })) }, false]
      : [{ t, v: text === null || text === '' ? [] : [clone(from)] }, text === null && from.t !== 'NULL'];
    default: {
      const list = members ?? (text ? [text] : []);
      const fits = isSet(from.t) ? from.t === t : from.t === 'L' ? from.v.every((one) => one.t === t[0]) : from.t === t[0] || text === '';
      return [{ t, v: fits ? [...new Set(list)] : [] }, !fits];
    }
  }
}
