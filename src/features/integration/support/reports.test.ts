import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { request as send } from 'undici';
import { Browser } from '../../../../test/auth/browser.ts';
import { PASSWORD } from '../../../../test/auth/fixture.ts';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { commandLine } from '../../../../test/harness/command-line.ts';
import { runTask } from '../../../../test/harness/modules.ts';
import { newId } from '../../../kernel/ids.ts';

const NOW = '2026-11-20T09:00:00.000Z';
const DAY = 86_400_000;
const OPERATOR = 'operator@platform.example';
const clock = new TestClock(NOW);
let app: TestApp;
let operator: Browser;
let key: string;
/** Identifies the reported stream. */
let streamId: string;
let username: string;

before(async () => {
  app = await startTestApp({ clock, env: { ABUSE_EMAIL: 'desk@platform.example', TRUST_PROXY: '1' } });
  const email = OPERATOR;
  await app.container.accounts.create({ email, password: PASSWORD, verified: true, role: 'ADMIN' });
  operator = new Browser(app);
  await operator.signIn({ email });
  ({ key } = await app.createKey());
  streamId = (await app.request('POST', '/streams', { key, body: { title: 'On' } })).string('data.id');
  username = (await app.request('GET', '/me', { key })).string('data.username');
});
after(() => app.close());
beforeEach(() => clock.advance(DAY));

let visitors = 0;
/** Visits the report page from `ip`, by default from a new address each time. */
async function visit(subject: string, form?: Record<string, string>, ip = `198.51.100.${++visitors}`) {
  const { statusCode, body } = await send(`${app.url}/report/${subject}`, {
    method: form === undefined ? 'GET' : 'POST',
    headers: { 'x-forwarded-for': ip, 'content-type': 'application/x-www-form-urlencoded' },
    body: form === undefined ? null : new URLSearchParams(form).toString(),
  });
  return { status: statusCode, text: await body.text() };
}
const FRAUD = { reason: 'Fraud or spam', message: 'They sell <nothing>.', email: 'Ada@Example.com ' };

const tickets = async (query = '') =>
  (await operator.get(`/admin/tickets${query}`)).assertOk(200).list('data').map(Object);
const newest = async () => Object((await tickets('?limit=1'))[0]);
const mailsTo = async (to: string) => (await app.container.mailbox.list()).filter((mail) => mail.to === to);

describe('a report', () => {
  test('a report of a stream creates an ABUSE ticket visible only to the operator, and an email', async () => {
    const form = await visit(streamId);
    assert.equal(form.status, 200);
    assert.match(form.text, new RegExp(`Report this live stream[^]*href="/watch/${streamId}"`));
    const sent = await visit(streamId, FRAUD);
    assert.equal(sent.status, 200);
    assert.match(sent.text, /Thank you/);
    const ticket = await newest();
    assert.deepEqual(
      [ticket.subject, ticket.category, ticket.status, ticket.account, ticket.reporterEmail],
      ['Fraud or spam', 'ABUSE', 'OPEN', null, 'ada@example.com'],
    );
    const url = `http://marquee.test/watch/${streamId}`;
    assert.deepEqual(ticket.reported, { type: 'STREAM', id: streamId, url });
    assert.deepEqual((await app.request('GET', '/support/tickets', { key })).list('data'), []);
    const [mail] = await mailsTo('desk@platform.example');
    const { text } = await app.container.mailbox.get(mail?.id ?? '');
    assert.match(text ?? '', new RegExp(`${url} was reported\\.[^]*They sell <nothing>[^]*${ticket.id}`));
    assert.match(
      await commandLine(app, 'support', 'show', '--id', ticket.id),
      new RegExp(`of ada@example.com[^]*about the stream ${streamId}`),
    );
  });

  test('a report of a channel needs only a reason', async () => {
    assert.match((await visit(`@${username}`, { reason: 'Fraud or spam' })).text, /Thank you/);
    const ticket = await newest();
    assert.deepEqual([ticket.reported.id, ticket.reporterEmail], [username, null]);
    assert.equal(ticket.reported.url, `http://marquee.test/@${username}`);
    assert.match(await commandLine(app, 'support', 'show', '--id', ticket.id), /of anonymous/);
  });

  test('a report of a missing resource gets the same page and creates no ticket; a subject without a form is 404', async () => {
    const before = (await tickets()).length;
    for (const subject of [newId('vid'), newId('str'), '@nobody-of-this-name']) {
      assert.match((await visit(subject, FRAUD)).text, /Thank you/);
    }
    assert.equal((await tickets()).length, before);
    for (const subject of ['vid_1', newId('usr'), '@', 'nonsense']) {
      assert.equal((await visit(subject)).status, 404);
      assert.equal((await visit(subject, FRAUD)).status, 404);
    }
  });

  test('a report form with an error keeps the entered values', async () => {
    const wrong = [
      [{ ...FRAUD, email: 'nowhere' }, 'email'],
      [{ ...FRAUD, message: 'x'.repeat(4001) }, 'message'],
      [{ reason: 'Something else', message: ' ', email: '' }, 'message'],
    ] as const;
    for (const [form, field] of wrong) {
      const { status, text } = await visit(streamId, form);
      assert.equal(status, 400);
      assert.match(text, new RegExp(`id="${field}-problem" role="alert"`));
      assert.ok(text.includes(form.message.replace('<', '&lt;').replace('>', '&gt;')));
    }
    assert.equal((await visit(streamId, { ...FRAUD, message: 'x'.repeat(2 ** 20) })).status, 413);
  });

  test('has no NUL, which no database takes', async () => {
    const { status, text } = await visit(streamId, { ...FRAUD, message: 'a\0b' });
    assert.equal(status, 200, text);
  });

  test('a client address can submit ten reports an hour', async () => {
    for (let n = 0; n < 10; n++) assert.equal((await visit(streamId, FRAUD, '203.0.113.9')).status, 200);
    assert.equal((await visit(streamId, FRAUD, '203.0.113.9')).status, 429);
    assert.equal((await visit(streamId, FRAUD)).status, 200);
  });

  test('a report is answered by email, and its reporter is deleted 90 days after it is closed', async () => {
    await visit(streamId, { ...FRAUD, email: 'grace@example.com' });
    const { id } = await newest();
    const reply = { body: { message: 'It is gone.' } };
    (await operator.send('POST', `/admin/tickets/${id}/messages`, reply)).assertOk(201);
    const [mail] = await mailsTo('grace@example.com');
    assert.match(
      (await app.container.mailbox.get(mail?.id ?? '')).text ?? '',
      /Fraud or spam\.\s+It is gone\./,
    );
    (await operator.send('PATCH', `/admin/tickets/${id}`, { body: { status: 'CLOSED' } })).assertOk(200);
    const whose = async () => {
      const [row] = await app.container.sql`select reporter_email from support_ticket where id = ${id}`;
      return row?.reporter_email;
    };
    clock.advance(89 * DAY);
    await runTask(app.container, 'resolved tickets');
    assert.equal(await whose(), 'grace@example.com');
    clock.advance(2 * DAY);
    await runTask(app.container, 'resolved tickets');
    assert.equal(await whose(), null);
    // The session has expired by now.
    await operator.signIn({ email: OPERATOR });
  });
});

