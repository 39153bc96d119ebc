import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { sql } from 'kysely';
import { waitFor } from '../../../../../test/harness/wait-for.ts';
import { gate, openProcessing, type ProcessingRig } from '../../../../../test/processing/fixture.ts';
import { MediaFileError } from '../../../../media/contract/index.ts';

let rig: ProcessingRig;

before(async () => {
  rig = await openProcessing();
});
beforeEach(() => {
  rig.transcoder.calls.length = 0;
  rig.transcoder.before = {};
  rig.transcoder.source.durationSec = 10;
  rig.transcoder.source.copyRefusal = 'the keyframes are too far apart';
  rig.transcoder.further = [];
});
afterEach(() => rig.stop());
after(() => rig.close());

const types = async (id: string) => (await rig.eventsOf(id)).map(({ type }) => type);
const ready = async (id: string) =>
  (await rig.renditions(id)).filter(({ status }) => status === 'READY').map(({ name }) => name);

test('a short source is encoded in one run, and the events come in order', async () => {
  rig.start();
  const id = await rig.addVideo();
  const video = await rig.ended(id);
  assert.equal(video.status, 'READY');
  assert.equal(video.progress_percent, 100);
  assert.deepEqual([video.duration_sec, video.width, video.height, video.frame_rate], [10, 1920, 1080, 30]);
  assert.deepEqual(
    rig.transcoder.calls.filter((call) => call.startsWith('encode')),
    ['encode 1080p 720p 360p'],
  );
  assert.deepEqual((await ready(id)).sort(), ['1080p', '360p', '720p', 'audio']);
  assert.deepEqual(rig.playable, [id]);
  assert.ok(video.has_storyboard && video.has_preview && video.image_folder !== null);

  const events = await rig.eventsOf(id);
  assert.deepEqual(
    events.map(({ type }) => type),
    ['video.created', 'video.processing.started', 'video.processing.completed'],
  );
  assert.equal(events[1]?.data.attempt, 1);
  const { completedAt, ...data } = events[2]?.data ?? {};
  assert.equal(typeof completedAt, 'string');
  assert.deepEqual(data, {
    videoId: id,
    title: 'A film',
    status: 'READY',
    durationSec: 10,
    width: 1920,
    height: 1080,
    renditions: ['1080p', '720p', '360p'],
    playbackUrl: `https://m.test/v/${id}/master.m3u8`,
    thumbnailUrl: video.image_folder,
    externalId: null,
    sequence: 3,
  });
  for (const { folder, name } of await rig.renditions(id)) {
    const key = `w/${video.workspace_id}/v/${id}/${folder}/${name}/index.m3u8`;
    assert.equal(String(await rig.store.read(key)), `${name} index.m3u8`);
  }
  await waitFor(async () => (await rig.scratch()).length === 0, { message: 'an empty scratch folder' });
});

test('a long source is playable when its lowest rung is ready; READY comes with the rest', async () => {
  rig.transcoder.source.durationSec = 500;
  const rest = gate();
  rig.transcoder.before.encode = async (signal) => {
    if (rig.transcoder.calls.at(-1) !== 'encode 360p') await rest.wait(signal);
  };
  rig.start();
  const id = await rig.addVideo();
  await rest.reached();
  assert.deepEqual((await ready(id)).sort(), ['360p', 'audio']);
  assert.ok(rig.playable.includes(id));
  const video = await rig.find(id);
  assert.equal(video.status, 'PROCESSING');
  assert.ok(video.progress_percent > 0 && video.progress_percent < 100, `${video.progress_percent}`);
  assert.deepEqual(await types(id), ['video.created', 'video.processing.started']);
  assert.ok(video.has_storyboard, 'its images came with the first rung');
  rest.open();
  assert.equal((await rig.ended(id)).status, 'READY');
  assert.deepEqual(
    rig.transcoder.calls.filter((call) => call.startsWith('encode')),
    ['encode 360p', 'encode 1080p 720p'],
  );
  assert.equal(rig.playable.filter((one) => one === id).length, 1);
});

