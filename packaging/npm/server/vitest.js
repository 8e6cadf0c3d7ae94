"use strict";
// vitest: `globalSetup: "@stator/server/vitest.js"`; see jest.js.

const globalSetup = require("./jest.js");

exports.setup = globalSetup;
