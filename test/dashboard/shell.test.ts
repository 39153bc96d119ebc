import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { linkToken, totp } from '../auth/fixture.ts';
import { type DashboardUser, startDashboard, type TestDashboard } from '../harness/dashboard.ts';
import { waitFor } from '../harness/wait-for.ts';
import { insertVideos } from './many-videos.ts';

let dashboard: TestDashboard;
before(async () => {
  dashboard = await startDashboard({ REGISTRATION: 'open' });
});
after(() => dashboard?.close());

const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { level: 1, name });

async function fillSignIn(page: Page, { email, password }: DashboardUser): Promise<void> {
  await page.getByLabel('Email').fill(email);
  await page.getByLabel(/^Password/).fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

async function openPanel(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Your account' }).click();
}

test('a user signs up, verifies their email, and signs out', async () => {
  const email = 'newcomer@example.com';
  await dashboard.visit('/dashboard/limits', {}, async (page, { errors }) => {
    await page.getByRole('link', { name: 'Sign up' }).click();
    await page.getByLabel('Name').fill('Nova');
    await page.getByLabel('Email').fill(email);
    await page.getByLabel(/^Password/).fill('short');
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByText('Too short. Use at least 12 characters.').waitFor();
    await page.getByLabel(/^Password/).fill('correct horse battery staple');
    await page.getByRole('button', { name: 'Create account' }).click();
    await heading(page, 'Check your email').waitFor();
    await page.getByRole('button', { name: "I've verified my email" }).click();
    await page.getByText('Your email address is not verified yet.').waitFor();

    const [mail] = await dashboard.mailsTo(email);
    const link = await page.context().newPage();
    await link.goto(`${dashboard.url}/verify-email?token=${linkToken(mail)}`);
    await link.getByRole('button').click();
    await link.waitForLoadState();
    await link.close();

    await page.getByRole('button', { name: "I've verified my email" }).click();
    await heading(page, 'Hello, Nova').waitFor();
    await openPanel(page);
    await page.getByText(`Signed in as ${email}`).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await heading(page, 'Sign in').waitFor();
    await page.goto(`${dashboard.url}/dashboard`);
    await heading(page, 'Sign in').waitFor();
    assert.deepEqual(
      errors.filter((error) => error.startsWith('uncaught')),
      [],
    );
  });
});

test('a wrong password shows an error in the form, and a sign-in leads to the requested page', async () => {
  const user = await dashboard.user();
  await dashboard.visit('/dashboard/limits?from=mail', {}, async (page) => {
    await fillSignIn(page, { ...user, password: 'wrong horse battery staple' });
    await page.getByRole('alert').getByText('Incorrect email or password.').waitFor();
    await fillSignIn(page, user);
    await heading(page, 'Usage').waitFor();
    assert.equal(await page.title(), 'Usage · Marquee');
    assert.equal(new URL(page.url()).search, '?from=mail');
  });
});

test('the second factor: a wrong code, the code of the app, a recovery code', async () => {
  const user = await dashboard.user();
  const session = await dashboard.signedIn(user);
  const made = await session.send('POST', '/me/two-factor', { body: { password: user.password } });
  const code = totp(made.assertOk(201).string('data.secret'), dashboard.app.container.clock.ms());
  const confirmed = await session.send('POST', '/me/two-factor/confirm', { body: { code } });
  const recoveryCodes = confirmed.assertOk(200).list('data.recoveryCodes').map(String);
  await dashboard.visit('/dashboard', {}, async (page) => {
    await fillSignIn(page, user);
    await page.getByLabel('Code').fill('000000');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByText('Incorrect or expired code.').waitFor();
    await page.getByRole('button', { name: 'Use a recovery code' }).click();
    await page.getByLabel('Recovery code').fill(String(recoveryCodes[0]));
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await heading(page, /^Hello/).waitFor();
  });
});

test('input typed in a form is preserved and sent when the session ends in between', async () => {
  const user = await dashboard.user();
  await dashboard.visit('/dashboard', { user }, async (page) => {
    const field = page.getByLabel('Your name');
    await field.fill('Grace');
    await dashboard.endSessions(user);
    await page.getByRole('button', { name: 'Save' }).click();
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.getByLabel(/^Password/).fill(user.password);
    assert.equal(await field.inputValue(), 'Grace');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    assert.equal(await field.inputValue(), 'Grace');
    await page.getByRole('button', { name: 'Save' }).click();
    await dialog.getByLabel(/^Password/).fill(user.password);
    await dialog.getByRole('button', { name: 'Sign in', exact: true }).click();
    await heading(page, 'Hello, Grace').waitFor();
  });
});

test('an action that requires the password asks once, then runs', async () => {
  const user = await dashboard.user();
  await dashboard.visit('/dashboard', { user }, async (page) => {
    let isRefused = false;
    // The real response needs a sign-in some minutes ago; only this rejection is simulated.
    await page.route('**/api/v1/me', (route) => {
      if (isRefused || route.request().method() !== 'PATCH') return route.continue();
      isRefused = true;
      const error = { code: 'PASSWORD_REQUIRED', message: 'Give the password again.' };
      return route.fulfill({ status: 403, json: { success: false, error } });
    });
    await page.getByLabel('Your name').fill('Joan');
    await page.getByRole('button', { name: 'Save' }).click();
    const dialog = page.getByRole('dialog', { name: 'Confirm your password' });
    await dialog.getByLabel(/^Password/).fill('wrong horse battery staple');
    await dialog.getByRole('button', { name: 'Confirm' }).click();
    await dialog.getByText('Incorrect password.').waitFor();
    await dialog.getByLabel(/^Password/).fill(user.password);
    await dialog.getByRole('button', { name: 'Confirm' }).click();
    await heading(page, 'Hello, Joan').waitFor();
  });
});

test('a tab does not act for a user who signed in in another tab', async () => {
  const [user, other] = [await dashboard.user(), await dashboard.user({ name: 'Olga' })];
  await dashboard.visit('/dashboard', { user }, async (page) => {
    await page.getByLabel('Your name').fill('Not Olga');
    const tab = await page.context().newPage();
    await tab.context().clearCookies();
    await tab.goto(`${dashboard.url}/dashboard/sign-in`);
    await fillSignIn(tab, other);
    await heading(tab, 'Hello, Olga').waitFor();
    await page.getByRole('button', { name: 'Save' }).click();
    await heading(page, 'Hello, Olga').waitFor();
  });
  const me = await (await dashboard.signedIn(other)).get('/me');
  assert.equal(me.assertOk(200).string('data.name'), 'Olga');
});

test('an unavailable API shows a banner, loses no input, and continues when it is back', async () => {
  const user = await dashboard.user();
  await dashboard.visit('/dashboard', { user }, async (page) => {
    const field = page.getByLabel('Your name');
    await field.fill('Hedy');
    await page.context().setOffline(true);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('status').getByText('Server not responding').waitFor();
    assert.equal(await field.inputValue(), 'Hedy');
    await page.context().setOffline(false);
    await page.getByRole('status').getByText('Server not responding').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Save' }).click();
    await heading(page, 'Hello, Hedy').waitFor();
  });
});

test('two tabs show live and test, and each keeps its own after a reload', async () => {
  const user = await dashboard.user({ name: 'Ada' });
  await dashboard.visit('/dashboard/limits', { user }, async (page) => {
    const modes: string[] = [];
    page.context().on('request', (request) => {
      if (request.url().endsWith('/api/v1/quota')) modes.push(request.headers()['x-workspace-mode'] ?? '');
    });
    const other = await page.context().newPage();
    await other.goto(`${dashboard.url}/dashboard/limits`);
    await other.getByText('Test', { exact: true }).click();
    await other.getByText('Test workspace').waitFor();
    await waitFor(() => modes.includes('test'), { message: () => `a call in test; there were ${modes}` });
    await other.reload();
    await other.getByText('Test workspace').waitFor();
    await page.reload();
    await page.getByText('Requests in this session, current minute').waitFor();
    assert.equal(modes.at(-1), 'live');
    assert.equal(await page.getByText('Test workspace').count(), 0);
  });
});

test('an error is shown as a toast with its code and the request ID to copy', async () => {
  const user = await dashboard.user({ name: 'Ada' });
  await dashboard.visit('/dashboard', { user }, async (page) => {
    await page.route('**/api/v1/auth/session', (route) => {
      const body = { success: false, error: { code: 'INTERNAL_ERROR', message: 'Something went wrong.' } };
      const headers = { 'X-SVC-Request-Id': '5b1c1d1e-0000-4000-8000-000000000000' };
      return route.request().method() === 'DELETE'
        ? route.fulfill({ status: 500, json: body, headers })
        : route.continue();
    });
    await openPanel(page);
    await page.getByRole('button', { name: 'Sign out' }).click();
    const toast = page.getByRole('alert').filter({ hasText: 'INTERNAL_ERROR' });
    await toast.getByText('Request ID: 5b1c1d1e-0000-4000-8000-000000000000').waitFor();
    await toast.getByRole('button', { name: 'Copy request ID' }).waitFor();
    await toast.getByRole('link', { name: 'View in request log' }).click();
    await page.waitForURL(
      `${dashboard.url}/dashboard/requests?requestId=5b1c1d1e-0000-4000-8000-000000000000`,
    );
  });
});

test('everything by the keyboard: sign-in, palette, skip link, focus on the heading', async () => {
  const user = await dashboard.user({ name: 'Ada' });
  await dashboard.visit('/dashboard/sign-in', {}, async (page) => {
    await heading(page, 'Sign in').waitFor();
    await page.keyboard.type(user.email);
    await page.keyboard.press('Tab');
    await page.keyboard.type(user.password);
    await page.keyboard.press('Enter');
    await heading(page, 'Hello, Ada').waitFor();
    await page.reload();
    await heading(page, 'Hello, Ada').waitFor();
    await page.keyboard.press('Tab');
    assert.equal(await focused(page), 'Skip to content');
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate('document.activeElement?.id'), 'main');
    await page.keyboard.press('Control+k');
    await page.getByPlaceholder('Search pages and commands').waitFor();
    await page.keyboard.type('usag');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await heading(page, 'Usage').waitFor();
    await waitFor(async () => (await focused(page)) === 'Usage', {
      message: 'the heading to have the focus',
    });
    await page.keyboard.press('Control+k');
    await page.getByPlaceholder('Search pages and commands').waitFor();
    await page.keyboard.type('new stream');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/dashboard/live?new=true');
  });
});

