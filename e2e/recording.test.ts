import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { type HttpsSink, startHttpsSink } from '../test/harness/https-sink.ts';
import { createPartner, type Partner } from '../test/harness/partner.ts';
import { type RunningPlatform, startPlatform } from '../test/harness/platform.ts';
import { childrenOf, singleItem } from '../test/harness/processes.ts';
import { waitFor } from '../test/harness/wait-for.ts';
import { type Publisher, startPublisher } from '../test/rtmp/publisher.ts';

const run = promisify(execFile);
let platform: RunningPlatform;
let sink: HttpsSink;
let partner: Partner;
const publishers = new Set<Publisher>();
const FPS = 15;
/** About two seconds at the rate of `publish`. */
const PART_BYTES = 70_000;
/** Time after which a running encoder counts as accepted. */
const RETRY_MS = 1500;

before(async () => {
  sink = await startHttpsSink();
  platform = await startPlatform({
    environment: {
      WEBHOOK_ALLOW_PRIVATE: '127.0.0.0/8',
      NODE_EXTRA_CA_CERTS: sink.ca.file,
      SIGNAL_GRACE_MS: '1000',
      LIVE_MAX_RUNGS: '0',
      LOG_LEVEL: 'warn',
    },
  });
  partner = createPartner(platform);
});

after(async () => {
  await Promise.all([...publishers].map((publisher) => publisher.stop()));
  await platform?.stop();
  await sink?.close();
});

