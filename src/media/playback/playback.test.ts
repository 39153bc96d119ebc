import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { dateFromMs } from '../../kernel/clock.ts';
import type { FileReply, LiveFiles } from '../contract/index.ts';
import { type PublicSegment, renderMediaPlaylist } from '../live/playlist.ts';
import { createLocalSource } from '../nodes/local-source.ts';
import { createLiveFiles } from './index.ts';
import { parseRange } from './range.ts';

const START_MS = Date.UTC(2026, 0, 1);
const BYTES = Buffer.from(Array.from({ length: 1000 }, (_, i) => i % 251));
let root = '';
let liveDir = '';
let playback: LiveFiles;

before(async () => {
  root = await mkdtemp(join(tmpdir(), 'playback-'));
  liveDir = join(root, 'live');
  await mkdir(join(liveDir, 's1', 'e1', 'src'), { recursive: true });
  await writeFile(join(liveDir, 's1', 'e1', 'src', 's_000000.m4s'), BYTES);
  await writeFile(join(liveDir, 's1', 'e1', 'src', 'init.mp4'), 'init');
  await writeFile(join(root, 'secret.mp4'), 'secret');
  await writeFile(join(liveDir, 's1', 'e1', 'src', 'index.m3u8'), 'private');
  await writeFile(join(liveDir, 's1', 'state.json'), '{}');
  await writeFile(
    join(liveDir, 's1', 'master.m3u8'),
    '#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nsrc/index.m3u8\n',
  );
  await writeFile(join(liveDir, 's1', 'src.m3u8'), playlistText(3));
  playback = createLiveFiles({ source: createLocalSource({ liveDir }) });
});
after(() => rm(root, { recursive: true, force: true }));

function playlistText(count: number): string {
  const segments = Array.from(
    { length: count },
    (_, seq): PublicSegment => ({
      seq,
      disc: 0,
      epoch: 'e1',
      rung: 'src',
      file: `s_00000${seq}.m4s`,
      durationSec: 2,
      startMs: START_MS + seq * 2000,
    }),
  );
  return renderMediaPlaylist({ targetDuration: 2, segments, nextSeq: count, disc: 0 });
}

/** Replaces a playlist atomically, as the composer does. */
async function replacePlaylist(name: string, text: string): Promise<void> {
  await writeFile(join(liveDir, 's1', 'new'), text);
  await rename(join(liveDir, 's1', 'new'), join(liveDir, 's1', name));
}

