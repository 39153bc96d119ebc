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
} from '../../../../test/auth/fixture.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { systemClock } from '../../../kernel/clock.ts';

const DAY_MS = 86_400_000;
const NEW_PASSWORD = 'another good password';
const clock = new TestClock(systemClock.ms());
let auth: AuthFixture;
let count = 0;

before(async () => {
  auth = await startAuthFixture(clock, { REGISTRATION: 'open', TERMS_URL: 'https://example.com/terms' });
});
after(() => auth.close());

const other = () => `other${++count}@example.org`;

async function signedIn(person?: Person): Promise<{ person: Person; browser: Browser }> {
  const who = person ?? (await auth.person());
  const browser = new Browser(auth.app);
  await browser.signIn(who);
  return { person: who, browser };
}

const form = async (path: string, fields: Record<string, string>) =>
  (
    await fetch(auth.app.url + path, {
      method: 'POST',
      headers: { 'x-forwarded-for': newAddress() },
      body: new URLSearchParams(fields),
    })
  ).status;
const look = async (path: string) => (await fetch(auth.app.url + path)).status;
const change = (browser: Browser, email: string, password = PASSWORD) =>
  browser.send('PATCH', '/me/email', { body: { email, password } });
const lastLink = async (email: string) => linkToken((await auth.mailsTo(email)).at(-1));
const emailOf = async (browser: Browser) => (await browser.get('/me')).assertOk(200).at('data.email');

describe('a new email address', () => {
  test('a new email address takes effect once its confirmation link is used, and only once', async () => {
    const { person, browser } = await signedIn();
    const email = other();
    const asked = (await change(browser, ` ${email.toUpperCase()} `)).assertOk(200);
    assert.equal(asked.at('data.email'), person.email);
    assert.equal(asked.at('data.pendingEmail'), email);
    assert.equal(asked.string('data.confirmBefore'), new Date(clock.ms() + DAY_MS).toISOString());
    assert.equal(await emailOf(browser), person.email, 'asking changes nothing');
    const token = await lastLink(email);
    assert.ok(
      (await auth.mailsTo(person.email)).at(-1)?.includes(email),
      'the old address is told of the new',
    );
    assert.equal(await look(`/change-email?token=${token}`), 200);
    assert.equal(await emailOf(browser), person.email, 'looking changes nothing');

    assert.equal(await form('/change-email', { token }), 200);
    assert.equal(await emailOf(browser), email);
    assert.equal(await form('/change-email', { token }), 404);
    await signedIn({ ...person, email });
    (await auth.login(person)).assertError('INVALID_CREDENTIALS');
    (await auth.app.request('GET', '/streams', { key: person.key })).assertOk(200);
  });

  test('a newer change, and a day, invalidate the link', async () => {
    const { browser } = await signedIn();
    const [first, second] = [other(), other()];
    (await change(browser, first)).assertOk(200);
    const voided = await lastLink(first);
    (await change(browser, second)).assertOk(200);
    assert.equal(await form('/change-email', { token: voided }), 404);
    const late = await lastLink(second);
    clock.advance(DAY_MS);
    assert.equal(await form('/change-email', { token: late }), 404);
  });

  test('the previous address restores itself with a new password, regardless of later changes', async () => {
    const { person, browser } = await signedIn();
    const [stolen, further] = [other(), other()];
    (await change(browser, stolen)).assertOk(200);
    assert.equal(await form('/change-email', { token: await lastLink(stolen) }), 200);
    const back = await lastLink(person.email);
    (await change(browser, further)).assertOk(200);
    assert.equal(await form('/change-email', { token: await lastLink(further) }), 200);
    const thief = await lastLink(stolen);

    const registering = { email: person.email, password: PASSWORD };
    const taken = await new Browser(auth.app).send('POST', '/auth/session/register', { body: registering });
    taken.assertError('EMAIL_EXISTS', 'email');
    const stranger = await signedIn();
    (await change(stranger.browser, person.email)).assertError('EMAIL_EXISTS', 'email');

    clock.advance(DAY_MS);
    assert.equal(await look(`/keep-email?token=${back}`), 200);
    assert.equal(await form('/keep-email', { token: back, password: 'short' }), 400);
    assert.equal(await form('/keep-email', { token: back, password: NEW_PASSWORD }), 200);
    (await browser.get('/me')).assertError('UNAUTHORIZED');
    const { browser: again } = await signedIn({ ...person, password: NEW_PASSWORD });
    assert.equal(await emailOf(again), person.email);
    assert.equal(await form('/keep-email', { token: thief, password: PASSWORD }), 404, 'a thief cannot');
  });

  test('the previous address becomes available after seven days', async () => {
    const { person, browser } = await signedIn();
    const email = other();
    (await change(browser, email)).assertOk(200);
    assert.equal(await form('/change-email', { token: await lastLink(email) }), 200);
    const back = await lastLink(person.email);
    clock.advance(7 * DAY_MS);
    assert.equal(await form('/keep-email', { token: back, password: NEW_PASSWORD }), 404);
    const { browser: stranger } = await signedIn();
    (await change(stranger, person.email)).assertOk(200);
  });

  test('the winner of a race gets the address', async () => {
    const [one, two] = [await signedIn(), await signedIn()];
    const email = other();
    (await change(one.browser, email)).assertOk(200);
    const first = await lastLink(email);
    (await change(two.browser, email)).assertOk(200);
    const second = await lastLink(email);
    const outcomes = await Promise.all([first, second].map((token) => form('/change-email', { token })));
    assert.deepEqual(outcomes.sort(), [200, 409]);
  });

  test('invalid input gets an error with the field at fault', async () => {
    const { person, browser } = await signedIn();
    (await change(browser, 'nowhere')).assertError('INVALID_EMAIL', 'email');
    (await change(browser, person.email)).assertError('BAD_REQUEST', 'email');
    const taken = await auth.person();
    (await change(browser, taken.email)).assertError('EMAIL_EXISTS', 'email');
    (await change(browser, other(), 'wrong horse battery staple')).assertError('INVALID_CREDENTIALS');
    const body = { email: other(), password: PASSWORD };
    (await auth.app.request('PATCH', '/me/email', { key: person.key, body })).assertError('ADMIN_ONLY');
    (await browser.send('PATCH', '/me/email', { body: { email: other() } })).assertError(
      'BAD_REQUEST',
      'password',
    );
  });

  test('three address changes per hour keep a mailbox from being flooded', async () => {
    const { browser } = await signedIn();
    for (let time = 0; time < 3; time++) (await change(browser, other())).assertOk(200);
    (await change(browser, other())).assertError('RATE_LIMITED');
    clock.advance(DAY_MS / 24);
    (await change(browser, other())).assertOk(200);
  });
});

