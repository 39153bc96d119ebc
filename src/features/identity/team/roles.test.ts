import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Browser, OWN_ORIGIN } from '../../../../test/auth/browser.ts';
import {
  type AuthFixture,
  PASSWORD,
  type Person,
  startAuthFixture,
  totp,
} from '../../../../test/auth/fixture.ts';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { joinTeam } from '../../../../test/harness/factories.ts';
import type { TestResponse } from '../../../../test/harness/response.ts';
import { waitFor } from '../../../../test/harness/wait-for.ts';
import type { Route } from '../../../http/route.ts';
import { TEAM_ROLES, type TeamRole } from '../../../kernel/access.ts';
import { apiRoutes } from '../../../main/api.ts';

let auth: AuthFixture;
let app: TestApp;
const clock = new TestClock('2026-11-20T09:00:00Z');

before(async () => {
  auth = await startAuthFixture(clock);
  app = auth.app;
});
after(() => auth.close());

/** Member of an account's team, with a browser that selects that account. */
interface Team {
  owner: Person;
  guest: Person;
  memberId: string;
  /** Headers that select the account. */
  there: Record<string, string>;
  browser: Browser;
}

async function teamOf(teamRole: Exclude<TeamRole, 'OWNER'>): Promise<Team> {
  const [owner, guest] = [await auth.person(), await auth.person()];
  const memberId = await joinTeam(app.container.db, { accountId: owner.id, userId: guest.id, teamRole });
  const browser = new Browser(app);
  await browser.signIn(guest);
  return { owner, guest, memberId, there: { 'x-account-id': owner.id }, browser };
}

const setRole = async ({ owner, memberId }: Team, teamRole: string) =>
  (await app.request('PATCH', `/team/members/${memberId}`, { key: owner.key, body: { teamRole } })).assertOk(
    200,
  );

const remove = async ({ owner, memberId }: Team) =>
  (await app.request('DELETE', `/team/members/${memberId}`, { key: owner.key })).assertOk(200);

const mint = ({ browser, there }: Team, body: object = {}) =>
  browser.send('POST', '/me/api-keys', {
    body: { name: 'Theirs', scope: 'FULL_ACCESS', ...body },
    headers: there,
  });

describe('roles and routes', () => {
  const CONTENT = 'videos streams restreams rooms chat playlists imports upload'.split(' ');
  const REFUSALS = [
    ...['ADMIN_ONLY', 'OWNER_SCOPE_REQUIRED', 'FINANCIAL_SCOPE_REQUIRED', 'INSUFFICIENT_SCOPE'],
    ...['PERMISSION_DENIED', 'INVALID_USER_TOKEN'],
  ];

  /**
   * Returns the expected error code by the table of docs/concepts/team.md#roles, duplicated on purpose; null
   * when the role is sufficient.
   */
  function refusal(role: TeamRole, route: Route, isKey: boolean): string | null {
    const isFull = role === 'OWNER' || role === 'ADMIN';
    const isWriting = route.writes ?? route.method !== 'GET';
    if (route.selfService === true && !isKey) return null;
    const [noun = '', action] = route.permission?.split(':') ?? [];
    switch (route.gate) {
      case 'admin':
        return 'ADMIN_ONLY';
      case 'session-owner':
        return role === 'OWNER' && !isKey ? null : 'ADMIN_ONLY';
      case 'user':
        return isKey ? 'INVALID_USER_TOKEN' : null;
      case 'owner':
        // A key may act on itself: without an ID the schema rejects the request.
        if (isFull || (route.ownKey !== undefined && !route.path.includes('{'))) return null;
        return 'OWNER_SCOPE_REQUIRED';
      case 'finance-read':
      case 'finance-write':
        if (!isFull) return 'FINANCIAL_SCOPE_REQUIRED';
    }
    if (role === 'ANALYST' && isWriting) return 'INSUFFICIENT_SCOPE';
    if (role === 'EDITOR' && action === 'write' && !CONTENT.includes(noun)) return 'PERMISSION_DENIED';
    return route.onlyMode === 'test' ? 'PERMISSION_DENIED' : null;
  }

  /** Returns a URL of nothing that exists. An event stream gets an unknown type, so that it ends. */
  const addressOf = ({ path, reply }: Route) =>
    path.replace(/\{\w+\}/g, 'some-id') + (reply.envelope === 'events' ? '?type=no.such' : '');

  function check(answer: TestResponse, expected: string | null, what: string): void {
    const code = answer.status < 400 ? null : answer.at('error.code');
    if (expected !== null) assert.equal(code, expected, what);
    else assert.ok(!REFUSALS.includes(String(code)), `${what}: ${answer.text}`);
    assert.ok(answer.status < 500 && answer.status !== 401, `${what}: ${answer.text}`);
  }

  test('every route enforces the role, for a session and for a key of the member', async () => {
    const team = await teamOf('ADMIN');
    const made = (await mint(team)).assertOk(201).string('data.key');
    const routes = apiRoutes(app.container, () => true).filter(({ auth: of }) => of === 'key');
    assert.ok(routes.length > 200);
    for (const role of TEAM_ROLES) {
      const key = role === 'OWNER' ? team.owner.key : made;
      const browser = role === 'OWNER' ? new Browser(app) : team.browser;
      if (role === 'OWNER') await browser.signIn(team.owner);
      else await setRole(team, role);
      for (const route of routes) {
        const what = `${role} ${route.operationId}`;
        const path = addressOf(route);
        const byKey = app.request(route.method, path, { key, headers: { origin: OWN_ORIGIN } });
        const isKeyless = route.gate === 'user';
        if (isKeyless) (await byKey).assertError('INVALID_USER_TOKEN');
        else check(await byKey, refusal(role, route, true), `${what} with a key`);
        // This route ends the session.
        if (route.operationId === 'auth.logout') continue;
        const answer = await browser.send(route.method, path, { headers: team.there });
        check(answer, refusal(role, route, false), `${what} with a session`);
      }
    }
  });
});

