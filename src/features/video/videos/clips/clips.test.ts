import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, mock, test } from 'node:test';
import { promisify } from 'node:util';
import { startTestApp, type TestApp } from '../../../../../test/harness/app.ts';
import { TestClock } from '../../../../../test/harness/clock.ts';
import type { TestAccount } from '../../../../../test/harness/factories.ts';
import { jobWorker } from '../../../../../test/harness/modules.ts';
import { insertReadyVideo, insertVideo } from '../../../../../test/harness/videos.ts';
import { createEncoderStream } from '../../../../../test/streams/encoder-stream.ts';
import { JobDeferredError } from '../../../../jobs/job.ts';
import { newId } from '../../../../kernel/ids.ts';
import { PLANS, type Plan } from '../../../../kernel/plans.ts';
import {
  type MediaPlaylist,
  type PublicSegment,
  renderMediaPlaylist,
} from '../../../../media/live/playlist.ts';

const clock = new TestClock('2026-11-20T09:00:00.000Z');
const FPS = 25;
const run = promisify(execFile);
let app: TestApp;
let key: string;
let account: TestAccount;
let folder: string;
let film: string;
/** Checksums of its frames. */
let frames: string[];

before(async () => {
  app = await startTestApp({ clock });
  ({ key, account } = await app.createKey());
  folder = join(app.container.config.DATA_DIR, 'film');
  await mkdir(folder, { recursive: true });
  film = join(folder, 'film.mp4');
  // Keyframes are four seconds apart, and B-frames between them.
  const coded = ['-c:v', 'libx264', '-preset', 'veryfast', '-g', '100', '-bf', '2', '-pix_fmt', 'yuv420p'];
  const inputs = ['-f', 'lavfi', '-i', `testsrc2=s=192x108:r=${FPS}:d=12`, '-f', 'lavfi', '-i', 'sine=d=12'];
  await run('ffmpeg', ['-v', 'error', ...inputs, ...coded, '-c:a', 'aac', film]);
  frames = await framesOf(film);
});
after(() => app.close());

async function framesOf(path: string): Promise<string[]> {
  const { stdout } = await run('ffmpeg', ['-v', 'error', '-i', path, '-map', '0:v', '-f', 'framemd5', '-']);
  return stdout.split('\n').flatMap((line) => (line.startsWith('0,') ? line.slice(-32) : []));
}

const PIECE = { startSec: 5.4, endSec: 8.4, title: 'The best of it' };
const EXPECTED = () => frames.slice(135, 210);

const cut = (of: string, body: object = PIECE) => app.request('POST', `/${of}/clips`, { key, body });
const read = async (id: string) => (await app.request('GET', `/videos/${id}`, { key })).assertOk(200);

/**
 * Runs the job of a clip.
 *
 * @returns the frames of its original; none where there is no original.
 */
async function made(id: string, { confirm = async () => {}, lost = 0 } = {}): Promise<string[]> {
  const { sql, store } = app.container;
  const [job] = await sql`select payload from job where name = 'video.clip' and singleton_key = ${id}`;
  await jobWorker(app.container, 'video.clip').run({
    ...{ id: newId('rec'), payload: job?.payload, attempt: 1, isLast: true, lost },
    signal: new AbortController().signal,
    confirm,
  });
  const [row] = await sql`select original_key from video where id = ${id}`;
  return row?.original_key ? framesOf(store.localPath(row.original_key) ?? '') : [];
}

async function videoOf(path: string, columns: object = {}): Promise<string> {
  const original_key = `w/${account.live}/v/film/original/${newId('upl')}`;
  const copy = join(folder, newId('upl'));
  await run('cp', [path, copy]);
  await app.container.store.putFile(original_key, copy, 'video/mp4');
  return insertReadyVideo(app.container.db, account.live, { original_key, duration_sec: 12, ...columns });
}

/**
 * Creates a broadcast with the segments of the film, four seconds each, in as many runs as there are files.
 */
