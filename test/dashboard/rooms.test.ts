import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertAccessible, startDashboard, type TestDashboard } from '../harness/dashboard.ts';

const NAME = `${'اجتماع التخطيط '.repeat(4)}${'排练'.repeat(8)} 🎷`;
const SLOW = { timeout: 30_000 };

let dashboard: TestDashboard;
before(async () => {
  dashboard = await startDashboard({ ROOMS_ENGINE: 'mesh' });
});
after(() => dashboard?.close());

test('a room is made, people are invited, it is changed and ended', async () => {
  const user = await dashboard.user({ name: 'Ada' });
  await dashboard.visit('/dashboard/rooms', { user }, async (page) => {
    await page.getByRole('heading', { name: 'No room yet' }).waitFor(SLOW);
    await page.getByRole('button', { name: 'New room' }).first().click();
    await page.getByLabel('Name').fill(NAME);
    await page.getByRole('button', { name: 'Create room' }).click();
    await page.getByRole('heading', { level: 1, name: NAME }).waitFor(SLOW);
    const id = new URL(page.url()).pathname.split('/').at(-1);
    const everybody = page.getByLabel('Link for everybody', { exact: true });
    assert.equal(await everybody.inputValue(), `${dashboard.url}/r/${id}`);
    await page.getByText('Nobody is here.').waitFor(SLOW);

    const invite = page.getByRole('region', { name: 'Invite' });
    await invite.getByLabel('Name').fill('Grace');
    await invite.getByLabel('Role').selectOption('VIEWER');
    await invite.getByRole('button', { name: 'Make a link' }).click();
    const personal = page.getByLabel('Link for Grace', { exact: true });
    await personal.waitFor(SLOW);
    assert.match(await personal.inputValue(), /\/r\/room_\w+#token=[\w.-]+$/);
    await assertAccessible(page, 'a room with a link');

    const settings = page.getByRole('region', { name: 'Settings' });
    await settings.getByLabel('Most people').fill('3');
    await settings.getByLabel('May be recorded').click();
    await settings.getByLabel('Picture of recordings').selectOption('SPEAKER');
    await settings.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The room is saved.').waitFor(SLOW);
    await page.getByText(/Nothing can be recorded: .* no recorder/).waitFor(SLOW);

    await page.getByRole('button', { name: 'End the room' }).click();
    const dialog = page.getByRole('dialog', { name: 'End the room for everybody?' });
    await dialog.getByRole('button', { name: 'End the room' }).click();
    await page.getByRole('heading', { name: 'The room has ended' }).waitFor(SLOW);
    await page.getByText('It was ended by a host').waitFor(SLOW);
  });
});
