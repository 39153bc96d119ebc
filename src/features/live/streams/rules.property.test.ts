import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { dateFromMs } from '../../../kernel/clock.ts';
import {
  emitBroadcastState,
  onSignalDown,
  onSignalUp,
  type StreamEvent,
  type StreamState,
  start,
  stop,
  type Transition,
} from './rules.ts';

type Action =
  | { kind: 'signalUp'; sameSession: boolean }
  | { kind: 'signalDown' | 'start' | 'stop' }
  | { kind: 'wait'; ms: number };

const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('signalUp' as const), sameSession: fc.boolean() }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constantFrom('signalDown', 'start', 'stop') }) },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 50_000 }) }),
  },
);

const EPOCH = Date.parse('2026-11-20T09:00:00.000Z');
const MINUTE = 60_000;

/** Model of a stream, its sweep, and a receiver that believes every event. */
class World {
  now = EPOCH;
  session: { signalStartedAt: Date; wasBroadcast: boolean } | null = null;
  state: StreamState = {
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
  /** `ofSignal`: the stop of a signal that was never broadcast. */
  readonly said: { at: number; event: StreamEvent; ofSignal: boolean }[] = [];
  believesLive = false;
  believesSignal = false;
  /**
   * Time at which the latest broadcast had both its switch and media, and time at which it was switched off.
   */
  began: number | null = null;
  ended = 0;

  act(next: Action): void {
    const now = dateFromMs(this.now);
    if (next.kind === 'wait') this.wait(next.ms);
    else this.apply(this.decide(next, now));
  }

  decide(next: Exclude<Action, { kind: 'wait' }>, now: Date): Transition {
    if (next.kind === 'signalUp') {
      if (this.state.isLive) this.began ??= this.now;
      if (!this.state.hasSignal) {
        const kept = next.sameSession ? this.session : null;
        const wasBroadcast = this.state.isLive || kept?.wasBroadcast === true;
        this.session = { signalStartedAt: kept?.signalStartedAt ?? now, wasBroadcast };
      }
      return onSignalUp(this.state, now);
    }
    if (next.kind === 'signalDown') return onSignalDown(this.state, now);
    if (next.kind === 'stop' && this.state.isLive) this.ended = this.now;
    if (next.kind === 'stop') return stop(this.state, now, this.session);
    if (this.state.hasSignal && this.session !== null) this.session = { ...this.session, wasBroadcast: true };
    if (!this.state.isLive) this.began = this.state.hasSignal ? this.now : null;
    return start(this.state, now);
  }

  /** Advances time and runs the sweep whenever something is due. */
  wait(ms: number): void {
    const until = this.now + ms;
    for (let due = this.state.dueAt; due !== null && due.getTime() <= until; due = this.state.dueAt) {
      this.now = Math.max(this.now, due.getTime());
      this.apply(emitBroadcastState(this.state, dateFromMs(this.now)));
    }
    this.now = until;
  }

  apply({ state, events }: Transition): void {
    this.state = state;
    for (const event of events) {
      const ofSignal = event.type === 'stream.broadcast_stopped' && !this.believesLive;
      this.check(event);
      this.said.push({ at: this.now, event, ofSignal });
    }
    assert.equal(this.believesSignal, state.hasSignal, 'a receiver knows of the signal at once');
    if (this.believesLive === state.isLive) return;
    const waits = (state.dueAt?.getTime() ?? Number.POSITIVE_INFINITY) - this.now;
    assert.ok(waits <= MINUTE, 'a receiver is told within the minute');
  }

  /** Checks what holds for every event, whatever preceded it. */
  check(event: StreamEvent): void {
    if (event.type === 'stream.live') {
      assert.equal(this.believesSignal, false);
      this.believesSignal = true;
      assert.equal(event.data.status, this.state.isLive ? 'ACTIVE' : 'HAS_SIGNAL');
      return;
    }
    if (event.type === 'stream.ended') {
      assert.equal(this.believesSignal, true);
      this.believesSignal = false;
      return;
    }
    const isSignalStop = event.type === 'stream.broadcast_stopped' && !this.believesLive;
    const before = this.said.findLast(
      (entry) => entry.event.type === event.type && (isSignalStop || !entry.ofSignal),
    );
    assert.ok(before === undefined || this.now - before.at >= MINUTE, `${event.type} twice in a minute`);
    if (event.type === 'stream.broadcast_started') {
      assert.equal(this.believesLive, false, 'started only when not live before');
      assert.equal(event.data.startedAt === null ? null : Date.parse(event.data.startedAt), this.began);
      this.believesLive = true;
      return;
    }
    const { durationSec, endedAt } = event.data;
    if (this.believesLive) {
      assert.equal(Date.parse(endedAt), this.ended);
      assert.equal(durationSec, this.began === null ? null : Math.floor((this.ended - this.began) / 1000));
    } else {
      assert.equal(durationSec, null, 'a stop without a start is that of a signal alone');
      assert.equal(this.state.hasSignal, true);
      assert.equal(Date.parse(endedAt), this.now);
    }
    this.believesLive = false;
  }
}

test('every sequence of acts leaves receivers with the right state after a minute, without duplicates', () => {
  fc.assert(
    fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
      const world = new World();
      for (const next of actions) world.act(next);
      world.wait(MINUTE);
      assert.equal(world.believesLive, world.state.isLive);
      assert.equal(world.state.dueAt, null);
    }),
    { numRuns: 3000 },
  );
});
