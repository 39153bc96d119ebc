import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import type { TestAccount } from '../../../../test/harness/factories.ts';
import { jobWorker } from '../../../../test/harness/modules.ts';
import { createEncoderStream } from '../../../../test/streams/encoder-stream.ts';
import { JobDeferredError } from '../../../jobs/job.ts';
import { newId } from '../../../kernel/ids.ts';
import type { IngestSession, RecordingPort } from '../../../media/contract/index.ts';
import { emitRecordingReady } from '../streams/emit.ts';
import { createRecordingReady } from './recording-ready.service.ts';

const clock = new TestClock('2026-11-20T09:00:00.000Z');
let app: TestApp;
let key: string;
let account: TestAccount;
let port: RecordingPort;

before(async () => {
  app = await startTestApp({ clock });
  ({ key, account } = await app.createKey());
  ({ port } = app.container.recordings);
});
after(() => app.close());

type EncoderStream = Awaited<ReturnType<typeof createEncoderStream>>;

const recorded = (settings: object = {}) =>
  createEncoderStream(app, key, {
    title: 'Opening night',
    record: true,
    recordVisibility: 'UNLISTED',
    ...settings,
  });

const sessionOf = async (stream: EncoderStream) => (await stream.sessions()).string('data.0.id');
const videoIdOf = async (stream: EncoderStream) => (await stream.sessions()).at('data.0.recordingVideoId');
const read = async (videoId: unknown) =>
  (await app.request('GET', `/videos/${videoId}`, { key })).assertOk(200);
const wantedFor = async ({ nodeId, sessionId }: IngestSession) =>
  (await port.wanted(nodeId, new Map()))
    .filter((one) => one.publishId === sessionId && one.isRefused !== true)
    .map((one) => one.recordingId);

/** Opens a part of a recorder; `close` closes it with the given file. */
async function openPart(stream: EncoderStream, hasMedia = true) {
  const part = { id: newId('rec'), recordingId: await sessionOf(stream) };
  const storeKey = await port.opened('nod_a', part, hasMedia);
  return {
    part,
    storeKey,
    async close(content: Buffer | string | null = 'media') {
      assert.ok(storeKey);
      const { store } = app.container;
      await port.closed(part.id, content === null ? null : await store.put(storeKey, content, 'video/mp4'));
    },
  };
}

async function jobsOf(sessionId: string): Promise<number> {
  const [row] = await app.container.sql`
    select count(*)::integer as count from job where name = 'video.recording' and singleton_key = ${sessionId}`;
  return row?.count;
}

const runJob = (sessionId: string, isLast = false) =>
  jobWorker(app.container, 'video.recording').run({
    id: newId('rec'),
    payload: { recordingId: sessionId },
    attempt: 1,
    isLast,
    lost: 0,
    signal: new AbortController().signal,
    confirm: async () => {},
  });

describe('scope of a recording', () => {
  test('a broadcast with a signal is recorded from its start to its stop', async () => {
    const stream = await recorded();
    const publish = await stream.connect();
    assert.deepEqual(await wantedFor(publish), [], 'a signal alone is not');
    await stream.act('start');
    assert.deepEqual(await wantedFor(publish), [await sessionOf(stream)]);
    await stream.act('stop');
    assert.deepEqual(await wantedFor(publish), []);
  });

  test('nothing is recorded unless recording is enabled, which may happen during the broadcast', async () => {
    const stream = await recorded({ record: false });
    const publish = await stream.connect();
    await stream.act('start');
    assert.deepEqual(await wantedFor(publish), []);
    const set = (record: boolean) => app.request('PATCH', `/streams/${stream.id}`, { key, body: { record } });
    (await set(true)).assertOk(200);
    assert.deepEqual(await wantedFor(publish), [await sessionOf(stream)]);
    (await set(false)).assertOk(200);
    assert.deepEqual(await wantedFor(publish), []);
    await stream.act('stop');
  });

  test('a start before the signal, autoStart and a reconnecting encoder are recorded', async () => {
    const stream = await recorded({ autoStart: true });
    const first = await stream.connect();
    const sessionId = await sessionOf(stream);
    assert.deepEqual(await wantedFor(first), [sessionId]);
    await stream.end(first, 'unpublish');
    assert.deepEqual(await wantedFor(first), []);
    clock.advance(60_000);
    assert.deepEqual(await wantedFor(await stream.connect()), [sessionId], 'the same recording');
    await stream.act('stop');
  });

  test('nothing is recorded when the storage is full at the start, and the session shows the reason', async () => {
    const stream = await recorded();
    const publish = await stream.connect();
    await fillStorage(2 ** 50);
    await stream.act('start');
    assert.deepEqual(await wantedFor(publish), []);
    await fillStorage(0);
    assert.deepEqual(await wantedFor(publish), [], 'decided at the start');
    await stream.act('stop');
    assert.equal((await stream.sessions()).at('data.0.error'), 'QUOTA_EXCEEDED');
  });
});