function publish(streamKey: string): Publisher {
  const publisher = startPublisher({
    url: `rtmp://127.0.0.1:${platform.rtmpPort}/live/${streamKey}`,
    width: 320,
    height: 180,
    fps: FPS,
    bitrateKbps: 200,
  });
  publishers.add(publisher);
  return publisher;
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

/** Starts an encoder that retries until the port is open. @param onStart called before each attempt. */
function publishAgain(streamKey: string, onStart: () => void): Promise<Publisher> {
  return waitFor(
    async () => {
      // A rejected encoder may run for longer than that on a busy machine.
      if (!(await answers(platform.rtmpPort))) return false;
      onStart();
      const publisher = publish(streamKey);
      const early = await Promise.race([
        publisher.exited.then(() => 'refused'),
        new Promise<'running'>((resolve) => setTimeout(resolve, RETRY_MS, 'running')),
      ]);
      return early === 'running' && publisher;
    },
    { timeoutMs: 30_000, message: 'the encoder is taken again' },
  );
}

/** Files that recorders write now, with their sizes. */
function openFiles(): { name: string; bytes: number }[] {
  const dir = join(platform.dataDir, 'rec');
  if (!existsSync(dir)) return [];
  const names = readdirSync(dir, { recursive: true }).map(String);
  return names
    .filter((name) => name.endsWith('.mp4'))
    .map((name) => ({ name, bytes: statSync(join(dir, name), { throwIfNoEntry: false })?.size ?? 0 }));
}

/** Waits until a part other than `former` is being written and contains a few GOPs. @returns the part and its duration. */
async function recordAWhile(former = ''): Promise<{ part: string; seconds: number }> {
  const file = await waitFor(
    () => openFiles().find(({ name, bytes }) => name !== former && bytes > PART_BYTES),
    {
      timeoutMs: 12_000,
      message: () => `a part with media: ${JSON.stringify(openFiles())}`,
    },
  );
  return { part: file.name, seconds: await secondsIn(join(platform.dataDir, 'rec', file.name)) };
}

/** Returns the duration of the video in a file that is still being written. */
async function secondsIn(path: string): Promise<number> {
  const entries = ['-select_streams', 'v', '-count_packets', '-show_entries', 'stream=nb_read_packets'];
  const { stdout } = await run('ffprobe', ['-v', 'quiet', ...entries, '-of', 'csv=p=0', path]);
  return Number.parseInt(stdout, 10) / FPS;
}

const eventsOf = (type: string) =>
  sink.requests
    .filter((request) => request.headers['svc-event-type'] === type)
    .map((request) => JSON.parse(String(request.rawBody)).data);

interface Session {
  id: string;
  recordingVideoId: string | null;
}

function isSession(value: unknown): value is Session {
  return typeof value === 'object' && value !== null && 'recordingVideoId' in value;
}

async function sessionsOf(id: string): Promise<Session[]> {
  const { data } = await partner.call('GET', `/streams/${id}/sessions`);
  return Array.isArray(data) ? data.filter(isSession) : [];
}

test('one video of a broadcast: over a reconnect and kill -9 of the media process, playable soon after the stop', async () => {
  await partner.createWebhook(`${sink.url}/hook`, ['stream.recording_ready', 'video.*']);
  const stream = await partner.createStream({
    title: 'Opening night',
    record: true,
    recordVisibility: 'UNLISTED',
  });
  const first = publish(stream.streamKey);
  await waitFor(async () => (await partner.stream(stream.id)).hasSignal, { timeoutMs: 10_000 });
  assert.deepEqual(openFiles(), [], 'a signal alone is not recorded');

  const onAir = createStopwatch();
  onAir.start();
  await partner.start(stream.id);
  const former = await recordAWhile();
  first.kill('SIGKILL');
  onAir.stop();
  await first.exited;

  const second = await publishAgain(stream.streamKey, onAir.start);
  const latter = await recordAWhile(former.part);
  process.kill(singleItem(childrenOf(platform.process.pid ?? -1, '/media.')), 'SIGKILL');
  onAir.stop();
  await second.exited;

  const third = await publishAgain(stream.streamKey, onAir.start);
  const last = await recordAWhile(latter.part);
  await partner.stop(stream.id);
  onAir.stop();
  const [session, ...others] = await sessionsOf(stream.id);
  assert.deepEqual(others, [], 'one session');
  assert.ok(session?.recordingVideoId, 'there is a video from the stop on');
  await partner.videoWhen(session.recordingVideoId, (video) => video.playbackUrl !== null, 15_000);
  const video = await partner.videoWhen(session.recordingVideoId, ({ status }) => status === 'READY', 20_000);
  assert.partialDeepStrictEqual(video, {
    title: 'Opening night',
    source: 'RECORDING',
    streamId: stream.id,
    visibility: 'UNLISTED',
  });
  // At least the media seen in each part, and no more than encoders send in real time; the first part may begin
  // a keyframe interval early.
  const { durationSec } = video;
  const minSeconds = former.seconds + latter.seconds + last.seconds;
  const maxSeconds = onAir.seconds() + 1;
  const isWhole = durationSec !== null && durationSec > minSeconds - 0.5 && durationSec < maxSeconds;
  assert.ok(isWhole, `${durationSec} s, expected ${minSeconds} to ${maxSeconds} s`);
  assert.equal((await fetch(onThisHost(video.playbackUrl))).status, 200);
  await waitFor(() => eventsOf('video.processing.completed').length === 1);
  const ready = eventsOf('stream.recording_ready');
  assert.equal(ready.length, 1);
  assert.partialDeepStrictEqual(ready[0], {
    streamId: stream.id,
    sessionId: session.id,
    videoId: video.id,
    durationSec: video.durationSec,
  });
  assert.deepEqual(openFiles(), [], 'nothing is recorded after the stop');
  await third.stop();
});

/** Replaces the default public URL of the configuration. */
function onThisHost(url: string | null): string {
  return (url ?? '').replace(/^https?:\/\/[^/]+/, platform.url);
}

/** Adds up durations. */
function createStopwatch() {
  let sumMs = 0;
  let sinceMs = 0;
  return {
    start: () => {
      sinceMs = performance.now();
    },
    stop: () => {
      sumMs += performance.now() - sinceMs;
    },
    seconds: () => sumMs / 1000,
  };
}
