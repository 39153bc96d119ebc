/**
 * Gets programs that tests talk to into `.cache/peers`; some need Go, Python or Debian. Does nothing for those that are there.
 *
 *   node scripts/test-tools.mjs [s3 | livekit | oasdiff | openapi-python-client | schemathesis | ffmpeg-current | stripe-mock | pocketsphinx | obs-whip]
 */

import { buildPeer, PEERS } from './bootstrap/test-tools.mjs';

const names = process.argv.slice(2);
for (const name of names.length === 0 ? Object.keys(PEERS) : names) {
  const lack = Object.hasOwn(PEERS, name) ? buildPeer(name, { timeoutMs: 900_000 }) : 'there is no such peer';
  process.stdout.write(`${name}: ${lack ?? 'ready'}\n`);
  if (lack !== null) process.exitCode = 1;
}
