import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { SMTPServer } from 'smtp-server';
import { TestClock } from '../../../../test/harness/clock.ts';
import { createTestDatabase, type TestDatabase } from '../../../../test/harness/database.ts';
import { waitFor } from '../../../../test/harness/wait-for.ts';
import { warmPool } from '../../../../test/harness/warm-pool.ts';
import { createLogger } from '../../../platform/logger.ts';
import { createMailer, type Mailer } from '../../../platform/mailer.ts';
import { createSecrets } from '../../../platform/secrets.ts';
import type { NewEmail } from './index.ts';
import { createEmailSender } from './sender.service.ts';
import { createMailbox, type StoredEmail } from './service.ts';

const FROM = 'Marquee <no-reply@marquee.test>';
const MINUTE_MS = 60_000;
const secrets = createSecrets(Buffer.alloc(32, 3));
const clock = new TestClock();
const log = createLogger('silent');
let database: TestDatabase;
let received: { to: string[]; text: string; user: string | undefined }[] = [];
/** The reply to the next recipients; null takes them. */
let reply: { code: number; message: string } | null = null;
let server: SMTPServer;
let url: string;
const mailers: Mailer[] = [];

before(async () => {
  database = await createTestDatabase();
  server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    onAuth: ({ username, password }, _session, done) =>
      password === 'right' ? done(null, { user: username }) : done(new Error('wrong password')),
    onRcptTo: (_address, _session, done) =>
      reply === null ? done() : done(Object.assign(new Error(reply.message), { responseCode: reply.code })),
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const to = session.envelope.rcptTo.map(({ address }) => address);
        const user = typeof session.user === 'string' ? session.user : undefined;
        received.push({ to, text: Buffer.concat(chunks).toString(), user });
        done();
      });
    },
  });
  const listener = server.listen(0, '127.0.0.1');
  await new Promise((resolve) => listener.once('listening', resolve));
  const address = listener.address();
  assert.ok(address !== null && typeof address === 'object');
  url = `smtp://127.0.0.1:${address.port}`;
});
after(async () => {
  await new Promise<void>((resolve) => server.close(() => resolve()));
  await database.close();
});
afterEach(async () => {
  for (const mailer of mailers.splice(0)) mailer.close();
  received = [];
  reply = null;
  await database.db.deleteFrom('mail').execute();
});

function mailbox() {
  return createMailbox({ db: database.db, secrets, clock });
}

function sender(smtpUrl: string | null = url) {
  const mailer = smtpUrl === null ? null : createMailer(smtpUrl, FROM);
  if (mailer !== null) mailers.push(mailer);
  return createEmailSender({ db: database.db, secrets, clock, log, mailer });
}

const MAIL: NewEmail = {
  kind: 'verify-email',
  to: 'ada@example.com',
  subject: 'Grüße',
  text: 'Open\n\nhttp://x/?token=s3cret\n',
};

async function enqueue(mail: Partial<NewEmail> = {}): Promise<string> {
  await database.db.transaction().execute((tx) => mailbox().enqueue(tx, { ...MAIL, ...mail }));
  const [newest] = await mailbox().list();
  assert.ok(newest !== undefined);
  return newest.id;
}

async function statusOf(id: string): Promise<Pick<StoredEmail, 'status' | 'attempts' | 'lastError'>> {
  const { status, attempts, lastError } = await mailbox().get(id);
  return { status, attempts, lastError };
}