function focused(page: Page): Promise<string> {
  return page.evaluate<string>('document.activeElement?.textContent ?? ""');
}

test('the dashboard is shown in German, and stays so on the next visit', async () => {
  const user = await dashboard.user({ name: 'Ada' });
  await dashboard.visit('/dashboard', { user, locale: 'de-AT' }, async (page) => {
    await heading(page, 'Hallo, Ada').waitFor();
    assert.equal(await page.locator('html').getAttribute('lang'), 'de');
    await page.getByRole('button', { name: 'Dein Konto' }).click();
    await page.getByText('English', { exact: true }).click();
    await heading(page, 'Hello, Ada').waitFor();
    await page.reload();
    await heading(page, 'Hello, Ada').waitFor();
  });
});

test('the scheme that was chosen wins over that of the system', async () => {
  await dashboard.visit('/dashboard/sign-in', {}, async (page) => {
    await page.getByRole('button', { name: 'Settings' }).click();
    await page.getByText('Dark', { exact: true }).click();
    const scheme = () => page.locator('html').getAttribute('data-mantine-color-scheme');
    assert.equal(await scheme(), 'dark');
    await page.reload();
    await heading(page, 'Sign in').waitFor();
    assert.equal(await scheme(), 'dark');
  });
});

test('an unknown path shows a page, and "next" with another site is ignored', async () => {
  const user = await dashboard.user({ name: 'Ada' });
  await dashboard.visit('/dashboard/nothing/here', { user }, async (page) => {
    await heading(page, 'Page not found').waitFor();
    await page.getByRole('link', { name: 'Go to home' }).click();
    await heading(page, 'Hello, Ada').waitFor();
  });
  await dashboard.visit('/dashboard/sign-in?next=//evil.example/', {}, async (page) => {
    await fillSignIn(page, user);
    await heading(page, 'Hello, Ada').waitFor();
    assert.equal(new URL(page.url()).origin, dashboard.url);
  });
});

test('each rendition of a processing video shows its progress', async () => {
  const user = await dashboard.user();
  const id = await insertVideos(dashboard, user.id, 1);
  const { db } = dashboard.app.container;
  await db.updateTable('video').set({ status: 'PROCESSING' }).where('id', '=', id).execute();
  const rung = { video_id: id, revision: 0, kind: 'VIDEO', status: 'PROCESSING', frame_rate: 30 } as const;
  await db
    .insertInto('video_rendition')
    .values([
      { ...rung, name: '720p', width: 1280, height: 720, progress_percent: 41 },
      { ...rung, name: '240p', width: 426, height: 240, progress_percent: 97 },
    ])
    .execute();
  await dashboard.visit(`/dashboard/videos/${id}`, { user }, async (page) => {
    const percentOf = (name: string) => page.getByRole('progressbar', { name }).getAttribute('aria-valuenow');
    assert.deepEqual([await percentOf('720p'), await percentOf('240p')], ['41', '97']);
    await db
      .updateTable('video_rendition')
      .set({ progress_percent: 60 })
      .where('name', '=', '720p')
      .where('video_id', '=', id)
      .execute();
    await waitFor(async () => (await percentOf('720p')) === '60', { message: 'the new percent' });
  });
});
