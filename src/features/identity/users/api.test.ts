import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Browser } from '../../../../test/auth/browser.ts';
import { type AuthFixture, type Person, startAuthFixture } from '../../../../test/auth/fixture.ts';
import type { TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { insertReadyVideo } from '../../../../test/harness/videos.ts';
import { waitFor } from '../../../../test/harness/wait-for.ts';
import { createChat } from '../../../../test/streams/chat.ts';
import { addVideo, FOLDER, madeUpFiles } from '../../../../test/videos/fixture.ts';
import { workspaceOf } from '../../../platform/db/workspace.ts';

interface Creator extends Person {
  username: string;
  live: string;
  test: string;
}

const clock = new TestClock('2026-11-20T09:00:00.000Z');
let auth: AuthFixture;
let app: TestApp;

before(async () => {
  auth = await startAuthFixture(clock);
  ({ app } = auth);
});
after(() => auth.close());

/** Creates a person who can sign in. */
async function person(): Promise<Creator> {
  const made = await auth.person();
  const { username } = await app.container.accounts.byId(made.id);
  const [live, other] = await Promise.all([
    workspaceOf(app.container.db, made.id, 'live'),
    workspaceOf(app.container.db, made.id, 'test'),
  ]);
  return { ...made, username, live, test: other };
}

/** Creates an account with a key. */
async function account(): Promise<Omit<Creator, 'password'>> {
  const { key, account: made } = await app.createKey();
  return { ...made, key, username: made.id };
}

const user = (username: string, key: string) => app.request('GET', `/users/${username}`, { key });
const follow = (username: string, key: string) =>
  app.request('POST', `/users/${username}/subscribe`, { key });
const unfollow = (username: string, key: string) =>
  app.request('DELETE', `/users/${username}/subscribe`, { key });
const countOf = async (username: string, key: string) =>
  (await user(username, key)).assertOk(200).at('data.followerCount');
const testKeyOf = async ({ email }: Pick<Person, 'email'>) =>
  (await app.container.apiKeys.create({ email, scope: 'STANDARD', mode: 'test' })).key;

describe('GET /users/{username}', () => {
  test('a user shows the public profile with exact counts', async () => {
    const ada = await account();
    const other = await account();
    const body = { name: 'Ada 🎬 آدا', bio: 'Films about engines.' };
    (await app.request('PATCH', '/me', { key: ada.key, body })).assertOk(200);
    const { db } = app.container;
    await insertReadyVideo(db, ada.live, {});
    await insertReadyVideo(db, ada.live, { visibility: 'PRIVATE' });
    await insertReadyVideo(db, ada.live, { status: 'PROCESSING' });
    await insertReadyVideo(db, ada.test, {});
    const quiet = (await user(ada.username, other.key)).assertOk(200);
    assert.deepEqual(quiet.at('data'), {
      id: ada.id,
      username: ada.username,
      name: body.name,
      avatarUrl: null,
      bio: body.bio,
      isLive: false,
      followerCount: 0,
      videoCount: 1,
      createdAt: quiet.at('data.createdAt'),
    });
    for (const [visibility, isLive] of [
      ['PRIVATE', false],
      ['PUBLIC', true],
    ] as const) {
      const made = await app.request('POST', '/streams', { key: ada.key, body: { title: 'x', visibility } });
      (await app.request('POST', `/streams/${made.string('data.id')}/start`, { key: ada.key })).assertOk(200);
      assert.equal((await user(ada.username, other.key)).at('data.isLive'), isLive, visibility);
    }
    const testKey = await testKeyOf(other);
    const seen = (await user(ada.username, testKey)).assertOk(200);
    assert.deepEqual(
      [seen.at('data.videoCount'), seen.at('data.isLive')],
      [0, false],
      'test content is hidden',
    );
    assert.equal(
      (await user(ada.username, await testKeyOf(ada))).at('data.videoCount'),
      1,
      'but not from its owner',
    );
  });

  test('an unknown username of any form is 404, and so is a suspended account', async () => {
    const ada = await account();
    const suspended = await account();
    await app.container.accounts.suspend(suspended.email);
    const names = [
      'nobody',
      'admin',
      'me',
      'ада',
      '艾达',
      '🎬',
      '..',
      '%00',
      `${'a'.repeat(5000)}`,
      "x'--",
      '*',
    ];
    for (const name of [
      ...names.map((one) => (one === '%00' ? one : encodeURIComponent(one))),
      suspended.username,
    ]) {
      for (const answer of [
        await user(name, ada.key),
        await follow(name, ada.key),
        await unfollow(name, ada.key),
      ]) {
        answer.assertError('NOT_FOUND');
      }
    }
  });
});

describe('following', () => {
  test('a follow is new once, ends once, and emits events to the followed account', async () => {
    const [ada, grace] = [await account(), await account()];
    const first = (await follow(ada.username, grace.key)).assertOk(201);
    assert.match(first.string('data.subscriptionId'), /^fol_/);
    assert.equal(first.at('data.username'), ada.username);
    assert.deepEqual(
      [first.at('data.isNew'), first.at('data.subscribedAt')],
      [true, clock.now().toISOString()],
    );
    const again = (await follow(ada.username, grace.key)).assertOk(200);
    assert.deepEqual(again.at('data'), { ...Object(first.at('data')), isNew: false });
    assert.equal(await countOf(ada.username, grace.key), 1);
    (await follow(ada.username, ada.key)).assertError('CONFLICT', 'username');

    const gone = (await unfollow(ada.username, grace.key)).assertOk(200);
    assert.deepEqual(gone.at('data'), { id: first.string('data.subscriptionId'), deleted: true });
    (await unfollow(ada.username, grace.key)).assertError('NOT_FOUND');
    assert.equal(await countOf(ada.username, grace.key), 0);
    const events = (
      await app.request('GET', '/me/events?type=follower.added,follower.removed', { key: ada.key })
    ).assertOk(200);
    const told = { userId: grace.id, username: grace.username };
    assert.deepEqual(
      events
        .list('data')
        .map((event) => [Object(event).type, Object(event).data])
        .sort(([, a], [, b]) => a.sequence - b.sequence),
      [
        ['follower.added', { ...told, sequence: 1 }],
        ['follower.removed', { ...told, sequence: 2 }],
      ],
    );
    const facts = await app.container
      .sql`select kind from usage_event where workspace_id = ${ada.live} and kind like '%FOLLOW' order by kind`;
    assert.deepEqual(
      facts.map(({ kind }) => kind),
      ['FOLLOW', 'UNFOLLOW'],
      'both are counted',
    );
  });

  test('concurrent follows and unfollows are counted exactly', async () => {
    const ada = await account();
    const crowd = await Promise.all(Array.from({ length: 6 }, () => account()));
    const calls = crowd.flatMap(({ key }) =>
      [follow, follow, unfollow, follow].map((act) => act(ada.username, key)),
    );
    for (const { status } of await Promise.all(calls))
      assert.ok([200, 201, 404].includes(status), String(status));
    const { db } = app.container;
    const rows = await db.selectFrom('follow').select('id').where('workspace_id', '=', ada.live).execute();
    assert.equal(await countOf(ada.username, ada.key), rows.length);
    await Promise.all(crowd.map(({ key }) => unfollow(ada.username, key)));
    assert.equal(await countOf(ada.username, ada.key), 0);
  });

  test('follows in test mode are separate from live mode', async () => {
    const [ada, grace] = [await account(), await account()];
    const [adaTest, graceTest] = [await testKeyOf(ada), await testKeyOf(grace)];
    (await follow(ada.username, graceTest)).assertOk(201);
    assert.deepEqual(
      [await countOf(ada.username, graceTest), await countOf(ada.username, grace.key)],
      [1, 0],
    );
    for (const [key, count] of [
      [adaTest, 1],
      [ada.key, 0],
    ] as const) {
      const events = await app.request('GET', '/me/events?type=follower.added', { key });
      assert.equal(events.assertOk(200).list('data').length, count);
    }
    (await unfollow(ada.username, grace.key)).assertError('NOT_FOUND');
  });

  test('a follow needs a key with write access, and is limited to 60 in an hour', async () => {
    const [ada, grace] = [await account(), await account()];
    const readOnly = await app.container.apiKeys.create({ email: grace.email, scope: 'READ_ONLY' });
    (await user(ada.username, readOnly.key)).assertOk(200);
    for (const act of [follow, unfollow])
      (await act(ada.username, readOnly.key)).assertError('INSUFFICIENT_SCOPE');
    (await app.request('POST', `/users/${ada.username}/subscribe`)).assertError('UNAUTHORIZED');
    await Promise.all(Array.from({ length: 60 }, () => follow(ada.username, grace.key)));
    (await follow(ada.username, grace.key)).assertError('RATE_LIMITED');
    (await unfollow(ada.username, grace.key)).assertOk(200);
  });
});

describe('FOLLOWERS visibility', () => {
  test('a video opens only to signed-in followers', async () => {
    const [ada, grace, eve] = [await account(), await person(), await person()];
    const id = await addVideo(app.container, ada, madeUpFiles(), { visibility: 'FOLLOWERS' });
    const browser = new Browser(app);
    await browser.signIn(grace);
    const statuses = async (headers: Record<string, string>) => {
      const paths = [`/v/${id}/master.m3u8`, `/v/${id}/${FOLDER}/1080p/index.m3u8`, `/embed/${id}`];
      const answers = await Promise.all(paths.map((path) => fetch(app.url + path, { headers })));
      await Promise.all(answers.map((answer) => answer.arrayBuffer()));
      return [...new Set(answers.map(({ status }) => status))];
    };
    /** The page explains how to get access and has no player. */
    const offersToFollow = async (headers: Record<string, string>) => {
      const answer = await fetch(`${app.url}/watch/${id}`, { headers });
      const page = await answer.text();
      assert.equal(answer.status, 200);
      assert.equal(page.includes('Follow to watch'), !page.includes('<marquee-player'));
      return page.includes('Follow to watch');
    };
    const view = (headers: Record<string, string>) =>
      app.request('POST', `/videos/${id}/views`, { headers, body: { sessionId: 's', positionSec: 60 } });
    const cookie = { cookie: browser.cookie ?? '' };
    const token = { 'x-api-key': grace.key, 'x-user-token': await auth.token(grace) };
    assert.deepEqual([await statuses(cookie), await statuses(token)], [[404], [404]]);
    assert.deepEqual([await offersToFollow({}), await offersToFollow(cookie)], [true, true]);
    (await view(cookie)).assertError('NOT_FOUND');
    (await follow(ada.username, await testKeyOf(grace))).assertOk(201);
    (await follow(ada.username, grace.key)).assertOk(201);
    // The previous decision is cached for half a second.
    await waitFor(async () => (await statuses(cookie))[0] === 200);
    assert.deepEqual([await statuses(cookie), await statuses(token)], [[200], [200]]);
    assert.equal(await offersToFollow(cookie), false);
    assert.equal((await view(cookie)).assertOk(200).at('data.counted'), true);
    const stranger = new Browser(app);
    await stranger.signIn(eve);
    for (const headers of [
      {},
      { cookie: stranger.cookie ?? '' },
      { cookie: `${browser.cookie}x` },
      { 'x-api-key': grace.key },
      { 'x-user-token': token['x-user-token'] },
      { 'x-user-token': token['x-user-token'], 'x-api-key': eve.key },
      { 'x-user-token': 'garbage', 'x-api-key': grace.key },
    ]) {
      assert.deepEqual(await statuses(headers), [404], JSON.stringify(Object.keys(headers)));
      assert.equal(await offersToFollow(headers), true);
      (await view({})).assertError('NOT_FOUND');
    }
  });

  test('only followers can write in a chat for followers', async () => {
    const [ada, grace] = [await account(), await person()];
    const { id } = await createChat(app, ada.key, { chatMode: 'FOLLOWERS' });
    (await follow(ada.username, grace.key)).assertOk(201);
    const browser = new Browser(app);
    await browser.signIn(grace);
    const post = async (path: string, body: object, headers: Record<string, string>) => {
      const answer = await fetch(`${app.url}/live/${id}/chat${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      });
      return { status: answer.status, data: Object(await answer.json()).data };
    };
    const guest = await post('/guest', { name: 'Grace' }, {});
    const body = { session: String(guest.data.session), text: 'Hello' };
    assert.equal((await post('', body, {})).status, 403);
    const cookie = { cookie: browser.cookie ?? '' };
    assert.equal((await post('', body, cookie)).status, 201);
    const page = async (headers: Record<string, string>) =>
      (await fetch(`${app.url}/watch/${id}`, { headers })).text();
    assert.match(await page({}), /Only followers of/);
    assert.doesNotMatch(await page(cookie), /Only followers of/);
  });
});
