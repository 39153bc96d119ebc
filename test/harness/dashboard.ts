import assert from 'node:assert/strict';
import { AxeBuilder } from '@axe-core/playwright';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { Browser } from '../auth/browser.ts';
import { newAddress, PASSWORD } from '../auth/fixture.ts';
import { startTestApp, type TestApp } from './app.ts';
import { launchBrowser, type TestBrowser, type WatchedPage } from './browser.ts';
import { freePort } from './platform.ts';

const DESK = { width: 1280, height: 800 };

/** An account that can sign in. */
export interface DashboardUser {
  id: string;
  email: string;
  password: string;
}

export interface VisitOptions extends Pick<BrowserContextOptions, 'colorScheme' | 'locale'> {
  /** Who is signed in; nobody when left out. */
  user?: DashboardUser;
}

/** The dashboard on the real program with a real browser; no worker runs. One serves a whole file of tests. */
export interface TestDashboard {
  app: TestApp;
  browser: TestBrowser;
  /** `http://localhost:<port>` */
  url: string;
  /** A fresh account; its address is verified unless told. */
  user(options?: { name?: string; isVerified?: boolean }): Promise<DashboardUser>;
  /**
   * Opens a page (`/dashboard/limits`) in a context of its own, signed in as `user` without the form, and closes
   * it. Fails on errors in the console, violations of the policy, and requests to another host.
   */
  visit(
    path: string,
    options: VisitOptions,
    use: (page: Page, watched: WatchedPage) => Promise<void>,
  ): Promise<void>;
  /** A session of the user outside of the browser, to make what a page shows. */
  signedIn(user: DashboardUser): Promise<Browser>;
  /** Ends every session of the user, as from another device. */
  endSessions(user: DashboardUser): Promise<void>;
  /** Texts of the mails to an address, oldest first. */
  mailsTo(email: string): Promise<string[]>;
  close(): Promise<void>;
}

let count = 0;

function contextOf(
  { colorScheme = 'light', locale = 'en-GB' }: VisitOptions,
  session: Browser | null,
): BrowserContextOptions {
  const [name = '', value = ''] = (session?.cookie ?? '').split('=');
  const cookie = { name, value, domain: 'localhost', path: '/', expires: -1, httpOnly: true, secure: false };
  return {
    viewport: DESK,
    colorScheme,
    locale,
    // Nothing is half faded in when it is looked at.
    reducedMotion: 'reduce',
    extraHTTPHeaders: { 'x-forwarded-for': newAddress() },
    ...(session === null ? {} : { storageState: { cookies: [{ ...cookie, sameSite: 'Lax' }], origins: [] } }),
  };
}

/** A browser notes every refusal in the console; those of the API are for the page to show. */
const REFUSAL = /status of \d+ .*\/api\/v1\//;
const LOST = /net::ERR_INTERNET_DISCONNECTED/;

/** @param env variables of the program's configuration. */
export async function startDashboard(env: Record<string, string> = {}): Promise<TestDashboard> {
  const port = String(await freePort());
  const url = `http://localhost:${port}`;
  const [app, browser] = await Promise.all([
    startTestApp({ env: { PORT: port, PUBLIC_URL: url, TRUST_PROXY: 'true', ...env } }),
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
      const watched = await browser.open(`${url}${path}`, contextOf(options, session));
      try {
        await use(watched.page, watched);
        assert.deepEqual(watched.strangers, [], 'requests to other hosts');
        assert.deepEqual(
          watched.errors.filter((error) => !REFUSAL.test(error) && !LOST.test(error)),
          [],
        );
      } finally {
        await watched.close();
      }
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

/** No violation of the rules of axe (of those that `rules` names alone), and nothing wider than the window. */
export async function assertAccessible(page: Page, about: string, rules?: string[]): Promise<void> {
  // No frame of another site is in it, and no second page has to be opened for the result.
  const axe = new AxeBuilder({ page }).setLegacyMode();
  const { violations } = await (rules === undefined ? axe : axe.withRules(rules)).analyze();
  const found = violations.map(
    ({ id, nodes }) =>
      `${id}: ${nodes.map(({ target, failureSummary }) => `${target} ${failureSummary}`).join('; ')}`,
  );
  assert.deepEqual(found, [], about);
  await assertFits(page, about);
}

/** Nothing is wider than the window. */
export async function assertFits(page: Page, about: string): Promise<void> {
  const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - window.innerWidth');
  assert.ok(overflow <= 0, `${about} is ${overflow} px wider than the window`);
}
