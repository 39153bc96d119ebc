import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { totp } from '../auth/fixture.ts';
import { assertAccessible, startDashboard, type TestDashboard } from '../harness/dashboard.ts';
import { joinTeam } from '../harness/factories.ts';

const PHONE = { width: 390, height: 844 };

let dashboard: TestDashboard;
before(async () => {
  dashboard = await startDashboard();
});
after(() => dashboard?.close());

/** One pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

test('profile, avatar, embedding and notifications can be changed and are saved', async () => {
  const user = await dashboard.user();
  await dashboard.visit('/dashboard/account', { user }, async (page) => {
    const profile = page.getByRole('region', { name: 'Profile' });
    await profile.getByLabel('Username').fill('No Such Name');
    await profile.getByRole('button', { name: 'Save' }).click();
    await page.locator('[aria-invalid="true"]').waitFor();
    await profile.getByLabel('Username').fill('renamed-user');
    await profile.getByLabel('Name', { exact: true }).fill('Zoë 山田');
    await profile.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').first().waitFor();
    const file = { name: 'me.png', mimeType: 'image/png', buffer: PNG };
    await profile.locator('input[type=file]').setInputFiles(file);
    await profile.getByRole('img', { name: 'Your profile image' }).waitFor();

    const embedding = page.getByRole('region', { name: 'Embedding' });
    await embedding.getByLabel('Only listed websites').check();
    await embedding.getByRole('textbox', { name: 'Websites' }).fill('example.com\n*.example.org');
    await embedding.getByRole('button', { name: 'Save' }).click();
    const aboutFailing = page.getByRole('switch', { name: 'webhook.failing: Email' });
    await aboutFailing.uncheck({ force: true });
    await page.waitForLoadState('networkidle');
    await page.reload();
    await page
      .getByText('Zoë 山田')
      .or(profile.getByLabel('Name', { exact: true }))
      .first()
      .waitFor();
    assert.equal(await profile.getByLabel('Name', { exact: true }).inputValue(), 'Zoë 山田');
    assert.equal(
      await embedding.getByRole('textbox', { name: 'Websites' }).inputValue(),
      'example.com\n*.example.org',
    );
    assert.equal(await aboutFailing.isChecked(), false);
    await assertAccessible(page, 'the settings');
  });
});

test('unsaved changes require a confirmation before they are lost', async () => {
  const user = await dashboard.user();
  await dashboard.visit('/dashboard/account', { user }, async (page) => {
    const profile = page.getByRole('region', { name: 'Profile' });
    const name = profile.getByLabel('Name', { exact: true });
    await name.fill('Half typed');
    const dialog = page.getByRole('dialog', { name: 'Discard unsaved changes?' });
    await page.getByRole('link', { name: 'Usage' }).click();
    await dialog.getByRole('button', { name: 'Stay on page' }).click();
    await page.getByText('Test', { exact: true }).click();
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    const [guard] = await Promise.all([page.waitForEvent('dialog'), page.close({ runBeforeUnload: true })]);
    assert.equal(guard.type(), 'beforeunload');
    await guard.dismiss();
    assert.equal(await name.inputValue(), 'Half typed');

    await profile.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').first().waitFor();
    await page.getByRole('link', { name: 'Usage' }).click();
    await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor();
    await page.goBack();
    await name.fill('Given up');
    await page.getByRole('link', { name: 'Usage' }).click();
    await dialog.getByRole('button', { name: 'Leave' }).click();
    await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor();
  });
});

test('two-factor authentication is turned on and off, and another session is ended', async () => {
  const user = await dashboard.user();
  const elsewhere = await dashboard.signedIn(user);
  await dashboard.visit('/dashboard/account', { user, colorScheme: 'dark' }, async (page) => {
    await page.setViewportSize(PHONE);
    const sessions = page.getByRole('region', { name: 'Active sessions' });
    await sessions.getByRole('button', { name: 'End' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'End' }).click();
    await sessions.getByRole('button', { name: 'End' }).waitFor({ state: 'detached' });
    assert.equal((await elsewhere.send('GET', '/me')).status, 401);

    const signIn = page.getByRole('region', { name: 'Email and password' });
    await signIn.getByLabel('New email address').fill('moved@example.org');
    await signIn.getByLabel('Your password').fill('wrong horse battery staple');
    await signIn.getByRole('button', { name: 'Change email' }).click();
    await signIn.getByText('Incorrect password.').waitFor();
    await signIn.getByLabel('Your password').fill(user.password);
    await signIn.getByRole('button', { name: 'Change email' }).click();
    await signIn.getByText('We sent a link to moved@example.org.').waitFor();
    await signIn.getByLabel('Current password').fill(user.password);
    await signIn.getByLabel('New password').fill('short');
    await signIn.getByRole('button', { name: 'Change password' }).click();
    await signIn.getByText('This password is too weak.').waitFor();
    await signIn.getByLabel('New password').fill(user.password);
    await signIn.getByRole('button', { name: 'Change password' }).click();
    await signIn.getByText('Password changed.').waitFor();

    const second = page.getByRole('region', { name: 'Two-factor authentication' });
    await second.getByLabel('Your password').fill('wrong horse battery staple');
    await second.getByRole('button', { name: 'Turn on' }).click();
    await second.getByText('Incorrect password.').waitFor();
    await second.getByLabel('Your password').fill(user.password);
    await second.getByRole('button', { name: 'Turn on' }).click();
    await second.getByRole('img', { name: 'QR code for an authenticator app' }).waitFor();
    await assertAccessible(page, 'the enrolment');
    const secret = await second.getByRole('textbox', { name: 'Secret' }).inputValue();
    await second.getByLabel('Authentication code').fill(totp(secret, dashboard.app.container.clock.ms()));
    await second.getByRole('button', { name: 'Confirm' }).click();
    const codes = await second.getByRole('textbox', { name: 'Recovery codes' }).inputValue();
    const [first = ''] = codes.split(' ');
    await second.getByLabel("I've saved it").check();
    await second.getByRole('button', { name: 'Done' }).click();
    await second.getByText('Two-factor authentication is on.').waitFor();
    await second.getByLabel('Your password').fill(user.password);
    await second.getByLabel('Authentication code or recovery code').fill(first);
    await second.getByRole('button', { name: 'Turn off' }).click();
    await second.getByRole('button', { name: 'Turn on' }).waitFor();
  });
});

test('a channel description is saved, and a subscriber is added and removed', async () => {
  const user = await dashboard.user();
  await dashboard.visit('/dashboard/channel', { user }, async (page) => {
    await page.getByLabel('Channel name').fill('Ada 🎬');
    await page.getByRole('button', { name: 'Add a link' }).click();
    await page.getByLabel('Text of link 1').fill('Site');
    await page.getByLabel('Address of link 1').fill('nowhere');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.locator('[aria-invalid="true"]').waitFor();
    await page.getByLabel('Address of link 1').fill('https://example.com/');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Channel saved.').first().waitFor();
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: PNG });
    await page.getByRole('img', { name: 'Your banner' }).waitFor();
    const address = await page.getByRole('textbox', { name: 'Your public page' }).inputValue();
    await assertAccessible(page, 'the channel');

    await page.goto(address);
    await page.getByRole('heading', { level: 1, name: 'Ada 🎬' }).waitFor();
    await page.getByText('0 followers').waitFor();
    await assertAccessible(page, 'the public page of the channel');
  });
  await dashboard.visit('/dashboard/audience', { user }, async (page) => {
    await page.getByText('0 followers').waitFor();
    await page.getByRole('textbox', { name: 'Email' }).fill('grace@example.com');
    await page.getByRole('button', { name: 'Add to list' }).click();
    const row = page.getByRole('row', { name: /grace@example.com/ });
    await row.getByText('Unconfirmed').waitFor();
    await page.getByLabel('Search email or name').fill('nobody');
    await page.getByText('No subscribers match these filters.').waitFor();
    await page.getByLabel('Search email or name').fill('grace');
    await assertAccessible(page, 'the audience');
    await row.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByText('No subscribers match these filters.').waitFor();
  });
});

test('changes that a team role may not make are not offered', async () => {
  const [owner, member] = [await dashboard.user({ name: 'Ada Lovelace' }), await dashboard.user()];
  const team = { accountId: owner.id, userId: member.id, teamRole: 'EDITOR' } as const;
  const id = await joinTeam(dashboard.app.container.db, team);
  const note = /You have read-only access to this page/;
  await dashboard.visit('/dashboard/live', { user: member }, async (page) => {
    const offers = async (path: string, button: string) => {
      await page.goto(`${dashboard.url}/dashboard${path}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.locator('.mantine-Skeleton-root').first().waitFor({ state: 'detached' });
      const found = page.getByRole('main').getByText(button, { exact: true }).first();
      await page.getByText(note).or(found).first().waitFor();
      assert.notEqual(await found.isVisible(), await page.getByText(note).isVisible(), path);
      return found.isVisible();
    };
    const [live, channel] = [['/live', 'New stream'] as const, ['/channel', 'Save'] as const];
    assert.equal(await offers(...channel), true, 'their own account');
    await page.getByLabel('Account', { exact: true }).selectOption({ label: 'Ada Lovelace (Editor)' });
    await page.waitForURL('**/dashboard');
    assert.deepEqual([await offers(...live), await offers(...channel)], [true, false], 'as an editor');
    const { db } = dashboard.app.container;
    await db.updateTable('team_member').set({ team_role: 'ANALYST' }).where('id', '=', id).execute();
    dashboard.app.container.apiKeys.forget();
    assert.deepEqual([await offers(...live), await offers(...channel)], [false, false], 'as an analyst');
    await assertAccessible(page, 'a page that an analyst looks at');
  });
});
