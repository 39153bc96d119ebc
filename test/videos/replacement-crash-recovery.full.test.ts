import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { ListMultipartUploadsCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { createTestDatabase, type TestDatabase } from '../harness/database.ts';
import { createPartner, type Partner } from '../harness/partner.ts';
import { freePort, type RunningPlatform, startPlatform } from '../harness/platform.ts';
import { NO_S3, startS3 } from '../harness/s3.ts';
import { waitFor } from '../harness/wait-for.ts';

/** A node that takes files and shows them, and one that encodes them, which share the database and the bucket. */
type Node = 'api' | 'worker';

const s3 = await startS3();
const skip = s3 === null ? NO_S3 : false;
const SECONDS = { first: 2, better: 10 };

let folder: string;
let database: TestDatabase;
let partner: Partner;
let port: number;
const nodes: Partial<Record<Node, RunningPlatform>> = {};
const files: Record<'first' | 'better', Buffer> = { first: Buffer.alloc(0), better: Buffer.alloc(0) };

before(async () => {
  if (s3 === null) return;
  folder = await mkdtemp(join(tmpdir(), 'marquee-killed-'));
  database = await createTestDatabase({ pool: 2 });
  port = await freePort();
  files.first = await makeFile(SECONDS.first, 24);
  // Has too few keyframes to be copied.
  files.better = await makeFile(SECONDS.better, 600);
  partner = createPartner(await start('api'));
  await start('worker');
});
after(async () => {
  await Promise.all(Object.values(nodes).map((node) => node.stop()));
  await database?.close();
  await s3?.close();
  if (s3 !== null) await rm(folder, { recursive: true, force: true });
});

async function start(node: Node): Promise<RunningPlatform> {
  assert.ok(s3 !== null);
  const started = await startPlatform({
    dataDir: join(folder, node),
    ...(node === 'api' && { port }),
    environment: {
      ROLES: node,
      DATABASE_URL: database.url,
      SECRET_KEY: '0e'.repeat(32),
      S3_BUCKET: s3.bucket,
      S3_ENDPOINT: s3.endpoint,
      S3_ACCESS_KEY_ID: s3.accessKeyId,
      S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
      S3_PATH_STYLE: 'true',
    },
  });
  nodes[node] = started;
  return started;
}

async function kill(node: Node): Promise<void> {
  const child = nodes[node]?.process;
  assert.ok(child !== undefined);
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

/** @param gop frames between two keyframes. */
async function makeFile(seconds: number, gop: number): Promise<Buffer> {
  const path = join(folder, `${seconds}.mp4`);
  await promisify(execFile)('ffmpeg', [
    ...['-v', 'error', '-f', 'lavfi', '-i', 'testsrc2=s=640x360:r=24', '-t', String(seconds)],
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-g', String(gop), path],
  ]);
  return readFile(path);
}

/** @returns once all bytes were acknowledged. */
async function put(url: string, file: Buffer): Promise<void> {
  const answer = await fetch(url, { method: 'PUT', body: new Uint8Array(file) });
  assert.ok(answer.ok, `${answer.status} ${await answer.text()}`);
}

async function readyVideo(): Promise<{ id: string; playbackUrl: string }> {
  const made = await partner.createUpload({ filename: 'first.mp4', sizeBytes: files.first.length });
  await put(made.uploadUrl, files.first);
  const ready = await partner.videoWhen(made.videoId, ({ status }) => status === 'READY', 60_000);
  return { id: made.videoId, playbackUrl: ready.playbackUrl ?? '' };
}

/** @returns the upload URL of the new file. */
async function replace(id: string): Promise<string> {
  const sizeBytes = files.better.length;
  const { data } = await partner.call('POST', `/videos/${id}/replacement`, { sizeBytes });
  return String(Object(Object(data).upload).uploadUrl);
}

/** Returns the seconds in the lowest rung's playlist, after fetching all of its segments. */
async function played(playbackUrl: string): Promise<number> {
  const text = async (url: string) => {
    const answer = await fetch(url);
    assert.equal(answer.status, 200, url);
    return answer.text();
  };
  const [, line = ''] = /^#EXT-X-STREAM-INF:.*RESOLUTION.*\n(.*)$/m.exec(await text(playbackUrl)) ?? [];
  const playlist = new URL(line, playbackUrl).href;
  const segments = await text(playlist);
  for (const [, segment = ''] of segments.matchAll(/^([^#\n].*\.m4s.*)$/gm)) {
    const answer = await fetch(new URL(segment, playlist));
    assert.equal(answer.status, 200, segment);
    await answer.body?.cancel();
  }
  return [...segments.matchAll(/^#EXTINF:([\d.]+)/gm)].reduce((sum, [, sec]) => sum + Number(sec), 0);
}

async function used(): Promise<number> {
  return Number(Object((await partner.call('GET', '/quota/STORAGE_BYTES')).data).used);
}

async function events(id: string): Promise<string[]> {
  const { data } = await partner.call('GET', '/me/events?limit=100');
  assert.ok(Array.isArray(data));
  return data.toReversed().flatMap(({ type, data: about }) => (about.videoId === id ? [type] : []));
}

/** Returns a video's folders in the bucket, each of which should have a row, and its unfinished uploads. */
async function stored(id: string) {
  assert.ok(s3 !== null);
  const { endpoint, region, accessKeyId, secretAccessKey, bucket: Bucket } = s3;
  const credentials = { accessKeyId, secretAccessKey };
  const client = new S3Client({ endpoint, region, credentials, forcePathStyle: true });
  const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket }));
  const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket }));
  client.destroy();
  const keys = Contents.map(({ Key = '' }) => Key).filter((key) => key.includes(`/v/${id}/`));
  const names = keys.map((key) => key.split(`/v/${id}/`)[1]?.split('/') ?? []);
  return {
    folders: [...new Set(names.flatMap(([name = '']) => (/^r\d+a\d+$/.test(name) ? [name] : [])))].sort(),
    originals: names.filter(([name]) => name === 'original').length,
    sent: Uploads.length,
  };
}

/** The folders that rows point to. */
async function known(id: string): Promise<string[]> {
  const rows = await database.sql`
    select folder from video_rendition where video_id = ${id} and folder is not null
    union select image_folder from video where id = ${id}
    union select previous_image_folder from video_replacement where video_id = ${id} and previous_kept_until is not null`;
  return rows.map(({ folder: name }) => String(name)).sort();
}

/**
 * Asserts that the new file plays, once; the previous one is retained for current viewers; no other file is
 * left.
 */
async function assertReplaced(id: string, playbackUrl: string, before: number): Promise<void> {
  const done = await waitFor(
    async () => {
      const seconds = await played(playbackUrl);
      const { replacement, durationSec, status } = await partner.video(id);
      assert.equal(status, 'READY');
      assert.notEqual(replacement?.status, 'FAILED', JSON.stringify(replacement));
      assert.ok([SECONDS.first, SECONDS.better].includes(Math.round(seconds)), `${seconds} s`);
      return replacement === null && { durationSec, seconds };
    },
    { timeoutMs: 90_000, intervalMs: 100, message: 'the new file' },
  );
  assert.ok(Math.abs((done.durationSec ?? 0) - SECONDS.better) < 0.2, `${done.durationSec}`);
  assert.equal(Math.round(await played(playbackUrl)), SECONDS.better);
  const kinds = (await events(id)).slice(3);
  assert.deepEqual(kinds, ['video.processing.completed', 'video.upload.completed', 'video.replaced']);
  assert.equal(await used(), before + files.better.length, 'both files count while both are there');
  const wanted = { folders: await known(id), originals: 2, sent: 0 };
  await waitFor(async () => (await stored(id)).folders.length === wanted.folders.length, {
    timeoutMs: 60_000,
    intervalMs: 200,
    message: 'nothing left of the run that was killed',
  });
  assert.deepEqual(await stored(id), wanted);
  const lives = await readdir(join(folder, 'worker/tmp'));
  assert.equal(lives.length, 1, 'the scratch files of a killed worker are gone');
  const runs = await readdir(join(folder, 'worker/tmp', lives[0] ?? ''));
  // A copy of an original is retained for a minute, for the next job.
  assert.deepEqual(
    runs.filter((name) => !name.startsWith('original-')),
    [],
  );
}

test('after kill -9 of the worker during a replacement the old file plays, and the next worker encodes the new one', {
  skip,
}, async () => {
  const { id, playbackUrl } = await readyVideo();
  const before = await used();
  await put(await replace(id), files.better);
  await waitFor(
    async () => {
      const { replacement } = await partner.video(id);
      assert.notEqual(replacement, null, 'it is done before it could be killed');
      return Number(Reflect.get(Object(replacement), 'progressPercent')) > 0;
    },
    { timeoutMs: 60_000, intervalMs: 20, message: 'an encode under way' },
  );
  await kill('worker');
  assert.equal((await partner.video(id)).replacement?.status, 'PROCESSING');
  assert.equal(Math.round(await played(playbackUrl)), SECONDS.first);
  await start('worker');
  await assertReplaced(id, playbackUrl, before);
});
