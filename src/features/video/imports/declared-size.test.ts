import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { waitFor } from '../../../../test/harness/wait-for.ts';
import { startImportFixture } from '../../../../test/imports/fixture.ts';

let fixture: Awaited<ReturnType<typeof startImportFixture>>;
let key: string;

before(async () => {
  fixture = await startImportFixture();
  ({ key } = await fixture.app.createKey());
  fixture.work();
});
after(() => fixture.close());

const bytes = Buffer.alloc(400_000, 7);

/** Returns the import after it has failed with all its tries. */
async function failure(path: string) {
  const id = await fixture.create(key, { sourceUrl: fixture.source.url + path });
  return waitFor(
    async () => {
      await fixture.hurry();
      const answer = (await fixture.app.request('GET', `/imports/${id}`, { key })).assertOk(200);
      return answer.string('data.status') === 'FAILED' && answer;
    },
    { timeoutMs: 20_000, intervalMs: 50 },
  );
}

test('an unrequested partial response is rejected: its total is not the size of the file', async () => {
  fixture.source.answers.set('/unasked.mp4', (_request, response) => {
    response.writeHead(206, { 'content-type': 'video/mp4', 'content-range': 'bytes 0-9/10' });
    response.end(bytes);
  });
  const failed = await failure('/unasked.mp4');
  assert.deepEqual(failed.at('data.error'), {
    code: 'SOURCE_UNREACHABLE',
    message: 'The server returned a different range than requested.',
  });
  assert.equal(failed.at('data.bytesReceived'), 0);
});

test('an import stops at the announced size', async () => {
  fixture.source.answers.set('/more.mp4', (request, response) => {
    const headers = { 'content-type': 'video/mp4', etag: '"m"' };
    if (request.headers.range === undefined) {
      response.writeHead(200, { ...headers, 'content-length': bytes.length });
      response.write(bytes.subarray(0, 200_000), () => setTimeout(() => response.destroy(), 100));
      return;
    }
    const from = Number(/\d+/.exec(request.headers.range)?.[0]);
    response.writeHead(206, {
      ...headers,
      'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}`,
    });
    for (let sent = 0; sent < 3_000_000; sent += bytes.length) response.write(bytes);
    response.end();
  });
  const failed = await failure('/more.mp4');
  assert.equal(failed.at('data.error.message'), 'The server sent more data than announced.');
  assert.ok(Number(failed.at('data.bytesReceived')) <= bytes.length);
});
