import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { linkToken } from '../auth/fixture.ts';
import { assertAccessible, startDashboard, type TestDashboard } from '../harness/dashboard.ts';
import { runTask } from '../harness/modules.ts';
import { waitFor } from '../harness/wait-for.ts';

const PHONE = { width: 390, height: 844 };

let dashboard: TestDashboard;
before(async () => {
  dashboard = await startDashboard({ REGISTRATION: 'open' });
});
after(() => dashboard?.close());

const PASSWORD = 'correct horse battery staple';

async function callMe(key: string): Promise<number> {
  const { status } = await fetch(`${dashboard.url}/api/v1/me`, {
    headers: { authorization: `Bearer ${key}` },
  });
  return status;
}

/** Stores the key that the page shows once, and continues. */
async function storeKey(page: Page): Promise<string> {
  const key = await page.getByLabel(/^The key “/).inputValue();
  await page.getByLabel("I've saved it").check();
  await page.getByRole('button', { name: 'Done' }).click();
  return key;
}

test('a new user signs up, verifies their email, creates a key and calls the API', async () => {
  const email = 'first-call@example.com';
  await dashboard.visit('/dashboard/sign-up', {}, async (page) => {
    await page.getByLabel('Email').fill(email);
    await page.getByLabel(/^Password/).fill(PASSWORD);
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByRole('heading', { level: 1, name: 'Check your email' }).waitFor();
    const [mail] = await dashboard.mailsTo(email);
    await page.goto(`${dashboard.url}/verify-email?token=${linkToken(mail)}`);
    await page.getByRole('button').click();
    await page.getByRole('link', { name: /key/i }).click();

    await page.getByRole('heading', { level: 1, name: 'Welcome' }).waitFor();
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByText('Enter a name.').waitFor();
    await page.getByLabel('Name').fill('Website');
    await page.getByLabel('Selected permissions only').check();
    await page.getByLabel('Streams').selectOption('write');
    await page.getByLabel('Videos').selectOption('read');
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByText('Waiting for the first call with this key…').waitFor();
    const shown = await page.getByLabel(/^The key “Website”/).inputValue();
    assert.match(shown, /^pk_[0-9a-f]{40}$/);
    assert.ok((await page.locator('pre').textContent())?.includes(shown), 'the line can be pasted as it is');
    assert.equal(await callMe(shown), 200);
    await page.getByText('First call received.').waitFor();
    await storeKey(page);
    assert.ok(!(await page.locator('body').textContent())?.includes(shown), 'it is shown once');
    await page.getByRole('link', { name: 'All your keys' }).click();
    const card = page.getByRole('article', { name: 'Website' });
    await card.getByText('Standard: videos:read, streams:write').waitFor();
    await assertAccessible(page, 'the list of keys');
  });
});

test('a key is rotated and revoked, and each workspace shows its own keys', async () => {
  const user = await dashboard.user();
  const session = await dashboard.signedIn(user);
  const body = { name: 'Backend مفتاح 钥匙' };
  const made = (await session.send('POST', '/me/api-keys', { body })).assertOk(201);
  const id = made.string('data.id');
  await dashboard.visit('/dashboard/keys', { user, colorScheme: 'dark' }, async (page) => {
    await page.setViewportSize(PHONE);
    const card = page.getByRole('article', { name: 'Backend مفتاح 钥匙' });
    await card.getByRole('button', { name: 'Rotate' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Keep the old secret valid for').selectOption('0');
    await dialog.getByRole('button', { name: 'Rotate' }).click();
    const fresh = await storeKey(page);
    assert.equal(await callMe(made.string('data.key')), 401);
    assert.equal(await callMe(fresh), 200);

    await card.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await card.getByText('Revoked', { exact: true }).waitFor();
    assert.equal(await callMe(fresh), 401);
    await assertAccessible(page, 'a revoked key');

    await waitFor(
      async () => {
        await runTask(dashboard.app.container, 'analytics rollups');
        return (await session.get('/usage/requests')).list('data').some((row) => Object(row).keyId === id);
      },
      { message: 'the call to be added up' },
    );
    await page.goto(`${dashboard.url}/dashboard/limits`);
    const called = page.getByRole('row', { name: body.name }).getByRole('cell');
    await called.first().waitFor();
    assert.deepEqual((await called.allTextContents()).slice(1), [body.name, '1', '0', '0', '0']);
    await page.getByLabel('Metric').selectOption('apiRequests');
    await page.getByText(/^Requests\. Last 28 days, daily\. Total: \d+\.$/).waitFor();
    await assertAccessible(page, 'what was used');
    await page.goto(`${dashboard.url}/dashboard/keys`);

    await page.getByText('Test', { exact: true }).click();
    await page.getByRole('heading', { name: 'No test keys yet' }).waitFor();
    await assertAccessible(page, 'no key');
  });
});

test('an invited person creates an account, works in the other one, and is removed', async () => {
  const owner = await dashboard.user({ name: 'Ada' });
  const email = 'grace@example.com';
  const article = (page: Page, name: string) => page.getByRole('article', { name });
  await dashboard.visit('/dashboard/team', { user: owner }, async (page) => {
    await page.getByRole('button', { name: 'Invite' }).click();
    await page.getByText('Enter an address.').waitFor();
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Role', { exact: true }).selectOption('ANALYST');
    await page.getByRole('button', { name: 'Invite' }).click();
    await article(page, email).getByText('Analyst').waitFor();
    await assertAccessible(page, 'the team');
  });
  const [mail = ''] = await dashboard.mailsTo(email);
  const link = /https?:\/\/\S+\/dashboard(\/invitations\/[\w-]{43})/.exec(mail)?.[1] ?? '';
  await dashboard.visit(`/dashboard${link}`, {}, async (page) => {
    await page.getByText(`Ada invited ${email}`).waitFor();
    await assertAccessible(page, 'an invitation');
    await page.getByRole('link', { name: 'Create an account' }).click();
    assert.equal(await page.getByLabel('Email').inputValue(), email);
    await page.getByLabel(/^Password/).fill(PASSWORD);
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByRole('button', { name: 'Accept' }).click();
    const choice = page.getByLabel('Account', { exact: true });
    await choice.waitFor();
    assert.equal(await choice.inputValue(), owner.id);
    assert.equal(await page.getByRole('link', { name: 'Monetization' }).count(), 0);

    // Each tab acts for its own account.
    const other = await page.context().newPage();
    await other.goto(`${dashboard.url}/dashboard/team`);
    await other.getByText('No pending invitations.').waitFor();
    assert.equal(await article(other, 'Ada').count(), 0);
    await other.close();
    await page.goto(`${dashboard.url}/dashboard/team`);
    await article(page, 'Ada').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Invite' }).count(), 0);

    await dashboard.visit('/dashboard/team', { user: owner }, async (owners) => {
      const card = article(owners, email);
      await card.getByLabel(`Role of ${email}`).selectOption('EDITOR');
      await card.getByRole('button', { name: 'Remove' }).click();
      await owners.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
      await card.waitFor({ state: 'detached' });
    });
    await page.getByRole('link', { name: 'Usage' }).click();
    await page.getByRole('heading', { level: 1, name: /Hello|Welcome/ }).waitFor();
    assert.equal(await page.getByLabel('Account', { exact: true }).count(), 0);
  });
});
