import assert from 'node:assert/strict';
import { test } from 'node:test';
import { emptyState, type LiveEpoch, type LiveState } from './state.ts';
import {
  addPart,
  endSegment,
  mediaPlaylistOf,
  partsSince,
  slideWindow,
  variantsOf,
  WINDOW_SLOTS,
} from './window.ts';

const T0 = Date.UTC(2026, 0, 1);

function epoch(name: string, rungs: string[] = ['src']): LiveEpoch {
  return {
    name,
    rungs: rungs.map((rung) => ({
      name: rung,
      width: 1280,
      height: 720,
      videoCodec: 'avc1.640028',
      videoKbps: rung === 'src' ? 0 : 1200,
    })),
    audioCodec: 'mp4a.40.2',
    fps: 30,
    nextIndex: 0,
  };
}

/** Adds `count` segments of one part to the state; each is seen when its last frame has come. */
function add(
  state: LiveState,
  run: LiveEpoch,
  count: number,
  fromMs: number,
  durationSec = 2,
  bytes = 500_000,
): number {
  state.epoch = run;
  let nowMs = fromMs;
  for (let i = 0; i < count; i += 1) {
    nowMs += durationSec * 1000;
    const index = run.nextIndex;
    for (const { name } of run.rungs) {
      addPart(state, run, { rung: name, index }, { durationSec, bytes, isIndependent: true }, nowMs);
      endSegment(state, run, { rung: name, index });
    }
    slideWindow(state, nowMs);
  }
  return nowMs;
}

test('window: holds the last eight segments and increments the sequence', () => {
  const state = emptyState();
  add(state, epoch('e1'), 11, T0);
  const { segments } = mediaPlaylistOf(state, 'src');
  assert.equal(segments.length, WINDOW_SLOTS);
  assert.deepEqual([segments[0]?.seq, segments.at(-1)?.seq], [3, 10]);
  assert.equal(segments[0]?.startMs, T0 + 6000);
  assert.equal(state.slots.filter((slot) => slot.leftAtMs !== null).length, 3);
});

test('window: sliding over a discontinuity moves it to the header exactly once', () => {
  const state = emptyState();
  const nowMs = add(state, epoch('e1'), 5, T0);
  const second = epoch('e2');
  const seen: string[] = [];
  for (let i = 0; i < 10; i += 1) {
    add(state, second, 1, nowMs + i * 2000);
    const { segments } = mediaPlaylistOf(state, 'src');
    const tags = segments.filter((segment, at) => at > 0 && segment.disc !== segments[at - 1]?.disc).length;
    seen.push(`${segments[0]?.seq}:${segments[0]?.disc}+${tags}`);
  }
  assert.deepEqual(seen, [
    '0:0+1',
    '0:0+1',
    '0:0+1',
    '1:0+1',
    '2:0+1',
    '3:0+1',
    '4:0+1',
    '5:1+0',
    '6:1+0',
    '7:1+0',
  ]);
});

test('window: a run without segments leaves no discontinuity', () => {
  const state = emptyState();
  const nowMs = add(state, epoch('e1'), 1, T0);
  add(state, epoch('failed'), 0, nowMs);
  add(state, epoch('e3'), 1, nowMs);
  assert.deepEqual(
    state.slots.map((slot) => slot.disc),
    [0, 1],
  );
});

const datesOf = ({ slots }: LiveState): number[] => slots.map(({ startMs }) => startMs - T0);

test('window: dates follow the durations, and never go back', () => {
  const state = emptyState();
  const run = epoch('e1');
  let nowMs = add(state, run, 1, T0);
  nowMs = add(state, run, 1, nowMs + 300);
  add(state, epoch('e2'), 1, nowMs - 1500);
  add(state, epoch('e3'), 1, nowMs + 30_000);
  assert.deepEqual(datesOf(state), [0, 2000, 4000, 34_300]);
});

/** Adds segments in one burst, as after a stall. */
function burst(state: LiveState, run: LiveEpoch, count: number, nowMs: number): void {
  for (let i = 0; i < count; i += 1) add(state, run, 1, nowMs - 2000);
}

