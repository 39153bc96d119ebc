import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { Upload } from 'tus-js-client';
import { launchBrowser, type TestBrowser } from '../test/harness/browser.ts';
import { makeClip } from '../test/harness/clip.ts';
import { type HttpsSink, startHttpsSink } from '../test/harness/https-sink.ts';
import { createPartner, type Partner } from '../test/harness/partner.ts';
import { headersOf, OWNER_KEY, type RunningPlatform, startPlatform } from '../test/harness/platform.ts';
import { NO_S3, startS3, type TestS3 } from '../test/harness/s3.ts';
import { waitFor } from '../test/harness/wait-for.ts';

const s3 = await startS3();
let folder: string;
let sink: HttpsSink;
let browser: TestBrowser;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'marquee-upload-'));
  sink = await startHttpsSink();
  browser = await launchBrowser();
});
after(async () => {
  await browser?.close();
  await sink?.close();
  await s3?.close();
  await rm(folder, { recursive: true, force: true });
});

/** The platform on one folder and one port; `crash` kills it and starts it again. */
async function startCrashing(t: TestContext, name: string, environment: Record<string, string> = {}) {
  const start = (port?: number) =>
    startPlatform({
      environment: {
        ROLES: 'api,worker',
        WEBHOOK_ALLOW_PRIVATE: '127.0.0.0/8',
        NODE_EXTRA_CA_CERTS: sink.ca.file,
        ...environment,
      },
      dataDir: join(folder, name),
      ...(port === undefined ? {} : { port }),
    });
  let platform = await start();
  t.after(() => platform.stop());
  return {
    current: () => platform,
    async crash() {
      const { process: child, port } = platform;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
      platform = await start(port);
    },
  };
}

/** Starts a proxy to the platform that cuts every connection after `bytes` bytes, while `isCutting`. */
async function startCutter(t: TestContext, port: number, bytes: number) {
  const state = { port: 0, isCutting: true, cuts: 0 };
  const server = createServer((client) => {
    const target = connect(port, '127.0.0.1');
    let left = bytes;
    const end = () => {
      client.destroy();
      target.destroy();
    };
    for (const socket of [client, target]) socket.on('error', end).on('close', end);
    client.on('data', (data) => {
      left -= data.length;
      target.write(data);
      if (left > 0 || !state.isCutting) return;
      state.cuts += 1;
      end();
    });
    target.pipe(client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const address = server.address();
  state.port = typeof address === 'object' && address !== null ? address.port : 0;
  return state;
}

/** Uploads with tus-js-client, which tries again by itself. */
function tus(
  file: Buffer,
  uploadUrl: string,
  onProgress: (bytes: number) => void = () => {},
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const upload = new Upload(file, {
      uploadUrl,
      retryDelays: Array.from({ length: 240 }, () => 250),
      onProgress,
      onSuccess: resolve,
      onError: reject,
    });
    upload.start();
  });
}

const deliveries = (videoId: string) =>
  sink.requests
    .map((request): { type: string; id: string; data: Record<string, unknown> } =>
      JSON.parse(request.rawBody.toString()),
    )
    .filter(({ data }) => data.videoId === videoId);

/** First viewer: opens the watch page and waits for the video to play. */
async function plays(t: TestContext, platform: RunningPlatform, videoId: string): Promise<void> {
  const { page, errors, close } = await browser.open(`${platform.url}/watch/${videoId}`);
  t.after(close);
  await page.evaluate('document.querySelector("video").muted = true');
  const seen = () =>
    page.evaluate<number>('document.querySelector("video")?.getVideoPlaybackQuality().totalVideoFrames ?? 0');
  await waitFor(
    async () => {
      await page.evaluate('document.querySelector("video").play().catch(() => {})');
      return (await seen()) >= 24;
    },
    { timeoutMs: 20_000, intervalMs: 200, message: () => `a picture; ${errors.join(' ')}` },
  );
  await close();
}

/** Returns every URL of the video's playlists, the master first. */
async function addressesOf(master: string): Promise<string[]> {
  const read = async (url: string) => {
    const response = await fetch(url);
    assert.equal(response.status, 200, url);
    const lines = (await response.text()).split('\n');
    return lines
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => new URL(line, url).href);
  };
  const playlists = await read(master);
  assert.ok(playlists.length > 0, 'the master playlist names a rendition');
  return [master, ...playlists, ...(await Promise.all(playlists.map(read))).flat()];
}

async function remove(partner: Partner, platform: RunningPlatform, videoId: string): Promise<void> {
  const { playbackUrl, thumbnailUrl } = await partner.video(videoId);
  const addresses = await addressesOf(playbackUrl ?? '');
  assert.ok(thumbnailUrl !== null, 'a thumbnail');
  assert.equal((await fetch(thumbnailUrl)).status, 200);
  await partner.call('DELETE', `/videos/${videoId}`);
  const gone = await fetch(`${platform.api}/videos/${videoId}`, { headers: headersOf(OWNER_KEY) });
  assert.equal(gone.status, 404);
  // URLs signed for the storage itself remain valid for a while.
  const own = [...addresses, thumbnailUrl].filter((url) => new URL(url).port === String(platform.port));
  await waitFor(
    async () => {
      const answers = await Promise.all(own.map((url) => fetch(url, { redirect: 'manual' })));
      return answers.every(({ status }) => status === 404);
    },
    { timeoutMs: 3000, message: 'no file of the deleted video' },
  );
}

