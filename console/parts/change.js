// change.js -- a dialog that asks for values, shows the exact call as they change, and sends it.

import { call } from '../core/api.js';
import { dialog, errorBox } from '../core/dialog.js';
import { h, show } from '../core/dom.js';
import { codeBlock } from './code_pane.js';

// make() returns the parameters. verify(), if there is one, throws if the call must not be made after
// all. Resolves to the answer if the call was made, and to null if not.
export async function change(title, operation, fields, make, { label = 'Apply', danger, service, verify } = {}) {
  const code = h('div');
  const problem = h('div');
  const draw = () => show(code, codeBlock(operation, make(), service));
  const body = h('div', { class: 'editor', oninput: draw, onchange: draw }, fields, h('h3', null, 'The exact call'), code, problem);
  let answer = null;
  draw();
  await dialog({
    title, body, wide: true,
    actions: [{ label: 'Cancel', value: null }, {
      label, value: true, primary: true, danger,
      check: async () => {
        try {
          await verify?.();
          answer = await call(operation, make(), { service });
          return true;
        } catch (error) {
          show(problem, errorBox(error));
          return false;
        }
      },
    }],
  });
  return answer;
}
