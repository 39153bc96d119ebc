import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { type StripeServer, startStripeServer } from '../../../../test/harness/stripe-server.ts';
import { waitFor } from '../../../../test/harness/wait-for.ts';
import { fakeNvenc } from '../../../../test/transcode/fake-hardware.ts';
import { newId } from '../../../kernel/ids.ts';
import { createTranscodeNode } from '../../video/videos/processing/nodes.ts';
import { createReadiness, type Probe } from './readiness.service.ts';

const NOW = '2026-11-20T09:00:00.000Z';
const clock = new TestClock(NOW);
const open = new Set<Socket>();
/** First byte of a fake RTMP handshake (S0); null never responds. */
let hello: number | null;
let port: Server;
let rtmpPort: number;
let mediaRuns: boolean;
let stripe: StripeServer;
let app: TestApp;
let key: string;

before(async () => {
  port = createServer((socket) => {
    open.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => open.delete(socket));
    socket.once('data', () => hello !== null && socket.write(Buffer.from([hello])));
  });
  ({ port: rtmpPort } = await listen(port));
  stripe = await startStripeServer(() => clock.ms());
  const env = {
    RTMP_PORT: String(rtmpPort),
    STRIPE_SECRET_KEY: 'sk_test_health',
    STRIPE_WEBHOOK_SECRET: stripe.webhookSecret,
    STRIPE_API_URL: stripe.url,
  };
  app = await startTestApp({ clock, mediaRuns: () => mediaRuns, env });
  ({ key } = await app.createKey({ scope: 'READ_ONLY' }));
});
after(async () => {
  await app.close();
  await stripe.close();
  for (const socket of open) socket.destroy();
  port.close();
});
beforeEach(async () => {
  hello = 3;
  mediaRuns = true;
  clock.advance(60_000);
  await mkdir(app.container.config.DATA_DIR, { recursive: true });
  await app.container.sql`truncate delivery_job, delivery_log`;
});

function listen(server: Server): Promise<AddressInfo> {
  return new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      if (address !== null && typeof address === 'object') resolve(address);
    }),
  );
}

const ready = async () => (await app.request('GET', '/health/ready', { key })).assertOk(200);
/** Returns the components that are not OK. */
async function troubles(): Promise<Record<string, string>> {
  const components: [string, { status: string }][] = Object.entries(
    Object((await ready()).at('data.components')),
  );
  const found = components.filter(([, { status }]) => status !== 'OK');
  return Object.fromEntries(found.map(([name, { status }]) => [name, status]));
}

test('readiness reports the ffmpeg of the node and its missing features', async () => {
  // The first probe may time out on a busy machine.
  const seen = await waitFor(async () => {
    clock.advance(6000);
    return (await ready()).at('data.ffmpeg');
  });
  const { version, lacks, encoders } = Object(seen);
  assert.match(version, /^n?\d+\.\d+|^N-/);
  assert.ok(Array.isArray(lacks));
  for (const word of lacks) assert.match(word, /^[A-Z_0-9]+$/);
  assert.deepEqual(encoders, [{ codec: 'H264', encoder: 'libx264', isHardware: false }]);
});

test('hardware encoders are listed when they work, and reported when they were requested and do not', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'readiness-'));
  const FFMPEG_PATH = await fakeNvenc(folder, 'ffmpeg');
  const env = { RTMP_PORT: String(rtmpPort), FFMPEG_PATH, VIDEO_ENCODER: 'nvenc', VIDEO_CODECS: 'h264,av1' };
  const other = await startTestApp({ clock, mediaRuns: () => true, env });
  try {
    const created = await other.createKey({ scope: 'READ_ONLY' });
    const { lacks, encoders } = Object(
      await waitFor(
        async () => {
          clock.advance(6000);
          return (await other.request('GET', '/health/ready', { key: created.key })).at('data.ffmpeg');
        },
        { timeoutMs: 20_000 },
      ),
    );
    assert.ok(lacks.includes('HARDWARE_ENCODER'), 'AV1 is not encoded by it');
    assert.deepEqual(encoders[0], { codec: 'H264', encoder: 'h264_nvenc', isHardware: true });
  } finally {
    await other.close();
    await rm(folder, { recursive: true });
  }
});

