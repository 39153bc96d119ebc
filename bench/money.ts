import fc from 'fast-check';
import { newId } from '../src/kernel/ids.ts';
import { startTestApp, type TestApp } from '../test/harness/app.ts';
import { commandLine } from '../test/harness/command-line.ts';
import type { TestAccount } from '../test/harness/factories.ts';
import { createPaymentsSimulation } from '../test/money/payments-simulation.ts';
import { actions, play } from '../test/money/sequences.ts';
import { median, report } from './support/report.ts';

/**
 * Measures money: revenue over a year of a workspace with a million entries, its first page of payments
 * against that of a small one, checkouts against plain posts with an Idempotency-Key, and how many sequences
 * of payments stay consistent.
 *
 * Arguments: entries (1,000,000), sequences (10,000).
 */
const ENTRIES = Number(process.argv[2] ?? 1_000_000);
const SEQUENCES = Number(process.argv[3] ?? 10_000);
const SMALL = 1000;
const ENTRIES_OF_A_SALE = 3;
const READS = 60;
const POSTS = 400;
const AT_ONCE = 16;
const BATCHES = 10;
const UNLIMITED = 2_000_000_000;
const RANGE = 'from=2025-11-20&to=2026-11-20&timezone=Europe/Berlin';

/** Sales of fifty things over a year, as `record` writes them; the constraint of the balance is left out for the time. */
async function fill({ container: { sql } }: TestApp, workspace: string, sales: number): Promise<void> {
  for (const kind of ['BUYERS', 'CREATOR', 'FEES', 'DISPUTED', 'PAID_OUT']) {
    await sql`insert into ledger_account values (${newId('acc')}, ${workspace}, 'SANDBOX', ${kind}, now())`;
  }
  await sql`insert into customer (id, workspace_id, email, created_at, updated_at)
    values (${`cus_${workspace}`}, ${workspace}, 'ada@example.com', now(), now())`;
  await sql`alter table ledger_entry disable trigger ledger_entry_balanced`;
  await sql`
    create table sale as select n, ${workspace}::text || '_' || lpad(n::text, 8, '0') as name,
      (array['VIDEO', 'SUBSCRIPTION', 'BOOKING'])[n % 50 % 3 + 1] as kind, 'item_' || n % 50 as item,
      '2025-11-20'::timestamptz + interval '365 days' * n / ${sales}::integer as at
    from generate_series(0, ${sales - 1}::integer) n`;
  await sql`insert into purchase (id, workspace_id, customer_id, kind, status, amount_cents, created_at)
    select 'pur_' || name, ${workspace}, ${`cus_${workspace}`}, kind, 'PAID', 1000, at from sale`;
  await sql`insert into payment
    (id, workspace_id, purchase_id, type, status, amount_cents, provider, provider_key, created_at)
    select 'pay_' || name, ${workspace}, 'pur_' || name, 'CHARGE', 'SUCCEEDED', 1000, 'SANDBOX', name, at from sale`;
  await sql`insert into ledger_transaction
    (id, workspace_id, kind, source, sale_kind, item_id, purchase_id, occurred_at)
    select 'ltx_' || name, ${workspace}, 'CHARGE', 'pay_' || name, kind, item, 'pur_' || name, at from sale`;
  await sql`insert into ledger_entry select 'ltx_' || name, id,
      case ledger_account.kind when 'BUYERS' then -1000 when 'CREATOR' then 900 else 100 end
    from sale, ledger_account where workspace_id = ${workspace}
      and ledger_account.kind in ('BUYERS', 'CREATOR', 'FEES')`;
  await sql`drop table sale`;
  await sql`alter table ledger_entry enable trigger ledger_entry_balanced`;
}

/** Milliseconds, by the median. */
async function timeOf(app: TestApp, key: string, path: string): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < READS; n++) {
    const begun = performance.now();
    const answer = await app.request('GET', path, { key });
    times.push(performance.now() - begun);
    if (answer.status !== 200) throw new Error(`${path}: ${answer.text}`);
  }
  return median(times);
}