test('a top rung that can be copied is playable while every encode slot is taken', async () => {
  const busy = gate();
  rig.transcoder.before.encode = busy.wait;
  rig.start(1);
  await rig.addVideo();
  await busy.reached();
  rig.transcoder.source.copyRefusal = null;
  const id = await rig.addVideo();
  await waitFor(async () => (await ready(id)).length === 2, { message: 'the copied rung and the sound' });
  busy.open();
  assert.equal((await rig.ended(id)).status, 'READY');
  assert.ok(rig.transcoder.calls.includes('encode 720p 360p'));
});

test('a top rung that turns out not to be copied is encoded', async () => {
  rig.transcoder.source.copyRefusal = null;
  rig.transcoder.before.copyTop = () => Promise.reject(new Error('the muxer says no'));
  rig.start();
  const id = await rig.addVideo();
  assert.equal((await rig.ended(id)).status, 'READY');
  assert.ok(rig.transcoder.calls.includes('encode 1080p 720p 360p'));
});

test('plan and mode of the workspace determine the top rung', async () => {
  rig.transcoder.tops.length = 0;
  rig.start();
  for (const [plan, mode] of [
    ['FREE', 'live'],
    ['STAR', 'live'],
    ['PRO', 'live'],
    ['VIP', 'live'],
    ['VIP', 'test'],
  ] as const) {
    await rig.ended(await rig.addVideo({ plan, mode }));
  }
  assert.deepEqual(rig.transcoder.tops, [720, 1080, 2160, 4320, 720]);
});

test('a faulty file fails immediately, with its own code', async () => {
  rig.transcoder.before.probe = () =>
    Promise.reject(new MediaFileError('CORRUPT_INPUT', 'The file is truncated before its index.'));
  rig.start();
  const id = await rig.addVideo();
  const video = await rig.ended(id);
  assert.deepEqual(
    [video.error_code, video.error_message],
    ['CORRUPT_INPUT', 'The file is truncated before its index.'],
  );
  assert.deepEqual(rig.transcoder.calls, ['probe']);
  const last = (await rig.eventsOf(id)).at(-1);
  assert.equal(last?.type, 'video.processing.failed');
  assert.equal(last?.data.attempt, 1);
  assert.deepEqual(
    (await rig.openJobs()).filter((name) => name.startsWith('video.')),
    [],
  );
});

test('an internal error is tried three times; a retry starts over and emits the started event once', async () => {
  rig.transcoder.before.encode = () => Promise.reject(new Error('ffmpeg has died'));
  rig.start();
  const id = await rig.addVideo();
  await waitFor(
    async () => {
      await rig.hurry();
      return (await rig.find(id)).status === 'FAILED';
    },
    { timeoutMs: 15_000, intervalMs: 100 },
  );
  assert.equal(rig.transcoder.calls.filter((call) => call.startsWith('encode')).length, 3);
  assert.equal((await rig.find(id)).error_code, 'INTERNAL');
  rig.transcoder.before = {};
  await rig.retry(id);
  const video = await rig.ended(id);
  assert.deepEqual([video.status, video.revision, video.attempt, video.error_code], ['READY', 1, 2, null]);
  assert.deepEqual(await types(id), [
    'video.created',
    'video.processing.started',
    'video.processing.failed',
    'video.processing.started',
    'video.processing.completed',
  ]);
  await waitFor(async () => {
    await rig.hurry();
    return (await rig.folders(id)).every((name) => name.startsWith('r1'));
  });
});

test('a full disk does not count as a try', async () => {
  const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
  let failures = 5;
  rig.transcoder.before.encode = async () => {
    if (failures-- > 0) throw new Error('ffmpeg has ended', { cause: full });
  };
  rig.start();
  const id = await rig.addVideo();
  await waitFor(
    async () => {
      await rig.hurry();
      return (await rig.find(id)).status !== 'PROCESSING' && (await rig.find(id)).status !== 'QUEUED';
    },
    { timeoutMs: 15_000, intervalMs: 100 },
  );
  assert.equal((await rig.find(id)).status, 'READY');
  assert.equal(failures, -1);
});

