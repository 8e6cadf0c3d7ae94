"use strict";
// jest: `globalSetup: "@stator/server/jest.js"`. One server for all test files, which find it by the
// variables that AWS's SDKs read.

const { start } = require("./index.js");

module.exports = async function globalSetup() {
  const server = await start();
  process.env.AWS_ENDPOINT_URL_DYNAMODB = server.endpoint;
  process.env.AWS_REGION ??= server.region;
  process.env.AWS_ACCESS_KEY_ID ??= server.credentials.accessKeyId;
  process.env.AWS_SECRET_ACCESS_KEY ??= server.credentials.secretAccessKey;
  // No globalTeardown is needed: the server ends with its parent.
};
