import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { systemClock } from '../../src/kernel/clock.ts';
import { newId } from '../../src/kernel/ids.ts';
import { linkToken, PASSWORD } from '../auth/fixture.ts';
import {
  assertAccessible,
  type DashboardUser,
  startDashboard,
  type TestDashboard,
} from '../harness/dashboard.ts';

const PHONE = { width: 390, height: 844 };
/** 200 characters, from the right to the left, without a space. */
const LONG = 'ש'.repeat(200);

let dashboard: TestDashboard;
before(async () => {
  dashboard = await startDashboard();
});
after(() => dashboard?.close());

interface NotificationContent {
  title: string;
  severity?: 'INFO' | 'WARNING' | 'CRITICAL';
  resource?: { type: string; id: string };
  /** Path below the platform's URL. */
  page?: string;
}

/** Inserts a notification as its event would. */
async function tell(
  user: DashboardUser,
  { title, severity = 'INFO', resource, page }: NotificationContent,
): Promise<void> {
  await dashboard.app.container.db
    .insertInto('notification')
    .values({
      id: newId('ntf'),
      account_id: user.id,
      type: severity === 'CRITICAL' ? 'webhook.failing' : 'api_key.expiring',
      title,
      body: `About ${title}`,
      severity,
      resource_type: resource?.type ?? null,
      resource_id: resource?.id ?? null,
      action_url: page === undefined ? null : `http://platform.example${page}`,
      read_at: null,
      created_at: systemClock.now(),
    })
    .execute();
}

test('the bell counts, the inbox is filtered, read, followed and emptied', async () => {
  const user = await dashboard.user();
  await dashboard.visit('/dashboard/notifications', { user }, async (page) => {
    await page.getByRole('heading', { name: 'No notifications yet' }).waitFor();
    await tell(user, { title: LONG });
    await tell(user, { title: 'A domain failed', severity: 'WARNING' });
    await tell(user, {
      title: 'Webhook keeps failing (test mode)',
      severity: 'CRITICAL',
      resource: { type: 'WEBHOOK', id: 'wh_01kafe3n4pfx2v9yq6m8d7t5zr' },
      page: '/dashboard/webhooks/wh_01kafe3n4pfx2v9yq6m8d7t5zr?mode=test',
    });
    // Simulates returning to the tab.
    await page.evaluate('document.dispatchEvent(new Event("visibilitychange", { bubbles: true }))');
    await page.getByRole('status').getByText('3 unread notifications').waitFor();
    await page.reload();
    await page.getByRole('link', { name: 'Notifications, 3 unread' }).waitFor();
    const card = (name: string) => page.getByRole('article', { name });
    await card('Webhook keeps failing (test mode)').getByText('Critical').waitFor();
    await page.setViewportSize(PHONE);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.locator(`html[data-mantine-color-scheme=${colorScheme}]`).waitFor({ state: 'attached' });
      await assertAccessible(page, `the inbox, ${colorScheme}`);
    }

    await page.getByText('Unread', { exact: true }).first().click();
    await page.waitForURL(/unread=true/);
    await card('A domain failed').getByRole('button', { name: 'Mark as read' }).click();
    await card('A domain failed').waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Notifications, 2 unread' }).waitFor();
    await page.getByLabel('Type', { exact: true }).selectOption('webhook.failing');
    await card(LONG).waitFor({ state: 'detached' });
    await card('Webhook keeps failing (test mode)').getByRole('link', { name: 'View webhook' }).click();
    await page.waitForURL(/\/webhooks\/wh_01kafe3n4pfx2v9yq6m8d7t5zr$/);
    await page.locator('[data-mode=test]').waitFor();
    await page.getByRole('link', { name: 'Notifications, 1 unread' }).click();
    await page.getByRole('button', { name: 'Mark all as read' }).click();
    await page.getByRole('link', { name: 'Notifications', exact: true }).first().waitFor();
    await page.getByRole('link', { name: /unread/ }).waitFor({ state: 'detached' });

    await card('A domain failed').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByText('This cannot be undone').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await card('A domain failed').waitFor({ state: 'detached' });
    await card(LONG).waitFor();
  });
});

