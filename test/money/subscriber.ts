import type { NewSubscription } from '../../src/features/commerce/subscriptions/service.ts';
import type { TestApp } from '../harness/app.ts';
import type { TestAccount } from '../harness/factories.ts';
import { buyer } from './buyer.ts';

/** Creates a creator in test mode with tiers and subscribers. */
export async function creator(app: TestApp, given?: TestAccount) {
  const account = given ?? (await app.createAccount());
  const { key } = await app.createKey({ account, mode: 'test' });
  const { username } = await app.container.db
    .selectFrom('account')
    .select('username')
    .where('id', '=', account.id)
    .executeTakeFirstOrThrow();
  const call = (method: string, path: string, body?: unknown) =>
    app.request(method, path, body === undefined ? { key } : { key, body });
  const tier = async (settings: object = {}) => {
    const body = { name: 'Supporter', priceCents: 500, interval: 'MONTH', ...settings };
    return (await call('POST', '/tiers', body)).assertOk(201).string('data.id');
  };

  /** Subscribes with a card, which is saved; with a trial, or if nothing is due, nothing is charged. */
  const subscribe = async (tierId: string, more: Partial<NewSubscription> & { card?: string } = {}) => {
    const { payments, events, subscriptions, db, tierCapacity } = app.container;
    const { card = '4242424242424242', ...changes } = more;
    const who = await buyer(app, account.test);
    const { price_cents: priceCents, interval } = await db
      .selectFrom('tier')
      .selectAll()
      .where('id', '=', tierId)
      .executeTakeFirstOrThrow();
    const isFree = priceCents === 0 || (changes.trialDays ?? 0) > 0;
    const paid = isFree
      ? null
      : await who.pay(card, { kind: 'SUBSCRIPTION', videoId: null, tierId, amountCents: priceCents });
    const purchase = paid && (await payments.purchaseOf(db, paid.purchaseId));
    const row = await events.transaction(async (tx, append) => {
      await tierCapacity.claim(tx, tierId);
      return subscriptions.begin(
        { tx, append },
        {
          id: purchase?.subscription_id ?? null,
          workspaceId: account.test,
          customerId: who.customer.id,
          tierId,
          priceCents,
          interval,
          checkoutId: null,
          purchaseId: purchase?.id ?? null,
          trialDays: 0,
          discountCents: 0,
          discountCode: null,
          clientReferenceId: null,
          paymentMethod: paid?.method ?? null,
          wasClaimed: true,
          ...changes,
        },
      );
    });
    return { id: row.id, purchaseId: purchase?.id ?? '', customer: who.customer };
  };
  /** Saves a card like a member on the member page, and uses it for the subscription. */
  const giveCard = async ({ id, customer }: { id: string; customer: { id: string } }, card: string) => {
    const { cards, subscriptions } = app.container;
    const asked = { card, checkoutId: null, returnUrl: 'http://marquee.test/' };
    const given = await cards.collect(customer.id, asked);
    if ('url' in given) throw new Error('the card is given elsewhere');
    await subscriptions.saveCard(customer.id, given.method);
    await subscriptions.useSavedCard(account.test, id);
  };
  const get = (id: string) => call('GET', `/me/subscriptions/${id}`);
  const post = (id: string, what: string, body?: unknown) =>
    call('POST', `/me/subscriptions/${id}/${what}`, body ?? {});
  /** The types of the events about it, the oldest first. */
  const told = async (id: string) => {
    const rows = await app.container.db
      .selectFrom('event')
      .select(['type', 'body'])
      .where('workspace_id', '=', account.test)
      .where('type', 'like', 'subscription.%')
      .orderBy('created_at')
      .execute();
    return rows
      .map(({ type, body }) => ({ type, data: JSON.parse(body).data }))
      .filter(({ data }) => data.subscriptionId === id)
      .toSorted((a, b) => a.data.sequence - b.data.sequence)
      .map(({ type }) => type.slice('subscription.'.length));
  };
  const memberCount = async (tierId: string) =>
    (await call('GET', `/tiers/${tierId}`)).assertOk(200).at('data.memberCount');
  /** Returns the kinds of the emails to an address, oldest first. */
  const mails = async (email: string) => {
    const rows = await app.container.db
      .selectFrom('mail')
      .select('kind')
      .where('recipient', '=', email)
      .orderBy('id')
      .execute();
    return rows.map(({ kind }) => kind);
  };
  return { account, username, key, call, tier, subscribe, giveCard, get, post, told, memberCount, mails };
}
