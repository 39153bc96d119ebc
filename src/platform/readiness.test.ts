import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextIteration } from 'node:timers/promises';
import { needsOwnProcess } from '../../test/harness/needs.ts';
import { waitFor } from '../../test/harness/wait-for.ts';
import { createProcessReadiness } from './readiness.ts';

needsOwnProcess();

/** Blocks the event loop of this process. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

test('a process is ready between its start and its drain', () => {
  const readiness = createProcessReadiness();
  assert.equal(readiness.status(), 'STARTING');
  readiness.start();
  assert.equal(readiness.status(), 'OK');
  readiness.drain();
  readiness.start();
  assert.equal(readiness.status(), 'DRAINING');
});

test('a process whose event loop was blocked is not ready until its timers run on time', async () => {
  const readiness = createProcessReadiness();
  readiness.start();
  block(3500);
  assert.equal(readiness.status(), 'STUCK');
  await nextIteration();
  assert.equal(readiness.status(), 'STUCK');
  await waitFor(() => readiness.status() === 'OK');
  readiness.drain();
});
