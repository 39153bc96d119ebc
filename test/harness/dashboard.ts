import assert from 'node:assert/strict';
import type { Cookie, Page } from 'playwright-core';
import { Browser } from '../auth/browser.ts';
import { newAddress, PASSWORD } from '../auth/fixture.ts';
import { startTestApp, type TestApp } from './app.ts';
import { transitionsEnd, violationsOf } from './axe.ts';
import { launchBrowser, type OpenOptions, type TestBrowser, type WatchedPage } from './browser.ts';
import { freePort, OWNER_KEY, type RunningPlatform, startPlatform } from './platform.ts';

const DESK = { width: 1280, height: 800 };

/** An account that can sign in. */
export interface DashboardUser {
  id: string;
  email: string;
  password: string;
}

export interface VisitOptions extends Pick<OpenOptions, 'colorScheme' | 'locale' | 'isLast'> {
  /** Signed-in user; none if omitted. */
  user?: DashboardUser;
}

/** The dashboard on the real program with a real browser; no worker runs. One serves a whole file of tests. */
export interface TestDashboard {
  app: TestApp;
  browser: TestBrowser;
  /** `http://localhost:<port>` */
  url: string;
  /** Creates an account; its email is verified by default. */
  user(options?: { name?: string; isVerified?: boolean }): Promise<DashboardUser>;
  /**
   * Opens a page (`/dashboard/limits`) in an empty tab, signed in as `user` without the form, and closes it.
   * Fails on console errors, violations of the policy, and requests to another host.
   */
  visit(
    path: string,
    options: VisitOptions,
    use: (page: Page, watched: WatchedPage) => Promise<void>,
  ): Promise<void>;
  /** Creates a session of the user outside of the browser, to create data that a page shows. */
  signedIn(user: DashboardUser): Promise<Browser>;
  /** Ends every session of the user, as if from another device. */
  endSessions(user: DashboardUser): Promise<void>;
  /** Returns the texts of the emails to an address, oldest first. */
  mailsTo(email: string): Promise<string[]>;
  close(): Promise<void>;
}

let count = 0;

function tabOf(
  { colorScheme = 'light', locale = 'en-GB', isLast = false }: VisitOptions,
  session: Browser | null,
): OpenOptions {
  return {
    viewport: DESK,
    colorScheme,
    locale,
    // Prevents checks in the middle of animations.
    reducedMotion: 'reduce',
    extraHTTPHeaders: { 'x-forwarded-for': newAddress() },
    cookies: session === null ? [] : [cookieOf(session.cookie ?? '')],
    isLast,
  };
}

/** @param pair `name=value` */
function cookieOf(pair: string): Cookie {
  const [name = '', value = ''] = pair.split('=');
  const scope = { domain: 'localhost', path: '/', expires: -1, httpOnly: true, secure: false };
  return { name, value, ...scope, sameSite: 'Lax' };
}

/** Opens a page, and fails on console errors other than `expected`, and on requests to another host. */
async function useTab(
  browser: TestBrowser,
  url: string,
  { expected, ...options }: OpenOptions & { expected: readonly RegExp[] },
  use: (watched: WatchedPage) => Promise<void>,
): Promise<void> {
  const watched = await browser.open(url, options);
  try {
    await use(watched);
    assert.deepEqual(watched.strangers, [], 'requests to other hosts');
    assert.deepEqual(
      watched.errors.filter((error) => !expected.some((pattern) => pattern.test(error))),
      [],
    );
  } finally {
    await watched.close();
  }
}

/** The browser logs every error response in the console; those of the API are for the page to show. */
const REFUSAL = /status of \d+ .*\/api\/v1\//;
const LOST = /net::ERR_INTERNET_DISCONNECTED/;

/** Port of the previous dashboard of this process: a tab need not compile the same scripts of the same URL again. */
let previousPort: number | undefined;

