#!/bin/sh
# What `npm start` runs: installs what is missing, then runs the platform.
cd "$(dirname "$0")/.." || exit 1
program=$(node scripts/bootstrap.mjs start) || exit 1
export PATH="$PWD/node_modules/.bin:$PATH"
# Code is compiled once, not at every start.
export NODE_COMPILE_CACHE="${NODE_COMPILE_CACHE:-$PWD/.cache/node}"
exec sh scripts/bootstrap/supervise.sh \
  node_modules/node/bin/node --disable-warning=ExperimentalWarning "$program"