async function broadcast(runs: number, settings: object = {}) {
  const stream = await createEncoderStream(app, key, settings);
  await stream.connect();
  await stream.act('start');
  const dir = join(app.container.config.DATA_DIR, 'live', stream.id);
  const list = { targetDuration: 4, disc: 0, nextSeq: 0 };
  const segments: PublicSegment[] = [];
  for (const epoch of Array.from({ length: runs }, (_, index) => `e${index}`)) {
    const at = join(dir, epoch, 'src');
    await mkdir(at, { recursive: true });
    const hls = ['-f', 'hls', '-hls_time', '4', '-hls_segment_type', 'fmp4', '-hls_list_size', '0'];
    const names = ['-hls_fmp4_init_filename', 'init.mp4', '-hls_segment_filename', join(at, 's_%06d.m4s')];
    await run('ffmpeg', ['-v', 'error', '-i', film, '-c', 'copy', ...hls, ...names, join(at, 'x.m3u8')]);
    for (const file of (await readdir(at)).filter((name) => name.endsWith('.m4s')).sort()) {
      const seq = list.nextSeq++;
      const place = { seq, disc: Number(epoch.slice(1)), epoch, rung: 'src', file };
      segments.push({ ...place, durationSec: 4, startMs: clock.ms() + seq * 4000 });
    }
  }
  const write = async (playlist: Partial<MediaPlaylist>) => {
    const shown = renderMediaPlaylist({ ...list, segments, ...playlist }, { hasOffsets: true });
    await writeFile(join(dir, 'new'), shown);
    await rename(join(dir, 'new'), join(dir, 'src.m3u8'));
  };
  const show = (count = segments.length) => write({ segments: segments.slice(0, count) });
  /** All segments but the last are complete; the last is as complete as it will be. */
  const showOpen = async () => {
    const last = segments.at(-1);
    assert.ok(last);
    const at = join(dir, last.epoch, 'src', last.file);
    const { size: bytes } = await stat(at);
    await rename(at, `${at}.part`);
    const part = { durationSec: 4, bytes, offset: 0, isIndependent: true };
    const open = { ...last, durationSec: 0, parts: [part] };
    const lowLatency = { partTargetSec: 4, holdBackSec: 12 };
    await write({ segments: segments.slice(0, -1), open, lowLatency });
    return `${at}.part`;
  };
  await show();
  return { ...stream, dir, show, showOpen };
}

