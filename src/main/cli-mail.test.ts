import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { linkToken } from '../../test/auth/fixture.ts';
import { startTestApp, type TestApp } from '../../test/harness/app.ts';
import { commandLine } from '../../test/harness/command-line.ts';
import { waitFor } from '../../test/harness/wait-for.ts';
import { startWorker } from './worker.ts';

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

const marquee = (...args: string[]) => commandLine(app, ...args);

describe('the development mailbox', () => {
  it('takes what the worker finds, and the operator reads it there', async () => {
    const email = 'mailbox@example.com';
    const body = { email, password: 'correct horse battery staple' };
    assert.equal((await app.request('POST', '/auth/register', { key, body })).status, 201);
    await app.container.auth.links.request('VERIFY_EMAIL', email);
    const mails = await waitFor(
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
      subject: 'Verify your email address',
      status: 'KEPT',
      attempts: 1,
      lastError: null,
      createdAt,
    });
    const shown: unknown = JSON.parse(await marquee('mail', 'show', '--id', String(id), '--json'));
    assert.deepEqual(shown, { ...mails[0], text: Object(shown).text, calendar: null });
    const token = linkToken(String(Object(shown).text));
    assert.equal(await app.container.auth.links.verifyEmail(token), true);
    assert.match(
      await marquee('mail', 'show', '--id', String(id)),
      /^To: mailbox@example\.com\nSubject: Verify/,
    );
  });

  it('a missing email is reported in one line', async () => {
    await assert.rejects(marquee('mail', 'show', '--id', 'mail_none'), /Resource not found/);
  });
});
