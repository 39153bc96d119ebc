import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type CDPSession,
  type Cookie,
  chromium,
  type Page,
} from 'playwright-core';
import { filesInProcess } from '../../scripts/test-process.ts';

/** The first one has no desktop windows, which need half of the other's resources. */
const NAMES = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
];
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  '--autoplay-policy=no-user-gesture-required',
];
/** Browser arguments for a camera and a microphone that play a pattern and beeps, with permission granted. */
export const FAKE_DEVICES = [
  '--use-fake-ui-for-media-stream',
  '--use-fake-device-for-media-stream=fps=15',
  '--disable-features=WebRtcHideLocalIpsWithMdns',
];
const CLOSE_MS = 5000;
/** Time for which Chromium waits for the next test file of its process. */
const LINGER_MS = 2000;
/** Default viewport of pages. */
const VIEWPORT = { width: 1280, height: 720 };

/** Page with its errors and the requests to other hosts. */
export interface WatchedPage {
  page: Page;
  /** Uncaught errors, console errors, and Content Security Policy violations. */
  errors: string[];
  /** Requests to another host than that of the first page. */
  strangers: string[];
  close(): Promise<void>;
}

export interface TestBrowser {
  /**
   * A page with no cookies, no storage and no routes of others. It is a tab that was in use before where there is
   * one of these options: a new one takes a second of processor time to load the same scripts.
   */
  open(url: string, options?: OpenOptions): Promise<WatchedPage>;
  /** Closes the open pages, and ends Chromium unless another test file of the process uses it. */
  close(): Promise<void>;
}

/** Chromium that test files of this process share. */
interface SharedChromium {
  started: Promise<Chromium>;
  userCount: number;
  timer?: NodeJS.Timeout;
}

/** By the arguments of its command line. */
const running = new Map<string, SharedChromium>();

export interface OpenOptions extends Omit<BrowserContextOptions, 'storageState'> {
  cookies?: Cookie[];
  /** A script that runs in every frame before those of the page. */
  initScript?: string;
  /** The tab is not reused: for tests that set its clock, which cannot be reset. */
  isLast?: boolean;
}

/**
 * Starts the system's Chromium without a window, or shares the one that a test file of this process has started
 * with the same arguments.
 *
 * @param more arguments, as {@link FAKE_DEVICES}.
 * @param program what to start. Default: the one on the PATH.
 * @throws {Error} when there is none on the PATH.
 */
export async function launchBrowser(
  more: readonly string[] = [],
  program = findChromium,
): Promise<TestBrowser> {
  const command = [program(), ...ARGUMENTS, ...more];
  const key = command.join(' ');
  const shared = running.get(key) ?? { started: startChromium(command), userCount: 0 };
  running.set(key, shared);
  shared.userCount += 1;
  clearTimeout(shared.timer);
  const { browser, free, end } = await shared.started;
  const used = new Set<Tab>();
  return {
    open: async (url, { initScript, cookies = [], extraHTTPHeaders = {}, isLast, ...options } = {}) => {
      const kind = JSON.stringify(options);
      const known = free.findIndex((tab) => tab.kind === kind);
      const [tab = await newTab(browser, kind, options)] = known < 0 ? [] : free.splice(known, 1);
      used.add(tab);
      const { context, page } = tab;
      await context.addCookies(cookies);
      await context.setExtraHTTPHeaders(extraHTTPHeaders);
      const script = initScript === undefined ? null : await page.addInitScript(initScript);
      const watched = watch(page, url);
      await page.goto(url);
      const close = async () => {
        used.delete(tab);
        await script?.dispose();
        if (isLast === true || page.isClosed()) return context.close();
        await emptyTab(tab, options);
        free.push(tab);
      };
      return { ...watched, page, close };
    },
    close: async () => {
      shared.userCount -= 1;
      const endUnused = async () => {
        if (shared.userCount > 0) return;
        running.delete(key);
        await end();
      };
      if (filesInProcess() < 2) return endUnused();
      for (const { context } of used) await context.close();
      shared.timer = setTimeout(endUnused, LINGER_MS);
    },
  };
}

interface Chromium {
  browser: Browser;
  /** Tabs that no test uses. */
  free: Tab[];
  /** Ends it, by SIGKILL if necessary. */
  end(): Promise<void>;
}

async function startChromium([executablePath = '', ...args]: string[]): Promise<Chromium> {
  const server = await chromium.launchServer({
    executablePath,
    headless: true,
    args,
    // The tests end it themselves; a signal to the test must not wait for it.
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
  });
  const browser = await chromium.connect(server.wsEndpoint());
  return {
    browser,
    free: [],
    async end() {
      const closed = browser.close().then(() => server.close());
      const late = sleep(CLOSE_MS, 'late', { ref: false });
      if ((await Promise.race([closed, late])) === 'late') await server.kill();
    },
  };
}

interface Tab {
  /** The options of its context. */
  kind: string;
  context: BrowserContext;
  page: Page;
  session: CDPSession;
}

async function newTab(browser: Browser, kind: string, options: BrowserContextOptions): Promise<Tab> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  return { kind, context, page, session: await context.newCDPSession(page) };
}

/** Clears everything that the previous test left in the tab, including its listeners. */
async function emptyTab({ context, page, session }: Tab, options: BrowserContextOptions): Promise<void> {
  for (const other of context.pages()) if (other !== page) await other.close();
  for (const watched of [context, page]) watched.removeAllListeners();
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  const origins = new Set(page.frames().map((frame) => new URL(frame.url()).origin));
  // A beacon sent on unload would reach the next test.
  await context.setOffline(true);
  await page.evaluate('sessionStorage.clear()').catch(() => {});
  await page.goto('about:blank');
  await context.setOffline(false);
  await context.clearCookies();
  for (const origin of origins) {
    await session.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' }).catch(() => {});
  }
  await page.setViewportSize(options.viewport ?? VIEWPORT);
  await page.emulateMedia({
    colorScheme: options.colorScheme ?? 'light',
    reducedMotion: options.reducedMotion ?? 'no-preference',
  });
}

function watch(page: Page, url: string): { errors: string[]; strangers: string[] } {
  const errors: string[] = [];
  const strangers: string[] = [];
  const { host } = new URL(url);
  page.on('pageerror', (error) => errors.push(`uncaught: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(`${message.text()} (${message.location().url})`);
  });
  page.on('request', (request) => {
    const address = new URL(request.url());
    const isLocal = address.protocol === 'blob:' || address.protocol === 'data:';
    if (!isLocal && address.host !== host) strangers.push(request.url());
  });
  return { errors, strangers };
}

export function findChromium(): string {
  const folders = (process.env.PATH ?? '').split(delimiter);
  for (const path of NAMES.flatMap((name) => folders.map((folder) => join(folder, name)))) {
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // Not here.
    }
  }
  throw new Error(`no Chromium on the PATH; looked for ${NAMES.join(', ')}`);
}
