import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { needsOwnProcess } from '../../test/harness/needs.ts';
import { createPlayback, type EngineEvent, type Phase } from './playback.ts';
import type { Availability } from './probe.ts';

needsOwnProcess();

/** Creates a playback whose server responses the test sets, and records its phases. */
function setUp(t: TestContext, start: Availability) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  const seen: Phase[] = [];
  const state = { answer: start, probes: 0, attached: 0, destroyed: 0, isOpaque: false, isHidden: false };
  let report: (event: EngineEvent) => void = () => {};
  const playback = createPlayback({
    probe: async () => {
      state.probes += 1;
      return state.answer;
    },
    attach: async (tell) => {
      state.attached += 1;
      report = tell;
      const destroy = () => {
        state.destroyed += 1;
      };
      return { opaque: state.isOpaque, facts: () => null, destroy };
    },
    wasLive: false,
    mayChange: true,
    onPhase: (phase) => seen.push(phase),
    isHidden: () => state.isHidden,
    random: () => 0.5,
  });
  t.after(() => playback.stop());
  /** Lets promises settle, moves the clock, lets promises settle. */
  const pass = async (ms: number) => {
    await settle();
    now += ms;
    t.mock.timers.tick(ms);
    await settle();
  };
  return { playback, seen, state, pass, tell: (event: EngineEvent) => report(event) };
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
}

test('waits while offline, plays when it starts, ends, and plays again', async (t) => {
  const { playback, seen, state, pass, tell } = setUp(t, 'offline');
  playback.start(false);
  await pass(2500);
  assert.deepEqual(seen, ['offline']);
  state.answer = 'live';
  await pass(2500);
  tell('ready');
  state.answer = 'offline';
  tell('gone');
  await pass(0);
  assert.deepEqual(seen, ['offline', 'starting', 'live', 'ended']);
  assert.equal(state.destroyed, 1);
  state.answer = 'live';
  await pass(2500);
  tell('ready');
  assert.deepEqual(seen.slice(4), ['starting', 'live']);
});

test('an offline broadcast is polled every 2.5 s, and rarely in the background', async (t) => {
  const { playback, state, pass } = setUp(t, 'offline');
  playback.start(false);
  await pass(0);
  for (let i = 0; i < 4; i++) await pass(2500);
  assert.equal(state.probes, 5);
  state.isHidden = true;
  await pass(2500);
  for (let i = 0; i < 4; i++) await pass(2500);
  assert.equal(state.probes, 6);
  playback.wake();
  await pass(0);
  assert.equal(state.probes, 7);
});

test('a page rendered during the broadcast plays without a probe', async (t) => {
  const { playback, seen, state, pass } = setUp(t, 'live');
  playback.start(true);
  await pass(0);
  assert.deepEqual([state.probes, state.attached, seen], [0, 1, ['starting']]);
});

test('a broadcast with changed renditions restarts immediately', async (t) => {
  const { playback, seen, state, pass, tell } = setUp(t, 'live');
  playback.start(true);
  await pass(0);
  tell('ready');
  tell('changed');
  await pass(0);
  assert.deepEqual([state.probes, state.attached, state.destroyed], [0, 2, 1]);
  tell('ready');
  assert.deepEqual(seen, ['starting', 'live', 'starting', 'live']);
});

test('an empty playlist is polled every second', async (t) => {
  const { playback, seen, state, pass, tell } = setUp(t, 'live');
  playback.start(true);
  await pass(0);
  for (let i = 0; i < 3; i++) {
    tell('empty');
    await pass(1000);
  }
  assert.deepEqual([state.attached, state.destroyed, seen], [4, 3, ['starting']]);
});

test('an unreachable server is tried with growing waits up to 15 s', async (t) => {
  const { playback, seen, state, pass, tell } = setUp(t, 'live');
  playback.start(true);
  await pass(0);
  tell('ready');
  state.answer = 'unreachable';
  tell('network');
  for (const wait of [1000, 2000, 4000, 8000, 15_000, 15_000]) {
    const before = state.probes;
    await pass(wait - 1);
    assert.equal(state.probes, before, `no probe before ${wait} ms`);
    await pass(1);
    assert.equal(state.probes, before + 1, `a probe after ${wait} ms`);
  }
  assert.deepEqual(seen, ['starting', 'live', 'reconnecting']);
  state.answer = 'live';
  await pass(15_000);
  tell('ready');
  assert.equal(seen.at(-1), 'live');
});

