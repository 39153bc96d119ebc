import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type BrowserContextOptions, chromium, type Page } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  '--autoplay-policy=no-user-gesture-required',
];
/** A camera and a microphone that play a pattern and beeps, and are given without a question. */
export const FAKE_DEVICES = [
  '--use-fake-ui-for-media-stream',
  '--use-fake-device-for-media-stream=fps=15',
  '--disable-features=WebRtcHideLocalIpsWithMdns',
];
const CLOSE_MS = 5000;

/** A page and what went wrong in it or left it. */
export interface WatchedPage {
  page: Page;
  /** Uncaught errors, console errors, and Content Security Policy violations. */
  errors: string[];
  /** Requests to another host than the first page's. */
  strangers: string[];
  close(): Promise<void>;
}

export interface TestBrowser {
  /** A page in a context of its own: no cookies, no storage of others. */
  open(url: string, options?: OpenOptions): Promise<WatchedPage>;
  /** Ends Chromium, the hard way when it does not want to. */
  close(): Promise<void>;
}

export interface OpenOptions extends BrowserContextOptions {
  /** A script that runs in every frame before those of the page. */
  initScript?: string;
}

/**
 * Starts the system's Chromium without a window.
 *
 * @param more arguments, as {@link FAKE_DEVICES}.
 * @throws {Error} when there is none on the PATH.
 */
export async function launchBrowser(more: readonly string[] = []): Promise<TestBrowser> {
  const server = await chromium.launchServer({
    executablePath: findChromium(),
    headless: true,
    args: [...ARGUMENTS, ...more],
    // The tests end it themselves; a signal to the test must not wait for it.
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
  });
  const browser = await chromium.connect(server.wsEndpoint());
  return {
    open: async (url, { initScript, ...contextOptions } = {}) => {
      const context = await browser.newContext(contextOptions);
      if (initScript !== undefined) await context.addInitScript(initScript);
      const page = await context.newPage();
      const watched = watch(page, url);
      await page.goto(url);
      return { ...watched, page, close: () => context.close() };
    },
    close: async () => {
      const closed = browser.close().then(() => server.close());
      const late = sleep(CLOSE_MS, 'late', { ref: false });
      if ((await Promise.race([closed, late])) === 'late') await server.kill();
    },
  };
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

function findChromium(): string {
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