async function fillStorage(bytes: number): Promise<void> {
  await app.container.sql`update workspace set storage_bytes = ${bytes} where account_id = ${account.id}`;
}

describe('the video', () => {
  test('a video exists after the stop, gets its original with the last part, and counts toward storage', async () => {
    const tier = await app.request('POST', '/tiers', {
      key,
      body: { name: 'Supporter', priceCents: 500, interval: 'MONTH' },
    });
    const tierIds = [tier.assertOk(201).string('data.id')];
    const stream = await recorded({ tierIds });
    const before = await storageUsed();
    await stream.connect();
    await stream.act('start');
    const sessionId = await sessionOf(stream);
    const part = await openPart(stream);
    assert.equal(await videoIdOf(stream), null, 'none during the broadcast');
    await stream.act('stop');
    const videoId = await videoIdOf(stream);
    const waiting = await read(videoId);
    assert.deepEqual(
      ['title', 'status', 'source', 'visibility', 'streamId'].map((name) => waiting.at(`data.${name}`)),
      ['Opening night', 'UPLOADING', 'RECORDING', 'UNLISTED', stream.id],
    );
    assert.deepEqual(waiting.at('data.tierIds'), tierIds);
    assert.equal(await jobsOf(sessionId), 0, 'a part is open');
    await part.close();
    await part.close();
    assert.equal(await jobsOf(sessionId), 1);
    await runJob(sessionId);
    await runJob(sessionId);
    assert.equal((await read(videoId)).at('data.status'), 'QUEUED');
    assert.equal((await storageUsed()) - before, 'media'.length);
    const [row] = await app.container.sql`select original_key from video where id = ${String(videoId)}`;
    assert.equal(row?.original_key, part.storeKey);
    assert.equal((await openPart(stream)).storeKey, null, 'no part is taken any more');
  });

  test('creates no video when nothing was recorded', async () => {
    const stream = await recorded();
    await stream.connect();
    await stream.act('start');
    const part = await openPart(stream, false);
    await stream.act('stop');
    await part.close(null);
    assert.equal(await videoIdOf(stream), null);
    assert.equal(await jobsOf(await sessionOf(stream)), 0);
  });

  test('a video follows when a part turns out to contain media after the stop', async () => {
    const stream = await recorded();
    await stream.connect();
    await stream.act('start');
    const part = await openPart(stream, false);
    await stream.act('stop');
    assert.equal(await videoIdOf(stream), null);
    await part.close();
    assert.notEqual(await videoIdOf(stream), null);
    assert.equal(await jobsOf(await sessionOf(stream)), 1);
  });

  test('a broadcast whose signal was lost beyond the reconnect window has one video per session', async () => {
    const stream = await recorded({ reconnectWindowSec: 30 });
    const first = await stream.connect();
    await stream.act('start');
    await (await openPart(stream)).close();
    await stream.end(first, 'unpublish');
    clock.advance(31_000);
    await stream.connect();
    await (await openPart(stream)).close();
    assert.equal((await stream.sessions()).at('data.0.recordingVideoId'), null);
    assert.notEqual((await stream.sessions()).at('data.1.recordingVideoId'), null);
    await stream.act('stop');
    assert.notEqual(await videoIdOf(stream), null);
  });

  test('a deleted video is no longer shown with its session', async () => {
    const stream = await recorded();
    await stream.connect();
    await stream.act('start');
    const part = await openPart(stream);
    await stream.act('stop');
    const videoId = await videoIdOf(stream);
    (await app.request('DELETE', `/videos/${videoId}`, { key })).assertOk(200);
    assert.equal(await videoIdOf(stream), null);
    await part.close();
    const before = await storageUsed();
    await runJob(await sessionOf(stream));
    assert.equal(await storageUsed(), before, 'its file counts until it is removed');

    const { recordings, store, sql } = app.container;
    await recordings.cleanUp();
    assert.ok(await store.head(part.storeKey ?? ''), 'kept as long as the video may be restored');
    await sql`update video set purged_at = now() where id = ${String(videoId)}`;
    await recordings.cleanUp();
    assert.equal(await store.head(part.storeKey ?? ''), null);
    assert.equal(await storageUsed(), before - 'media'.length);
  });
});

async function storageUsed(): Promise<number> {
  const [row] = await app.container.sql`
    select sum(storage_bytes)::integer as used from workspace where account_id = ${account.id}`;
  return row?.used;
}

