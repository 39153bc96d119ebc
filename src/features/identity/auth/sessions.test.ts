import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Browser } from '../../../../test/auth/browser.ts';
import {
  type AuthFixture,
  linkToken,
  newAddress,
  PASSWORD,
  type Person,
  startAuthFixture,
  totp,
} from '../../../../test/auth/fixture.ts';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { waitFor } from '../../../../test/harness/wait-for.ts';

let auth: AuthFixture;
let app: TestApp;
const clock = new TestClock('2026-11-20T09:00:00Z');

before(async () => {
  auth = await startAuthFixture(clock, { REGISTRATION: 'open', TERMS_URL: 'https://example.com/terms' });
  app = auth.app;
});
after(() => auth.close());

/** Creates a person with a signed-in browser. */
async function signedIn(): Promise<{ person: Person; browser: Browser }> {
  const person = await auth.person();
  const browser = new Browser(app);
  await browser.signIn(person);
  return { person, browser };
}

const form = async (path: string, fields: Record<string, string>) => {
  const response = await fetch(app.url + path, { method: 'POST', body: new URLSearchParams(fields) });
  return { status: response.status, text: await response.text() };
};

describe('signing in and out', () => {
  test('the cookie authenticates the session, and the response names its account', async () => {
    const person = await auth.person();
    const browser = new Browser(app);
    const answer = await browser.signIn(person);
    assert.deepEqual(Object.keys(Object(answer.at('data'))).sort(), [
      'accounts',
      'csrfToken',
      'expiresAt',
      'hasMailbox',
      'user',
    ]);
    assert.equal(answer.at('data.user.email'), person.email);
    assert.equal(answer.at('data.user.key'), undefined);
    assert.deepEqual(answer.list('data.accounts'), [
      { id: person.id, name: answer.at('data.user.username'), teamRole: 'OWNER' },
    ]);
    assert.equal(answer.at('data.expiresAt'), '2026-12-04T09:00:00.000Z');
    const again = (await browser.get('/auth/session')).assertOk(200);
    assert.deepEqual(again.at('data'), answer.at('data'));
    const me = (await browser.get('/me')).assertOk(200);
    assert.deepEqual(me.at('data'), { ...Object(answer.at('data.user')), key: null });
  });

  test('signing out clears the cookie and invalidates it everywhere', async () => {
    const { browser } = await signedIn();
    const { cookie } = browser;
    assert.deepEqual((await browser.send('DELETE', '/auth/session')).assertOk(200).at('data'), {
      signedOut: true,
    });
    assert.equal(browser.cookie, null);
    browser.cookie = cookie;
    (await browser.get('/auth/session')).assertError('UNAUTHORIZED');
    (await browser.get('/streams')).assertError('UNAUTHORIZED').assertRateLimited(false);
  });

  test('an unknown address, a wrong password and a suspended account get identical responses', async () => {
    const [known, suspended] = [await auth.person(), await auth.person({ suspended: true })];
    const texts = [
      { email: 'nobody@example.com', password: PASSWORD },
      { email: known.email, password: 'wrong horse battery staple' },
      { email: suspended.email, password: PASSWORD },
    ].map(async (body) => {
      const browser = new Browser(app);
      const { text } = (await browser.send('POST', '/auth/session', { body })).assertError(
        'INVALID_CREDENTIALS',
      );
      assert.equal(browser.cookie, null);
      return text;
    });
    assert.equal(new Set(await Promise.all(texts)).size, 1);
  });

  test('the second factor is required, and a recovery code replaces a lost app', async () => {
    const person = await auth.person();
    const { secret, recoveryCodes } = await auth.enrol(person, await auth.token(person));
    const challenged = async (browser: Browser) => {
      const body = { email: person.email, password: PASSWORD };
      const answer = await browser.send('POST', '/auth/session', { body });
      assert.equal(answer.status, 401);
      assert.equal(answer.at('error.code'), 'SECOND_FACTOR_REQUIRED');
      assert.equal(answer.at('twoFactorRequired'), true);
      assert.equal(answer.at('expiresIn'), 300);
      assert.equal(browser.cookie, null);
      return answer.string('challengeId');
    };
    const browser = new Browser(app);
    const challengeId = await challenged(browser);
    const wrong = await browser.send('POST', '/auth/session/2fa', { body: { challengeId, code: '000000' } });
    wrong.assertError('INVALID_CREDENTIALS');
    const code = totp(secret, clock.ms());
    browser.begun(await browser.send('POST', '/auth/session/2fa', { body: { challengeId, code } }));
    assert.equal((await browser.get('/me')).assertOk(200).at('data.twoFactorEnabled'), true);

    const another = new Browser(app);
    const [recovery = ''] = recoveryCodes;
    const body = { challengeId: await challenged(another), code: recovery };
    another.begun(await another.send('POST', '/auth/session/2fa', { body }));
    assert.equal((await another.get('/me/two-factor')).assertOk(200).at('data.recoveryCodesLeft'), 9);
    const twice = { challengeId: await challenged(new Browser(app)), code: recovery };
    const refused = await new Browser(app).send('POST', '/auth/session/2fa', { body: twice });
    refused.assertError('INVALID_CREDENTIALS');
    // A person who lost the app turns the second factor off with the next code.
    const off = { password: PASSWORD, code: recoveryCodes[1] };
    (await another.send('DELETE', '/me/two-factor', { body: off })).assertOk(200);
    await new Browser(app).signIn(person);
  });

  test('an address of a megabyte is rejected quickly', async () => {
    // Sorting these combining marks for normalization takes quadratic time.
    const marks = `a${'\u0301'.repeat(120_000)}${'\u0316'.repeat(120_000)}`;
    const begun = performance.now();
    const body = { email: `${marks}@example.com`, password: PASSWORD };
    (await new Browser(app).send('POST', '/auth/session', { body })).assertError('INVALID_CREDENTIALS');
    const ms = performance.now() - begun;
    assert.ok(ms < 5000, `${ms} ms`);
  });

  test('session sign-ins count by IP separately from logins, and by account across IPs', async () => {
    const person = await auth.person();
    const address = newAddress();
    const browser = new Browser(app, { ip: address });
    const body = { email: person.email, password: 'wrong horse battery staple' };
    for (let count = 0; count < 10; count++) {
      (await browser.send('POST', '/auth/session', { body })).assertError('INVALID_CREDENTIALS');
    }
    (await browser.send('POST', '/auth/session', { body })).assertError('RATE_LIMITED');
    const login = { email: 'nobody@example.com', password: 'x' };
    (await auth.post('/auth/login', person.key, login, address)).assertError('INVALID_CREDENTIALS');
    for (let count = 0; count < 30; count++) await new Browser(app).send('POST', '/auth/session', { body });
    const slowed = await new Browser(app).send('POST', '/auth/session', { body });
    slowed.assertError('RATE_LIMITED');
    await new Browser(app).signIn(await auth.person());
  });

  test('the password confirmation of a session does not allow more guesses', async () => {
    const { person, browser } = await signedIn();
    const confirm = (password: string) =>
      browser.send('POST', '/auth/session/password', { body: { password } });
    for (let count = 0; count < 11; count++)
      (await confirm('wrong horse')).assertError('INVALID_CREDENTIALS');
    (await confirm(PASSWORD)).assertError('RATE_LIMITED');
    (await auth.login(person)).assertError('RATE_LIMITED');
  });

  test('a sign-in from a new location emails the owner', async () => {
    const { person } = await signedIn();
    assert.equal((await auth.mailsTo(person.email)).length, 0);
    await new Browser(app, { ip: '203.0.113.77' }).signIn(person);
    assert.match((await auth.mailsTo(person.email)).at(-1) ?? '', /203\.0\.113\.77/);
  });
});

