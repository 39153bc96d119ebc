import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import Stripe from 'stripe';
import { Upload } from 'tus-js-client';
import { makeClip } from '../test/harness/clip.ts';
import { type HttpsSink, startHttpsSink } from '../test/harness/https-sink.ts';
import { BROADCAST_EVENTS, createPartner, type Partner, type VideoData } from '../test/harness/partner.ts';
import { type RunningPlatform, startPlatform } from '../test/harness/platform.ts';
import { waitFor } from '../test/harness/wait-for.ts';
import { startPublisher } from '../test/rtmp/publisher.ts';

/**
 * Demo of a broadcast and an uploaded video on real input: a fresh platform, an ffmpeg encoder,
 * tus-js-client, an ffprobe player and an HTTPS receiver that verifies signatures with Stripe's own code.
 * Prints the steps and their durations.
 */
interface Row {
  step: string;
  ms: number | null;
  note: string;
}

const rows: Row[] = [];
const PUBLISH_SEC = 20;
const PLAY_MS = 9000;
const CLIP = { seconds: 20, width: 1280, height: 720 };
const EVENTS = [...BROADCAST_EVENTS, 'video.processing.completed'];

async function timed<T>(
  step: string,
  work: () => Promise<T>,
  note: (result: T) => string = () => 'ok',
): Promise<T> {
  const begun = performance.now();
  const result = await work();
  rows.push({ step, ms: performance.now() - begun, note: note(result) });
  return result;
}

function print(): void {
  const width = Math.max(...rows.map((row) => row.step.length));
  process.stdout.write(`\n${'step'.padEnd(width)}        ms  result\n`);
  for (const { step, ms, note } of rows) {
    const time = ms === null ? '' : ms.toFixed(1);
    process.stdout.write(`${step.padEnd(width)}  ${time.padStart(8)}  ${note}\n`);
  }
}

const status = async (url: string) => (await fetch(url)).status;
const untilStatus = (url: string, wanted: number) =>
  waitFor(async () => (await status(url)) === wanted, { timeoutMs: 15_000, message: `${wanted} of ${url}` });

/** The first media playlist that a player would open has a segment. */
async function untilPlayable(master: string): Promise<void> {
  await waitFor(
    async () => {
      const response = await fetch(new URL('src/index.m3u8', master));
      return response.ok && (await response.text()).includes('#EXTINF');
    },
    { timeoutMs: 15_000, message: 'a playable playlist' },
  );
}

async function probe(url: string): Promise<string> {
  const args = ['-v', 'error', '-show_entries', 'stream=codec_name,width,height', '-of', 'csv=p=0', url];
  const { stdout } = await promisify(execFile)('ffprobe', args, { timeout: 20_000 });
  const streams = [...new Set(stdout.split('\n').map((line) => line.trim()))].filter((line) => line !== '');
  if (streams.length === 0) throw new Error('ffprobe saw no stream');
  return streams.join(' ');
}

/** Each event once, signed so that Stripe's verifier accepts it; the time from commit to receipt. */
function checkEvents(sink: HttpsSink, secret: string, committed: Map<string, number>): void {
  const stripe = new Stripe('sk_test_unused');
  for (const request of sink.requests) {
    const signature = String(request.headers['svc-signature']);
    const event: { type: string; id: string } = stripe.webhooks.constructEvent(
      request.rawBody,
      signature,
      secret,
    );
    const at = committed.get(event.id);
    rows.push({
      step: `event ${event.type}: commit to receipt`,
      ms: at === undefined ? null : request.at - at,
      note: 'signature verified',
    });
  }
}

/** Returns the commit time of each event, by the clock of the database (on this machine). */
async function commitTimes(platform: RunningPlatform): Promise<Map<string, number>> {
  const { default: postgres } = await import('postgres');
  const { readEmbeddedUrl } = await import('../src/platform/db/embedded.ts');
  const sql = postgres(readEmbeddedUrl(platform.dataDir) ?? '', { max: 1 });
  const found = await sql`select id::text as id, created_at as at from event`;
  await sql.end();
  return new Map(found.map((row) => [String(row.id), new Date(row.at).getTime()]));
}

