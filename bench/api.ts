import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import autocannon from 'autocannon';
import { createPartner } from '../test/harness/partner.ts';
import { startPlatform, unlimitedHeaders } from '../test/harness/platform.ts';
import { median, report } from './support/report.ts';

/**
 * The whole request chain against a bare Fastify route that sends the same payload: authenticated
 * `GET /streams/{id}`, and `GET /streams` with 20 rows. Rounds are interleaved; the median counts.
 */
const ROUNDS = 3;
const SECONDS = 4;
const CONNECTIONS = 32;

async function requestsPerSecond(url: string): Promise<number> {
  const result = await autocannon({ url, headers, connections: CONNECTIONS, duration: SECONDS });
  if (result.non2xx > 0) throw new Error(`${result.non2xx} answers of ${url} were not 2xx`);
  return result.requests.average;
}

function startBare(payload: unknown): Promise<{ child: ChildProcess; address: string }> {
  const child = fork(join(import.meta.dirname, 'support/bare-server.ts'), [JSON.stringify(payload)]);
  return new Promise((resolve) =>
    child.once('message', (address) => resolve({ child, address: String(address) })),
  );
}

async function compare(name: string, url: string, target: string): Promise<void> {
  const payload: unknown = await (await fetch(url, { headers })).json();
  const bare = await startBare(payload);
  const ratios: number[] = [];
  const speeds: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const base = await requestsPerSecond(`${bare.address}/streams/x`);
    const full = await requestsPerSecond(url);
    ratios.push(full / base);
    speeds.push(full);
  }
  bare.child.kill();
  report({ name, value: median(ratios), unit: 'ratio to a bare Fastify route', target });
  report({ name: `${name}, absolute`, value: median(speeds), unit: 'requests/s', target: '>= 0' });
}

const platform = await startPlatform({ environment: { ROLES: 'api' } });
const headers = await unlimitedHeaders(platform);
try {
  const partner = createPartner(platform);
  const ids: string[] = [];
  for (let index = 0; index < 20; index++) ids.push((await partner.createStream()).id);
  await compare('GET /streams/{id} through the whole chain', `${platform.api}/streams/${ids[0]}`, '>= 0.25');
  await compare('GET /streams with 20 rows', `${platform.api}/streams?limit=20`, '>= 0.17');
} finally {
  await platform.stop();
}
