"use strict";
// Where the program is: an option, a variable, the package of this platform, the PATH.

const fs = require("node:fs");
const path = require("node:path");

function fromPackage() {
  try {
    return require.resolve(`@stator/${process.platform}-${process.arch}/stator`);
  } catch {
    return undefined;
  }
}

function fromPath() {
  for (const folder of (process.env.PATH ?? "").split(path.delimiter)) {
    const file = path.join(folder, "stator");
    // npx puts this package's own script there, which would start itself for ever.
    if (fs.existsSync(file) && fs.realpathSync(file) !== path.join(__dirname, "bin.js")) return file;
  }
  return undefined;
}

exports.find = function find(option) {
  const file = option ?? process.env.STATOR_BINARY ?? fromPackage() ?? fromPath();
  if (file === undefined)
    throw new Error(
      `stator: there is no package for ${process.platform} on ${process.arch}; ` +
        "build the program and name it by STATOR_BINARY",
    );
  return file;
};
