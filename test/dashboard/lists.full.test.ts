import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startDashboard, type TestDashboard } from '../harness/dashboard.ts';
import { insertVideos } from './many-videos.ts';

let dashboard: TestDashboard;
before(async () => {
  dashboard = await startDashboard();
});
after(() => dashboard?.close());

test('10,000 videos: one page loads initially, and twelve use no more memory than ten', async () => {
  const user = await dashboard.user();
  await insertVideos(dashboard, user.id, 10_000);
  await dashboard.visit('/dashboard/limits', { user }, async (page) => {
    const calls: string[] = [];
    page.on('request', (request) => {
      if (new URL(request.url()).pathname === '/api/v1/videos') calls.push(request.url());
    });
    await page.goto(`${dashboard.url}/dashboard/videos?visibility=PRIVATE`);
    // By plain selectors: names and roles of 500 rows take seconds to reckon.
    const rows = page.locator('tbody tr');
    const shows = (title: string) => page.locator('tbody bdi').getByText(title, { exact: true }).waitFor();
    const press = (words: string) => page.locator('button', { hasText: words }).dispatchEvent('click');
    await shows('Video 9951');
    assert.deepEqual([await rows.count(), calls.length], [50, 1]);
    for (let loaded = 2; loaded <= 12; loaded += 1) {
      await press('Load more');
      await shows(`Video ${10_001 - 50 * loaded}`);
    }
    assert.deepEqual([await rows.count(), calls.length, new Set(calls).size], [500, 12, 12]);
    assert.ok(calls.every((call) => call.includes('visibility=PRIVATE')));
    await press('Load previous');
    await shows('Video 9950');
    assert.equal(await rows.count(), 500);
  });
});
