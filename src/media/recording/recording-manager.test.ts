import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { waitFor } from '../../../test/harness/wait-for.ts';
import { testFfmpeg } from '../../../test/live/ffmpeg.ts';
import { type FlvSource, type FlvSourceOptions, startFlvSource } from '../../../test/live/flv-source.ts';
import { errorLog, KINDS, plantOutput } from '../../../test/transcode/malicious-outputs.ts';
import { systemClock } from '../../kernel/clock.ts';
import { createLogger } from '../../platform/logger.ts';
import type {
  BlobInfo,
  DesiredRecording,
  IngestSession,
  RecordingPart,
  RecordingPort,
} from '../contract/index.ts';
import { createDiskStore } from '../storage/disk.ts';
import { createRecordingManager, type RecordingManager } from './recording-manager.ts';

const run = promisify(execFile);
const cleanups: (() => Promise<unknown>)[] = [];
after(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
});

const SMALL: FlvSourceOptions = { width: 160, height: 90, fps: 15 };
const PUBLISH: IngestSession = {
  sessionId: 'ing_a',
  streamId: 'str_a',
  nodeId: 'nod_a',
  protocol: 'rtmp',
  startedAt: systemClock.now(),
  grant: { streamId: 'str_a', maxHeight: 1080, maxFps: 60 },
  video: { codec: 'avc1.42c00b', width: 160, height: 90, fps: 15 },
  audio: { codec: 'mp4a.40.2', sampleRate: 44_100, channels: 2 },
};

/** The database's side, in memory. */
class FakePort implements RecordingPort {
  list: DesiredRecording[] = [];
  /** Parts that were announced and not closed. */
  open = new Map<string, RecordingPart>();
  withMedia = new Set<string>();
  closedParts = new Map<string, BlobInfo | null>();
  refuses = false;
  /** Number of subsequent calls that fail. */
  failures = 0;

  async wanted() {
    return this.list;
  }
  async opened(_node: string, part: RecordingPart, hasMedia: boolean) {
    if (this.failures-- > 0) throw new Error('the database is away');
    if (this.refuses) return null;
    if (!this.closedParts.has(part.id)) this.open.set(part.id, part);
    if (hasMedia) this.withMedia.add(part.id);
    return `w/wsp_a/rec/${part.recordingId}/${part.id}.mp4`;
  }
  async closed(partId: string, stored: BlobInfo | null) {
    this.open.delete(partId);
    this.closedParts.set(partId, stored);
  }
  async openParts() {
    return [...this.open.values()];
  }
}

async function setUp(t: TestContext, log = createLogger('silent')) {
  const root = await mkdtemp(join(tmpdir(), 'recording-'));
  const source: FlvSource = await startFlvSource(SMALL);
  const port = new FakePort();
  const live: IngestSession[] = [PUBLISH];
  const disk = { isFull: false, isThere: async () => !disk.isFull };
  const dir = join(root, 'rec');
  const store = createDiskStore(join(root, 'media'));
  const manager: RecordingManager = createRecordingManager({
    engine: { list: () => live, feed: source.feed },
    port,
    store,
    disk,
    dir,
    nodeId: 'nod_a',
    ffmpeg: testFfmpeg,
    log,
    clock: systemClock,
  });
  t.after(async () => {
    await source.close();
    await manager.stop();
    await rm(root, { recursive: true, force: true });
  });
  return {
    source,
    port,
    live,
    disk,
    dir,
    store,
    manager,
    want: (recordingId: string | null) => {
      port.list = recordingId === null ? [] : [{ publishId: 'ing_a', recordingId }];
      return manager.sync();
    },
    /** Returns the ordered paths of the stored parts, once the given number is closed. */
    stored: (count: number) =>
      waitFor(
        () => {
          const found = [...port.closedParts.keys()]
            .sort()
            .flatMap((id) => port.closedParts.get(id)?.key ?? []);
          return found.length === count && found.map((key) => store.localPath(key) ?? '');
        },
        { timeoutMs: 8000, message: () => JSON.stringify([...port.closedParts]) },
      ),
    hasMedia: () => waitFor(() => port.withMedia.size > 0, { timeoutMs: 8000 }),
    /** Bytes of the one file that is being written. */
    written: async () => {
      const names = await readdir(dir, { recursive: true }).catch(() => []);
      const file = names.find((name) => name.endsWith('.mp4'));
      return file === undefined ? 0 : (await readFile(join(dir, file))).length;
    },
  };
}

