import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { runTask } from '../../../../test/harness/modules.ts';
import { waitFor } from '../../../../test/harness/wait-for.ts';
import type { Release } from '../../../kernel/release.ts';
import { RELEASES } from './releases.ts';

const NOW = '2027-02-01T09:00:00.000Z';
const DAY = 86_400_000;
const clock = new TestClock(NOW);

const SECOND: Release = {
  version: '1.1.0',
  date: '2027-01-01',
  entries: [
    { type: 'FIXED', title: 'A repair', description: 'It works.', endpoints: [] },
    {
      type: 'DEPRECATED',
      title: 'Playlists go',
      description: 'Use videos.',
      endpoints: ['GET /playlists'],
      ending: { sunset: '2028-01-01', successor: '/videos', code: 'CATALOG_DISABLED' },
    },
  ],
};
const COMING: Release = { version: '1.2.0', date: null, entries: SECOND.entries };

let app: TestApp;
before(async () => {
  app = await startTestApp({ clock, releases: [...RELEASES, SECOND, COMING] });
});
after(() => app.close());
beforeEach(() => clock.set(NOW));

const list = (query = '') => app.request('GET', `/changelog${query}`);
const versions = async (query = '') =>
  (await list(query))
    .assertOk(200)
    .list('data')
    .map((row) => Object(row).version);

describe('GET /changelog', () => {
  test('published releases are listed newest first, without a key', async () => {
    assert.deepEqual(await versions(), ['1.1.0', '1.0.0']);
    assert.deepEqual(await versions('?order=asc'), ['1.0.0', '1.1.0']);
    const [newest] = (await list()).list('data');
    assert.deepEqual(newest, {
      version: '1.1.0',
      releasedAt: '2027-01-01T00:00:00.000Z',
      entries: [
        {
          ...{ type: 'FIXED', title: 'A repair', description: 'It works.', endpoints: [] },
          ...{ breaking: false, sunsetAt: null },
        },
        {
          ...{ type: 'DEPRECATED', title: 'Playlists go', description: 'Use videos.' },
          ...{ endpoints: ['GET /playlists'], breaking: false, sunsetAt: '2028-01-01T00:00:00.000Z' },
        },
      ],
    });
  });

  test('releases can be filtered by type and by version or date, and are paged', async () => {
    assert.deepEqual(await versions('?type=SECURITY'), ['1.0.0']);
    const fixed = (await list('?type=FIXED,REMOVED')).list('data');
    assert.deepEqual(
      fixed.map((row) => Object(row).entries.length),
      [1],
    );
    assert.deepEqual(await versions('?since=1.0.0'), ['1.1.0']);
    assert.deepEqual(await versions('?since=1.1.0'), []);
    assert.deepEqual(await versions('?since=2026-11-02'), ['1.1.0']);
    assert.deepEqual(await versions('?since=2026-11-01'), ['1.1.0', '1.0.0']);
    assert.deepEqual(await versions('?createdBefore=2026-12-01T00:00:00Z'), ['1.0.0']);
    const first = (await list('?limit=1')).assertOk(200);
    assert.deepEqual(await versions(`?limit=1&cursor=${first.string('pagination.nextCursor')}`), ['1.0.0']);
    const noDays = [
      '2026-13-45',
      '2026-02-30',
      '2026-00-01',
      '0000-00-00',
      '20261101',
      '2026-11-01T00:00:00Z',
    ];
    for (const since of ['1.2.0', '9', 'yesterday', ...noDays])
      (await list(`?since=${since}`)).assertError('BAD_REQUEST', 'since');
    (await list('?type=NEWS')).assertError('BAD_REQUEST', 'type');
    (await list('?cursor=none')).assertError('BAD_REQUEST', 'cursor');
  });

  test('one of them, and the latest', async () => {
    const latest = (await list('/latest')).assertOk(200);
    assert.equal(latest.at('data.version'), '1.1.0');
    assert.deepEqual((await list('/1.1.0')).assertOk(200).json, latest.json);
    for (const version of ['1.2.0', '1', 'none']) (await list(`/${version}`)).assertError('NOT_FOUND');
  });

  test('the first release has the two rules that were in force before it', async () => {
    const titles = (await list('/1.0.0?type=SECURITY'))
      .assertOk(200)
      .list('data.entries')
      .filter((entry) => Object(entry).breaking);
    assert.match(String(Object(titles[0]).description), /READ_ONLY.*STANDARD.*FINANCIAL_SCOPE_REQUIRED/);
    assert.match(String(Object(titles[1]).description), /query/);
  });
});

const listEvents = async (key: string, type: string) =>
  (await app.request('GET', `/me/events?type=${type}`, { key })).assertOk(200).list('data').map(Object);
