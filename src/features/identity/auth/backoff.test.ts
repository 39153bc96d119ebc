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

/** From an address of its own each. */
const guess = (email: string) => fixture.post('/auth/login', key, { email, password: 'a wrong password' });

describe('guessing the password of one account from many addresses', () => {
  for (const exists of [true, false]) {
    it(`is slowed down to one attempt in 30 seconds, ${exists ? 'where' : 'and where not'} it exists`, async () => {
      const email = exists ? (await fixture.person()).email : 'nobody@example.com';
      for (let i = 0; i < 10; i++) (await guess(email)).assertError('INVALID_CREDENTIALS');
      (await guess(` ${email.toUpperCase()}`)).assertError('INVALID_CREDENTIALS');
      const refused = await guess(email);
      const wait = Number(refused.headers['retry-after']);
      // It is no limiter of addresses, whose answers are texts.
      refused.assertError('RATE_LIMITED').assertRateLimited(true);
      assert.ok(wait >= 1 && wait <= 30, String(wait));
    });
  }

  it('counts what is tried at the second factor, with however many keys', async () => {
    const owner = await fixture.person();
    const token = await fixture.token(owner);
    const body = { password: 'a wrong password' };
    const tryOnce = () => fixture.asUser('POST', '/me/two-factor', owner, token, body);
    for (let i = 0; i < 11; i++) (await tryOnce()).assertError('INVALID_CREDENTIALS');
    (await tryOnce()).assertError('RATE_LIMITED');
    assert.equal((await fixture.login(owner, '203.0.113.1')).status, 429);
  });

  it('lets nobody in, and no other account feels it', async () => {
    const [victim, other] = [await fixture.person(), await fixture.person()];
    for (let i = 0; i < 11; i++) await guess(victim.email);
    assert.equal((await fixture.login(victim)).status, 429);
    assert.equal((await fixture.login(other)).status, 200);
  });

  it('lets the owner in with the attempt that is let through', async () => {
    const owner = await fixture.person();
    for (let i = 0; i < 10; i++) await guess(owner.email);
    assert.equal((await fixture.login(owner)).status, 200);
  });
});

describe('C23.6: a network that signed in to the account in the last 30 days', () => {
  const HOME = '192.0.2.10';
  const DAY = 86_400_000;

  /** Each from a network of its own. */
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

  it('C23.6: is not slowed by failures from elsewhere, which is slowed', async () => {
    const owner = await attacked(HOME);
    for (const from of [HOME, '192.0.2.200', '::ffff:192.0.2.7']) {
      assert.equal((await fixture.login(owner, from)).status, 200, from);
    }
    (await fixture.login(owner, '192.0.3.10')).assertError('RATE_LIMITED');
  });

  it('C23.6: is a /48 of IPv6', async () => {
    const owner = await attacked('2001:db8:1:2::3');
    assert.equal((await fixture.login(owner, '2001:db8:1:ffff::9')).status, 200);
    (await fixture.login(owner, '2001:db8:2:2::3')).assertError('RATE_LIMITED');
  });

  it('C23.6: confirms passwords in a session all the same', async () => {
    const owner = await fixture.person();
    const browser = new Browser(fixture.app, { ip: HOME });
    await browser.signIn(owner);
    await attack(owner.email);
    const confirm = () =>
      browser.send('POST', '/auth/session/password', { body: { password: owner.password } });
    for (let i = 0; i < 3; i++) (await confirm()).assertOk(200);
  });

  it('C23.6: is slowed by its own failures, and slows no other', async () => {
    const office = await fixture.person();
    for (const from of [HOME, '203.0.113.5']) assert.equal((await fixture.login(office, from)).status, 200);
    await failFrom(office.email, (index) => `192.0.2.${index}`);
    (await fixture.login(office, '192.0.2.50')).assertError('RATE_LIMITED');
    assert.equal((await fixture.login(office, '203.0.113.9')).status, 200);
  });

  it('C23.6: is as any other after 30 days, and for another account', async () => {
    const owner = await attacked(HOME);
    const other = await fixture.person();
    await attack(other.email);
    (await fixture.login(other, HOME)).assertError('RATE_LIMITED');
    clock.advance(30 * DAY);
    await attack(owner.email);
    (await fixture.login(owner, HOME)).assertError('RATE_LIMITED');
  });

  it('C23.6: is an IPv4 /24 or an IPv6 /48', () => {
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
