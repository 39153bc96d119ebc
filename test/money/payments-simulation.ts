import { createCatalogue } from '../../src/events/catalogue.ts';
import { createEvents, type EventConsumer, type Events } from '../../src/events/index.ts';
import { checkoutEvents } from '../../src/features/commerce/checkout/events.ts';
import { discountCodeEvents } from '../../src/features/commerce/discount-codes/events.ts';
import { payoutEvents } from '../../src/features/commerce/ledger/events.ts';
import { createLedger } from '../../src/features/commerce/ledger/service.ts';
import { createCardService } from '../../src/features/commerce/payments/cards.service.ts';
import { paymentEvents } from '../../src/features/commerce/payments/events.ts';
import type { Payments } from '../../src/features/commerce/payments/index.ts';
import type { Providers } from '../../src/features/commerce/payments/ports.ts';
import { createSandbox } from '../../src/features/commerce/payments/providers/sandbox/sandbox.ts';
import { createPayments } from '../../src/features/commerce/payments/service.ts';
import { subscriptionEvents } from '../../src/features/commerce/subscriptions/events.ts';
import { tierEvents } from '../../src/features/commerce/tiers/events.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { TestClock } from '../harness/clock.ts';
import { createTestDatabase, type TestDatabase } from '../harness/database.ts';
import { createSales, type Sales } from './sales.ts';

/** The program was killed between two steps. */
export class Crash extends Error {}

type Sandbox = ReturnType<typeof createSandbox>;
type Hint = Parameters<Payments['hints']['keep']>[1];

/**
 * Payments, sales, ledger and sandbox on a separate database, in a program that can be killed between any two
 * steps.
 */
export interface PaymentsSimulation {
  database: TestDatabase;
  clock: TestClock;
  events: Events;
  payments: Payments;
  sales: Sales;
  sandbox: Sandbox;
  ledger: ReturnType<typeof createLedger>;
  /** Hints from the sandbox that have not been processed. */
  hints: Hint[];
  /** Log lines of payments and sales. */
  lines: unknown[];
  /** Kills the program after this number of steps; null: never. */
  crashAfter(steps: number | null): void;
  close(): Promise<void>;
}

const catalogue = createCatalogue(
  [paymentEvents, payoutEvents, checkoutEvents, subscriptionEvents, tierEvents, discountCodeEvents].flat(),
);

/** The platform's part of every payment, in hundredths of a percent. */
const FEE = 1234;

export async function createPaymentsSimulation(): Promise<PaymentsSimulation> {
  const database = await createTestDatabase({ pool: 4 });
  const clock = new TestClock('2026-03-01T12:00:00Z');
  const { db } = database;
  const log = createLogger('silent');
  const lines: unknown[] = [];
  const keep = (...said: unknown[]) => {
    lines.push(said);
  };
  let left: number | null = null;
  const step = () => {
    if (left === null) return;
    if (left === 0) {
      left = null;
      throw new Crash('killed');
    }
    left -= 1;
  };
  const consumers: EventConsumer[] = [];
  const calm = createEvents({
    db,
    clock,
    log,
    catalogue,
    livemode: false,
    bus: { publish: () => {} },
    consumers,
    strict: true,
  });
  const events: Events = {
    async transaction(work) {
      step();
      const result = await calm.transaction(async (tx, append) => {
        const done = await work(tx, append);
        step();
        return done;
      });
      step();
      return result;
    },
  };
  const hints: Hint[] = [];
  const sandbox = createSandbox({
    db,
    clock,
    publicUrl: 'http://marquee.test',
    async tell(hint, when) {
      if (when === 'NOW') await payments.hints.receive('SANDBOX', hint);
      else hints.push(hint);
    },
  });
  const ledger = createLedger({ clock });
  const nothing = () => Promise.resolve();
  const ports = {
    db,
    events,
    jobs: { enqueue: nothing },
    clock,
    log: { warn: keep, error: keep },
    ledger,
    providers: { SANDBOX: interrupted(sandbox, step), STRIPE: null },
    config: { PLATFORM_FEE_PERCENT: FEE, LIVEMODE: false },
  };
  const payments: Payments = createPayments({ ...ports, takers: { account: nothing, card: nothing } });
  const cards = createCardService(ports, sandbox);
  const sales = createSales({ database, clock, events, payments, cards, log: { warn: keep } });
  consumers.push(...sales.consumers);
  return {
    database,
    clock,
    events,
    payments,
    sales,
    sandbox,
    ledger,
    hints,
    lines,
    crashAfter(steps) {
      left = steps;
    },
    close: () => database.close(),
  };
}

/** Returns the provider with a possible kill before and after each request. */
function interrupted(sandbox: Sandbox, step: () => void): Providers['SANDBOX'] {
  const around =
    <A extends unknown[], R>(ask: (...args: A) => Promise<R>) =>
    async (...args: A) => {
      step();
      const answer = await ask(...args);
      step();
      return answer;
    };
  return {
    ...sandbox,
    charge: around(sandbox.charge),
    chargeSaved: around(sandbox.chargeSaved),
    look: around(sandbox.look),
    cancel: around(sandbox.cancel),
    refund: around(sandbox.refund),
    fetchPayment: around(sandbox.fetchPayment),
    fetchRefund: around(sandbox.fetchRefund),
    fetchDispute: around(sandbox.fetchDispute),
  };
}