test('an encode without disk space waits and continues when there is room', async () => {
  // The disk fills up while the source is probed.
  rig.transcoder.before.probe = async () => {
    rig.disk.isFull = true;
  };
  rig.start();
  const id = await rig.addVideo();
  const waiting = async () => {
    const { rows } = await sql<{ error: string }>`select error from job
      where state = 'waiting' and fence > 0 and run_after > clock_timestamp() + interval '30 seconds'`.execute(
      rig.db,
    );
    return rows.length > 0 && rows;
  };
  await waitFor(waiting, { timeoutMs: 10_000, message: 'a job that waits' });
  // The retry finds no space either, which is not a failure.
  await rig.hurry();
  await waitFor(waiting, { timeoutMs: 10_000, message: 'a job that waits again' });
  assert.equal((await rig.find(id)).status, 'PROCESSING');
  assert.deepEqual(await ready(id), []);
  assert.ok(!rig.transcoder.calls.some((call) => call.startsWith('encode')), 'nothing was written');
  rig.disk.isFull = false;
  await waitFor(
    async () => {
      await rig.hurry();
      return (await rig.find(id)).status === 'READY';
    },
    { timeoutMs: 15_000, intervalMs: 100 },
  );
  assert.ok(!(await types(id)).includes('video.processing.failed'));
});

test('a deleted video is no longer processed, and leaves nothing in the scratch folder', async () => {
  const held = gate();
  rig.transcoder.before.encode = held.wait;
  rig.start();
  const id = await rig.addVideo();
  await held.reached();
  await rig.events.transaction(async (tx) => {
    await tx.updateTable('video').set({ deleted_at: new Date() }).where('id', '=', id).execute();
    await rig.processing.cancel(tx, id);
  });
  await waitFor(async () => (await rig.scratch()).length === 0, { message: 'the end of the run' });
  assert.deepEqual(await ready(id), []);
  assert.deepEqual(await types(id), ['video.created', 'video.processing.started']);
});

test('a run that lost its lease publishes none of its output', async () => {
  const held = gate();
  rig.transcoder.before.encode = async (signal) => {
    // The first run sleeps through the loss of its lease, as a stopped process does.
    if (rig.transcoder.calls.filter((call) => call.startsWith('encode')).length === 1) {
      await held.wait(new AbortController().signal);
    } else signal.throwIfAborted();
  };
  rig.start(2);
  const id = await rig.addVideo();
  await held.reached();
  await sql`update job set state = 'waiting' where name = 'video.encode' and state = 'active'`.execute(
    rig.db,
  );
  const video = await rig.ended(id);
  assert.equal(video.status, 'READY');
  const before = await rig.renditions(id);
  held.open();
  await waitFor(async () => (await rig.scratch()).length === 0);
  assert.deepEqual(await rig.renditions(id), before);
  assert.equal((await types(id)).filter((type) => type === 'video.processing.completed').length, 1);
});

test('encoded renditions survive the loss of the connection that should record them', async () => {
  const held = gate();
  rig.transcoder.before.encode = held.wait;
  rig.start();
  const id = await rig.addVideo();
  await held.reached();
  await sql`create function cut() returns trigger language plpgsql as $$
    begin perform pg_terminate_backend(pg_backend_pid()); return new; end $$`.execute(rig.db);
  await sql`create trigger cut before update on video_rendition for each row when (new.status = 'READY')
    execute function cut()`.execute(rig.db);
  const before = rig.failedWrites();
  held.open();
  await waitFor(() => rig.failedWrites() > before, { message: 'a transaction that is cut off' });
  await sql`drop function cut cascade`.execute(rig.db);
  assert.equal((await rig.ended(id)).status, 'READY');
  assert.equal(rig.transcoder.calls.filter((call) => call.startsWith('encode')).length, 1);
});

