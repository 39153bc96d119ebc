import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { LiveFiles } from '../contract/index.ts';
import { type MediaPlaylist, type PublicSegment, renderMediaPlaylist } from '../live/playlist.ts';
import { createLocalSource } from '../nodes/local-source.ts';
import { compareEdge, edgeOf } from './edge.ts';
import { createLiveFiles } from './index.ts';

const START_MS = Date.UTC(2026, 0, 1);
const PART_BYTES = 100;
const PLACE = { streamId: 's1', rung: 'src' } as const;
let root = '';
let playback: LiveFiles;

before(async () => {
  root = await mkdtemp(join(tmpdir(), 'parts-'));
  await mkdir(join(root, 's1/e1/src'), { recursive: true });
  playback = createLiveFiles({ source: createLocalSource({ liveDir: root }) });
});
after(() => rm(root, { recursive: true, force: true }));

function segment(seq: number, count: number): PublicSegment {
  return {
    seq,
    disc: 0,
    epoch: 'e1',
    rung: 'src',
    file: `s_00000${seq}.m4s`,
    durationSec: count / 2,
    startMs: START_MS + seq * 2000,
    parts: Array.from({ length: count }, (_, index) => ({
      durationSec: 0.5,
      bytes: PART_BYTES,
      offset: index * PART_BYTES,
      isIndependent: index === 0,
    })),
  };
}

/** Creates a playlist of two complete segments of four parts, and the given number of parts of the third. */
function playlist(parts: number): MediaPlaylist {
  return {
    targetDuration: 4,
    segments: [segment(0, 4), segment(1, 4)],
    nextSeq: 2,
    disc: 0,
    lowLatency: { partTargetSec: 0.5, holdBackSec: 1.5 },
    ...(parts === 0 ? {} : { open: segment(2, parts) }),
  };
}

/** As the composer does: the media first. */
async function show(parts: number): Promise<void> {
  const bytes = Buffer.concat(Array.from({ length: parts }, (_, index) => Buffer.alloc(PART_BYTES, index)));
  await writeFile(join(root, 's1/e1/src/s_000002.m4s.part'), bytes);
  await writeFile(join(root, 's1/new'), renderMediaPlaylist(playlist(parts), { hasOffsets: true }));
  await rename(join(root, 's1/new'), join(root, 's1/src.m3u8'));
}

const part = (index: number, changes: object = {}) =>
  playback.openSegment({
    ...{ ...PLACE, method: 'GET', epoch: 'e1', file: `s_000002.${index}.m4s`, waitMs: 5000 },
    ...changes,
  });

test('edge: what a player may wait for', () => {
  for (const [seq, index, expected] of [
    [1, null, 'shown'],
    [2, null, 'waiting'],
    [2, 0, 'shown'],
    [2, 1, 'shown'],
    [2, 2, 'waiting'],
    [3, 0, 'waiting'],
    [4, 0, 'too far'],
    // The first part of the next one.
    [1, 4, 'shown'],
    [0, 99, 'shown'],
  ] as const)
    assert.equal(compareEdge(playlist(2), { seq, part: index }), expected, `${seq}.${index}`);
  assert.equal(compareEdge(playlist(0), { seq: 1, part: 4 }), 'waiting');
  assert.deepEqual(edgeOf(playlist(2)), { seq: 2, part: 1 });
  assert.deepEqual(edgeOf(playlist(0)), { seq: 1, part: 3 });
  assert.equal(edgeOf({ targetDuration: 4, segments: [], nextSeq: 0, disc: 0 }), null);
});

test('playback: all clients waiting for a part get it when it arrives', async () => {
  await show(1);
  const waiting = Array.from({ length: 50 }, () =>
    playback.awaitEdge({ ...PLACE, edge: { seq: 2, part: 1 } }, 10_000),
  );
  const hinted = part(1);
  await show(2);
  assert.deepEqual(new Set(await Promise.all(waiting)), new Set(['shown']));
  assert.deepEqual((await hinted).body, Buffer.alloc(PART_BYTES, 1));
  assert.equal(await playback.awaitEdge({ ...PLACE, edge: { seq: 2, part: 2 } }, 50), 'waiting');
  assert.equal(await playback.awaitEdge({ ...PLACE, edge: { seq: 9, part: null } }, 10_000), 'too far');
});

test('playback: a part is served from its segment, before and after it is complete', async () => {
  await show(3);
  const { status, headers, body } = await part(2);
  assert.deepEqual([status, headers['content-length'], body], [200, '100', Buffer.alloc(PART_BYTES, 2)]);
  await rename(join(root, 's1/e1/src/s_000002.m4s.part'), join(root, 's1/e1/src/s_000002.m4s'));
  assert.deepEqual((await part(0)).body, Buffer.alloc(PART_BYTES, 0));
  const ranged = await part(1, { range: 'bytes=10-19' });
  assert.deepEqual([ranged.status, ranged.headers['content-range']], [206, 'bytes 10-19/100']);
  await rm(join(root, 's1/e1/src/s_000002.m4s'));
});

test('playback: a part that is not the next one is 404 immediately, and so is one from before or after the broadcast', async () => {
  await show(3);
  for (const file of ['s_000002.4.m4s', 's_000003.0.m4s', 's_000002.x.m4s', 's_000002.m4s'])
    assert.equal((await part(0, { file })).status, 404, file);
  const startMs = START_MS + 4000;
  assert.equal((await part(1, { untilMs: startMs + 500, waitMs: 0 })).status, 404);
  assert.equal((await part(0, { untilMs: startMs + 500, waitMs: 0 })).status, 200);
  assert.equal((await part(0, { sinceMs: START_MS + 60_000, waitMs: 0 })).status, 404);
});

test('playback: the rest of a broadcast contains only complete segments', async () => {
  await show(3);
  const request = { ...PLACE, method: 'GET' } as const;
  assert.match(String((await playback.readMediaPlaylist(request)).body), /EXT-X-PART:/);
  const ending = { untilMs: START_MS + 5000, isSettled: true };
  const { body } = await playback.readMediaPlaylist({ ...request, ending });
  assert.doesNotMatch(String(body), /PART|PRELOAD|s_000002/);
  assert.match(String(body), /s_000001\.m4s\n#EXT-X-ENDLIST\n$/);
});
