import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { checkoutClient } from '../../../../test/money/shop.ts';

const MIGRATION = join(import.meta.dirname, '../../../../migrations/0200_cards_of_subscriptions.sql');

let app: TestApp;
const clock = new TestClock('2026-01-10T10:00:00Z');
before(async () => {
  app = await startTestApp({ clock });
});
after(() => app.close());

const { shop, tier, open, read, pay } = checkoutClient(() => app);

test("a customer's card is assigned to a subscription only where its history proves it", async () => {
  const { sql } = app.container;
  const of = await shop();
  const small = await tier(of);
  const begin = async (email: string, tierId = small): Promise<string> => {
    clock.advance(1000);
    const id = await open(of, { tierId });
    assert.equal((await pay(id, { email, card: '4242 4242 4242 4242' })).status, 303);
    return (await read(of, id)).string('data.subscriptionId');
  };
  const trial = await tier(of, { trialDays: 7 });
  const large = await tier(of, { name: 'Patron', priceCents: 900 });
  const alone = await begin('alone@example.com');
  const [earlier, later] = [await begin('two@example.com'), await begin('two@example.com')];
  const tried = await begin('trial@example.com', trial);
  const asking = await begin('asking@example.com', trial);
  const body = { tierId: large };
  const path = `/me/subscriptions/${alone}/switch`;
  (await app.request('POST', path, { key: of.key, body })).assertOk(200);

  // State left by an earlier version.
  await sql`
    update customer set provider = 'SANDBOX', provider_ref = 'sbc_1', method_ref = 'sbm_1', card_brand = 'visa',
      card_last4 = '4242', card_exp_month = 12, card_exp_year = 2030 where workspace_id = ${of.account.test}`;
  await sql`update subscription set payment_method = null, requires_charge_consent = id = ${asking},
    upgrade_purchase_id = upgrades->0->>'purchaseId' where workspace_id = ${of.account.test}`;
  const [upgraded] = await sql`select upgrades from subscription where id = ${alone}`;
  await sql`update subscription set upgrades = '[]' where workspace_id = ${of.account.test}`;

  const text = await readFile(MIGRATION, 'utf8');
  // Migration 0251 renamed the column.
  const current = text.replaceAll('asks_before_charge', 'requires_charge_consent');
  await sql.unsafe(current.slice(current.indexOf('update subscription')));
  const rows = await sql<{ id: string; last4: string | null }[]>`
    select id, payment_method->>'last4' as last4 from subscription where workspace_id = ${of.account.test}`;
  const cards = Object.fromEntries(rows.map(({ id, last4 }) => [id, last4]));
  assert.deepEqual(cards, {
    [alone]: '4242',
    [earlier]: null,
    [later]: '4242',
    [tried]: '4242',
    [asking]: null,
  });
  const [again] = await sql`select upgrades from subscription where id = ${alone}`;
  assert.deepEqual(again?.upgrades, upgraded?.upgrades);
});
