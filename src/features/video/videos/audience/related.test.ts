import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../../test/harness/app.ts';
import type { TestAccount } from '../../../../../test/harness/factories.ts';
import { insertReadyVideo, insertVideo } from '../../../../../test/harness/videos.ts';

let app: TestApp;
let account: TestAccount;
let other: TestAccount;
let anchor: string;
const ids = new Map<string, string>();
let addresses = 0;

before(async () => {
  app = await startTestApp({ env: { TRUST_PROXY: '127.0.0.1' } });
  account = await app.createAccount();
  other = await app.createAccount();
  const { db } = app.container;
  await db.updateTable('account').set({ name: 'The Other' }).where('id', '=', other.id).execute();
  const gone = await app.createAccount();
  const add = async (name: string, workspaceId: string, columns: object = {}) => {
    ids.set(name, await insertReadyVideo(db, workspaceId, { title: name, ...columns }));
  };
  await add('old tagged', other.live, { tags: ['jazz'], view_count: 7 });
  await add('channel', account.live);
  await add('private', account.live, { visibility: 'PRIVATE', tags: ['jazz'] });
  await add('unlisted', account.live, { visibility: 'UNLISTED', tags: ['jazz'] });
  await add('sold', account.live, { visibility: 'PURCHASE', price_cents: 100 });
  await add('test mode', account.test, { tags: ['jazz'] });
  await add('processing', account.live, { status: 'PROCESSING', tags: ['jazz'] });
  await add('deleted', account.live, { deleted_at: new Date(), tags: ['jazz'] });
  await add('taken down', account.live, { taken_down_at: new Date(), takedown_reason: 'x', tags: ['jazz'] });
  await add('suspended', gone.live, { tags: ['jazz'] });
  anchor = await insertReadyVideo(db, account.live, { title: 'Anchor', tags: ['jazz', 'live'] });
  await add('newer tagged', other.live, { tags: ['live'] });
  await add('recent', other.live, { tags: ['rock'] });
  await add('newest of the channel', account.live);
  await db.updateTable('account').set({ suspended_at: new Date() }).where('id', '=', gone.id).execute();
});
after(() => app.close());

function related(id: string, query = '') {
  addresses += 1;
  const headers = { 'x-forwarded-for': `10.1.0.${addresses}` };
  return app.request('GET', `/videos/${id}/related${query}`, { headers });
}

const titlesOf = (rows: unknown[]) => rows.map((row) => String(Object(row).title));
const ORDER = ['newest of the channel', 'channel', 'newer tagged', 'old tagged', 'recent'];

describe('GET /videos/{id}/related', () => {
  test('related videos are of the channel, then with shared tags, then the newest; only public ones are listed', async () => {
    const answer = (await related(anchor)).assertOk(200).assertRateLimited(false);
    assert.deepEqual(titlesOf(answer.list('data')), ORDER);
    const id = ids.get('old tagged');
    assert.deepEqual(answer.at('data.3'), {
      id,
      title: 'old tagged',
      thumbnailUrl: `http://marquee.test/v/${id}/r0a1/img/poster.jpg`,
      durationSec: 60,
      viewCount: 7,
      channel: { username: other.id, displayName: 'The Other' },
    });
    assert.deepEqual(answer.at('data.0.channel'), { username: account.id, displayName: account.id });
  });

  test('the limit is respected', async () => {
    assert.deepEqual(titlesOf((await related(anchor, '?limit=3')).list('data')), ORDER.slice(0, 3));
    for (const limit of ['0', '21', 'x']) {
      (await related(anchor, `?limit=${limit}`)).assertError('BAD_REQUEST', 'limit');
    }
  });

  test('404 unless the video itself is public and in live mode', async () => {
    for (const name of ['private', 'unlisted', 'sold', 'test mode', 'deleted', 'taken down']) {
      (await related(ids.get(name) ?? '')).assertError('NOT_FOUND');
    }
    for (const id of ['vid_none', '%F0%9F%98%80']) (await related(id)).assertError('NOT_FOUND');
    // A public video is sufficient: its page exists before its file.
    const waiting = await insertVideo(app.container.db, account.live);
    for (const id of [waiting, ids.get('processing') ?? '']) (await related(id)).assertOk(200);
  });

  test('429 with a message for the 61st request from one IP address in a minute', async () => {
    const headers = { 'x-forwarded-for': '198.51.100.7' };
    const call = () => app.request('GET', `/videos/${anchor}/related`, { headers });
    for (let i = 0; i < 60; i++) (await call()).assertOk(200);
    const limited = await call();
    assert.equal(limited.status, 429);
    const retryAfter = Number(limited.headers['retry-after']);
    assert.deepEqual(limited.json, { success: false, error: 'Too many requests', retryAfter });
  });
});