test('an ffmpeg without a sandbox is reported', async () => {
  // The script starts only with a file that no sandbox exposes.
  const folder = await mkdtemp(join(tmpdir(), 'readiness-'));
  const program = join(folder, 'ffmpeg');
  const script = `#!/bin/sh\n[ -r ${folder}/needed ] && exec ffmpeg "$@"\n`;
  await writeFile(join(folder, 'needed'), '');
  await writeFile(program, script, { mode: 0o755 });
  const env = { RTMP_PORT: String(rtmpPort), FFMPEG_PATH: program };
  const other = await startTestApp({ clock, mediaRuns: () => true, env });
  try {
    const created = await other.createKey({ scope: 'READ_ONLY' });
    const lacks = await waitFor(async () => {
      clock.advance(6000);
      return (await other.request('GET', '/health/ready', { key: created.key })).at('data.ffmpeg.lacks');
    });
    assert.ok(Array.isArray(lacks) && lacks.includes('SANDBOX'), String(lacks));
  } finally {
    await other.close();
    await rm(folder, { recursive: true });
  }
});

test('every component is probed', async () => {
  const answer = await ready();
  assert.equal(answer.at('data.status'), 'OK', answer.text);
  const components: [string, object][] = Object.entries(Object(answer.at('data.components')));
  assert.deepEqual(components.map(([name]) => name).sort(), [
    'database',
    'ingest',
    'payments',
    'queue',
    'rooms',
    'storage',
    'transcoder',
    'webhooks',
  ]);
  for (const [name, state] of components) {
    assert.deepEqual(Object.keys(state), ['status', 'latencyMs']);
    const latencyMs: unknown = Object(state).latencyMs;
    assert.ok(Number.isInteger(latencyMs), name);
  }
});

test('storage is not OK when the data folder is not writable', async () => {
  await rm(app.container.config.DATA_DIR, { recursive: true });
  assert.deepEqual(await troubles(), { storage: 'DOWN' });
});

test('ingest is not OK when it is down, or accepts without responding; probes run once in five seconds', async () => {
  mediaRuns = false;
  assert.deepEqual(await troubles(), { ingest: 'DOWN' });
  assert.equal((await ready()).at('data.components.ingest.latencyMs'), null);
  assert.equal((await ready()).at('data.status'), 'DEGRADED');
  mediaRuns = true;
  clock.advance(4999);
  assert.deepEqual(await troubles(), { ingest: 'DOWN' });
  clock.advance(1);
  assert.deepEqual(await troubles(), {});
  clock.advance(5000);
  hello = null;
  assert.deepEqual(await troubles(), { ingest: 'DOWN' });
});

test('readiness checks the port of RTMP_URL and a worker for encodes when the other roles run elsewhere', async () => {
  const env = {
    ROLES: 'api',
    FFMPEG_PATH: '/nowhere/ffmpeg',
    RTMP_URL: `rtmp://127.0.0.1:${rtmpPort}/live`,
  };
  const node = await startTestApp({ clock, env });
  try {
    await mkdir(node.container.config.DATA_DIR, { recursive: true });
    const { key: own } = await node.createKey();
    const ask = async () => {
      const answer = (await node.request('GET', '/health/ready', { key: own })).assertOk(200);
      clock.advance(5000);
      const { ingest, transcoder } = Object(answer.at('data.components'));
      return [ingest.status, transcoder.status];
    };
    assert.deepEqual(await ask(), ['OK', 'DOWN']);
    const worker = createTranscodeNode(node.container, 2);
    await worker.heartbeat();
    assert.deepEqual(await ask(), ['OK', 'OK']);
    clock.advance(30_000);
    assert.deepEqual(await ask(), ['OK', 'DOWN']);
    await worker.heartbeat();
    hello = null;
    assert.deepEqual(await ask(), ['DOWN', 'OK']);
    await worker.leave();
    assert.deepEqual(await ask(), ['DOWN', 'DOWN']);
  } finally {
    await node.close();
  }
});

