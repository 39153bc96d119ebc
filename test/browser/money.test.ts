import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type { Page } from 'playwright-core';
import { violationsInDarkScheme, violationsOf } from '../harness/axe.ts';
import type { OpenOptions, WatchedPage } from '../harness/browser.ts';
import { assertAccessibleInBothSchemes, startDashboard, type TestDashboard } from '../harness/dashboard.ts';
import { runTask } from '../harness/modules.ts';
import { freePort } from '../harness/platform.ts';
import { waitFor } from '../harness/wait-for.ts';
import { addVideo, madeUpFiles } from '../videos/fixture.ts';

let dashboard: TestDashboard;
let origin: string;
let key: string;
let tierId: string;

before(async () => {
  dashboard = await startDashboard();
  const { app, url } = dashboard;
  origin = url;
  ({ key } = await app.createKey({ mode: 'test' }));
  const body = { name: 'Supporter', priceCents: 500, interval: 'MONTH' };
  tierId = (await app.request('POST', '/tiers', { key, body })).assertOk(201).string('data.id');
  const code = { code: 'FRIENDS', percentOff: 20 };
  (await app.request('POST', '/booking/discount-codes', { key, body: code })).assertOk(201);
});
after(() => dashboard?.close());

async function openCheckout(shop = origin): Promise<string> {
  const body = { tierId, successUrl: `${shop}/thanks`, cancelUrl: `${shop}/offers` };
  const options = { key, headers: { origin }, body };
  const answer = await dashboard.app.request('POST', '/checkout/subscription', options);
  return answer.assertOk(201).string('data.url');
}

const SLOW = { timeout: 30_000 };
const PHONE = { width: 390, height: 844 };
const SMALL: OpenOptions = { colorScheme: 'light', viewport: PHONE };

/** A purchase from the page to the shop's thanks, with a typing error and a declined card on the way. */
async function buy({ page }: WatchedPage, url: string, email: string): Promise<void> {
  await page.getByLabel('Discount code').fill('friends');
  await page.getByRole('button', { name: 'Apply code' }).click();
  await page.getByText('−$1.00').waitFor();
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Card number').fill('4000 0000 0000 0002');
  await page.getByRole('button', { name: 'Pay $4.00' }).click();
  await page.getByRole('alert').filter({ hasText: 'Nothing was charged' }).waitFor();
  assert.equal(await page.getByLabel('Email').inputValue(), email);
  await page.getByLabel('Card number').fill('4242 4242 4242 4242');
  await page.getByRole('button', { name: 'Pay $4.00' }).click();
  await page.waitForURL(`${origin}/thanks?checkout_id=${url.split('/').at(-1)}`);
}

test('a purchase end to end, without a violation of accessibility, at 390 px, light and dark', async () => {
  const url = await openCheckout();
  const watched = await dashboard.browser.open(url, SMALL);
  assert.deepEqual(await violationsOf(watched.page), []);
  assert.equal(await watched.page.evaluate<number>('document.documentElement.scrollWidth'), 390);
  assert.deepEqual(await violationsInDarkScheme(watched.page), []);
  await buy(watched, url, 'ann@example.com');
  // A declined card and the shop's page, which there is none of here, are all that the console has.
  const errors = watched.errors.filter((line) => !/\b(402|404)\b/.test(line));
  assert.deepEqual(errors, []);
  await watched.page.goto(url);
  await watched.page.getByRole('heading', { name: 'Paid. Thank you.' }).waitFor();
  assert.deepEqual(await violationsOf(watched.page), []);
  await watched.close();
});

test('card authentication leads to the bank’s page and back to the shop on another site', async () => {
  const server = createServer((_request, response) => response.end('Thanks'));
  const site = new URL(origin);
  site.port = String(await freePort());
  await once(server.listen(Number(site.port), '127.0.0.1'), 'listening');
  const watched = await dashboard.browser.open(await openCheckout(site.origin), SMALL);
  const { page } = watched;
  const pay = async () => {
    await page.getByLabel('Email').fill('cleo@example.com');
    await page.getByLabel('Card number').fill('4000 0000 0000 3220');
    await page.getByRole('button', { name: 'Pay $5.00' }).click();
    await page.getByRole('heading', { name: 'Confirm payment' }).waitFor();
  };
  await pay();
  assert.deepEqual(await violationsOf(page), []);
  await page.getByRole('button', { name: 'Fail' }).click();
  await page.getByRole('alert').filter({ hasText: 'Nothing was charged' }).waitFor();
  await pay();
  await page.getByRole('button', { name: 'Complete' }).click();
  await page.waitForURL(`${site.origin}/thanks?checkout_id=*`);
  const errors = watched.errors.filter((line) => !/\b(402|404)\b/.test(line));
  assert.deepEqual(errors, []);
  await watched.close();
  server.close();
});

