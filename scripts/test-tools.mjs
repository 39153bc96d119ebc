/**
 * Installs programs used by tests into `.cache/peers`; some need Go, Python or Debian. Skips those already
 * installed.
 */

import { buildPeer, PEERS } from './bootstrap/test-tools.mjs';

const names = process.argv.slice(2);
for (const name of names.length === 0 ? Object.keys(PEERS) : names) {
  const lack = Object.hasOwn(PEERS, name) ? buildPeer(name, { timeoutMs: 900_000 }) : 'unknown program';
  process.stdout.write(`${name}: ${lack ?? 'ready'}\n`);
  if (lack !== null) process.exitCode = 1;
}
