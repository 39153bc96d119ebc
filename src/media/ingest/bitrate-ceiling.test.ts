import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { ingestSession } from '../../../test/harness/factories.ts';
import { waitFor } from '../../../test/harness/wait-for.ts';
import { ingestStats } from '../../../test/live/ingest-stats.ts';
import { startIngest } from '../../../test/rtmp/ingest.ts';
import { startPublisher } from '../../../test/rtmp/publisher.ts';
import { PLANS } from '../../kernel/plans.ts';
import { type BitrateCeiling, createBitrateCeiling } from './bitrate-ceiling.ts';

const grant = { streamId: 'str_a', maxHeight: 720, maxFps: 60, maxBitrateKbps: 15_000 };
const session = { ...ingestSession('str_a'), grant };
let ceiling: BitrateCeiling;
let kbps: number;
let nowMs: number;
let warnings: string[];

beforeEach(() => {
  kbps = 0;
  nowMs = 0;
  warnings = [];
  ceiling = createBitrateCeiling({
    engine: {
      list: () => [session],
      stats: (sessionId) => ingestStats({ sessionId, bitrateKbps: kbps }),
      kick: async (_id, reason) => void warnings.push(reason),
    },
    onRefused: async (_session, issue) => void warnings.push(issue),
    now: () => nowMs,
  });
});

/** Sends at the given rate for the given number of seconds. */
async function send(rate: number, seconds: number) {
  kbps = rate;
  for (let i = 0; i < seconds; i++) {
    await ceiling.check();
    nowMs += 1000;
  }
}

test('an encoder above its grant is warned after ten seconds, and disconnected after twenty', async () => {
  await send(15_000, 60);
  assert.equal(ceiling.isOver('str_a'), false);
  await send(15_001, 9);
  assert.equal(ceiling.isOver('str_a'), false);
  await send(15_001, 2);
  assert.equal(ceiling.isOver('str_a'), true);
  assert.equal(ceiling.isOver('str_b'), false);
  assert.deepEqual(warnings, []);
  await send(15_001, 10);
  assert.deepEqual(warnings, ['BITRATE_OVER_PLAN', 'kicked']);
});

test('an encoder that lowers its bitrate in time continues', async () => {
  await send(50_000, 15);
  await send(10_000, 1);
  assert.equal(ceiling.isOver('str_a'), false);
  await send(50_000, 15);
  assert.deepEqual(warnings, []);
});

test('a real encoder above the ceiling of its plan is warned, and then cut off', async (t) => {
  const maxBitrateKbps = PLANS.FREE.maxLiveKbps;
  const authorise = async () => ({ streamId: 'a', maxHeight: 720, maxFps: 60, maxBitrateKbps });
  const ingest = await startIngest(t, {}, { authorise });
  const words: string[] = [];
  const live = createBitrateCeiling({
    engine: ingest.engine,
    onRefused: async (_session, issue) => void words.push(issue),
    patienceMs: 1500,
  });
  const rate = ['-minrate', '20M', '-maxrate', '20M', '-bufsize', '20M', '-x264-params', 'nal-hrd=cbr'];
  const publisher = startPublisher({
    url: ingest.url('key-a'),
    width: 320,
    height: 180,
    bitrateKbps: 20_000,
    extraArgs: rate,
  });
  t.after(() => publisher.kill('SIGKILL'));
  let wasWarned = false;
  await waitFor(
    async () => {
      await live.check();
      if (live.isOver('a') && words.length === 0) wasWarned = true;
      return words.length > 0;
    },
    { timeoutMs: 20_000, intervalMs: 200, message: 'the refusal' },
  );
  assert.ok(wasWarned);
  assert.deepEqual(words, ['BITRATE_OVER_PLAN']);
  await waitFor(() => ingest.ends().length === 1);
  assert.equal(ingest.ends()[0]?.reason, 'kicked');
  assert.notEqual((await publisher.exited).code, 0);
});
