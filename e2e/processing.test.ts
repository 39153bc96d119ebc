import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { createPartner, type Partner } from '../test/harness/partner.ts';
import { type RunningPlatform, startPlatform } from '../test/harness/platform.ts';
import { waitFor } from '../test/harness/wait-for.ts';

const run = promisify(execFile);
const CHUNK_MIN_SEC = 16;
const environment = {
  ROLES: 'api,worker',
  TRANSCODE_CONCURRENCY: '2',
  VIDEO_CHUNK_MIN_SEC: String(CHUNK_MIN_SEC),
};
let folder: string;
let dataDir: string;
let platform: RunningPlatform;
let partner: Partner;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'marquee-processing-'));
  dataDir = join(folder, 'data');
  platform = await startPlatform({ dataDir, environment });
  partner = createPartner(platform);
});
after(async () => {
  await platform?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** @param gop frames between two keyframes: more than six seconds of them cannot be copied. */
async function makeSource(
  name: string,
  { seconds, size, fps, gop }: { seconds: number; size: string; fps: number; gop: number },
): Promise<Buffer> {
  const path = join(folder, name);
  await run('ffmpeg', [
    ...['-v', 'error', '-f', 'lavfi', '-i', `testsrc2=s=${size}:r=${fps}`],
    ...['-f', 'lavfi', '-i', 'sine=f=440:r=48000', '-t', String(seconds)],
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-g', String(gop)],
    ...['-c:a', 'aac', '-b:a', '96k', path],
  ]);
  return readFile(path);
}

async function upload(file: Buffer, filename: string): Promise<string> {
  const session = await partner.createUpload({ filename, sizeBytes: file.length });
  const answer = await fetch(session.uploadUrl, { method: 'PUT', body: new Uint8Array(file) });
  assert.ok(answer.ok, `${answer.status} ${await answer.text()}`);
  return session.videoId;
}

/** The programs that work on this platform's videos. */
async function programs(words = ''): Promise<number[]> {
  const { stdout } = await run('ps', ['-eo', 'pid=,args=']);
  return stdout
    .split('\n')
    .filter((line) => /^\s*\d+\s+\S*ffmpeg\b/.test(line) && line.includes(dataDir) && line.includes(words))
    .map((line) => Number.parseInt(line, 10));
}

/** Counts the frames of each rung in the files served to players. */
async function frameCounts(playbackUrl: string): Promise<Record<string, number>> {
  const master = await (await fetch(playbackUrl)).text();
  const found: Record<string, number> = {};
  for (const [, line = ''] of master.matchAll(/^#EXT-X-STREAM-INF:.*RESOLUTION.*\n(.*)$/gm)) {
    const url = new URL(line, playbackUrl).href;
    const { stdout } = await run('ffprobe', [
      ...['-v', 'error', '-select_streams', 'v', '-count_packets'],
      ...['-show_entries', 'stream=nb_read_packets', '-of', 'csv=p=0', url],
    ]);
    found[new URL(url).pathname.split('/').at(-2) ?? ''] = Number.parseInt(stdout, 10);
  }
  return found;
}

async function events(videoId: string): Promise<string[]> {
  const { data } = await partner.call('GET', '/me/events?limit=100');
  assert.ok(Array.isArray(data));
  return data
    .filter((event) => event.data.videoId === videoId)
    .sort((a, b) => a.data.sequence - b.data.sequence)
    .map((event) => event.type);
}

const WHOLE = [
  'video.created',
  'video.upload.completed',
  'video.processing.started',
  'video.processing.completed',
];

test('kill -9 in the middle of an encode: the next start finishes it, once', async () => {
  // Four segments: the first one is written long before the last one.
  const seconds = 24;
  const fps = 25;
  const file = await makeSource('long-gop.mp4', { seconds, size: '640x360', fps, gop: 601 });
  const videoId = await upload(file, 'long-gop.mp4');
  const isHalfDone = async () => {
    const names = await readdir(join(dataDir, 'tmp'), { recursive: true });
    return names.some((name) => name.endsWith('.m4s'));
  };
  await waitFor(isHalfDone, { timeoutMs: 30_000, intervalMs: 20, message: 'a first segment' });
  assert.ok((await programs('libx264')).length > 0, 'the encode is running');
  const ended = once(platform.process, 'exit');
  platform.process.kill('SIGKILL');
  await ended;
  await waitFor(async () => (await programs()).length === 0, {
    timeoutMs: 10_000,
    intervalMs: 100,
    message: 'the end of every ffmpeg of the killed platform',
  });

  platform = await startPlatform({ dataDir, environment, port: platform.port });
  const ready = await partner.videoWhen(videoId, ({ status }) => status === 'READY', 60_000);
  const counts = await frameCounts(ready.playbackUrl ?? '');
  assert.deepEqual(
    Object.keys(counts),
    ready.renditions.map(({ name }) => name),
  );
  for (const [name, count] of Object.entries(counts)) assert.equal(count, seconds * fps, name);
  assert.deepEqual(await events(videoId), WHOLE);
  const lives = await readdir(join(dataDir, 'tmp'));
  assert.equal(lives.length, 1, 'the scratch files of the killed platform are gone');
  assert.deepEqual(await readdir(join(dataDir, 'tmp', lives[0] ?? '')), []);
});

/** @returns the path of the file that its owner downloads. */
async function download(videoId: string, rendition: string): Promise<string> {
  const { data } = await partner.call('GET', `/videos/${videoId}/download?rendition=${rendition}`);
  const path = join(folder, `${rendition}.download`);
  await writeFile(path, await (await fetch(Object(data).url)).bytes());
  return path;
}

test('a long source is encoded in chunks, exact to the frame, and can be played before it is READY', async () => {
  const seconds = 24;
  const fps = 10;
  const file = await makeSource('chunked.mp4', { seconds, size: '854x480', fps, gop: 20 });
  const videoId = await upload(file, 'chunked.mp4');
  const early = await partner.videoWhen(videoId, ({ playbackUrl }) => playbackUrl !== null);
  assert.equal(early.status, 'PROCESSING');
  assert.equal((await fetch(early.playbackUrl ?? '')).status, 200);
  const ready = await partner.videoWhen(videoId, ({ status }) => status === 'READY', 60_000);
  const counts = await frameCounts(ready.playbackUrl ?? '');
  assert.ok(Object.keys(counts).length >= 2);
  for (const [name, count] of Object.entries(counts)) assert.equal(count, seconds * fps, name);
  const rendition = await download(videoId, ready.renditions.at(-1)?.name ?? '');
  const tracks = ['-v', 'error', '-count_packets', '-show_entries', 'stream=codec_type,nb_read_packets'];
  const { stdout, stderr } = await run('ffprobe', [...tracks, '-of', 'csv=p=0', rendition]);
  const sound = Math.ceil((seconds * 48_000) / 1024);
  assert.match(stdout, new RegExp(`^video,${seconds * fps}\naudio,(${sound}|${sound + 1})\\s*$`));
  assert.equal(stderr, '');
  assert.deepEqual(await readFile(await download(videoId, 'original')), file);
  const files = await readdir(join(dataDir, 'media'), { recursive: true });
  const pieces = files.filter((file) => file.includes(videoId) && /source\/.*\.mkv$/.test(file));
  assert.ok(pieces.length >= 2, 'it was cut');
  assert.equal((await fetch(ready.thumbnailUrl ?? '')).headers.get('content-type'), 'image/jpeg');
  assert.deepEqual(await events(videoId), WHOLE);
});

test('encoding stops when its video is deleted', async () => {
  const file = await readFile(join(folder, 'long-gop.mp4'));
  const videoId = await upload(file, 'deleted.mp4');
  await waitFor(async () => (await programs('libx264')).length > 0, { timeoutMs: 20_000, intervalMs: 20 });
  await partner.call('DELETE', `/videos/${videoId}`);
  await waitFor(async () => (await programs()).length === 0, { timeoutMs: 5000, intervalMs: 50 });
  const [life = ''] = await readdir(join(dataDir, 'tmp'));
  await waitFor(async () => (await readdir(join(dataDir, 'tmp', life))).length === 0);
});

async function failure(videoId: string, attempts: number) {
  const failed = async () => (await events(videoId)).filter((type) => type === 'video.processing.failed');
  const options = { timeoutMs: 15_000, intervalMs: 50, message: `failure ${attempts} of ${videoId}` };
  await waitFor(async () => (await failed()).length === attempts, options);
  const { status, error } = await partner.video(videoId);
  assert.equal(status, 'FAILED');
  return error;
}

test('a corrupt file fails immediately with its error, and a retry is another attempt', async () => {
  const videoId = await upload(Buffer.alloc(200_000, 'not a video '), 'film.mp4');
  const other = await readFile(join(folder, 'chunked.mp4'));
  const cutId = await upload(other.subarray(0, other.length / 2), 'half.mp4');
  assert.equal((await failure(videoId, 1))?.code, 'UNSUPPORTED_FORMAT');
  assert.equal((await failure(cutId, 1))?.code, 'CORRUPT_INPUT');
  await partner.call('POST', `/videos/${cutId}/retry`);
  assert.equal((await failure(cutId, 2))?.code, 'CORRUPT_INPUT');
  assert.deepEqual(await events(cutId), [
    'video.created',
    'video.upload.completed',
    'video.processing.started',
    'video.processing.failed',
    'video.processing.started',
    'video.processing.failed',
  ]);
});
