import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import type { Page, Response } from 'playwright-core';
import { systemClock } from '../../src/kernel/clock.ts';
import { newId } from '../../src/kernel/ids.ts';
import { startDashboard, type TestDashboard } from '../harness/dashboard.ts';
import { freePort } from '../harness/platform.ts';

const DAY_MS = 86_400_000;

let dashboard: TestDashboard;
before(async () => {
  dashboard = await startDashboard();
});
after(() => dashboard?.close());

test('relative times are correct on a device whose clock is two days off', async () => {
  const user = await dashboard.user();
  await dashboard.app.container.db
    .insertInto('notification')
    .values({
      id: newId('ntf'),
      account_id: user.id,
      type: 'webhook.failing',
      title: 'Webhook keeps failing',
      severity: 'CRITICAL',
      created_at: systemClock.now(),
    })
    .execute();
  await dashboard.visit('/dashboard/notifications', { user, isLast: true }, async (page) => {
    for (const off of [-2 * DAY_MS, 2 * DAY_MS]) {
      await page.clock.setSystemTime(Date.now() + off);
      await page.reload();
      const told = await page.locator('time').first().textContent();
      assert.match(told ?? '', /second|minute|now/);
    }
    // The session is not a matter of the device's clock either.
    await page.goto(`${dashboard.url}/dashboard/limits`);
    await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor();
  });
});

/**
 * Forges a request by `fetch` without a preflight: any page may send it, with the cookie if the browser
 * allows it.
 */
async function forgeByFetch(page: Page, url: string, body: object): Promise<void> {
  const options = {
    method: 'POST',
    mode: 'no-cors',
    credentials: 'include',
    headers: { 'Content-Type': 'text/plain' },
    body: JSON.stringify(body),
  };
  await page.evaluate(`fetch(${JSON.stringify(url)}, ${JSON.stringify(options)}).then(() => {})`);
}

/** Forges a request by a plain-text form, which sends `name=value`, from which an attacker can build JSON. */
async function forgeByForm(page: Page, url: string, body: object): Promise<void> {
  const name = `${JSON.stringify(body).slice(0, -1)},"x":"`;
  await Promise.all([
    page.waitForResponse((response) => response.url() === url),
    page.evaluate(`{
      const form = Object.assign(document.createElement('form'), {
        action: ${JSON.stringify(url)}, method: 'POST', enctype: 'text/plain', target: 'forged',
      });
      const input = Object.assign(document.createElement('input'), { name: ${JSON.stringify(name)}, value: '"}' });
      form.append(input);
      document.body.append(form);
      form.submit();
    }`),
  ]);
}

test('a page of another origin can change nothing, neither by a script nor by a form', async () => {
  const [victim, attacker] = [await dashboard.user({ name: 'Ada' }), await dashboard.user()];
  const forgeries = {
    '/streams': { title: 'Forged' },
    '/me/api-keys': { name: 'Forged', scope: 'FULL_ACCESS' },
    '/auth/session': { email: attacker.email, password: attacker.password },
  };
  const port = await freePort();
  const site = createServer((_request, answer) => {
    answer.setHeader('Content-Type', 'text/html').end('<iframe name="forged"></iframe>');
  }).listen(port, '127.0.0.1');
  await once(site, 'listening');
  try {
    await dashboard.visit('/dashboard', { user: victim }, async (page) => {
      // One host is the same site, so that the cookie is sent; the other is not.
      for (const host of ['localhost', '127.0.0.1']) {
        const evil = await page.context().newPage();
        const answers: Response[] = [];
        evil.on('response', (response) => {
          if (response.request().method() === 'POST') answers.push(response);
        });
        await evil.goto(`http://${host}:${port}/`);
        for (const [path, body] of Object.entries(forgeries)) {
          const url = `${dashboard.url}/api/v1${path}`;
          await forgeByFetch(evil, url, body);
          await forgeByForm(evil, url, body);
        }
        assert.equal(answers.length, 6);
        for (const answer of answers) {
          assert.ok([401, 403, 415].includes(answer.status()), `${answer.url()}: ${answer.status()}`);
          if (!answer.request().isNavigationRequest()) continue;
          const { cookie } = await answer.request().allHeaders();
          assert.equal(cookie?.startsWith('session='), host === 'localhost' ? true : undefined, host);
        }
        const read = `fetch('${dashboard.url}/api/v1/me', { credentials: 'include' }).then(() => 'read', () => 'kept')`;
        assert.equal(await evil.evaluate(read), 'kept');
        await evil.close();
      }
      await page.reload();
      await page.getByRole('heading', { name: 'Hello, Ada' }).waitFor();
    });
    const session = await dashboard.signedIn(victim);
    for (const path of ['/streams', '/me/api-keys']) {
      assert.deepEqual((await session.get(path)).assertOk(200).list('data'), []);
    }
  } finally {
    site.close();
    site.closeAllConnections();
  }
});

/** Inserts only rows, newest first by the second. */
async function insertVideos(workspaceId: string, count: number): Promise<void> {
  const { db } = dashboard.app.container;
  const now = systemClock.ms();
  for (let first = 0; first < count; first += 1000) {
    const rows = Array.from({ length: 1000 }, (_, at) => ({
      id: newId('vid'),
      workspace_id: workspaceId,
      title: `Video ${first + at + 1}`,
      status: 'UPLOADING' as const,
      visibility: 'PRIVATE' as const,
      source: 'UPLOAD' as const,
      created_at: new Date(now - (first + at) * 1000),
    }));
    await db.insertInto('video').values(rows).execute();
  }
  await sql`analyze video`.execute(db);
}

test('10,000 videos: every page of the list loads, each video appears once, the last page as fast as the first', async () => {
  const user = await dashboard.user();
  const session = await dashboard.signedIn(user);
  const workspace = await dashboard.app.container.db
    .selectFrom('workspace')
    .select('id')
    .where('account_id', '=', user.id)
    .where('mode', '=', 'live')
    .executeTakeFirstOrThrow();
  await insertVideos(workspace.id, 10_000);
  const titles = new Set<string>();
  const tookMs: number[] = [];
  let cursor = '';
  do {
    const since = performance.now();
    const page = (await session.get(`/videos?limit=100${cursor}`)).assertOk(200);
    tookMs.push(performance.now() - since);
    for (const video of page.list('data').map(Object)) titles.add(video.title);
    const next = page.at('pagination.nextCursor');
    cursor = typeof next === 'string' ? `&cursor=${next}` : '';
  } while (cursor !== '');
  assert.equal(tookMs.length, 100);
  assert.equal(titles.size, 10_000);
  const middle = (times: number[]) => times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
  const [early, late] = [middle(tookMs.slice(0, 20)), middle(tookMs.slice(-20))];
  assert.ok(late < 5 * early + 200, `${early} ms at the start, ${late} ms at the end`);
});
