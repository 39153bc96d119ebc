import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../harness/app.ts';
import { violationsInTheDark, violationsOf } from '../harness/axe.ts';
import { launchBrowser, type OpenOptions, type TestBrowser, type WatchedPage } from '../harness/browser.ts';
import { freePort } from '../harness/platform.ts';

let app: TestApp;
let browser: TestBrowser;
let origin: string;
let key: string;
let tierId: string;

before(async () => {
  const port = String(await freePort());
  origin = `http://localhost:${port}`;
  [app, browser] = await Promise.all([
    startTestApp({ env: { PORT: port, PUBLIC_URL: origin } }),
    launchBrowser(),
  ]);
  ({ key } = await app.createKey({ mode: 'test' }));
  const body = { name: 'Supporter', priceCents: 500, interval: 'MONTH' };
  tierId = (await app.request('POST', '/tiers', { key, body })).assertOk(201).string('data.id');
  const code = { code: 'FRIENDS', percentOff: 20 };
  (await app.request('POST', '/booking/discount-codes', { key, body: code })).assertOk(201);
});
after(async () => {
  await browser.close();
  await app.close();
});

async function openCheckout(): Promise<string> {
  const body = { tierId, successUrl: `${origin}/thanks`, cancelUrl: `${origin}/offers` };
  const answer = await app.request('POST', '/checkout/subscription', { key, headers: { origin }, body });
  return answer.assertOk(201).string('data.url');
}

const SMALL: OpenOptions = { colorScheme: 'light', viewport: { width: 390, height: 844 } };

/** A purchase from the page to the shop's thanks, with a typing error and a declined card on the way. */
async function buy({ page }: WatchedPage, url: string, email: string): Promise<void> {
  await page.getByLabel('Discount code').fill('friends');
  await page.getByRole('button', { name: 'Use the code' }).click();
  await page.getByText('−$1.00').waitFor();
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Card number').fill('4000 0000 0000 0002');
  await page.getByRole('button', { name: 'Pay $4.00' }).click();
  await page.getByRole('alert').filter({ hasText: 'Nothing was charged' }).waitFor();
  assert.equal(await page.getByLabel('E-mail address').inputValue(), email);
  await page.getByLabel('Card number').fill('4242 4242 4242 4242');
  await page.getByRole('button', { name: 'Pay $4.00' }).click();
  await page.waitForURL(`${origin}/thanks?checkout_id=${url.split('/').at(-1)}`);
}

test('a purchase end to end, without a violation of accessibility, at 390 px, light and dark', async () => {
  const url = await openCheckout();
  const watched = await browser.open(url, SMALL);
  assert.deepEqual(await violationsOf(watched.page), []);
  assert.equal(await watched.page.evaluate<number>('document.documentElement.scrollWidth'), 390);
  assert.deepEqual(await violationsInTheDark(watched.page), []);
  await buy(watched, url, 'ann@example.com');
  // A declined card and the shop's page, which there is none of here, are all that the console has.
  const errors = watched.errors.filter((line) => !/\b(402|404)\b/.test(line));
  assert.deepEqual(errors, []);
  await watched.page.goto(url);
  await watched.page.getByRole('heading', { name: 'Paid. Thank you.' }).waitFor();
  assert.deepEqual(await violationsOf(watched.page), []);
  await watched.close();
});

test('the same without a script, and a cancel', async () => {
  const url = await openCheckout();
  const watched = await browser.open(url, { javaScriptEnabled: false });
  await buy(watched, url, 'bob@example.com');
  const { page } = watched;
  await page.goto(await openCheckout());
  await page.getByRole('button', { name: 'Cancel and go back' }).click();
  await page.waitForURL(`${origin}/offers`);
  await watched.close();
});
