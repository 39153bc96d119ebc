import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type AuthFixture, newAddress, PASSWORD, startAuthFixture } from '../../../../test/auth/fixture.ts';
import { needsOwnProcess } from '../../../../test/harness/needs.ts';

needsOwnProcess();

let fixture: AuthFixture;
let key: string;

before(async () => {
  fixture = await startAuthFixture();
  ({ key } = await fixture.app.createKey());
});
after(() => fixture.close());

describe('POST /auth/register', () => {
  it('registration responds 201 with tokens and user at the top level, without data', async () => {
    const answer = await fixture.post('/auth/register', key, {
      email: '  Ada.Lovelace@Example.COM ',
      password: PASSWORD,
      name: `  ${'n'.repeat(130)}  `,
    });
    assert.equal(answer.status, 201, answer.text);
    assert.deepEqual(answer.json, {
      success: true,
      tokens: { accessToken: answer.string('tokens.accessToken'), expiresIn: 3600 },
      user: {
        id: answer.string('user.id'),
        email: 'ada.lovelace@example.com',
        name: 'n'.repeat(120),
        role: 'USER',
      },
    });
    answer.assertCommonHeaders().assertRateLimited(true);
    assert.equal(answer.string('tokens.accessToken').split('.').length, 3);
  });

  it('registration creates an unverified account whose keys are rejected until the address is confirmed', async () => {
    const email = 'unverified@example.com';
    await fixture.post('/auth/register', key, { email, password: PASSWORD });
    const account = await fixture.app.container.accounts.byEmail(email);
    assert.equal(account.email_verified_at, null);
    assert.equal(account.plan, 'FREE');
    const own = await fixture.app.container.apiKeys.create({ email, scope: 'FULL_ACCESS' });
    (await fixture.app.request('GET', '/streams', { key: own.key })).assertError('EMAIL_NOT_VERIFIED');
  });

  it('registration accepts a null or missing name, and rejects other types', async () => {
    for (const name of [null, undefined]) {
      const email = `name-${String(name)}@example.com`;
      const answer = await fixture.post('/auth/register', key, { email, password: PASSWORD, name });
      assert.equal(answer.status, 201);
      assert.equal(answer.at('user.name'), null);
    }
    const body = { email: 'name-number@example.com', password: PASSWORD, name: 5 };
    (await fixture.post('/auth/register', key, body)).assertError('BAD_REQUEST', 'name');
  });

  for (const email of [
    '',
    'plain',
    'a@b',
    'a b@example.com',
    '@example.com',
    'a@',
    `${'a'.repeat(250)}@b.co`,
  ]) {
    it(`registration rejects the address ${JSON.stringify(email.slice(0, 20))} with INVALID_EMAIL`, async () => {
      const { key: fresh } = await fixture.app.createKey();
      const answer = await fixture.post('/auth/register', fresh, { email, password: 'short' });
      answer.assertError('INVALID_EMAIL', 'email');
    });
  }

  it('registration accepts any password of twelve characters, and none shorter', async () => {
    const { key: fresh } = await fixture.app.createKey();
    const register = (email: string, password: string) =>
      fixture.post('/auth/register', fresh, { email, password });
    (await register('pw1@example.com', 'elevenchars')).assertError('WEAK_PASSWORD', 'password');
    (await register('pw1@example.com', '😀'.repeat(11))).assertError('WEAK_PASSWORD', 'password');
    assert.equal((await register('pw1@example.com', '            ')).status, 201);
    assert.equal((await register('pw2@example.com', '😀'.repeat(12))).status, 201);
  });

  it('registration validates the types before the address, and the address before the password', async () => {
    const { key: fresh } = await fixture.app.createKey();
    const refused = async (body: unknown) => fixture.post('/auth/register', fresh, body);
    (await refused({ email: 5, password: PASSWORD })).assertError('BAD_REQUEST', 'email');
    (await refused({ email: 'x' })).assertError('BAD_REQUEST', 'password');
    (await refused({ email: 'x', password: 5 })).assertError('BAD_REQUEST', 'password');
    (await refused({ email: 'x', password: 'y' })).assertError('INVALID_EMAIL', 'email');
    (await refused([])).assertError('BAD_REQUEST', 'body');
  });

  it('registration responds EMAIL_EXISTS for a taken address in any case', async () => {
    const { email } = await fixture.person();
    const body = { email: email.toUpperCase(), password: PASSWORD };
    (await fixture.post('/auth/register', key, body)).assertError('EMAIL_EXISTS', 'email');
  });

  it('one of twenty concurrent registrations with an address succeeds', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const { key: fresh } = await fixture.app.createKey();
        return fixture.post('/auth/register', fresh, { email: 'race@example.com', password: PASSWORD });
      }),
    );
    const made = answers.filter(({ status }) => status === 201);
    assert.equal(made.length, 1, answers.map(({ status }) => status).join());
    for (const answer of answers) if (answer !== made[0]) answer.assertError('EMAIL_EXISTS', 'email');
  });

  it('concurrent registrations with equal local parts get different usernames', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, async (_, index) => {
        const { key: fresh } = await fixture.app.createKey();
        const email = `same@host${index}.example.com`;
        return fixture.post('/auth/register', fresh, { email, password: PASSWORD });
      }),
    );
    assert.deepEqual(
      answers.map(({ status }) => status),
      Array.from({ length: 8 }, () => 201),
    );
  });

  it('registration creates no account when its email cannot be queued', async () => {
    const { db, accounts } = fixture.app.container;
    await db.schema.alterTable('mail').renameTo('mail_away').execute();
    const body = { email: 'rollback@example.com', password: PASSWORD };
    const answer = await fixture.post('/auth/register', key, body);
    await db.schema.alterTable('mail_away').renameTo('mail').execute();
    answer.assertError('INTERNAL_ERROR');
    await assert.rejects(accounts.byEmail('rollback@example.com'));
  });
});

