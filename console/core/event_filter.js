// event_filter.js -- filter patterns of triggers, as src/trigger/event_filter.h has them, to try them
// out on records that are seen.

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
// As the server does, which folds only ASCII.
const fold = (text) => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
const text = (test) => (value, of) => test(typeof value === 'string' ? value : '\0', of);
const SIGNS = { '=': (a, b) => a === b, '<': (a, b) => a < b, '<=': (a, b) => a <= b, '>': (a, b) => a > b, '>=': (a, b) => a >= b };
const RULES = {
  prefix: text((value, of) => value.startsWith(of)),
  suffix: text((value, of) => value.endsWith(of)),
  'equals-ignore-case': text((value, of) => fold(value) === fold(of)),
  'anything-but': (value, of) => ![of].flat().includes(value),
  numeric: (value, of) => of.every((sign, i) => i % 2 || SIGNS[sign](value, of[i + 1])) && typeof value === 'number',
  exists: (value, of) => of,
};

function ruleMatches(rule, value) {
  if (!isObject(rule)) return rule === value;
  const [name] = Object.keys(rule);
  return RULES[name](value, rule[name]);
}

function matches(pattern, record) {
  return Object.entries(pattern).every(([name, rules]) => {
    if (name === '$or') return rules.some((one) => matches(one, record));
    const value = record && Object.hasOwn(record, name) ? record[name] : undefined;
    if (isObject(rules)) return matches(rules, isObject(value) ? value : undefined);
    if (value === undefined || isObject(value)) return rules.some((rule) => rule?.exists === false);
    return [value].flat().some((one) => !isObject(one) && rules.some((rule) => ruleMatches(rule, one)));
  });
}

function check(pattern) {
  if (!isObject(pattern)) throw new Error('A pattern is an object in braces');
  for (const [name, rules] of Object.entries(pattern)) {
    if (name !== '$or' && isObject(rules)) check(rules);
    else if (!Array.isArray(rules) || rules.length === 0) throw new Error(`"${name}" takes a list of allowed values`);
    else if (name === '$or') rules.forEach(check);
    else {
      try {
        rules.forEach((rule) => ruleMatches(rule, 0));
      } catch {
        throw new Error(`"${name}" has a rule that does not exist, or not with this value`);
      }
    }
  }
}

// A function that says whether a record matches; an empty text matches all. Throws with a sentence.
export function eventFilter(source) {
  if (source.trim() === '') return () => true;
  const pattern = JSON.parse(source);
  check(pattern);
  return (record) => matches(pattern, record);
}
