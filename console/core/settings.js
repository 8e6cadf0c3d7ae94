// settings.js -- what this browser remembers: theme, density, keys. Never data, never secrets.

const NAME = 'stator.settings';
const DEFAULTS = {
  theme: 'auto', // 'light', 'dark'
  density: 'comfortable', // 'compact'
  letterKeys: true, // Shortcuts of one letter (WCAG 2.1.4 asks that they can be switched off).
  safeMode: true, // Writes show their request and ask first.
  meanings: true, // Cells of the grid say what values probably mean.
  discriminators: {}, // Table name -> attribute that tells entities apart.
};

let current = { ...DEFAULTS };
const listeners = new Set();

try {
  current = { ...DEFAULTS, ...JSON.parse(localStorage.getItem(NAME) ?? '{}') };
} catch { /* Storage is off or damaged: defaults. */ }

export function get(name) {
  return current[name];
}

export function set(name, value) {
  current = { ...current, [name]: value };
  try {
    localStorage.setItem(NAME, JSON.stringify(current));
  } catch { /* It lasts as long as the page. */ }
  apply();
  for (const listener of listeners) listener(name);
}

export function onChange(listener) {
  listeners.add(listener);
}

export function apply() {
  const root = document.documentElement;
  if (current.theme === 'auto') delete root.dataset.theme;
  else root.dataset.theme = current.theme;
  root.dataset.density = current.density;
}
