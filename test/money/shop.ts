import type { TestApp } from '../harness/app.ts';
import type { TestAccount } from '../harness/factories.ts';

export const ORIGIN = 'http://marquee.test';
export const ADDRESSES = { successUrl: `${ORIGIN}/thanks?order=1`, cancelUrl: `${ORIGIN}/offers` };
export const headers = { origin: ORIGIN };

export const CARD = '4242 4242 4242 4242';

export type Shop = { key: string; account: TestAccount };

/** Returns actions of partners and buyers on checkouts. */
export function checkoutClient(appOf: () => TestApp, mode: 'live' | 'test' = 'test') {
  const shop = (): Promise<Shop> => appOf().createKey({ mode });

  async function tier({ key }: Shop, settings: object = {}): Promise<string> {
    const body = { name: 'Supporter', priceCents: 500, interval: 'MONTH', ...settings };
    return (await appOf().request('POST', '/tiers', { key, body })).assertOk(201).string('data.id');
  }

  async function code({ key }: Shop, settings: object): Promise<string> {
    const answer = await appOf().request('POST', '/booking/discount-codes', { key, body: settings });
    return answer.assertOk(201).string('data.id');
  }

  async function video({ key }: Shop, priceCents = 900): Promise<string> {
    const body = { title: 'A film', visibility: 'PURCHASE', priceCents };
    return (await appOf().request('POST', '/videos', { key, body })).assertOk(201).string('data.id');
  }

  const ask = ({ key }: Shop, body: object, more: Record<string, string> = {}) => {
    const path = 'videoId' in body ? '/checkout/video' : '/checkout/subscription';
    return appOf().request('POST', path, {
      key,
      headers: { ...headers, ...more },
      body: { ...ADDRESSES, ...body },
    });
  };

  async function open(of: Shop, body: object): Promise<string> {
    return (await ask(of, body)).assertOk(201).string('data.id');
  }

  const read = async ({ key }: Shop, id: string) =>
    (await appOf().request('GET', `/checkout/${id}`, { key, headers })).assertOk(200);

  async function eventsOf({ key }: Shop): Promise<string[]> {
    const rows = (await appOf().request('GET', '/me/events?order=asc&limit=100', { key }))
      .assertOk(200)
      .list('data');
    const types = rows.map((row) => String(Object(row).type));
    return types.filter((type) => /^(checkout|payment|subscription|booking)\./.test(type));
  }

  /** Submits the page like a browser: reads the form, and sends it. */
  async function send(id: string, action: string, fields: Record<string, string>, from = ORIGIN) {
    const page = await (await fetch(`${appOf().url}/checkout/${id}`)).text();
    const token = /name="token" value="([^"]+)"/.exec(page)?.[1] ?? '';
    const answer = await fetch(`${appOf().url}/checkout/${id}/${action}`, {
      method: 'POST',
      redirect: 'manual',
      headers: { origin: from, 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ token, ...fields }).toString(),
    });
    return { status: answer.status, location: answer.headers.get('location'), text: await answer.text() };
  }

  const pay = (id: string, fields: Record<string, string> = {}) =>
    send(id, 'pay', { email: 'ann@example.com', card: CARD, ...fields });
  return { shop, tier, code, video, ask, open, read, eventsOf, send, pay };
}
