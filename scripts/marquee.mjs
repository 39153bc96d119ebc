#!/usr/bin/env node
/** The operator's command line (`node scripts/marquee.mjs …`): hands over to Node 26 from node_modules. */
import { existsSync } from 'node:fs';
import { handOver } from './bootstrap/handoff.mjs';
import { nodePath } from './bootstrap/packages.mjs';
import { serverBundle, serverProgram } from './bootstrap/server.mjs';

if (existsSync(nodePath())) {
  const cli = serverProgram(serverBundle({ build: false }), 'cli');
  handOver(nodePath(), ['--disable-warning=ExperimentalWarning', cli, ...process.argv.slice(2)], process.env);
} else {
  process.stderr.write('marquee: run npm start once, it installs what is missing\n');
  process.exitCode = 1;
}
