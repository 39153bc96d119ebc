import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { linkToken } from '../../test/auth/fixture.ts';
import { startTestApp, type TestApp } from '../../test/harness/app.ts';
import { until } from '../../test/harness/wait.ts';
import { startWorker } from './worker.ts';

const CLI = join(import.meta.dirname, 'cli.ts');
const run = promisify(execFile);
let app: TestApp;
let key: string;
let worker: ReturnType<typeof startWorker>;

before(async () => {
  app = await startTestApp();
  ({ key } = await app.createKey());
  worker = startWorker(app.container);
});
after(async () => {
  await worker.stop();
  await app.close();
});

async function marquee(...args: string[]): Promise<string> {
  const { host, port, database, user, pass } = app.container.sql.options;
  const { stdout } = await run(process.execPath, ['--disable-warning=ExperimentalWarning', CLI, ...args], {
    env: {
      PATH: process.env.PATH,
      DATABASE_URL: `postgres://${user}:${String(pass)}@${host[0]}:${port[0]}/${database}`,
      DATA_DIR: app.container.config.DATA_DIR,
      // The key of the harness: the operator's command line shares the server's.
      SECRET_KEY: Buffer.alloc(32, 5).toString('hex'),
    },
  });
  return stdout;
}

describe('the development mailbox', () => {
  it('takes what the worker finds, and the operator reads it there', async () => {
    const email = 'mailbox@example.com';
    const body = { email, password: 'correct horse battery staple' };
    assert.equal((await app.request('POST', '/auth/register', { key, body })).status, 201);
    await app.container.auth.links.request('VERIFY_EMAIL', email);
    const mails = await until(
      async () => {
        const list: unknown = JSON.parse(await marquee('mail', 'list', '--json'));
        assert.ok(Array.isArray(list));
        return list.length === 2 && list.every(({ status }) => status === 'KEPT') && list;
      },
      { timeoutMs: 15_000, intervalMs: 200, message: 'both mails in the mailbox' },
    );
    const [{ id, createdAt }] = mails;
    assert.deepEqual(mails[0], {
      id,
      kind: 'verify-email',
      to: email,
      subject: 'Confirm your e-mail address',
      status: 'KEPT',
      attempts: 1,
      lastError: null,
      createdAt,
    });
    const shown: unknown = JSON.parse(await marquee('mail', 'show', '--id', String(id), '--json'));
    assert.deepEqual(shown, { ...mails[0], text: Object(shown).text });
    const token = linkToken(String(Object(shown).text));
    assert.equal(await app.container.auth.links.verifyEmail(token), true);
    assert.match(
      await marquee('mail', 'show', '--id', String(id)),
      /^To: mailbox@example\.com\nSubject: Confirm/,
    );
  });

  it('says in one line that there is no such mail', async () => {
    await assert.rejects(marquee('mail', 'show', '--id', 'mail_none'), /There is no such resource/);
  });
});
