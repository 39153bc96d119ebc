import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startWorker } from '../../src/main/worker.ts';
import type { Browser } from '../auth/browser.ts';
import {
  assertAccessible,
  type DashboardUser,
  startDashboard,
  type TestDashboard,
} from '../harness/dashboard.ts';
import { type HttpsSink, startHttpsSink } from '../harness/https-sink.ts';
import { trust } from '../webhooks/fixture.ts';

let dashboard: TestDashboard;
let sink: HttpsSink;
let worker: ReturnType<typeof startWorker>;
let user: DashboardUser;
let session: Browser;
before(async () => {
  sink = await startHttpsSink();
  trust(sink);
  dashboard = await startDashboard({ WEBHOOK_ALLOW_PRIVATE: '127.0.0.0/8' });
  worker = startWorker(dashboard.app.container);
  user = await dashboard.user();
  session = await dashboard.signedIn(user);
});
after(async () => {
  await worker?.stop();
  await dashboard?.close();
  await sink?.close();
});

test('a webhook is added, fails, is inspected and replayed', async () => {
  await dashboard.visit('/dashboard/webhooks', { user }, async (page) => {
    await page.getByRole('heading', { name: 'No webhooks yet' }).waitFor();
    await page.getByRole('link', { name: 'Add a webhook' }).first().click();
    await page.getByLabel('Endpoint URL').fill('http://example.com/hook');
    await page.getByLabel('Selected events').check();
    await page.getByLabel('Search the events').fill('playlist');
    await page.getByLabel('playlist.*').check();
    await page.getByRole('button', { name: 'Add the webhook' }).click();
    await page.getByText(/https/).first().waitFor();
    await page.getByLabel('Endpoint URL').fill(`${sink.url}/hook`);
    await page.getByRole('button', { name: 'Add the webhook' }).click();
    const secret = await page.getByRole('textbox', { name: 'Signing secret' }).inputValue();
    assert.match(secret, /^whsec_/);
    await page.getByLabel("I've saved it").check();
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('heading', { name: 'No deliveries yet' }).waitFor();
    await assertAccessible(page, 'a new webhook');

    sink.reply = () => ({ status: 500, body: 'the database of the receiver is away' });
    await session.send('POST', '/playlists', { body: { title: 'Évènements 中文' } });
    const row = page.getByRole('article', { name: 'playlist.created 1/7' });
    await row.getByText('Attempt 1 of 7').waitFor();
    await row.getByText(/^Next attempt: /).waitFor();
    await row.getByRole('button', { name: 'Details' }).click();
    await row.getByText('the database of the receiver is away').waitFor();
    await row.getByText('Évènements 中文').waitFor();
    await page.getByText('1 failed').waitFor();
    await assertAccessible(page, 'a failed delivery');
    await page.getByRole('tab', { name: 'Pending (1)' }).click();
    await page.getByRole('cell', { name: 'playlist.created' }).waitFor();
    await page.getByRole('tab', { name: 'Deliveries' }).click();

    sink.reply = () => ({});
    await row.getByRole('button', { name: 'Resend' }).click();
    await page.getByText('Resent successfully.').waitFor();
    await page.getByText('Manual resend').waitFor();
    await page.getByText('Failed', { exact: true }).first().click();
    await page.getByText('Manual resend').waitFor({ state: 'detached' });
    assert.match(page.url(), /failed=true/);
  });
});

test('a test, a simulation, other settings, a new secret, the end', async () => {
  sink.reply = () => ({});
  const body = { url: `${sink.url}/other`, events: ['video.*'] };
  const made = (await session.send('POST', '/me/webhooks', { body })).assertOk(201);
  await dashboard.visit(
    `/dashboard/webhooks/${made.string('data.id')}`,
    { user, colorScheme: 'dark' },
    async (page) => {
      await page.getByRole('button', { name: 'Send test event' }).click();
      await page.getByText('The endpoint responded with 200.').waitFor();
      await page.getByRole('tab', { name: 'Simulate' }).click();
      await page.getByLabel('Event', { exact: true }).selectOption('video.created');
      await page.getByLabel(/^Custom data/).fill('[]');
      await page.getByRole('button', { name: 'Preview request' }).click();
      await page.getByText('Enter a valid JSON object.').waitFor();
      await page.getByLabel(/^Custom data/).fill('{"title":"Mine"}');
      await page.getByRole('button', { name: 'Preview request' }).click();
      await page.getByText('This webhook would receive the event.').waitFor();
      await page.getByText('"title":"Mine"').first().waitFor();
      await assertAccessible(page, 'a simulation');

      await page.getByRole('tab', { name: 'Settings' }).click();
      await page.getByLabel('Active').uncheck();
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Paused', { exact: true }).waitFor();
      await assertAccessible(page, 'the settings of a webhook');
      await page.getByRole('button', { name: 'Rotate secret' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click();
      const fresh = await page.getByRole('textbox', { name: 'Signing secret' }).inputValue();
      assert.notEqual(fresh, made.string('data.signingSecret'));
      await page.getByLabel("I've saved it").check();
      await page.getByRole('button', { name: 'Done' }).click();
      await page.getByRole('button', { name: 'Delete webhook' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete webhook' }).click();
      await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor();
      await page.getByText(`${sink.url}/other`).waitFor({ state: 'detached' });
    },
  );
});
