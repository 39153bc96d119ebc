import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import Stripe from 'stripe';
import { startTestApp, type TestApp } from '../../test/harness/app.ts';
import { serverProgram } from '../../test/harness/platform.ts';
import { waitFor } from '../../test/harness/wait-for.ts';

const CLI = serverProgram('cli');
const { webhooks: verifier } = new Stripe('sk_test_unused');

interface Received {
  headers: IncomingHttpHeaders;
  body: string;
}

let app: TestApp;
let key: string;
/** The developer's own receiver, plain HTTP on loopback. */
let receiver: Server;
let hook: string;
let status = 200;
const received: Received[] = [];
const children = new Set<ChildProcess>();

before(async () => {
  app = await startTestApp();
  ({ key } = await app.createKey());
  receiver = createServer((request, response) => {
    void text(request).then((body) => {
      received.push({ headers: request.headers, body });
      response.writeHead(status).end();
    });
  });
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  const address = receiver.address();
  hook = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/hook`;
});
after(async () => {
  receiver.close();
  receiver.closeAllConnections();
  await app.close();
});
beforeEach(() => {
  received.length = 0;
  status = 200;
});
afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  children.clear();
});

/** Runs the command; its database would be in a folder that does not exist, so it must not want one. */
function run(args: string[], environment: Record<string, string> = {}) {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', CLI, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      DATA_DIR: '/nonexistent/marquee',
      MARQUEE_URL: app.url,
      MARQUEE_API_KEY: key,
      ...environment,
    },
  });
  children.add(child);
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => {
    stdout += String(chunk);
  });
  child.stderr.on('data', (chunk) => {
    stderr += String(chunk);
  });
  const ended = once(child, 'close').then(([code]) => ({ code, stdout, stderr }));
  return { child, ended, out: () => stdout, err: () => stderr };
}

/** Starts a listener and waits for its tail to open: samples are only shown to open tails. */
async function listen(...more: string[]) {
  const command = run(['webhook', 'listen', '--forward-to', hook, '--json', ...more]);
  const lines = () =>
    command
      .out()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => Object(JSON.parse(line)));
  await waitFor(
    async () => {
      await trigger('stream.ended');
      return lines().some(({ type }) => type === 'stream.ended');
    },
    { timeoutMs: 15_000, intervalMs: 200, message: () => `a listener: ${command.err()}` },
  );
  received.length = 0;
  return { ...command, lines, secret: String(lines()[0].secret) };
}

const trigger = (type: string) => app.request('POST', '/me/events/trigger', { key, body: { type } });
const createStream = async () =>
  (await app.request('POST', '/streams', { key, body: { title: 'x' } })).assertOk(201).string('data.id');

describe('marquee webhook listen', () => {
  test('forwards the events of the workspace, signed with a secret of its own that stays the same', async () => {
    const { child, ended, lines, secret } = await listen();
    const streamId = await createStream();
    const mine = await waitFor(() => received.find(({ body }) => body.includes(streamId)));
    const { headers, body } = mine;
    const event = verifier.constructEvent(body, String(headers['svc-signature']), secret);
    assert.equal(headers['svc-event-id'], event.id);
    assert.equal(headers['svc-event-type'], 'stream.created');
    assert.equal(headers['content-type'], 'application/json');
    assert.equal(headers['user-agent'], 'svc-webhook/1.0');
    const stored = await app.container.sql`select body from event where id = ${event.id}`;
    assert.equal(body, stored[0]?.body);
    const line = await waitFor(() => lines().find(({ id }) => id === event.id));
    assert.deepEqual([line.type, line.status, line.error], ['stream.created', 200, null]);
    assert.match(secret, /^whsec_[A-Za-z0-9_-]{43}$/);
    const printed = await run(['webhook', 'listen', '--print-secret']).ended;
    assert.deepEqual([printed.code, printed.stdout], [0, `${secret}\n`]);
    const other = await run(['webhook', 'listen', '--print-secret', '--key', 'pk_other']).ended;
    assert.notEqual(other.stdout, printed.stdout);
    child.kill('SIGTERM');
    assert.equal((await ended).code, 0);
  });

  test('the listener filters by type, reports a failing receiver and continues', async () => {
    const { lines } = await listen('--events', 'stream.live,stream.ended');
    status = 500;
    await createStream();
    await trigger('stream.live');
    const failed = await waitFor(() => lines().find(({ type }) => type === 'stream.live'));
    assert.equal(failed.status, 500);
    assert.ok(!lines().some(({ type }) => type === 'stream.created'));
    status = 200;
    await trigger('stream.ended');
    await waitFor(() => lines().findLast(({ type }) => type === 'stream.ended')?.status === 200);
  });

  test('a refused key or a bad command line ends it with one line', async () => {
    const refused = await run(['webhook', 'listen', '--forward-to', hook, '--key', `pk_${'0'.repeat(40)}`])
      .ended;
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /^marquee: the platform returned 401: Invalid API key\.\n$/);
    assert.ok(!refused.stderr.includes('pk_000'));
    const wrong = [
      ['webhook', 'listen'],
      ['webhook', 'listen', '--forward-to', 'localhost:3000'],
      ['webhook', 'trigger'],
      ['webhook', 'trigger', 'stream.live', '--payload', '[1'],
    ];
    const outcomes = await Promise.all(wrong.map((args) => run(args).ended));
    for (const [n, { code, stderr }] of outcomes.entries()) {
      assert.equal(code, 2, wrong[n]?.join(' ') ?? '');
      assert.match(stderr, /^marquee: .*\n\nUsage:/);
    }
  });
});

test('marquee webhook trigger shows a sample to who listens', async () => {
  const { secret } = await listen();
  const { code, stdout } = await run([
    'webhook',
    'trigger',
    'stream.live',
    '--payload',
    '{"status":"ACTIVE"}',
    '--json',
  ]).ended;
  assert.equal(code, 0);
  const sample = JSON.parse(stdout);
  const { body, headers } = await waitFor(() => received.find((one) => one.body.includes(sample.id)));
  verifier.constructEvent(body, String(headers['svc-signature']), secret);
  assert.deepEqual(JSON.parse(body), sample);
  assert.equal(sample.data.status, 'ACTIVE');
  const [unknown, away] = await Promise.all([
    run(['webhook', 'trigger', 'purchase.completed']).ended,
    run(['webhook', 'trigger', 'stream.live', '--url', 'http://127.0.0.1:1']).ended,
  ]);
  assert.equal(unknown.code, 1);
  assert.match(unknown.stderr, /400: Unknown event type/);
  assert.equal(away.code, 1);
  assert.match(away.stderr, /cannot be reached: ECONNREFUSED|cannot be reached: bad port/);
});
