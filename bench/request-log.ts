import { readdir, readFile } from 'node:fs/promises';
import autocannon from 'autocannon';
import { createPartner } from '../test/harness/partner.ts';
import {
  headersOf,
  OWNER_KEY,
  type RunningPlatform,
  startPlatform,
  unlimitedHeaders,
} from '../test/harness/platform.ts';
import { median, report } from './support/report.ts';

/**
 * What the request log costs: the same build with it and without it, each on a database of its own, and both under
 * load at once, so that what else the machine does hits both. The median of the rounds counts. The CPU is that of
 * the whole process tree, PostgreSQL included.
 */
const ROUNDS = 5;
/** As long as successes are counted for: the first of them are dearer than the others. */
const SECONDS = 10;
const CONNECTIONS = 16;
/** What a VIP account may have, but for a few. */
const KEYS = 180;
const TICKS_PER_SECOND = 100;

interface Side {
  platform: RunningPlatform;
  unlimited: Record<string, string>;
  stream: string;
  keys: Record<string, string>[];
}

interface Figures {
  perSecond: number;
  cpuMs: number;
}

/** Of a process and all below it. */
async function treeCpuSeconds(root: number): Promise<number> {
  const parents = new Map<number, number>();
  const used = new Map<number, number>();
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const stat = await readFile(`/proc/${entry}/stat`, 'utf8').catch(() => null);
    if (stat === null) continue;
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    parents.set(Number(entry), Number(fields[1]));
    used.set(Number(entry), (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND);
  }
  const isBelow = (pid: number | undefined): boolean =>
    pid !== undefined && (pid === root || isBelow(parents.get(pid)));
  return [...used].reduce((sum, [pid, seconds]) => (isBelow(pid) ? sum + seconds : sum), 0);
}

async function open(isOn: boolean): Promise<Side> {
  const platform = await startPlatform({
    environment: { ROLES: 'api', LOG_LEVEL: 'warn', REQUEST_LOG: String(isOn) },
  });
  const partner = createPartner(platform);
  const { id: stream } = await partner.createStream();
  const keys: Record<string, string>[] = [];
  for (let n = 0; n < KEYS; n++) {
    const { data } = await partner.call('POST', '/me/api-keys', { name: `Key ${n}` });
    keys.push(headersOf(String(Object(data).key ?? OWNER_KEY)));
  }
  return { platform, stream, keys, unlimited: await unlimitedHeaders(platform) };
}

type Load = (side: Side) => Pick<autocannon.Options, 'url' | 'headers' | 'requests'>;

async function run({ platform, ...side }: Side, load: Load): Promise<Figures> {
  const pid = platform.process.pid ?? 0;
  const before = await treeCpuSeconds(pid);
  const result = await autocannon({
    ...load({ platform, ...side }),
    connections: CONNECTIONS,
    duration: SECONDS,
    // A thread of its own: one for both would be what they share.
    workers: 1,
  });
  const cpu = (await treeCpuSeconds(pid)) - before;
  return { perSecond: result.requests.average, cpuMs: (cpu * 1000) / result.requests.total };
}

async function compare(name: string, [on, off]: readonly [Side, Side], load: Load): Promise<void> {
  const rounds: { on: Figures; off: Figures }[] = [];
  for (let round = -1; round < ROUNDS; round++) {
    const [withLog, without] = await Promise.all([run(on, load), run(off, load)]);
    // The first round warms up.
    if (round >= 0) rounds.push({ on: withLog, off: without });
  }
  const of = (ratio: (round: { on: Figures; off: Figures }) => number) => median(rounds.map(ratio));
  const show = (what: string, unit: string, target: string, value: number) =>
    report({ name: `${name}: ${what}`, value, unit, target });
  show(
    'requests/s',
    'with / without the log',
    '>= 0.97',
    of(({ on, off }) => on.perSecond / off.perSecond),
  );
  show(
    'CPU a request',
    'with / without the log',
    '<= 1.03',
    of(({ on, off }) => on.cpuMs / off.cpuMs),
  );
  show(
    'without the log',
    'requests/s',
    '>= 0',
    of(({ off }) => off.perSecond),
  );
  show(
    'CPU without the log',
    'ms a request',
    '>= 0',
    of(({ off }) => off.cpuMs),
  );
}

const on = await open(true);
const off = await open(false);
try {
  const sides = [on, off] as const;
  await compare('reads of one key', sides, ({ platform, stream, unlimited }) => ({
    url: `${platform.api}/streams/${stream}`,
    headers: unlimited,
  }));
  await compare(`reads of ${KEYS} keys`, sides, ({ platform, stream, keys }) => ({
    url: `${platform.api}/streams/${stream}`,
    requests: keys.map((headers) => ({ headers })),
  }));
  await compare('errors of one key', sides, ({ platform, unlimited }) => ({
    url: `${platform.api}/streams/none`,
    headers: unlimited,
  }));
} finally {
  await on.platform.stop();
  await off.platform.stop();
}