const noticed = async (key: string) =>
  (await app.request('GET', '/notifications', { key })).assertOk(200).list('data').map(Object);

describe('changelog.published', () => {
  test('releases already known at the first start notify no accounts', async () => {
    assert.ok(await app.container.accounts.isEmpty());
    await app.container.changelog.see();
    const { key } = await app.createKey();
    await runTask(app.container, 'release announcements');
    assert.deepEqual(await listEvents(key, 'changelog.published'), []);
  });

  test('comes once for each account that is older, in parts, and is a notification', async () => {
    await app.container.sql`truncate release_notice`;
    const accounts = [];
    for (let n = 0; n < 3; n++) accounts.push(await app.createKey());
    await app.container.changelog.see();
    clock.advance(DAY);
    const younger = await app.createKey();
    await app.container.sql`update account set created_at = ${clock.now()} where id = ${younger.account.id}`;
    await Promise.all([
      runTask(app.container, 'release announcements'),
      runTask(app.container, 'release announcements'),
    ]);
    await app.container.changelog.see();
    await runTask(app.container, 'release announcements');
    for (const { key } of accounts) {
      assert.deepEqual(
        (await listEvents(key, 'changelog.published'))
          .map(({ data }) => [data.version, data.breaking])
          .sort(),
        [
          ['1.0.0', true],
          ['1.1.0', false],
        ],
      );
      assert.deepEqual(
        (await noticed(key)).map(({ title, severity }) => [title, severity]).sort(),
        ['1.0.0', '1.1.0'].map((version) => [`API release ${version} is available`, 'INFO']),
      );
    }
    assert.deepEqual(await listEvents(younger.key, 'changelog.published'), []);
  });

  test('notifying accounts continues after an interruption', async () => {
    await app.container.sql`truncate release_notice`;
    const account = await app.createKey();
    await app.container.changelog.see();
    // State of a run that was killed before it notified the last workspace.
    await app.container.sql`update release_notice set last_workspace_id =
      (select max(id) from workspace where mode = 'live' and account_id <> ${account.account.id})`;
    await runTask(app.container, 'release announcements');
    assert.equal((await listEvents(account.key, 'changelog.published')).length, 2);
    const [row] = await app.container.sql`select count(*)::int as rows from event
      where type = 'changelog.published' and workspace_id = ${account.account.live}`;
    assert.equal(row?.rows, 2);
  });
});

test('callers of a deprecated endpoint get a header on each response and a notification once in 30 days', async () => {
  const user = await app.createKey();
  const other = await app.createKey();
  const call = async (path: string) => (await app.request('GET', path, { key: user.key })).assertOk(200);
  assert.equal((await call('/videos')).headers.deprecation, undefined);
  const answer = await call('/playlists');
  assert.equal(answer.headers.deprecation, `@${Date.UTC(2027, 0, 1) / 1000}`);
  assert.equal(answer.headers.sunset, 'Sat, 01 Jan 2028 00:00:00 GMT');
  assert.match(
    answer.headers.link ?? '',
    /changelog>; rel="deprecation".*\/videos>; rel="successor-version"/,
  );
  const tell = () => runTask(app.container, 'deprecated endpoint usage');
  const noted = (after: Date) =>
    waitFor(async () => {
      const [row] = await app.container.sql`select 1 from deprecated_endpoint_usage
        where workspace_id = ${user.account.live} and last_used_at >= ${after}`;
      return row !== undefined;
    });
  await noted(clock.now());
  await tell();
  await tell();
  const [event, ...more] = await listEvents(user.key, 'changelog.deprecation_used');
  assert.deepEqual(more, []);
  assert.deepEqual(event.data, {
    endpoint: 'GET /playlists',
    lastUsedAt: NOW,
    sunsetAt: '2028-01-01T00:00:00.000Z',
    successor: '/videos',
    sequence: 1,
  });
  const [notice] = await noticed(user.key);
  assert.equal(notice.title, 'Your keys call GET /playlists, which is deprecated');
  assert.deepEqual(await listEvents(other.key, 'changelog.deprecation_used'), []);
  // A month later it is called no more: silence. Then it is called again.
  clock.advance(31 * DAY);
  await tell();
  assert.equal((await listEvents(user.key, 'changelog.deprecation_used')).length, 1);
  await call('/playlists');
  await noted(clock.now());
  await tell();
  assert.equal((await listEvents(user.key, 'changelog.deprecation_used')).length, 2);
  clock.set('2028-01-01T00:00:00Z');
  (await app.request('GET', '/playlists', { key: user.key })).assertError('CATALOG_DISABLED');
});