describe('a clip of a video', () => {
  test('a clip has exactly the requested frames, and is a regular video', async () => {
    const id = await videoOf(film, { title: 'The film', visibility: 'UNLISTED' });
    const clip = (await cut(`videos/${id}`)).assertOk(201);
    const shown = ['title', 'status', 'source', 'visibility', 'streamId'].map((name) =>
      clip.at(`data.${name}`),
    );
    assert.deepEqual(shown, ['The best of it', 'UPLOADING', 'CLIP', 'UNLISTED', null]);
    const clipId = clip.string('data.id');
    assert.deepEqual(await made(clipId), EXPECTED());
    assert.equal((await read(clipId)).at('data.status'), 'QUEUED');
    await made(clipId);
    assert.equal((await read(clipId)).at('data.status'), 'QUEUED', 'a job that runs twice changes nothing');
  });

  test('a clip can be cut from any container format', async () => {
    const copies = {
      mkv: ['-c', 'copy'],
      mov: ['-c:v', 'prores_ks', '-c:a', 'pcm_s16le'],
      ts: ['-c', 'copy'],
    };
    for (const [extension, coded] of Object.entries(copies)) {
      const path = join(folder, `film.${extension}`);
      await run('ffmpeg', ['-v', 'error', '-i', film, ...coded, path]);
      const clip = (await cut(`videos/${await videoOf(path)}`)).assertOk(201);
      const found = await made(clip.string('data.id'));
      assert.equal(found.length, EXPECTED().length, extension);
      if (extension === 'mkv') assert.deepEqual(found, EXPECTED());
    }
  });

  test('a range that cannot be cut is rejected', async () => {
    const id = await videoOf(film);
    const at = (startSec: number, endSec: number) => cut(`videos/${id}`, { ...PIECE, startSec, endSec });
    (await at(3, 3.5)).assertError('BAD_REQUEST', 'endSec');
    (await at(5, 4)).assertError('BAD_REQUEST', 'endSec');
    (await at(0, 14_401)).assertError('BAD_REQUEST', 'endSec');
    (await at(10, 13)).assertError('BAD_REQUEST', 'endSec');
    (await at(-1, 4)).assertError('BAD_REQUEST', 'startSec');
    (await cut(`videos/${id}`, { startSec: 0, endSec: 4 })).assertError('BAD_REQUEST', 'title');
    const sold = { ...PIECE, visibility: 'PURCHASE' };
    (await cut(`videos/${id}`, sold)).assertError('BAD_REQUEST', 'visibility');
    (await cut(`videos/${await videoOf(film, { status: 'PROCESSING' })}`)).assertError('CONFLICT', 'status');
    const down = await videoOf(film, { taken_down_at: clock.now(), takedown_reason: 'No.' });
    (await cut(`videos/${down}`)).assertError('CONFLICT', 'status');
  });

  test('a clip fails when its source is gone, or the plan has too little storage left', async () => {
    const { db, store } = app.container;
    const id = await videoOf(film, { size_bytes: null });
    const [late, large] = [await cut(`videos/${id}`), await cut(`videos/${id}`)];
    const storage_bytes = PLANS.FREE.storageBytes - 2;
    const change = (bytes: number) =>
      db.updateTable('workspace').set({ storage_bytes: bytes }).where('id', '=', account.live).execute();
    const planned = (plan: Plan) =>
      db.updateTable('account').set({ plan }).where('id', '=', account.id).execute();
    await planned('FREE');
    await change(storage_bytes);
    assert.deepEqual(await made(large.string('data.id')), []);
    assert.equal((await read(large.string('data.id'))).at('data.error.code'), 'SIZE_EXCEEDED');
    await change(PLANS.FREE.storageBytes);
    (await cut(`videos/${id}`)).assertError('QUOTA_EXCEEDED');
    await change(0);
    await planned('VIP');
    await store.deletePrefix(`w/${account.live}/v/film/`);
    assert.deepEqual(await made(late.string('data.id')), []);
    assert.equal((await read(late.string('data.id'))).at('data.error.code'), 'SOURCE_UNREACHABLE');
  });
});

describe('limits of clip requests', () => {
  const used = async () => {
    const { db } = app.container;
    const query = db.selectFrom('workspace').select('storage_bytes').where('id', '=', account.live);
    return (await query.executeTakeFirstOrThrow()).storage_bytes;
  };
  const planned = (plan: Plan) =>
    app.container.db.updateTable('account').set({ plan }).where('id', '=', account.id).execute();

  test('a clip reserves its expected size from the start', async () => {
    const { storageBytes } = PLANS.FREE;
    const id = await videoOf(film, { size_bytes: storageBytes * 2 });
    await planned('FREE');
    const before = await used();
    (await cut(`videos/${id}`, { ...PIECE, startSec: 0, endSec: 8 })).assertError('QUOTA_EXCEEDED');
    (await cut(`videos/${id}`, { ...PIECE, startSec: 0, endSec: 3 })).assertOk(201);
    assert.equal(await used(), before + storageBytes / 2);
    (await cut(`videos/${id}`, { ...PIECE, startSec: 0, endSec: 4 })).assertError('QUOTA_EXCEEDED');
    await planned('VIP');
  });

  test('pending clips count toward the limit of open uploads of the plan', async () => {
    const { db } = app.container;
    const [other, id] = [await app.createKey(), await videoOf(film)];
    const theirs = (path: string) => app.request('POST', path, { key: other.key, body: PIECE });
    const own = await insertReadyVideo(db, other.account.live, { duration_sec: 12 });
    await db.updateTable('account').set({ plan: 'FREE' }).where('id', '=', other.account.id).execute();
    (await theirs(`/videos/${id}/clips`)).assertError('NOT_FOUND');
    for (let count = 1; count < PLANS.FREE.openUploads; count += 1) {
      await insertVideo(db, other.account.live, { source: 'CLIP' });
    }
    (await theirs(`/videos/${own}/clips`)).assertOk(201);
    (await theirs(`/videos/${own}/clips`)).assertError('QUOTA_EXCEEDED');
    (await cut(`videos/${id}`)).assertOk(201);
  });

  test('a clip fails when its process is killed repeatedly', async () => {
    const id = (await cut(`videos/${await videoOf(film)}`)).assertOk(201).string('data.id');
    assert.deepEqual(await made(id, { lost: 10 }), []);
    assert.equal((await read(id)).at('data.error.code'), 'INTERNAL');
  });

  test('a clip deleted while it is cut uses no storage', async () => {
    const source = await videoOf(film, { size_bytes: null });
    const id = (await cut(`videos/${source}`)).assertOk(201).string('data.id');
    const before = await used();
    const confirm = mock.fn(async () => {});
    const { store } = app.container;
    const put = mock.method(store, 'putFile', async (...args: Parameters<typeof store.putFile>) => {
      put.mock.restore();
      const stored = await store.putFile(...args);
      (await app.request('DELETE', `/videos/${id}`, { key })).assertOk(200);
      return stored;
    });
    assert.deepEqual(await made(id, { confirm }), []);
    assert.equal(confirm.mock.callCount(), 1);
    assert.equal(await used(), before - 1, 'what was held for it is given back, once');
    const [left] = await Array.fromAsync(store.list(`w/${account.live}/v/${id}/`));
    assert.equal(left, undefined);
  });
});

