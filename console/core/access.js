// access.js -- what the signed-in key may do, asked before a control is used. What it may not do is
// shown as disabled, with the service's reason.
//
//   h('button', { needs: { Action: 'DeleteTable', Resource: name }, onclick: remove }, 'Delete')
//
// Questions of one moment go in one CheckAccess. An answer that depends on keys or attributes which
// the question does not name disables nothing.

import { call, server } from './api.js';
import { notify } from './dialog.js';
import { setGuard } from './dom.js';
import { current } from './session.js';

const QUESTIONS_MAX = 50;
const KEPT_MS = 30_000; // A policy may change meanwhile; the server decides in any case.
const KEPT_MAX = 500;
const known = new Map(); // Question -> { until, answer: a promise }
let waiting = [];

function flush() {
  while (waiting.length > 0) {
    const some = waiting.splice(0, QUESTIONS_MAX);
    call('CheckAccess', { Questions: some.map(({ question }) => question) })
      .then(({ Answers }) => Answers, () => [])
      .then((answers) => some.forEach(({ resolve }, i) => resolve(answers[i])));
  }
}

// Resolves to the answer, or to undefined if nobody is asked here.
export function ask({ Action, ...more }) {
  if (!server.auth || !current()) return Promise.resolve();
  const question = { Action: Action.includes(':') ? Action : `dynamodb:${Action}`, ...more };
  const name = JSON.stringify([current().id, question]);
  const kept = known.get(name);
  if (kept?.until > Date.now()) return kept.answer;
  if (known.size > KEPT_MAX) known.clear();
  const answer = new Promise((resolve) => {
    if (waiting.length === 0) queueMicrotask(flush);
    waiting.push({ question, resolve });
  });
  known.set(name, { until: Date.now() + KEPT_MS, answer });
  return answer;
}

function guard(element, question) {
  ask(question).then((answer) => {
    if (!answer || answer.Allowed || answer.DependsOn.length > 0) return;
    element.setAttribute('aria-disabled', 'true');
    element.title = answer.Message;
  });
  element.addEventListener('click', (event) => {
    if (!element.title || element.getAttribute('aria-disabled') !== 'true') return;
    event.preventDefault();
    event.stopImmediatePropagation();
    notify(element.title, { error: true });
  }, { capture: true });
}

export const start = () => setGuard(guard);
export const forget = () => known.clear();