async function broadcast(platform: RunningPlatform, partner: Partner): Promise<void> {
  const stream = await timed('create a stream', () => partner.createStream({ title: 'The demo' }));
  const master = `${platform.url}/live/${stream.id}/master.m3u8`;

  const encoder = startPublisher({
    url: `rtmp://127.0.0.1:${platform.rtmpPort}/live/${stream.streamKey}`,
    seconds: PUBLISH_SEC,
    width: 1280,
    height: 720,
  });
  await timed('encoder started to hasSignal', () =>
    waitFor(async () => (await partner.stream(stream.id)).hasSignal, { timeoutMs: 15_000 }),
  );
  const preview = (await partner.stream(stream.id)).previewUrl ?? '';
  await timed('hasSignal to first playable playlist (preview)', async () => {
    const local = new URL(preview.replace(/^https?:\/\/[^/]+/, platform.url));
    await waitFor(async () => {
      const playlist = new URL('src/index.m3u8', local);
      playlist.search = local.search;
      return (await (await fetch(playlist)).text()).includes('#EXTINF');
    });
  });
  rows.push({ step: 'master playlist before start', ms: null, note: `HTTP ${await status(master)}` });
  await timed('start to master 200', async () => {
    await partner.start(stream.id);
    await untilStatus(master, 200);
  });
  await timed('start to playable for viewers', () => untilPlayable(master));
  await timed(
    'play with ffprobe',
    () => probe(master),
    (seen) => seen,
  );
  await new Promise((resolve) => setTimeout(resolve, PLAY_MS));
  await timed('stop to master 404', async () => {
    await partner.stop(stream.id);
    await untilStatus(master, 404);
  });
  await encoder.exited;
  await timed('encoder ended to hasSignal false', () =>
    waitFor(async () => !(await partner.stream(stream.id)).hasSignal, { timeoutMs: 15_000 }),
  );
}

function upload(file: Buffer, uploadUrl: string): Promise<unknown> {
  return new Promise((resolve, reject) =>
    new Upload(file, { uploadUrl, onSuccess: resolve, onError: reject }).start(),
  );
}

async function video(partner: Partner, folder: string): Promise<void> {
  const path = join(folder, 'clip.mp4');
  const size = `${CLIP.width}x${CLIP.height}, ${CLIP.seconds} s`;
  await timed(
    'make a clip with ffmpeg',
    () => makeClip(path, CLIP),
    () => size,
  );
  const file = await readFile(path);
  const { videoId, uploadUrl } = await timed('create an upload', () =>
    partner.createUpload({ filename: 'clip.mp4', sizeBytes: file.length, title: 'The clip' }),
  );
  await timed(
    'upload the clip (tus)',
    () => upload(file, uploadUrl),
    () => `${(file.length / 1e6).toFixed(1)} MB`,
  );
  const uploaded = performance.now();
  const reached = async (step: string, so: (now: VideoData) => boolean) => {
    const seen = await partner.videoWhen(videoId, so, 120_000);
    const note = `${seen.status}, ${seen.renditions.map(({ name }) => name).join(' ')}`;
    rows.push({ step, ms: performance.now() - uploaded, note });
    return seen;
  };
  await reached('uploaded to playable', (seen) => seen.playbackUrl !== null);
  const { playbackUrl } = await reached('uploaded to READY', (seen) => seen.status === 'READY');
  await timed(
    'play with ffprobe',
    () => probe(playbackUrl ?? ''),
    (seen) => seen,
  );
}

const sink = await startHttpsSink();
const platform = await timed('start the platform on empty data', () =>
  startPlatform({
    isFirstStart: true,
    environment: { WEBHOOK_ALLOW_PRIVATE: '127.0.0.0/8', NODE_EXTRA_CA_CERTS: sink.ca.file },
  }),
);
const folder = await mkdtemp(join(tmpdir(), 'marquee-demo-'));
try {
  const partner = createPartner(platform);
  const webhook = await timed('register a webhook', () => partner.createWebhook(`${sink.url}/hook`, EVENTS));
  await broadcast(platform, partner);
  await video(partner, folder);
  await sink.waitFor(EVENTS.length, 15_000);
  checkEvents(sink, webhook.signingSecret, await commitTimes(platform));
  print();
} finally {
  await platform.stop();
  await sink.close();
  await rm(folder, { recursive: true, force: true });
}