describe('registering', () => {
  test('registration leads to the first call with the first key', async () => {
    const email = 'first@example.com';
    const browser = new Browser(app);
    const body = { email: ' First@Example.com ', password: PASSWORD, name: 'First' };
    const made = browser.begun(await browser.send('POST', '/auth/session/register', { body }));
    assert.equal(made.at('data.user.email'), email);
    assert.equal(made.at('data.user.emailVerified'), false);
    assert.equal(made.at('data.user.plan'), 'FREE');
    assert.equal(made.at('data.accounts.0.name'), 'First');

    (await browser.get('/me')).assertError('EMAIL_NOT_VERIFIED').assertRateLimited(false);
    (await browser.send('POST', '/me/api-keys', { body: { name: 'x' } })).assertError('EMAIL_NOT_VERIFIED');
    assert.equal((await browser.get('/auth/session')).assertOk(200).at('data.user.emailVerified'), false);
    (await browser.get('/auth/sessions')).assertOk(200);
    (await browser.send('POST', '/auth/session/verification')).assertOk(200);
    (await browser.send('POST', '/auth/session/verification')).assertOk(200);
    (await browser.send('POST', '/auth/session/verification')).assertError('RATE_LIMITED');

    const mails = await auth.mailsTo(email);
    assert.equal(mails.length, 3);
    const done = await form('/verify-email', { token: linkToken(mails[0]) });
    assert.equal(done.status, 200);
    assert.match(done.text, /href="\/dashboard\/welcome"/);
    (await browser.send('POST', '/auth/session/verification')).assertError('CONFLICT');

    const minted = await browser.send('POST', '/me/api-keys', { body: { name: 'My first key' } });
    assert.equal(minted.assertOk(201).at('data.rateLimitPerMinute'), 10_000);
    assert.equal(minted.at('data.createdByKeyId'), null);
    assert.equal(minted.at('data.isCurrent'), false);
    assert.match((await auth.mailsTo(email)).at(-1) ?? '', /made in the dashboard/);
    const key = minted.string('data.key');
    const me = (await app.request('GET', '/me', { key })).assertOk(200);
    assert.equal(me.at('data.key.name'), 'My first key');
    const second = { name: 'Made by a key', scope: 'STANDARD' };
    (await app.request('POST', '/me/api-keys', { key, body: second })).assertError('OWNER_SCOPE_REQUIRED');
  });

  test('a rejected registration names the field and the reason', async () => {
    const person = await auth.person();
    const register = (body: object) => new Browser(app).send('POST', '/auth/session/register', { body });
    (await register({ email: 'none', password: PASSWORD })).assertError('INVALID_EMAIL', 'email');
    (await register({ email: 'a@example.com', password: 'short' })).assertError('WEAK_PASSWORD', 'password');
    (await register({ email: person.email, password: PASSWORD })).assertError('EMAIL_EXISTS', 'email');
    (await register({ email: 'a@example.com' })).assertError('BAD_REQUEST', 'password');
    const terms = (await app.request('GET', '/auth/registration')).assertOk(200);
    assert.deepEqual(terms.at('data'), {
      mode: 'open',
      termsUrl: 'https://example.com/terms',
      passwordMinLength: 12,
    });
  });
});

