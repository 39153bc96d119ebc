import assert from 'node:assert/strict';
import fc from 'fast-check';
import { createLedgerCheck } from '../../src/features/commerce/ledger/check.service.ts';
import { createPayouts } from '../../src/features/commerce/ledger/payouts.service.ts';
import { DAY_MS } from '../../src/kernel/durations.ts';
import { createLogger } from '../../src/platform/logger.ts';
import type { PaymentsSimulation } from './payments-simulation.ts';
import { ATTACKS, actions, play } from './sequences.ts';

/** Asserts that after any sequence of actions and crashes no cent is lost or counted twice. */
export async function assertLedgerInvariants(
  world: PaymentsSimulation,
  runs: { numRuns: number; seed: number },
): Promise<void> {
  await fc.assert(
    fc.asyncProperty(actions, (sequence) => play(world, sequence)),
    { ...runs, examples: ATTACKS },
  );
  const { database, clock, events, ledger } = world;
  const log = createLogger('silent');
  const startElsewhere = () => Promise.resolve(null);
  const deps = { db: database.db, clock, events, ledger, log, startElsewhere };
  const books = createLedgerCheck(deps);
  assert.deepEqual(await books.check(), []);
  clock.advance(3 * DAY_MS);
  await createPayouts(deps).run();
  assert.deepEqual(await books.check(), []);
}
