import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { TestClock } from '../../../../test/harness/clock.ts';
import { createTestDatabase, type TestDatabase } from '../../../../test/harness/database.ts';
import { dateFromMs } from '../../../kernel/clock.ts';
import { newId } from '../../../kernel/ids.ts';
import type { Movement } from './rules.ts';
import { createLedger } from './service.ts';

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase({ pool: 4 });
});
after(() => database.close());

const ledger = createLedger({ clock: new TestClock() });
const at = dateFromMs(Date.parse('2026-11-20T09:07:00.000Z'));
const record = (movement: Movement) => database.db.transaction().execute((tx) => ledger.record(tx, movement));
const sale = { purchaseId: 'pur_1', kind: 'VIDEO', itemId: 'vid_1' } as const;

function moving(workspaceId: string, source: string) {
  const base = { workspaceId, provider: 'SANDBOX', at } as const;
  return {
    charge: { ...base, kind: 'CHARGE', source, sale, amountCents: 1000, feeCents: 100 },
    refund: { ...base, kind: 'REFUND', source: `${source}r`, sale, amountCents: 500, feeCents: 50 },
    opened: { ...base, kind: 'DISPUTE_OPENED', source: `${source}d`, sale, amountCents: 500 },
    won: { ...base, kind: 'DISPUTE_WON', source: `${source}d`, sale, amountCents: 500 },
    lost: { ...base, kind: 'DISPUTE_LOST', source: `${source}d`, sale, amountCents: 500, feeCents: 50 },
    payout: { ...base, kind: 'PAYOUT', source: `${source}p`, amountCents: 300 },
    failed: { ...base, kind: 'PAYOUT_FAILED', source: `${source}p`, amountCents: 300 },
    adjusted: { ...base, kind: 'ADJUSTMENT', source: `${source}a`, amountCents: -20 },
  } as const satisfies Record<string, Movement>;
}

async function balances(workspaceId: string): Promise<Record<string, number>> {
  const rows = await database.sql<{ kind: string; cents: string }[]>`
    select kind, sum(amount_cents)::text as cents from ledger_entry join ledger_account on id = account_id
    where workspace_id = ${workspaceId} group by kind having sum(amount_cents) <> 0 order by kind`;
  return Object.fromEntries(rows.map(({ kind, cents }) => [kind, Number(cents)]));
}

test('each movement posts to the right accounts', async () => {
  const workspace = newId('wsp');
  const { charge, refund, opened, won, payout, failed, adjusted } = moving(workspace, 'a');
  const expected = new Map<Movement, Record<string, number>>([
    [charge, { BUYERS: -1000, CREATOR: 900, FEES: 100 }],
    [refund, { BUYERS: -500, CREATOR: 450, FEES: 50 }],
    [opened, { BUYERS: -500, CREATOR: -50, DISPUTED: 500, FEES: 50 }],
    [won, { BUYERS: -500, CREATOR: 450, FEES: 50 }],
    [payout, { BUYERS: -500, CREATOR: 150, FEES: 50, PAID_OUT: 300 }],
    [failed, { BUYERS: -500, CREATOR: 450, FEES: 50 }],
    [adjusted, { BUYERS: -500, CREATOR: 430, FEES: 70 }],
  ]);
  for (const [movement, balance] of expected) {
    assert.equal(await record(movement), true, movement.kind);
    assert.deepEqual(await balances(workspace), balance, movement.kind);
  }
});

test('a lost dispute posts the same amounts as a refund', async () => {
  const workspace = newId('wsp');
  const { charge, refund, opened, lost } = moving(workspace, 'l');
  for (const movement of [charge, refund, opened, lost]) await record(movement);
  assert.deepEqual(await balances(workspace), {});
});

test('concurrent attempts record a movement once', async () => {
  const workspace = newId('wsp');
  const { charge } = moving(workspace, 'once');
  const written = await Promise.all([charge, charge, charge, charge].map(record));
  assert.equal(written.filter(Boolean).length, 1);
  assert.deepEqual(await balances(workspace), { BUYERS: -1000, CREATOR: 900, FEES: 100 });
  const [sums] = await database.sql`
    select gross_cents, fee_cents, refund_cents, sale_count from ledger_revenue where workspace_id = ${workspace}`;
  assert.deepEqual({ ...sums }, { gross_cents: 1000, fee_cents: 100, refund_cents: 0, sale_count: 1 });
});

test('a transaction that fails afterwards leaves neither entries nor rollups', async () => {
  const workspace = newId('wsp');
  const { charge } = moving(workspace, 'half');
  const failing = database.db.transaction().execute(async (tx) => {
    await ledger.record(tx, charge);
    throw new Error('later');
  });
  await assert.rejects(failing, /later/);
  assert.deepEqual(await balances(workspace), {});
  assert.equal(await record(charge), true);
});

test('a free sale counts, and posts no entries', async () => {
  const workspace = newId('wsp');
  const { charge } = moving(workspace, 'free');
  assert.equal(await record({ ...charge, amountCents: 0, feeCents: 0 }), true);
  assert.deepEqual(await balances(workspace), {});
});

test('invalid amounts are rejected', async () => {
  const { charge, payout } = moving(newId('wsp'), 'bad');
  for (const amountCents of [-1, 0.5, Number.NaN]) {
    await assert.rejects(record({ ...charge, amountCents, feeCents: 0 }), RangeError);
    await assert.rejects(record({ ...payout, amountCents }), RangeError);
  }
  await assert.rejects(record({ ...charge, amountCents: 10, feeCents: 11 }), RangeError);
});

test('the database rejects changes of the ledger, and unbalanced entries', async () => {
  const workspace = newId('wsp');
  await record(moving(workspace, 'kept').charge);
  const { sql } = database;
  for (const table of ['ledger_entry', 'ledger_transaction', 'ledger_account']) {
    const own = table === 'ledger_entry' ? 'amount_cents = 5' : "id = 'x'";
    await assert.rejects(sql.unsafe(`update ${table} set ${own}`), /append-only/, table);
    await assert.rejects(sql.unsafe(`delete from ${table}`), /append-only/, table);
    await assert.rejects(sql.unsafe(`truncate ${table} cascade`), /append-only/, table);
  }
  const [entry] = await sql<{ account_id: string; transaction_id: string }[]>`
    select account_id, transaction_id from ledger_entry join ledger_account on id = account_id
    where workspace_id = ${workspace} and kind = 'CREATOR'`;
  const [unused] = await sql<{ id: string }[]>`
    select id from ledger_account where workspace_id = ${workspace} and kind = 'PAID_OUT'`;
  assert.ok(entry !== undefined && unused !== undefined);
  await assert.rejects(
    sql`insert into ledger_entry values (${entry.transaction_id}, ${unused.id}, 1)`,
    /do not sum to nothing/,
  );
  const lonely = sql.begin(async (tx) => {
    await tx`insert into ledger_transaction (id, workspace_id, kind, source, occurred_at)
      values ('ltx_lonely', ${workspace}, 'ADJUSTMENT', 'lonely', now())`;
    await tx`insert into ledger_entry values ('ltx_lonely', ${entry.account_id}, 7)`;
  });
  await assert.rejects(lonely, /do not sum to nothing/);
  assert.deepEqual(await balances(workspace), { BUYERS: -1000, CREATOR: 900, FEES: 100 });
});
