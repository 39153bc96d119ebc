import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startTestApp, type TestApp } from '../../test/harness/app.ts';
import { insertReadyVideo } from '../../test/harness/videos.ts';
import * as allNouns from './optional-modules.ts';
import { startWorker } from './worker.ts';

const { playlists: _playlists, imports: _imports, support: _support, ...others } = allNouns;

const COMPOSITIONS = {
  'with all nouns': { nouns: Object.values(allNouns), has: true },
  'without playlists, imports and support': { nouns: Object.values(others), has: false },
};

/** Returns the names that these modules would add. */
const ofThem = (names: readonly unknown[]) =>
  names.map(String).filter((name) => /^\W*(playlist|import|support)/.test(name));

for (const [name, { nouns, has }] of Object.entries(COMPOSITIONS)) {
  describe(`the program ${name}`, () => {
    let app: TestApp;
    let made: Awaited<ReturnType<TestApp['createKey']>>;
    before(async () => {
      app = await startTestApp({ nouns });
      made = await app.createKey();
    });
    after(() => app.close());

    const ask = (method: string, path: string, body?: object) =>
      app.request(method, path, { key: made.key, ...(body === undefined ? {} : { body }) });

    test(`${has ? 'has' : 'knows nothing of'} their endpoints`, async () => {
      for (const path of ['/playlists', '/imports', '/support/tickets']) {
        const answer = await ask('GET', path);
        if (has) answer.assertOk(200);
        else answer.assertError('NOT_FOUND');
      }
      if (!has) (await ask('POST', '/playlists', { title: 'Mine' })).assertError('NOT_FOUND');
      const response = await fetch(`${app.url}/openapi.json`);
      const { paths }: { paths: object } = JSON.parse(await response.text());
      assert.equal(ofThem(Object.keys(paths)).length > 0, has);
    });

    test(`${has ? 'has' : 'knows nothing of'} their events and jobs`, async () => {
      const types = (await ask('GET', '/me/webhooks/events')).assertOk(200).list('data');
      assert.equal(ofThem(types).length > 0, has);
      assert.ok(types.includes('video.created'));
      const { catalogue, jobs, parts } = app.container;
      for (const { type, sample } of catalogue.definitions)
        assert.equal(catalogue.refuse(type, sample), null, type);
      assert.equal(
        jobs.validate('import.fetch', { importId: 'imp_1' }),
        has ? null : 'the job is not in the registry',
      );
      const workers = parts.flatMap((part) => part.jobs?.() ?? []).map(({ job }) => job.name);
      assert.equal(ofThem(workers).length > 0, has);
      assert.ok(workers.includes('video.prepare'));
    });

    test('does everything else', async () => {
      (await ask('POST', '/streams', { title: 'Evening' })).assertOk(201);
      const id = await insertReadyVideo(app.container.db, made.account.live);
      assert.equal((await ask('GET', '/videos')).assertOk(200).string('data.0.id'), id);
      (await ask('DELETE', `/videos/${id}`)).assertOk(200);
      const worker = startWorker(app.container);
      await worker.stop();
    });
  });
}
