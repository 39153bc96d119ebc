import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  type AuthFixture,
  PASSWORD,
  type Person,
  startAuthFixture,
  totp,
} from '../../../../test/auth/fixture.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { systemClock } from '../../../kernel/clock.ts';

const STEP_MS = 30_000;
const clock = new TestClock(systemClock.ms());
let fixture: AuthFixture;

before(async () => {
  fixture = await startAuthFixture(clock);
});
after(() => fixture.close());

interface Enrolled {
  person: Person;
  token: string;
  secret: string;
  recoveryCodes: string[];
}

async function enrolled(): Promise<Enrolled> {
  const person = await fixture.person();
  const token = await fixture.token(person);
  return { person, token, ...(await fixture.enrol(person, token)) };
}

/** Signs in with the correct password and returns the challenge. */
async function challenge(person: Person): Promise<string> {
  return (await fixture.login(person)).string('challengeId');
}

function answer(person: Person, challengeId: unknown, code: unknown) {
  return fixture.post('/auth/login/2fa', person.key, { challengeId, code });
}

describe('/me/two-factor', () => {
  it('changes of the second factor need the user token, with any scope of the key', async () => {
    const { key } = await fixture.app.createKey();
    const calls = [
      ['GET', '/me/two-factor', undefined],
      ['POST', '/me/two-factor', { password: PASSWORD }],
      ['POST', '/me/two-factor/confirm', { code: '123456' }],
      ['DELETE', '/me/two-factor', { password: PASSWORD, code: '123456' }],
    ] as const;
    for (const [method, path, body] of calls) {
      const init = body === undefined ? { key } : { key, body };
      const refused = await fixture.app.request(method, path, init);
      refused.assertError('INVALID_USER_TOKEN').assertRateLimited(true);
    }
  });

  it('a change of the second factor is a write, which READ_ONLY keys cannot do', async () => {
    const person = await fixture.person();
    const token = await fixture.token(person);
    const { email } = person;
    const { key } = await fixture.app.container.apiKeys.create({ email, scope: 'READ_ONLY' });
    const readOnly = { ...person, key };
    (await fixture.asUser('GET', '/me/two-factor', readOnly, token)).assertOk(200);
    const body = { password: PASSWORD };
    const refused = await fixture.asUser('POST', '/me/two-factor', readOnly, token, body);
    refused.assertError('INSUFFICIENT_SCOPE');
  });

  it('a change of the second factor needs a live key', async () => {
    const person = await fixture.person();
    const token = await fixture.token(person);
    const { email } = person;
    const { key } = await fixture.app.container.apiKeys.create({ email, scope: 'FULL_ACCESS', mode: 'test' });
    const sandbox = { ...person, key };
    (await fixture.asUser('GET', '/me/two-factor', sandbox, token)).assertOk(200);
    for (const [method, path, body] of [
      ['POST', '/me/two-factor', { password: PASSWORD }],
      ['POST', '/me/two-factor/confirm', { code: '123456' }],
      ['DELETE', '/me/two-factor', { password: PASSWORD, code: '123456' }],
    ] as const) {
      (await fixture.asUser(method, path, sandbox, token, body)).assertError('PERMISSION_DENIED');
    }
  });

  it('the second factor is off, then enrolled, then on, then off again', async () => {
    const person = await fixture.person();
    const token = await fixture.token(person);
    const state = async () => (await fixture.asUser('GET', '/me/two-factor', person, token)).at('data');
    assert.deepEqual(await state(), { enabled: false, recoveryCodesLeft: 0 });

    const made = await fixture.asUser('POST', '/me/two-factor', person, token, { password: PASSWORD });
    made.assertOk(201);
    const secret = made.string('data.secret');
    assert.match(secret, /^[A-Z2-7]{32}$/);
    const url = new URL(made.string('data.otpauthUrl'));
    assert.equal(url.protocol, 'otpauth:');
    assert.equal(url.searchParams.get('secret'), secret);
    assert.equal(url.searchParams.get('issuer'), 'Marquee');
    assert.ok(decodeURIComponent(url.pathname).includes(person.email));
    assert.deepEqual(await state(), { enabled: false, recoveryCodesLeft: 0 });
    assert.equal((await fixture.login(person)).status, 200, 'not asked for before it is confirmed');

    const code = totp(secret, clock.ms());
    const on = await fixture.asUser('POST', '/me/two-factor/confirm', person, token, { code });
    on.assertOk(200);
    const codes = on.list('data.recoveryCodes').map(String);
    assert.equal(new Set(codes).size, 10);
    for (const one of codes) assert.match(one, /^[a-z2-9]{5}-[a-z2-9]{5}$/);
    assert.deepEqual(await state(), { enabled: true, recoveryCodesLeft: 10 });
    (await fixture.login(person)).assertCommonHeaders();

    const body = { password: PASSWORD, code: totp(secret, clock.ms()) };
    const off = await fixture.asUser('DELETE', '/me/two-factor', person, token, body);
    assert.deepEqual(off.assertOk(200).at('data'), { id: person.id, deleted: true });
    assert.deepEqual(await state(), { enabled: false, recoveryCodesLeft: 0 });
    assert.equal((await fixture.login(person)).status, 200);
    const again = await fixture.asUser('DELETE', '/me/two-factor', person, token, body);
    again.assertError('NOT_FOUND');
  });

  it('changes of the second factor reject a wrong password and a wrong code', async () => {
    const person = await fixture.person();
    const token = await fixture.token(person);
    const call = (method: string, path: string, body: unknown) =>
      fixture.asUser(method, path, person, token, body);
    (await call('POST', '/me/two-factor', { password: 'wrong' })).assertError('INVALID_CREDENTIALS');
    (await call('POST', '/me/two-factor/confirm', { code: '123456' })).assertError('CONFLICT');
    const { secret } = await fixture.enrol(person, token);
    (await call('POST', '/me/two-factor', { password: PASSWORD })).assertError('CONFLICT');
    const code = totp(secret, clock.ms());
    (await call('POST', '/me/two-factor/confirm', { code })).assertError('CONFLICT');
    const wrong = [
      { password: 'wrong', code },
      { password: PASSWORD, code: wrongCode(secret) },
      { password: PASSWORD, code: '' },
    ];
    for (const body of wrong) {
      (await call('DELETE', '/me/two-factor', body)).assertError('INVALID_CREDENTIALS');
    }
    (await call('DELETE', '/me/two-factor', { password: PASSWORD })).assertError('BAD_REQUEST', 'code');
    (await call('DELETE', '/me/two-factor', { password: PASSWORD, code })).assertOk(200);
  });

  it('a code of another secret is rejected, and the enrollment restarts with a new secret', async () => {
    const person = await fixture.person();
    const token = await fixture.token(person);
    const start = async () =>
      (await fixture.asUser('POST', '/me/two-factor', person, token, { password: PASSWORD })).string(
        'data.secret',
      );
    const confirm = (secret: string) =>
      fixture.asUser('POST', '/me/two-factor/confirm', person, token, { code: totp(secret, clock.ms()) });
    const first = await start();
    const second = await start();
    assert.notEqual(first, second);
    (await confirm(first)).assertError('INVALID_CREDENTIALS', 'code');
    (await confirm(second)).assertOk(200);
  });

  it('the secret is stored encrypted and the recovery codes hashed', async () => {
    const { person, secret, recoveryCodes } = await enrolled();
    const { db } = fixture.app.container;
    const row = await db
      .selectFrom('two_factor')
      .select('secret')
      .where('account_id', '=', person.id)
      .executeTakeFirstOrThrow();
    assert.equal(Buffer.from(row.secret).includes(secret), false);
    const hashes = await db
      .selectFrom('recovery_code')
      .select('hash')
      .where('account_id', '=', person.id)
      .execute();
    assert.equal(hashes.length, 10);
    for (const { hash } of hashes) assert.ok(!recoveryCodes.some((code) => hash.includes(code)));
  });
});

