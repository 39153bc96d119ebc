import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { startTestApp, type TestApp } from '../../../test/harness/app.ts';
import { TestClock } from '../../../test/harness/clock.ts';
import { jobWorker } from '../../../test/harness/modules.ts';
import { createRoom, joinRoom } from '../../../test/rooms/client.ts';
import { beeps, flashes, writeMjr } from '../../../test/rooms/mjr-files.ts';
import { newId } from '../../kernel/ids.ts';
import type { RoomRecordingPort } from '../../media/contract/index.ts';
import { createRoomRecordingReady } from './recording-assembly.service.ts';

const clock = new TestClock('2026-11-20T09:00:00.000Z');
const NODE = 'nod_a';
const run = promisify(execFile);
let app: TestApp;
let key: string;
let port: RoomRecordingPort;
let dir: string;

before(async () => {
  app = await startTestApp({ clock });
  ({ key } = await app.createKey());
  ({ port } = app.container.roomRecordings);
  dir = await mkdtemp(join(tmpdir(), 'room-recordings-'));
});
after(async () => {
  await app.close();
  await rm(dir, { recursive: true });
});

const read = async (path: string, by = key) => (await app.request('GET', path, { key: by })).assertOk(200);
const wantedIn = async (roomId: string, sizes: ReadonlyMap<string, number> = new Map()) => {
  const { open, ended } = await port.wanted(NODE, sizes);
  return { id: open.find((one) => one.roomId === roomId)?.recordingId, ended };
};

/** Creates a recorded room with one participant. */
async function recorded(by = key, more: object = {}) {
  const roomId = await createRoom(app, by, { name: 'Monday class', recordEnabled: true, ...more });
  const ada = await joinRoom(app, by, roomId, { identity: 'ada', name: 'Ada' });
  const { id = '' } = await wantedIn(roomId);
  await ada.next('recording', ({ on }) => on === true);
  return { roomId, ada, id };
}

/** Stores tracks, as the recorder does after the end. */
async function collect(id: string, ...contents: (Buffer | string)[]) {
  const prefix = await port.prefixOf(id);
  assert.ok(prefix !== null);
  const stored = contents.map((content, index) =>
    app.container.store.put(`${prefix}${index}.mjr`, content, 'application/octet-stream'),
  );
  await port.collected(id, await Promise.all(stored));
}

/** Creates one second of a participant's camera and microphone, as the media server writes them. */
async function tracks(identity: string, colour: string): Promise<Buffer[]> {
  const way = { startMs: clock.ms() };
  const name = (extension: string) => join(dir, `${identity}.${extension}`);
  const picture = await flashes(name('ivf'), { seconds: 1, everySec: 100, colour });
  const sound = await beeps(name('ogg'), { seconds: 1 });
  await writeMjr(name('v'), 'vp8', picture, { ...way, description: `CAMERA:${identity}` });
  await writeMjr(name('a'), 'opus', sound, { ...way, description: `MICROPHONE:${identity}` });
  return Promise.all([readFile(name('v')), readFile(name('a'))]);
}

/** Reports whether the video is red at this horizontal position, from 0 (left) to 1 (right). */
async function isRedAt(path: string, part: number): Promise<boolean> {
  const filter = `crop=40:40:${part * 1280 - 20}:340,scale=1:1`;
  const args = ['-v', 'error', '-ss', '0.8', '-i', path, '-frames:v', '1', '-vf', filter];
  const raw = ['-f', 'rawvideo', '-pix_fmt', 'rgb24', '-'];
  const { stdout } = await run('ffmpeg', [...args, ...raw], { encoding: 'buffer' });
  const [red = 0, green = 0, blue = 0] = stdout;
  return red > green + 60 && red > blue + 60;
}

const runJob = (recordingId: string, isLast = false) =>
  jobWorker(app.container, 'room.compose').run({
    ...{ id: newId('rec'), payload: { recordingId }, attempt: 1, isLast, lost: 0 },
    signal: new AbortController().signal,
    confirm: async () => {},
  });

describe('scope of a recording', () => {
  test('a room with recordEnabled is recorded from the first person until a stop, which persists', async () => {
    const { roomId, ada, id } = await recorded();
    assert.match(id, /^rec_/);
    assert.equal((await read(`/rooms/${roomId}`)).at('data.recording'), true);
    const stopped = await app.request('POST', `/rooms/${roomId}/recording/stop`, { key });
    assert.equal(stopped.assertOk(200).at('data.recording'), false);
    await ada.next('recording', ({ on }) => on === false);
    const after = await wantedIn(roomId);
    assert.equal(after.id, undefined);
    assert.ok(after.ended.includes(id));
    await ada.close();
  });

  test('nothing is recorded without recordEnabled, and a deleted room is no longer recorded', async () => {
    const plain = await createRoom(app, key);
    const bob = await joinRoom(app, key, plain, { identity: 'bob' });
    assert.equal((await wantedIn(plain)).id, undefined);
    await bob.close();
    const { roomId, id } = await recorded();
    (await app.request('DELETE', `/rooms/${roomId}`, { key })).assertOk(200);
    assert.ok((await wantedIn(roomId)).ended.includes(id));
    await collect(id, 'tracks');
    const videos = await read('/videos?limit=1');
    assert.equal(videos.at('data.0.visibility'), 'PRIVATE', 'what was recorded is kept');
    const ready = createRoomRecordingReady({ clock });
    const playable = { id: videos.string('data.0.id'), duration_sec: 2 };
    for (const _ of [1, 2]) {
      await app.container.events.transaction((tx, append) => ready(tx, append, playable));
    }
    const told = (await read('/me/events?limit=100')).list('data').map((row) => Object(row));
    const ofRoom = told.filter(({ data }) => data.roomId === roomId);
    const [said, ...more] = ofRoom.filter(({ type }) => type === 'room.recording_ready');
    assert.deepEqual([said?.data.videoId, said?.data.durationSec, more], [playable.id, 2, []]);
    const sequences = ofRoom.map(({ data }) => data.sequence).toSorted((a, b) => a - b);
    assert.deepEqual(
      sequences,
      [...sequences.keys()].map((index) => index + 1),
      'the number behind its last event',
    );
    assert.equal(said?.data.sequence, sequences.length);
  });

  test('a recording is no longer than a video may be, and another one continues', async () => {
    const { roomId, ada, id } = await recorded();
    clock.advance((43_200 - 60) * 1000);
    const { ended } = await wantedIn(roomId);
    assert.ok(ended.includes(id));
    const next = (await wantedIn(roomId)).id;
    assert.ok(next !== undefined && next !== id);
    await ada.close();
  });
});

