import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  type AuthFixture,
  linkToken,
  type Person,
  startAuthFixture,
  totp,
} from '../../../../test/auth/fixture.ts';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { waitFor } from '../../../../test/harness/wait-for.ts';

let fixture: AuthFixture;
let other: TestApp;

before(async () => {
  fixture = await startAuthFixture();
  other = await startTestApp({ beside: fixture.app });
});
after(async () => {
  await other.close();
  await fixture.close();
});

const isGood = async (person: Person, token: string, app = fixture.app) => {
  const headers = { 'x-user-token': token };
  const answer = await app.request('GET', '/me/two-factor', { key: person.key, headers });
  if (answer.status !== 200) answer.assertError('INVALID_USER_TOKEN');
  return answer.status === 200;
};
const logout = (person: Person, token: string) => fixture.asUser('POST', '/auth/logout', person, token);

describe('POST /auth/logout', () => {
  it('logout ends the sent token on every node, and no other', async () => {
    const person = await fixture.person();
    const [token, kept] = [await fixture.token(person), await fixture.token(person)];
    for (const app of [fixture.app, other]) assert.ok(await isGood(person, token, app));
    const answer = (await logout(person, token)).assertOk(200).assertCommonHeaders().assertRateLimited(true);
    assert.deepEqual(answer.at('data'), { signedOut: true });
    assert.equal(await isGood(person, token), false);
    await waitFor(async () => !(await isGood(person, token, other)), { timeoutMs: 10_000 });
    for (const app of [fixture.app, other]) assert.ok(await isGood(person, kept, app));
    (await logout(person, token)).assertError('INVALID_USER_TOKEN');
  });

  it('logout needs a user token and works with a READ_ONLY key', async () => {
    const person = await fixture.person();
    (await fixture.app.request('POST', '/auth/logout', { key: person.key })).assertError(
      'INVALID_USER_TOKEN',
    );
    const { email } = person;
    const reader = await fixture.app.container.apiKeys.create({ email, scope: 'READ_ONLY' });
    const token = await fixture.token(person);
    (await logout({ ...person, key: reader.key }, token)).assertOk(200);
    assert.equal(await isGood(person, token), false);
  });
});

describe('changes of credentials', () => {
  it('enabling or disabling the second factor ends the other tokens', async () => {
    const person = await fixture.person();
    const [acting, elsewhere] = [await fixture.token(person), await fixture.token(person)];
    assert.ok(await isGood(person, elsewhere));
    const { secret, recoveryCodes } = await fixture.enrol(person, acting);
    assert.deepEqual([await isGood(person, acting), await isGood(person, elsewhere)], [true, false]);
    const challengeId = (await fixture.login(person)).string('challengeId');
    const code = totp(secret, fixture.app.container.clock.ms());
    const again = await fixture.post('/auth/login/2fa', person.key, { challengeId, code });
    const second = again.string('tokens.accessToken');
    assert.ok(await isGood(person, second));
    const body = { password: person.password, code: recoveryCodes[0] };
    (await fixture.asUser('DELETE', '/me/two-factor', person, acting, body)).assertOk(200);
    assert.deepEqual([await isGood(person, acting), await isGood(person, second)], [true, false]);
    const mails = await fixture.mailsTo(person.email);
    assert.equal(mails.filter((text) => text.includes('Two-factor authentication')).length, 2);
  });

  it('a new password ends all tokens', async () => {
    const person = await fixture.person();
    const tokens = [await fixture.token(person), await fixture.token(person)];
    for (const token of tokens) assert.ok(await isGood(person, token));
    const { links } = fixture.app.container.auth;
    await links.request('RESET_PASSWORD', person.email);
    const link = linkToken((await fixture.mailsTo(person.email)).at(-1));
    assert.ok(await links.resetPassword(link, 'another long password'));
    for (const token of tokens) assert.equal(await isGood(person, token), false);
  });

  it('a wrong code has no effect', async () => {
    const person = await fixture.person();
    const [acting, elsewhere] = [await fixture.token(person), await fixture.token(person)];
    await fixture.asUser('POST', '/me/two-factor', person, acting, { password: person.password });
    const wrong = await fixture.asUser('POST', '/me/two-factor/confirm', person, acting, { code: '000000x' });
    wrong.assertError('INVALID_CREDENTIALS', 'code');
    assert.ok(await isGood(person, elsewhere));
    const mails = await fixture.mailsTo(person.email);
    assert.ok(!mails.some((text) => text.includes('Two-factor authentication')));
  });
});

describe('security emails to the owner', () => {
  it('a sign-in from a new location emails the owner; the first one and known locations do not', async () => {
    const person = await fixture.person();
    const places = async () =>
      (await fixture.mailsTo(person.email)).filter((text) => text.includes('from a new IP address'));
    await fixture.login(person, '2001:db8:1:2::1');
    await fixture.login(person, '2001:db8:1:2:ffff::2');
    assert.deepEqual(await places(), []);
    await fixture.login(person, '198.51.100.7');
    await fixture.login(person, '198.51.100.7');
    const [mail, ...more] = await places();
    assert.deepEqual(more, []);
    assert.match(mail ?? '', /198\.51\.100\.7/);
    const body = { email: person.email, password: 'wrong password' };
    await fixture.post('/auth/login', person.key, body, '203.0.113.9');
    assert.equal((await places()).length, 1, 'who does not get in is no sign-in');
  });

  it('a key that creates or rotates a key emails the owner, up to a limit', async () => {
    const person = await fixture.person();
    const mails = () => fixture.mailsTo(person.email);
    const made = await fixture.app.request('POST', '/me/api-keys', {
      key: person.key,
      body: { name: 'Back office' },
    });
    const key = made.assertOk(201).string('data.key');
    const [told, ...none] = await mails();
    assert.deepEqual(none, []);
    assert.match(told ?? '', /Back office/);
    assert.ok(told?.includes(key.slice(-4)) && !told.includes(key));
    const rotate = () =>
      fixture.app.request('POST', `/me/api-keys/${made.string('data.id')}/rotate`, { key: person.key });
    const rotated = (await rotate()).assertOk(200).string('data.key');
    const last = (await mails()).at(-1) ?? '';
    assert.ok(last.includes('was rotated') && last.includes(rotated.slice(-4)));
    for (let i = 0; i < 22; i++) (await rotate()).assertOk(200);
    assert.equal((await mails()).length, 20);
  });
});
