import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { Agent, request } from 'undici';
import type { Work } from '../../scripts/capacity/schemas.ts';
import { readEmbeddedUrl } from '../../src/platform/db/embedded.ts';
import { startHttpsSink } from '../../test/harness/https-sink.ts';
import { createPartner } from '../../test/harness/partner.ts';
import { type RunningPlatform, startPlatform, unlimitedHeaders } from '../../test/harness/platform.ts';
import { waitFor } from '../../test/harness/wait-for.ts';
import type { LoadOptions } from './beacon-load.ts';
import { splitSeconds } from './processes.ts';
import { encodeSource, end, ffmpeg, type RtmpServer, startEngine } from './rtmp-engine.ts';

const STREAMS = 100;
/** Players that report. Half of the measured reports are the first of a player, which cost more. */
const VIEWERS = 3000;
const TICK_MS = 10;
/** Length of the uploaded video. */
const VIDEO_SEC = 20;

/** Resources used in a window. */
export interface Used {
  seconds: number;
  programSec: number;
  databaseSec: number;
  commits: number;
  walBytes: number;
  databaseBytes: number;
}

/** Work at a steady rate. */
export interface Load {
  /** Ends the work. @returns the units done per second. */
  stop(): Promise<number>;
}

/** A platform in its own process tree, and the work whose costs are measured on it. */
export interface CapacityBench {
  platform: RunningPlatform;
  /** @param rate units per second; broadcasts, restreams: how many. Resolves when the rate is reached. */
  start(work: Work, rate: number): Promise<Load>;
  /** Measures what the platform uses in a window. */
  measure(seconds: number): Promise<Used>;
  close(): Promise<void>;
}

