import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { OWN_ORIGIN } from '../../test/auth/browser.ts';
import { startTestApp, type TestApp } from '../../test/harness/app.ts';
import { BARE_ENVIRONMENT, type CommandOutcome, runCommand } from '../../test/harness/command-line.ts';
import { createTestDatabase } from '../../test/harness/database.ts';
import { serverProgram } from '../../test/harness/platform.ts';
import { waitFor } from '../../test/harness/wait-for.ts';

const CLI = serverProgram('cli');
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

let app: TestApp;
/** Address of the database of a server that runs. */
let url: string;

before(async () => {
  app = await startTestApp();
  url = app.databaseUrl;
});
after(() => app.close());

interface Outcome extends CommandOutcome {
  json(): unknown;
}

/** @param env makes it a process of its own, with this environment. */
async function marquee(args: string[], env?: Record<string, string>): Promise<Outcome> {
  if (env === undefined) {
    const outcome = await runCommand(app, args);
    return { ...outcome, json: () => JSON.parse(outcome.stdout) };
  }
  const dataDir = join(tmpdir(), `marquee-cli-${randomBytes(6).toString('hex')}`);
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', CLI, ...args], {
    env: { ...BARE_ENVIRONMENT, DATA_DIR: dataDir, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exit = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), exit]);
  await rm(dataDir, { recursive: true, force: true });
  return { code, stdout, stderr, json: () => JSON.parse(stdout) };
}

/** The one line of a command's JSON. */
async function json(...args: string[]): Promise<Record<string, unknown>> {
  const outcome = await marquee([...args, '--json']);
  assert.equal(outcome.code, 0, outcome.stderr);
  assert.equal(outcome.stderr, '');
  assert.match(outcome.stdout, /^[^\n]+\n$/);
  return Object(outcome.json());
}

const create = (email: string, ...more: string[]) =>
  json('account', 'create', '--email', email, '--password', 'a long password', ...more);