test('the poster of an early playable video does not wait for the encode and keeps its URL', async () => {
  rig.transcoder.source.copyRefusal = null;
  const rest = gate();
  rig.transcoder.before.encode = rest.wait;
  rig.start();
  const id = await rig.addVideo();
  await rest.reached();
  const { image_folder: folder } = await waitFor(async () => {
    const row = await rig.find(id);
    return row.image_folder !== null && row;
  });
  assert.equal((await rig.find(id)).has_storyboard, false);
  rest.open();
  const video = await rig.ended(id);
  assert.deepEqual([video.image_folder, video.has_storyboard, video.has_preview], [folder, true, true]);
  const key = `w/${video.workspace_id}/v/${id}/${folder}/img/storyboard.vtt`;
  assert.equal(String(await rig.store.read(key)), 'storyboard.vtt');
});

test('a video whose images fail is READY without them', async () => {
  rig.transcoder.before.images = () => Promise.reject(new MediaFileError('CORRUPT_INPUT', 'no picture'));
  rig.start();
  const video = await rig.ended(await rig.addVideo());
  assert.deepEqual([video.status, video.image_folder], ['READY', null]);
});

test('a long source is split, encoded in chunks on several slots, and joined', async () => {
  rig.transcoder.source.durationSec = 3600;
  await rig.addNode(2);
  rig.start(2);
  const id = await rig.addVideo();
  const video = await rig.ended(id);
  assert.equal(video.status, 'READY');
  const calls = rig.transcoder.calls.filter((call) => call !== 'images');
  assert.deepEqual(calls, [
    'probe',
    'encode 360p',
    'split',
    ...Array.from({ length: 3 }, () => 'encodeChunk 1080p 720p'),
    'stitch 1080p',
    'stitch 720p',
  ]);
  assert.equal((await types(id)).filter((type) => type === 'video.processing.completed').length, 1);
  await waitFor(async () => {
    await rig.hurry();
    const used = new Set((await rig.renditions(id)).map(({ folder }) => folder));
    return (await rig.folders(id)).length === used.size + 1;
  });
});

test('hardware does not split a long source: joined chunks come from one encoder', async () => {
  rig.transcoder.source.durationSec = 3600;
  rig.transcoder.encodesWhole = true;
  await rig.addNode(2);
  rig.start(2);
  assert.equal((await rig.ended(await rig.addVideo())).status, 'READY');
  const calls = rig.transcoder.calls.filter((call) => /^(encode|split|stitch)/.test(call));
  assert.deepEqual(calls, ['encode 360p', 'encode 1080p 720p']);
});

test('a thumbnail is taken from the selected moment; the last selection wins', async () => {
  rig.start();
  const id = await rig.addVideo();
  const video = await rig.ended(id);
  const held = gate();
  rig.transcoder.before.images = held.wait;
  await rig.events.transaction((tx) => rig.processing.thumbnail(tx, video, 3));
  await held.reached();
  rig.transcoder.before = {};
  await rig.events.transaction((tx) => rig.processing.thumbnail(tx, video, 4));
  held.open();
  const { thumbnail_file: file } = await waitFor(async () => {
    const row = await rig.find(id);
    return row.thumbnail_file !== null && row;
  });
  assert.equal(
    String(await rig.store.read(`w/${video.workspace_id}/v/${id}/thumbnails/${file}`)),
    'poster.jpg',
  );
});

test('steps lost from the queue are enqueued again', async () => {
  const id = await rig.addVideo();
  await sql`delete from job`.execute(rig.db);
  await rig.db
    .updateTable('video')
    .set({ updated_at: new Date(0) })
    .where('id', '=', id)
    .execute();
  await rig.processing.sweep();
  await rig.processing.sweep();
  assert.deepEqual(await rig.openJobs(), ['video.prepare']);
  rig.start();
  assert.equal((await rig.ended(id)).status, 'READY');
});