/** @param maxRungs renditions that a broadcast gets. */
export async function startCapacityBench(maxRungs: 0 | 2): Promise<CapacityBench> {
  const folder = await mkdtemp(join(tmpdir(), 'marquee-capacity-'));
  const sink = await startHttpsSink();
  const platform = await startPlatform({
    environment: {
      ...{ TRUST_PROXY: '1', LOG_LEVEL: 'warn', ROOMS_ENGINE: 'mesh', LIVE_MAX_RUNGS: String(maxRungs) },
      ...{ WEBHOOK_ALLOW_PRIVATE: '127.0.0.0/8', FETCH_ALLOW_PRIVATE: '127.0.0.0/8' },
      ...{ NODE_EXTRA_CA_CERTS: sink.ca.file, INGEST_MAX_PER_ADDRESS: '200' },
    },
  });
  const url = readEmbeddedUrl(platform.dataDir);
  if (url === null) throw new Error('the platform has no database');
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  const context: Context = {
    ...{ platform, folder, sink, partner: createPartner(platform), http: new Agent({ connections: 32 }) },
    headers: await unlimitedHeaders(platform),
    sources: { flv: join(folder, 'source.flv'), mp4: join(folder, 'source.mp4') },
    live: [],
    destination: null,
  };
  encodeSource(context.sources.flv);
  return {
    platform,
    start: (work, rate) => LOADS[work](context, rate),
    measure: (seconds) => measure(platform, sql, seconds),
    async close() {
      await Promise.all(context.live.map(({ encoder }) => end(encoder)));
      await context.destination?.stop();
      await sql.end();
      await platform.stop();
      await Promise.all([sink.close(), context.http.destroy()]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

interface Context {
  platform: RunningPlatform;
  folder: string;
  sink: Awaited<ReturnType<typeof startHttpsSink>>;
  partner: ReturnType<typeof createPartner>;
  http: Agent;
  headers: Record<string, string>;
  sources: { flv: string; mp4: string };
  /** Broadcasts with their encoders. */
  live: { id: string; encoder: ChildProcess }[];
  /** Receiver of restreams. */
  destination: RtmpServer | null;
}

async function measure(platform: RunningPlatform, sql: postgres.Sql, seconds: number): Promise<Used> {
  const pid = platform.process.pid ?? 0;
  const read = async () => {
    const [row] = await sql<{ commits: string; wal: string; size: string }[]>`
      select xact_commit as commits, pg_current_wal_insert_lsn() - '0/0'::pg_lsn as wal,
        pg_database_size(current_database()) as size
      from pg_stat_database where datname = current_database()`;
    return { ...splitSeconds(pid), atMs: performance.now(), ...row };
  };
  const before = await read();
  await sleep(seconds * 1000);
  const after = await read();
  return {
    seconds: (after.atMs - before.atMs) / 1000,
    programSec: after.program - before.program,
    databaseSec: after.database - before.database,
    commits: Number(after.commits) - Number(before.commits),
    walBytes: Number(after.wal) - Number(before.wal),
    databaseBytes: Number(after.size) - Number(before.size),
  };
}

/** Sends requests evenly spaced, however fast they are answered. */
function paced(rate: number, send: () => Promise<unknown>): Load {
  const startedMs = performance.now();
  const failures: unknown[] = [];
  let [sent, done] = [0, 0];
  const timer = setInterval(() => {
    const due = Math.floor(((performance.now() - startedMs) / 1000) * rate);
    for (; sent < due; sent++) {
      send().then(
        () => {
          done += 1;
        },
        (error: unknown) => failures.push(error),
      );
    }
  }, TICK_MS);
  return {
    async stop() {
      clearInterval(timer);
      const seconds = (performance.now() - startedMs) / 1000;
      await waitFor(() => done + failures.length >= sent, { timeoutMs: 20_000, message: 'all responses' });
      if (failures.length > sent / 100) throw failures[0];
      return done / seconds;
    },
  };
}

/** Requests a URL of the platform and reads the response. @throws {Error} if it is not 2xx. */
async function send({ http, platform }: Context, path: string, headers = {}, body?: object): Promise<string> {
  const { statusCode, body: answer } = await request(platform.url + path, {
    dispatcher: http,
    headers: { 'user-agent': 'player', ...headers },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  });
  const text = Buffer.from(await answer.arrayBuffer()).toString('latin1');
  if (statusCode >= 300) throw new Error(`${path} answered ${statusCode}: ${text.slice(0, 300)}`);
  return text;
}

const LOADS: Readonly<Record<Work, (context: Context, rate: number) => Promise<Load>>> = {
  async read(context, rate) {
    const ids: string[] = [];
    while (ids.length < STREAMS) ids.push((await context.partner.createStream()).id);
    let turn = 0;
    return paced(rate, () => send(context, `/api/v1/streams/${ids[turn++ % STREAMS]}`, context.headers));
  },
  async write(context, rate) {
    return paced(rate, () => send(context, '/api/v1/streams', context.headers, { title: 'A stream' }));
  },
  async livePlaylist(context, rate) {
    const { id } = await firstLive(context);
    return paced(rate, () => send(context, `/live/${id}/src/index.m3u8`));
  },
  async segment(context, rate) {
    const { id } = await firstLive(context);
    let file = '';
    const refresh = async () => {
      const names = [...(await send(context, `/live/${id}/src/index.m3u8`)).matchAll(/^\.\.\/(\S+\.m4s)$/gm)];
      file = names.at(-1)?.[1] ?? '';
    };
    await waitFor(async () => (await refresh().then(() => file)) !== '', { timeoutMs: 20_000 });
    const timer = setInterval(() => void refresh().catch(() => {}), 2000);
    const load = paced(rate, () => send(context, `/live/${id}/${file}`));
    return { stop: () => load.stop().finally(() => clearInterval(timer)) };
  },
  broadcast,
  broadcastWithRungs: broadcast,
  restream,
  viewerFacts,
  videoMinute,
  async delivery(context, rate) {
    const { id } = await context.partner.createWebhook(`${context.sink.url}/hook`, ['stream.created']);
    const before = context.sink.requests.length;
    const startedMs = performance.now();
    const writes = await LOADS.write(context, rate);
    return {
      async stop() {
        const seconds = (performance.now() - startedMs) / 1000;
        await writes.stop();
        await context.partner.call('DELETE', `/me/webhooks/${id}`);
        return (context.sink.requests.length - before) / seconds;
      },
    };
  },
};

async function firstLive(context: Context): Promise<{ id: string }> {
  if (context.live.length === 0) await broadcast(context, 1);
  const [first] = context.live;
  if (first === undefined) throw new Error('nothing is broadcast');
  return first;
}

/** The broadcasts continue until the platform ends: they are part of every later measurement. */
async function broadcast(context: Context, count: number): Promise<Load> {
  const { partner, platform, sources, live } = context;
  const started: { id: string; encoder: ChildProcess }[] = [];
  for (let n = 0; n < count; n++) {
    const { id, streamKey } = await partner.createStream();
    await partner.start(id);
    const url = `rtmp://127.0.0.1:${platform.rtmpPort}/live/${streamKey}`;
    started.push({ id, encoder: ffmpeg(`-re -stream_loop -1 -i ${sources.flv} -c copy -f flv ${url}`) });
  }
  live.push(...started);
  for (const { id } of started) {
    await waitFor(async () => (await partner.stream(id)).hasSignal, { timeoutMs: 30_000, intervalMs: 200 });
  }
  await sleep(8000);
  return {
    async stop() {
      await Promise.all(started.map(({ encoder }) => end(encoder)));
      for (const one of started) {
        live.splice(live.indexOf(one), 1);
        await partner.stop(one.id);
      }
      return count;
    },
  };
}

/** @param count destinations, one of each broadcast. */
async function restream(context: Context, count: number): Promise<Load> {
  const { partner, live } = context;
  context.destination ??= await startEngine();
  const ids: string[] = [];
  for (let n = 0; n < count; n++) {
    const streamId = live[n]?.id ?? '';
    const address = new URL(context.destination.publishUrl(0));
    const targets = [{ url: `rtmp://${address.host}/live`, streamKey: `key-${n}` }];
    const { data } = await partner.call('POST', '/restreams', { streamId, targets });
    ids.push(String(Object(data).id));
  }
  const isActive = async (id: string) =>
    Object((await partner.call('GET', `/restreams/${id}`)).data).status === 'ACTIVE';
  for (const id of ids) await waitFor(() => isActive(id), { timeoutMs: 30_000, intervalMs: 500 });
  await sleep(12_000);
  return {
    async stop() {
      for (const id of ids) await partner.call('DELETE', `/restreams/${id}`);
      return count;
    },
  };
}

async function viewerFacts(context: Context, rate: number): Promise<Load> {
  const { id } = await context.partner.createStream();
  await context.partner.start(id);
  const sessions: string[] = [];
  const visit = async () => {
    while (sessions.length < VIEWERS)
      sessions.push(/ session="([^"]*)"/.exec(await send(context, `/embed/${id}`))?.[1] ?? '');
  };
  await Promise.all(Array.from({ length: 16 }, visit));
  const crowd = fork(join(import.meta.dirname, 'beacon-load.ts'));
  const order = async (message: LoadOptions) => {
    crowd.send(message);
    if ('port' in message) return 0;
    const [answered] = await once(crowd, 'message');
    return Number(answered);
  };
  await order({ port: context.platform.port, sessions });
  const before = await order({ rate });
  const startedMs = performance.now();
  return {
    async stop() {
      const answered = (await order({ rate: 0 })) - before;
      const seconds = (performance.now() - startedMs) / 1000;
      crowd.kill();
      await context.partner.stop(id);
      return answered / seconds;
    },
  };
}

/** Uploads one video after another, until as many minutes have been processed as the rate says. */
async function videoMinute(context: Context, rate: number): Promise<Load> {
  const { partner, sources, headers } = context;
  await waitForExit(
    ffmpeg(
      `-y -f lavfi -i testsrc2=s=1920x1080:r=30 -f lavfi -i sine -t ${VIDEO_SEC} -c:v libx264 -preset ultrafast -pix_fmt yuv420p -b:v 6M -c:a aac ${sources.mp4}`,
    ),
  );
  const file = await readFile(sources.mp4);
  let isOver = false;
  let minutes = 0;
  const startedMs = performance.now();
  const upload = async () => {
    while (!isOver) {
      const made = await partner.createUpload({ filename: 'a.mp4', sizeBytes: file.length });
      const sent = await request(made.uploadUrl, {
        method: 'PUT',
        headers: { ...headers, 'content-type': 'video/mp4' },
        body: file,
      });
      await sent.body.dump();
      await partner.videoWhen(made.videoId, ({ status }) => status === 'READY', 300_000);
      minutes += VIDEO_SEC / 60;
      const dueMs = (minutes / rate) * 1000 - (performance.now() - startedMs);
      if (dueMs > 0 && !isOver) await sleep(dueMs);
    }
  };
  const done = upload();
  return {
    async stop() {
      isOver = true;
      await done;
      return minutes / ((performance.now() - startedMs) / 1000);
    },
  };
}

async function waitForExit(child: ChildProcess): Promise<void> {
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`ffmpeg ended with ${code}`);
}
