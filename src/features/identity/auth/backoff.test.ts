import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Browser } from '../../../../test/auth/browser.ts';
import { type AuthFixture, type Person, startAuthFixture } from '../../../../test/auth/fixture.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { networkBlock } from '../../../kernel/ip-block.ts';

const clock = new TestClock('2026-11-20T09:00:00Z');
let fixture: AuthFixture;
let key: string;

before(async () => {
  fixture = await startAuthFixture(clock);
  ({ key } = await fixture.app.createKey());
});
after(() => fixture.close());

/** Sends each guess from a different IP address. */
const guess = (email: string) => fixture.post('/auth/login', key, { email, password: 'a wrong password' });

describe('password guesses for one account from many IP addresses', () => {
  for (const exists of [true, false]) {
    it(`guessing is limited to one attempt in 30 seconds, ${exists ? 'for an existing account' : 'for an unknown account'}`, async () => {
      const email = exists ? (await fixture.person()).email : 'nobody@example.com';
      for (let i = 0; i < 10; i++) (await guess(email)).assertError('INVALID_CREDENTIALS');
      (await guess(` ${email.toUpperCase()}`)).assertError('INVALID_CREDENTIALS');
      const refused = await guess(email);
      const wait = Number(refused.headers['retry-after']);
      // This is not the IP limiter, whose bodies are plain text.
      refused.assertError('RATE_LIMITED').assertRateLimited(true);
      assert.ok(wait >= 1 && wait <= 30, String(wait));
    });
  }

  it('failed confirmations of the second factor count as well, across keys', async () => {
    const owner = await fixture.person();
    const token = await fixture.token(owner);
    const body = { password: 'a wrong password' };
    const tryOnce = () => fixture.asUser('POST', '/me/two-factor', owner, token, body);
    for (let i = 0; i < 11; i++) (await tryOnce()).assertError('INVALID_CREDENTIALS');
    (await tryOnce()).assertError('RATE_LIMITED');
    assert.equal((await fixture.login(owner, '203.0.113.1')).status, 429);
  });

  it('a blocked account rejects the correct password, and other accounts are unaffected', async () => {
    const [victim, other] = [await fixture.person(), await fixture.person()];
    for (let i = 0; i < 11; i++) await guess(victim.email);
    assert.equal((await fixture.login(victim)).status, 429);
    assert.equal((await fixture.login(other)).status, 200);
  });

  it('the owner signs in with the allowed attempt', async () => {
    const owner = await fixture.person();
    for (let i = 0; i < 10; i++) await guess(owner.email);
    assert.equal((await fixture.login(owner)).status, 200);
  });
});

describe('C23.6: a network with a sign-in of the account in the last 30 days', () => {
  const HOME = '192.0.2.10';
  const DAY = 86_400_000;

  /** Fails from a different network each time. */
  const attack = (email: string) => failFrom(email, (index) => `198.51.${index}.1`);
  async function failFrom(email: string, addressOf: (index: number) => string): Promise<void> {
    const { key: own } = await fixture.app.createKey();
    for (let i = 0; i < 12; i++) {
      await fixture.post('/auth/login', own, { email, password: 'a wrong password' }, addressOf(i));
    }
  }
  async function attacked(home: string): Promise<Person> {
    const owner = await fixture.person();
    assert.equal((await fixture.login(owner, home)).status, 200);
    await attack(owner.email);
    return owner;
  }

  it('C23.6: a familiar network is not slowed by failures elsewhere, which are slowed', async () => {
    const owner = await attacked(HOME);
    for (const from of [HOME, '192.0.2.200', '::ffff:192.0.2.7']) {
      assert.equal((await fixture.login(owner, from)).status, 200, from);
    }
    (await fixture.login(owner, '192.0.3.10')).assertError('RATE_LIMITED');
  });

  it('C23.6: a familiar IPv6 network is a /48', async () => {
    const owner = await attacked('2001:db8:1:2::3');
    assert.equal((await fixture.login(owner, '2001:db8:1:ffff::9')).status, 200);
    (await fixture.login(owner, '2001:db8:2:2::3')).assertError('RATE_LIMITED');
  });

  it('C23.6: passwords in a session are still confirmed', async () => {
    const owner = await fixture.person();
    const browser = new Browser(fixture.app, { ip: HOME });
    await browser.signIn(owner);
    await attack(owner.email);
    const confirm = () =>
      browser.send('POST', '/auth/session/password', { body: { password: owner.password } });
    for (let i = 0; i < 3; i++) (await confirm()).assertOk(200);
  });

  it('C23.6: a familiar network is slowed by its own failures, and slows no other', async () => {
    const office = await fixture.person();
    for (const from of [HOME, '203.0.113.5']) assert.equal((await fixture.login(office, from)).status, 200);
    await failFrom(office.email, (index) => `192.0.2.${index}`);
    (await fixture.login(office, '192.0.2.50')).assertError('RATE_LIMITED');
    assert.equal((await fixture.login(office, '203.0.113.9')).status, 200);
  });

  it('C23.6: a network is not familiar after 30 days, or for another account', async () => {
    const owner = await attacked(HOME);
    const other = await fixture.person();
    await attack(other.email);
    (await fixture.login(other, HOME)).assertError('RATE_LIMITED');
    clock.advance(30 * DAY);
    await attack(owner.email);
    (await fixture.login(owner, HOME)).assertError('RATE_LIMITED');
  });

  it('C23.6: a network is an IPv4 /24 or an IPv6 /48', () => {
    const blocks = ['192.0.2.10', '::ffff:192.0.2.10', '2001:DB8::1', '2001:db8:0:9::%eth0', '::1', 'unix'];
    assert.deepEqual(blocks.map(networkBlock), [
      '192.0.2.0/24',
      '192.0.2.0/24',
      '2001:db8:0::/48',
      '2001:db8:0::/48',
      '0:0:0::/48',
      'unix',
    ]);
  });
});
