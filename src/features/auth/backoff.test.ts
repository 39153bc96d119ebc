import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type AuthFixture, startAuthFixture } from '../../../test/auth/fixture.ts';

let fixture: AuthFixture;
let key: string;

before(async () => {
  fixture = await startAuthFixture();
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
    assert.equal((await fixture.login(owner)).status, 429);
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