/** Frames that decode, and how long they last. */
async function decode(path: string): Promise<{ frames: number; seconds: number; width: number }> {
  const args = ['-v', 'error', '-count_frames', '-select_streams', 'v', '-of', 'json'];
  const show = ['-show_entries', 'stream=nb_read_frames,duration,width'];
  const { stdout, stderr } = await run('ffprobe', [...args, ...show, path]);
  assert.equal(stderr, '', 'it decodes without an error');
  const [stream] = JSON.parse(stdout).streams;
  return { frames: Number(stream.nb_read_frames), seconds: Number(stream.duration), width: stream.width };
}

test('a desired recording runs until it is no longer desired; the file moves to the store', async (t) => {
  const { want, hasMedia, stored, written, dir, manager } = await setUp(t);
  await manager.sync();
  assert.equal(await written(), 0);
  await want('ses_a');
  await hasMedia();
  await waitFor(async () => (await written()) > 60_000, { timeoutMs: 8000 });
  await want(null);
  const [path = ''] = await stored(1);
  const { frames, seconds } = await decode(path);
  assert.ok(frames >= 15 && Math.abs(seconds - frames / 15) < 0.3, `${frames} frames in ${seconds} s`);
  await waitFor(async () => (await readdir(dir)).length === 0, { message: 'no folder is left' });
});

test('a killed recorder continues in a new part, and both can be read to their end', async (t) => {
  const { want, stored, written, manager, port } = await setUp(t);
  await want('ses_a');
  await waitFor(async () => (await written()) > 60_000, { timeoutMs: 8000 });
  const { stdout } = await run('pgrep', ['-P', String(process.pid), '-f', 'rec/ses_a']);
  process.kill(Number(stdout), 'SIGKILL');
  await waitFor(() => port.closedParts.size === 1, { timeoutMs: 8000 });
  await waitFor(async () => port.open.size === 1 && (await written()) > 60_000, { timeoutMs: 8000 });
  assert.equal(manager.issue('str_a'), null);
  await want(null);
  for (const path of await stored(2)) assert.ok((await decode(path)).frames >= 10);
});

test('other media, another recording and the end of a publish each end a file', async (t) => {
  const { want, stored, hasMedia, live, source, manager, port } = await setUp(t);
  await want('ses_a');
  await hasMedia();
  source.use({ ...SMALL, width: 320, height: 180, audio: 'mp3' });
  live[0] = {
    ...PUBLISH,
    video: { codec: 'avc1.42c00b', width: 320, height: 180, fps: 15 },
    audio: { codec: 'mp3', sampleRate: 44_100, channels: 2 },
  };
  manager.publishesChanged();
  await waitFor(() => port.withMedia.size === 2, { timeoutMs: 8000 });
  await want('ses_b');
  await waitFor(() => port.withMedia.size === 3, { timeoutMs: 8000 });
  live.length = 0;
  source.endReaders();
  manager.publishesChanged();
  const paths = await stored(3);
  assert.deepEqual(
    paths.map((path) => path.split('/').at(-2)),
    ['ses_a', 'ses_a', 'ses_b'],
  );
  assert.equal((await decode(paths[0] ?? '')).width, 160);
  assert.equal((await decode(paths[1] ?? '')).width, 320);
  const { stdout } = await run('ffprobe', [
    '-v',
    'error',
    '-show_entries',
    'stream=codec_name',
    paths[1] ?? '',
  ]);
  assert.deepEqual(stdout.match(/(?<=codec_name=)\w+/g), ['h264', 'aac'], 'what MP4 players know');
});

test('a codec that the local ffmpeg cannot read is recorded directly', async (t) => {
  const { want, stored, hasMedia, written, live, manager } = await setUp(t);
  live[0] = {
    ...PUBLISH,
    video: { codec: 'avc1.42c00b', width: 160, height: 90, fps: 15, isEnhanced: true },
  };
  await want('ses_a');
  await hasMedia();
  await waitFor(async () => (await written()) > 60_000, { timeoutMs: 8000 });
  assert.equal(manager.issue('str_a'), null);
  await want(null);
  const [path = ''] = await stored(1);
  const { frames, width } = await decode(path);
  assert.ok(frames >= 10 && width === 160, `${frames} of ${width}`);
});

test('a stream without video is not recorded', async (t) => {
  const { want, live, port } = await setUp(t);
  const { video: _, ...soundOnly } = PUBLISH;
  live[0] = soundOnly;
  await want('ses_a');
  assert.equal(port.open.size, 0);
});

