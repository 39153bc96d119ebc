import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type FastifyInstance, fastify } from 'fastify';
import { type AuthFixture, linkToken, PASSWORD, startAuthFixture } from '../../../../test/auth/fixture.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { errorHandler } from '../../../http/plugins/errors.ts';
import { systemClock } from '../../../kernel/clock.ts';
import { memoryCounter } from '../../../platform/counters.ts';
import { createLogger } from '../../../platform/logger.ts';
import { authPages } from './pages.ts';

const HOUR_MS = 3_600_000;
const NEW_PASSWORD = 'another good password';
const clock = new TestClock(systemClock.ms());
let fixture: AuthFixture;
let pages: FastifyInstance;

before(async () => {
  fixture = await startAuthFixture(clock);
  const windows = new Map<number | 'day', ReturnType<typeof memoryCounter>>();
  pages = fastify({ trustProxy: true });
  pages.setErrorHandler(errorHandler(createLogger('silent'), () => null));
  authPages({
    ...fixture.app.container.auth,
    // The built assets are not needed to test the page content.
    assets: {
      entry: () => ({ scripts: [], styles: ['/assets/site.css'], preloads: [], lazy: [] }),
      url: () => null,
      register: () => {},
    },
    counters: {
      window: (sec) => {
        const counter = windows.get(sec) ?? memoryCounter(Number(sec));
        windows.set(sec, counter);
        return counter;
      },
    },
  })(pages);
  await pages.ready();
});
after(async () => {
  await pages.close();
  await fixture.close();
});

let visitors = 0;

function submit(url: string, fields: Record<string, string>, headers: Record<string, string> = {}) {
  visitors += 1;
  return pages.inject({
    method: 'POST',
    url,
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'x-forwarded-for': `10.9.${visitors >> 8}.${visitors & 255}`,
      ...headers,
    },
    payload: new URLSearchParams(fields).toString(),
  });
}

/** Registers an account with an unconfirmed address and a key. */
async function registered(email: string): Promise<{ email: string; key: string }> {
  const { key } = await fixture.app.createKey();
  const answer = await fixture.post('/auth/register', key, { email, password: PASSWORD });
  assert.equal(answer.status, 201, answer.text);
  const own = await fixture.app.container.apiKeys.create({ email, scope: 'FULL_ACCESS' });
  return { email, key: own.key };
}

const keyWorks = async (key: string) =>
  (await fixture.app.request('GET', '/streams', { key })).status === 200;

describe('address confirmation links', () => {
  it('the confirmation page shows a form, confirms on POST, and enables the keys of the account immediately', async () => {
    const { email, key } = await registered('confirm@example.com');
    const [mail] = await fixture.mailsTo(email);
    const token = linkToken(mail);
    assert.ok(mail?.includes('http://marquee.test/verify-email?token='));
    const form = await pages.inject(`/verify-email?token=${token}`);
    assert.equal(form.statusCode, 200);
    assert.ok(form.body.includes(`<input type="hidden" name="token" value="${token}">`));
    assert.equal(await keyWorks(key), false, 'looking at the form changes nothing');

    assert.equal((await submit('/verify-email', { token })).statusCode, 200);
    assert.equal(await keyWorks(key), true);
    assert.equal((await submit('/verify-email', { token })).statusCode, 404, 'it works once');
    assert.equal((await pages.inject(`/verify-email?token=${token}`)).statusCode, 404);
  });

  it('a confirmation link is valid for 24 hours', async () => {
    const early = await registered('early@example.com');
    const late = await registered('late@example.com');
    const token = linkToken((await fixture.mailsTo(early.email))[0]);
    const lateToken = linkToken((await fixture.mailsTo(late.email))[0]);
    clock.advance(24 * HOUR_MS - 1000);
    assert.equal((await submit('/verify-email', { token })).statusCode, 200);
    clock.advance(1000);
    assert.equal((await submit('/verify-email', { token: lateToken })).statusCode, 404);
    assert.equal(await keyWorks(late.key), false);
  });

  it('a confirmation link can be requested again, and is not sent to a confirmed address', async () => {
    const { email, key } = await registered('again@example.com');
    assert.equal((await submit('/verify-email', { email: ` ${email.toUpperCase()} ` })).statusCode, 200);
    const mails = await fixture.mailsTo(email);
    assert.equal(mails.length, 2);
    await submit('/verify-email', { token: linkToken(mails[1]) });
    assert.equal(await keyWorks(key), true);
    await submit('/verify-email', { email });
    assert.equal((await fixture.mailsTo(email)).length, 2);
  });

  it('a confirmation link does not set a password', async () => {
    const { email } = await registered('purpose@example.com');
    const token = linkToken((await fixture.mailsTo(email))[0]);
    const answer = await submit('/reset-password', { token, password: NEW_PASSWORD });
    assert.equal(answer.statusCode, 404);
    assert.equal((await pages.inject(`/reset-password?token=${token}`)).statusCode, 404);
  });
});

