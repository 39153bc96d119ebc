import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startTestApp, type TestApp } from '../test/harness/app.ts';
import { headersOf } from '../test/harness/platform.ts';
import { waitFor } from '../test/harness/wait-for.ts';
import { median, report } from './support/report.ts';

/**
 * Measures the overhead of the request log: one server under steady load, with the log on and off in turns of
 * a few seconds, so that other load on the machine affects both; the median of the turns counts. CPU is that
 * of the server and of its database sessions. It takes less than three minutes.
 */
const TURNS = 8;
const TURN_MS = 2000;
/** Delay after a switch until batches are written in the new state. */
const SETTLE_MS = 1200;
const CONNECTIONS = 32;
const KEYS = 500;
const TICKS_PER_SECOND = 100;
const UNLIMITED = 2_000_000_000;

interface Figures {
  requests: number;
  cpuMs: number;
  seconds: number;
}

const switched = { isOn: true, requests: 0 };

/** Every answered request passes through here, recorded or not. */
function takeSwitch({ container: { requestLog } }: TestApp): void {
  const { note } = requestLog;
  requestLog.note = (request) => {
    switched.requests += 1;
    if (switched.isOn) note(request);
  };
}

/** Returns the CPU time of this process, which runs the server, and of its database sessions. */
async function cpuMs({ container: { sql } }: TestApp): Promise<number> {
  const sessions = await sql<{ pid: number }[]>`
    select pid from pg_stat_activity where datname = current_database() and backend_type = 'client backend'`;
  let ticks = 0;
  for (const { pid } of sessions) {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    ticks += Number(fields[11] ?? 0) + Number(fields[12] ?? 0);
  }
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000 + (ticks * 1000) / TICKS_PER_SECOND;
}

async function turn(app: TestApp, isOn: boolean): Promise<Figures> {
  switched.isOn = isOn;
  await sleep(SETTLE_MS);
  const begun = { cpu: await cpuMs(app), at: performance.now(), requests: switched.requests };
  await sleep(TURN_MS);
  const requests = switched.requests - begun.requests;
  if (requests === 0) throw new Error(`no request was answered in ${TURN_MS} ms`);
  return {
    cpuMs: (await cpuMs(app)) - begun.cpu,
    seconds: (performance.now() - begun.at) / 1000,
    requests,
  };
}

/** Milliseconds of CPU, and requests a second. */
const cost = ({ cpuMs: used, requests }: Figures) => used / requests;
const speed = ({ requests, seconds }: Figures) => requests / seconds;

async function compare(app: TestApp, name: string, url: string, keys: readonly string[]): Promise<void> {
  const load: ChildProcess = fork(join(import.meta.dirname, 'support/load.ts'));
  const ended = once(load, 'exit');
  load.send({ url, headers: keys.map(headersOf), connections: CONNECTIONS });
  const turns: { on: Figures; off: Figures }[] = [];
  try {
    const before = switched.requests;
    await waitFor(() => switched.requests > before, { timeoutMs: 30_000, message: 'the first answer' });
    await turn(app, false);
    for (let n = 0; n < TURNS; n++) turns.push({ on: await turn(app, true), off: await turn(app, false) });
  } finally {
    if (load.exitCode !== null) process.stderr.write(`the load has ended with ${load.exitCode}\n`);
    load.kill();
    // Its last requests are none of the next comparison.
    await ended;
  }
  const figure = (
    what: string,
    unit: string,
    target: string,
    of: (pair: { on: Figures; off: Figures }) => number,
  ) => report({ name: `${name}: ${what}`, value: median(turns.map(of)), unit, target });
  const ratio = 'with / without the log';
  figure('requests/s', ratio, '>= 0.97', ({ on, off }) => speed(on) / speed(off));
  figure('CPU a request', ratio, '<= 1.03', ({ on, off }) => cost(on) / cost(off));
  figure('without the log', 'requests/s', '>= 0', ({ off }) => speed(off));
  figure('without the log', 'ms of CPU a request', '>= 0', ({ off }) => cost(off));
}

const app = await startTestApp();
try {
  takeSwitch(app);
  const account = await app.createAccount();
  const keys: string[] = [];
  for (let n = 0; n < KEYS; n++) {
    keys.push((await app.createKey({ account, rateLimitPerMinute: UNLIMITED })).key);
  }
  const [key = ''] = keys;
  const made = await app.request('POST', '/streams', { key, body: { title: 'A stream' } });
  const stream = `${app.url}/api/v1/streams/${made.string('data.id')}`;
  await compare(app, 'reads of one key', stream, [key]);
  await compare(app, `reads of ${KEYS} keys`, stream, keys);
  await compare(app, 'errors of one key', `${app.url}/api/v1/streams/none`, [key]);
} finally {
  await app.close();
}