describe('failures', () => {
  test('exhausted storage ends the recording, not the room, and the video shows the reason', async () => {
    const { key: own } = await app.createKey();
    const { roomId, ada, id } = await recorded(own);
    const full = new Map([[id, 2 ** 50]]);
    assert.ok((await wantedIn(roomId, full)).ended.includes(id));
    await ada.next('recording', ({ on }) => on === false);
    assert.equal((await read(`/rooms/${roomId}`, own)).at('data.status'), 'ACTIVE');
    assert.equal((await wantedIn(roomId)).id, undefined, 'it does not begin again');
    await collect(id, 'tracks');
    const [videoId] = (await read(`/rooms/${roomId}`, own)).list('data.recordingVideoIds');
    const video = await read(`/videos/${videoId}`, own);
    assert.match(video.string('data.description'), /storage of the plan was full/);
    const quota = await read('/quota/STORAGE_BYTES', own);
    assert.equal(quota.at('data.used'), 'tracks'.length);
    await ada.close();
  });

  test('a full disk ends the recording, not the room', async () => {
    const { roomId, ada, id } = await recorded();
    await port.refused(id);
    await ada.next('recording', ({ on }) => on === false);
    assert.ok((await wantedIn(roomId)).ended.includes(id));
    await ada.close();
  });

  test('unreadable tracks fail the video, and their storage is released', async () => {
    const { roomId, ada, id } = await recorded();
    await app.request('POST', `/rooms/${roomId}/recording/stop`, { key });
    await collect(id, 'no tracks');
    await runJob(id);
    const [videoId] = (await read(`/rooms/${roomId}`)).list('data.recordingVideoIds');
    assert.equal((await read(`/videos/${videoId}`)).at('data.status'), 'FAILED');
    assert.equal(await port.prefixOf(id), null, 'nothing comes any more');
    await ada.close();
  });
});

test('a recording becomes a private video and is reported once it is playable', async () => {
  const { key: own } = await app.createKey();
  const { roomId, ada, id } = await recorded(own, { recordLayout: 'SPEAKER' });
  const prefix = await port.prefixOf(id);
  await app.request('POST', `/rooms/${roomId}/end`, { key: own });
  assert.equal(await ada.end(), 4410);
  assert.ok((await wantedIn(roomId)).ended.includes(id));
  await collect(id, ...(await tracks('ada', 'red')), ...(await tracks('bob', 'blue')));
  await runJob(id);
  await runJob(id);
  const [videoId] = (await read(`/rooms/${roomId}`, own)).list('data.recordingVideoIds');
  const video = await read(`/videos/${videoId}`, own);
  assert.deepEqual(
    ['title', 'visibility', 'source', 'status'].map((field) => video.at(`data.${field}`)),
    ['Monday class (2026-11-20)', 'PRIVATE', 'RECORDING', 'QUEUED'],
  );
  const originals = [];
  for await (const { key: name } of app.container.store.list('w/')) {
    if (name.includes(`${videoId}/`)) originals.push(app.container.store.localPath(name) ?? '');
  }
  const [original = ''] = originals;
  // The first participant is large, as the room shows it, and the other one small next to it.
  const seen = await Promise.all([0.1, 0.6, 0.9].map((part) => isRedAt(original, part)));
  assert.deepEqual(seen, [true, true, false]);
  const kept = [];
  for await (const { key: name } of app.container.store.list(prefix ?? '')) kept.push(name);
  assert.deepEqual(kept, [], 'the tracks are gone');
  const ready = createRoomRecordingReady({ clock });
  const playable = { id: String(videoId), duration_sec: 1 };
  for (const _ of [1, 2]) {
    await app.container.events.transaction((tx, append) => ready(tx, append, playable));
  }
  const events = await read('/me/events?type=room.recording_ready', own);
  assert.equal(events.list('data').length, 1);
  assert.deepEqual(
    ['roomId', 'videoId', 'durationSec'].map((field) => events.at(`data.0.data.${field}`)),
    [roomId, videoId, 1],
  );
});