test('window: media delayed by a stall is dated before it', () => {
  const state = emptyState();
  const run = epoch('e1');
  const nowMs = add(state, run, 2, T0);
  burst(state, run, 5, nowMs + 10_000);
  // Slower, as over a connection that is not much faster than the media.
  const later = add(state, run, 1, nowMs + 10_000);
  for (let i = 1; i <= 10; i += 1) add(state, run, 1, later + 10_000 + i * 1000 - 2000);
  add(state, run, 1, later + 20_000);
  assert.deepEqual(
    datesOf(state),
    Array.from({ length: 19 }, (_, index) => index * 2000),
  );
});

test('window: dates that stay behind are reset to the clock', () => {
  const state = emptyState();
  const run = epoch('e1');
  const nowMs = add(state, run, 2, T0);
  add(state, run, 5, nowMs + 30_000);
  assert.deepEqual(datesOf(state), [0, 2000, 4000, 6000, 8000, 40_000, 42_000]);
});

test('window: dates that are ahead return to the clock, step by step', () => {
  const state = emptyState();
  const run = epoch('e1');
  const nowMs = add(state, run, 1, T0);
  burst(state, run, 3, nowMs);
  add(state, run, 7, nowMs);
  const aheadMs = datesOf(state)
    .slice(4)
    .map((startMs, index) => startMs - 2000 * (index + 1));
  assert.deepEqual(aheadMs, [2000, 1000, 0, 0, 0, 0, 0]);
});

test('window: the target duration holds every segment rounded, and does not shrink', () => {
  const state = emptyState();
  const run = epoch('e1');
  let nowMs = add(state, run, 3, T0, 2.002);
  assert.equal(state.targetDuration, 2);
  nowMs = add(state, run, 1, nowMs, 4.6);
  assert.equal(state.targetDuration, 5);
  add(state, run, 20, nowMs, 2);
  assert.equal(state.targetDuration, 5);
});

test('window: a player on a rung that a later epoch lacks continues with the next lower one', () => {
  const state = emptyState();
  const nowMs = add(state, epoch('big', ['src', '720', '360']), 2, T0);
  add(state, epoch('small', ['src', '360']), 2, nowMs);
  const rungsOf = (rung: string): string[] =>
    mediaPlaylistOf(state, rung).segments.map((segment) => segment.rung);
  assert.deepEqual(rungsOf('720'), ['720', '720', '360', '360']);
  assert.deepEqual(rungsOf('360'), ['360', '360', '360', '360']);
  assert.deepEqual(rungsOf('src'), ['src', 'src', 'src', 'src']);
  assert.deepEqual(
    variantsOf(state).map((variant) => variant.name),
    ['src', '360'],
  );
});

test('window: all rungs have the same sequence numbers', () => {
  const state = emptyState();
  const nowMs = add(state, epoch('e1', ['src']), 3, T0);
  add(state, epoch('e2', ['src', '480']), 3, nowMs);
  const numbers = (rung: string): string[] =>
    mediaPlaylistOf(state, rung).segments.map(
      (segment) => `${segment.seq}/${segment.disc}/${segment.startMs}`,
    );
  assert.deepEqual(numbers('480'), numbers('src'));
  assert.equal(mediaPlaylistOf(state, '480').segments[0]?.rung, 'src');
});

test('window: a rung that is behind ends before the others, with the same numbers', () => {
  const state = emptyState();
  const run = epoch('e1', ['src', '480']);
  const nowMs = add(state, run, 2, T0);
  const part = { durationSec: 0.5, bytes: 1000, isIndependent: true };
  for (const [at, index] of [2, 2, 3].entries())
    addPart(state, run, { rung: 'src', index }, part, nowMs + (at + 1) * 500);
  endSegment(state, run, { rung: 'src', index: 2 }, 1);
  addPart(state, run, { rung: '480', index: 2 }, part, nowMs + 1500);
  const edge = (rung: string) => {
    const { segments, open, nextSeq } = mediaPlaylistOf(state, rung);
    return [segments.length, nextSeq, open?.seq, open?.parts?.length, open?.startMs];
  };
  assert.deepEqual(edge('src'), [3, 3, 3, 1, nowMs + 1000]);
  assert.deepEqual(edge('480'), [2, 2, 2, 1, nowMs]);
});

