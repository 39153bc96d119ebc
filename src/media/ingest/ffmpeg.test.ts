import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { waitFor } from '../../../test/harness/wait-for.ts';
import { openFlv } from '../../../test/rtmp/flv-reader.ts';
import { startIngest, type TestIngest } from '../../../test/rtmp/ingest.ts';
import { type Publisher, type PublisherOptions, startPublisher } from '../../../test/rtmp/publisher.ts';

const TOOL_TIMEOUT_MS = 20_000;

async function run(t: TestContext, tool: string, args: string[], feed: (stdin: Writable) => void) {
  const child = spawn(tool, args, { stdio: 'pipe' });
  feed(child.stdin);
  const force = setTimeout(() => child.kill('SIGKILL'), TOOL_TIMEOUT_MS);
  t.after(() => {
    clearTimeout(force);
    child.kill('SIGKILL');
  });
  const text = { stdout: '', stderr: '' };
  child.stdout.on('data', (data: Buffer) => (text.stdout += data));
  child.stderr.on('data', (data: Buffer) => (text.stderr += data));
  const [code] = await once(child, 'close');
  clearTimeout(force);
  return { code, ...text };
}

function publish(
  t: TestContext,
  ingest: TestIngest,
  key: string,
  options: Partial<PublisherOptions> = {},
): Publisher {
  const publisher = startPublisher({ url: ingest.url(key), ...options });
  t.after(() => publisher.kill('SIGKILL'));
  return publisher;
}

const started = (ingest: TestIngest, count = 1) =>
  waitFor(() => ingest.sessions('start')[count - 1], { timeoutMs: 10_000, message: 'the start hook' });

test('ffmpeg publishes, ffprobe and ffmpeg read, and both ends are clean', async (t) => {
  const ingest = await startIngest(t);
  const publisher = publish(t, ingest, 'key-a', { seconds: 4, width: 640, height: 360, fps: 30 });
  const session = await started(ingest);
  const input = ['-f', 'live_flv', '-i', 'pipe:0'];
  const read = (tool: string, ...args: string[]) =>
    run(t, tool, args, (stdin) => ingest.engine.feed(session, stdin));
  const folder = await mkdtemp(join(tmpdir(), 'ingest-'));
  t.after(() => rm(folder, { recursive: true }));
  const file = join(folder, 'copy.mp4');
  const copy = read('ffmpeg', '-v', 'error', '-nostdin', ...input, '-c', 'copy', file);
  const probe = await read(
    'ffprobe',
    ...['-v', 'error', '-show_entries', 'stream=codec_name,width,height,sample_rate'],
    ...['-of', 'compact=p=0:nk=1', ...input],
  );
  assert.deepEqual(probe.stdout.trim().split('\n'), ['h264|640|360', 'aac|48000']);
  assert.equal((await publisher.exited).code, 0);
  // Newer versions report the end of a live input as an error, but exit successfully.
  assert.equal((await copy).code, 0);
  assert.ok((await stat(file)).size > 50_000);
  await waitFor(() => ingest.ends().length === 1);
  assert.equal(ingest.ends()[0]?.reason, 'unpublish');
  const media = ingest.sessions('media')[0];
  assert.deepEqual(media?.video, { codec: 'avc1.42c01e', width: 640, height: 360, fps: 30 });
  assert.deepEqual(media?.audio, { codec: 'mp4a.40.2', sampleRate: 48000, channels: 2 });
  assert.equal(ingest.sessions('media').length, 1, 'the measured frame rate is the announced one');
});

test('a reader that joins in the middle immediately has a decodable frame', async (t) => {
  const ingest = await startIngest(t);
  const publisher = publish(t, ingest, 'key-a', { gopSec: 5 });
  const session = await started(ingest);
  await waitFor(() => (ingest.engine.stats(session.sessionId)?.bytes ?? 0) > 50_000, { timeoutMs: 10_000 });
  const at = performance.now();
  const reader = openFlv(ingest.engine, session);
  t.after(() => reader.destroy());
  await waitFor(() =>
    reader.tags().some((tag) => tag.type === 9 && tag.payload[0] === 0x17 && tag.payload[1] === 1),
  );
  const waited = performance.now() - at;
  t.diagnostic(`first keyframe after ${waited.toFixed(0)} ms, of a group of 5 s`);
  assert.ok(waited < 500);
  assert.equal((await publisher.stop()).code, 255);
});