test('a node without ffmpeg reports no transcoder', async () => {
  const env = { RTMP_PORT: String(rtmpPort), FFMPEG_PATH: '/nowhere/ffmpeg' };
  const node = await startTestApp({ clock, env });
  try {
    const { key: own } = await node.createKey();
    const answer = await node.request('GET', '/health/ready', { key: own });
    assert.equal(answer.assertOk(200).at('data.components.transcoder.status'), 'DOWN');
  } finally {
    await node.close();
  }
});

async function job(webhookId: string, ageSec: number, lease = 0): Promise<void> {
  await app.container.sql`
    insert into delivery_job (workspace_id, webhook_id, event_id, event_created_at, next_at, lease)
    values ('wsp_x', ${webhookId}, gen_random_uuid(), now(), clock_timestamp() - make_interval(secs => ${ageSec}::int), ${lease})`;
}

test('queue is not OK with a delivery unclaimed for a minute; a slow receiver does not count', async () => {
  await job('wh_soon', -30);
  await job('wh_fresh', 30);
  await job('wh_slow', 600);
  await job('wh_slow', -20, 1);
  assert.deepEqual(await troubles(), {});
  clock.advance(5000);
  await job('wh_left', 90);
  assert.deepEqual(await troubles(), { queue: 'DEGRADED' });
});

async function attempt(webhookId: string, responseStatus: number | null, ageSec = 10): Promise<void> {
  await app.container.sql`
    insert into delivery_log (id, workspace_id, webhook_id, event_id, event_type, trigger, attempt, status,
      response_status, created_at)
    values (${newId('dlv')}, 'wsp_x', ${webhookId}, gen_random_uuid(), 'stream.live', 'EVENT', 1, 'FAILED',
      ${responseStatus}, ${new Date(clock.ms() - ageSec * 1000)})`;
}

test('webhooks are not OK when deliveries reach none of three receivers; an error status counts as a response', async () => {
  await attempt('wh_a', null, 301);
  await attempt('wh_b', null);
  await attempt('wh_b', null);
  await attempt('wh_c', null);
  assert.deepEqual(await troubles(), {});
  clock.advance(5000);
  await attempt('wh_d', null);
  assert.deepEqual(await troubles(), { webhooks: 'DEGRADED' });
  clock.advance(5000);
  await attempt('wh_e', 500);
  assert.deepEqual(await troubles(), {});
});

test('a hanging probe is DOWN after a second; the overall status is DOWN only with the database', async () => {
  const fine: Probe = async () => 'OK';
  const probes = {
    database: fine,
    queue: fine,
    storage: fine,
    ingest: fine,
    transcoder: fine,
    rooms: fine,
    webhooks: fine,
    payments: fine,
  };
  const warned: unknown[] = [];
  const log = { warn: (...line: unknown[]) => warned.push(line) };
  const check = (changed: Partial<typeof probes>) =>
    createReadiness({ probes: { ...probes, ...changed }, ffmpeg: async () => null, clock, log }).check();
  const started = performance.now();
  const hung = await check({ storage: () => new Promise(() => {}) });
  assert.ok(performance.now() - started < 3000);
  assert.deepEqual(hung.components.storage, { status: 'DOWN', latencyMs: null });
  assert.equal(hung.status, 'DEGRADED');
  assert.equal(warned.length, 1);
  assert.equal((await check({ database: () => Promise.reject(new Error('gone')) })).status, 'DOWN');
  assert.equal((await check({ queue: async () => 'DEGRADED' })).status, 'DEGRADED');
  assert.equal((await check({})).status, 'OK');
});

test('Stripe is checked once a minute, and ten seconds after a failure', async () => {
  // Failed calls are not included.
  const asked = () => stripe.calls.filter(({ path }) => path === '/v1/balance').length;
  const look = async () => {
    clock.advance(6000);
    return (await troubles()).payments;
  };
  stripe.calls = [];
  assert.deepEqual([await look(), await look(), asked()], [undefined, undefined, 1]);
  clock.advance(60_000);
  stripe.faults = ['error'];
  assert.deepEqual([await look(), await look(), await look(), asked()], ['DOWN', 'DOWN', undefined, 2]);
});
