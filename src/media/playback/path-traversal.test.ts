import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { errorLog, KINDS, plantOutput } from '../../../test/transcode/malicious-outputs.ts';
import { createLocalSource } from '../nodes/local-source.ts';
import { createDiskStore } from '../storage/disk.ts';
import { createLiveFiles, createVideoFiles } from './index.ts';

let root = '';
let secret = '';
let run = '';
let folder = '';
const KEY = 'w/wsp_a/v/vid_a/1/90p/s_00000.m4s';

before(async () => {
  root = await mkdtemp(join(tmpdir(), 'planted-'));
});
beforeEach(async () => {
  folder = await mkdtemp(join(root, 'data-'));
  secret = join(await mkdtemp(join(root, 'outside-')), 's_000000.m4s');
  await writeFile(secret, 'secret');
  run = join(folder, 'live/s1/e1');
  await mkdir(join(run, 'src'), { recursive: true });
  await writeFile(join(run, 'src/s_000000.m4s'), 'media');
  await writeFile(join(folder, 'live/s1/thumbnail.jpg'), 'picture');
});
after(() => rm(root, { recursive: true, force: true }));

const SEGMENT = { method: 'GET', streamId: 's1', epoch: 'e1', rung: 'src', file: 's_000000.m4s' } as const;

for (const cacheBytes of [0, 2 ** 20]) {
  for (const kind of KINDS) {
    test(`${kind} for a live segment is 404, with ${cacheBytes} bytes of memory`, async () => {
      const { log, errors } = errorLog();
      const files = createLiveFiles({
        source: createLocalSource({ liveDir: join(folder, 'live'), log }),
        cacheBytes,
      });
      await plantOutput(kind, join(run, 'src/s_000000.m4s'), secret);
      assert.equal((await files.openSegment(SEGMENT)).status, 404);
      assert.equal((await files.openSegment({ ...SEGMENT, method: 'HEAD' })).status, 404);
      if (kind !== 'a folder') assert.deepEqual(errors, Array(2).fill('a live segment is not a file'));
    });
  }

  test(`a rung that has become a link is 404, with ${cacheBytes} bytes of memory`, async () => {
    const { log, errors } = errorLog();
    const files = createLiveFiles({
      source: createLocalSource({ liveDir: join(folder, 'live'), log }),
      cacheBytes,
    });
    await rm(join(run, 'src'), { recursive: true });
    await symlink(join(secret, '..'), join(run, 'src'));
    assert.equal((await files.openSegment(SEGMENT)).status, 404);
    assert.deepEqual(errors, ['a live segment is not a file']);
  });
}

for (const kind of KINDS) {
  test(`${kind} for the thumbnail of a stream is 404`, async () => {
    const files = createLiveFiles({ source: createLocalSource({ liveDir: join(folder, 'live') }) });
    const asked = { method: 'GET', streamId: 's1' } as const;
    assert.equal((await files.openThumbnail(asked)).status, 200);
    await plantOutput(kind, join(folder, 'live/s1/thumbnail.jpg'), secret);
    assert.equal((await files.openThumbnail(asked)).status, 404);
  });
}

for (const kind of ['a link', 'a pipe', 'a folder'] as const) {
  test(`${kind} for a segment of a video is 404`, async () => {
    const store = createDiskStore(join(folder, 'media'));
    const vod = createVideoFiles({ store });
    await store.put(KEY, 'media', 'video/iso.segment');
    await plantOutput(kind, store.localPath(KEY) ?? '', secret);
    assert.equal((await vod.openFile({ method: 'GET', key: KEY })).status, 404);
  });
}
