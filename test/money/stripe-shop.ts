import assert from 'node:assert/strict';
import { newId } from '../../src/kernel/ids.ts';
import { Browser } from '../auth/browser.ts';
import { PASSWORD } from '../auth/fixture.ts';
import { startTestApp, type TestApp } from '../harness/app.ts';
import type { TestClock } from '../harness/clock.ts';
import { runTask } from '../harness/modules.ts';
import { type StripeServer, startStripeServer } from '../harness/stripe-server.ts';
import { memberPage } from './member-page.ts';
import { checkoutClient, type Shop } from './shop.ts';

/** Creator with a complete Stripe account. */
export type StripeShop = Shop & { accountRef: string };

interface Signed {
  body: string;
  signature: string;
}

/**
 * Starts a platform in live mode with Stripe payments, and returns actions of buyers, partners and Stripe.
 */
export async function startStripeShop(clock: TestClock) {
  const stripe: StripeServer = await startStripeServer(() => clock.ms());
  const env = {
    LIVEMODE: 'true',
    PLATFORM_FEE_PERCENT: '5',
    STRIPE_SECRET_KEY: 'sk_test_123',
    STRIPE_WEBHOOK_SECRET: stripe.webhookSecret,
    STRIPE_API_URL: stripe.url,
  };
  const app: TestApp = await startTestApp({ clock, env });
  const { db, payments } = app.container;
  const sells = checkoutClient(() => app, 'live');

  async function shop(): Promise<StripeShop> {
    const made = await sells.shop();
    const accountRef = stripe.completeAccount();
    await db
      .insertInto('connect_account')
      .values({
        workspace_id: made.account.live,
        provider: 'STRIPE',
        provider_ref: accountRef,
        charges_enabled: true,
        checked_at: clock.now(),
        created_at: clock.now(),
      })
      .execute();
    return { ...made, accountRef };
  }

  /**
   * Presses Pay.
   *
   * @param token of the page as it was shown before; a paid one no longer has one.
   * @returns the Stripe session that the buyer is redirected to, and its PaymentIntent.
   */
  async function goToStripe(checkoutId: string, email = 'ann@example.com', token?: string) {
    const led = await sells.send(checkoutId, 'pay', { email, ...(token === undefined ? {} : { token }) });
    assert.equal(led.status, 303, led.text);
    const session = led.location?.split('/').at(-1) ?? '';
    return { session, intent: String(stripe.object(session).payment_intent) };
  }

  /** Advances the clock until Stripe can be queried about a payment again. */
  const pause = () => clock.advance(3000);

  /** Returns from Stripe's page. @returns the redirect target. */
  async function comeBack(checkoutId: string): Promise<string | null> {
    pause();
    const answer = await fetch(`${app.url}/checkout/${checkoutId}/return`, { redirect: 'manual' });
    return answer.headers.get('location');
  }

  async function tell({ body, signature }: Signed): Promise<number> {
    const answer = await fetch(`${app.url}/webhooks/stripe`, {
      method: 'POST',
      headers: { 'content-type': 'application/json; charset=utf-8', 'stripe-signature': signature },
      body,
    });
    const text = await answer.text();
    if (answer.status === 400) assert.match(text, /"field":"Stripe-Signature"/);
    return answer.status;
  }

  /** Delivers a Stripe event about an object twice, and runs the worker. */
  async function hear(type: string, objectId: string, account?: string): Promise<void> {
    const event = stripe.event(type, objectId, account);
    assert.equal(await tell(event), 200);
    assert.equal(await tell(event), 200);
    await payments.hints.run();
    const waits = db.selectFrom('provider_event').select('id').where('handled_at', 'is', null);
    if ((await waits.execute()).length === 0) return;
    pause();
    await payments.hints.run();
  }

  const run = (task: string) => runTask(app.container, task);
  const get = async ({ key }: Shop, path: string) => (await app.request('GET', path, { key })).assertOk(200);

  /** Returns the creator's sales, newest first: kind, status, amounts. */
  async function purchases(of: Shop) {
    const rows = (await get(of, '/purchases')).list('data');
    return rows.map((row) => {
      const { id, kind, status, amountCents, feeCents, refundedCents } = Object(row);
      return { id: String(id), kind, status, amountCents, feeCents, refundedCents };
    });
  }

  /** A member on the page that a mailed link opens. */
  async function member({ account }: Shop, email: string) {
    const base = `/members/${account.id}`;
    const { enter, fieldOf, submit } = memberPage(
      () => app,
      () => base,
    );
    const cookie = await enter(email);
    return {
      /** A form of the page, about its first subscription. */
      async send(what: string) {
        const formToken = await fieldOf(cookie, 'formToken');
        const fields = { formToken, subscription: await fieldOf(cookie, 'subscription') };
        const answer = await submit(`${base}/${what}`, fields, { cookie });
        return { status: answer.status, location: answer.headers.get('location') };
      },
    };
  }

  /** Returns a browser signed in as an operator of the platform. */
  async function operator(): Promise<Browser> {
    const email = `${newId('usr')}@example.com`;
    await app.container.accounts.create({ email, password: PASSWORD, verified: true, role: 'ADMIN' });
    const browser = new Browser(app);
    await browser.signIn({ email });
    return browser;
  }

  const mails = async (email: string) =>
    (await app.container.mailbox.list()).filter(({ to }) => to === email).map(({ kind }) => kind);

  return {
    ...{
      ...sells,
      app,
      stripe,
      shop,
      goToStripe,
      comeBack,
      tell,
      hear,
      run,
      get,
      purchases,
      member,
      mails,
      operator,
    },
    async close() {
      await app.close();
      await stripe.close();
    },
  };
}
