import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import type { TestAccount } from '../../../../test/harness/factories.ts';
import { insertReadyVideo, insertVideo, videoEvents } from '../../../../test/harness/videos.ts';

const clock = new TestClock('2026-11-20T09:00:00.000Z');
let app: TestApp;
let key: string;
let account: TestAccount;

before(async () => {
  app = await startTestApp({ clock });
  ({ key, account } = await app.createKey());
});
after(() => app.close());

const post = (path: string, body?: object) => app.request('POST', path, { key, body });
const patch = (id: string, body: object) => app.request('PATCH', `/videos/${id}`, { key, body });
const read = (id: string) => app.request('GET', `/videos/${id}`, { key });
const eventsOf = (id: string) => videoEvents(app.container.db, id);

async function createVideo(body: object = {}): Promise<string> {
  return (await post('/videos', { title: 'A video', ...body })).assertOk(201).string('data.id');
}

const ready = (columns: Parameters<typeof insertReadyVideo>[2] = {}) =>
  insertReadyVideo(app.container.db, account.live, columns);

describe('publication', () => {
  const publish = (id: string, body?: object) => post(`/videos/${id}/publish`, body);
  const unpublish = (id: string) => post(`/videos/${id}/unpublish`);
  /** Returns the event types after the first ones, and asserts that the sequence has no gap. */
  const told = async (id: string) => {
    const events = await eventsOf(id);
    for (const [index, { data }] of events.entries()) assert.equal(data.sequence, index + 1);
    return events.map(({ type }) => type);
  };

  test('a ready video is published once, regardless of later changes', async () => {
    const id = await ready({ visibility: 'PRIVATE' });
    const first = (await publish(id)).assertOk(200);
    assert.equal(first.at('data.visibility'), 'PUBLIC');
    const publishedAt = first.string('data.publishedAt');
    assert.equal(publishedAt, clock.now().toISOString());
    const [published] = await eventsOf(id);
    assert.deepEqual(published, {
      ...published,
      type: 'video.published',
      data: { videoId: id, visibility: 'PUBLIC', publishedAt, sequence: 1 },
    });
    clock.advance(5000);
    assert.equal((await publish(id)).assertOk(200).at('data.publishedAt'), publishedAt);
    assert.equal((await unpublish(id)).assertOk(200).at('data.visibility'), 'PRIVATE');
    assert.equal((await unpublish(id)).assertOk(200).at('data.publishedAt'), publishedAt);
    (await publish(id)).assertOk(200);
    assert.deepEqual(await told(id), ['video.published', 'video.unpublished', 'video.updated']);
    assert.deepEqual((await eventsOf(id))[1]?.data, {
      videoId: id,
      visibility: 'PRIVATE',
      publishedAt,
      sequence: 2,
    });
  });

  test('PATCH of the visibility publishes as well', async () => {
    const id = await ready({ visibility: 'PRIVATE' });
    (await patch(id, { visibility: 'UNLISTED' })).assertOk(200);
    (await patch(id, { visibility: 'PUBLIC' })).assertOk(200);
    (await patch(id, { visibility: 'PRIVATE' })).assertOk(200);
    (await patch(id, { visibility: 'FOLLOWERS' })).assertOk(200);
    assert.deepEqual(await told(id), [
      'video.updated',
      'video.published',
      'video.updated',
      'video.updated',
      'video.unpublished',
      'video.updated',
    ]);
  });

  test('publishing a video that is already visible leaves it unchanged', async () => {
    const id = await ready({ visibility: 'TIER' });
    assert.equal((await publish(id)).assertOk(200).at('data.visibility'), 'TIER');
    assert.deepEqual(await told(id), []);
    (await publish(id, { at: '2027-01-01T00:00:00Z' })).assertError('CONFLICT', 'at');
  });

  test('before a video is ready, only the change of its visibility emits an event', async () => {
    const id = await createVideo({ visibility: 'PRIVATE' });
    assert.equal((await publish(id)).assertOk(200).at('data.publishedAt'), null);
    (await unpublish(id)).assertOk(200);
    assert.deepEqual(await told(id), ['video.created', 'video.updated', 'video.updated']);
  });

  test('a planned publication happens once, and not early', async () => {
    const id = await ready({ visibility: 'PRIVATE' });
    const at = new Date(clock.ms() + 60_000).toISOString();
    const planned = (await publish(id, { at: at.replace('Z', '+00:00') })).assertOk(200);
    assert.equal(planned.at('data.publishAt'), at);
    assert.equal(planned.at('data.visibility'), 'PRIVATE');
    clock.advance(59_999);
    await app.container.videos.publishDue();
    assert.equal((await read(id)).at('data.visibility'), 'PRIVATE');
    clock.advance(1);
    await Promise.all([app.container.videos.publishDue(), app.container.videos.publishDue()]);
    const video = await read(id);
    assert.equal(video.at('data.visibility'), 'PUBLIC');
    assert.equal(video.at('data.publishedAt'), at);
    assert.equal(video.at('data.publishAt'), null);
    assert.deepEqual(await told(id), ['video.updated', 'video.published']);
  });

  test('publishing, unpublishing or changing the visibility voids a planned publication', async () => {
    const at = new Date(clock.ms() + 60_000).toISOString();
    const acts = [publish, unpublish, (id: string) => patch(id, { visibility: 'UNLISTED' })];
    for (const act of acts) {
      const id = await createVideo({ publishAt: at });
      assert.equal((await read(id)).at('data.visibility'), 'PRIVATE');
      assert.equal((await act(id)).assertOk(200).at('data.publishAt'), null);
    }
  });

  for (const at of ['2026-11-20T00:00:00Z', '2030-01-01T00:00:00Z', 'tomorrow', 5]) {
    test(`400 for a publication at ${at}`, async () => {
      (await publish(await ready({ visibility: 'PRIVATE' }), { at })).assertError('BAD_REQUEST', 'at');
    });
  }
});

