import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { waitFor } from '../../../../test/harness/wait-for.ts';
import { startImportFixture } from '../../../../test/imports/fixture.ts';
import { file } from '../../../../test/imports/source.ts';

let fixture: Awaited<ReturnType<typeof startImportFixture>>;
let key: string;
before(async () => {
  fixture = await startImportFixture();
  ({ key } = await fixture.app.createKey());
  fixture.work();
});
after(() => fixture.close());

const bytes = Buffer.alloc(300_000, 7);
const settings = {
  title: 'The film',
  description: 'Of the summer',
  visibility: 'UNLISTED',
  tags: ['summer'],
  metadata: { a: 'b' },
  externalId: 'film-1',
};

/** Waits until the import has failed. */
const failing = (id: string) =>
  waitFor(
    async () => {
      await fixture.hurry();
      const answer = (await fixture.app.request('GET', `/imports/${id}`, { key })).assertOk(200);
      return answer.string('data.status') === 'FAILED' && answer;
    },
    { timeoutMs: 20_000, intervalMs: 50 },
  );

/** Creates a failed import of `path` whose video settings were changed afterwards. */
async function failed(path: string) {
  const id = await fixture.create(key, { sourceUrl: fixture.source.url + path });
  const first = (await fixture.video(key, id)).string('data.id');
  (await fixture.app.request('PATCH', `/videos/${first}`, { key, body: settings })).assertOk(200);
  await failing(id);
  return { id, first };
}

/**
 * Retries the import with a working source.
 *
 * @returns the video that has the file.
 */
async function retried(path: string, id: string) {
  fixture.source.answers.set(
    path,
    file(() => bytes),
  );
  (await fixture.app.request('POST', `/imports/${id}/retry`, { key })).assertOk(200);
  await fixture.reached(key, id, 'PROCESSING');
  const video = await fixture.video(key, id);
  assert.equal(video.at('data.status'), 'QUEUED');
  assert.equal(video.at('data.error'), null);
  for (const [name, value] of Object.entries(settings))
    assert.deepEqual(video.at(`data.${name}`), value, name);
  assert.ok(bytes.equals((await fixture.original(id)) ?? Buffer.alloc(0)));
  return video.string('data.id');
}

/** Reports whether the job of the failed run has ended. */
const isOver = () =>
  waitFor(
    async () =>
      (
        await fixture.app.container
          .sql`select from job where name = 'import.fetch' and state in ('waiting', 'active')`
      ).length === 0,
  );

/**
 * Creates imports from a source with each status and waits until all have failed.
 *
 * @returns the number of requests to each source.
 */
async function triesOf(statuses: readonly number[]): Promise<number[]> {
  fixture.source.requests.length = 0;
  const imports = statuses.map(async (status) => {
    fixture.source.answers.set(
      `/${status}.mp4`,
      (_request, response) => void response.writeHead(status).end(),
    );
    const ended = await failing(
      await fixture.create(key, { sourceUrl: `${fixture.source.url}/${status}.mp4` }),
    );
    assert.equal(ended.at('data.error.code'), 'SOURCE_UNREACHABLE');
    assert.match(ended.string('data.error.message'), new RegExp(`status ${status}\\.$`));
  });
  await Promise.all(imports);
  const tries = Map.groupBy(fixture.source.requests, ({ path }) => path);
  return statuses.map((status) => tries.get(`/${status}.mp4`)?.length ?? 0);
}

test('C23.10: an import whose source answers 401, 403, 404, 410 or 451 fails immediately with the status', async () => {
  assert.deepEqual(await triesOf([401, 403, 404, 410, 451]), [1, 1, 1, 1, 1]);
});

test('C23.10: an import whose source answers 408, 425, 429 or 5xx is retried', async () => {
  assert.deepEqual(await triesOf([408, 425, 429, 503]), [3, 3, 3, 3]);
});

test('an import that never received a byte retains its video, with its ID and settings', async () => {
  fixture.source.answers.set('/none.mp4', (_request, response) => void response.writeHead(404).end());
  const { id, first } = await failed('/none.mp4');
  await isOver();
  assert.equal(await retried('/none.mp4', id), first);
});

test('an import that received bytes gets a new video with the settings of the old one', async () => {
  // Sent in parts: bytes that arrive together with the break may count as never received.
  const options = { ranges: false, cutAfter: 100_000, length: bytes.length, pauseMs: 50 };
  fixture.source.answers.set(
    '/some.mp4',
    file(() => bytes, options),
  );
  const { id, first } = await failed('/some.mp4');
  await isOver();
  assert.notEqual(await retried('/some.mp4', id), first);
  const old = (await fixture.app.request('GET', `/videos/${first}`, { key })).assertOk(200);
  assert.equal(old.at('data.status'), 'FAILED');
});
