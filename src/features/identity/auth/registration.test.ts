import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Browser } from '../../../../test/auth/browser.ts';
import { type AuthFixture, linkToken, PASSWORD, startAuthFixture } from '../../../../test/auth/fixture.ts';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';

let auth: AuthFixture;
let app: TestApp;
const clock = new TestClock('2026-11-20T09:00:00Z');

before(async () => {
  // PUBLIC_URL is not localhost, so registration needs an invitation by default.
  auth = await startAuthFixture(clock, { DEFAULT_PLAN: 'STAR' });
  app = auth.app;
});
after(() => auth.close());

const register = (body: object, at = app) =>
  new Browser(at).send('POST', '/auth/session/register', { body: { password: PASSWORD, ...body } });

/** Returns the two values of an operator's invitation link. */
async function invite(email: string) {
  const { url } = await app.container.auth.registration.invite(email);
  const { origin, pathname, searchParams } = new URL(url);
  assert.equal(origin + pathname, 'http://marquee.test/dashboard/sign-up');
  return { inviteToken: searchParams.get('invite') ?? '', email: searchParams.get('email') ?? '' };
}

describe('registration by invitation', () => {
  test('an invited person registers once', async () => {
    assert.equal((await app.request('GET', '/auth/registration')).assertOk(200).at('data.mode'), 'invite');
    (await register({ email: 'guest@example.com' })).assertError('REGISTRATION_CLOSED');
    const input = await invite(' Guest@Example.com ');
    assert.equal(input.email, 'guest@example.com');
    // Other errors do not use up the invitation.
    (await register({ ...input, password: 'short' })).assertError('WEAK_PASSWORD', 'password');
    const browser = new Browser(app);
    const body = { password: PASSWORD, ...input };
    const made = browser.begun(await browser.send('POST', '/auth/session/register', { body }));
    assert.equal(made.at('data.user.plan'), 'STAR');
    // The operator hands over the link, which does not verify an address.
    assert.equal(made.at('data.user.emailVerified'), false);
    (await register(input)).assertError('REGISTRATION_CLOSED', 'inviteToken');
  });

  test('one of several concurrent registrations with an invitation succeeds', async () => {
    const input = await invite('race@example.com');
    const answers = await Promise.all([register(input), register(input), register(input)]);
    assert.equal(answers.filter(({ status }) => status === 201).length, 1);
  });

  test('an unknown, foreign or expired invitation is rejected', async () => {
    const input = await invite('late@example.com');
    (await register({ ...input, inviteToken: 'x'.repeat(43) })).assertError(
      'REGISTRATION_CLOSED',
      'inviteToken',
    );
    const other = { ...input, email: 'other@example.com' };
    (await register(other)).assertError('REGISTRATION_CLOSED', 'inviteToken');
    clock.advance(7 * 86_400_000);
    (await register(input)).assertError('REGISTRATION_CLOSED', 'inviteToken');
  });

  test('registration by a partner needs no invitation', async () => {
    const { key } = await auth.person();
    const email = 'partner@example.com';
    assert.equal((await auth.post('/auth/register', key, { email, password: PASSWORD })).status, 201);
    assert.equal((await app.container.accounts.byEmail(email)).plan, 'STAR');
  });
});

describe('other registration modes', () => {
  const withNode = async (env: Record<string, string>, use: (node: TestApp) => Promise<void>) => {
    const node = await startTestApp({ beside: app, clock, env: { TRUST_PROXY: 'true', ...env } });
    try {
      await use(node);
    } finally {
      await node.close();
    }
  };

  test('closed registration rejects invitations, too', () =>
    withNode({ REGISTRATION: 'closed' }, async (node) => {
      const input = await invite('nobody@example.com');
      (await register(input, node)).assertError('REGISTRATION_CLOSED');
    }));

  test('registration is open on localhost by default', () =>
    withNode({ PUBLIC_URL: 'http://localhost:8080' }, async (node) => {
      const terms = (await node.request('GET', '/auth/registration')).assertOk(200);
      assert.equal(terms.at('data.mode'), 'open');
    }));
});

describe('the development mailbox', () => {
  test('only an administrator reads confirmation emails in the development mailbox', async () => {
    const email = 'admin@example.com';
    await app.container.accounts.create({ email, password: PASSWORD, role: 'ADMIN', verified: true });
    const admin = new Browser(app);
    await admin.signIn({ email });
    const hasMailbox = async (session: Browser) =>
      (await session.get('/auth/session')).assertOk(200).at('data.hasMailbox');
    assert.equal(await hasMailbox(admin), true);
    const input = await invite('newcomer@example.com');
    (await register(input)).assertOk(201);
    const [newest] = (await admin.get('/admin/mails')).assertOk(200).list('data');
    const { id, ...mail } = Object(newest);
    assert.deepEqual(mail, {
      kind: 'verify-email',
      to: 'newcomer@example.com',
      subject: 'Verify your email address',
      status: 'QUEUED',
      createdAt: clock.now().toISOString(),
    });
    linkToken((await admin.get(`/admin/mails/${id}`)).assertOk(200).string('data.text'));
    (await admin.get('/admin/mails/mail_none')).assertError('NOT_FOUND');

    const person = await auth.person();
    const user = new Browser(app);
    await user.signIn(person);
    assert.equal(await hasMailbox(user), false);
    for (const path of ['/admin/mails', `/admin/mails/${id}`]) {
      (await user.get(path)).assertError('ADMIN_ONLY').assertRateLimited(true);
      (await app.request('GET', path, { key: person.key })).assertError('ADMIN_ONLY');
      (await app.request('GET', path)).assertError('UNAUTHORIZED');
    }
    const sending = await startTestApp({
      beside: app,
      clock,
      env: { TRUST_PROXY: 'true', SMTP_URL: 'smtp://127.0.0.1:2' },
    });
    try {
      assert.equal(await hasMailbox(admin.at(sending)), false);
      for (const path of ['/admin/mails', `/admin/mails/${id}`]) {
        (await admin.at(sending).get(path)).assertError('NOT_FOUND');
      }
    } finally {
      await sending.close();
    }
  });
});