async function bytesOf(reply: FileReply): Promise<Buffer> {
  if (reply.body === null) return Buffer.alloc(0);
  if (typeof reply.body === 'string' || Buffer.isBuffer(reply.body)) return Buffer.from(reply.body);
  const chunks: Buffer[] = [];
  for await (const chunk of reply.body) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

const SEGMENT = { method: 'GET', streamId: 's1', epoch: 'e1', rung: 'src', file: 's_000000.m4s' } as const;

test('playback: the headers of each kind', async () => {
  const master = await playback.readMaster({ method: 'GET', streamId: 's1' });
  const media = await playback.readMediaPlaylist({ method: 'GET', streamId: 's1', rung: 'src' });
  const segment = await playback.openSegment(SEGMENT);
  const init = await playback.openSegment({ ...SEGMENT, file: 'init.mp4' });
  const missing = await playback.openSegment({ ...SEGMENT, file: 's_000009.m4s' });
  const table = [master, media, segment, init, missing].map((reply) => [
    reply.status,
    reply.headers['content-type'],
    reply.headers['cache-control'],
    reply.headers['content-length'],
  ]);
  const minute = 'public, max-age=60, must-revalidate';
  assert.deepEqual(table, [
    [200, 'application/vnd.apple.mpegurl', 'no-store', '53'],
    [200, 'application/vnd.apple.mpegurl', 'no-cache', String(playlistText(3).length)],
    [200, 'video/iso.segment', minute, '1000'],
    [200, 'video/mp4', minute, '4'],
    [404, undefined, 'no-store', '0'],
  ]);
  for (const reply of [master, media, segment, init, missing]) {
    assert.equal(reply.headers['x-content-type-options'], 'nosniff');
  }
  const own = await playback.openSegment({ ...SEGMENT, isPrivate: true });
  assert.equal(own.headers['cache-control'], 'private, max-age=60, must-revalidate');
});

test('playback: nothing outside the stream’s folders can be named', async () => {
  const names = [
    '..',
    '.',
    '',
    '../..',
    '%2e%2e',
    'E1',
    'e1/src',
    'e1\\src',
    'e1\0',
    'a'.repeat(200),
    'src\n',
  ];
  for (const name of names) {
    for (const part of ['streamId', 'epoch', 'rung']) {
      const reply = await playback.openSegment({ ...SEGMENT, [part]: name });
      assert.equal(reply.status, 404, `${part} ${JSON.stringify(name)}`);
    }
    assert.equal((await playback.readMaster({ method: 'GET', streamId: name })).status, 404, name);
    const media = await playback.readMediaPlaylist({ method: 'GET', streamId: 's1', rung: name });
    assert.equal(media.status, 404, name);
  }
  const files = [
    'index.m3u8',
    '../../../../secret.mp4',
    'init.mp4.tmp',
    's_.m4s',
    's_1.m4s.tmp',
    'init_0.mp4',
    's_000000.m4s\n',
  ];
  for (const file of files)
    assert.equal((await playback.openSegment({ ...SEGMENT, file })).status, 404, file);
});

test('playback: a folder is not a file', async () => {
  await mkdir(join(liveDir, 's1', 'e1', 'src', 's_77.m4s'));
  assert.equal((await playback.openSegment({ ...SEGMENT, file: 's_77.m4s' })).status, 404);
});

const ranges: [string | undefined, ReturnType<typeof parseRange>][] = [
  [undefined, null],
  ['bytes=0-9', { start: 0, end: 9 }],
  ['bytes=990-', { start: 990, end: 999 }],
  ['bytes=-10', { start: 990, end: 999 }],
  ['bytes=-5000', { start: 0, end: 999 }],
  ['bytes=990-5000', { start: 990, end: 999 }],
  ['bytes=1000-', 'unsatisfiable'],
  ['bytes=-0', 'unsatisfiable'],
  ['bytes=9-1', null],
  ['bytes=-', null],
  ['bytes=0-1,5-6', null],
  ['items=0-1', null],
  ['bytes=a-b', null],
];
for (const [header, expected] of ranges) {
  test(`playback: range ${header ?? 'absent'}`, () => assert.deepEqual(parseRange(header, 1000), expected));
}

for (const [name, cacheBytes] of [
  ['from memory', undefined],
  ['from disk', 0],
] as const) {
  test(`playback: parts of a segment ${name}`, async () => {
    const reader = createLiveFiles({
      source: createLocalSource({ liveDir }),
      ...(cacheBytes === undefined ? {} : { cacheBytes }),
    });
    for (const round of [1, 2]) {
      const whole = await reader.openSegment(SEGMENT);
      assert.deepEqual(await bytesOf(whole), BYTES, `round ${round}`);
      const part = await reader.openSegment({ ...SEGMENT, range: 'bytes=100-199' });
      assert.equal(part.status, 206);
      assert.equal(part.headers['content-range'], 'bytes 100-199/1000');
      assert.equal(part.headers['content-length'], '100');
      assert.deepEqual(await bytesOf(part), BYTES.subarray(100, 200));
      const beyond = await reader.openSegment({ ...SEGMENT, range: 'bytes=1000-' });
      assert.equal(beyond.status, 416);
      assert.equal(beyond.headers['content-range'], 'bytes */1000');
      assert.equal((await bytesOf(beyond)).length, 0);
    }
  });
}

test('playback: HEAD has the headers and no body', async () => {
  const head = await playback.openSegment({ ...SEGMENT, method: 'HEAD' });
  assert.deepEqual([head.status, head.headers['content-length'], head.body], [200, '1000', null]);
  const media = await playback.readMediaPlaylist({ method: 'HEAD', streamId: 's1', rung: 'src' });
  assert.equal(media.body, null);
  assert.equal(media.headers['content-length'], String(playlistText(3).length));
});

test('playback: 304 for what the client has, and a range only of the same version', async () => {
  const first = await playback.openSegment(SEGMENT);
  const etag = first.headers.etag ?? '';
  assert.match(etag, /^"[0-9a-f]+-[0-9a-f]+"$/);
  for (const ifNoneMatch of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
    const reply = await playback.openSegment({ ...SEGMENT, ifNoneMatch });
    assert.deepEqual([reply.status, reply.body], [304, null], ifNoneMatch);
  }
  assert.equal((await playback.openSegment({ ...SEGMENT, ifNoneMatch: '"x"' })).status, 200);
  const part = { ...SEGMENT, range: 'bytes=0-1' };
  assert.equal((await playback.openSegment({ ...part, ifRange: etag })).status, 206);
  assert.equal((await playback.openSegment({ ...part, ifRange: '"x"' })).status, 200);

  const request = { method: 'GET', streamId: 's1', rung: 'src' } as const;
  const media = await playback.readMediaPlaylist(request);
  const again = await playback.readMediaPlaylist({ ...request, ifNoneMatch: media.headers.etag });
  assert.deepEqual([again.status, again.body], [304, null]);
});

test('playback: a replaced playlist is visible immediately', async () => {
  const request = { method: 'GET', streamId: 's1', rung: 'src' } as const;
  const old = await playback.readMediaPlaylist(request);
  await replacePlaylist('src.m3u8', playlistText(4));
  const next = await playback.readMediaPlaylist({ ...request, ifNoneMatch: old.headers.etag });
  assert.equal(next.status, 200);
  assert.equal(next.body, playlistText(4));
  await replacePlaylist('src.m3u8', playlistText(3));
});

test('playback: a viewer sees no segments from before the broadcast', async () => {
  const request = { method: 'GET', streamId: 's1', rung: 'src' } as const;
  const { body } = await playback.readMediaPlaylist({ ...request, sinceMs: START_MS + 5000 });
  assert.match(String(body), /^#EXT-X-MEDIA-SEQUENCE:1$/m);
  assert.doesNotMatch(String(body), /s_000000/);
  const none = await playback.readMediaPlaylist({ ...request, sinceMs: START_MS + 60_000 });
  assert.equal(none.status, 200);
  assert.doesNotMatch(String(none.body), /\.m4s/);
});

test('playback: a segment from before the broadcast cannot be guessed, one that the playlist shows is served', async () => {
  const sinceMs = START_MS + 5000;
  for (const [file, finishedMs, status] of [
    ['s_000000.m4s', START_MS + 2000, 404],
    ['s_000001.m4s', START_MS + 4000, 200],
    ['s_000002.m4s', START_MS + 6000, 200],
    // Dates of the playlist may differ slightly from the times of the files: listed segments are served.
    ['s_000002.m4s', START_MS + 4900, 200],
    // It is not in the playlist yet, or has left it.
    ['s_000050.m4s', START_MS + 5001, 200],
    ['s_000050.m4s', START_MS + 5000, 404],
  ] as const) {
    const path = join(liveDir, 's1', 'e1', 'src', file);
    await writeFile(path, BYTES);
    await utimes(path, dateFromMs(finishedMs), dateFromMs(finishedMs));
    const reader = createLiveFiles({ source: createLocalSource({ liveDir }) });
    for (const round of ['from disk', 'from memory']) {
      const reply = await reader.openSegment({ ...SEGMENT, file, sinceMs });
      assert.equal(reply.status, status, `${file} finished at ${finishedMs - START_MS}, ${round}`);
      // The owner's preview, which also puts it into memory.
      assert.equal((await reader.openSegment({ ...SEGMENT, file })).status, 200);
    }
  }
  assert.equal(
    (await playback.openSegment({ ...SEGMENT, file: 'init.mp4', sinceMs: sinceMs * 2 })).status,
    200,
  );
});

test('playback: a token is put after every address', async () => {
  const uriSuffix = '?token=abc';
  const master = await playback.readMaster({ method: 'GET', streamId: 's1', uriSuffix });
  const media = await playback.readMediaPlaylist({
    method: 'GET',
    streamId: 's1',
    rung: 'src',
    uriSuffix,
    isPrivate: true,
  });
  assert.match(String(master.body), /^src\/index\.m3u8\?token=abc$/m);
  assert.equal(media.headers['cache-control'], 'private, no-cache');
  const addresses = String(media.body).match(/[a-z0-9_]+\.(m4s|mp4)[^"\n]*/g) ?? [];
  assert.equal(addresses.length, 4);
  for (const address of addresses) assert.ok(address.endsWith('?token=abc'), address);
});

test('playback: before the first signal there is a master with src and an empty live playlist', async () => {
  const master = await playback.readMaster({ method: 'GET', streamId: 'waiting' });
  assert.equal(master.status, 200);
  assert.match(
    String(master.body),
    /^#EXTM3U\n[\s\S]*#EXT-X-STREAM-INF:BANDWIDTH=\d+[^\n]*\nsrc\/index\.m3u8\n$/,
  );
  const media = await playback.readMediaPlaylist({ method: 'GET', streamId: 'waiting', rung: 'src' });
  assert.equal(media.status, 200);
  assert.match(String(media.body), /#EXT-X-TARGETDURATION:4\n#EXT-X-MEDIA-SEQUENCE:0\n/);
  assert.doesNotMatch(String(media.body), /ENDLIST|EXTINF/);
  const other = await playback.readMediaPlaylist({ method: 'GET', streamId: 'waiting', rung: '720' });
  assert.equal(other.status, 404);
});

test('playback: can wait for the qualities of the first signal, and not for ever', async () => {
  const request = { method: 'GET', streamId: 'coming' } as const;
  await mkdir(join(liveDir, 'coming'), { recursive: true });
  const reply = playback.readMaster({ ...request, waitMs: 10_000 });
  await sleep(120);
  const text =
    '#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=2\nsrc/index.m3u8\n#EXT-X-STREAM-INF:BANDWIDTH=1\n360/index.m3u8\n';
  await writeFile(join(liveDir, 'coming', 'new'), text);
  await rename(join(liveDir, 'coming', 'new'), join(liveDir, 'coming', 'master.m3u8'));
  assert.equal((await reply).body, text);
  const begunMs = performance.now();
  const waiting = await playback.readMaster({ method: 'GET', streamId: 'waiting', waitMs: 100 });
  assert.deepEqual([waiting.status, performance.now() - begunMs >= 100], [200, true]);
});

test('playback: can wait for the first segment, and not for ever', async () => {
  const request = { method: 'GET', streamId: 's1', rung: '480' } as const;
  await replacePlaylist('480.m3u8', playlistText(0));
  const reply = playback.readMediaPlaylist({ ...request, waitMs: 10_000 });
  await sleep(120);
  await replacePlaylist('480.m3u8', playlistText(1));
  assert.match(String((await reply).body), /s_000000\.m4s/);

  await replacePlaylist('480.m3u8', playlistText(0));
  const empty = await playback.readMediaPlaylist({ ...request, waitMs: 100 });
  assert.equal(empty.status, 200);
});

test('playback: memory is bounded, and many readers cause one read', async () => {
  const folder = join(liveDir, 's2', 'e1', 'src');
  await mkdir(folder, { recursive: true });
  for (const index of [0, 1, 2]) await writeFile(join(folder, `s_${index}.m4s`), Buffer.alloc(1000, index));
  const reader = createLiveFiles({ source: createLocalSource({ liveDir }), cacheBytes: 2500 });
  const open = (index: number): Promise<FileReply> =>
    reader.openSegment({ ...SEGMENT, streamId: 's2', file: `s_${index}.m4s` });
  const [one, two] = await Promise.all([open(0), open(0)]);
  assert.ok(Buffer.isBuffer(one?.body) && Buffer.isBuffer(two?.body));
  assert.equal(one.body.buffer, two.body.buffer);
  await open(1);
  await open(2);
  await rm(folder, { recursive: true });
  assert.equal((await open(0)).status, 404, 'the oldest was not dropped');
  assert.equal((await open(2)).status, 200);
});