describe('sessions of a member', () => {
  test('a session acts for the account that it names, in either mode', async () => {
    const team = await teamOf('EDITOR');
    const { owner, guest, browser, there } = team;
    const session = (await browser.get('/auth/session', there)).assertOk(200);
    assert.equal(session.at('data.user.id'), guest.id);
    const accounts = session.list('data.accounts').map((one) => [Object(one).id, Object(one).teamRole]);
    assert.deepEqual(accounts, [
      [guest.id, 'OWNER'],
      [owner.id, 'EDITOR'],
    ]);
    const create = (headers: Record<string, string>) =>
      browser.send('POST', '/streams', { body: { title: 'Theirs' }, headers });
    const live = (await create(there)).assertOk(201).string('data.id');
    const sandbox = (await create({ ...there, 'x-workspace-mode': 'test' })).assertOk(201);
    (await app.request('GET', `/streams/${live}`, { key: owner.key })).assertOk(200);
    (await app.request('GET', `/streams/${live}`, { key: guest.key })).assertError('NOT_FOUND');
    (await browser.get(`/streams/${live}`)).assertError('NOT_FOUND');
    assert.equal(sandbox.at('data.mode'), 'test');
    const me = (await browser.get('/me', there)).assertOk(200);
    assert.deepEqual([me.at('data.id'), me.at('data.key')], [owner.id, null]);
    const seen = (await app.request('GET', '/team', { key: owner.key })).assertOk(200);
    assert.equal(seen.at('data.members.1.lastActiveAt'), clock.now().toISOString());

    const stranger = await auth.person();
    for (const id of [stranger.id, 'usr_none', '']) {
      (await browser.get('/me', { 'x-account-id': id })).assertError('NOT_FOUND', 'X-Account-Id');
    }
    const other = new Browser(app);
    await other.signIn(owner);
    (await other.get('/me', { 'x-account-id': guest.id })).assertError('NOT_FOUND', 'X-Account-Id');
  });

  test('a session has the read marks of its person, with any role', async () => {
    const { owner, browser, there } = await teamOf('ANALYST');
    const key = owner.key;
    const unread = async (of: Promise<TestResponse>) => (await of).assertOk(200).at('data.count');
    const theirs = () => unread(browser.get('/notifications/unread-count', there));
    const ours = () => unread(app.request('GET', '/notifications/unread-count', { key }));
    await app.container.sql`delete from notification where account_id = ${owner.id}`;
    const ids = ['ntf_b', 'ntf_a'].map((name) => `${name}_${owner.id}`);
    for (const id of ids) {
      await app.container.sql`insert into notification (id, account_id, type, title, severity, created_at)
        values (${id}, ${owner.id}, 'webhook.failing', 'A webhook', 'INFO', ${clock.now()})`;
    }
    const [first = '', second = ''] = ids;
    const read = (id: string) => browser.send('POST', `/notifications/${id}/read`, { headers: there });
    const now = clock.now().toISOString();
    assert.equal((await read(first)).assertOk(200).at('data.readAt'), now);
    clock.advance(1000);
    assert.equal((await read(first)).assertOk(200).at('data.readAt'), now);
    assert.deepEqual([await theirs(), await ours()], [1, 2]);
    const home = (await browser.get('/summary', there)).assertOk(200);
    assert.equal(home.at('data.unreadNotifications'), 1);
    const left = (await browser.get('/notifications?unread=true', there)).assertOk(200);
    assert.deepEqual(
      left.list('data').map((row) => Object(row).id),
      [second],
    );
    (await app.request('POST', `/notifications/${second}/read`, { key })).assertOk(200);
    assert.equal((await browser.get(`/notifications/${second}`, there)).at('data.readAt'), null);
    const all = await browser.send('POST', '/notifications/read-all', { headers: there });
    assert.equal(all.assertOk(200).at('data.updated'), 1);
    assert.deepEqual([await theirs(), await ours()], [0, 1]);
    const gone = await browser.send('DELETE', `/notifications/${first}`, { headers: there });
    gone.assertError('INSUFFICIENT_SCOPE');
    (await read('ntf_none')).assertError('NOT_FOUND');
  });

  test("a session changes the person's own settings, regardless of the selected account", async () => {
    const { owner, guest, browser, there } = await teamOf('ANALYST');
    const body = { password: PASSWORD };
    const enrolled = await browser.send('POST', '/me/two-factor', { body, headers: there });
    const code = totp(enrolled.assertOk(201).string('data.secret'), clock.ms());
    (await browser.send('POST', '/me/two-factor/confirm', { body: { code }, headers: there })).assertOk(200);
    const enabled = async ({ key }: Person) =>
      (await app.request('GET', '/me', { key })).at('data.twoFactorEnabled');
    assert.deepEqual([await enabled(owner), await enabled(guest)], [false, true]);
    assert.equal((await browser.get('/auth/sessions', there)).assertOk(200).list('data').length, 1);
  });

  test('a session of a platform administrator is an administrator only for their own account', async () => {
    const { browser, guest, there } = await teamOf('ADMIN');
    await app.container.sql`update account set role = 'ADMIN' where id = ${guest.id}`;
    app.container.apiKeys.forget();
    (await browser.get('/admin/mails')).assertOk(200);
    (await browser.get('/admin/mails', there)).assertError('ADMIN_ONLY');
  });

  test('members of a suspended account get 404', async () => {
    const { owner, browser, there } = await teamOf('ADMIN');
    (await browser.get('/me', there)).assertOk(200);
    await app.container.accounts.suspend(owner.email);
    app.container.apiKeys.forget();
    (await browser.get('/me', there)).assertError('NOT_FOUND', 'X-Account-Id');
    assert.equal((await browser.get('/auth/session')).assertOk(200).list('data.accounts').length, 1);
  });
});

