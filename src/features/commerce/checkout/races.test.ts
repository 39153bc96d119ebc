import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { TransactionSql } from 'postgres';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { runTask } from '../../../../test/harness/modules.ts';
import { withLockContention } from '../../../../test/harness/with-lock-contention.ts';
import { CARDS } from '../../../../test/money/buyer.ts';
import { checkoutClient } from '../../../../test/money/shop.ts';
import { newId } from '../../../kernel/ids.ts';

let app: TestApp;
/**
 * Second application with its own connections: a lock held on one of them leaves the others to the requests.
 */
let secondApp: TestApp;
before(async () => {
  app = await startTestApp();
  secondApp = await startTestApp({ beside: app });
});
after(async () => {
  await secondApp.close();
  await app.close();
});

const { shop, tier, code, ask, open, read, send, pay } = checkoutClient(() => app);

type Statement = (sql: TransactionSql) => Promise<unknown>;

/** Sends a request while another transaction holds the result of this statement uncommitted. */
async function during<T>(statement: Statement, asked: () => Promise<T>): Promise<T> {
  const [answer] = await withLockContention(secondApp.container.sql, statement, [asked]);
  if (answer === undefined) throw new Error('nothing was asked');
  return answer;
}

test('a tier is archived, not removed, while a checkout of it is being created', async () => {
  const of = await shop();
  const [tierId, made] = [await tier(of), newId('chk')];
  const model = await open(of, { tierId: await tier(of) });
  const answer = await during(
    (sql) => sql`insert into checkout
      select (jsonb_populate_record(model, jsonb_build_object('id', ${made}::text, 'tier_id', ${tierId}::text))).*
      from checkout model where id = ${model}`,
    () => app.request('DELETE', `/tiers/${tierId}`, { key: of.key }),
  );
  assert.notEqual(answer.assertOk(200).at('data.archivedAt'), null);
  assert.equal((await read(of, made)).at('data.tierId'), tierId);
});

test('a tier removed while a checkout of it is being created is missing', async () => {
  const of = await shop();
  const tierId = await tier(of);
  const answer = await during(
    (sql) => sql`delete from tier where id = ${tierId}`,
    () => ask(of, { tierId }),
  );
  answer.assertError('NOT_FOUND', 'tierId');
});

test('a code deleted while a checkout applies it is missing', async () => {
  const of = await shop();
  const tierId = await tier(of);
  const codeId = await code(of, { code: 'GONE', percentOff: 10 });
  const answer = await during(
    (sql) => sql`delete from discount_code where id = ${codeId}`,
    () => ask(of, { tierId, discountCode: 'GONE' }),
  );
  answer.assertError('CONFLICT', 'discountCode');
  const other = await code(of, { code: 'GONE', percentOff: 10 });
  const id = await open(of, { tierId });
  const typed = await during(
    (sql) => sql`delete from discount_code where id = ${other}`,
    () => send(id, 'code', { code: 'GONE' }),
  );
  assert.equal(typed.status, 409);
  assert.match(typed.text, /Discount code not found/);
  assert.equal((await read(of, id)).at('data.discountCode'), null);
});

describe('deleting a code whose price is retained', () => {
  /** Creates a checkout of a tier with a code, to be paid while the checkout is locked. */
  async function offered() {
    const of = await shop();
    const tierId = await tier(of);
    const codeId = await code(of, { code: 'HALF', percentOff: 50, maxUses: 1 });
    const id = await open(of, { tierId, discountCode: 'HALF' });
    return {
      ...{ of, id },
      busy: (tx: TransactionSql) => tx`select from tier where id = ${tierId} for no key update`,
      remove: async () => (await app.request('DELETE', `/booking/discount-codes/${codeId}`, of)).status,
    };
  }

  test('while its buyer presses Pay', async () => {
    const { of, id, busy, remove } = await offered();
    const [paid, removed] = await withLockContention(secondApp.container.sql, busy, [
      async () => (await pay(id)).status,
      remove,
    ]);
    assert.deepEqual([paid, removed], [303, 200]);
    const after = await read(of, id);
    assert.deepEqual([after.at('data.status'), after.at('data.amountCents')], ['COMPLETED', 250]);
  });

  test('while the time of a payment ends, which then needs another', async () => {
    const { of, id, busy, remove } = await offered();
    assert.match((await pay(id, { card: CARDS.secondFactor })).location ?? '', /\/sandbox\/confirm\//);
    const { sql } = secondApp.container;
    await sql`update checkout set reserved_until = now() - interval '1 minute' where id = ${id}`;
    const [, removed] = await withLockContention<unknown>(sql, busy, [
      () => runTask(app.container, 'checkouts'),
      remove,
    ]);
    assert.equal(removed, 200);
    const [row] = await sql`select payment_id, reserved_until, amount_cents from checkout where id = ${id}`;
    assert.deepEqual({ ...row }, { payment_id: null, reserved_until: null, amount_cents: 250 });
    const late = await pay(id);
    assert.equal(late.status, 409);
    assert.match(late.text, /The discount code is no longer valid/);
    await send(id, 'code', { code: '' });
    assert.equal((await pay(id)).status, 303);
    assert.equal((await read(of, id)).at('data.amountCents'), 500);
  });

  test('a buyer who pays after the deletion gets an error', async () => {
    const { of, id, remove } = await offered();
    const [removed, paid] = await withLockContention(
      secondApp.container.sql,
      (tx) => tx`select from checkout where id = ${id} for no key update`,
      [remove, async () => (await pay(id)).status],
    );
    assert.deepEqual([removed, paid], [200, 409]);
    assert.equal((await read(of, id)).at('data.status'), 'OPEN');
  });
});