/** Returns six digits that are not a valid code of the secret now. */
function wrongCode(secret: string): string {
  const good = [-2, -1, 0, 1, 2].map((steps) => totp(secret, clock.ms() + steps * STEP_MS));
  const found = ['000000', '111111', '222222', '333333', '444444', '555555'].find(
    (one) => !good.includes(one),
  );
  assert.ok(found !== undefined);
  return found;
}

describe('a sign-in with a second factor', () => {
  it('a correct password gets the second-factor body', async () => {
    const { person } = await enrolled();
    const first = await fixture.login(person);
    assert.equal(first.status, 401);
    const challengeId = first.string('challengeId');
    const message = first.string('error.message');
    assert.deepEqual(first.json, {
      success: false,
      twoFactorRequired: true,
      challengeId,
      expiresIn: 300,
      error: { code: 'SECOND_FACTOR_REQUIRED', message },
    });
    first.assertCommonHeaders().assertRateLimited(true);
  });

  it('a wrong password gets the usual response', async () => {
    const { person } = await enrolled();
    (await fixture.login({ ...person, password: 'wrong' })).assertError('INVALID_CREDENTIALS');
  });

  it('a sign-in completes with the code of the app', async () => {
    const { person, secret } = await enrolled();
    const done = await answer(person, await challenge(person), totp(secret, clock.ms()));
    assert.equal(done.status, 200, done.text);
    assert.deepEqual(done.json, {
      success: true,
      tokens: { accessToken: done.string('tokens.accessToken'), expiresIn: 3600 },
      user: { id: person.id, email: person.email, name: null, role: 'USER' },
    });
    const token = done.string('tokens.accessToken');
    (await fixture.asUser('GET', '/streams', person, token)).assertOk(200);
  });

  it('codes of adjacent time steps are accepted, and no others', async () => {
    for (const [steps, ok] of [
      [-2, false],
      [-1, true],
      [1, true],
      [2, false],
    ] as const) {
      const { person, secret } = await enrolled();
      const code = totp(secret, clock.ms() + steps * STEP_MS);
      const { status } = await answer(person, await challenge(person), code);
      assert.equal(status, ok ? 200 : 401, `${steps} steps away`);
    }
  });

  it('a code is accepted once, and none older than the last', async () => {
    const { person, secret } = await enrolled();
    const code = totp(secret, clock.ms());
    const older = totp(secret, clock.ms() - STEP_MS);
    assert.equal((await answer(person, await challenge(person), code)).status, 200);
    (await answer(person, await challenge(person), code)).assertError('INVALID_CREDENTIALS');
    (await answer(person, await challenge(person), older)).assertError('INVALID_CREDENTIALS');
    clock.advance(STEP_MS);
    const next = totp(secret, clock.ms());
    assert.equal((await answer(person, await challenge(person), next)).status, 200);
  });

  it('one of many concurrent sign-ins with one code succeeds', async () => {
    const { person, secret } = await enrolled();
    const ids = await Promise.all(Array.from({ length: 6 }, () => challenge(person)));
    const code = totp(secret, clock.ms());
    const statuses = await Promise.all(ids.map(async (id) => (await answer(person, id, code)).status));
    assert.deepEqual(statuses.sort(), [200, 401, 401, 401, 401, 401]);
  });

  it('each recovery code is accepted once, in any notation', async () => {
    const { person, token, recoveryCodes } = await enrolled();
    const [first = '', second = ''] = recoveryCodes;
    const typed = first.toUpperCase().replace('-', ' ');
    assert.equal((await answer(person, await challenge(person), typed)).status, 200);
    (await answer(person, await challenge(person), first)).assertError('INVALID_CREDENTIALS');
    const state = await fixture.asUser('GET', '/me/two-factor', person, token);
    assert.equal(state.at('data.recoveryCodesLeft'), 9);
    const body = { password: PASSWORD, code: second };
    (await fixture.asUser('DELETE', '/me/two-factor', person, token, body)).assertOk(200);
  });

  it('a recovery code of another account is rejected', async () => {
    const ada = await enrolled();
    const bob = await enrolled();
    const refused = await answer(ada.person, await challenge(ada.person), bob.recoveryCodes[0]);
    refused.assertError('INVALID_CREDENTIALS');
  });

  it('a challenge is accepted once', async () => {
    const { person, secret } = await enrolled();
    const id = await challenge(person);
    assert.equal((await answer(person, id, totp(secret, clock.ms()))).status, 200);
    clock.advance(STEP_MS);
    (await answer(person, id, totp(secret, clock.ms()))).assertError('INVALID_CREDENTIALS');
  });

  it('a challenge allows five attempts', async () => {
    const { person, secret } = await enrolled();
    const four = await challenge(person);
    for (let index = 0; index < 4; index++) {
      (await answer(person, four, wrongCode(secret))).assertError('INVALID_CREDENTIALS');
    }
    assert.equal((await answer(person, four, totp(secret, clock.ms()))).status, 200, 'the fifth try');
    clock.advance(STEP_MS);
    const five = await challenge(person);
    for (let index = 0; index < 5; index++) await answer(person, five, wrongCode(secret));
    (await answer(person, five, totp(secret, clock.ms()))).assertError('INVALID_CREDENTIALS');
    assert.equal((await answer(person, await challenge(person), totp(secret, clock.ms()))).status, 200);
  });

  it('every code is rejected after thirty wrong ones in an hour', async () => {
    const { person, secret } = await enrolled();
    for (let round = 0; round < 6; round++) {
      const id = await challenge(person);
      for (let index = 0; index < 5; index++) await answer(person, id, wrongCode(secret));
    }
    const refused = await answer(person, await challenge(person), totp(secret, clock.ms()));
    refused.assertError('INVALID_CREDENTIALS');
    clock.advance(3_600_000);
    assert.equal((await answer(person, await challenge(person), totp(secret, clock.ms()))).status, 200);
  });

  it('a challenge expires after 300 seconds', async () => {
    const { person, secret } = await enrolled();
    const early = await challenge(person);
    clock.advance(299_000);
    assert.equal((await answer(person, early, totp(secret, clock.ms()))).status, 200);
    const late = await challenge(person);
    clock.advance(300_000);
    (await answer(person, late, totp(secret, clock.ms()))).assertError('INVALID_CREDENTIALS');
  });

  it('an unknown challenge responds as a wrong code, and missing fields are named', async () => {
    const { person, secret } = await enrolled();
    for (const id of ['', 'sic_nothing', 'x'.repeat(10_000)]) {
      (await answer(person, id, totp(secret, clock.ms()))).assertError('INVALID_CREDENTIALS');
    }
    (await answer(person, undefined, '123456')).assertError('BAD_REQUEST', 'challengeId');
    (await answer(person, 'x', 123456)).assertError('BAD_REQUEST', 'code');
  });

  it('a challenge is void when the account is suspended or the second factor is disabled', async () => {
    const ada = await enrolled();
    const id = await challenge(ada.person);
    await fixture.app.container.accounts.suspend(ada.person.email);
    const { key } = await fixture.app.createKey();
    const code = totp(ada.secret, clock.ms());
    (await answer({ ...ada.person, key }, id, code)).assertError('INVALID_CREDENTIALS');

    const bob = await enrolled();
    const open = await challenge(bob.person);
    const body = { password: PASSWORD, code: bob.recoveryCodes[0] };
    (await fixture.asUser('DELETE', '/me/two-factor', bob.person, bob.token, body)).assertOk(200);
    (await answer(bob.person, open, totp(bob.secret, clock.ms()))).assertError('INVALID_CREDENTIALS');
  });

  it('login responds 503 SECOND_FACTOR_UNAVAILABLE when the challenge cannot be stored', async () => {
    const { person } = await enrolled();
    const { schema } = fixture.app.container.db;
    await schema.alterTable('sign_in_challenge').renameTo('challenge_away').execute();
    const refused = await fixture.login(person);
    const wrong = await fixture.login({ ...person, password: 'wrong' });
    await schema.alterTable('challenge_away').renameTo('sign_in_challenge').execute();
    refused.assertError('SECOND_FACTOR_UNAVAILABLE');
    assert.equal(refused.headers['retry-after'], undefined, 'it goes with 429 alone');
    wrong.assertError('INVALID_CREDENTIALS');
  });
});