test('the same without a script, and a cancel', async () => {
  const url = await openCheckout();
  const watched = await dashboard.browser.open(url, { javaScriptEnabled: false });
  await buy(watched, url, 'bob@example.com');
  const { page } = watched;
  await page.goto(await openCheckout());
  await page.getByRole('button', { name: 'Cancel and go back' }).click();
  await page.waitForURL(`${origin}/offers`);
  await watched.close();
});

test('a film is bought on its watch page without a script, and opens by the member page', async () => {
  const { app, browser } = dashboard;
  const account = await app.createAccount();
  const columns = { visibility: 'PURCHASE', price_cents: 900, title: 'The film' } as const;
  const film = await addVideo(app.container, { ...account, live: account.test }, madeUpFiles(), columns);
  const shop = await browser.open(`${origin}/watch/${film}`, { javaScriptEnabled: false });
  await shop.page.getByRole('button', { name: 'Buy' }).click();
  await shop.page.getByLabel('Email').fill('dora@example.com');
  await shop.page.getByLabel('Card number').fill('4242 4242 4242 4242');
  await shop.page.getByRole('button', { name: 'Pay $9.00' }).click();
  await shop.page.getByRole('status').filter({ hasText: 'Your receipt is on its way' }).waitFor();
  assert.match(shop.page.url(), new RegExp(`/watch/${film}[?]checkout_id=chk_`));
  await shop.page.getByRole('link', { name: 'Get a sign-in link by email' }).click();
  await shop.page.getByLabel('Email').fill('dora@example.com');
  await shop.page.getByRole('button', { name: 'Send link' }).click();
  await shop.page.getByRole('heading', { name: 'Check your email' }).waitFor();
  assert.deepEqual([shop.errors, shop.strangers], [[], []]);
  await shop.close();

  await runTask(app.container, 'member links');
  const link = (await dashboard.mailsTo('dora@example.com')).join().match(/https?:\S+token=\S+/)?.[0] ?? '';
  const member = await browser.open(`${origin}/watch/${film}`, SMALL);
  const { page } = member;
  for (const address of [`${origin}/watch/${film}`, `${origin}/sandbox/account`, link]) {
    await page.goto(address);
    await assertPublicLooks(page);
  }
  await page.getByRole('button', { name: 'Continue' }).press('Enter');
  await page.getByText('Signed in as dora@example.com').waitFor();
  await page.getByRole('link', { name: 'The film' }).waitFor();
  await assertPublicLooks(page);
  assert.deepEqual([member.errors, member.strangers], [[], []]);
  const opened = await page.context().request.get(`${origin}/watch/${film}`);
  assert.match(await opened.text(), new RegExp(`/v/${film}/master[.]m3u8`));
  await member.close();
});

/** Asserts that a public page is accessible and fits a phone. It follows the color scheme of the system. */
async function assertPublicLooks(page: Page): Promise<void> {
  await page.emulateMedia({ colorScheme: 'light' });
  assert.deepEqual(await violationsOf(page), [], page.url());
  assert.equal(await page.evaluate<number>('document.documentElement.scrollWidth'), PHONE.width);
  assert.deepEqual(await violationsInDarkScheme(page), [], page.url());
}

