import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';
import { startTestApp, type TestApp } from '../harness/app.ts';
import { launchBrowser, type TestBrowser } from '../harness/browser.ts';
import { until } from '../harness/wait.ts';
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

const texts = (page: Page) => page.locator('.chat-text').allTextContents();
const shows = (page: Page, expected: string[]) =>
  until(async () => JSON.stringify(await texts(page)) === JSON.stringify(expected), {
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

test('two visitors talk by keyboard, the creator answers, deletes and closes the chat', async () => {
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
    const isWide = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';
    assert.equal(await page.evaluate(isWide), false);
  }

  // Who comes back is the same guest.
  await wide.page.reload();
  await wide.page.getByLabel(/^Message as Anna/).waitFor();
  await shows(wide.page, [...said, 'Hi']);
  const [newest] = (await chat.request('GET', '?limit=1')).assertOk(200).list('data');
  (await chat.request('DELETE', `/${Object(newest).id}`)).assertOk(200);
  await shows(narrow.page, said);
  await chat.set({ chatMode: 'FOLLOWERS' });
  await wide.page.getByText(/Only those who follow .* can write here\./).waitFor();
  assert.equal(await wide.page.getByLabel(/^Message as/).isVisible(), false);
  await wide.page.locator('.chat-system', { hasText: 'Only followers can write here now.' }).waitFor();
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