async function reads(app: TestApp): Promise<void> {
  const { account: large, key } = await app.createKey({ rateLimitPerMinute: UNLIMITED });
  const { account: small, key: smallKey } = await app.createKey({ rateLimitPerMinute: UNLIMITED });
  await fill(app, large.live, Math.round(ENTRIES / ENTRIES_OF_A_SALE));
  await fill(app, small.live, Math.round(SMALL / ENTRIES_OF_A_SALE));
  const begun = performance.now();
  await commandLine(app, 'money', 'rebuild');
  const rebuild = (performance.now() - begun) / 1000;
  await app.container.sql`analyze`;
  report({ name: 'sums of revenue made anew', value: rebuild, unit: 's', target: '<= 60' });
  for (const groupBy of ['kind', 'video']) {
    const value = await timeOf(app, key, `/monetization/revenue?${RANGE}&groupBy=${groupBy}`);
    report({ name: `revenue by day over a year, by ${groupBy}, p50`, value, unit: 'ms', target: '<= 50' });
  }
  const ratios: number[] = [];
  for (let n = 0; n < BATCHES; n++) {
    const many = await timeOf(app, key, '/monetization/payments');
    ratios.push(many / (await timeOf(app, smallKey, '/monetization/payments')));
  }
  report({
    name: 'first page of payments, against 1,000 entries',
    value: median(ratios),
    unit: 'ratio',
    target: '<= 1.5',
  });
}

/** Others each time. */
async function sequences(): Promise<void> {
  const world = await createPaymentsSimulation();
  try {
    const property = fc.asyncProperty(actions, (sequence) => play(world, sequence));
    const { numRuns, failed, counterexample, seed } = await fc.check(property, { numRuns: SEQUENCES });
    if (failed) process.stdout.write(`${JSON.stringify({ seed, counterexample })}\n`);
    const value = failed ? numRuns - 1 : numRuns;
    report({
      name: 'sequences of payments that stay whole',
      value,
      unit: 'count',
      target: `>= ${SEQUENCES}`,
    });
  } finally {
    await world.close();
  }
}

/** Measures posts per second with a fixed concurrency. */
async function rateOf(post: (n: number) => Promise<number>): Promise<number> {
  const begun = performance.now();
  let next = 0;
  const worker = async () => {
    while (next < POSTS) {
      next += 1;
      const status = await post(next);
      if (status !== 201) throw new Error(`a post was answered with ${status}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return (POSTS * 1000) / (performance.now() - begun);
}

async function checkouts(app: TestApp): Promise<void> {
  const account: TestAccount = await app.createAccount();
  const { key } = await app.createKey({ account, mode: 'test', rateLimitPerMinute: UNLIMITED });
  await app.request('POST', '/me/integration-domains', { key, body: { domain: 'shop.test' } });
  const tier = { name: 'Supporter', priceCents: 500, interval: 'MONTH' };
  const tierId = (await app.request('POST', '/tiers', { key, body: tier })).assertOk(201).string('data.id');
  const pages = { successUrl: 'https://shop.test/thanks', cancelUrl: 'https://shop.test/' };
  const post = (path: string, body: object) => async () => {
    const headers = { origin: 'https://shop.test', 'idempotency-key': newId('req') };
    return (await app.request('POST', path, { key, body, headers })).status;
  };
  const ratios: number[] = [];
  for (let n = 0; n < BATCHES; n++) {
    const plain = await rateOf(post('/rooms', { name: 'A room' }));
    const made = await rateOf(post('/checkout/subscription', { tierId, ...pages }));
    ratios.push(made / plain);
  }
  report({
    name: 'checkouts a second, against plain posts with an Idempotency-Key',
    value: median(ratios),
    unit: 'ratio',
    target: '>= 0.5',
  });
}

await sequences();
const app = await startTestApp();
try {
  await reads(app);
  await checkouts(app);
} finally {
  await app.close();
}
