import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { dateFromMs } from '../../../kernel/clock.ts';
import {
  deriveStatus,
  durationSec,
  emitBroadcastState,
  livePlan,
  onSignalDown,
  onSignalUp,
  type StreamState,
  start,
  stop,
  type Transition,
} from './rules.ts';

const EPOCH = Date.parse('2026-11-20T09:00:00.000Z');
/** Returns the moment this many seconds after the beginning. */
const at = (seconds: number) => dateFromMs(EPOCH + seconds * 1000);
const iso = (seconds: number) => at(seconds).toISOString();

const idle: StreamState = {
  id: 'str_1',
  hasSignal: false,
  isLive: false,
  startedAt: null,
  endedAt: null,
  startedNotifiedAt: null,
  stoppedNotifiedAt: null,
  signalStopNotifiedAt: null,
  notifiedIsLive: false,
  dueAt: null,
};
const preview: StreamState = { ...idle, hasSignal: true };
/** Stream that is on air with a signal since second 0, as emitted. */
const live: StreamState = {
  ...preview,
  isLive: true,
  startedAt: at(0),
  startedNotifiedAt: at(0),
  notifiedIsLive: true,
};
const liveNoSignal: StreamState = { ...live, hasSignal: false };
/** Switched on in second 0 and still waiting for its first media. */
const waiting: StreamState = { ...liveNoSignal, startedAt: null };

type Act = (state: StreamState, now: Date) => Transition;
const neverLive = { signalStartedAt: at(1), wasBroadcast: false };
const wasLive = { signalStartedAt: at(0), wasBroadcast: true };
const stopping =
  (session: typeof neverLive | null): Act =>
  (state, now) =>
    stop(state, now, session);

interface Edge {
  name: string;
  from: StreamState;
  act: Act;
  flags: [hasSignal: boolean, isLive: boolean];
  events: [type: string, data: object][];
}

/** Every state and every event at second 100. */
const edges: Edge[] = [
  {
    name: 'idle, signal comes: preview, stream.live HAS_SIGNAL',
    from: idle,
    act: onSignalUp,
    flags: [true, false],
    events: [['stream.live', { status: 'HAS_SIGNAL', wentLiveAt: iso(100) }]],
  },
  {
    name: 'preview, signal comes again: nothing',
    from: preview,
    act: onSignalUp,
    flags: [true, false],
    events: [],
  },
  {
    name: 'live without signal, signal comes back: stream.live ACTIVE and no broadcast event',
    from: liveNoSignal,
    act: onSignalUp,
    flags: [true, true],
    events: [['stream.live', { status: 'ACTIVE', wentLiveAt: iso(100) }]],
  },
  { name: 'live, signal comes again: nothing', from: live, act: onSignalUp, flags: [true, true], events: [] },
  { name: 'idle, signal lost: nothing', from: idle, act: onSignalDown, flags: [false, false], events: [] },
  {
    name: 'preview, signal lost: stream.ended with a null duration',
    from: preview,
    act: onSignalDown,
    flags: [false, false],
    events: [['stream.ended', { endedAt: iso(100), durationSec: null }]],
  },
  {
    name: 'live, signal lost: stream.ended, and the broadcast goes on',
    from: live,
    act: onSignalDown,
    flags: [false, true],
    events: [['stream.ended', { endedAt: iso(100), durationSec: null }]],
  },
  {
    name: 'live without signal, signal lost again: nothing',
    from: liveNoSignal,
    act: onSignalDown,
    flags: [false, true],
    events: [],
  },
  {
    name: 'idle, start: live without a signal, startedAt null',
    from: idle,
    act: start,
    flags: [false, true],
    events: [['stream.broadcast_started', { isLive: true, startedAt: null }]],
  },
  {
    name: 'preview, start: live, startedAt now',
    from: preview,
    act: start,
    flags: [true, true],
    events: [['stream.broadcast_started', { isLive: true, startedAt: iso(100) }]],
  },
  { name: 'live, start again: nothing', from: live, act: start, flags: [true, true], events: [] },
  {
    name: 'live without signal, start again: nothing',
    from: liveNoSignal,
    act: start,
    flags: [false, true],
    events: [],
  },
  { name: 'idle, stop: nothing', from: idle, act: stopping(null), flags: [false, false], events: [] },
  {
    name: 'preview that was never live, stop: broadcast_stopped with a null duration',
    from: preview,
    act: stopping(neverLive),
    flags: [true, false],
    events: [['stream.broadcast_stopped', { isLive: false, endedAt: iso(100), durationSec: null }]],
  },
  {
    name: 'preview after a broadcast on the same signal, stop again: nothing',
    from: {
      ...preview,
      startedAt: at(0),
      startedNotifiedAt: at(0),
      endedAt: at(10),
      stoppedNotifiedAt: at(10),
    },
    act: stopping(wasLive),
    flags: [true, false],
    events: [],
  },
  {
    name: 'live, stop: broadcast_stopped with the whole seconds',
    from: live,
    act: stopping(wasLive),
    flags: [true, false],
    events: [['stream.broadcast_stopped', { isLive: false, endedAt: iso(100), durationSec: 100 }]],
  },
  {
    name: 'live without signal, stop: broadcast_stopped with the whole seconds',
    from: liveNoSignal,
    act: stopping(null),
    flags: [false, false],
    events: [['stream.broadcast_stopped', { isLive: false, endedAt: iso(100), durationSec: 100 }]],
  },
  {
    name: 'live that never had media, stop: broadcast_stopped with a null duration',
    from: waiting,
    act: stopping(null),
    flags: [false, false],
    events: [['stream.broadcast_stopped', { isLive: false, endedAt: iso(100), durationSec: null }]],
  },
];