test('a failing recorder is reported and retried until it succeeds', async (t) => {
  const { want, manager, dir, hasMedia } = await setUp(t);
  // A file where the folder should be: no part can be written.
  await writeFile(dir, '');
  await want('ses_a');
  await waitFor(() => manager.issue('str_a') === 'RECORDING_FAILED', { timeoutMs: 8000 });
  await rm(dir);
  await hasMedia();
  assert.equal(manager.issue('str_a'), null);
});

test('a full disk ends the recording with its own issue, not as a recorder failure', async (t) => {
  const { want, manager, disk, hasMedia, stored } = await setUp(t);
  await want('ses_a');
  await hasMedia();
  assert.equal(manager.issue('str_a'), null);
  disk.isFull = true;
  await want('ses_a');
  assert.equal(manager.issue('str_a'), 'DISK_FULL');
  assert.equal(manager.issue('str_b'), null);
  assert.equal((await stored(1)).length, 1);
});

test('files of an earlier process are recovered, cut to complete fragments', async (t) => {
  const { dir, manager, port, store } = await setUp(t);
  const sample = join(dir, 'ses_a/rec_cut.mp4');
  await mkdir(join(dir, 'ses_a'), { recursive: true });
  await makeFragmented(sample);
  const whole = await readFile(sample);
  await writeFile(sample, whole.subarray(0, whole.length - 1500));
  // One part with only its head written; one stored but not announced; and one without any file.
  await writeFile(join(dir, 'ses_a/rec_head.mp4'), whole.subarray(0, 600));
  await store.put('w/wsp_a/rec/ses_a/rec_told.mp4', whole, 'video/mp4');
  for (const id of ['rec_told', 'rec_gone']) port.open.set(id, { id, recordingId: 'ses_a' });
  port.failures = 2;

  await manager.recover();
  await waitFor(() => port.closedParts.size === 4, { timeoutMs: 8000 });
  assert.equal(port.closedParts.get('rec_head'), null);
  assert.equal(port.closedParts.get('rec_gone'), null);
  assert.equal(port.closedParts.get('rec_told')?.sizeBytes, whole.length);
  const path = store.localPath(port.closedParts.get('rec_cut')?.key ?? '') ?? '';
  const { frames } = await decode(path);
  assert.ok(frames === 15 || frames === 30, `whole groups of pictures: ${frames}`);
});

for (const kind of KINDS) {
  test(`${kind} for a part is dropped, and nothing of it is stored`, async (t) => {
    const { log, errors } = errorLog();
    const { dir, store, manager, port } = await setUp(t, log);
    const secret = join(dir, '../secret.mp4');
    await makeFragmented(secret);
    const before = await readFile(secret);
    await mkdir(join(dir, 'ses_a'), { recursive: true });
    await plantOutput(kind, join(dir, 'ses_a/rec_bad.mp4'), secret);
    await manager.recover();
    await waitFor(async () => (await readdir(dir)).length === 0, { timeoutMs: 8000 });
    assert.equal(port.closedParts.get('rec_bad'), null);
    assert.ok(port.closedParts.has('rec_bad'));
    assert.equal(await store.head('w/wsp_a/rec/ses_a/rec_bad.mp4'), null);
    assert.deepEqual(await readFile(secret), before);
    assert.deepEqual(errors, ['a part of a recording is not a file and is dropped']);
  });
}

test('a part whose recording is closed already is dropped', async (t) => {
  const { dir, manager, port } = await setUp(t);
  await mkdir(join(dir, 'ses_a'), { recursive: true });
  await makeFragmented(join(dir, 'ses_a/rec_late.mp4'));
  port.refuses = true;
  await manager.recover();
  await waitFor(async () => (await readdir(dir)).length === 0, { timeoutMs: 8000 });
  assert.equal(port.closedParts.size, 0);
});

/** Three seconds, a keyframe each second, as a recorder writes them. */
function makeFragmented(path: string) {
  const input = [
    '-f',
    'lavfi',
    '-i',
    'testsrc2=size=160x90:rate=15',
    '-t',
    '3',
    '-c:v',
    'libx264',
    '-g',
    '15',
  ];
  const flags = ['-movflags', '+frag_keyframe+empty_moov+default_base_moof'];
  return run('ffmpeg', ['-v', 'error', ...input, '-preset', 'ultrafast', ...flags, '-f', 'mp4', path]);
}
