import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type MediaPlaylist, type PublicSegment, renderMediaPlaylist } from './playlist.ts';

const lowLatency = { partTargetSec: 0.5, holdBackSec: 1.5 };

/** Builds segments of two and four seconds, in runs of the given lengths. */
function segmentsOf(runs: readonly number[]): PublicSegment[] {
  const epochs = runs.flatMap((count, disc) => Array.from({ length: count }, () => disc));
  return epochs.map((disc, seq) => ({
    ...{ seq, disc, epoch: `e${disc}`, rung: 'src', file: `s_${seq}.m4s` },
    durationSec: seq % 3 === 0 ? 4 : 2,
    startMs: seq * 3000,
    parts: [{ durationSec: 0.5, bytes: 9, offset: 0, isIndependent: true }],
  }));
}

/** Player's view of a playlist: its segments with their tags, and everything after the last whole one. */
interface Known {
  segments: Map<number, string>;
  rest: string[];
}

/** Reads a playlist as a player does, which has the one before (draft-pantos-hls-rfc8216bis 6.3.7). */
function read(text: string, known: Known | null): Known {
  const numberOf = (name: string) =>
    Number(new RegExp(`^#EXT-X-${name}[:=](\\d+)$`, 'm').exec(text)?.[1] ?? 0);
  const first = numberOf('MEDIA-SEQUENCE');
  const skipped = numberOf('SKIP:SKIPPED-SEGMENTS');
  const segments = new Map<number, string>();
  for (let seq = first; seq < first + skipped; seq += 1) {
    const held = known?.segments.get(seq);
    assert.ok(held, `${seq} was left out, and is not known`);
    segments.set(seq, held);
  }
  let disc = numberOf('DISCONTINUITY-SEQUENCE');
  if (skipped > 0) disc = Number(segments.get(first + skipped - 1)?.split(' ')[0]);
  let map = '';
  let rest: string[] = [];
  for (const line of text.split('\n').slice(1)) {
    if (line === '#EXT-X-DISCONTINUITY') disc += 1;
    else if (line.startsWith('#EXT-X-MAP')) map = line;
    else if (/^#EXT-X-(PROGRAM|PART:|PRELOAD)|^#EXTINF/.test(line)) rest.push(line);
    else if (line !== '' && !line.startsWith('#')) {
      // A segment has parts only while it is new.
      const facts = rest.filter((one) => !one.startsWith('#EXT-X-PART:'));
      segments.set(first + segments.size, [disc, map, ...facts, line].join(' '));
      rest = [];
    }
  }
  return { segments, rest: [map, ...rest] };
}

test('playlist: applying delta updates yields the same playlist as reading it whole', () => {
  const runs = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 4 });
  const steps = fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 30 });
  let updates = 0;
  fc.assert(
    fc.property(runs, steps, fc.integer({ min: 1, max: 60 }), (lengths, ahead, window) => {
      const made = segmentsOf(lengths);
      let known: Known | null = null;
      let end = 0;
      for (const step of ahead) {
        end = Math.min(end + step, made.length - 1);
        const open = made[end];
        assert.ok(open);
        const segments = made
          .slice(Math.max(0, end - window), end)
          .map(({ parts, ...one }) => (one.seq > end - 3 && parts ? { ...one, parts } : one));
        const shown = { targetDuration: 4, segments, nextSeq: end, disc: open.disc, lowLatency, open };
        const whole = read(renderMediaPlaylist(shown, { uriSuffix: '?t=1' }), null);
        const text = renderMediaPlaylist(shown, { uriSuffix: '?t=1', isDelta: known !== null });
        known = read(text, known);
        assert.deepEqual(known, whole);
        if (!text.includes('#EXT-X-SKIP')) continue;
        updates += 1;
        assert.match(text, /^#EXT-X-VERSION:9$/m);
        assert.match(text, /CAN-SKIP-UNTIL=24,/);
        const left = [...text.matchAll(/^#EXTINF:([\d.]+)/gm)].reduce((sum, [, sec]) => sum + Number(sec), 0);
        assert.ok(left + open.durationSec > 24, 'more was left out than the server says');
      }
    }),
  );
  assert.ok(updates > 0);
});

test('playlist: a playlist that is short or has no parts has no delta update', () => {
  const of = (count: number): MediaPlaylist => ({
    ...{ targetDuration: 4, segments: segmentsOf([count]), nextSeq: count, disc: 0 },
  });
  const delta = (playlist: MediaPlaylist) => renderMediaPlaylist(playlist, { isDelta: true });
  assert.doesNotMatch(delta(of(60)), /SKIP/);
  assert.doesNotMatch(delta({ ...of(8), lowLatency }), /EXT-X-SKIP/);
  // The last nine have 25 seconds and a half.
  assert.match(delta({ ...of(60), lowLatency }), /^#EXT-X-SKIP:SKIPPED-SEGMENTS=50$/m);
});