describe('a new password', () => {
  const send = (browser: Browser, password: string, newPassword: string) =>
    browser.send('POST', '/me/password', { body: { password, newPassword } });

  test('a password change ends user tokens and the other sessions, and emails the owner', async () => {
    const { person, browser } = await signedIn();
    const { browser: elsewhere } = await signedIn(person);
    const token = await auth.token(person);
    (await send(browser, PASSWORD, NEW_PASSWORD)).assertOk(200);
    (await browser.get('/me')).assertOk(200);
    (await elsewhere.get('/me')).assertError('UNAUTHORIZED');
    (await auth.asUser('GET', '/me/two-factor', person, token)).assertError('INVALID_USER_TOKEN');
    (await auth.login(person)).assertError('INVALID_CREDENTIALS');
    assert.match((await auth.mailsTo(person.email)).at(-1) ?? '', /password .* was changed/);
    await signedIn({ ...person, password: NEW_PASSWORD });
    (await auth.app.request('GET', '/me', { key: person.key })).assertOk(200);
  });

  test('a password change is rejected for weak or wrong passwords and for keys; wrong passwords have their own limit', async () => {
    const { person, browser } = await signedIn();
    (await send(browser, PASSWORD, 'short')).assertError('WEAK_PASSWORD', 'newPassword');
    (await send(browser, 'wrong horse battery staple', NEW_PASSWORD)).assertError('INVALID_CREDENTIALS');
    const body = { password: PASSWORD, newPassword: NEW_PASSWORD };
    const byKey = await auth.app.request('POST', '/me/password', { key: person.key, body });
    byKey.assertError('ADMIN_ONLY');
    assert.equal((await auth.login(person)).status, 200);
    // Ten per quarter-hour and IP, sign-ins not counted (C23.5).
    const answers: number[] = [];
    for (let time = 0; time < 9; time++) {
      answers.push((await send(browser, 'wrong horse battery staple', NEW_PASSWORD)).status);
    }
    assert.deepEqual(answers, [401, 401, 401, 401, 401, 401, 401, 401, 429]);
  });
});

test('accepted terms are stored with their time', async () => {
  const email = other();
  const browser = new Browser(auth.app);
  const body = { email, password: PASSWORD };
  const made = browser.begun(await browser.send('POST', '/auth/session/register', { body }));
  const person = await auth.person();
  const rows = await auth.app.container.db
    .selectFrom('account')
    .select(['id', 'terms_url', 'terms_accepted_at'])
    .where('id', 'in', [made.string('data.user.id'), person.id])
    .execute();
  const termsOf = (id: string) => rows.find((row) => row.id === id);
  assert.equal(termsOf(made.string('data.user.id'))?.terms_url, 'https://example.com/terms');
  assert.equal(termsOf(made.string('data.user.id'))?.terms_accepted_at?.getTime(), clock.ms());
  assert.equal(termsOf(person.id)?.terms_accepted_at, null, 'nobody showed them to this one');
});