describe('POST /auth/login', () => {
  it('login responds 200 with tokens and user at the top level', async () => {
    const person = await fixture.person();
    const answer = await fixture.login({ ...person, email: person.email.toUpperCase() });
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(answer.json, {
      success: true,
      tokens: { accessToken: answer.string('tokens.accessToken'), expiresIn: 3600 },
      user: { id: person.id, email: person.email, name: null, role: 'USER' },
    });
  });

  it('login needs a key of any scope and account', async () => {
    const person = await fixture.person();
    const body = { email: person.email, password: PASSWORD };
    const without = await fixture.app.request('POST', '/auth/login', { body });
    without.assertError('UNAUTHORIZED');
    for (const scope of ['READ_ONLY', 'STANDARD', 'FULL_ACCESS'] as const) {
      const { key: other } = await fixture.app.createKey({
        scope,
        permissions: scope === 'FULL_ACCESS' ? [] : ['videos:read'],
      });
      assert.equal((await fixture.post('/auth/login', other, body)).status, 200, scope);
    }
  });

  it('login responds 400 BAD_REQUEST naming a missing or malformed field', async () => {
    const cases: [unknown, string][] = [
      [{ password: 'x' }, 'email'],
      [{ email: 'x' }, 'password'],
      [{ email: null, password: 'x' }, 'email'],
      [{ email: 'x', password: 12 }, 'password'],
      [{ email: ['x'], password: 'x' }, 'email'],
    ];
    for (const [body, field] of cases) {
      (await fixture.post('/auth/login', key, body)).assertError('BAD_REQUEST', field);
    }
  });

  it('login responds identically to an unknown address, a wrong password and a suspended account', async () => {
    const known = await fixture.person();
    const suspended = await fixture.person({ suspended: true });
    const tries = [
      { email: 'nobody@example.com', password: PASSWORD },
      { email: known.email, password: 'not the password' },
      { email: suspended.email, password: PASSWORD },
      { email: suspended.email, password: 'not the password' },
      { email: '', password: '' },
      { email: 'x'.repeat(100_000), password: 'y'.repeat(100_000) },
    ];
    const answers = await Promise.all(tries.map((body) => fixture.post('/auth/login', key, body)));
    for (const answer of answers) answer.assertError('INVALID_CREDENTIALS');
    assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
    const shape = answers.map(({ headers }) => Object.keys(headers).sort().join());
    assert.equal(new Set(shape).size, 1);
  });

  it('login does the same work for an unknown address as for a wrong password', async () => {
    const { email } = await fixture.person();
    const { auth } = fixture.app.container;
    const time = async (address: string) => {
      // Measures CPU time, so that other load does not affect the result.
      const before = process.cpuUsage();
      await assert.rejects(
        auth.signIn.login({ email: address, password: 'not the password' }, { ip: '192.0.2.1' }),
      );
      const { user, system } = process.cpuUsage(before);
      return user + system;
    };
    const unknown: number[] = [];
    const wrong: number[] = [];
    for (let round = 0; round < 9; round++) {
      unknown.push(await time('nobody@example.com'));
      wrong.push(await time(email));
    }
    const ratio = median(unknown) / median(wrong);
    // The ratio is below 0.1 when the dummy hash is missing.
    assert.ok(ratio > 0.4 && ratio < 2.5, `ratio of the medians: ${ratio}`);
  });

  it('login renews a hash with outdated parameters', async () => {
    const person = await fixture.person();
    const { db } = fixture.app.container;
    const weak = await (await import('@node-rs/argon2')).hash(PASSWORD, { memoryCost: 1024, timeCost: 1 });
    const stored = async () => {
      const row = await db
        .selectFrom('account')
        .select('password_hash')
        .where('id', '=', person.id)
        .executeTakeFirstOrThrow();
      return row.password_hash;
    };
    await db.updateTable('account').set({ password_hash: weak }).where('id', '=', person.id).execute();
    const wrong = await fixture.post('/auth/login', person.key, { email: person.email, password: 'wrong' });
    wrong.assertError('INVALID_CREDENTIALS');
    assert.equal(await stored(), weak);
    assert.equal((await fixture.login(person)).status, 200);
    assert.match(await stored(), /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    assert.equal((await fixture.login(person)).status, 200);
  });
});

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

describe('X-User-Token', () => {
  it('a user token is accepted only with a key of the same account', async () => {
    const ada = await fixture.person();
    const bob = await fixture.person();
    const token = await fixture.token(ada);
    (await fixture.asUser('GET', '/streams', ada, token)).assertOk(200);
    (await fixture.asUser('GET', '/streams', bob, token)).assertError('INVALID_USER_TOKEN');
  });

  it('an empty user token counts as absent, and a malformed one is rejected', async () => {
    const ada = await fixture.person();
    (await fixture.asUser('GET', '/streams', ada, '')).assertOk(200);
    for (const token of ['garbage', 'a.b.c', 'null', '..', 'x'.repeat(7000)]) {
      const answer = await fixture.asUser('GET', '/streams', ada, token);
      answer.assertError('INVALID_USER_TOKEN').assertRateLimited(true);
    }
  });

  it('a user token is void once the account is suspended', async () => {
    const ada = await fixture.person();
    const token = await fixture.token(ada);
    const { accounts, auth } = fixture.app.container;
    assert.equal((await auth.tokens.verify(token))?.accountId, ada.id);
    await accounts.suspend(ada.email);
    fixture.app.container.apiKeys.forget();
    assert.equal(await auth.tokens.verify(token), null);
  });
});

describe('sign-in limits', () => {
  const tooMany = (retryAfter: unknown) => ({ success: false, error: 'Too many requests', retryAfter });

  it('ten logins per IP are allowed in fifteen minutes, the second factor not counted', async () => {
    const person = await fixture.person();
    const from = newAddress();
    for (let index = 0; index < 9; index++) {
      const body = { email: person.email, password: 'wrong password' };
      (await fixture.post('/auth/login', person.key, body, from)).assertError('INVALID_CREDENTIALS');
    }
    const challenge = { challengeId: 'none', code: '000000' };
    (await fixture.post('/auth/login/2fa', person.key, challenge, from)).assertError('INVALID_CREDENTIALS');
    // A rejected body counts too: the limit precedes parsing.
    (await fixture.post('/auth/login', person.key, {}, from)).assertError('BAD_REQUEST', 'email');
    const answer = await fixture.post('/auth/login', person.key, '{"not json', from);
    assert.equal(answer.status, 429);
    assert.deepEqual(answer.json, tooMany(answer.at('retryAfter')));
    const seconds = Number(answer.at('retryAfter'));
    assert.ok(Number.isInteger(seconds) && seconds > 800 && seconds <= 900, String(seconds));
    assert.equal(answer.headers['retry-after'], String(seconds));
    answer.assertCommonHeaders().assertRateLimited(true);
    (await fixture.post('/auth/login/2fa', person.key, challenge, from)).assertError('INVALID_CREDENTIALS');
    assert.equal((await fixture.login(person)).status, 200, 'another address is free');
  });

  it('five registrations per IP are allowed in fifteen minutes', async () => {
    const { key: fresh } = await fixture.app.createKey();
    const from = newAddress();
    for (let index = 0; index < 5; index++) {
      const answer = await fixture.post('/auth/register', fresh, { email: 'x', password: 'y' }, from);
      answer.assertError('INVALID_EMAIL', 'email');
    }
    const answer = await fixture.post('/auth/register', fresh, { email: 'x', password: 'y' }, from);
    assert.equal(answer.status, 429);
    assert.deepEqual(answer.json, tooMany(Number(answer.headers['retry-after'])));
  });

  it('the limit per IP counts across keys', async () => {
    const from = newAddress();
    const send = async () => {
      const { key: fresh } = await fixture.app.createKey();
      return (await fixture.post('/auth/register', fresh, {}, from)).status;
    };
    const statuses: number[] = [];
    for (let index = 0; index < 6; index++) statuses.push(await send());
    assert.deepEqual(statuses, [400, 400, 400, 400, 400, 429]);
  });

  it('a key may register twenty times in an hour, then gets RATE_LIMITED', async () => {
    const { key: fresh } = await fixture.app.createKey();
    for (let index = 0; index < 20; index++) {
      (await fixture.post('/auth/register', fresh, {})).assertError('BAD_REQUEST', 'email');
    }
    const answer = await fixture.post('/auth/register', fresh, {});
    answer.assertError('RATE_LIMITED').assertRateLimited(true);
    const seconds = Number(answer.headers['retry-after']);
    assert.ok(seconds > 3500 && seconds <= 3600, String(seconds));
  });

  it('a key may log in a hundred times in an hour', async () => {
    const { key: fresh } = await fixture.app.createKey();
    for (let index = 0; index < 100; index++) {
      (await fixture.post('/auth/login', fresh, {})).assertError('BAD_REQUEST', 'email');
    }
    (await fixture.post('/auth/login', fresh, {})).assertError('RATE_LIMITED');
  });
});
