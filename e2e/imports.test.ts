import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { createPartner, type Partner } from '../test/harness/partner.ts';
import { type RunningPlatform, startPlatform } from '../test/harness/platform.ts';
import { waitFor } from '../test/harness/wait-for.ts';
import { file, type Source, startSource } from '../test/imports/source.ts';

const environment = { ROLES: 'api,worker', FETCH_ALLOW_PRIVATE: '127.0.0.0/8' };
let folder: string;
let platform: RunningPlatform;
let partner: Partner;
let source: Source;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'marquee-imports-'));
  source = await startSource();
  await start();
});
after(async () => {
  await platform?.stop();
  await source.close();
  await rm(folder, { recursive: true, force: true });
});

async function start(): Promise<void> {
  platform = await startPlatform({ dataDir: join(folder, 'data'), environment });
  partner = createPartner(platform);
}

/** A video of a few seconds. */
async function makeVideo(): Promise<Buffer> {
  const path = join(folder, 'film.mp4');
  await promisify(execFile)('ffmpeg', [
    ...['-v', 'error', '-f', 'lavfi', '-i', 'testsrc2=s=320x180:r=10', '-t', '4', '-g', '20'],
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', path],
  ]);
  return readFile(path);
}

test('an import resumes at its offset after kill -9, and its video becomes ready', async () => {
  const film = await makeVideo();
  const options = { etag: '"film"' };
  source.answers.set(
    '/film.mp4',
    file(() => film, { ...options, pauseMs: 300 }),
  );
  const { data } = await partner.call('POST', '/imports', { sourceUrl: `${source.url}/film.mp4` });
  const { id } = Object(data);
  await waitFor(() => (source.requests[0]?.sent() ?? 0) > 40_000, { timeoutMs: 10_000 });
  platform.process.kill('SIGKILL');
  await once(platform.process, 'exit');

  source.answers.set(
    '/film.mp4',
    file(() => film, options),
  );
  await start();
  const done = await waitFor(
    async () => {
      const { data: now } = await partner.call('GET', `/imports/${id}`);
      return /COMPLETED|FAILED/.test(Object(now).status) && Object(now);
    },
    { timeoutMs: 40_000, intervalMs: 100 },
  );
  assert.equal(done.status, 'COMPLETED', JSON.stringify(done.error));
  const ranges = source.requests.map(({ range }) => range);
  assert.equal(ranges.length, 2);
  assert.match(ranges[1] ?? '', /^bytes=[1-9]\d+-$/);
  const { data: video } = await partner.call('GET', `/videos/${done.videoId}`);
  const { status, sizeBytes, durationSec, source: from } = Object(video);
  assert.deepEqual([status, sizeBytes, from], ['READY', film.length, 'IMPORT']);
  assert.ok(Math.abs(durationSec - 4) < 0.2);
  const { data: all } = await partner.call('GET', '/me/events?limit=100');
  assert.ok(Array.isArray(all));
  const types = all.map((event) => Object(event).type).filter((type) => /^(import|video)\./.test(type));
  assert.deepEqual(types.toReversed(), [
    'video.created',
    'video.processing.started',
    'video.processing.completed',
    'import.completed',
  ]);
});