describe('keys of a member', () => {
  test("a key of a member has only the member's current access", async () => {
    const team = await teamOf('ADMIN');
    const full = (await mint(team)).assertOk(201).string('data.key');
    const money = { scope: 'STANDARD', permissions: ['finance:read'] };
    const finance = (await mint(team, money)).assertOk(201).string('data.key');
    const of = async (key: string) => {
      const me = (await app.request('GET', '/me', { key })).assertOk(200);
      return [me.at('data.key.scope'), me.at('data.key.permissions')];
    };
    assert.deepEqual(await of(full), ['FULL_ACCESS', []]);
    assert.deepEqual(await of(finance), ['STANDARD', ['finance:read']]);
    await setRole(team, 'ANALYST');
    assert.deepEqual(await of(full), ['READ_ONLY', []]);
    const reads = ['videos:read', 'streams:read', 'restreams:read', 'rooms:read'];
    assert.deepEqual(await of(finance), ['READ_ONLY', reads]);
    (await app.request('GET', '/me/payouts', { key: finance })).assertError('FINANCIAL_SCOPE_REQUIRED');
    (await app.request('GET', '/videos', { key: finance })).assertOk(200);
    (await app.request('GET', '/playlists', { key: finance })).assertError('PERMISSION_DENIED');
    // The owner's token grants a new key no additional access either.
    const token = await auth.token(team.owner);
    const body = { name: 'More', scope: 'STANDARD' };
    const headers = { 'x-user-token': token };
    const more = await app.request('POST', '/me/api-keys', { key: full, headers, body });
    more.assertError('MINT_CEILING_EXCEEDED', 'scope');
    (await mint(team)).assertError('OWNER_SCOPE_REQUIRED');
    await setRole(team, 'ADMIN');
    (await app.request('GET', '/me/payouts', { key: finance })).assertOk(200);
  });

  test('a minted key belongs to the same member, and a rotated one to the rotating actor', async () => {
    const team = await teamOf('ADMIN');
    const { owner } = team;
    const parent = (await mint(team)).assertOk(201).string('data.key');
    const post = (path: string, key: string, body: object = {}) => app.request('POST', path, { key, body });
    const child = (await post('/me/api-keys', parent, { name: 'Child' })).assertOk(201);
    const taken = (await mint(team)).assertOk(201).string('data.id');
    const kept = (await post(`/me/api-keys/${taken}/rotate`, owner.key)).assertOk(200).string('data.key');
    const theirs = (await post('/me/api-keys', owner.key, { name: 'The owner’s' })).assertOk(201);
    const path = `/me/api-keys/${theirs.string('data.id')}/rotate`;
    const lost = (await post(path, parent)).assertOk(200).string('data.key');
    await remove(team);
    for (const key of [parent, child.string('data.key'), lost]) {
      (await app.request('GET', '/me', { key })).assertError('KEY_DISABLED');
    }
    for (const key of [kept, owner.key]) (await app.request('GET', '/me', { key })).assertOk(200);
    const revoked = await app.request('GET', '/me/events?type=api_key.revoked', { key: owner.key });
    assert.equal(revoked.assertOk(200).list('data').length, 3);
  });

  test('a retired secret keeps the rights of its creator after a rotation by another', async () => {
    const team = await teamOf('ADMIN');
    const made = (await mint(team)).assertOk(201);
    const old = made.string('data.key');
    const body = { overlapSec: 3600 };
    const path = `/me/api-keys/${made.string('data.id')}/rotate`;
    const kept = await app.request('POST', path, { key: team.owner.key, body });
    const fresh = kept.assertOk(200).string('data.key');
    await setRole(team, 'ANALYST');
    const payouts = (key: string) => app.request('GET', '/me/payouts', { key });
    (await payouts(old)).assertError('FINANCIAL_SCOPE_REQUIRED');
    (await payouts(fresh)).assertOk(200);
    await remove(team);
    (await payouts(old)).assertError('KEY_DISABLED');
    (await payouts(fresh)).assertOk(200);
  });

  test('keys and sessions of a member end on every node when the member is removed', async () => {
    const node = await startTestApp({ beside: app, clock, env: { TRUST_PROXY: 'true' } });
    try {
      const team = await teamOf('ADMIN');
      const key = (await mint(team)).assertOk(201).string('data.key');
      const browser = team.browser.at(node);
      (await browser.get('/me', team.there)).assertOk(200);
      (await node.request('GET', '/me', { key })).assertOk(200);
      const streams = [
        { ...team.there, cookie: team.browser.cookie ?? '' },
        { authorization: `Bearer ${key}` },
      ];
      const opened = await Promise.all(
        streams.map((headers) => fetch(`${app.url}/api/v1/me/events/stream`, { headers })),
      );
      const texts = opened.map((response) => response.text());
      await remove(team);
      for (const text of texts)
        assert.match(await text, /event: bye\ndata: \{"reason":"(SESSION_ENDED|KEY_REVOKED)"/);
      (await team.browser.get('/me', team.there)).assertError('NOT_FOUND', 'X-Account-Id');
      (await team.browser.get('/me')).assertOk(200);
      (await app.request('GET', '/me', { key })).assertError('KEY_DISABLED');
      await waitFor(async () => (await browser.get('/me', team.there)).status === 404);
      await waitFor(async () => (await node.request('GET', '/me', { key })).status === 401);
      // A member who rejoins does not regain earlier keys.
      await joinTeam(app.container.db, {
        accountId: team.owner.id,
        userId: team.guest.id,
        teamRole: 'ADMIN',
      });
      app.container.apiKeys.forget();
      (await app.request('GET', '/me', { key })).assertError('KEY_DISABLED');
    } finally {
      await node.close();
    }
  });

  test('keys of a member do not work while the member is suspended', async () => {
    const team = await teamOf('ADMIN');
    const key = (await mint(team)).assertOk(201).string('data.key');
    await app.container.accounts.suspend(team.guest.email);
    app.container.apiKeys.forget();
    (await app.request('GET', '/me', { key })).assertError('KEY_DISABLED');
    await app.container.accounts.unsuspend(team.guest.email);
    app.container.apiKeys.forget();
    (await app.request('GET', '/me', { key })).assertOk(200);
  });
});
