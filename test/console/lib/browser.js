// browser.js -- a real browser for the tests of the console: Debian's Chromium through playwright-core.
//
//   const desk = await openDesk(t);              // a server of one's own and a browser
//   const page = await desk.page('#/');          // watched: see below
//   await desk.close();
//
// Every page is watched: an uncaught error, a message of the console's about an error, a report of the
// Content-Security-Policy, or a request to another origin fails the test when the desk is closed.
'use strict';
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { startServer } = require('../../api/lib/server.js');

const BROWSERS = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome'].filter(Boolean);
const AXE_RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

// Why the tests cannot run here; false if they can.
function missing() {
  if (Number(process.versions.node.split('.')[0]) < 20) return 'playwright-core needs Node.js 20';
  if (!BROWSERS.some((file) => fs.existsSync(file))) return 'no Chromium: apt-get install chromium';
  try {
    require.resolve('playwright-core');
    require.resolve('axe-core');
  } catch {
    return 'the npm packages of test/console are not installed';
  }
  return false;
}

class Desk {
  constructor(server, browser) {
    this.server = server;
    this.browser = browser;
    this.problems = [];
    this.expected = []; // Patterns of problems that the test causes on purpose.
    this.contexts = [];
  }

  watch(page) {
    const origin = new URL(this.server.url).origin;
    page.on('pageerror', (error) => this.problems.push(`error: ${error.stack}`));
    page.on('console', (message) => {
      // Chromium reports every answer of 4xx as an error; the service answers 400 to be understood.
      if (message.type() === 'error' && !/status of 4\d\d/.test(message.text())) {
        this.problems.push(`console: ${message.text()}`);
      }
    });
    page.on('request', (request) => {
      const url = request.url();
      if (!url.startsWith(`${origin}/`) && !url.startsWith('blob:')) this.problems.push(`request to ${url}`);
    });
  }

  async context(options = {}) {
    const context = await this.browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
    await context.addInitScript(() => {
      document.addEventListener('securitypolicyviolation', (event) => {
        console.error(`CSP: ${event.violatedDirective} ${event.sourceFile}:${event.lineNumber}`);
      });
    });
    context.setDefaultTimeout(60_000); // Only to end what hangs.
    this.contexts.push(context);
    return context;
  }

  url(hash = '') {
    return `${this.server.url}/console/${hash}`;
  }

  async page(hash = '', options = {}) {
    const page = await (await this.context(options)).newPage();
    this.watch(page);
    await page.goto(this.url(hash));
    await page.locator('main > *').first().waitFor();
    return page;
  }

  // A call of the API, past the browser.
  async call(operation, body, prefix = 'DynamoDB_20120810') {
    const response = await fetch(this.server.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-amz-json-1.0',
        'x-amz-target': `${prefix}.${operation}`,
        authorization: 'AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/dynamodb/aws4_request, '
          + 'SignedHeaders=host, Signature=0',
      },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(text);
    return JSON.parse(text);
  }

  async close() {
    for (const context of this.contexts) await context.close();
    await this.browser.close();
    await this.server.stop();
    const problems = this.problems.filter((text) => !this.expected.some((one) => one.test(text)));
    assert.deepEqual(problems, []);
  }
}

async function openDesk(...flags) {
  const { chromium } = require('playwright-core');
  const server = await startServer(...(flags.length ? flags : ['--in-memory']));
  const browser = await chromium.launch({
    executablePath: BROWSERS.find((file) => fs.existsSync(file)),
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  });
  return new Desk(server, browser);
}

// What axe-core finds on the page as it is now, one line per kind.
async function axeFindings(page) {
  await page.evaluate(fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8'));
  const { violations } = await page.evaluate((rules) => window.axe.run(document, {
    runOnly: rules, resultTypes: ['violations'],
  }), AXE_RULES);
  return violations.map((one) => `${one.id}: ${one.help}: ${one.nodes.slice(0, 3)
    .map((node) => `${node.target.join(' ')} (${node.any[0]?.message ?? ''})`).join('; ')}`);
}

const consoleFolder = path.join(__dirname, '..', '..', '..', 'console');

module.exports = { axeFindings, consoleFolder, missing, openDesk };