describe('password resets', () => {
  const resetToken = async (email: string) => {
    await submit('/forgot-password', { email });
    return linkToken((await fixture.mailsTo(email)).at(-1));
  };

  it('a new password is set by the link, once, and signs the account out everywhere', async () => {
    const person = await fixture.person();
    const userToken = await fixture.token(person);
    const form = await pages.inject('/forgot-password');
    assert.equal(form.statusCode, 200);
    assert.ok(form.body.includes('name="email"'));
    const token = await resetToken(person.email);
    assert.equal((await pages.inject(`/reset-password?token=${token}`)).statusCode, 200);
    (await fixture.asUser('GET', '/streams', person, userToken)).assertOk(200);

    const done = await submit('/reset-password', { token, password: NEW_PASSWORD });
    assert.equal(done.statusCode, 200);
    (await fixture.asUser('GET', '/streams', person, userToken)).assertError('INVALID_USER_TOKEN');
    (await fixture.login(person)).assertError('INVALID_CREDENTIALS');
    const changed = { ...person, password: NEW_PASSWORD };
    (await fixture.asUser('GET', '/streams', person, await fixture.token(changed))).assertOk(200);
    assert.equal((await fixture.app.request('GET', '/streams', { key: person.key })).status, 200);

    const again = await submit('/reset-password', { token, password: 'yet another password' });
    assert.equal(again.statusCode, 404);
    assert.equal((await fixture.login(changed)).status, 200);
    assert.ok((await fixture.mailsTo(person.email)).some((text) => text.includes('was changed')));
  });

  it('a password below twelve characters is rejected, and the link stays valid', async () => {
    const person = await fixture.person();
    const token = await resetToken(person.email);
    const weak = await submit('/reset-password', { token, password: 'elevenchars' });
    assert.equal(weak.statusCode, 400);
    assert.ok(weak.body.includes('at least 12 characters.'));
    assert.ok(weak.body.includes(token));
    assert.equal((await submit('/reset-password', { token, password: NEW_PASSWORD })).statusCode, 200);
  });

  it('a reset link is valid for one hour', async () => {
    const person = await fixture.person();
    const token = await resetToken(person.email);
    clock.advance(HOUR_MS);
    assert.equal((await submit('/reset-password', { token, password: NEW_PASSWORD })).statusCode, 404);
    assert.equal((await fixture.login(person)).status, 200);
  });

  it('a reset voids the other reset links', async () => {
    const person = await fixture.person();
    const first = await resetToken(person.email);
    const second = await resetToken(person.email);
    assert.notEqual(first, second);
    assert.equal(
      (await submit('/reset-password', { token: second, password: NEW_PASSWORD })).statusCode,
      200,
    );
    const late = await submit('/reset-password', { token: first, password: 'yet another password' });
    assert.equal(late.statusCode, 404);
  });

  it('a link that is used many times concurrently sets one password', async () => {
    const person = await fixture.person();
    const token = await resetToken(person.email);
    const answers = await Promise.all(
      Array.from({ length: 5 }, (_, index) =>
        submit('/reset-password', { token, password: `good password number ${index}` }),
      ),
    );
    const statuses = answers.map(({ statusCode }) => statusCode).sort();
    assert.deepEqual(statuses, [200, 404, 404, 404, 404]);
  });

  it('a reset link is not sent to a suspended account, nor more than three times in an hour', async () => {
    const suspended = await fixture.person({ suspended: true });
    await submit('/forgot-password', { email: suspended.email });
    assert.deepEqual(await fixture.mailsTo(suspended.email), []);
    const person = await fixture.person();
    for (let index = 0; index < 5; index++) await submit('/forgot-password', { email: person.email });
    assert.equal((await fixture.mailsTo(person.email)).length, 3);
    clock.advance(HOUR_MS);
    await submit('/forgot-password', { email: person.email });
    assert.equal((await fixture.mailsTo(person.email)).length, 4);
  });

  it('a reset request has the same response and cost whether or not the account exists', async () => {
    const person = await fixture.person();
    const { db } = fixture.app.container;
    const known = await submit('/forgot-password', { email: person.email });
    const unknown = await submit('/forgot-password', { email: 'nobody@example.com' });
    assert.equal(known.body, unknown.body);
    assert.equal(known.statusCode, 200);
    // Both requests wait for the worker; only the worker looks up the account.
    const waiting = await db.selectFrom('email_link_request').select('email').orderBy('id').execute();
    assert.deepEqual(
      waiting.map(({ email }) => email),
      [person.email, 'nobody@example.com'],
    );
    assert.deepEqual(await fixture.mailsTo('nobody@example.com'), []);
  });
});