describe('while the server runs', { concurrency: 4 }, () => {
  test('account create prints id, email and username, and nothing else', async () => {
    const made = await create(' Ada@Example.com ', '--name', 'Ada', '--plan', 'PRO', '--role', 'ADMIN');
    assert.match(String(made.id), /^usr_[0-9a-z]{26}$/);
    assert.deepEqual(made, { id: made.id, email: 'ada@example.com', username: 'ada' });
    const stored = await app.container.accounts.byEmail('ada@example.com');
    assert.deepEqual([stored.name, stored.plan, stored.role], ['Ada', 'PRO', 'ADMIN']);
    assert.notEqual(stored.email_verified_at, null);
    const named = await create('ada2@example.com', '--username', 'Countess');
    assert.equal(named.username, 'countess');
  });

  test('account invite prints a link that is valid for one registration', async () => {
    const invited = await json('account', 'invite', '--email', 'Guest@Example.com');
    assert.deepEqual(Object.keys(invited).sort(), ['email', 'expiresAt', 'url']);
    const { pathname, searchParams } = new URL(String(invited.url));
    assert.equal(pathname, '/dashboard/sign-up');
    const email = searchParams.get('email');
    const inviteToken = searchParams.get('invite');
    assert.equal(email, 'guest@example.com');
    const register = () =>
      app.request('POST', '/auth/session/register', {
        body: { email, inviteToken, password: 'a long password' },
        headers: { origin: OWN_ORIGIN },
      });
    (await register()).assertOk(201);
    (await register()).assertError('REGISTRATION_CLOSED', 'inviteToken');
    const { code, stderr } = await marquee(['account', 'invite', '--email', 'nobody']);
    assert.equal(code, 1);
    assert.match(stderr, /^marquee: .+\(email\)\n$/);
  });

  test('key create prints id and key; the key works immediately with the requested settings', async () => {
    const account = await app.createAccount();
    const args = ['key', 'create', '--account', account.email, '--scope'];
    const plain = await json(...args, 'FULL_ACCESS');
    assert.deepEqual(Object.keys(plain).sort(), ['id', 'key']);
    assert.match(String(plain.id), /^key_/);
    assert.match(String(plain.key), /^pk_[0-9a-f]{40}$/);
    const answer = (await app.request('GET', '/streams', { key: String(plain.key) })).assertOk(200);
    assert.equal(answer.headers['x-ratelimit-limit'], '10000');
    assert.equal(answer.headers['svc-key-mode'], 'live');

    const more = [
      '--mode',
      'test',
      '--rate-limit',
      '7',
      '--daily-quota',
      '9',
      '--permission',
      'streams:read',
    ];
    const made = await json(...args, 'STANDARD', ...more, '--permission', 'videos:write');
    const limited = (await app.request('GET', '/streams', { key: String(made.key) })).assertOk(200);
    assert.equal(limited.headers['x-ratelimit-limit'], '7');
    assert.equal(limited.headers['x-ratelimit-daily-limit'], '9');
    assert.equal(limited.headers['svc-key-mode'], 'test');
    const write = await app.request('POST', '/streams', { key: String(made.key), body: { title: 'x' } });
    write.assertError('PERMISSION_DENIED');
  });

  test('restrictions of a key: address, domain, end', async () => {
    const { email } = await app.createAccount();
    const make = async (...restriction: string[]) => {
      const made = await json('key', 'create', '--account', email, '--scope', 'STANDARD', ...restriction);
      const headers = { origin: 'https://app.example.com' };
      return app.request('GET', '/streams', { key: String(made.key), headers });
    };
    const here = ['--allow-ip', '10.0.0.0/8', '--allow-ip', '127.0.0.0/8'];
    const [all, address, domain, end] = await Promise.all([
      make(...here, '--allow-domain', '*.example.com', '--expires-at', '2999-01-01T00:00:00Z'),
      make('--allow-ip', '10.0.0.0/8'),
      make('--allow-domain', 'example.com'),
      make('--expires-at', '2020-01-01T00:00:00Z'),
    ]);
    all.assertOk(200);
    address.assertError('IP_NOT_ALLOWED');
    domain.assertError('DOMAIN_NOT_ALLOWED');
    end.assertError('KEY_EXPIRED');
  });

  test('--unverified, then verify, suspend, unsuspend: the running server follows immediately', async () => {
    const email = 'slow@example.com';
    await create(email, '--unverified');
    const made = await json('key', 'create', '--account', email, '--scope', 'STANDARD');
    const get = () => app.request('GET', '/streams', { key: String(made.key) });
    (await get()).assertError('EMAIL_NOT_VERIFIED');
    const expected = { id: (await app.container.accounts.byEmail(email)).id, email };
    for (const [verb, code] of [
      ['verify', 'OK'],
      ['suspend', 'KEY_DISABLED'],
      ['unsuspend', 'OK'],
    ] as const) {
      assert.deepEqual(await json('account', verb, '--email', email), expected);
      await waitFor(async () => ((await get()).at('error.code') ?? 'OK') === code, { message: verb });
    }
  });

  test('set-plan', async () => {
    const { email, id } = await app.createAccount({ plan: 'FREE' });
    assert.deepEqual(await json('account', 'set-plan', '--email', email, '--plan', 'STAR'), { id, email });
    assert.equal((await app.container.accounts.byEmail(email)).plan, 'STAR');
  });

  test('key revoke: the server rejects the key immediately', async () => {
    const { key, id } = await app.createKey();
    (await app.request('GET', '/streams', { key })).assertOk(200);
    assert.deepEqual(await json('key', 'revoke', '--id', id), { id, revoked: true });
    await waitFor(
      async () => (await app.request('GET', '/streams', { key })).at('error.code') === 'KEY_DISABLED',
    );
  });

  test('the lists', async () => {
    const { key, id, account } = await app.createKey({
      name: 'Mine',
      scope: 'STANDARD',
      permissions: ['streams:read'],
    });
    const accounts: unknown = await json('account', 'list');
    assert.ok(Array.isArray(accounts));
    const listed = async (...filter: string[]) => {
      const rows: unknown = await json('account', 'list', '--match', account.email.toUpperCase(), ...filter);
      return Array.isArray(rows) ? rows.length : rows;
    };
    assert.deepEqual(
      [
        await listed('--plan', 'VIP', '--role', 'USER'),
        await listed('--suspended'),
        await listed('--plan', 'PRO'),
      ],
      [1, 0, 0],
    );
    const row = Object(accounts.find((one) => Object(one).id === account.id));
    assert.match(row.createdAt, ISO);
    assert.deepEqual(row, {
      id: account.id,
      email: account.email,
      username: account.id,
      name: null,
      role: 'USER',
      plan: 'VIP',
      emailVerified: true,
      suspended: false,
      createdAt: row.createdAt,
    });
    const keys: unknown = await json('key', 'list', '--account', account.email);
    assert.ok(Array.isArray(keys));
    assert.deepEqual(keys, [
      {
        id,
        account: account.email,
        name: 'Mine',
        prefix: key.slice(0, 7),
        last4: key.slice(-4),
        scope: 'STANDARD',
        permissions: ['streams:read'],
        mode: 'live',
        expiresAt: null,
        revokedAt: null,
        createdAt: Object(keys[0]).createdAt,
      },
    ]);
  });

  test('the output without --json is human-readable', async () => {
    const made = await marquee([
      'account',
      'create',
      '--email',
      'human@example.com',
      '--password',
      'x'.repeat(12),
    ]);
    assert.equal(made.code, 0, made.stderr);
    assert.match(made.stdout, /^created human@example.com \(usr_\w+, human\)\n$/);
  });
});