test('the dashboard creates, changes and ends a tier and a discount code', async () => {
  const user = await dashboard.user({ name: 'Ada' });
  await dashboard.visit('/dashboard/monetization/tiers', { user }, async (page) => {
    await page.getByRole('heading', { name: 'No tiers yet' }).waitFor(SLOW);
    await page.getByRole('button', { name: 'New tier' }).first().click();
    await page.getByLabel('Name').fill('Supporter');
    await page.getByLabel('Price in US dollars').fill('0.20');
    await page.getByRole('button', { name: 'Create tier' }).click();
    await page.getByText(/at least \$0\.50/).waitFor(SLOW);
    await page.getByLabel('Price in US dollars').fill('5.5');
    await page.getByLabel('Benefits').fill('Early films\nA badge');
    await page.getByLabel('Member limit').fill('2');
    await assertAccessibleInBothSchemes(page, 'a new tier');
    await page.getByRole('button', { name: 'Create tier' }).click();
    const tier = page.getByRole('article', { name: 'Supporter' });
    await tier.getByText('$5.50/month').waitFor(SLOW);
    await tier.getByText('0 of 2 members').waitFor();
    await tier.getByText('A badge').waitFor();
    await archive(page);
    await page.getByRole('heading', { name: 'No tiers yet' }).waitFor(SLOW);
    await page.getByRole('link', { name: 'Discount codes' }).click();
    await code(page);
  });
});

async function archive(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Archive' }).click();
  const dialog = page.getByRole('dialog', { name: 'Archive Supporter?' });
  await dialog.getByRole('button', { name: 'Archive' }).click();
}

async function code(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'New discount code' }).first().click();
  await page.getByRole('textbox', { name: 'Code', exact: true }).fill(' early ');
  await page.getByText('Amount', { exact: true }).click();
  await page.getByLabel('US dollars off').pressSequentially('2,50');
  await page.getByRole('button', { name: 'Create code' }).click();
  const card = page.getByRole('article', { name: 'EARLY' });
  await card.getByText('$2.50 off · used 0 times').waitFor(SLOW);
  await card.getByRole('button', { name: 'Edit EARLY' }).click();
  await page.getByLabel('Maximum uses').fill('9');
  await page.getByRole('button', { name: 'Save code' }).click();
  await card.getByText('used 0 of 9 times').waitFor(SLOW);
  await card.getByRole('button', { name: 'Disable' }).click();
  await card.getByText('Off', { exact: true }).waitFor(SLOW);
  await assertAccessibleInBothSchemes(page, 'a discount code');
}

/** Creates a creator in test mode with one subscriber. */
async function seller() {
  const user = await dashboard.user({ name: 'Grace' });
  const session = await dashboard.signedIn(user);
  const post = async (path: string, body: object) => {
    const headers = { 'x-workspace-mode': 'test' };
    return (await session.send('POST', path, { body, headers })).string('data.id');
  };
  const ofTier = { name: 'Patron', priceCents: 1000, interval: 'MONTH' };
  const patron = await post('/tiers', ofTier);
  const addresses = { successUrl: `${origin}/thanks`, cancelUrl: `${origin}/offers` };
  const checkout = await post('/checkout/subscription', {
    tierId: patron,
    customerEmail: 'carl@example.com',
    ...addresses,
  });
  await post(`/checkout/${checkout}/simulate`, { outcome: 'PAID' });
  return user;
}

test('the dashboard shows sales: a member, revenue, a refund, payments as a table', async () => {
  const user = await seller();
  await dashboard.visit('/dashboard/monetization', { user }, async (page) => {
    await page.getByRole('heading', { level: 1, name: 'Revenue' }).waitFor(SLOW);
    await page.getByText('Test', { exact: true }).click();
    await page.getByRole('img', { name: /^Net by day/ }).waitFor(SLOW);
    await page.getByRole('region', { name: 'Totals' }).getByText('$10.00').first().waitFor(SLOW);
    await page.getByText('Show as a table').click();
    await assertAccessibleInBothSchemes(page, 'revenue');
    await member(page);
    await page.getByRole('link', { name: 'View payments' }).click();
    await page.getByRole('cell', { name: '-US$4.00' }).waitFor(SLOW);
    await page.getByLabel('Type').selectOption('REFUND');
    await page.getByRole('cell', { name: '$10.00' }).waitFor({ state: 'detached' });
    assert.match(page.url(), /type=REFUND/);
    const [saved] = await Promise.all([
      page.waitForEvent('download', SLOW),
      page.getByRole('button', { name: 'Export CSV' }).click(),
    ]);
    const lines = (await text(await saved.createReadStream())).trim().split('\n');
    assert.equal(lines.length, 2);
    assert.match(lines[1] ?? '', /,REFUND,-400,USD,/);
    await assertAccessibleInBothSchemes(page, 'payments');
    await page.getByRole('link', { name: 'Payouts' }).click();
    await page.getByText(/^Payments run in the sandbox/).waitFor(SLOW);
    await unfinishedAccount(page);
  });
});

