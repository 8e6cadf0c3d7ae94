// server.js FOLDER [PORT] -- a Kinesis server on the loopback interface that keeps its streams in a
// folder, so that they survive a kill. Prints its port.
//
// kinesalite's own command listens on every address, so its module is used.
"use strict";
const kinesalite = require("kinesalite");

const server = kinesalite({ path: process.argv[2], createStreamMs: 50, shardLimit: 20 });
server.listen(Number(process.argv[3] || 0), "127.0.0.1", () => {
  console.log(server.address().port);
});
