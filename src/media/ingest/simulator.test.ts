import assert from 'node:assert/strict';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pino } from 'pino';
import { waitFor } from '../../../test/harness/wait-for.ts';
import type { SimulatedSignal } from '../contract/index.ts';
import { createSimulator } from './simulator.ts';

const at = (second: number) => new Date(Date.UTC(2026, 10, 20, 9, 0, second));

/** Starts a simulator whose encoders only wait; returns the desired state, and the ends it reported. */
async function simulating(t: { after(work: () => Promise<void>): void }) {
  const folder = await mkdtemp(join(tmpdir(), 'simulator-'));
  const program = join(folder, 'encoder');
  const pids = join(folder, 'pids');
  await writeFile(program, `#!/bin/sh\necho $$ >> ${pids}\nexec sleep 60\n`);
  await chmod(program, 0o755);
  const wish: SimulatedSignal = { streamId: 'stm_one', streamKey: 'key', until: at(1) };
  const ended: Date[] = [];
  const simulator = createSimulator({
    port: {
      wanted: async () => [{ ...wish }],
      ended: async (signal) => {
        assert.equal(signal.streamId, wish.streamId);
        ended.push(signal.until);
      },
    },
    nodeId: 'node one',
    ffmpeg: program,
    rtmpPort: () => 1,
    log: pino({ level: 'silent' }),
  });
  t.after(async () => {
    await simulator.stop();
    await rm(folder, { recursive: true });
  });
  /** The encoders that were started; the last one once it runs. */
  const started = async () => (await readFile(pids, 'utf8')).trim().split('\n').map(Number);
  const first = async () => {
    await simulator.sync();
    return waitFor(async () => (await started())[0]);
  };
  return { simulator, wish, ended, started, first };
}

test('the end of an encoder belongs to its own request, and a later request starts another', async (t) => {
  const { simulator, wish, ended, started, first } = await simulating(t);
  const encoder = await first();
  wish.until = at(2);
  process.kill(encoder);
  await waitFor(() => ended.length > 0);
  assert.deepEqual(ended, [at(1)]);
  await waitFor(async () => {
    await simulator.sync();
    return (await started()).length === 2;
  });
});

test('an encoder continues for an extended request, and its end belongs to that one', async (t) => {
  const { simulator, wish, ended, started, first } = await simulating(t);
  const encoder = await first();
  wish.until = at(2);
  await simulator.sync();
  assert.deepEqual(await started(), [encoder]);
  process.kill(encoder);
  await waitFor(() => ended.length > 0);
  assert.deepEqual(ended, [at(2)]);
});
