import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { addSums } from '../harness/analytics.ts';
import { assertAccessible, startDashboard, type TestDashboard } from '../harness/dashboard.ts';

const NAME = `${'اجتماع التخطيط '.repeat(4)}${'排练'.repeat(8)} 🎷`;
const SLOW = { timeout: 30_000 };

let dashboard: TestDashboard;
before(async () => {
  dashboard = await startDashboard({ ROOMS_ENGINE: 'mesh' });
});
after(() => dashboard?.close());

test('a room is created, people are invited, it is changed and ended', async () => {
  const user = await dashboard.user({ name: 'Ada' });
  await dashboard.visit('/dashboard/rooms', { user }, async (page) => {
    await page.getByRole('heading', { name: 'No rooms yet' }).waitFor(SLOW);
    await page.getByRole('button', { name: 'New room' }).first().click();
    await page.getByLabel('Name').fill(NAME);
    await page.getByRole('button', { name: 'Create room' }).click();
    await page.getByRole('heading', { level: 1, name: NAME }).waitFor(SLOW);
    const id = new URL(page.url()).pathname.split('/').at(-1);
    const everybody = page.getByLabel('Guest link', { exact: true });
    assert.equal(await everybody.inputValue(), `${dashboard.url}/r/${id}`);
    await page.getByText('No one is here.').waitFor(SLOW);

    const invite = page.getByRole('region', { name: 'Invite' });
    await invite.getByLabel('Name').fill('Grace');
    await invite.getByLabel('Role').selectOption('VIEWER');
    await invite.getByRole('button', { name: 'Create link' }).click();
    const personal = page.getByLabel('Link for Grace', { exact: true });
    await personal.waitFor(SLOW);
    assert.match(await personal.inputValue(), /\/r\/room_\w+#token=[\w.-]+$/);
    await assertAccessible(page, 'a room with a link');

    const settings = page.getByRole('region', { name: 'Settings' });
    await settings.getByLabel('Participant limit').fill('3');
    await settings.getByLabel('Allow recording').click();
    await settings.getByLabel('Recording layout').selectOption('SPEAKER');
    await settings.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The room is saved.').waitFor(SLOW);
    await page.getByText(/Recording is unavailable .* does not include a recorder/).waitFor(SLOW);

    await page.getByRole('button', { name: 'End the room' }).click();
    const dialog = page.getByRole('dialog', { name: 'End the room for everyone?' });
    await dialog.getByRole('button', { name: 'End the room' }).click();
    await page.getByRole('heading', { name: 'The room has ended' }).waitFor(SLOW);
    await page.getByText('It was ended by a host').waitFor(SLOW);
  });
});

test('video analytics are shown over time, by second and by country, and compared', async () => {
  const user = await dashboard.user({ name: 'Grace' });
  const session = await dashboard.signedIn(user);
  const { db } = dashboard.app.container;
  const made = await session.send('POST', '/videos', { body: { title: NAME } });
  const id = made.assertOk(201).string('data.id');
  const { workspace_id: workspaceId } = await db
    .selectFrom('video')
    .select('workspace_id')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  const subject = { kind: 'VIDEO', id } as const;
  const ago = (days: number) => new Date(Date.now() - days * 86_400_000);
  const day = new Date(ago(2).toISOString().slice(0, 10));
  await db
    .insertInto('analytics_retention')
    .values({
      workspace_id: workspaceId,
      video_id: id,
      interval_min: 1440,
      at: day,
      is_owner: false,
      watch_counts: [30, 15],
    })
    .execute();
  await addSums(db, workspaceId, [
    { at: ago(2), subject, sums: { views: 30, watch_ms: 90_000 }, shares: { country: 'DE', device: 'TV' } },
    { at: ago(10), subject, sums: { views: 20 }, shares: { country: 'FR' } },
  ]);
  await dashboard.visit('/dashboard/analytics?days=7', { user }, async (page) => {
    await page.getByRole('heading', { level: 1, name: 'Analytics' }).waitFor(SLOW);
    const totals = page.getByRole('region', { name: 'Summary' });
    await totals.getByText('30', { exact: true }).waitFor(SLOW);
    await page.getByLabel('Compare with previous period').click();
    await totals.getByText('previous: 20 (+50 %)').waitFor(SLOW);
    await page.getByRole('img', { name: /^Views, Daily[.] Peak: 30 at/ }).waitFor(SLOW);
    await page.getByRole('region', { name: 'Countries' }).getByText('Germany').waitFor(SLOW);
    await page.getByLabel('Period', { exact: true }).selectOption('28');
    await totals.getByText('50', { exact: true }).waitFor(SLOW);
    await page.getByRole('link', { name: NAME }).click();
    await page.getByRole('heading', { level: 1, name: NAME }).waitFor(SLOW);
    const retention = page.getByRole('region', { name: 'Audience retention' });
    await retention.getByText('60% of views at the start, 30% at 0:01.').waitFor(SLOW);
    await assertAccessible(page, 'analytics of a video');
    await page.getByRole('link', { name: 'Open video' }).click();
    await page.getByRole('link', { name: 'Analytics', exact: true }).last().click();
    await page.getByRole('region', { name: 'Over time' }).getByText('Watch time').first().click();
    await page.getByRole('img', { name: /^Watch time, Daily[.] Peak: 1:30 at/ }).waitFor(SLOW);
  });
});
