import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parsePrivatePlaylist } from './hls-playlist.ts';

test('playlist: reads ffmpeg’s own playlist', () => {
  const text = [
    '#EXTM3U',
    '#EXT-X-VERSION:7',
    '#EXT-X-TARGETDURATION:2',
    '#EXT-X-MEDIA-SEQUENCE:3',
    '#EXT-X-MAP:URI="init_1.mp4"',
    '#EXTINF:2.000000,',
    's_000003.m4s',
    '#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00.000+0000',
    '#EXTINF:1.287305,',
    's_000004.m4s',
    '#EXTINF:2.0,',
    '../../etc/passwd',
    '',
  ].join('\n');
  assert.deepEqual(parsePrivatePlaylist(text), {
    initFile: 'init_1.mp4',
    segments: [
      { index: 3, file: 's_000003.m4s', durationSec: 2 },
      { index: 4, file: 's_000004.m4s', durationSec: 1.287305 },
    ],
  });
  assert.deepEqual(parsePrivatePlaylist(''), { initFile: null, segments: [] });
});
