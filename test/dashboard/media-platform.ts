import assert from 'node:assert/strict';
import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';
import { launchBrowser, type TestBrowser, type WatchedPage } from '../harness/browser.ts';
import { freePort, OWNER_KEY, type RunningPlatform, startPlatform } from '../harness/platform.ts';

const PASSWORD = 'correct horse battery staple';
const EMAIL = 'owner@marquee.localhost';

/** The whole platform with its encoders' port and its workers, and its owner's dashboard in a browser. */
export interface MediaPlatform {
  platform: RunningPlatform;
  browser: TestBrowser;
  /** Opens `/dashboard<path>` as the owner; fails on errors in the console and requests to other hosts. */
  visit(path: string, use: (page: Page) => Promise<void>): Promise<void>;
  /** Opens a public page, as a stranger. */
  watch(path: string): Promise<WatchedPage>;
  /** A call with the owner's key. @returns the `data`. */
  call(method: string, path: string, body?: object): Promise<Record<string, unknown>>;
  close(): Promise<void>;
}

/** A browser notes every refusal in the console; a playlist that is not there yet is one. */
const REFUSAL = /status of (404|409) /;

export async function startMediaPlatform(): Promise<MediaPlatform> {
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const environment = { PUBLIC_URL: url, BOOTSTRAP_EMAIL: EMAIL, BOOTSTRAP_PASSWORD: PASSWORD };
  const [platform, browser] = await Promise.all([startPlatform({ port, environment }), launchBrowser()]);
  const cookie = await signIn(url);
  return {
    platform,
    browser,
    async visit(path, use) {
      const watched = await browser.open(`${url}/dashboard${path}`, {
        viewport: { width: 1280, height: 800 },
        locale: 'en-GB',
        reducedMotion: 'no-preference',
        storageState: { cookies: [cookie], origins: [] },
      });
      try {
        await use(watched.page);
        assert.deepEqual(watched.strangers, [], 'requests to other hosts');
        assert.deepEqual(
          watched.errors.filter((error) => !REFUSAL.test(error)),
          [],
        );
      } finally {
        await watched.close();
      }
    },
    watch: (path) => browser.open(url + path),
    async call(method, path, body) {
      const response = await fetch(platform.api + path, {
        method,
        headers: { authorization: `Bearer ${OWNER_KEY}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const { data } = Object(await response.json());
      assert.ok(response.ok, `${method} ${path}: ${response.status}`);
      return Object(data);
    },
    async close() {
      await browser.close();
      await platform.stop();
    },
  };
}

async function signIn(url: string) {
  const response = await fetch(`${url}/api/v1/auth/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url },
    body: JSON.stringify({ email: EMAIL, password: PASSWORD }),
  });
  assert.equal(response.status, 201, await response.clone().text());
  const [pair = ''] = (response.headers.get('set-cookie') ?? '').split(';');
  const [name = '', value = ''] = pair.split('=');
  const sameSite = 'Lax' as const;
  return {
    name,
    value,
    domain: 'localhost',
    path: '/',
    expires: -1,
    httpOnly: true,
    secure: false,
    sameSite,
  };
}

/** No violation of the rules of axe in either scheme, and nothing wider than the window. */
export async function assertGoodLooks(page: Page, about: string): Promise<void> {
  // No colour is looked at on its way to another one.
  await page.emulateMedia({ reducedMotion: 'reduce' });
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await page.locator(`html[data-mantine-color-scheme=${colorScheme}]`).waitFor({ state: 'attached' });
    const { violations } = await new AxeBuilder({ page }).analyze();
    const found = violations.map(
      ({ id, nodes }) =>
        `${id}: ${nodes.map(({ target, failureSummary }) => `${target} ${failureSummary}`).join('; ')}`,
    );
    assert.deepEqual(found, [], `${about}, ${colorScheme}`);
  }
  const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - window.innerWidth');
  assert.ok(overflow <= 0, `${about} is ${overflow} px wider than the window`);
}