describe('rejected commands', { concurrency: 4 }, () => {
  const failures: [args: string[], message: RegExp][] = [
    [['account', 'create', '--email', 'a@example.com', '--password', 'short'], /12 characters.*\(password\)/],
    [['key', 'create', '--account', 'nobody@example.com', '--scope', 'STANDARD'], /not found/],
    [['key', 'revoke', '--id', 'key_none'], /not found/],
  ];
  for (const [args, message] of failures) {
    test(`${args.slice(0, 4).join(' ')}: one line, exit status 1`, async () => {
      const { code, stdout, stderr } = await marquee(args);
      assert.deepEqual([code, stdout], [1, '']);
      assert.match(stderr, /^marquee: [^\n]+\n$/);
      assert.match(stderr, message);
    });
  }

  const misuses: [args: string[], message: RegExp][] = [
    [['account', 'explode'], /unknown command "account explode"/],
    [['account', 'create'], /--email is required/],
    [['key', 'create', '--account', 'a@b.c', '--scope', 'GOD'], /--scope must be one of READ_ONLY/],
  ];
  for (const [args, message] of misuses) {
    test(`${args.join(' ').slice(0, 60)}: the usage, exit status 2`, async () => {
      const { code, stdout, stderr } = await marquee(args);
      assert.deepEqual([code, stdout], [2, '']);
      assert.match(stderr, message);
      assert.match(stderr, /\nUsage:\n {2}marquee account create --email E/);
    });
  }

  test('an address that is taken, a user name that is taken', async () => {
    const account = await app.createAccount();
    const args = ['account', 'create', '--password', 'x'.repeat(12), '--email'];
    const twice = await marquee([...args, account.email]);
    assert.deepEqual([twice.code, twice.stdout], [1, '']);
    assert.match(twice.stderr, /already exists.*\(email\)/);
    const name = await marquee([...args, 'second@example.com', '--username', account.id]);
    assert.match(name.stderr, /taken.*\(username\)/);
  });

  test('no database, a bad value: one line, and never the password', async () => {
    const lost = await marquee(['account', 'list'], { DATABASE_URL: 'postgres://u:hunter2@127.0.0.1:1/x' });
    assert.equal(lost.code, 1);
    assert.match(lost.stderr, /^marquee: the database cannot be reached: [^\n]+\n$/);
    assert.doesNotMatch(lost.stderr, /hunter2/);
    const bad = await marquee(['account', 'list'], { DATABASE_URL: url, PORT: 'many' });
    assert.equal(bad.code, 1);
    assert.match(bad.stderr, /^marquee: .*PORT must be[^\n]+\n$/);
  });
});

test('the program without a command prints its usage on standard output, with status 0', async () => {
  const { code, stdout, stderr } = await marquee([], {});
  assert.deepEqual([code, stderr], [0, '']);
  assert.match(stdout, /^Usage:\n/);
});

test('migrate on an empty database applies every file once, in order', async () => {
  const empty = await createTestDatabase({ empty: true, pool: 1 });
  try {
    const migrate = async () =>
      Object((await marquee(['migrate', '--json'], { DATABASE_URL: empty.url })).json()).applied;
    const applied: unknown = await migrate();
    assert.ok(Array.isArray(applied) && applied[0] === '0001_platform.sql' && applied.length > 2);
    assert.deepEqual(applied.toSorted(), applied);
    assert.deepEqual(await migrate(), []);
  } finally {
    await empty.close();
  }
});
