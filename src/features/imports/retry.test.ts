import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from '../../../test/harness/wait.ts';
import { startImportFixture } from '../../../test/imports/fixture.ts';
import { file } from '../../../test/imports/source.ts';

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

/** An import of `path` that has failed, whose video was given settings since. */
async function failed(path: string) {
  const id = await fixture.create(key, { sourceUrl: fixture.source.url + path });
  const first = (await fixture.video(key, id)).string('data.id');
  (await fixture.app.request('PATCH', `/videos/${first}`, { key, body: settings })).assertOk(200);
  await until(
    async () => {
      await fixture.hurry();
      const answer = (await fixture.app.request('GET', `/imports/${id}`, { key })).assertOk(200);
      return answer.string('data.status') === 'FAILED';
    },
    { timeoutMs: 20_000, intervalMs: 50 },
  );
  return { id, first };
}

/** Tries it again with a source that works. @returns the video that has the file. */
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

/** The failed run's job is over. */
const isOver = () =>
  until(
    async () =>
      (
        await fixture.app.container
          .sql`select from pgboss.job where name = 'import.fetch' and state <= 'active'`
      ).length === 0,
  );

test('an import that never got a byte keeps its video, with its id and settings', async () => {
  fixture.source.answers.set('/none.mp4', (_request, response) => void response.writeHead(404).end());
  const { id, first } = await failed('/none.mp4');
  await isOver();
  assert.equal(await retried('/none.mp4', id), first);
});

test('one that did gets a new video with the settings of the old one', async () => {
  // In pieces: what arrives together with the cut may count as never received.
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
