// style.js -- the look of the modeller, which the other pages need not load. A constructed sheet is
// what the policy of the console allows.

const RULES = [
  '.model-views { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 360px), 1fr)); gap: 16px; align-items: start; }',
  '.model-view { padding: 14px; }',
  '.model-view > p { margin: 4px 0; }',
  '.model-view meter { width: 100%; height: 10px; }',
  '.model-blocks { max-height: 70vh; overflow: auto; }',
  '.model-space { position: relative; }',
  '.model-line { position: absolute; left: 0; right: 0; height: 28px; display: flex; gap: 8px; align-items: center; padding: 0 8px; border: 1px solid var(--edge); border-bottom: 0; overflow: hidden; white-space: nowrap; }',
  '.model-head { justify-content: space-between; background: var(--raised); font-weight: 600; }',
  '.model-head span { font-weight: 400; }',
  '.model-line code { overflow: hidden; text-overflow: ellipsis; }',
  '.model-item { border-top-color: var(--line); border-left: 4px solid hsl(var(--hue) 60% 50%); background: light-dark(hsl(var(--hue) 70% 97%), hsl(var(--hue) 25% 14%)); }',
  '.model-last { border-bottom: 1px solid var(--edge); height: 27px; }',
  '.model-item[data-none] { border-left-color: var(--edge); background: none; }',
  '.model-sort { flex: 0 1 auto; max-width: 45%; }',
  '.model-values { flex: 1; min-width: 0; overflow: hidden; text-overflow: ellipsis; font-size: .92em; }',
  '.model-matrix td, .model-matrix th { vertical-align: top; }',
  '.model-matrix td { min-width: 150px; }',
  '.model-matrix td.number { min-width: 0; }',
  '.model-matrix .hint { font-size: .9em; margin-top: 4px; }',
  '.model-used { box-shadow: inset 3px 0 0 var(--accent); }',
  '.model-kinds { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 210px), 1fr)); gap: 0 12px; }',
  '.changes code { overflow-wrap: anywhere; }',
];

let isApplied = false;
export function applyStyle() {
  if (isApplied) return;
  isApplied = true;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(RULES.join('\n'));
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}
