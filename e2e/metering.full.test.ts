import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { findRollupErrors } from '../test/analytics/expected-rollups.ts';
import { makeClip } from '../test/harness/clip.ts';
import { createTestDatabase, type TestDatabase } from '../test/harness/database.ts';
import { type HttpsSink, startHttpsSink } from '../test/harness/https-sink.ts';
import { createPartner, type Partner } from '../test/harness/partner.ts';
import { type RunningPlatform, startPlatform } from '../test/harness/platform.ts';
import { childrenOf } from '../test/harness/processes.ts';
import { waitFor } from '../test/harness/wait-for.ts';
import { connectRoom } from '../test/rooms/client.ts';
import { type Publisher, startPublisher } from '../test/rtmp/publisher.ts';

const ROUNDS = 6;
/** Maximum age of unwritten events: they are written after two seconds, later on a busy machine. */
const UNWRITTEN_MS = 5000;

let dir: string;
let database: TestDatabase;
let sink: HttpsSink;
let platform: RunningPlatform;
let partner: Partner;
let encoder: Publisher | null = null;

before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'marquee-metering-'));
  database = await createTestDatabase({ pool: 2 });
  sink = await startHttpsSink();
  await start();
});
after(async () => {
  await encoder?.stop();
  await platform?.stop();
  await sink?.close();
  await database?.close();
  await rm(dir, { recursive: true, force: true });
});

async function start(): Promise<void> {
  const environment = {
    DATABASE_URL: database.url,
    WEBHOOK_ALLOW_PRIVATE: '127.0.0.0/8',
    NODE_EXTRA_CA_CERTS: sink.ca.file,
    SIGNAL_GRACE_MS: '30000',
  };
  const ports = platform === undefined ? {} : { port: platform.port, rtmpPort: platform.rtmpPort };
  platform = await startPlatform({ environment, dataDir: join(dir, 'data'), ...ports });
  partner = createPartner(platform);
}

/** Kills every process of the platform simultaneously. */
async function kill(): Promise<void> {
  const root = platform.process.pid ?? -1;
  const tree = [root, ...childrenOf(root, '/media.')].flatMap((pid) => [pid, ...childrenOf(pid, '')]);
  for (const pid of new Set(tree)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // Ended with its parent.
    }
  }
  await waitFor(() => platform.process.signalCode !== null);
}

/** Result of a client's request, with its time. */
interface TimedResult {
  at: number;
  amount: number;
}

/** Repeats the request until it is stopped; a failed request is retried. */
async function asking(
  isOver: () => boolean,
  pauseMs: number,
  ask: () => Promise<number>,
): Promise<TimedResult[]> {
  const got: TimedResult[] = [];
  while (!isOver()) {
    const amount = await ask().catch(() => 0);
    if (amount > 0) got.push({ at: performance.now(), amount });
    await sleep(pauseMs);
  }
  return got;
}

const total = (got: readonly TimedResult[]) => got.reduce((sum, { amount }) => sum + amount, 0);

/** Returns the results that no kill may lose: those not received shortly before one. */
const safe = (got: readonly TimedResult[], kills: readonly number[]) =>
  got.filter(({ at }) => !kills.some((killed) => at <= killed && at > killed - UNWRITTEN_MS));

async function sum(query: TemplateStringsArray, ...values: string[]): Promise<number> {
  const [row] = await database.sql<{ amount: number | null }[]>(query, ...values);
  return Number(row?.amount ?? 0);
}

async function upload(clip: Buffer): Promise<string> {
  const { videoId, uploadUrl } = await partner.createUpload({ filename: 'a.mp4', sizeBytes: clip.length });
  const sent = await fetch(uploadUrl, { method: 'PUT', body: new Uint8Array(clip) });
  assert.ok(sent.ok, await sent.text());
  return videoId;
}

function publish(streamKey: string): void {
  encoder?.kill('SIGKILL');
  const url = `rtmp://127.0.0.1:${platform.rtmpPort}/live/${streamKey}`;
  encoder = startPublisher({ url, width: 320, height: 180, fps: 15 });
}

async function comeIn(roomId: string, identity: string): Promise<void> {
  const { data } = await partner.call('POST', `/rooms/${roomId}/tokens`, { identity });
  const client = connectRoom(platform, roomId, [String(Object(data).token)]);
  await client.next('welcome');
}