describe('POST /videos/{id}/retry', () => {
  const failed = async (columns: object = {}) => {
    const id = await insertVideo(app.container.db, account.live, {
      status: 'FAILED',
      error_code: 'INTERNAL',
      error_message: 'No.',
      attempt: 1,
      progress_percent: 40,
      ...columns,
    });
    return id;
  };
  const original = async () => {
    const key = `w/${account.live}/v/retried/original/${clock.ms()}`;
    await app.container.store.put(key, 'a file', 'video/mp4');
    return key;
  };

  test('a failed video is queued again, and its next attempt emits an event', async () => {
    const id = await failed({ original_key: await original() });
    const retried = (await post(`/videos/${id}/retry`)).assertOk(200);
    assert.equal(retried.at('data.status'), 'QUEUED');
    assert.equal(retried.at('data.error'), null);
    assert.equal(retried.at('data.progressPercent'), 0);
    const [started, ...more] = await eventsOf(id);
    assert.deepEqual(more, []);
    assert.equal(started?.type, 'video.processing.started');
    assert.deepEqual(started?.data, { videoId: id, attempt: 2, sequence: 1 });
    (await post(`/videos/${id}/retry`)).assertError('CONFLICT', 'status');
  });

  test('409 when its file never arrived, or is gone', async () => {
    (await post(`/videos/${await failed()}/retry`)).assertError('CONFLICT');
    const gone = await failed({ original_key: `w/${account.live}/v/gone/original/x` });
    (await post(`/videos/${gone}/retry`)).assertError('CONFLICT');
    assert.equal((await read(gone)).at('data.error.code'), 'INTERNAL');
  });

  for (const status of ['UPLOADING', 'QUEUED', 'PROCESSING', 'READY'] as const) {
    test(`409 for a video that is ${status}`, async () => {
      const id = await failed({ status, original_key: await original() });
      (await post(`/videos/${id}/retry`)).assertError('CONFLICT', 'status');
    });
  }
});
