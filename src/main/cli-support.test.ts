import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../../test/harness/app.ts';
import { commandLine } from '../../test/harness/command-line.ts';

let app: TestApp;

before(async () => {
  app = await startTestApp();
});
after(() => app.close());

const marquee = (...args: string[]) => commandLine(app, ...args);
const json = async (...args: string[]): Promise<unknown> => JSON.parse(await marquee(...args, '--json'));

test('the operator lists, reads, answers, resolves and closes tickets', async () => {
  const { key, account } = await app.createKey();
  const body = { subject: 'Late\u001b[2J', message: 'Ten\n\u001b[31mminutes', category: 'TECHNICAL' };
  const made = (await app.request('POST', '/support/tickets', { key, body })).assertOk(201);
  const id = made.string('data.id');
  const read = async () => (await app.request('GET', `/support/tickets/${id}`, { key })).assertOk(200);
  const other = await app.createKey();
  (await app.request('POST', '/support/tickets', { key: other.key, body })).assertOk(201);

  const listed = { ...Object(made.at('data')), account: account.email };
  assert.deepEqual(await json('support', 'list', '--account', account.email), [listed]);
  assert.equal(Object(await json('support', 'list')).length, 2);
  assert.deepEqual(await json('support', 'list', '--category', 'BILLING'), []);

  const shown: unknown = await json('support', 'show', '--id', id);
  assert.deepEqual(shown, { ...Object((await read()).at('data')), account: account.email });
  const text = await marquee('support', 'show', '--id', id);
  assert.match(text, /PARTNER\nTen\n�\[31mminutes/);
  assert.ok(!text.includes('\u001b'));

  const answer = Object(await json('support', 'reply', '--id', id, '--message', 'It is mended.'));
  assert.deepEqual((await read()).at('data.messages.1'), answer);
  assert.deepEqual([answer.author, (await read()).at('data.status')], ['STAFF', 'PENDING']);
  assert.equal(Object(await json('support', 'resolve', '--id', id)).status, 'RESOLVED');
  assert.equal(Object(await json('support', 'close', '--id', id)).status, 'CLOSED');
  assert.deepEqual(await json('support', 'list', '--account', account.email), []);
  assert.match(await marquee('support', 'list', '--status', 'CLOSED'), new RegExp(`^${id} {2}CLOSED`));
});

test('rejections are reported in one line, and the usage is part of that of the program', async () => {
  const refused = (args: string[], code: number, stderr: RegExp) =>
    assert.rejects(marquee(...args), (error: unknown) => {
      assert.equal(Object(error).code, code);
      assert.match(Object(error).stderr, stderr);
      return true;
    });
  const reply = ['support', 'reply', '--id', 'tkt_none', '--message'];
  await Promise.all([
    refused([...reply, 'Hello'], 1, /^marquee: [^\n]*not found[^\n]*\n$/),
    refused([...reply, ' '], 1, /^marquee: [^\n]*\(message\)\n$/),
    refused(['support', 'show'], 2, /--id is required/),
    refused(['support', 'list', '--status', 'NEW'], 2, /--status must be one of OPEN/),
  ]);
  assert.match(
    await marquee('--help'),
    / {2}marquee support reply --id TICKET_ID --message TEXT \[--json\]\n/,
  );
});
