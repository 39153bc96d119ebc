import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { renderMaster, suffixMaster, waitingMaster } from './master.ts';
import {
  emptyMediaPlaylist,
  type MediaPlaylist,
  type PublicSegment,
  parseMediaPlaylist,
  parsePrivatePlaylist,
  renderMediaPlaylist,
  trimBefore,
} from './playlist.ts';

const START_MS = Date.UTC(2026, 0, 1);

function segment(seq: number, changes: Partial<PublicSegment> = {}): PublicSegment {
  return {
    seq,
    disc: 0,
    epoch: 'e1',
    rung: 'src',
    file: `s_${String(seq).padStart(6, '0')}.m4s`,
    durationSec: 2,
    startMs: START_MS + seq * 2000,
    ...changes,
  };
}

function playlist(segments: PublicSegment[]): MediaPlaylist {
  const last = segments.at(-1);
  return { targetDuration: 2, segments, nextSeq: (last?.seq ?? -1) + 1, disc: last?.disc ?? 0 };
}

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

test('playlist: a new epoch has one discontinuity and its own map', () => {
  const text = renderMediaPlaylist(
    playlist([segment(7), segment(8, { epoch: 'e2', disc: 1, file: 's_000000.m4s', durationSec: 1.5 })]),
    '?t=1',
  );
  assert.equal(
    text,
    [
      '#EXTM3U',
      '#EXT-X-VERSION:7',
      '#EXT-X-TARGETDURATION:2',
      '#EXT-X-MEDIA-SEQUENCE:7',
      '#EXT-X-DISCONTINUITY-SEQUENCE:0',
      '#EXT-X-INDEPENDENT-SEGMENTS',
      '#EXT-X-MAP:URI="../e1/src/init.mp4?t=1"',
      '#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:14.000Z',
      '#EXTINF:2.000000,',
      '../e1/src/s_000007.m4s?t=1',
      '#EXT-X-DISCONTINUITY',
      '#EXT-X-MAP:URI="../e2/src/init.mp4?t=1"',
      '#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:16.000Z',
      '#EXTINF:1.500000,',
      '../e2/src/s_000000.m4s?t=1',
      '',
    ].join('\n'),
  );
});