describe('several parts', () => {
  test('parts are joined, and only the original remains', async () => {
    const media = await makePart();
    const stream = await recorded();
    await stream.connect();
    await stream.act('start');
    const parts = [await openPart(stream), await openPart(stream), await openPart(stream)];
    await parts[0]?.close(media);
    await parts[1]?.close(null);
    await stream.act('stop');
    await parts[2]?.close(media);
    await runJob(await sessionOf(stream));
    const videoId = await videoIdOf(stream);
    assert.equal((await read(videoId)).at('data.status'), 'QUEUED');
    const { store, sql } = app.container;
    const [row] =
      await sql`select original_key, size_bytes, storage_bytes from video where id = ${String(videoId)}`;
    assert.match(row?.original_key, /^w\/wsp_\w+\/v\/vid_\w+\/original\/ses_\w+$/);
    assert.equal((await store.head(row?.original_key))?.sizeBytes, row?.size_bytes);
    assert.equal(row?.storage_bytes, row?.size_bytes);
    for (const part of parts) assert.equal(await store.head(part.storeKey ?? ''), null);
  });

  test('assembly waits for a part that is reported late', async () => {
    const stream = await recorded();
    await stream.connect();
    await stream.act('start');
    const part = await openPart(stream);
    await stream.act('stop');
    await part.close();
    const late = await openPart(stream);
    const sessionId = await sessionOf(stream);
    await assert.rejects(runJob(sessionId), JobDeferredError);
    assert.equal((await read(await videoIdOf(stream))).at('data.status'), 'UPLOADING');
    await late.close(null);
    await runJob(sessionId);
    assert.equal((await read(await videoIdOf(stream))).at('data.status'), 'QUEUED');
  });

  test('unreadable parts result in a FAILED video with the reason', async () => {
    const stream = await recorded();
    await stream.connect();
    await stream.act('start');
    for (let i = 0; i < 2; i++) await (await openPart(stream)).close('no media');
    await stream.act('stop');
    await runJob(await sessionOf(stream));
    const video = await read(await videoIdOf(stream));
    assert.deepEqual([video.at('data.status'), video.at('data.error.code')], ['FAILED', 'CORRUPT_INPUT']);
  });

  test('parts of a lost node are abandoned a minute after the broadcast, not before its end', async () => {
    const stream = await recorded();
    await stream.connect();
    await stream.act('start');
    await openPart(stream);
    const { recordings } = app.container;
    clock.advance(61_000);
    await recordings.sweep();
    assert.deepEqual((await port.openParts('nod_a')).length > 0, true, 'the broadcast goes on');
    await stream.act('stop');
    await app.container.signals.heartbeat('nod_a', []);
    await recordings.sweep();
    assert.equal(await jobsOf(await sessionOf(stream)), 0, 'its node is there again');
    clock.advance(61_000);
    await recordings.sweep();
    assert.equal(await jobsOf(await sessionOf(stream)), 1);
    await runJob(await sessionOf(stream));
    const video = await read(await videoIdOf(stream));
    assert.deepEqual([video.at('data.status'), video.at('data.error.code')], ['FAILED', 'INTERNAL']);
  });
});

test('stream.recording_ready is emitted once, when the video becomes playable', async () => {
  const stream = await recorded();
  await stream.connect();
  await stream.act('start');
  await openPart(stream);
  await stream.act('stop');
  const sessionId = await sessionOf(stream);
  const videoId = String(await videoIdOf(stream));
  const hook = createRecordingReady({ clock, emit: emitRecordingReady });
  const [row] = await app.container.sql`select workspace_id from video where id = ${videoId}`;
  const video = { id: videoId, workspace_id: row?.workspace_id, session_id: sessionId, duration_sec: 61.5 };
  const { events, sql } = app.container;
  for (let i = 0; i < 2; i++) await events.transaction((tx, append) => hook(tx, append, video));
  await events.transaction((tx, append) => hook(tx, append, { ...video, session_id: null }));
  const said = await sql`
    select body::jsonb->'data' as data from event
    where type = 'stream.recording_ready' and body::jsonb->'data'->>'streamId' = ${stream.id}`;
  assert.deepEqual(
    said.map(({ data }) => data),
    [{ streamId: stream.id, sessionId, videoId, durationSec: 61.5, sequence: 2 }],
  );
});

/** Creates one second of video, as a recorder writes it. */
async function makePart(): Promise<Buffer> {
  const path = join(tmpdir(), `${newId('rec')}.mp4`);
  const input = ['-f', 'lavfi', '-i', 'testsrc2=size=160x90:rate=10', '-t', '1', '-c:v', 'libx264'];
  const flags = ['-movflags', '+frag_keyframe+empty_moov+default_base_moof'];
  await promisify(execFile)('ffmpeg', ['-v', 'error', ...input, '-preset', 'ultrafast', ...flags, path]);
  try {
    return await readFile(path);
  } finally {
    await rm(path);
  }
}
