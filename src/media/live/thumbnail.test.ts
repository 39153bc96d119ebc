import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { waitFor } from '../../../test/harness/wait-for.ts';
import { testFfmpeg } from '../../../test/live/ffmpeg.ts';
import { errorLog, KINDS, plantOutput } from '../../../test/transcode/malicious-outputs.ts';
import { systemClock } from '../../kernel/clock.ts';
import { createThumbnails } from './thumbnail.ts';

let root = '';
before(async () => {
  root = await mkdtemp(join(tmpdir(), 'thumbnail-'));
});
after(() => rm(root, { recursive: true, force: true }));

/** Creates a stream with one segment, and an ffmpeg without a sandbox that runs the given script. */
async function setUp(script: string) {
  const dir = await mkdtemp(join(root, 'stream-'));
  const folder = join(dir, 'e1');
  const secret = join(await mkdtemp(join(root, 'outside-')), 'secret');
  await mkdir(join(folder, 'src'), { recursive: true });
  for (const name of ['init.mp4', 's_000000.m4s']) await writeFile(join(folder, 'src', name), name);
  await writeFile(secret, 'secret');
  const bin = join(root, 'program');
  await writeFile(bin, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const { log, errors } = errorLog();
  const guard = { weakness: null, start: async () => ({ command: [bin], isSandboxed: false }) };
  const thumbnails = createThumbnails({ ffmpeg: { ...testFfmpeg, bin, guard }, clock: systemClock, log });
  const latest = { folder, initFile: 'src/init.mp4', file: 'src/s_000000.m4s', startMs: systemClock.ms() };
  const look = () => thumbnails.look(dir, { latest: () => latest });
  return { dir, folder, secret, errors, look };
}

for (const kind of KINDS) {
  test(`thumbnail: ${kind} in place of a segment yields no thumbnail`, async () => {
    const { dir, folder, secret, errors, look } = await setUp('exit 0');
    await plantOutput(kind, join(folder, 'src/s_000000.m4s'), secret);
    look();
    await waitFor(() => errors.length > 0, { message: 'a line in the log' });
    assert.deepEqual(errors, ['no thumbnail was created']);
    assert.deepEqual(await readdir(dir), ['e1']);
  });
}

test('thumbnail: a symbolic link in place of the thumbnail is not served', async () => {
  // The last argument is its output.
  const { dir, errors, look } = await setUp(
    'for last in "$@"; do :; done; cd "$(dirname "$(echo "$last" | cut -c6-)")"; ln -sf e1/src/init.mp4 .thumbnail.jpg',
  );
  look();
  await waitFor(() => errors.length > 0, { message: 'a line in the log' });
  assert.deepEqual(errors, ['no thumbnail was created']);
  await waitFor(async () => (await readdir(dir)).length === 1, { message: 'nothing but the run' });
});