describe('sessions of an account', () => {
  test('sessions are listed and ended remotely, and only by their account', async () => {
    const { person, browser } = await signedIn();
    const phone = new Browser(app, { ip: '198.51.100.7' });
    await phone.signIn(person);
    const listed = (await browser.get('/auth/sessions')).assertOk(200);
    assert.equal(listed.list('data').length, 2);
    const { id, ...other } = Object(listed.at('data.0'));
    assert.deepEqual(other, {
      createdAt: clock.now().toISOString(),
      lastSeenAt: clock.now().toISOString(),
      ip: '198.51.100.7',
      userAgent: 'test browser',
      isCurrent: false,
    });
    assert.equal(listed.at('data.1.isCurrent'), true);
    const { browser: stranger } = await signedIn();
    const foreign = (await stranger.send('DELETE', `/auth/sessions/${id}`)).assertError('NOT_FOUND');
    const missing = await stranger.send('DELETE', `/auth/sessions/${String(id).slice(0, -1)}0`);
    assert.equal(foreign.text, missing.text);
    (await phone.get('/me')).assertOk(200);
    (await browser.send('DELETE', `/auth/sessions/${id}`)).assertOk(200);
    (await phone.get('/me')).assertError('UNAUTHORIZED');
    (await browser.get('/me')).assertOk(200);
  });

  test('sessions end on every node', async () => {
    const node = await startTestApp({ beside: app, clock, env: { TRUST_PROXY: 'true' } });
    try {
      const { browser } = await signedIn();
      const there = browser.at(node);
      (await there.get('/me')).assertOk(200);
      (await browser.send('DELETE', '/auth/session')).assertOk(200);
      await waitFor(async () => (await there.get('/me')).status === 401);
    } finally {
      await node.close();
    }
  });

  test('sessions end after 14 days without use, and after 90 days in any case', async () => {
    const day = 86_400_000;
    const { person, browser } = await signedIn();
    const idle = new Browser(app);
    await idle.signIn(person);
    const start = clock.ms();
    for (let days = 1; days <= 89; days++) {
      clock.advance(day);
      (await browser.get('/me')).assertOk(200);
      if (days === 13) assert.equal((await browser.get('/auth/sessions')).list('data').length, 2);
      if (days === 14) {
        (await idle.get('/me')).assertError('UNAUTHORIZED');
        assert.equal((await browser.get('/auth/sessions')).list('data').length, 1);
      }
    }
    assert.equal(Date.parse((await browser.get('/auth/session')).string('data.expiresAt')) - start, 90 * day);
    clock.advance(day);
    (await browser.get('/me')).assertError('UNAUTHORIZED');
    await app.container.auth.sessions.cleanUp();
    const left = await app.container.sql`select from user_session where account_id = ${person.id}`;
    assert.equal(left.length, 0);
  });

  test('a use is recorded at most every five minutes', async () => {
    const { browser } = await signedIn();
    const seen = async () => (await browser.get('/auth/sessions')).string('data.0.lastSeenAt');
    const first = await seen();
    clock.advance(299_000);
    assert.equal(await seen(), first);
    // Advances the clock beyond the cache lifetime.
    clock.advance(6000);
    assert.equal(await seen(), clock.now().toISOString());
  });

  test('a new password ends all sessions', async () => {
    const { person, browser } = await signedIn();
    assert.equal((await form('/forgot-password', { email: person.email })).status, 200);
    const token = linkToken((await auth.mailsTo(person.email)).at(-1));
    const password = 'another horse battery staple';
    const done = await form('/reset-password', { token, password });
    assert.match(done.text, /href="\/dashboard"/);
    (await browser.get('/me')).assertError('UNAUTHORIZED');
    await new Browser(app).signIn({ email: person.email, password });
  });

  test('a change of the second factor ends the other sessions', async () => {
    const { person, browser } = await signedIn();
    const phone = new Browser(app);
    await phone.signIn(person);
    const token = await auth.token(person);
    const enrolled = await browser.send('POST', '/me/two-factor', { body: { password: PASSWORD } });
    const code = totp(enrolled.assertOk(201).string('data.secret'), clock.ms());
    (await browser.send('POST', '/me/two-factor/confirm', { body: { code } })).assertOk(200);
    (await phone.get('/me')).assertError('UNAUTHORIZED');
    (await auth.asUser('GET', '/me', person, token)).assertError('INVALID_USER_TOKEN');
    (await browser.get('/me')).assertOk(200);
  });

  test('a suspended account has no valid session', async () => {
    const { person, browser } = await signedIn();
    (await browser.get('/me')).assertOk(200);
    await app.container.accounts.suspend(person.email);
    app.container.apiKeys.forget();
    (await browser.get('/me')).assertError('UNAUTHORIZED');
    (await browser.get('/auth/session')).assertError('UNAUTHORIZED');
  });
});
