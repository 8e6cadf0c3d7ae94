"use strict";
// vitest: `globalSetup: "@stator/server/vitest.js"`; see jest.js. vitest imports this file, and calls
// its default export, which of a CommonJS module is all that it exports.

module.exports = require("./jest.js");