test('window: a stalled rung does not delay the others, and its late parts are dropped', () => {
  const state = emptyState();
  const run = epoch('e1', ['src', '480']);
  let nowMs = add(state, run, 1, T0);
  const part = { durationSec: 2, bytes: 1000, isIndependent: true };
  for (let index = 1; index < 40; index += 1) {
    nowMs += 2000;
    addPart(state, run, { rung: 'src', index }, part, nowMs);
    endSegment(state, run, { rung: 'src', index });
    slideWindow(state, nowMs);
    state.slots = state.slots.filter(({ leftAtMs }) => leftAtMs === null);
  }
  assert.equal(mediaPlaylistOf(state, 'src').segments.length, WINDOW_SLOTS);
  assert.equal(mediaPlaylistOf(state, '480').segments.length, 0);
  assert.equal(addPart(state, run, { rung: '480', index: 1 }, part, nowMs), null);
});

test('window: media buffered before a run begins is dated before it', () => {
  const state = emptyState();
  const run = epoch('e1');
  state.epoch = run;
  const place = { rung: 'src', index: 0 };
  for (let i = 0; i < 8; i += 1)
    addPart(state, run, place, { durationSec: 0.2, bytes: 1000, isIndependent: i === 0 }, T0);
  assert.equal(mediaPlaylistOf(state, 'src').open?.startMs, T0 - 1600);
});

test('window: parts are listed for three target durations, and none exceeds the declared target', () => {
  const state = emptyState();
  state.targetDuration = 4;
  state.lowLatency = { partTargetSec: 0.6, holdBackSec: 2 };
  const nowMs = add(state, epoch('e1'), 10, T0);
  const { segments, lowLatency } = mediaPlaylistOf(state, 'src');
  assert.deepEqual(
    segments.map(({ parts }) => parts?.length ?? 0),
    [0, 0, 1, 1, 1, 1, 1, 1],
  );
  assert.equal(lowLatency?.partTargetSec, 2);
  assert.equal(nowMs, T0 + 20_000);
});

test('window: a part as long as a gap in the video raises the target while it is listed', () => {
  const state = emptyState();
  const run = epoch('e1');
  state.targetDuration = 4;
  state.lowLatency = { partTargetSec: 0.234, holdBackSec: 1 };
  state.epoch = run;
  const part = (durationSec: number) => ({ durationSec, bytes: 1000, isIndependent: true });
  const take = (index: number, ...lengths: number[]) => {
    for (const length of lengths)
      addPart(state, run, { rung: 'src', index }, part(length), T0 + index * 2000);
  };
  const targetOf = () => mediaPlaylistOf(state, 'src').lowLatency?.partTargetSec;
  take(0, 2);
  endSegment(state, run, { rung: 'src', index: 0 });
  take(1, 0.2, 0.2);
  const shown = mediaPlaylistOf(state, 'src');
  take(1, 0.2);
  assert.equal(partsSince(state, shown)?.length, 1);
  take(1, 3.2001);
  assert.equal(partsSince(state, shown), null, 'the header changes');
  assert.equal(targetOf(), 3.201);
  const targets: (number | undefined)[] = [];
  for (let index = 1; index < 9; index += 1) {
    endSegment(state, run, { rung: 'src', index });
    take(index + 1, ...Array.from({ length: 10 }, () => 0.2));
    slideWindow(state, T0 + index * 2000);
    targets.push(targetOf());
  }
  assert.deepEqual(targets, [...Array.from({ length: 6 }, () => 3.201), 0.234, 0.234]);
});

test('window: bandwidth is the measured peak, and orders the variants', () => {
  const state = emptyState();
  const run = epoch('e1');
  const nowMs = add(state, run, 2, T0, 2, 1_000_000);
  const [src] = variantsOf(state);
  assert.equal(src?.bandwidth, 4_000_000);
  assert.equal(src?.averageBandwidth, 4_000_000);
  add(state, run, 1, nowMs, 2, 1_600_000);
  assert.equal(variantsOf(state)[0]?.bandwidth, 6_400_000);

  const poor = emptyState();
  add(poor, epoch('e1', ['src', '480']), 1, T0, 2, 50_000);
  const [top, scaled] = variantsOf(poor);
  assert.ok(top && scaled && top.bandwidth > scaled.bandwidth, `${top?.bandwidth} over ${scaled?.bandwidth}`);
  assert.equal(top.averageBandwidth, 200_000);
});