/** @param env variables of the program's configuration. */
export async function startDashboard(env: Record<string, string> = {}): Promise<TestDashboard> {
  const port = await freePort(previousPort);
  previousPort = port;
  const url = `http://localhost:${port}`;
  const [app, browser] = await Promise.all([
    startTestApp({ env: { PORT: String(port), PUBLIC_URL: url, TRUST_PROXY: 'true', ...env } }),
    launchBrowser(),
  ]);
  const { accounts, auth, mailbox } = app.container;
  /** Signed in without the form. */
  const signedIn = async (user: DashboardUser) => {
    const session = new Browser(app, { origin: url });
    await session.signIn(user);
    return session;
  };
  return {
    app,
    browser,
    url,
    async user({ name, isVerified = true } = {}) {
      count += 1;
      const email = `user${count}@example.com`;
      const { id } = await accounts.create({ email, password: PASSWORD, verified: isVerified });
      const user = { id, email, password: PASSWORD };
      if (name !== undefined) {
        (await (await signedIn(user)).send('PATCH', '/me', { body: { name } })).assertOk(200);
      }
      return user;
    },
    async visit(path, options, use) {
      const session = options.user === undefined ? null : await signedIn(options.user);
      const tab = { ...tabOf(options, session), expected: [REFUSAL, LOST] };
      await useTab(browser, url + path, tab, (watched) => use(watched.page, watched));
    },
    signedIn,
    async endSessions(user) {
      const own = await signedIn(user);
      const open = (await own.get('/auth/sessions')).assertOk(200).list('data');
      for (const { id, isCurrent } of open.map(Object)) {
        if (!isCurrent) (await own.send('DELETE', `/auth/sessions/${id}`)).assertOk(200);
      }
    },
    async mailsTo(email) {
      await auth.links.sendRequested();
      const mails = (await mailbox.list()).filter((mail) => mail.to === email).reverse();
      return Promise.all(mails.map(async ({ id }) => (await mailbox.get(id)).text ?? ''));
    },
    async close() {
      await browser.close();
      await app.close();
    },
  };
}

const OWNER_EMAIL = 'owner@marquee.localhost';

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

/** Expected errors: a missing playlist, and a replacement URL that is not fetched. */
const NOT_YET = /status of (404|409) |status of 400 .*\/replacement\)/;

/**
 * Starts a platform with media, for pages that show broadcasts and videos.
 *
 * @param more variables of the program's configuration.
 */
export async function startMediaPlatform(more: Record<string, string> = {}): Promise<MediaPlatform> {
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const owner = { BOOTSTRAP_EMAIL: OWNER_EMAIL, BOOTSTRAP_PASSWORD: PASSWORD };
  const environment = { PUBLIC_URL: url, ...owner, ...more };
  const [platform, browser] = await Promise.all([startPlatform({ port, environment }), launchBrowser()]);
  const cookies = [await signInOwner(url)];
  return {
    platform,
    browser,
    visit: (path, use) =>
      useTab(
        browser,
        `${url}/dashboard${path}`,
        { viewport: DESK, locale: 'en-GB', cookies, expected: [NOT_YET] },
        ({ page }) => use(page),
      ),
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

async function signInOwner(url: string): Promise<Cookie> {
  const response = await fetch(`${url}/api/v1/auth/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url },
    body: JSON.stringify({ email: OWNER_EMAIL, password: PASSWORD }),
  });
  assert.equal(response.status, 201, await response.clone().text());
  const [pair = ''] = (response.headers.get('set-cookie') ?? '').split(';');
  return cookieOf(pair);
}

/** Asserts that axe reports no violations, and that nothing overflows the window. */
export async function assertAccessible(page: Page, about: string): Promise<void> {
  assert.deepEqual(await violationsOf(page), [], about);
  await assertNoOverflow(page, about);
}

/** Asserts accessibility in the light scheme. */
export async function assertAccessibleInLight(page: Page, about: string): Promise<void> {
  // Reduced motion avoids checks of intermediate colors.
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await useScheme(page, 'light');
  await assertAccessible(page, about);
}

/** Asserts accessibility in both schemes; ends in the dark one, which changes only colors. */
export async function assertAccessibleInBothSchemes(page: Page, about: string): Promise<void> {
  await assertAccessibleInLight(page, about);
  await useScheme(page, 'dark');
  assert.deepEqual(await violationsOf(page, ['color-contrast']), [], `${about}, dark`);
}

async function useScheme(page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme });
  await page.locator(`html[data-mantine-color-scheme=${colorScheme}]`).waitFor({ state: 'attached' });
  await transitionsEnd(page);
}

/** Asserts that nothing overflows the window. */
export async function assertNoOverflow(page: Page, about: string): Promise<void> {
  const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - window.innerWidth');
  assert.ok(overflow <= 0, `${about} is ${overflow} px wider than the window`);
}
