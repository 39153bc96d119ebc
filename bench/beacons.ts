import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { type RunningPlatform, startPlatform, unlimitedHeaders } from '../test/harness/platform.ts';
import { waitFor } from '../test/harness/wait-for.ts';
import type { LoadOptions } from './support/beacon-load.ts';
import { processorSeconds } from './support/processes.ts';
import { median, report } from './support/report.ts';

/**
 * Measures the cost of player beacons for one api process: beacons per second, the processor time of each
 * including PostgreSQL, and the effect of a steady rate on other requests, in turns with and without. The
 * viewers run in a separate process, each with its own IP address.
 *
 * Arguments: viewers (6,000), beacons a second of the steady rate (400, of 6,000 viewers).
 */
const VIEWERS = Number(process.argv[2] ?? 6000);
const RATE = Number(process.argv[3] ?? Math.round(VIEWERS / 15));
const TURNS = 10;
const TURN_MS = 2000;
const FULL_TURNS = 5;
const PAGES_AT_ONCE = 16;

const agent = new Agent({ connections: PAGES_AT_ONCE });
type Headers = Record<string, string>;

async function call(url: string, headers: Headers, body?: object): Promise<string> {
  const method = body === undefined ? 'GET' : 'POST';
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const answer = await request(url, { dispatcher: agent, method, headers, ...sent });
  const text = await answer.body.text();
  if (answer.statusCode >= 300) throw new Error(`${url}: ${text}`);
  return text;
}

/** Returns the sessions that the pages of a stream issue to the viewers. */
async function sessionsOf({ url }: RunningPlatform, id: string): Promise<string[]> {
  const sessions: string[] = [];
  const visit = async () => {
    while (sessions.length < VIEWERS) {
      const page = await call(`${url}/embed/${id}`, {});
      sessions.push(/ session="([^"]*)"/.exec(page)?.[1] ?? '');
    }
  };
  await Promise.all(Array.from({ length: PAGES_AT_ONCE }, visit));
  return sessions.slice(0, VIEWERS);
}

/** Starts the crowd, whose send rate can be set. @returns the current number of responses. */
function crowdOf(port: number, sessions: string[]) {
  const load = fork(join(import.meta.dirname, 'support/beacon-load.ts'));
  const tell = (order: LoadOptions) => void load.send(order);
  tell({ port, sessions });
  return {
    load,
    async sends(rate: number | null): Promise<number> {
      tell({ rate });
      const [answered] = await once(load, 'message');
      return Number(answered);
    },
  };
}

/** Measures one client that requests a stream sequentially. */
async function readP50(url: string, headers: Headers): Promise<number> {
  const times: number[] = [];
  for (const until = performance.now() + TURN_MS; performance.now() < until; ) {
    const begun = performance.now();
    await call(url, headers);
    times.push(performance.now() - begun);
  }
  return median(times);
}

async function measure(platform: RunningPlatform): Promise<void> {
  const headers = await unlimitedHeaders(platform);
  const made = JSON.parse(await call(`${platform.api}/streams`, headers, { title: 'x' }));
  const id = String(made.data.id);
  const stream = `${platform.api}/streams/${id}`;
  await call(`${stream}/start`, headers, {});
  const crowd = crowdOf(platform.port, await sessionsOf(platform, id));
  try {
    await readP50(stream, headers);
    const turns: { without: number; beside: number }[] = [];
    for (let turn = 0; turn < TURNS; turn++) {
      await crowd.sends(0);
      await sleep(500);
      const without = await readP50(stream, headers);
      await crowd.sends(RATE);
      await sleep(500);
      turns.push({ without, beside: await readP50(stream, headers) });
    }
    const full: { rate: number; microseconds: number }[] = [];
    for (let turn = 0; turn < FULL_TURNS; turn++) {
      const begun = {
        answered: await crowd.sends(null),
        at: performance.now(),
        cpu: processorSeconds(platform.process.pid ?? 0),
      };
      await sleep(TURN_MS);
      const beacons = (await crowd.sends(0)) - begun.answered;
      // Until all of them are written.
      await sleep(TURN_MS);
      const seconds = TURN_MS / 1000;
      const cpu = processorSeconds(platform.process.pid ?? 0) - begun.cpu;
      full.push({ rate: beacons / seconds, microseconds: (cpu * 1e6) / beacons });
    }
    const viewersOf = async () => Number(JSON.parse(await call(stream, headers)).data.viewerCount);
    await waitFor(async () => (await viewersOf()) >= VIEWERS, { timeoutMs: 20_000, message: 'all viewers' });
    const figure = (name: string, value: number, unit: string, target: string) =>
      report({ name, value, unit, target });
    const beside = `beside ${RATE} beacons/s`;
    figure(`p50 of GET /streams/{id}`, median(turns.map((turn) => turn.without)), 'ms', '>= 0');
    figure(`p50 of GET /streams/{id} ${beside}`, median(turns.map((turn) => turn.beside)), 'ms', '>= 0');
    const ratio = median(turns.map((turn) => turn.beside / turn.without));
    figure(`p50 of GET /streams/{id} ${beside}`, ratio, 'of the p50 without them', '<= 1.2');
    figure('beacons that one process takes', median(full.map(({ rate }) => rate)), '1/s', '>= 1000');
    const microseconds = median(full.map((turn) => turn.microseconds));
    figure('processor time of a beacon, with PostgreSQL', microseconds, 'microseconds', '<= 1000');
  } finally {
    crowd.load.kill();
  }
}

const platform = await startPlatform({ environment: { ROLES: 'api', TRUST_PROXY: '1', LOG_LEVEL: 'warn' } });
try {
  await measure(platform);
} finally {
  await platform.stop();
  await agent.destroy();
}
