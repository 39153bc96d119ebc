import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { AxeBuilder } from '@axe-core/playwright';
import type { Locator, Page } from 'playwright-core';
import { bookingClient } from '../booking/booking-client.ts';
import { startTestApp, type TestApp } from '../harness/app.ts';
import { violationsInDarkScheme, violationsOf } from '../harness/axe.ts';
import { launchBrowser, type TestBrowser } from '../harness/browser.ts';
import { waitFor } from '../harness/wait-for.ts';
import { createChat } from '../streams/chat.ts';

let app: TestApp;
let browser: TestBrowser;
let key: string;

before(async () => {
  [app, browser] = await Promise.all([startTestApp(), launchBrowser()]);
  ({ key } = await app.createKey());
});
after(async () => {
  await browser?.close();
  await app?.close();
});

/** It has to be scrolled sideways. */
const IS_WIDE = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';

const texts = (page: Page) => page.locator('.chat-text').allTextContents();
const shows = (page: Page, expected: string[]) =>
  waitFor(async () => JSON.stringify(await texts(page)) === JSON.stringify(expected), {
    timeoutMs: 10_000,
    message: `the messages ${expected}`,
  });

async function join(page: Page, name: string) {
  await page.getByLabel('Your name in this chat').fill(name);
  await page.keyboard.press('Enter');
  await page.getByLabel(/^Message as/).waitFor();
}

async function write(page: Page, text: string) {
  await page.getByLabel(/^Message as/).fill(text);
  await page.keyboard.press('Enter');
}

test('two visitors chat by keyboard, and the creator answers, deletes and closes the chat', async () => {
  const chat = await createChat(app, key);
  await chat.say('Welcome! See https://example.com/a?b=1.');
  const wide = await browser.open(`${app.url}/watch/${chat.id}`);
  const narrow = await browser.open(`${app.url}/embed/${chat.id}?chat=1`, {
    viewport: { width: 390, height: 780 },
  });
  const link = wide.page.locator('.chat-text a');
  assert.equal(await link.getAttribute('href'), 'https://example.com/a?b=1');
  assert.match(String(await link.getAttribute('rel')), /nofollow/);
  await join(wide.page, 'Anna');
  await join(narrow.page, 'Ben');
  await write(wide.page, 'Hello <b>all</b>');
  const said = ['Welcome! See https://example.com/a?b=1.', 'Hello <b>all</b>'];
  await shows(wide.page, said);
  await shows(narrow.page, said);
  await write(narrow.page, 'Hi');
  await shows(wide.page, [...said, 'Hi']);
  assert.equal(await wide.page.locator('.chat-list').getAttribute('aria-live'), 'polite');

  for (const { page } of [wide, narrow]) {
    const { violations } = await new AxeBuilder({ page }).include('.chat').analyze();
    assert.deepEqual(
      violations.map(({ id, nodes }) => [id, nodes[0]?.html]),
      [],
    );
    assert.equal(await page.evaluate(IS_WIDE), false);
  }

  // A returning visitor is the same guest.
  await wide.page.reload();
  await wide.page.getByLabel(/^Message as Anna/).waitFor();
  await shows(wide.page, [...said, 'Hi']);
  const [newest] = (await chat.request('GET', '?limit=1')).assertOk(200).list('data');
  (await chat.request('DELETE', `/${Object(newest).id}`)).assertOk(200);
  await shows(narrow.page, said);
  await chat.set({ chatMode: 'FOLLOWERS' });
  await wide.page.getByText(/Only followers of .* can post messages\./).waitFor();
  assert.equal(await wide.page.getByLabel(/^Message as/).isVisible(), false);
  await wide.page.locator('.chat-system', { hasText: 'Chat is open to followers only.' }).waitFor();
  await chat.request('DELETE', '');
  await shows(wide.page, []);
  await shows(narrow.page, []);
  for (const { errors, strangers, close } of [wide, narrow]) {
    assert.deepEqual(strangers, [], 'nothing of a message is fetched');
    assert.deepEqual(
      errors.filter((error) => !/\/live\/.*\.m3u8/.test(error)),
      [],
    );
    await close();
  }
});

test('a visitor in another time zone books by keyboard on a small screen', async () => {
  const { creator, product, mails } = bookingClient(() => app);
  const of = await creator();
  const intakeFields = [
    { key: 'goal', label: 'What is your goal?', type: 'LONGTEXT', required: true },
    { key: 'level', label: 'Level', type: 'SELECT', required: true, options: ['New', 'Old hand'] },
    { key: 'rules', label: 'I know the rules', type: 'CHECKBOX', required: true },
  ];
  const id = await product(of, { priceCents: 0, type: 'LIVE_CLASS', capacity: 2, intakeFields });
  const at = (await app.request('GET', `/booking/products/${id}`, { key: of.key })).string('data.url');
  const { page, errors, strangers, close } = await browser.open(app.url + new URL(at).pathname, {
    timezoneId: 'Asia/Tokyo',
    viewport: { width: 390, height: 780 },
  });
  const looksGood = async () => {
    await page.emulateMedia({ colorScheme: 'light' });
    assert.deepEqual([await violationsOf(page), await violationsInDarkScheme(page)], [[], []]);
    assert.equal(await page.evaluate(IS_WIDE), false);
  };
  const press = async (link: Locator) => {
    await link.focus();
    await page.keyboard.press('Enter');
  };
  await press(page.getByRole('link', { name: 'Show times in Asia/Tokyo' }));
  await page.getByText(/is in UTC; each time is also shown in their time zone/).waitFor();
  // Whatever day it is, of the next month every day is free.
  await press(page.getByRole('link', { name: 'Later' }));
  await press(page.getByRole('link', { name: /, \d+ times$/ }).nth(2));
  const time = page.locator('#times a').nth(5);
  const start = Temporal.Instant.from(
    new URL(String(await time.getAttribute('href')), app.url).searchParams.get('start') ?? '',
  );
  const wall = (zone: string) =>
    start.toZonedDateTimeISO(zone).toPlainTime().toString({ smallestUnit: 'minute' });
  assert.match(
    String(await time.textContent()),
    new RegExp(`^${wall('Asia/Tokyo')}\\s+(\\w+ )?${wall('UTC')} in UTC\\s+2 seats left$`),
  );
  await press(time);
  await page.getByLabel('Your name').fill('Zoë');
  await page.getByLabel('Email').fill('zoe@example.com');
  await page.getByLabel('What is your goal?').fill('To try it');
  await page.getByLabel('Level').selectOption('New');
  await page.getByLabel('I know the rules').press('Space');
  await looksGood();
  await page.getByRole('button', { name: 'Book' }).press('Enter');
  await page.getByRole('heading', { name: 'Booked' }).waitFor();
  await page.getByText(`${wall('Asia/Tokyo')} to`).waitFor();

  const [mail] = await mails('booking-confirmed');
  const link = new URL(mail?.text?.match(/https?:\S+\/bookings\/\w+\?\S+/)?.[0] ?? '');
  await page.goto(app.url + link.pathname + link.search);
  assert.equal(new URL(page.url()).search, '', 'no secret stays in the address');
  await page.getByText('Cancel this booking').press('Enter');
  await looksGood();
  await page.getByLabel('Reason').press('Enter');
  await page.getByText('Booking canceled.').waitFor();
  assert.deepEqual([errors, strangers], [[], []]);
  await close();
});