test('a missing playlist of a live broadcast is not polled in a tight loop', async (t) => {
  const { playback, state, pass, tell } = setUp(t, 'live');
  playback.start(true);
  await pass(0);
  for (let i = 0; i < 3; i++) {
    const { attached } = state;
    tell('gone');
    await pass(999);
    assert.equal(state.attached, attached);
    await pass(15_000);
    assert.equal(state.attached, attached + 1);
  }
});

test('media that cannot be decoded fails after four attempts and is retried on demand', async (t) => {
  const { playback, seen, state, pass, tell } = setUp(t, 'live');
  playback.start(true);
  await pass(0);
  for (const wait of [15_000, 15_000, 15_000, 0]) {
    tell('media');
    await pass(wait);
  }
  assert.equal(seen.at(-1), 'failed');
  assert.equal(state.attached, 4);
  playback.wake();
  await pass(0);
  assert.equal(state.attached, 4);
  playback.retry();
  await pass(0);
  assert.deepEqual([state.attached, seen.at(-1)], [5, 'starting']);
});

test('unsupported media stays failed until the encoder changes its signal or ends', async (t) => {
  const { playback, seen, state, pass, tell } = setUp(t, 'live');
  playback.start(true);
  await pass(0);
  for (let i = 0; i < 3; i++) {
    tell('unsupported');
    await pass(8000);
  }
  assert.deepEqual([state.attached, seen], [4, ['starting', 'failed']]);
  tell('ready');
  assert.equal(seen.at(-1), 'live');
  tell('unsupported');
  state.answer = 'offline';
  await pass(8000);
  assert.deepEqual(seen.slice(2), ['live', 'failed', 'ended']);
});

test('an interruption is shown and cleared', async (t) => {
  const { playback, seen, pass, tell } = setUp(t, 'live');
  playback.start(true);
  await pass(0);
  for (const event of ['ready', 'stalled', 'resumed'] as const) {
    tell(event);
    await pass(0);
  }
  assert.deepEqual(seen, ['starting', 'live', 'interrupted', 'live']);
});

test('natively played broadcasts are polled for their end', async (t) => {
  const { playback, seen, state, pass, tell } = setUp(t, 'live');
  state.isOpaque = true;
  playback.start(true);
  await pass(0);
  tell('ready');
  await pass(3000);
  assert.equal(seen.at(-1), 'live');
  state.answer = 'offline';
  await pass(3000);
  assert.equal(seen.at(-1), 'live', 'the rest is still to be seen');
  await pass(15_000);
  assert.equal(seen.at(-1), 'ended');
});

test('a broadcast played to its end has ended, and starts again when it is live', async (t) => {
  const { playback, seen, state, pass, tell } = setUp(t, 'live');
  state.isOpaque = true;
  playback.start(true);
  await pass(0);
  tell('ready');
  state.answer = 'offline';
  await pass(3000);
  tell('gone');
  await pass(0);
  assert.equal(seen.at(-1), 'ended');
  await pass(2500);
  const { attached } = state;
  state.answer = 'live';
  await pass(2500);
  assert.equal(state.attached, attached + 1);
});

test('nothing happens after stop', async (t) => {
  const { playback, seen, state, pass, tell } = setUp(t, 'live');
  playback.start(true);
  await pass(0);
  playback.stop();
  tell('ready');
  await pass(60_000);
  assert.deepEqual([seen, state.probes, state.destroyed], [['starting'], 0, 1]);
});

test('a stalled video shows reconnecting when the server is unreachable', async (t) => {
  const { playback, seen, state, pass, tell } = setUp(t, 'live');
  playback.start(true);
  await pass(0);
  tell('ready');
  state.answer = 'unreachable';
  tell('stalled');
  await pass(0);
  assert.deepEqual(seen, ['starting', 'live', 'reconnecting']);
  state.answer = 'live';
  tell('resumed');
  assert.deepEqual(seen.slice(3), ['live']);
});

test('a video that resumes before the probe responds causes no phase change', async (t) => {
  const { playback, seen, pass, tell } = setUp(t, 'live');
  playback.start(true);
  await pass(0);
  for (const event of ['ready', 'stalled', 'resumed'] as const) tell(event);
  await pass(0);
  assert.deepEqual(seen, ['starting', 'live']);
});
