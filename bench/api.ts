import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import Type from 'typebox';
import Value from 'typebox/value';
import { readEmbeddedUrl } from '../src/platform/db/embedded.ts';
import { openDatabase } from '../src/platform/db/index.ts';
import { createPartner } from '../test/harness/partner.ts';
import { type RunningPlatform, startPlatform, unlimitedHeaders } from '../test/harness/platform.ts';
import { insertReadyVideo } from '../test/harness/videos.ts';
import { hasWrk, sendLoad } from './support/generator.ts';
import { busySeconds, processorSeconds } from './support/processes.ts';
import { isQuick, median, report } from './support/report.ts';

/**
 * Measures reads through the whole request chain against a bare Fastify route that sends the same bytes: one
 * stream, one video, and lists of 20. Rounds are interleaved; the median counts. A round in which the bare
 * server was not fully busy measured its client, and is discarded. The processor time is that of all
 * processes of the platform with PostgreSQL: unlike the requests per second it is hardly affected by other
 * load.
 */
const ROUNDS = isQuick ? 3 : 5;
const SECONDS = isQuick ? 2 : 5;
const CONNECTIONS = 16;
const ROWS = 20;
/** More pages than concurrent requests, because identical concurrent reads are shared. */
const PAGES = 100;
/** Minimum share of time that the server is busy, so that the server is the bottleneck. */
const BUSY = 0.85;

interface Side {
  url: string;
  /** URLs with the same response, requested in turn. */
  inTurn?: readonly string[] | undefined;
  process: ChildProcess;
}

interface Measured {
  /** Requests a second. */
  speed: number;
  /** Microseconds of a processor for each request. */
  processor: number;
  /** Share of time that the main thread ran or was runnable. */
  busy: number;
}

async function measure({ url, inTurn, process: { pid = 0 } }: Side, seconds = SECONDS): Promise<Measured> {
  const before = { processor: processorSeconds(pid), busy: busySeconds(pid) };
  const load = {
    url,
    headers,
    connections: CONNECTIONS,
    seconds,
    ...(inTurn === undefined ? {} : { inTurn }),
  };
  const { requests, seconds: took } = await sendLoad(load);
  const processor = processorSeconds(pid) - before.processor;
  const busy = busySeconds(pid) - before.busy;
  return { speed: requests / took, processor: (processor / requests) * 1e6, busy: busy / took };
}

async function startBare(payload: string): Promise<Side> {
  const child = fork(join(import.meta.dirname, 'support/bare-server.ts'), [payload]);
  const [address] = await once(child, 'message');
  return { process: child, url: `${address}/streams/x` };
}

interface Case {
  name: string;
  url: string;
  inTurn?: readonly string[];
  /** Target share of the bare route's requests per second. */
  target: number;
}

async function compare({ name, url, inTurn, target }: Case): Promise<void> {
  const bare = await startBare(await (await fetch(url, { headers })).text());
  const full = { url, inTurn, process: platform.process };
  const rounds: { base: Measured; full: Measured }[] = [];
  for (const side of [bare, full]) await measure(side, 2);
  for (let round = 0; round < ROUNDS; round++) {
    const base = await measure(bare);
    const one = { base, full: await measure(full) };
    if (base.busy >= BUSY) rounds.push(one);
    else process.stderr.write(`${name}: the bare route was busy for ${base.busy.toFixed(2)} of a round\n`);
  }
  bare.process.kill();
  if (rounds.length === 0) {
    process.stderr.write(`${name}: no round counts, the machine is too busy\n`);
    return;
  }
  const of = (value: (round: (typeof rounds)[number]) => number) => median(rounds.map(value));
  const unit = 'ratio to a bare Fastify route';
  report({ name, value: of(({ base, full }) => full.speed / base.speed), unit, target: `>= ${target}` });
  report({
    name: `${name}, processor`,
    value: of(({ base, full }) => base.processor / full.processor),
    unit,
    target: `>= ${target}`,
  });
  const absolute = of(({ full }) => full.speed);
  report({ name: `${name}, absolute`, value: absolute, unit: 'requests/s', target: '>= 0' });
  report({
    name: `${name}, processor a request`,
    value: of(({ full }) => full.processor),
    unit: 'µs',
    target: '<= 100000',
  });
}

/** Returns URLs of whole pages that each begin at another row. */
async function pagesOf(list: string): Promise<string[]> {
  const pages = [list];
  for (let cursor = ''; pages.length < PAGES; pages.push(`${list}${cursor}`)) {
    const one = await fetch(`${list.replace(`limit=${ROWS}`, 'limit=1')}${cursor}`, { headers });
    const { pagination } = Value.Parse(Page, await one.json());
    cursor = `&cursor=${pagination.nextCursor}`;
  }
  return pages;
}

const Page = Type.Object({ pagination: Type.Object({ nextCursor: Type.String() }) });

/** Streams, the last one of which is returned, and videos with renditions. */
async function fill(platform: RunningPlatform): Promise<{ stream: string; video: string }> {
  const url = readEmbeddedUrl(platform.dataDir);
  if (url === null) throw new Error('the platform has no database');
  const partner = createPartner(platform);
  const ids: string[] = [];
  for (let index = 0; index < ROWS + PAGES; index++) ids.push((await partner.createStream()).id);
  const stream = ids.at(-1) ?? '';
  const database = openDatabase({ url, pool: 1, name: 'bench' });
  try {
    const row = database.db.selectFrom('stream').select('workspace_id').where('id', '=', stream);
    const { workspace_id: workspace } = await row.executeTakeFirstOrThrow();
    const videos: string[] = [];
    for (let index = 0; index < ROWS + PAGES; index++)
      videos.push(await insertReadyVideo(database.db, workspace, { title: `Video ${index}` }));
    return { stream, video: videos.at(-1) ?? '' };
  } finally {
    await database.close();
  }
}

if (!hasWrk) process.stderr.write('wrk is not installed: its place is taken by clients in JavaScript\n');
const platform = await startPlatform({ environment: { ROLES: 'api' } });
const headers = await unlimitedHeaders(platform);
try {
  const { stream, video } = await fill(platform);
  const { api } = platform;
  await compare({ name: 'GET /streams/{id}', url: `${api}/streams/${stream}`, target: 0.25 });
  await compare({ name: 'GET /videos/{id}', url: `${api}/videos/${video}`, target: 0.25 });
  await compare({ name: 'GET /streams, 20 rows', url: `${api}/streams?limit=${ROWS}`, target: 0.15 });
  await compare({ name: 'GET /videos, 20 rows', url: `${api}/videos?limit=${ROWS}`, target: 0.15 });
  for (const path of ['streams', 'videos']) {
    const name = `GET /${path}, 20 rows, each request another page`;
    const inTurn = await pagesOf(`${api}/${path}?limit=${ROWS}`);
    await compare({ name, url: inTurn[0] ?? '', inTurn, target: 0.15 });
  }
} finally {
  await platform.stop();
}
