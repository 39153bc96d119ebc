import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Browser } from '../../../../test/auth/browser.ts';
import { type AuthFixture, startAuthFixture } from '../../../../test/auth/fixture.ts';
import type { TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { joinTeam } from '../../../../test/harness/factories.ts';
import { runTask } from '../../../../test/harness/modules.ts';
import type { TestResponse } from '../../../../test/harness/response.ts';
import { insertReadyVideo } from '../../../../test/harness/videos.ts';
import { call, createSession, patch } from '../../../../test/uploads/fixture.ts';
import { dateFromMs } from '../../../kernel/clock.ts';
import { HOUR_MS } from '../../../kernel/durations.ts';

const clock = new TestClock('2026-11-20T09:00:00Z');
let auth: AuthFixture;
let app: TestApp;

before(async () => {
  auth = await startAuthFixture(clock);
  app = auth.app;
});
after(() => auth.close());

const statusOf = async (key: string, id: string) =>
  (await app.request('GET', `/upload/${id}`, { key })).assertOk(200).at('data.status');
const revoke = async (key: string, id: string) =>
  (await app.request('DELETE', `/me/api-keys/${id}`, { key })).assertOk(200);
const put = (uploadUrl: string, bytes: string) =>
  call(app.url + new URL(uploadUrl).pathname, 'PUT', {}, bytes);

async function liveOf(accountId: string) {
  const query = app.container.db.selectFrom('workspace').where('account_id', '=', accountId);
  return query.select(['id', 'storage_bytes as used']).where('mode', '=', 'live').executeTakeFirstOrThrow();
}

/** Creates the account of an owner with a playable video. */
async function owned() {
  const owner = await auth.person();
  const { id: live } = await liveOf(owner.id);
  return { owner, videoId: await insertReadyVideo(app.container.db, live) };
}

/** Asserts that the file of a playable video is unchanged. */
async function assertKept(key: string, videoId: string, started: TestResponse) {
  const kept = (await app.request('GET', `/videos/${videoId}`, { key })).assertOk(200);
  assert.equal(kept.at('data.status'), 'READY');
  assert.equal(kept.at('data.replacement.status'), 'FAILED');
  assert.equal(await statusOf(key, started.string('data.upload.id')), 'CANCELED');
}

describe('upload URL', () => {
  test('an upload URL ends with the revocation of the key that opened it, and releases its storage', async () => {
    const { owner, videoId } = await owned();
    const { id, key } = await app.container.apiKeys.create({ email: owner.email, scope: 'FULL_ACCESS' });
    const fresh = await createSession(app, key, { sizeBytes: 8, visibility: 'PUBLIC' });
    const kept = await createSession(app, owner.key, { sizeBytes: 4 });
    const body = { filename: 'other.mp4', sizeBytes: 4 };
    const started = (await app.request('POST', `/videos/${videoId}/replacement`, { key, body })).assertOk(
      201,
    );
    assert.equal((await patch(fresh.url, 0, 'four')).status, 204);
    await revoke(owner.key, id);
    (await patch(fresh.url, 4, 'more')).assertError('NOT_FOUND');
    (await put(started.string('data.upload.uploadUrl'), 'four')).assertError('NOT_FOUND');
    const { used } = await liveOf(owner.id);
    await runTask(app.container, 'uploads');
    assert.equal(await statusOf(owner.key, fresh.id), 'CANCELED');
    assert.equal((await liveOf(owner.id)).used, used - 12);
    await assertKept(owner.key, videoId, started);
    assert.equal((await patch(kept.url, 0, 'four')).status, 204);
  });

  test('an upload URL ends even while a request is sending its last bytes', async () => {
    const { owner } = await owned();
    const { id, key } = await app.container.apiKeys.create({ email: owner.email, scope: 'FULL_ACCESS' });
    const session = await createSession(app, key, { sizeBytes: 8 });
    async function* bytes() {
      yield Buffer.from('four');
      await revoke(owner.key, id);
      yield Buffer.from('more');
    }
    // The request is rejected before or after its first bytes, or disconnected, depending on which happens first.
    const answer = await patch(session.url, 0, bytes()).catch(() => null);
    assert.ok(answer === null || [404, 409].includes(answer.status), answer?.text ?? '');
    await runTask(app.container, 'uploads');
    assert.equal(await statusOf(owner.key, session.id), 'CANCELED');
    const video = await app.request('GET', `/videos/${session.videoId}`, { key: owner.key });
    assert.equal(video.assertOk(200).at('data.status'), 'FAILED');
  });

  test('an upload URL outlives the expiry and the rotation of its key', async () => {
    const { owner } = await owned();
    const expiresAt = dateFromMs(clock.ms() + HOUR_MS);
    const { email } = owner;
    const { id, key } = await app.container.apiKeys.create({ email, scope: 'FULL_ACCESS', expiresAt });
    const session = await createSession(app, key, { sizeBytes: 8 });
    (await app.request('POST', `/me/api-keys/${id}/rotate`, { key: owner.key })).assertOk(200);
    assert.equal((await patch(session.url, 0, 'four')).status, 204);
    clock.advance(2 * HOUR_MS);
    await runTask(app.container, 'uploads');
    assert.equal((await patch(session.url, 4, 'more')).status, 204);
    assert.equal(await statusOf(owner.key, session.id), 'COMPLETED');
  });

  test('an upload URL ends when its member leaves or becomes read-only', async () => {
    const removed = (key: string, id: string) => app.request('DELETE', `/team/members/${id}`, { key });
    const demoted = (key: string, id: string) =>
      app.request('PATCH', `/team/members/${id}`, { key, body: { teamRole: 'ANALYST' } });
    for (const end of [removed, demoted]) {
      const [{ owner, videoId }, guest] = [await owned(), await auth.person()];
      const team = { accountId: owner.id, userId: guest.id, teamRole: 'EDITOR' } as const;
      const memberId = await joinTeam(app.container.db, team);
      const browser = new Browser(app);
      await browser.signIn(guest);
      const headers = { 'x-account-id': owner.id };
      const body = { filename: 'other.mp4', sizeBytes: 4 };
      const post = (path: string) => browser.send('POST', path, { body, headers });
      const started = (await post(`/videos/${videoId}/replacement`)).assertOk(201);
      const own = (await browser.send('POST', '/upload', { body })).assertOk(201);
      (await end(owner.key, memberId)).assertOk(200);
      (await put(started.string('data.upload.uploadUrl'), 'four')).assertError('NOT_FOUND');
      await runTask(app.container, 'uploads');
      await assertKept(owner.key, videoId, started);
      assert.equal((await put(own.string('data.uploadUrl'), 'four')).status, 204, 'of their own account');
    }
  });
});
