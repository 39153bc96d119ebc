/**
 * Measures several media processes: the CPU of the first process, which hands connections over, and of all
 * media processes, with ten publishers of 1080p60 at 6 Mbps, against one media process in the same run.
 */
import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTestDatabase } from '../test/harness/database.ts';
import { createPartner, type Partner } from '../test/harness/partner.ts';
import { startPlatform } from '../test/harness/platform.ts';
import { childrenOf } from '../test/harness/processes.ts';
import { RtmpClient } from '../test/rtmp/client.ts';
import { ownSeconds } from './support/processes.ts';
import { median, report } from './support/report.ts';
import { encodeSource, end, ffmpeg } from './support/rtmp-engine.ts';

const PUBLISHERS = 10;
const WARM_MS = 3000;
const WINDOW_MS = 8000;
const HANDSHAKES = 200;
const ROUNDS = 3;

const database = await createTestDatabase({ pool: 1 });
const shared = { DATABASE_URL: database.url, SECRET_KEY: '0d'.repeat(32), LIVE_MAX_RUNGS: '0' };

interface Load {
  /** Percent of a core that the first process uses. */
  first: number;
  /** Percent of a core that the media processes use. */
  media: number;
  /** Milliseconds from a connection to its RTMP handshake. */
  handshakeMs: number;
}

/** Measures a node with that number of media processes. */
async function measure(processes: number, keys: readonly string[], source: string): Promise<Load> {
  const node = await startPlatform({
    environment: { ...shared, ROLES: 'media', MEDIA_PROCESSES: String(processes) },
  });
  const pid = node.process.pid ?? -1;
  const encoders: ChildProcess[] = [];
  try {
    const times: number[] = [];
    for (let count = 0; count < HANDSHAKES; count += 1) {
      const begun = performance.now();
      const client = await RtmpClient.handshaken(node.rtmpPort);
      times.push(performance.now() - begun);
      client.destroy();
      await client.closed;
    }
    for (const key of keys) {
      const url = `rtmp://127.0.0.1:${node.rtmpPort}/live/${key}`;
      encoders.push(ffmpeg(`-re -stream_loop -1 -i ${source} -c copy -f flv ${url}`));
    }
    await sleep(WARM_MS);
    const media = childrenOf(pid, '/media.');
    const used = () => ({
      first: ownSeconds(pid),
      media: media.reduce((sum, child) => sum + ownSeconds(child), 0),
    });
    const before = used();
    const begun = performance.now();
    await sleep(WINDOW_MS);
    const after = used();
    const seconds = (performance.now() - begun) / 1000;
    const gone = encoders.filter(({ exitCode }) => exitCode !== null).length;
    if (gone > 0) throw new Error(`${gone} publishers ended early`);
    return {
      first: ((after.first - before.first) / seconds) * 100,
      media: ((after.media - before.media) / seconds) * 100,
      handshakeMs: median(times),
    };
  } finally {
    await Promise.all(encoders.map(end));
    await node.stop();
  }
}

async function createKeys(partner: Partner): Promise<string[]> {
  const keys: string[] = [];
  for (let count = 0; count < PUBLISHERS; count += 1) keys.push((await partner.createStream()).streamKey);
  return keys;
}

const dir = await mkdtemp(join(tmpdir(), 'bench-media-processes-'));
const api = await startPlatform({ environment: { ...shared, ROLES: 'api,worker' } });
try {
  const source = join(dir, 'source.flv');
  encodeSource(source);
  const keys = await createKeys(createPartner(api));
  const one: Load[] = [];
  const two: Load[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    one.push(await measure(1, keys, source));
    two.push(await measure(2, keys, source));
  }
  const of = (loads: Load[], name: keyof Load) => median(loads.map((load) => load[name]));
  const name = `${PUBLISHERS} publishers of 1080p60 at 6 Mbps`;
  const added = of(two, 'first') - of(one, 'first');
  report({
    name: `${name}: hand-over in the first process`,
    value: added,
    unit: '% of a core',
    target: '<= 1',
  });
  for (const [count, loads] of [
    [1, one],
    [2, two],
  ] as const) {
    const value = of(loads, 'media');
    report({ name: `${name}: ${count} media processes`, value, unit: '% of a core', target: '>= 0' });
    const handshake = of(loads, 'handshakeMs');
    report({
      name: `RTMP handshake, ${count} media processes`,
      value: handshake,
      unit: 'ms',
      target: '<= 10',
    });
  }
} finally {
  await api.stop();
  await database.close();
  await rm(dir, { recursive: true, force: true });
}
