import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { placeholderMaster, renderMaster, suffixMaster } from './master.ts';
import {
  emptyMediaPlaylist,
  type MediaPlaylist,
  type PublicSegment,
  parseMediaPlaylist,
  renderMediaPlaylist,
  renderNewParts,
  trimAfter,
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

test('playlist: a new epoch has one discontinuity and its own map', () => {
  const text = renderMediaPlaylist(
    playlist([segment(7), segment(8, { epoch: 'e2', disc: 1, file: 's_000000.m4s', durationSec: 1.5 })]),
    { uriSuffix: '?t=1' },
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

test('playlist: the header counts a discontinuity after its preceding segment has left', () => {
  const text = renderMediaPlaylist(
    playlist([segment(8, { epoch: 'e2', disc: 1 }), segment(9, { epoch: 'e2', disc: 1 })]),
  );
  assert.match(text, /^#EXT-X-MEDIA-SEQUENCE:8$/m);
  assert.match(text, /^#EXT-X-DISCONTINUITY-SEQUENCE:1$/m);
  assert.doesNotMatch(text, /^#EXT-X-DISCONTINUITY$/m);
});

test('playlist: an empty playlist is valid and keeps the numbers', () => {
  const text = renderMediaPlaylist({ ...emptyMediaPlaylist(2), nextSeq: 41, disc: 3 });
  assert.match(text, /^#EXTM3U\n/);
  assert.match(text, /^#EXT-X-TARGETDURATION:2$/m);
  assert.match(text, /^#EXT-X-MEDIA-SEQUENCE:41$/m);
  assert.match(text, /^#EXT-X-DISCONTINUITY-SEQUENCE:3$/m);
  assert.doesNotMatch(text, /ENDLIST|PLAYLIST-TYPE/);
});

test('playlist: parses its own output', () => {
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

const part = fc.record({
  durationSec: fc.integer({ min: 1, max: 2000 }).map((ms) => ms / 1000),
  bytes: fc.integer({ min: 1, max: 10 ** 8 }),
  isIndependent: fc.boolean(),
});

/** A playlist as it is while a segment is being written, with parts in all of its segments or the newest. */
const edgePlaylist = fc
  .record({
    before: fc.array(fc.array(part, { maxLength: 4 }), { maxLength: 6 }),
    open: fc.array(part, { minLength: 1, maxLength: 8 }),
    firstSeq: fc.nat(10_000),
  })
  .map(({ before, open, firstSeq }): MediaPlaylist => {
    let startMs = START_MS;
    const made = [...before, open].map((parts, index) => {
      let offset = 0;
      const placed = parts.map((one) => {
        const found = { ...one, offset };
        offset += one.bytes;
        return found;
      });
      const sum = parts.reduce((total, { durationSec }) => total + durationSec, 0);
      const isOpen = index === before.length;
      const durationSec = isOpen ? sum : Math.round((sum || 2) * 1000) / 1000;
      const one = segment(firstSeq + index, {
        startMs,
        durationSec,
        ...(placed[0]?.isIndependent === false && { isDependent: true }),
        ...(placed.length === 0 ? {} : { parts: placed }),
      });
      startMs += Math.round(durationSec * 1000);
      return one;
    });
    const last = made.at(-1);
    return {
      targetDuration: 4,
      segments: made.slice(0, -1),
      nextSeq: firstSeq + before.length,
      disc: 0,
      lowLatency: { partTargetSec: 2, holdBackSec: 6 },
      ...(last === undefined ? {} : { open: last }),
    };
  });

test('playlist: parts can be parsed, and are contiguous', () => {
  fc.assert(
    fc.property(edgePlaylist, (playlist) => {
      const read = parseMediaPlaylist(renderMediaPlaylist(playlist, { hasOffsets: true }));
      assert.deepEqual(read, playlist);
    }),
  );
});

/** Returns the playlist as it was when its open segment had `count` parts. */
function withParts(playlist: MediaPlaylist, count: number): MediaPlaylist {
  const { open } = playlist;
  if (open === undefined) return playlist;
  const parts = open.parts?.slice(0, count) ?? [];
  const durationSec = parts.reduce((total, part) => total + part.durationSec, 0);
  return { ...playlist, open: { ...open, durationSec, parts } };
}

test('playlist: appended parts can be parsed, up to a partial line', () => {
  fc.assert(
    fc.property(edgePlaylist, fc.nat(7), fc.nat(2000), (playlist, before, written) => {
      const { open } = playlist;
      assert.ok(open?.parts !== undefined);
      const known = 1 + (before % open.parts.length);
      const text = renderMediaPlaylist(withParts(playlist, known), { hasOffsets: true });
      const added = renderNewParts(open, known);
      assert.deepEqual(parseMediaPlaylist(text + added), playlist);
      const half = added.slice(0, written % added.length);
      const whole = half
        .split('\n')
        .slice(0, -1)
        .filter((line) => line.startsWith('#EXT-X-PART:')).length;
      assert.deepEqual(parseMediaPlaylist(text + half), withParts(playlist, known + whole));
    }),
  );
});

test('playlist: players with and without support for parts can follow every version', () => {
  fc.assert(
    fc.property(
      edgePlaylist,
      fc.integer({ min: -20, max: 20 }),
      fc.integer({ min: 1, max: 40 }),
      (full, a, b) => {
        const [sinceMs, untilMs] = [START_MS + a * 1000, START_MS + (a + b) * 1000];
        const shown = trimAfter(trimBefore(full, sinceMs), untilMs);
        const text = renderMediaPlaylist(shown, { uriSuffix: '?t=1' });
        assert.doesNotMatch(text, /BYTERANGE/);
        const listed = [...text.matchAll(/^#EXT-X-PART:.*URI="[^"]*\/(s_\d+)\.(\d+)\.m4s\?t=1"/gm)];
        const bySegment = Map.groupBy(listed, (match) => match[1]);
        for (const [, found] of bySegment)
          assert.deepEqual(
            found.map((match) => Number(match[2])),
            [...found.keys()],
          );
        // The preload hint names the next part of the last segment that has parts.
        const hint = /PRELOAD-HINT:TYPE=PART,URI="[^"]*\/(s_\d+)\.(\d+)\.m4s\?t=1"/.exec(text);
        if (shown.open !== undefined) {
          assert.equal(hint?.[1], shown.open.file.replace('.m4s', ''));
          assert.equal(Number(hint?.[2]), shown.open.parts?.length ?? 0);
        } else assert.equal(hint, null);
        const first = Number(/MEDIA-SEQUENCE:(\d+)/.exec(text)?.[1]);
        assert.ok(first >= (full.segments[0]?.seq ?? full.nextSeq));
        // Nothing of the time after the broadcast, but for what began in it.
        const startOf = (file: string) =>
          [...full.segments, full.open].find((one) => one?.file === file)?.startMs ?? 0;
        for (const file of text.match(/s_\d+\.m4s/g) ?? []) assert.ok(startOf(file) < untilMs);
      },
    ),
  );
});

test('playlist: renders parts, and the tags that allow a player to wait for them', () => {
  const parts = [
    { durationSec: 0.2, bytes: 500, offset: 0, isIndependent: true },
    { durationSec: 0.233333, bytes: 300, offset: 500, isIndependent: false },
  ];
  const { parts: _, ...open } = segment(8, { durationSec: 0.433333 });
  const text = renderMediaPlaylist(
    {
      ...playlist([segment(7)]),
      lowLatency: { partTargetSec: 0.234, holdBackSec: 0.5 },
      open: { ...open, parts },
    },
    {
      reports: [
        { rung: '480', seq: 8, part: 0 },
        { rung: '360', seq: 7, part: null },
      ],
    },
  );
  const after = text.slice(text.indexOf('../e1/src/s_000007.m4s\n'));
  assert.match(text, /^#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,CAN-SKIP-UNTIL=12,PART-HOLD-BACK=0\.702$/m);
  assert.match(text, /^#EXT-X-PART-INF:PART-TARGET=0\.234$/m);
  assert.equal(
    after,
    [
      '../e1/src/s_000007.m4s',
      '#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:16.000Z',
      '#EXT-X-PART:DURATION=0.2,URI="../e1/src/s_000008.0.m4s",INDEPENDENT=YES',
      '#EXT-X-PART:DURATION=0.233333,URI="../e1/src/s_000008.1.m4s"',
      '#EXT-X-PRELOAD-HINT:TYPE=PART,URI="../e1/src/s_000008.2.m4s"',
      '#EXT-X-RENDITION-REPORT:URI="../480/index.m3u8",LAST-MSN=8,LAST-PART=0',
      '#EXT-X-RENDITION-REPORT:URI="../360/index.m3u8",LAST-MSN=7',
      '',
    ].join('\n'),
  );
});

test('playlist: with parts, it never ends with a URL, which hls.js takes for the next segment as well', () => {
  const waiting = { ...playlist([segment(7)]), lowLatency: { partTargetSec: 0.234, holdBackSec: 0.702 } };
  const lastLine = (options: Parameters<typeof renderMediaPlaylist>[1]) =>
    renderMediaPlaylist(waiting, options).trimEnd().split('\n').at(-1);
  assert.equal(lastLine({}), '#PAUSE');
  assert.equal(lastLine({ isComplete: true }), '#EXT-X-ENDLIST');
  assert.match(
    lastLine({ reports: [{ rung: '480', seq: 7, part: null }] }) ?? '',
    /^#EXT-X-RENDITION-REPORT/,
  );
  assert.deepEqual(parseMediaPlaylist(renderMediaPlaylist(waiting)), waiting);
});

test('playlist: rejects other content', () => {
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

test('playlist trim: hides the segment before a gap', () => {
  const parted = playlist([segment(0), segment(1, { startMs: START_MS + 600_000, epoch: 'e2', disc: 1 })]);
  const trimmed = trimBefore(parted, START_MS + 599_000);
  assert.deepEqual(
    trimmed.segments.map((kept) => kept.seq),
    [1],
  );
  assert.match(renderMediaPlaylist(trimmed), /^#EXT-X-DISCONTINUITY-SEQUENCE:1$/m);
});

test('playlist trim: the sequence never decreases as a window slides', () => {
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

test('master: variants that every browser plays come before a source that not all play', () => {
  const rates = { bandwidth: 1, averageBandwidth: 1, fps: 30 };
  const master = renderMaster([
    { name: 'src', codecs: ['hvc1.1.6.L93', 'mp4a.40.2'], width: 1280, height: 720, ...rates },
    { name: '720', codecs: ['avc1.4d401f', 'mp4a.40.2'], width: 1280, height: 720, ...rates },
    { name: '360', codecs: ['avc1.4d401e', 'mp4a.40.2'], width: 640, height: 360, ...rates },
  ]);
  assert.deepEqual(master.match(/^\w+(?=\/index)/gm), ['720', '360', 'src']);
});

test('master: has attributes, the start variant for phones first, and the suffix on every URL', () => {
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
    {
      name: '480',
      codecs: [],
      bandwidth: 2_000_000,
      averageBandwidth: 1_900_000,
      width: 480,
      height: 854,
      fps: 0,
    },
    {
      name: '720',
      codecs: [],
      bandwidth: 3_000_000,
      averageBandwidth: 2_900_000,
      width: 720,
      height: 1280,
      fps: 0,
    },
  ]);
  assert.equal(
    suffixMaster(master, '?t=a'),
    [
      '#EXTM3U',
      '#EXT-X-VERSION:7',
      '#EXT-X-STREAM-INF:BANDWIDTH=3000000,AVERAGE-BANDWIDTH=2900000,RESOLUTION=720x1280',
      '720/index.m3u8?t=a',
      '#EXT-X-STREAM-INF:BANDWIDTH=6000000,AVERAGE-BANDWIDTH=5500000,CODECS="avc1.640028,mp4a.40.2",RESOLUTION=1920x1080,FRAME-RATE=29.970',
      'src/index.m3u8?t=a',
      '#EXT-X-STREAM-INF:BANDWIDTH=2000000,AVERAGE-BANDWIDTH=1900000,RESOLUTION=480x854',
      '480/index.m3u8?t=a',
      '#EXT-X-STREAM-INF:BANDWIDTH=800000,AVERAGE-BANDWIDTH=700000,CODECS="mp4a.40.2"',
      '360/index.m3u8?t=a',
      '',
    ].join('\n'),
  );
  assert.match(placeholderMaster('?t=a'), /\nsrc\/index\.m3u8\?t=a\n$/);
});