/** Returns the first segment of a video, as requested by players. */
async function segmentOf(videoId: string): Promise<string> {
  const lineOf = async (address: string) => {
    const text = await (await fetch(address)).text();
    const line = text.split('\n').find((one) => /^[^#].*[.](m3u8|m4s|ts|mp4)/.test(one)) ?? '';
    return new URL(line, address).href;
  };
  const { playbackUrl } = await partner.video(videoId);
  return lineOf(await lineOf(playbackUrl ?? ''));
}

test('repeated kill -9 of the whole program counts nothing twice and loses only the documented events', async () => {
  const path = join(dir, 'clip.mp4');
  await makeClip(path, { seconds: 4, width: 320, height: 180 });
  const clip = await readFile(path);
  await partner.createWebhook(`${sink.url}/hook`, []);
  const stream = await partner.createStream();
  const room = Object((await partner.call('POST', '/rooms', { name: 'Class' })).data).id;
  const videos = [await upload(clip)];
  await partner.videoWhen(videos[0] ?? '', ({ status }) => status === 'READY');
  const segment = await segmentOf(videos[0] ?? '');

  let isOver = false;
  let sentMost = 0;
  const clients = [
    asking(
      () => isOver,
      50,
      async () => {
        let bytes = 0;
        for await (const chunk of (await fetch(segment)).body ?? []) {
          bytes += chunk.length;
          sentMost += chunk.length;
        }
        return bytes;
      },
    ),
    asking(
      () => isOver,
      100,
      async () => Number((await partner.call('POST', '/playlists', { title: 'A' })).status < 300),
    ),
  ] as const;
  const kills: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    publish(stream.streamKey);
    await waitFor(async () => (await partner.stream(stream.id)).hasSignal, { timeoutMs: 20_000 });
    if (round === 0) await partner.start(stream.id);
    await Promise.all([comeIn(room, `a${round}`), comeIn(room, `b${round}`)]);
    if (round % 3 === 0) videos.push(await upload(clip));
    await sleep(UNWRITTEN_MS + 400 * round);
    kills.push(performance.now());
    await kill();
    await start();
  }
  isOver = true;
  const [fetched, asked] = await Promise.all(clients);
  for (const id of videos) await partner.videoWhen(id, ({ status }) => status === 'READY');
  await partner.stop(stream.id);
  await partner.call('POST', `/rooms/${room}/end`);
  await waitFor(async () => (await sum`select count(*) as amount from delivery_job`) === 0, {
    timeoutMs: 60_000,
    message: 'all events to be delivered',
  });
  await platform.stop();

  const { sql } = database;
  const factsOf = (kind: string) => sum`select sum(amount) as amount from usage_event where kind = ${kind}`;
  assert.equal(
    await factsOf('LIVE'),
    await sum`select sum(extract(epoch from broadcast_ended_at - broadcast_started_at) * 1000) as amount
      from stream_session where broadcast_started_at is not null`,
    'stream airtime',
  );
  const most = await sum`select max(ms) as amount from (
    select sum(amount) as ms from usage_event where kind = 'LIVE' group by date_trunc('minute', created_at)) minutes`;
  assert.ok(most <= 60_000, `${most} ms of a minute`);
  assert.equal(await factsOf('BROADCAST'), 1);
  assert.equal(
    await factsOf('ROOM'),
    await sum`select sum(extract(epoch from left_at - joined_at) * 1000) as amount from room_participant`,
    'room attendance',
  );
  assert.equal(await factsOf('DELIVERY'), await sum`select count(*) as amount from delivery_log`, 'attempts');
  assert.equal(
    await factsOf('ENCODE'),
    await sum`select sum(duration_sec * 1000) as amount from video`,
    'videos',
  );
  const [bytes, requests] = [await factsOf('EGRESS'), await factsOf('REQUEST')];
  assert.ok(bytes <= sentMost, `${bytes} of ${sentMost} bytes`);
  assert.ok(bytes >= total(safe(fetched, kills)), `${bytes} of ${total(fetched)} bytes`);
  assert.ok(requests >= total(safe(asked, kills)), `${requests} of ${total(asked)} requests`);
  const counted = await sum`select sum(requests) as amount from usage_request`;
  assert.equal(
    counted,
    await sum`select sum(amount) as amount from usage_event
    where kind = 'REQUEST' and xid < (select next_xid from rollup_state)`,
  );
  assert.deepEqual(await findRollupErrors(sql, 'wsp_'), []);
});