/** Simulates Stripe's account page, as there is no API key. */
async function unfinishedAccount(page: Page): Promise<void> {
  const data = {
    ...{ provider: 'STRIPE', connected: true, chargesEnabled: false, payoutsEnabled: false },
    ...{ detailsSubmitted: false, requirementsDue: ['individual.dob.day'], country: 'US' },
  };
  await page.route('**/connect-status', (route) => route.fulfill({ json: { success: true, data } }));
  await page.reload();
  await page.getByText('individual.dob.day').waitFor(SLOW);
  await page.getByRole('button', { name: 'Complete the account' }).waitFor();
  await page.getByRole('button', { name: 'Open Stripe dashboard' }).waitFor();
  await assertAccessibleInBothSchemes(page, 'an account to complete');
}

/** Refunds a part, and cancels at the end of the period. */
async function member(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Members' }).click();
  await page.getByRole('link', { name: 'carl@example.com' }).click();
  await page.getByText(/^charged on /).waitFor(SLOW);
  await page.getByRole('button', { name: 'Refund carl@example.com' }).click();
  const dialog = page.getByRole('dialog', { name: 'Refund carl@example.com?' });
  await dialog.getByLabel('Refund amount (US dollars)').fill('11');
  await dialog.getByRole('button', { name: /^Refund/ }).click();
  await dialog.getByText(/up to US\$10.00/).waitFor(SLOW);
  await dialog.getByLabel('Refund amount (US dollars)').fill('4');
  await dialog.getByRole('button', { name: 'Refund US$4.00' }).click();
  await page.getByText('Partially refunded').waitFor(SLOW);
  await page.getByRole('button', { name: 'Cancel at period end' }).click();
  const asked = page.getByRole('dialog', { name: 'Cancel at the end of the period?' });
  await asked.getByRole('button', { name: 'Cancel at period end' }).click();
  await page.getByText(/^ends on /).waitFor(SLOW);
  await assertAccessibleInBothSchemes(page, 'a member');
}

test('the forms of videos and streams take prices and tiers', async () => {
  const user = await dashboard.user({ name: 'Ida' });
  const session = await dashboard.signedIn(user);
  const post = async (path: string, body: object) =>
    (await session.send('POST', path, { body })).string('data.id');
  const patron = await post('/tiers', { name: 'Patron', priceCents: 1000, interval: 'MONTH' });
  await post('/tiers', { name: 'Friend', priceCents: 300, interval: 'MONTH' });
  const film = await post('/videos', { title: 'The film' });
  const concert = await post('/streams', { title: 'Concert' });
  const has = async (path: string, settings: object) => {
    const { data } = Object((await session.get(path)).json);
    return Object.entries(settings).every(([name, value]) => isDeepStrictEqual(data[name], value));
  };
  await dashboard.visit(`/dashboard/videos/${film}`, { user }, async (page) => {
    const select = page.getByLabel('Visibility', { exact: true });
    await select.selectOption('PURCHASE');
    await page.getByLabel('Price in US dollars').fill('9.5');
    await page.getByRole('button', { name: 'Change', exact: true }).click();
    await waitFor(() => has(`/videos/${film}`, { visibility: 'PURCHASE', priceCents: 950 }));
    await select.selectOption('TIER');
    await page.getByLabel('Patron').check();
    await assertAccessibleInBothSchemes(page, 'a video for members');
    await page.getByRole('button', { name: 'Change', exact: true }).click();
    await waitFor(() => has(`/videos/${film}`, { visibility: 'TIER', tierIds: [patron] }));
    await page.goto(`${origin}/dashboard/live/${concert}?tab=settings`);
    await page.getByLabel('Visibility', { exact: true }).selectOption('TIER');
    await page.getByLabel('Patron').check();
    await assertAccessibleInBothSchemes(page, 'a stream for members');
    await page.getByRole('button', { name: 'Save' }).click();
    await waitFor(() => has(`/streams/${concert}`, { visibility: 'TIER', tierIds: [patron] }));
  });
});