test('playlist: when the segment before a discontinuity leaves, its number goes to the header', () => {
  const text = renderMediaPlaylist(
    playlist([segment(8, { epoch: 'e2', disc: 1 }), segment(9, { epoch: 'e2', disc: 1 })]),
  );
  assert.match(text, /^#EXT-X-MEDIA-SEQUENCE:8$/m);
  assert.match(text, /^#EXT-X-DISCONTINUITY-SEQUENCE:1$/m);
  assert.doesNotMatch(text, /^#EXT-X-DISCONTINUITY$/m);
});

test('playlist: empty is valid and keeps the numbers', () => {
  const text = renderMediaPlaylist({ ...emptyMediaPlaylist(2), nextSeq: 41, disc: 3 });
  assert.match(text, /^#EXTM3U\n/);
  assert.match(text, /^#EXT-X-TARGETDURATION:2$/m);
  assert.match(text, /^#EXT-X-MEDIA-SEQUENCE:41$/m);
  assert.match(text, /^#EXT-X-DISCONTINUITY-SEQUENCE:3$/m);
  assert.doesNotMatch(text, /ENDLIST|PLAYLIST-TYPE/);
});

test('playlist: what is written can be read back', () => {
  const epochs = fc.array(
    fc.record({ count: fc.integer({ min: 1, max: 4 }), step: fc.integer({ min: 1, max: 3 }) }),
    {
      maxLength: 4,
    },
  );
  fc.assert(
    fc.property(epochs, fc.nat(1000), fc.nat(50), (runs, firstSeq, firstDisc) => {
      const segments: PublicSegment[] = [];
      let disc = firstDisc;
      for (const [index, run] of runs.entries()) {
        if (index > 0) disc += 1;
        for (let i = 0; i < run.count; i += 1) {
          segments.push(
            segment(firstSeq + segments.length, { disc, epoch: `e${index}`, durationSec: run.step }),
          );
        }
      }
      const written = { targetDuration: 3, segments, nextSeq: firstSeq + segments.length, disc };
      assert.deepEqual(parseMediaPlaylist(renderMediaPlaylist(written)), written);
    }),
  );
});

test('playlist: something else is not read', () => {
  assert.equal(parseMediaPlaylist('<html>'), null);
  const climbing = renderMediaPlaylist(playlist([segment(0)])).replace('../e1/src/s_', '../../../s_');
  assert.equal(parseMediaPlaylist(climbing), null);
});

const full = playlist([0, 1, 2, 3, 4, 5].map((seq) => segment(seq)));
const trims: { name: string; sinceMs: number; seqs: number[] }[] = [
  {
    name: 'a broadcast that began before the window hides nothing',
    sinceMs: -60_000,
    seqs: [0, 1, 2, 3, 4, 5],
  },
  { name: 'the segment of the start, and the one before it', sinceMs: 7000, seqs: [2, 3, 4, 5] },
  { name: 'a start on a border', sinceMs: 8000, seqs: [3, 4, 5] },
  { name: 'a start now shows the last one, so that playback can begin', sinceMs: 12_500, seqs: [5] },
  { name: 'a start long after the last one shows nothing', sinceMs: 60_000, seqs: [] },
];
for (const entry of trims) {
  test(`playlist trim: ${entry.name}`, () => {
    const trimmed = trimBefore(full, START_MS + entry.sinceMs);
    assert.deepEqual(
      trimmed.segments.map((kept) => kept.seq),
      entry.seqs,
    );
    assert.match(
      renderMediaPlaylist(trimmed),
      new RegExp(`^#EXT-X-MEDIA-SEQUENCE:${entry.seqs[0] ?? 6}$`, 'm'),
    );
  });
}

test('playlist trim: the segment before a gap is not shown', () => {
  const parted = playlist([segment(0), segment(1, { startMs: START_MS + 600_000, epoch: 'e2', disc: 1 })]);
  const trimmed = trimBefore(parted, START_MS + 599_000);
  assert.deepEqual(
    trimmed.segments.map((kept) => kept.seq),
    [1],
  );
  assert.match(renderMediaPlaylist(trimmed), /^#EXT-X-DISCONTINUITY-SEQUENCE:1$/m);
});

test('playlist trim: the sequence never goes back as a window slides', () => {
  const sinceMs = START_MS + 9000;
  let before = 0;
  for (let last = 3; last < 30; last += 1) {
    const seqs = Array.from({ length: 8 }, (_, i) => last - 7 + i).filter((seq) => seq >= 0);
    const trimmed = trimBefore(playlist(seqs.map((seq) => segment(seq))), sinceMs);
    const first = trimmed.segments[0]?.seq ?? trimmed.nextSeq;
    assert.ok(first >= before, `${first} after ${before}`);
    before = first;
  }
});

test('master: attributes, order as given, suffix on every address', () => {
  const master = renderMaster([
    {
      name: 'src',
      codecs: ['avc1.640028', 'mp4a.40.2'],
      bandwidth: 6_000_000,
      averageBandwidth: 5_500_000,
      width: 1920,
      height: 1080,
      fps: 29.97,
    },
    {
      name: '360',
      codecs: ['mp4a.40.2'],
      bandwidth: 800_000,
      averageBandwidth: 700_000,
      width: 0,
      height: 0,
      fps: 0,
    },
  ]);
  assert.equal(
    suffixMaster(master, '?t=a'),
    [
      '#EXTM3U',
      '#EXT-X-VERSION:7',
      '#EXT-X-INDEPENDENT-SEGMENTS',
      '#EXT-X-STREAM-INF:BANDWIDTH=6000000,AVERAGE-BANDWIDTH=5500000,CODECS="avc1.640028,mp4a.40.2",RESOLUTION=1920x1080,FRAME-RATE=29.970',
      'src/index.m3u8?t=a',
      '#EXT-X-STREAM-INF:BANDWIDTH=800000,AVERAGE-BANDWIDTH=700000,CODECS="mp4a.40.2"',
      '360/index.m3u8?t=a',
      '',
    ].join('\n'),
  );
  assert.match(waitingMaster('?t=a'), /\nsrc\/index\.m3u8\?t=a\n$/);
});
