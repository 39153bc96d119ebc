import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Browser } from '../../../../test/auth/browser.ts';
import { type AuthFixture, PASSWORD, type Person, startAuthFixture } from '../../../../test/auth/fixture.ts';
import type { TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import type { TestResponse } from '../../../../test/harness/response.ts';
import { withLockContention } from '../../../../test/harness/with-lock-contention.ts';

let auth: AuthFixture;
let app: TestApp;
const clock = new TestClock('2026-11-20T09:00:00Z');
const DAY = 86_400_000;

before(async () => {
  auth = await startAuthFixture(clock, { REGISTRATION: 'invite' });
  app = auth.app;
});
after(() => auth.close());

const invite = (key: string, email: string, teamRole = 'EDITOR') =>
  app.request('POST', '/team/invitations', { key, body: { email, teamRole } });
const team = async (key: string) => (await app.request('GET', '/team', { key })).assertOk(200);
const seats = async (key: string) => (await team(key)).at('data.seatsUsed');

/** Returns the token of the latest link sent to the address. */
async function tokenOf(email: string): Promise<string> {
  const link = /http:\/\/marquee\.test\/dashboard\/invitations\/([\w-]{43})\s/;
  const tokens = (await auth.mailsTo(email)).flatMap((text) => link.exec(text)?.[1] ?? []);
  const token = tokens.at(-1);
  assert.ok(token !== undefined, `a link went to ${email}`);
  return token;
}

async function signedIn(person: Person): Promise<Browser> {
  const browser = new Browser(app);
  await browser.signIn(person);
  return browser;
}

const accept = (browser: Browser, token: string) =>
  browser.send('POST', '/team/invitations/accept', { body: { token } });

async function join(owner: Person, person: Person, teamRole = 'EDITOR'): Promise<string> {
  (await invite(owner.key, person.email, teamRole)).assertOk(201);
  (await accept(await signedIn(person), await tokenOf(person.email))).assertOk(200);
  const members = (await team(owner.key)).list('data.members').map(Object);
  return String(members.find(({ userId }) => userId === person.id)?.id);
}

/** Returns sorted events, because the clock does not advance. */
async function eventsOf(key: string): Promise<string[]> {
  const answer = await app.request('GET', '/me/events?type=team.*&order=asc', { key });
  return answer
    .assertOk(200)
    .list('data')
    .map((event) => String(Object(event).type))
    .sort();
}

/** Sends requests that are all authorized and then wait for the team lock of the account, in order. */
function inTurn(accountId: string, requests: (() => Promise<TestResponse>)[]): Promise<TestResponse[]> {
  return withLockContention(
    app.container.sql,
    (tx) => tx`select from workspace where account_id = ${accountId} for update`,
    requests,
  );
}

describe('invitations', () => {
  test('an invitation is emailed, accepted, and emits events', async () => {
    const [owner, guest] = [await auth.person(), await auth.person()];
    const made = (await invite(owner.key, ` ${guest.email.toUpperCase()} `)).assertOk(201);
    const { id, ...rest } = Object(made.at('data'));
    assert.deepEqual(rest, {
      email: guest.email,
      teamRole: 'EDITOR',
      status: 'PENDING',
      invitedBy: owner.id,
      createdAt: '2026-11-20T09:00:00.000Z',
      expiresAt: '2026-11-27T09:00:00.000Z',
    });
    const token = await tokenOf(guest.email);
    const [stored] = await app.container.sql`select hash from team_invitation where id = ${id}`;
    assert.ok(!Buffer.from(Object(stored).hash).toString('latin1').includes(token));
    const preview = await app.request('POST', '/team/invitations/preview', { body: { token } });
    assert.deepEqual(Object.keys(Object(preview.assertOk(200).at('data'))).sort(), [
      ...['accountName', 'email', 'expiresAt', 'status', 'teamRole'],
    ]);
    const browser = await signedIn(guest);
    const accepted = (await accept(browser, token)).assertOk(200);
    assert.equal(accepted.at('data.accountId'), owner.id);
    (await accept(browser, token)).assertError('CONFLICT', 'token');
    const seen = await team(owner.key);
    assert.deepEqual(
      seen.list('data.members').map((member) => [Object(member).email, Object(member).teamRole]),
      [
        [owner.email, 'OWNER'],
        [guest.email, 'EDITOR'],
      ],
    );
    assert.equal(seen.at('data.accountId'), owner.id);
    assert.equal(seen.at('data.seatsUsed'), 2);
    assert.equal(seen.at('data.seatsLimit'), 50);
    assert.equal(seen.at('data.members.1.status'), 'ACTIVE');
    const list = (await app.request('GET', '/team/invitations', { key: owner.key })).assertOk(200);
    assert.equal(list.at('data.0.status'), 'ACCEPTED');
    (await app.request('DELETE', `/team/invitations/${id}`, { key: owner.key })).assertError('CONFLICT');
    assert.deepEqual(await eventsOf(owner.key), ['team.member_added']);
    const notices = await app.request('GET', '/notifications?type=team.member_added', { key: owner.key });
    assert.equal(notices.assertOk(200).list('data').length, 1);
  });

  test('an invitation for a member, an invited address or an invalid address is rejected', async () => {
    const [owner, guest] = [await auth.person(), await auth.person()];
    (await invite(owner.key, owner.email)).assertError('CONFLICT', 'email');
    await join(owner, guest);
    (await invite(owner.key, guest.email)).assertError('CONFLICT', 'email');
    (await invite(owner.key, 'new@example.com')).assertOk(201);
    (await invite(owner.key, 'New@example.com', 'ANALYST')).assertError('CONFLICT', 'email');
    for (const email of [
      '',
      'none',
      'a@b',
      'a b@example.com',
      'a@example.com\nBcc: b@example.com',
      'ü@',
      '\0@example.com',
    ]) {
      (await invite(owner.key, email)).assertError('BAD_REQUEST', 'email');
    }
    (await invite(owner.key, `${'a'.repeat(250)}@example.com`)).assertError('BAD_REQUEST', 'email');
    for (const role of ['OWNER', 'admin', '', 'toString']) {
      (await invite(owner.key, 'other@example.com', role)).assertError('BAD_REQUEST', 'teamRole');
    }
    assert.equal(await seats(owner.key), 3);
  });

  test('an invitation is only for its address', async () => {
    const [owner, guest, other] = [await auth.person(), await auth.person(), await auth.person()];
    (await invite(owner.key, guest.email)).assertOk(201);
    const token = await tokenOf(guest.email);
    (await accept(await signedIn(other), token)).assertError('CONFLICT', 'token');
    (await accept(await signedIn(owner), token)).assertError('CONFLICT', 'token');
    (await accept(await signedIn(guest), 'x'.repeat(43))).assertError('NOT_FOUND');
    const body = { token };
    (await app.request('POST', '/team/invitations/accept', { body })).assertError('UNAUTHORIZED');
    const keyed = await app.request('POST', '/team/invitations/accept', { key: guest.key, body });
    keyed.assertError('UNAUTHORIZED');
    assert.equal((await team(owner.key)).list('data.members').length, 1);
  });

  test('a revoked or expired invitation frees its seat and cannot be accepted', async () => {
    const [owner, guest] = [await auth.person(), await auth.person()];
    const browser = await signedIn(guest);
    const id = (await invite(owner.key, guest.email)).assertOk(201).string('data.id');
    const revoked = await tokenOf(guest.email);
    for (let times = 0; times < 2; times++) {
      (await app.request('DELETE', `/team/invitations/${id}`, { key: owner.key })).assertOk(200);
    }
    assert.equal(await seats(owner.key), 1);
    (await accept(browser, revoked)).assertError('CONFLICT', 'token');
    (await invite(owner.key, guest.email)).assertOk(201);
    const late = await tokenOf(guest.email);
    clock.advance(7 * DAY);
    assert.equal(await seats(owner.key), 1);
    (await accept(browser, late)).assertError('CONFLICT', 'token');
    const path = '/team/invitations?status=';
    const ids = async (status: string) =>
      (await app.request('GET', path + status, { key: owner.key })).assertOk(200).list('data').length;
    assert.deepEqual([await ids('PENDING'), await ids('EXPIRED'), await ids('REVOKED,EXPIRED')], [0, 1, 2]);
    (await app.request('GET', `${path}LATE`, { key: owner.key })).assertError('BAD_REQUEST', 'status');
    (await invite(owner.key, guest.email)).assertOk(201);
    (await accept(browser, await tokenOf(guest.email))).assertOk(200);
  });

  test('an invitation lets an address without an account register when registration needs one', async () => {
    const owner = await auth.person();
    const register = (email: string, inviteToken: string) =>
      new Browser(app).send('POST', '/auth/session/register', {
        body: { email, password: PASSWORD, inviteToken },
      });
    (await invite(owner.key, 'newcomer@example.com')).assertOk(201);
    const token = await tokenOf('newcomer@example.com');
    (await register('other@example.com', token)).assertError('REGISTRATION_CLOSED', 'inviteToken');
    const browser = new Browser(app);
    const body = { email: 'newcomer@example.com', password: PASSWORD, inviteToken: token };
    browser.begun(await browser.send('POST', '/auth/session/register', { body }));
    (await browser.get('/me')).assertError('EMAIL_NOT_VERIFIED');
    (await accept(browser, token)).assertOk(200);
    // The emailed token has verified the address.
    assert.equal((await browser.get('/me')).assertOk(200).at('data.emailVerified'), true);

    const id = (await invite(owner.key, 'late@example.com')).assertOk(201).string('data.id');
    const taken = await tokenOf('late@example.com');
    (await app.request('DELETE', `/team/invitations/${id}`, { key: owner.key })).assertOk(200);
    (await register('late@example.com', taken)).assertError('REGISTRATION_CLOSED', 'inviteToken');
  });
});

describe('seats', () => {
  test('seats stay exact under concurrent acceptances after a downgrade', async () => {
    const other = await auth.person();
    const people = await Promise.all(Array.from({ length: 5 }, () => auth.person()));
    const tries: (() => Promise<TestResponse>)[] = [];
    for (const person of people) {
      (await invite(other.key, person.email)).assertOk(201);
      const [browser, token] = [await signedIn(person), await tokenOf(person.email)];
      tries.push(...[1, 2, 3].map(() => () => accept(browser, token)));
    }
    await app.container.accounts.setPlan(other.email, 'STAR');
    const accepted = (await Promise.all(tries.map((one) => one()))).filter(({ status }) => status === 200);
    assert.equal(accepted.length, 2, 'the plan has three seats now');
    assert.equal((await team(other.key)).list('data.members').length, 3);
  });

  test("the FREE plan has only the owner's seat", async () => {
    const owner = await auth.person();
    await app.container.accounts.setPlan(owner.email, 'FREE');
    (await invite(owner.key, 'any@example.com')).assertError('QUOTA_EXCEEDED');
    assert.equal((await auth.mailsTo('any@example.com')).length, 0);
  });
});

describe('members', () => {
  test('members get other roles, are removed, and leave', async () => {
    const [owner, guest] = [await auth.person(), await auth.person()];
    const id = await join(owner, guest);
    const patch = (path: string, teamRole: string, key = owner.key) =>
      app.request('PATCH', `/team/members/${path}`, { key, body: { teamRole } });
    assert.equal((await patch(id, 'ANALYST')).assertOk(200).at('data.teamRole'), 'ANALYST');
    (await patch(id, 'ANALYST')).assertOk(200);
    (await patch(id, 'OWNER')).assertError('BAD_REQUEST', 'teamRole');
    (await patch(id, 'EDITOR', guest.key)).assertError('NOT_FOUND');
    const own = (await team(owner.key)).string('data.members.0.id');
    (await patch(own, 'EDITOR')).assertError('CONFLICT');
    const remove = (path: string) => app.request('DELETE', `/team/members/${path}`, { key: owner.key });
    (await remove(own)).assertError('CONFLICT');
    (await remove(id)).assertOk(200);
    (await remove(id)).assertError('NOT_FOUND');
    await join(owner, guest, 'ADMIN');
    const browser = await signedIn(guest);
    const leave = (accountId: string) => browser.send('POST', '/team/leave', { body: { accountId } });
    (await leave(guest.id)).assertError('NOT_FOUND');
    (await leave(owner.id)).assertOk(200);
    (await leave(owner.id)).assertError('NOT_FOUND');
    assert.deepEqual(await eventsOf(owner.key), [
      ...['team.member_added', 'team.member_added', 'team.member_removed', 'team.member_removed'],
      'team.role_changed',
    ]);
  });

  test('a member who is being removed cannot invite or change anyone, by session or key', async () => {
    const [owner, guest, other] = [await auth.person(), await auth.person(), await auth.person()];
    const id = await join(owner, guest, 'ADMIN');
    const otherId = await join(owner, other);
    const browser = await signedIn(guest);
    const there = { 'x-account-id': owner.id };
    const body = { name: 'Theirs', scope: 'FULL_ACCESS' };
    const made = await browser.send('POST', '/me/api-keys', { body, headers: there });
    const key = made.assertOk(201).string('data.key');
    const path = `/team/members/${otherId}`;
    const [removed, ...late] = await inTurn(owner.id, [
      () => app.request('DELETE', `/team/members/${id}`, { key: owner.key }),
      () =>
        browser.send('POST', '/team/invitations', {
          body: { email: 'ally@example.com', teamRole: 'ADMIN' },
          headers: there,
        }),
      () => browser.send('PATCH', path, { body: { teamRole: 'ADMIN' }, headers: there }),
      () => browser.send('DELETE', path, { headers: there }),
      () => invite(key, 'friend@example.com'),
    ]);
    removed?.assertOk(200);
    const byKey = late.pop();
    for (const answer of late) answer.assertError('PERMISSION_DENIED');
    byKey?.assertError('KEY_DISABLED');
    const pending = await app.request('GET', '/team/invitations?status=PENDING', { key: owner.key });
    assert.deepEqual(pending.assertOk(200).list('data'), []);
    assert.equal((await team(owner.key)).at('data.members.1.teamRole'), 'EDITOR');
  });

  test('a member whose role is being lowered cannot invite', async () => {
    const [owner, guest] = [await auth.person(), await auth.person()];
    const id = await join(owner, guest, 'ADMIN');
    const browser = await signedIn(guest);
    const headers = { 'x-account-id': owner.id };
    const body = { email: 'ally@example.com', teamRole: 'EDITOR' };
    const [, late] = await inTurn(owner.id, [
      () => app.request('PATCH', `/team/members/${id}`, { key: owner.key, body: { teamRole: 'EDITOR' } }),
      () => browser.send('POST', '/team/invitations', { body, headers }),
    ]);
    late?.assertError('PERMISSION_DENIED');
  });

  describe("rotating another's key", () => {
    /** Returns an administrator and an owner's key that they rotated before, and the owner afterwards. */
    async function rotated() {
      const [owner, guest] = [await auth.person(), await auth.person()];
      const id = await join(owner, guest, 'ADMIN');
      const browser = await signedIn(guest);
      const headers = { 'x-account-id': owner.id };
      const mint = { key: owner.key, body: { name: 'Shared', scope: 'FULL_ACCESS' } };
      const keyId = (await app.request('POST', '/me/api-keys', mint)).assertOk(201).string('data.id');
      const path = `/me/api-keys/${keyId}/rotate`;
      const rotate = () => browser.send('POST', path, { body: { overlapSec: 3600 }, headers });
      (await rotate()).assertOk(200);
      const again = { key: owner.key, body: { overlapSec: 3600 } };
      const secret = (await app.request('POST', path, again)).assertOk(200).string('data.key');
      const remove = () => app.request('DELETE', `/team/members/${id}`, { key: owner.key });
      return { owner, guest, keyId, browser, headers, rotate, remove, secret };
    }
    const works = async (key: string) => (await app.request('GET', '/streams', { key })).status;

    test('a member who is being removed cannot rotate it', async () => {
      const { guest, browser, headers, rotate, remove, secret } = await rotated();
      const body = { email: 'somebody@example.com', teamRole: 'EDITOR' };
      (await browser.send('POST', '/team/invitations', { body, headers })).assertOk(201);
      const [removed, late] = await withLockContention(
        app.container.sql,
        // Their keys have ended, and their invitations are about to be revoked.
        (tx) => tx`select from team_invitation where invited_by = ${guest.id} for update`,
        [remove, rotate],
      );
      removed?.assertOk(200);
      late?.assertError('OWNER_SCOPE_REQUIRED');
      assert.equal(await works(secret), 200);
    });

    test('a rotation that has just completed ends with the member', async () => {
      const { owner, keyId, rotate, remove, secret } = await rotated();
      const [made, removed] = await withLockContention(
        app.container.sql,
        // Their membership has been checked, and the old secrets are about to expire.
        (tx) =>
          tx`select from api_key_retired_secret where key_id = ${keyId} and created_by is null for update`,
        [rotate, remove],
      );
      removed?.assertOk(200);
      for (const key of [secret, made?.assertOk(200).string('data.key') ?? '']) {
        assert.equal(await works(key), 401);
      }
      const kept = await app.request('GET', `/me/api-keys/${keyId}`, { key: owner.key });
      assert.notEqual(kept.assertOk(200).at('data.revokedAt'), null);
    });
  });

  test("a role is assigned only up to the caller's own access, and only by live keys", async () => {
    const [owner, guest] = [await auth.person(), await auth.person()];
    const keyOf = async (grant: { scope: 'STANDARD'; permissions?: string[]; mode?: 'test' }) =>
      (await app.container.apiKeys.create({ email: owner.email, ...grant })).key;
    const standard = await keyOf({ scope: 'STANDARD' });
    const inviter = await keyOf({ scope: 'STANDARD', permissions: ['team:write'] });
    (await invite(standard, 'a@example.com', 'ADMIN')).assertError('MINT_CEILING_EXCEEDED', 'teamRole');
    (await invite(inviter, 'a@example.com', 'ANALYST')).assertError('MINT_CEILING_EXCEEDED', 'teamRole');
    (await invite(standard, 'a@example.com', 'EDITOR')).assertOk(201);
    const id = await join(owner, guest, 'ADMIN');
    const path = `/team/members/${id}`;
    const body = { teamRole: 'ANALYST' };
    (await app.request('PATCH', path, { key: standard, body })).assertError('PERMISSION_DENIED');
    (await app.request('DELETE', path, { key: standard })).assertError('PERMISSION_DENIED');
    const sandbox = await keyOf({ scope: 'STANDARD', mode: 'test' });
    (await invite(sandbox, 'b@example.com')).assertError('PERMISSION_DENIED');
    assert.equal((await team(sandbox)).list('data.members').length, 2);
  });
});
