// template.js -- templates of keys such as ORDER#<date>#<orderId>: the part of schema/key_template.h
// that colours and fills the sample. What a pattern finds is judged by the server. No DOM.

// A name has no '$', so that a text of many "${" is read once.
const PARAMETER = /<([^<>*]+)(\*?)>|\$\{([^$}*]+)(\*?)\}/g;

export function parametersOf(text) {
  return [...(text ?? '').matchAll(PARAMETER)].map((match) => match[1] ?? match[3]);
}

const templates = new Map();
const TEMPLATES_MAX = 1000;
// Its parameters, and the texts before, between and behind them.
function templateOf(text) {
  if (!templates.has(text)) {
    if (templates.size >= TEMPLATES_MAX) templates.clear();
    const template = { texts: [], parameters: [] };
    let at = 0;
    for (const match of text.matchAll(PARAMETER)) {
      template.texts.push(text.slice(at, match.index));
      template.parameters.push({ name: match[1] ?? match[3], all: match[2] || match[4] });
      at = match.index + match[0].length;
    }
    template.texts.push(text.slice(at));
    templates.set(text, template);
  }
  return templates.get(text);
}

// What the parameters stand for in a value, or null if it does not follow the template. As on the
// server, a parameter ends at the first occurrence of the text behind it, or, of the last text,
// where that ends the value. A regular expression would try all other ends too, for hours.
export function extract(text, value) {
  const { texts, parameters } = templateOf(text);
  if (!value.startsWith(texts[0])) return null;
  let at = texts[0].length;
  const found = parameters.map(({ name, all }, i) => {
    const next = texts[i + 1];
    let end = value.indexOf(next, at + 1);
    if (i + 1 === parameters.length) end = value.endsWith(next) ? value.length - next.length : -1;
    const part = value.slice(at, Math.max(end, at));
    at = end < 0 ? Infinity : end + next.length;
    return part && (all || !part.includes('#')) ? [name, part] : null;
  });
  return at === value.length && found.every(Boolean) ? Object.fromEntries(found) : null;
}

// The value with all parameters replaced, or null if one is not known.
export function fill(text, values) {
  let whole = true;
  const filled = text.replace(PARAMETER, (_, name, all, other) => {
    const value = values[name ?? other];
    if (value === undefined || value === '') whole = false;
    return value;
  });
  return whole ? filled : null;
}
