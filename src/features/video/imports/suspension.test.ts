import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { waitFor } from '../../../../test/harness/wait-for.ts';
import { startImportFixture } from '../../../../test/imports/fixture.ts';
import { file } from '../../../../test/imports/source.ts';

let fixture: Awaited<ReturnType<typeof startImportFixture>>;
before(async () => {
  fixture = await startImportFixture();
  fixture.work();
});
after(() => fixture.close());

test('the download of a suspended account is interrupted and resumes when the suspension is lifted', async () => {
  const { app, source } = fixture;
  const { account, key } = await app.createKey();
  const bytes = randomBytes(300_000);
  let isSlow = true;
  let isOver = false;
  source.answers.set('/slow.mp4', async (request, response) => {
    if (!isSlow) return file(() => bytes, { etag: '"a"' })(request, response);
    response.on('close', () => {
      isOver = true;
    });
    // The headers and some bytes, then nothing: a slow source.
    response.writeHead(200, { 'content-length': bytes.length, etag: '"a"', 'accept-ranges': 'bytes' });
    response.write(bytes.subarray(0, 100_000));
  });
  const id = await fixture.create(key, { sourceUrl: `${source.url}/slow.mp4` });
  await waitFor(() => source.requests.length > 0, { message: 'the download to begin' });
  await app.container.accounts.suspend(account.email);
  await waitFor(() => isOver, { timeoutMs: 15_000, message: 'the download to be broken off' });
  const asked = source.requests.length;
  await waitFor(
    async () => (await app.container.sql`select 1 from job where state = 'waiting' and fence > 0`).length > 0,
    { timeoutMs: 15_000, message: 'the job to wait' },
  );
  isSlow = false;
  await fixture.hurry();
  await waitFor(
    async () =>
      (await app.container.sql`select 1 from job where state = 'waiting' and fence > 0 and run_after > now()`)
        .length > 0,
    { timeoutMs: 15_000, message: 'the job to wait again' },
  );
  assert.equal(source.requests.length, asked, 'nothing is fetched for it');
  await app.container.accounts.unsuspend(account.email);
  app.container.apiKeys.forget();
  await fixture.hurry();
  const done = await fixture.reached(key, id, 'PROCESSING');
  assert.equal(done.at('data.bytesTotal'), bytes.length);
  assert.ok(bytes.equals((await fixture.original(id)) ?? Buffer.alloc(0)));
});
