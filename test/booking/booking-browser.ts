import assert from 'node:assert/strict';
import type { TestApp } from '../harness/app.ts';
import { ORIGIN, type Shop } from '../money/shop.ts';
import { bookingClient } from './booking-client.ts';

/** A page as a browser without scripts has it. */
export class PageResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly html: string;

  constructor({ status, headers }: Response, html: string) {
    this.status = status;
    this.headers = headers;
    this.html = html;
  }

  /** Visible text of the page. */
  get text(): string {
    return this.html
      .replace(/<(script|style|option)\b.*?<\/\1>/gs, '')
      .replace(/<[^>]*>/g, ' ')
      .replace(/\s+/g, ' ');
  }

  /** Redirect target without the origin of the platform. */
  get location(): string {
    return (this.headers.get('location') ?? '').replace(ORIGIN, '');
  }

  get cookie(): string {
    return this.headers.get('set-cookie')?.split(';')[0] ?? '';
  }

  /** Returns the URLs of links that contain a text. */
  links(part: string): string[] {
    const all = [...this.html.matchAll(/<a\b[^>]*href="([^"]*)"/g)].map(([, href = '']) =>
      href.replaceAll('&amp;', '&'),
    );
    return all.filter((href) => href.includes(part));
  }

  /** Returns the values of the page's inputs. */
  fields(): Record<string, string> {
    const inputs = [...this.html.matchAll(/<input\b[^>]*name="([^"]*)"[^>]*value="([^"]*)"/g)];
    return Object.fromEntries(inputs.map(([, name = '', value = '']) => [name, value]));
  }
}

/** Returns the statuses of `count` consecutive actions. */
export async function statusesOf(
  count: number,
  act: (n: number) => Promise<PageResponse>,
): Promise<number[]> {
  const statuses = [];
  for (let n = 0; n < count; n++) statuses.push((await act(n)).status);
  return statuses;
}
export const all = (count: number, status: number) => Array.from({ length: count }, () => status);

/**
 * Returns actions of customers on the booking pages, in a browser without scripts.
 *
 * @param proxiedOf another node, with TRUST_PROXY.
 */
export function bookingBrowser(appOf: () => TestApp, proxiedOf: () => TestApp) {
  const { mails } = bookingClient(appOf);

  async function see(path: string, cookie = ''): Promise<PageResponse> {
    const answer = await fetch(new URL(path, appOf().url), { headers: { cookie }, redirect: 'manual' });
    return new PageResponse(answer, await answer.text());
  }

  async function send(
    path: string,
    fields: Record<string, string>,
    headers: Record<string, string> = {},
    { url } = appOf(),
  ) {
    const answer = await fetch(new URL(path, url), {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'sec-fetch-site': 'same-origin',
        ...headers,
      },
      body: new URLSearchParams(fields),
      redirect: 'manual',
    });
    return new PageResponse(answer, await answer.text());
  }

  let places = 0;

  /** Sends a form through a node that trusts proxies, each time from another IP address. */
  function sendFromAnywhere(
    path: string,
    fields: Record<string, string>,
    cookie = '',
  ): Promise<PageResponse> {
    places += 1;
    const from = `198.18.${places >> 8}.${places & 255}`;
    return send(path, fields, { 'x-forwarded-for': from, cookie }, proxiedOf());
  }

  /** The path of a product's page. */
  async function pageOf({ key }: Shop, id: string): Promise<string> {
    const { url } = Object((await appOf().request('GET', `/booking/products/${id}`, { key })).at('data'));
    return new URL(String(url)).pathname;
  }

  /** Returns the path and query of the newest link of its kind in the emails to an address. */
  async function linkTo(kind: string, recipient: string, path: RegExp): Promise<string> {
    const mail = (await mails(kind)).findLast((one) => one.recipient === recipient);
    const url = mail?.text?.match(/https?:\/\/\S+/g)?.find((one) => path.test(one)) ?? '';
    const { pathname, search } = new URL(url);
    return pathname + search;
  }

  /** Returns the subjects of the emails to an address, newest last. */
  async function mailsTo(email: string, kind: string): Promise<string[]> {
    return (await mails(kind)).filter(({ recipient }) => recipient === email).map(({ subject }) => subject);
  }

  /** Opens the mailed link. @returns the page without a secret, and the cookie. */
  async function opened(link: string): Promise<{ path: string; cookie: string }> {
    const answer = await see(link);
    assert.equal(answer.status, 303);
    assert.match(
      answer.headers.get('set-cookie') ?? '',
      /Max-Age=86400; Path=\/\w+\/\w+; HttpOnly; SameSite=Lax$/,
    );
    return { path: answer.location, cookie: answer.cookie };
  }

  /** Accepts a waitlist offer by the link in its email. @returns the redirect target. */
  async function takeOffer(email: string, name: string): Promise<string> {
    const { path, cookie } = await opened(await linkTo('waitlist-offered', email, /\/waitlist\//));
    const fields = (await see(path, cookie)).fields();
    const taken = await send(`${path}/take`, { ...fields, name }, { cookie });
    assert.equal(taken.status, 303, taken.text);
    return taken.location;
  }
  return { see, send, sendFromAnywhere, pageOf, linkTo, mailsTo, opened, takeOffer };
}