/**
 * Records an ended broadcast; each recording is the film.
 *
 * @returns the videos of the recordings.
 */
async function record(streamId: string, count: number): Promise<string[]> {
  const { db, sql } = app.container;
  const [session] = await sql`select current_session_id as id from stream where id = ${streamId}`;
  const row = { session_id: session?.id, workspace_id: account.live, stream_id: streamId };
  const videos: string[] = [];
  for (const number of Array.from({ length: count }, (_, index) => index + 1)) {
    const video_id = await videoOf(film, { source: 'RECORDING' });
    const at = { created_at: clock.now(), settled_at: clock.now() };
    await db
      .insertInto('recording')
      .values({ ...row, id: newId('rec'), number, video_id, ...at })
      .execute();
    videos.push(video_id);
  }
  return videos;
}

describe('a clip of a broadcast', () => {
  test('a clip of a live broadcast waits for the segment that is still being written', async () => {
    const { id, show } = await broadcast(1, { visibility: 'UNLISTED' });
    clock.advance(9000);
    await show(2);
    const clip = (await cut(`streams/${id}`)).assertOk(201);
    const clipId = clip.string('data.id');
    assert.deepEqual([clip.at('data.streamId'), clip.at('data.visibility')], [id, 'UNLISTED']);
    await assert.rejects(made(clipId), JobDeferredError);
    await show(3);
    const found = await made(clipId);
    assert.ok(Math.abs(found.length - EXPECTED().length) <= 2, `${found.length} frames`);
    assert.ok(
      EXPECTED()
        .slice(2, -2)
        .every((frame) => found.includes(frame)),
    );
    (await cut(`streams/${id}`, { ...PIECE, endSec: 10 })).assertError('BAD_REQUEST', 'endSec');
  });

  test('a clip includes the completed part of the segment in progress', async () => {
    const { id, showOpen } = await broadcast(1);
    clock.advance(12_000);
    const unfinished = await showOpen();
    const clip = (await cut(`streams/${id}`)).assertOk(201).string('data.id');
    const found = await made(clip);
    assert.ok(Math.abs(found.length - EXPECTED().length) <= 2, `${found.length} frames`);
    for (const frame of EXPECTED().slice(2, -2)) assert.ok(found.includes(frame));

    const late = (await cut(`streams/${id}`)).assertOk(201).string('data.id');
    await rm(unfinished);
    await assert.rejects(made(late), JobDeferredError, 'it may be kept elsewhere');
    clock.advance(20_000);
    const rest = await made(late);
    assert.ok(Math.abs(rest.length - 65) <= 2, `${rest.length} frames`);
  });

  test('a clip of audio only fails immediately; audio-only segments between video segments are left out', async () => {
    const { id, dir } = await broadcast(2);
    clock.advance(24_000);
    const sound = ['-c:a', 'copy', '-vn', '-f', 'hls', '-hls_time', '4', '-hls_list_size', '0'];
    const at = join(dir, 'e1/src');
    const names = ['-hls_segment_type', 'fmp4', '-hls_segment_filename', join(at, 's_%06d.m4s')];
    await run('ffmpeg', ['-v', 'error', '-y', '-i', film, ...sound, ...names, join(at, 'x.m3u8')]);
    const clip = await cut(`streams/${id}`, { ...PIECE, startSec: 13, endSec: 20 });
    const clipId = clip.assertOk(201).string('data.id');
    assert.deepEqual(await made(clipId), []);
    assert.equal((await read(clipId)).at('data.error.code'), 'NO_VIDEO_TRACK');
    const over = (await cut(`streams/${id}`, { ...PIECE, startSec: 9, endSec: 15 })).assertOk(201);
    const found = await made(over.string('data.id'));
    assert.ok(Math.abs(found.length - 3 * FPS) <= 2, `${found.length} frames`);
  });

  test('a clip spans a break of the encoder', async () => {
    const { id } = await broadcast(2);
    clock.advance(24_000);
    const over = { ...PIECE, startSec: 9, endSec: 15 };
    const clip = (await cut(`streams/${id}`, over)).assertOk(201);
    const found = await made(clip.string('data.id'));
    assert.ok(Math.abs(found.length - 6 * FPS) <= 4, `${found.length} frames`);
    const [before, behind] = [frames.slice(230, 295), frames.slice(5, 70)];
    for (const frame of [...before, ...behind]) assert.ok(found.includes(frame));
  });

  test('a clip is cut from the recording after the stop, and rejected when nothing is stored', async () => {
    const { id, dir, act } = await broadcast(1);
    clock.advance(12_000);
    await rm(dir, { recursive: true });
    (await cut(`streams/${id}`)).assertError('CONFLICT');
    await act('stop');
    const [recorded = ''] = await record(id, 1);
    const clip = (await cut(`streams/${id}`)).assertOk(201);
    assert.deepEqual(await made(clip.string('data.id')), EXPECTED());

    const late = (await cut(`streams/${id}`)).assertOk(201).string('data.id');
    await app.container.videoTakedowns.takeDown(recorded, 'No.');
    assert.deepEqual(await made(late), [], 'asked for before it was taken down');
    assert.equal((await read(late)).at('data.error.code'), 'SOURCE_UNREACHABLE');
    (await cut(`streams/${id}`)).assertError('CONFLICT');
    const never = await createEncoderStream(app, key);
    (await cut(`streams/${never.id}`)).assertError('CONFLICT');
  });

  test('a clip of a very long broadcast spans two recordings', async () => {
    const { id, dir, act } = await broadcast(1);
    clock.advance(48_000);
    await rm(dir, { recursive: true });
    await act('stop');
    const [first = '', , third = '', last = ''] = await record(id, 4);
    const { db } = app.container;
    const change = (video: string, to: { status: 'READY' | 'PROCESSING' }) =>
      db.updateTable('video').set(to).where('id', '=', video).execute();
    const within = async (startSec: number, endSec: number) =>
      (await cut(`streams/${id}`, { ...PIECE, startSec, endSec })).assertOk(201).string('data.id');
    await change(last, { status: 'PROCESSING' });
    assert.deepEqual(await made(await within(17.4, 20.4)), EXPECTED(), 'in the second');
    const all = await made(await within(10, 26));
    assert.ok(Math.abs(all.length - 16 * FPS) <= 2, `${all.length} frames`);
    await assert.rejects(made(await within(35, 38)), JobDeferredError, 'the last is still being made');

    (await app.request('DELETE', `/videos/${first}`, { key })).assertOk(200);
    assert.deepEqual(
      await made(await within(17.4, 20.4)),
      EXPECTED(),
      'where the second begins is still known',
    );
    const lost = await within(2, 5);
    assert.deepEqual(await made(lost), []);
    assert.equal((await read(lost)).at('data.error.code'), 'SOURCE_UNREACHABLE');
    const late = await within(17.4, 20.4);
    await app.container.videoTakedowns.takeDown(third, 'No.');
    assert.deepEqual(await made(late), [], 'another one is taken down');
    (await cut(`streams/${id}`)).assertError('CONFLICT');
  });
});