describe('mail', () => {
  it('goes out by SMTP and loses its text here', async () => {
    const id = await enqueue();
    await sender().run();
    assert.equal(received.length, 1);
    const [mail] = received;
    assert.deepEqual(mail?.to, ['ada@example.com']);
    assert.match(mail?.text ?? '', /^From: Marquee <no-reply@marquee\.test>\r$/m);
    assert.match(mail?.text ?? '', new RegExp(`^Message-ID: <${id}@marquee\\.test>\\r$`, 'm'));
    assert.match(mail?.text ?? '', /^Auto-Submitted: auto-generated\r$/m);
    assert.match(mail?.text ?? '', /token=3Ds3cret|token=s3cret/);
    assert.deepEqual(await statusOf(id), { status: 'SENT', attempts: 1, lastError: null });
    assert.equal((await mailbox().get(id)).text, null);
    await sender().run();
    assert.equal(received.length, 1, 'once');
  });

  it('an email to a list supports one-click unsubscribe (RFC 8058) for any address', async () => {
    const unsubscribeUrl = `https://video.example.com/subscribers/sbr_01/unsubscribe?token=${'a'.repeat(43)}`;
    const to = "o'hara+list/a=b!#$%&*?^_`{|}~-x@mail.example.com";
    await enqueue({ to, unsubscribeUrl });
    await enqueue({ to: 'ada@example.com' });
    await sender().run();
    const [list, single] = [to, 'ada@example.com'].map(
      (one) => received.find((mail) => mail.to[0] === one)?.text,
    );
    const headers = list?.split('\r\n\r\n')[0]?.replaceAll(/\r\n[ \t]+/g, ' ') ?? '';
    assert.match(headers, /^List-Unsubscribe-Post: List-Unsubscribe=One-Click$/m);
    assert.ok(headers.split('\r\n').includes(`List-Unsubscribe: <${unsubscribeUrl}>`), headers);
    assert.doesNotMatch(single ?? 'List-Unsubscribe', /List-Unsubscribe/);
    const [row] = await database.db
      .selectFrom('mail')
      .select('unsubscribe_url')
      .where('recipient', '=', to)
      .execute();
    assert.equal(row?.unsubscribe_url, null, 'it is not kept');
  });

  it('signs in to the server with the user and password of SMTP_URL', async () => {
    await enqueue();
    await sender(url.replace('smtp://', 'smtp://marquee:right@')).run();
    assert.equal(received[0]?.user, 'marquee');
  });

  it('an email is retried when the login to the server fails, because the operator can fix that', async () => {
    const id = await enqueue();
    await sender(url.replace('smtp://', 'smtp://marquee:wrong@')).run();
    assert.equal((await statusOf(id)).status, 'QUEUED');
    clock.advance(MINUTE_MS);
    await sender().run();
    assert.equal((await statusOf(id)).status, 'SENT');
  });

  it('does not exist when its transaction fails', async () => {
    const failing = database.db.transaction().execute(async (tx) => {
      await mailbox().enqueue(tx, MAIL);
      throw new Error('the change failed');
    });
    await assert.rejects(failing, /the change failed/);
    await sender().run();
    assert.equal(received.length, 0);
    assert.deepEqual(await mailbox().list(), []);
  });

  it('an email is retried after 1, 5, 30 minutes, 2 and 6 hours, and then fails', async () => {
    const id = await enqueue();
    const work = sender();
    reply = { code: 451, message: 'come back later' };
    const waits = [1, 5, 30, 120, 360].map((minutes) => minutes * MINUTE_MS);
    for (const [index, waitMs] of waits.entries()) {
      await work.run();
      assert.equal((await statusOf(id)).attempts, index + 1);
      clock.advance(waitMs - 1);
      await work.run();
      assert.equal((await statusOf(id)).attempts, index + 1, 'not before its time');
      clock.advance(1);
    }
    await work.run();
    const { status, attempts, lastError } = await statusOf(id);
    assert.deepEqual([status, attempts], ['FAILED', 6]);
    assert.match(lastError ?? '', /451/);
    reply = null;
    clock.advance(24 * 60 * MINUTE_MS);
    await work.run();
    assert.equal(received.length, 0);
  });

  it('a permanently rejected email is not retried and does not delay others', async () => {
    const work = sender();
    reply = { code: 550, message: 'no such mailbox' };
    const refused = await enqueue();
    await work.run();
    assert.deepEqual(await statusOf(refused), {
      status: 'FAILED',
      attempts: 1,
      lastError: 'the server returned status 550',
    });
    reply = null;
    const next = await enqueue({ to: 'bob@example.com' });
    await work.run();
    assert.equal((await statusOf(next)).status, 'SENT');
  });

  it('waits while the server is down', async () => {
    const id = await enqueue();
    await sender('smtp://127.0.0.1:1').run();
    assert.equal((await statusOf(id)).status, 'QUEUED');
    clock.advance(MINUTE_MS);
    await sender().run();
    assert.equal((await statusOf(id)).status, 'SENT');
  });

  it('an email is sent once by concurrent workers', async () => {
    for (let index = 0; index < 12; index++) await enqueue({ to: `p${index}@example.com` });
    const workers = Array.from({ length: 3 }, () => sender());
    await warmPool(database.sql);
    await Promise.all(workers.map((worker) => worker.run()));
    await Promise.all(workers.map((worker) => worker.run()));
    const recipients = received.flatMap(({ to }) => to);
    assert.equal(recipients.length, 12);
    assert.equal(new Set(recipients).size, 12);
  });

  it('that one worker is claiming does not hold up another', async () => {
    for (let index = 0; index < 12; index++) await enqueue({ to: `p${index}@example.com` });
    await database.sql.begin(async (tx) => {
      await tx`select id from mail order by id limit 10 for update`;
      const done = sender().run();
      await waitFor(() => received.length === 2, { message: 'the two mails that nobody holds' });
      await done;
    });
  });

  it('stays in the development mailbox without an SMTP server, encrypted', async () => {
    const id = await enqueue();
    await sender(null).run();
    const mail = await mailbox().get(id);
    assert.equal(mail.status, 'KEPT');
    assert.equal(mail.text, MAIL.text);
    const { body } = await database.db.selectFrom('mail').select('body').executeTakeFirstOrThrow();
    assert.equal(Buffer.from(body ?? []).includes('s3cret'), false);
    assert.equal(received.length, 0);
  });

  it('cannot smuggle headers or further recipients', async () => {
    await enqueue({ to: 'a@example.com\r\nBcc: evil@example.com', subject: 'x\r\nBcc: evil@example.com' });
    await sender().run();
    const recipients = received.flatMap(({ to }) => to);
    assert.equal(recipients.includes('evil@example.com'), false);
    for (const { text } of received) assert.doesNotMatch(text, /^Bcc:/m);
  });

  it('an email is deleted after 30 days, unless it is still queued', async () => {
    const kept = await enqueue();
    await sender(null).run();
    const queued = await enqueue();
    clock.advance(30 * 24 * 60 * MINUTE_MS + 1);
    await mailbox().cleanUp();
    assert.deepEqual(
      (await mailbox().list()).map(({ id }) => id),
      [queued],
    );
    await assert.rejects(mailbox().get(kept));
  });
});