test('the bell shows the right count when its first read misses a change', async () => {
  const user = await dashboard.user();
  await tell(user, {
    title: 'Webhook keeps failing',
    severity: 'CRITICAL',
    resource: { type: 'WEBHOOK', id: 'wh_01kafe3n4pfx2v9yq6m8d7t5zr' },
    page: '/dashboard/webhooks/wh_01kafe3n4pfx2v9yq6m8d7t5zr?mode=test',
  });
  await dashboard.visit('/dashboard/notifications', { user }, async (page) => {
    await page.getByRole('link', { name: 'Notifications, 1 unread' }).waitFor();
    const counted = Promise.withResolvers<void>();
    const read = page.waitForResponse(/\/read$/);
    let isRead = false;
    // Switching to test mode reads the count again, before the change; the response arrives after it.
    await page.route('**/notifications/unread-count', async (route) => {
      if (isRead) return route.continue();
      const response = await route.fetch();
      counted.resolve();
      await read;
      isRead = true;
      await route.fulfill({ response });
    });
    await page.route('**/read', async (route) => {
      await counted.promise;
      await route.continue();
    });
    await page.getByRole('link', { name: 'View webhook' }).click();
    await page.locator('[data-mode=test]').waitFor();
    await read;
    await page.waitForLoadState('networkidle');
    assert.equal(await page.getByRole('link', { name: /unread/ }).count(), 0);
  });
});

test('an administrator reads the development mailbox, and follows its links', async () => {
  const { id } = await dashboard.app.container.accounts.create({
    email: 'admin@example.com',
    password: PASSWORD,
    role: 'ADMIN',
    verified: true,
  });
  const admin = { id, email: 'admin@example.com', password: PASSWORD };
  const newcomer = await dashboard.user({ isVerified: false });
  const session = await dashboard.signedIn(newcomer);
  (await session.send('POST', '/auth/session/verification')).assertOk(200);
  const [mail] = await dashboard.mailsTo(newcomer.email);
  const token = linkToken(mail);
  await dashboard.visit('/dashboard', { user: admin }, async (page) => {
    await page.getByRole('link', { name: 'Mailbox' }).click();
    await page.getByText(newcomer.email).waitFor();
    await assertAccessible(page, 'the mailbox');
    await page.getByRole('link', { name: /Verify your email/ }).click();
    await page.getByRole('textbox', { name: 'Link' }).waitFor();
    await page.setViewportSize(PHONE);
    await assertAccessible(page, 'a mail');
    assert.equal(
      await page.getByRole('textbox', { name: 'Link' }).inputValue(),
      `${dashboard.url}/verify-email?token=${token}`,
    );
    await page.getByRole('link', { name: /verify-email/ }).click();
    await page.getByRole('button').click();
    await page.waitForLoadState();
  });
  assert.equal((await session.get('/auth/session')).assertOk(200).at('data.user.emailVerified'), true);
});

test('the mailbox is offered only to administrators, and only without a mail server', async () => {
  const user = await dashboard.user();
  await dashboard.visit('/dashboard', { user }, async (page) => {
    const calls: string[] = [];
    page.on('request', (request) => calls.push(new URL(request.url()).pathname));
    await page.reload();
    await page.getByRole('link', { name: 'Notifications' }).first().waitFor();
    await page.waitForLoadState('networkidle');
    assert.equal(await page.getByRole('link', { name: 'Mailbox' }).count(), 0);
    assert.ok(!calls.some((path) => path.includes('/admin/')), calls.join());
    await page.goto(`${dashboard.url}/dashboard/mailbox`);
    await page.getByText('ADMIN_ONLY').waitFor();
  });
});