describe('sign-in pages', () => {
  it('sign-in pages store only the hash of a token', async () => {
    const { email } = await registered('hash@example.com');
    const token = linkToken((await fixture.mailsTo(email))[0]);
    const rows = await fixture.app.container.sql`
      select row_to_json(email_token)::text as text from email_token
      union all select row_to_json(mail)::text from mail`;
    assert.ok(rows.length > 1);
    for (const row of rows) assert.equal(String(row.text).includes(token), false);
  });

  it('sign-in pages escape their input', async () => {
    const evil = '"><script>alert(1)</script>';
    const answer = await pages.inject(`/verify-email?token=${encodeURIComponent(evil)}`);
    assert.equal(answer.statusCode, 404);
    assert.equal(answer.body.includes('<script>alert'), false);
    const posted = await submit('/forgot-password', { email: evil });
    assert.equal(posted.body.includes('alert(1)'), false);
  });

  it('sign-in pages may post to and load from this site only, and cannot be framed', async () => {
    const { headers } = await pages.inject('/forgot-password');
    const policy = String(headers['content-security-policy']);
    for (const part of ["default-src 'none'", "form-action 'self'", "frame-ancestors 'none'"]) {
      assert.ok(policy.includes(part), policy);
    }
    assert.equal(headers['cache-control'], 'no-store');
  });

  it('sign-in pages reject forms of other sites', async () => {
    const { email } = await fixture.person();
    const sent = (site: string) => submit('/forgot-password', { email }, { 'sec-fetch-site': site });
    assert.equal((await sent('cross-site')).statusCode, 403);
    assert.equal((await sent('same-site')).statusCode, 403);
    assert.deepEqual(await fixture.mailsTo(email), []);
    assert.equal((await sent('same-origin')).statusCode, 200);
    assert.equal((await fixture.mailsTo(email)).length, 1);
  });

  it('sign-in pages allow five links per IP in fifteen minutes', async () => {
    const from = { 'x-forwarded-for': '192.0.2.77' };
    const ask = (path: string) => submit(path, { email: 'nobody@example.com' }, from);
    for (let index = 0; index < 5; index++) assert.equal((await ask('/forgot-password')).statusCode, 200);
    const refused = await ask('/verify-email');
    assert.equal(refused.statusCode, 429);
    assert.ok(Number(refused.headers['retry-after']) > 800);
  });

  it('sign-in pages handle malformed input', async () => {
    const cases: [string, string][] = [
      ['application/x-www-form-urlencoded', ''],
      ['application/x-www-form-urlencoded', 'token=a&token=b'],
      ['application/x-www-form-urlencoded', 'email=%00%FF%ZZ'],
      ['application/x-www-form-urlencoded', '__proto__=1&constructor=2'],
      ['application/x-www-form-urlencoded', `token=${'x'.repeat(10_000)}`],
      ['application/x-www-form-urlencoded', `token=${'x'.repeat(100_000)}`],
      ['multipart/form-data; boundary=x', '--x--'],
    ];
    for (const path of ['/verify-email', '/forgot-password', '/reset-password']) {
      for (const [type, payload] of cases) {
        visitors += 1;
        const headers = { 'content-type': type, 'x-forwarded-for': `10.8.0.${visitors & 255}` };
        const { statusCode } = await pages.inject({ method: 'POST', url: path, headers, payload });
        assert.ok(
          [200, 400, 404, 413, 415].includes(statusCode),
          `${path} ${payload.slice(0, 20)}: ${statusCode}`,
        );
      }
    }
  });
});
