import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reloadDelayMs } from '../../bridges/hls-source.ts';
import { PlaylistError, parsePlaylist, resolveUri } from './playlist.ts';

const HEAD = '#EXTM3U\n#EXT-X-TARGETDURATION:1\n';
const repeat = (count: number, lines: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => lines(index)).join('\n');
const segment = (index: number) => `#EXTINF:1,\n${index}.ts`;
const refusedFor = (pattern: RegExp) => (error: unknown) =>
  error instanceof PlaylistError && pattern.test(error.message);

test('a playlist has at most 2,000 segments', () => {
  const playlist = parsePlaylist(HEAD + repeat(2000, segment));
  assert.ok(playlist.kind === 'media');
  assert.equal(playlist.segments.length, 2000);
  assert.throws(() => parsePlaylist(HEAD + repeat(2001, segment)), refusedFor(/more than 2000 segments/));
});

test('a playlist has at most 64 keys, headers and variants, however often it names each', () => {
  const kinds: [string, (index: number) => string][] = [
    ['keys', (index) => `#EXT-X-KEY:METHOD=AES-128,URI="${index}.key"\n${segment(index)}`],
    ['headers', (index) => `#EXT-X-MAP:URI="${index}.mp4"\n${segment(index)}`],
    ['headers', (index) => `#EXT-X-MAP:URI="a.mp4",BYTERANGE="9@${index}"\n${segment(index)}`],
    ['variants', (index) => `#EXT-X-STREAM-INF:BANDWIDTH=1\n${index}.m3u8`],
    [
      'groups of audio',
      (index) =>
        `#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="${index}"${index > 0 ? '' : '\n#EXT-X-STREAM-INF:BANDWIDTH=1\na.m3u8'}`,
    ],
  ];
  for (const [what, lines] of kinds) {
    assert.doesNotThrow(() => parsePlaylist(HEAD + repeat(64, lines)));
    assert.throws(
      () => parsePlaylist(HEAD + repeat(65, lines)),
      refusedFor(new RegExp(`more than 64 ${what}`)),
    );
  }
  assert.doesNotThrow(() => parsePlaylist(HEAD + repeat(1000, () => kinds[0]?.[1](7) ?? '')));
});

test('addresses are resolved when they are fetched, and not before', () => {
  const playlist = parsePlaylist(`${HEAD}#EXTINF:1,\nhttps://[\n#EXTINF:1,\na.ts\n`);
  assert.ok(playlist.kind === 'media');
  const [bad, good] = playlist.segments;
  assert.equal(
    resolveUri(good?.uri ?? '', 'https://source.example/b/index.m3u8'),
    'https://source.example/b/a.ts',
  );
  assert.throws(() => resolveUri(bad?.uri ?? '', 'https://source.example/'), PlaylistError);
});

test('a playlist is loaded again no sooner than ten times what its last parse took', () => {
  const loaded = { targetMs: 1000, hasGrown: true, passedMs: 200 };
  assert.equal(reloadDelayMs({ ...loaded, parseMs: 1 }), 800);
  assert.equal(reloadDelayMs({ ...loaded, hasGrown: false, parseMs: 1 }), 500);
  assert.equal(reloadDelayMs({ ...loaded, parseMs: 700 }), 7000);
});

test('a line of a megabyte is one variant', () => {
  const text = `#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1,${'A'.repeat(1_000_000)}\na.m3u8\n`;
  const playlist = parsePlaylist(text);
  assert.deepEqual(
    playlist.kind === 'master' && playlist.variants.map(({ uri, bandwidth }) => [uri, bandwidth]),
    [['a.m3u8', 1]],
  );
});

test('numbers that no playlist counts to are ignored', () => {
  for (const number of ['1e999', '-5', '99999999999999999999']) {
    const playlist = parsePlaylist(`${HEAD}#EXT-X-MEDIA-SEQUENCE:${number}\n${segment(0)}\n${segment(1)}`);
    assert.ok(playlist.kind === 'media');
    const [first, second] = playlist.segments.map(({ sequence }) => sequence);
    assert.ok(first !== undefined && first >= 0 && second === first + 1, number);
  }
});