describe('each state and event', () => {
  for (const edge of edges) {
    test(edge.name, () => {
      const { state, events } = edge.act(edge.from, at(100));
      assert.deepEqual([state.hasSignal, state.isLive], edge.flags);
      assert.deepEqual(
        events,
        edge.events.map(([type, data]) => ({ type, data: { streamId: 'str_1', ...data } })),
      );
      assert.equal(state.dueAt, null);
      if (edge.events.length === 0) assert.deepEqual(state, edge.from);
    });
  }
});

/** Runs the acts in order, each at its second, and returns the emitted types with their seconds. */
function run(from: StreamState, acts: [second: number, act: Act][]) {
  let state = from;
  const said: [number, string, unknown][] = [];
  for (const [second, act] of acts) {
    const next = act(state, at(second));
    state = next.state;
    for (const { type, data } of next.events) said.push([second, type, data]);
  }
  return { state, said, types: said.map(([second, type]) => [second, type.replace('stream.', '')]) };
}

describe('when the broadcast started', () => {
  test('start without a signal: startedAt is null until the first media, which sets it', () => {
    const { state } = run(idle, [[0, start]]);
    assert.equal(state.startedAt, null);
    assert.deepEqual(run(state, [[30, onSignalUp]]).state.startedAt, at(30));
  });

  test('a reconnect keeps the first start', () => {
    const { state } = run(live, [
      [50, onSignalDown],
      [55, onSignalUp],
    ]);
    assert.deepEqual(state.startedAt, at(0));
  });

  test('a new broadcast has a new start, and an end only after it stops', () => {
    const { state } = run(live, [
      [10, stopping(wasLive)],
      [70, start],
    ]);
    assert.deepEqual([state.startedAt, state.endedAt], [at(70), null]);
    const signalLess = run(liveNoSignal, [
      [10, stopping(null)],
      [70, start],
    ]);
    assert.equal(signalLess.state.startedAt, null);
  });

  test('the duration counts from the first media, not from the switch', () => {
    const { said } = run(idle, [
      [0, start],
      [30, onSignalUp],
      [100, stopping({ signalStartedAt: at(30), wasBroadcast: true })],
    ]);
    assert.deepEqual(said.at(-1), [
      100,
      'stream.broadcast_stopped',
      { streamId: 'str_1', isLive: false, endedAt: iso(100), durationSec: 70 },
    ]);
  });

  test('durations are whole seconds, rounded down; null is not zero', () => {
    assert.equal(durationSec(at(0), at(1.999)), 1);
    assert.equal(durationSec(at(0), at(0)), 0);
    assert.equal(durationSec(at(1), at(0)), 0);
    assert.equal(durationSec(null, at(5)), null);
    assert.equal(durationSec(at(5), null), null);
  });
});