test('ffmpeg receives the reason of its rejection', async (t) => {
  const ingest = await startIngest(t);
  const exit = await publish(t, ingest, 'wrong', { seconds: 5 }).exited;
  assert.notEqual(exit.code, 0);
  assert.match(exit.stderr, /Invalid stream key/);
  assert.deepEqual(ingest.sessions('start'), []);
});

test('a killed encoder is reported immediately, and readers end', async (t) => {
  const ingest = await startIngest(t);
  const publisher = publish(t, ingest, 'key-a');
  const session = await started(ingest);
  await waitFor(() => ingest.sessions('media').length === 1);
  const reader = openFlv(ingest.engine, session);
  const at = performance.now();
  publisher.kill('SIGKILL');
  await waitFor(() => ingest.ends().length === 1);
  const waited = performance.now() - at;
  t.diagnostic(`end reported after ${waited.toFixed(0)} ms`);
  assert.ok(waited < 1000);
  assert.equal(ingest.ends()[0]?.reason, 'closed');
  assert.equal(await reader.ended, true);
});

test('a stopped encoder is immediately replaced by the same key, or ends as idle', async (t) => {
  const ingest = await startIngest(t, { limits: { idleMs: 1500 } });
  const frozen = publish(t, ingest, 'key-a');
  await started(ingest);
  await waitFor(() => ingest.sessions('media').length === 1);
  frozen.kill('SIGSTOP');
  const at = performance.now();
  const next = publish(t, ingest, 'key-a');
  await started(ingest, 2);
  assert.deepEqual(
    ingest.ends().map((end) => end.reason),
    ['replaced'],
  );
  assert.ok(performance.now() - at < 1500, 'without waiting for the idle time');
  await waitFor(() => ingest.sessions('media').length === 2);
  next.kill('SIGSTOP');
  await waitFor(() => ingest.ends().length === 2, { timeoutMs: 4000 });
  assert.equal(ingest.ends()[1]?.reason, 'idle');
});

test('ffmpeg publishes and reads across the 24-bit timestamp', async (t) => {
  const ingest = await startIngest(t);
  const publisher = publish(t, ingest, 'key-a', { seconds: 3, extraArgs: ['-output_ts_offset', '16776.2'] });
  const reader = openFlv(ingest.engine, await started(ingest));
  assert.equal((await publisher.exited).code, 0);
  assert.equal(await reader.ended, true);
  const times = reader
    .tags()
    .flatMap((tag) => (tag.type === 9 && tag.payload[1] === 1 ? [tag.timestamp] : []));
  assert.ok(times.length > 60);
  assert.ok((times[0] ?? 0) < 0xffffff && (times.at(-1) ?? 0) > 0x1000000 + 500);
  const steps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
  assert.ok(
    steps.every((step) => step === 33 || step === 34),
    'no jump',
  );
});

test('video with intra refresh is distinguished from video with keyframes', async (t) => {
  const ingest = await startIngest(t);
  const publisher = publish(t, ingest, 'key-a', {
    gopSec: 1,
    extraArgs: ['-x264-params', 'intra-refresh=1'],
  });
  await waitFor(() => ingest.sessions('media').some(({ video }) => video?.lacksKeyframes), {
    timeoutMs: 10_000,
  });
  const refreshed = ingest.sessions('media').find(({ video }) => video?.lacksKeyframes);
  assert.equal(refreshed?.video?.hasOpenGop, undefined);
  await publisher.stop();
});

test('open GOPs are reported as such', async (t) => {
  const ingest = await startIngest(t);
  const bFrames = ['-tune', 'film', '-preset', 'veryfast', '-bf', '2', '-sc_threshold', '0'];
  const publisher = publish(t, ingest, 'key-a', {
    gopSec: 1,
    extraArgs: [...bFrames, '-x264-params', 'open-gop=1:bframes=2'],
  });
  await waitFor(() => ingest.sessions('media').some(({ video }) => video?.hasOpenGop), { timeoutMs: 10_000 });
  await publisher.stop();
});
