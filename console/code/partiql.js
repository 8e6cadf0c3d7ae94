// partiql.js -- a read or write as a PartiQL statement, where there is one.

import { typeOf } from './shared.js';

const name = (text) => `"${text.replace(/"/g, '""')}"`;
const quote = (text) => `'${text.replace(/'/g, "''")}'`;

// A literal, or null where PartiQL has none (binary).
function literal(raw) {
  const type = typeOf(raw);
  const content = raw[type];
  const all = (parts, open, close) => (parts.includes(null) ? null : open + parts.join(', ') + close);
  switch (type) {
    case 'S': return quote(content);
    case 'N': return content;
    case 'BOOL': return String(content);
    case 'NULL': return 'NULL';
    case 'SS': return all(content.map(quote), '<<', '>>');
    case 'NS': return all(content, '<<', '>>');
    case 'L': return all(content.map(literal), '[', ']');
    case 'M': return all(Object.keys(content).map((one) => { const inner = literal(content[one]); return inner === null ? null : `${quote(one)}: ${inner}`; }), '{', '}');
    default: return null;
  }
}

function where(key) {
  const parts = Object.keys(key).map((one) => { const inner = literal(key[one]); return inner === null ? null : `${name(one)} = ${inner}`; });
  return parts.includes(null) ? null : parts.join(' AND ');
}

// Conditions of Query and Scan are PartiQL's too, once aliases are replaced.
function inline(text, { ExpressionAttributeNames: names = {}, ExpressionAttributeValues: values = {} }) {
  let wrong = /\bsize\s*\(/.test(text);
  // Functions before values: what looks like one in a value is text.
  const out = text.replace(/\battribute_not_exists\s*\(([^)]*)\)/g, '$1 IS MISSING').replace(/\battribute_exists\s*\(([^)]*)\)/g, '$1 IS NOT MISSING').replace(/#\w+|:\w+/g, (alias) => {
    if (alias[0] === '#') return name(names[alias]);
    const inner = literal(values[alias]);
    wrong ||= inner === null;
    return inner;
  });
  return wrong ? null : out;
}

function select(parameters) {
  const from = name(parameters.TableName) + (parameters.IndexName ? `.${name(parameters.IndexName)}` : '');
  const conditions = [parameters.KeyConditionExpression, parameters.FilterExpression].filter(Boolean).map((text) => inline(text, parameters));
  const columns = parameters.ProjectionExpression ? inline(parameters.ProjectionExpression, parameters) : '*';
  if (conditions.includes(null)) return null;
  const joined = conditions.length > 1 ? conditions.map((one) => (/\bOR\b/i.test(one) ? `(${one})` : one)).join(' AND ') : conditions[0];
  return `SELECT ${columns} FROM ${from}${joined ? ` WHERE ${joined}` : ''}`;
}

export function partiql(operation, parameters) {
  switch (operation) {
    case 'Scan': return select(parameters);
    case 'Query': {
      const text = select(parameters);
      const sort = /(?:AND|,)\s*(?:begins_with\()?(#\w+)/.exec(parameters.KeyConditionExpression ?? '')?.[1];
      if (text === null || parameters.ScanIndexForward !== false) return text;
      return sort ? `${text} ORDER BY ${name(parameters.ExpressionAttributeNames[sort])} DESC` : null;
    }
    case 'GetItem': {
      const key = where(parameters.Key);
      const columns = parameters.ProjectionExpression ? inline(parameters.ProjectionExpression, parameters) : '*';
      return key && `SELECT ${columns} FROM ${name(parameters.TableName)} WHERE ${key}`;
    }
    case 'PutItem': {
      const item = literal({ M: parameters.Item });
      // INSERT fails if there is such an item: only that condition means the same.
      return item && /^attribute_not_exists\(#\w+\)$/.test(parameters.ConditionExpression ?? '') ? `INSERT INTO ${name(parameters.TableName)} VALUE ${item}` : null;
    }
    case 'DeleteItem': {
      const key = where(parameters.Key);
      return key && !parameters.ConditionExpression ? `DELETE FROM ${name(parameters.TableName)} WHERE ${key}` : null;
    }
    case 'ExecuteStatement': return parameters.Parameters ? null : parameters.Statement;
    default: return null;
  }
}
