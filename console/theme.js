// theme.js -- sets the theme before the first paint; a classic script, because modules run later.
try {
  const { theme } = JSON.parse(localStorage.getItem('stator.settings') ?? '{}');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch { /* Storage may be off: the system's theme it is. */ }