describe('the operator’s side', () => {
  test('lists, reads, answers, sets the priority, resolves and closes', async () => {
    const body = { subject: 'Late', message: 'Ten minutes', category: 'TECHNICAL' };
    const made = (await app.request('POST', '/support/tickets', { key, body })).assertOk(201);
    const id = made.string('data.id');
    const owner = (await app.request('GET', '/me', { key })).assertOk(200);
    const account = { id: owner.at('data.id'), email: owner.at('data.email') };
    const expected = { ...Object(made.at('data')), account, reporterEmail: null, reported: null };
    assert.deepEqual(await tickets('?category=TECHNICAL&status=OPEN'), [expected]);
    const path = `/admin/tickets/${id}`;
    const shown = (await operator.get(path)).assertOk(200);
    assert.deepEqual(shown.at('data.messages.0.message'), 'Ten minutes');
    const reply = { body: { message: 'It is mended.' } };
    (await operator.send('POST', `${path}/messages`, reply)).assertOk(201);
    const change = async (to: object) => operator.send('PATCH', path, { body: to });
    assert.equal((await change({ priority: 'HIGH' })).assertOk(200).at('data.status'), 'PENDING');
    const resolved = (await change({ status: 'RESOLVED', priority: 'LOW' })).assertOk(200);
    assert.deepEqual([resolved.at('data.status'), resolved.at('data.priority')], ['RESOLVED', 'LOW']);
    assert.equal((await change({ status: 'CLOSED' })).assertOk(200).at('data.status'), 'CLOSED');
    (await change({ status: 'RESOLVED' })).assertError('CONFLICT');
    (await operator.send('POST', `${path}/messages`, reply)).assertError('CONFLICT');
    (await change({ status: 'OPEN' })).assertError('BAD_REQUEST', 'status');
    (await change({ priority: 'URGENT' })).assertError('BAD_REQUEST', 'priority');
    assert.match(
      await commandLine(app, 'support', 'set-priority', '--id', id, '--priority', 'HIGH'),
      new RegExp(`${id} is HIGH`),
    );
    const partner = (await app.request('GET', `/support/tickets/${id}`, { key })).assertOk(200);
    assert.deepEqual([partner.at('data.priority'), partner.at('data.messages.1.author')], ['HIGH', 'STAFF']);
  });

  test('only administrators have access: keys and other sessions are rejected', async () => {
    const email = 'creator@example.com';
    await app.container.accounts.create({ email, password: PASSWORD, verified: true });
    const creator = new Browser(app);
    await creator.signIn({ email });
    const id = newId('tkt');
    for (const [method, path, body] of [
      ['GET', '/admin/tickets', undefined],
      ['GET', `/admin/tickets/${id}`, undefined],
      ['POST', `/admin/tickets/${id}/messages`, { message: 'Hello' }],
      ['PATCH', `/admin/tickets/${id}`, {}],
    ] as const) {
      const sent = body === undefined ? {} : { body };
      (await app.request(method, path, { key, ...sent })).assertError('ADMIN_ONLY');
      (await creator.send(method, path, sent)).assertError('ADMIN_ONLY');
      if (path !== '/admin/tickets') (await operator.send(method, path, sent)).assertError('NOT_FOUND');
    }
  });

  test('a ticket of 1 MB is rejected with a clear error', async () => {
    const open = (message: string) =>
      app.request('POST', '/support/tickets', { key, body: { subject: 'Long', message } });
    (await open('x'.repeat(10_001))).assertError('BAD_REQUEST', 'message');
    (await open('x'.repeat(2 ** 20))).assertError('PAYLOAD_TOO_LARGE');
  });
});