describe('at most one broadcast event of a type in a minute', () => {
  test('a suppressed start is emitted when the minute ends, with its own startedAt', () => {
    const { state, said, types } = run(live, [
      [10, stopping(wasLive)],
      [20, start],
      [59.999, emitBroadcastState],
      [60, emitBroadcastState],
    ]);
    assert.deepEqual(types, [
      [10, 'broadcast_stopped'],
      [60, 'broadcast_started'],
    ]);
    assert.deepEqual(said.at(-1)?.[2], { streamId: 'str_1', isLive: true, startedAt: iso(20) });
    assert.equal(state.dueAt, null);
  });

  test('the due time of the next check is stored', () => {
    const { state } = run(live, [
      [10, stopping(wasLive)],
      [20, start],
    ]);
    assert.deepEqual(state.dueAt, at(60));
    const stopped = run(live, [
      [10, stopping(wasLive)],
      [60, start],
      [65, stopping(wasLive)],
    ]);
    assert.deepEqual(stopped.state.dueAt, at(70));
  });

  test('a suppressed start that is stopped again is dropped', () => {
    const { state, types } = run(live, [
      [10, stopping(wasLive)],
      [20, start],
      [30, stopping(wasLive)],
      [60, emitBroadcastState],
    ]);
    assert.deepEqual(types, [[10, 'broadcast_stopped']]);
    assert.equal(state.dueAt, null);
  });

  test('a suppressed stop carries the time at which it happened', () => {
    const { said } = run(live, [
      [10, stopping(wasLive)],
      [60, start],
      [65, stopping(wasLive)],
      [70, emitBroadcastState],
    ]);
    assert.deepEqual(said.at(-1)?.[2], {
      streamId: 'str_1',
      isLive: false,
      endedAt: iso(65),
      durationSec: 5,
    });
  });

  test('settling twice emits no second event', () => {
    const { types } = run(live, [
      [10, stopping(wasLive)],
      [20, start],
      [60, emitBroadcastState],
      [60.5, emitBroadcastState],
      [200, emitBroadcastState],
    ]);
    assert.deepEqual(types.slice(1), [[60, 'broadcast_started']]);
  });
});

describe('stop on a signal without a broadcast', () => {
  test('a stop on a signal without a broadcast is emitted once per signal', () => {
    const again = { signalStartedAt: at(200), wasBroadcast: false };
    const { types } = run(preview, [
      [10, stopping(neverLive)],
      [100, stopping(neverLive)],
      [150, onSignalDown],
      [200, onSignalUp],
      [210, stopping(again)],
    ]);
    assert.deepEqual(types, [
      [10, 'broadcast_stopped'],
      [150, 'ended'],
      [200, 'live'],
      [210, 'broadcast_stopped'],
    ]);
  });

  test('a stop on a signal is not emitted within a minute of the last stop', () => {
    const { state, types } = run({ ...preview, stoppedNotifiedAt: at(0) }, [[59, stopping(neverLive)]]);
    assert.deepEqual(types, []);
    assert.equal(state.dueAt, null);
  });

  test('a pending stop of a broadcast takes precedence over a stop on a signal', () => {
    const fresh = { signalStartedAt: at(66), wasBroadcast: false };
    const { state, said } = run(live, [
      [10, stopping(wasLive)],
      [60, start],
      [64, stopping(wasLive)],
      [65, onSignalDown],
      [66, onSignalUp],
      [71, stopping(fresh)],
    ]);
    assert.deepEqual(said.at(-1), [
      71,
      'stream.broadcast_stopped',
      { streamId: 'str_1', isLive: false, endedAt: iso(64), durationSec: 4 },
    ]);
    assert.equal(state.dueAt, null);
  });
});

test('the status is derived from the two flags, and DISABLED hides them', () => {
  const status = (hasSignal: boolean, isLive: boolean, enabled = true) =>
    deriveStatus({ hasSignal, isLive, enabled });
  assert.deepEqual(
    [status(false, false), status(true, false), status(true, true), status(false, true)],
    ['IDLE', 'PREVIEW', 'LIVE', 'LIVE_NO_SIGNAL'],
  );
  assert.equal(status(true, false, false), 'DISABLED');
});

test('the live limit is that of the plan, and 720 lines in test mode', () => {
  const heights = (['FREE', 'STAR', 'PRO', 'VIP'] as const).map((plan) => livePlan(plan, 'live').maxHeight);
  assert.deepEqual(heights, [720, 1080, 1440, 2160]);
  assert.deepEqual(livePlan('VIP', 'test'), {
    maxHeight: 720,
    concurrent: livePlan('VIP', 'live').concurrent,
  });
});