test('an upload survives cuts and kill -9, its processing survives another kill, and the video plays and is deleted', async (t) => {
  const platform = await startCrashing(t, 'disk');
  const partner = createPartner(platform.current());
  await partner.createWebhook(`${sink.url}/hook`, ['video.*']);
  const path = join(folder, 'clip.mp4');
  await makeClip(path, { seconds: 8, width: 854, height: 480, fps: 12, bitrateKbps: 4000 });
  const file = await readFile(path);
  const session = await partner.createUpload({ filename: 'clip.mp4', sizeBytes: file.length });
  const { videoId } = session;

  const cutter = await startCutter(t, platform.current().port, Math.ceil(file.length / 5));
  const address = new URL(session.uploadUrl);
  address.host = `127.0.0.1:${cutter.port}`;
  let crash: Promise<void> | null = null;
  await tus(file, address.href, (bytes) => {
    if (bytes > file.length / 2) crash ??= platform.crash();
    if (bytes > file.length * 0.7) cutter.isCutting = false;
  });
  assert.ok(crash !== null && cutter.cuts > 1, `${cutter.cuts} cuts`);
  await crash;

  await partner.videoWhen(videoId, ({ status }) => status === 'PROCESSING');
  await platform.crash();
  assert.notEqual((await partner.video(videoId)).status, 'READY', 'it was killed in the middle');
  const ready = await partner.videoWhen(videoId, ({ status }) => status === 'READY');
  assert.ok(Math.abs((ready.durationSec ?? 0) - 8) < 0.2, `${ready.durationSec} s`);
  assert.ok(ready.renditions.some(({ name }) => name === '480p'));
  await plays(t, platform.current(), videoId);
  await remove(partner, platform.current(), videoId);

  await waitFor(() => deliveries(videoId).some(({ type }) => type === 'video.deleted'), {
    timeoutMs: 15_000,
    message: 'video.deleted',
  });
  const completed = deliveries(videoId).filter(({ type }) => type === 'video.processing.completed');
  assert.equal(completed.length, 1, JSON.stringify(deliveries(videoId).map(({ type }) => type)));
  assert.equal(completed[0]?.data.status, 'READY');
  const types = new Set(deliveries(videoId).map(({ type }) => type));
  for (const type of ['video.created', 'video.upload.completed', 'video.processing.started']) {
    assert.ok(types.has(type), type);
  }

  const small = join(folder, 'example.mp4');
  await makeClip(small, { seconds: 2, width: 320, height: 180, bitrateKbps: 200 });
  assert.match(await runExample(platform.current(), small), /^READY http\S+\/master\.m3u8\n$/);
});

/** Returns the output of the guide's program. */
async function runExample({ api }: RunningPlatform, file: string): Promise<string> {
  const program = join(import.meta.dirname, '../docs/examples/upload.ts');
  const environment = { ...process.env, MARQUEE_API: api, MARQUEE_API_KEY: OWNER_KEY };
  const options = { env: environment, timeout: 60_000 };
  return (await promisify(execFile)(process.execPath, [program, file], options)).stdout;
}

/** Lists the stored files of a video. */
async function stored(server: TestS3, videoId: string): Promise<string[]> {
  const { endpoint, region, bucket: Bucket, ...credentials } = server;
  const client = new S3Client({ endpoint, region, credentials, forcePathStyle: true });
  const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket }));
  client.destroy();
  return Contents.map(({ Key = '' }) => Key).filter((key) => key.includes(`/v/${videoId}/`));
}

test('the same with the files in S3', { skip: s3 === null && NO_S3 }, async (t) => {
  assert.ok(s3 !== null);
  const platform = await startCrashing(t, 's3', {
    S3_BUCKET: s3.bucket,
    S3_ENDPOINT: s3.endpoint,
    S3_REGION: s3.region,
    S3_ACCESS_KEY_ID: s3.accessKeyId,
    S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
    S3_PATH_STYLE: 'true',
  });
  const partner = createPartner(platform.current());
  const path = join(folder, 'small.mp4');
  await makeClip(path, { seconds: 4, width: 640, height: 360, fps: 12, bitrateKbps: 4000 });
  const file = await readFile(path);
  const { videoId, uploadUrl } = await partner.createUpload({ filename: 'a.mp4', sizeBytes: file.length });
  let crash: Promise<void> | null = null;
  await tus(file, uploadUrl, (bytes) => {
    if (bytes > file.length / 2) crash ??= platform.crash();
  });
  assert.ok(crash !== null);
  await crash;
  await partner.videoWhen(videoId, ({ status }) => status === 'READY');
  const keys = await stored(s3, videoId);
  assert.ok(keys.some((key) => key.includes('/original/')) && keys.some((key) => key.endsWith('.m4s')));
  await plays(t, platform.current(), videoId);
  await remove(partner, platform.current(), videoId);
});
