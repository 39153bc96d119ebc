import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { needsOwnProcess } from '../../test/harness/needs.ts';
import type { EngineEvent } from './playback.ts';
import { createRealTime } from './real-time.ts';

needsOwnProcess();

/** Returns an error as the server's rejection raises it. */
function createRejection(mayPass: boolean): Error {
  return Object.assign(new Error('not shown'), { mayPass });
}

/** Creates a real-time player; the test sets the server's responses. */
function setUp(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  const wanted: boolean[] = [];
  const answer: { error: Error | null } = { error: null };
  const state = {
    ...{ isReached: true, isAway: false },
    ...{ asked: 0, ended: 0, refused: 0, again: 0 },
  };
  let told: (event: EngineEvent) => void = () => {};
  const engine = {
    async connectWhep() {
      state.asked += 1;
      if (answer.error !== null) throw answer.error;
      const end = () => {
        state.ended += 1;
      };
      return { end };
    },
    hasConnected: async () => state.isReached,
    attachWhep(_video: unknown, _connection: unknown, report: typeof told) {
      told = report;
      return { opaque: false, facts: () => null, destroy: () => {} };
    },
  };
  const deps = {
    ...{ video: {}, url: '/whep/str_1', load: async () => engine, random: () => 0.5 },
    onWanted: (isWanted: boolean) => wanted.push(isWanted),
    onRefused() {
      state.refused += 1;
    },
    again() {
      state.again += 1;
    },
    isAway: () => state.isAway,
  };
  const realTime: ReturnType<typeof createRealTime> = Reflect.apply(createRealTime, undefined, [deps]);
  t.after(() => realTime.rest());
  const attach = async () => (await realTime.attach(() => {})) !== null;
  const pass = async (ms: number) => {
    now += ms;
    t.mock.timers.tick(ms);
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  };
  return { realTime, state, wanted, answer, attach, pass, tell: (event: EngineEvent) => told(event) };
}

test('real time is not requested before the viewer chooses it', async (t) => {
  const { realTime, state, wanted, attach } = setUp(t);
  assert.equal(await attach(), false);
  realTime.toggle();
  assert.equal(await attach(), true);
  realTime.toggle();
  assert.equal(await attach(), false);
  assert.deepEqual([state.asked, wanted, state.again], [1, [true, false], 2]);
});

test('an unavailable or full server is retried with growing delays while other media plays', async (t) => {
  const { realTime, state, wanted, answer, attach, pass } = setUp(t);
  realTime.toggle();
  for (const error of [createRejection(true), new TypeError('Failed to fetch')]) {
    answer.error = error;
    assert.equal(await attach(), false);
  }
  assert.deepEqual([state.refused, wanted, state.asked], [2, [true], 2]);
  for (const ms of [6000, 9000, 13_500, 20_250, 30_000]) {
    const { asked } = state;
    await pass(ms - 1);
    assert.equal(state.asked, asked, `not before ${ms} ms`);
    await pass(1);
    assert.equal(state.asked, asked + 1, `after ${ms} ms`);
  }
  assert.deepEqual([state.again, state.refused], [1, 2], 'and without a word');
  answer.error = null;
  await pass(30_000);
  assert.equal(state.again, 2);
  assert.equal(await attach(), true);
  assert.deepEqual([state.asked, state.ended], [8, 0], 'by the connection that is there');
});

test('playback continues while real time is unreachable, and an inactive viewer is not interrupted', async (t) => {
  const { realTime, state, answer, attach, pass } = setUp(t);
  realTime.toggle();
  answer.error = createRejection(true);
  await attach();
  answer.error = null;
  state.isReached = false;
  await pass(4000);
  assert.deepEqual([state.asked, state.ended, state.again], [2, 1, 1]);
  state.isReached = state.isAway = true;
  await pass(6000);
  assert.deepEqual([state.asked, state.again], [2, 1]);
  state.isAway = false;
  await pass(9000);
  assert.equal(state.again, 2);
  realTime.rest();
  assert.equal(state.ended, 2, 'nothing plays any more');
  await pass(120_000);
  assert.equal(state.asked, 3);
});

test('a permanent rejection turns real time off', async (t) => {
  const { realTime, state, wanted, answer, attach, pass } = setUp(t);
  realTime.toggle();
  answer.error = createRejection(false);
  assert.equal(await attach(), false);
  await pass(120_000);
  assert.deepEqual([wanted, state.refused, state.asked], [[true, false], 1, 1]);
});

test('a steady connection is replaced immediately, an unsteady one later, and one that never played is not', async (t) => {
  const { realTime, state, wanted, attach, pass, tell } = setUp(t);
  realTime.toggle();
  await attach();
  tell('ready');
  await pass(6000);
  tell('gone');
  assert.equal(await attach(), true);
  tell('ready');
  await pass(1000);
  tell('gone');
  assert.equal(await attach(), false);
  await pass(4000);
  assert.equal(state.again, 2);
  assert.equal(await attach(), true);
  assert.deepEqual(wanted, [true]);
  realTime.toggle();
  realTime.toggle();
  await attach();
  await pass(12_000);
  tell('gone');
  assert.deepEqual([wanted.at(-1), state.refused], [false, 1]);
  assert.equal(await attach(), false);
});
