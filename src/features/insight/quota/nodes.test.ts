import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { runTask } from '../../../../test/harness/modules.ts';
import { waitFor } from '../../../../test/harness/wait-for.ts';
import {
  CONCURRENT_REQUESTS,
  type Customer,
  QUOTA_CASES,
  type QuotaCase,
} from '../../../../test/quota/quota-cases.ts';
import { type LivekitStub, startLivekitStub } from '../../../../test/rooms/livekit-stub.ts';
import { PLANS, type Plan, RESOURCE_KEYS, type ResourceKey } from '../../../kernel/plans.ts';

const clock = new TestClock('2026-11-20T18:00:00Z');
let app: TestApp;
let node: TestApp;
let livekit: LivekitStub;
before(async () => {
  // Only this room engine supports as many participants as the plans.
  livekit = await startLivekitStub();
  const options = { clock, env: livekit.env, rooms: { name: 'livekit', lack: null } as const };
  app = await startTestApp(options);
  node = await startTestApp({ ...options, beside: app });
});
after(async () => {
  await node.close();
  await app.close();
  livekit.close();
});

const look = () =>
  Promise.all([app, node, app].map(({ container }) => runTask(container, 'quota notifications')));

/** Waits until every node has received all earlier messages and completed a check. */
async function settled(): Promise<void> {
  // Messages follow the responses that they concern.
  (await app.request('GET', '/changelog/latest')).assertOk(200);
  const heard = Promise.withResolvers<void>();
  const end = node.container.bus.subscribe('test.heard', () => heard.resolve());
  app.container.bus.publish('test.heard');
  await heard.promise;
  end();
  await look();
}

async function customer(plan: Plan) {
  const account = await app.createAccount({ plan });
  const { key } = await app.createKey({ account });
  const call = (method: string, path: string, body?: object, headers: Record<string, string> = {}) =>
    app.request(method, path, { key, headers, ...(body === undefined ? {} : { body }) });
  let number = 0;
  const hook = async () => {
    number += 1;
    return call('POST', '/me/webhooks', { url: `https://receiver.example.com/${number}`, events: [] });
  };
  /** Waits for this many quota events and returns them, oldest first. */
  const told = (count: number) =>
    waitFor(
      async () => {
        await look();
        const rows = (await call('GET', '/me/events?order=asc&limit=100'))
          .assertOk(200)
          .list('data')
          .map(Object);
        const events = rows.filter(({ type }) => type.startsWith('quota.'));
        return (
          events.length >= count &&
          events.map(({ type, data }) => ({ type, ...data })).toSorted((a, b) => a.sequence - b.sequence)
        );
      },
      { message: `${count} events` },
    );
  return { account, call, hook, told };
}

test('80, 95 and 100 percent emit one event each until usage falls below, with any number of checks', async () => {
  const { call, hook, told } = await customer('STAR');
  const made: string[] = [];
  for (let n = 0; n < 8; n++) made.push((await hook()).assertOk(201).string('data.id'));
  const event = { key: 'WEBHOOKS', limit: 10 };
  const warning = { type: 'quota.warning', ...event, used: 8, percent: 80, sequence: 1 };
  assert.deepEqual(await told(1), [warning]);
  await hook();
  await hook();
  const exceeded = { type: 'quota.exceeded', ...event, used: 10, percent: 100, sequence: 2 };
  assert.deepEqual(await told(2), [warning, exceeded]);
  const refused = await Promise.all(Array.from({ length: 12 }, hook));
  for (const answer of refused) answer.assertError('QUOTA_EXCEEDED');
  await look();
  assert.deepEqual(await told(2), [warning, exceeded]);
  const notices = (await call('GET', '/notifications')).assertOk(200).list('data').map(Object);
  assert.deepEqual(
    notices.map(({ type, severity }) => [type, severity]),
    [
      ['quota.exceeded', 'CRITICAL'],
      ['quota.warning', 'WARNING'],
    ],
  );
  for (const id of made.slice(0, 4)) (await call('DELETE', `/me/webhooks/${id}`)).assertOk(200);
  await look();
  for (let n = 0; n < 3; n++) await hook();
  assert.deepEqual(await told(3), [warning, exceeded, { ...warning, used: 9, sequence: 3 }]);
});

test('a rejection emits 100 percent at any usage, and again only after usage fell', async () => {
  const { call, told } = await customer('FREE');
  const upload = (sizeBytes: number) => call('POST', '/upload', { filename: 'a.mp4', sizeBytes });
  const id = (await upload(1000)).assertOk(201).string('data.id');
  const tooLarge = async () => (await upload(PLANS.FREE.storageBytes + 1)).assertError('QUOTA_EXCEEDED');
  await Promise.all([tooLarge(), tooLarge(), tooLarge()]);
  const exceeded = {
    ...{ type: 'quota.exceeded', key: 'STORAGE_BYTES', limit: PLANS.FREE.storageBytes },
    ...{ used: 1000, percent: 100, sequence: 1 },
  };
  assert.deepEqual(await told(1), [exceeded]);
  await tooLarge();
  await upload(1000);
  await look();
  assert.deepEqual(await told(1), [exceeded]);
  (await call('DELETE', `/upload/${id}`)).assertOk(200);
  const open = (await call('GET', '/upload')).list('data').map(Object);
  for (const { id: left } of open) await call('DELETE', `/upload/${left}`);
  await look();
  await tooLarge();
  assert.deepEqual(await told(2), [exceeded, { ...exceeded, used: 0, sequence: 2 }]);
});

test('a raised limit emits again, and an unchanged one does not', async () => {
  const { account, hook, told } = await customer('FREE');
  const hooks = async (count: number) => {
    for (let n = 0; n < count; n++) (await hook()).assertOk(201);
  };
  const webhooks = (used: number, limit: number, percent: number, sequence: number) => ({
    type: percent === 100 ? 'quota.exceeded' : 'quota.warning',
    ...{ key: 'WEBHOOKS', used, limit, percent, sequence },
  });
  await hooks(3);
  const three = webhooks(3, 3, 100, 1);
  assert.deepEqual(await told(1), [three]);
  await app.container.accounts.setPlan(account.email, 'STAR');
  // No check runs between the change of the plan and the eighth webhook.
  await hooks(5);
  const eight = webhooks(8, 10, 80, 2);
  assert.deepEqual(await told(2), [three, eight]);
  await hooks(2);
  const ten = webhooks(10, 10, 100, 3);
  assert.deepEqual(await told(3), [three, eight, ten]);
  await app.container.accounts.setPlan(account.email, 'FREE');
  (await hook()).assertError('QUOTA_EXCEEDED');
  await settled();
  await app.container.accounts.setPlan(account.email, 'STAR');
  (await hook()).assertError('QUOTA_EXCEEDED');
  await settled();
  assert.deepEqual(await told(3), [three, eight, ten], 'the old limit again is no raise');
  await app.container.accounts.setPlan(account.email, 'PRO');
  await hooks(1);
  await settled();
  await hooks(9);
  assert.deepEqual(await told(4), [three, eight, ten, webhooks(20, 25, 80, 4)]);
});

test('a rejection under a raised limit emits an event, also for a resource with one event per day', async () => {
  const { account, call, told } = await customer('FREE');
  const streams: string[] = [];
  for (const title of ['One', 'Two', 'Three', 'Four']) {
    streams.push((await call('POST', '/streams', { title })).string('data.id'));
  }
  const start = (index: number) => call('POST', `/streams/${streams[index]}/start`);
  (await start(0)).assertOk(200);
  (await start(1)).assertError('QUOTA_EXCEEDED');
  const first = { type: 'quota.exceeded', used: 1, limit: 1, percent: 100 };
  const live = { ...first, key: 'CONCURRENT_STREAMS', sequence: 1 };
  assert.deepEqual(await told(1), [live]);
  await app.container.accounts.setPlan(account.email, 'STAR');
  (await start(1)).assertOk(200);
  const more = { ...live, used: 2, limit: 2, sequence: 2 };
  assert.deepEqual(await told(2), [live, more]);
  (await start(2)).assertError('QUOTA_EXCEEDED');
  await settled();
  assert.deepEqual(await told(2), [live, more]);
  const refuse = async (plan: Plan) => {
    const target = { url: 'rtmp://live.example.com/app', streamKey: 'abcd' };
    const targets = Array.from({ length: PLANS[plan].restreamTargets + 1 }, () => target);
    const answer = await call('POST', '/restreams', { streamId: streams[2], targets });
    answer.assertError('QUOTA_EXCEEDED');
  };
  const targetsOf = (plan: Plan, sequence: number) => ({
    ...{ type: 'quota.exceeded', key: 'RESTREAM_TARGETS', used: 0 },
    ...{ limit: PLANS[plan].restreamTargets, percent: 100, sequence },
  });
  const ofTargets = async (count: number) =>
    (await told(count)).filter(({ key }) => key === 'RESTREAM_TARGETS');
  await refuse('STAR');
  assert.deepEqual(await ofTargets(3), [targetsOf('STAR', 1)]);
  await refuse('STAR');
  await settled();
  await app.container.accounts.setPlan(account.email, 'PRO');
  (await call('DELETE', `/streams/${streams[3]}`)).assertOk(200);
  await settled();
  assert.deepEqual(await ofTargets(3), [targetsOf('STAR', 1)]);
  await refuse('PRO');
  assert.deepEqual(await ofTargets(4), [targetsOf('STAR', 1), targetsOf('PRO', 2)]);
});

test('a rejection under an Idempotency-Key emits the event as well', async () => {
  const { call, told } = await customer('FREE');
  const streamId = (await call('POST', '/streams', { title: 'One' })).string('data.id');
  const targets = Array.from({ length: 3 }, () => ({
    url: 'rtmp://live.example.com/app',
    streamKey: 'abcd',
  }));
  const headers = { 'idempotency-key': 'too-many-targets' };
  (await call('POST', '/restreams', { streamId, targets }, headers)).assertError('QUOTA_EXCEEDED');
  const [event] = await told(1);
  assert.deepEqual([event?.type, event?.key], ['quota.exceeded', 'RESTREAM_TARGETS']);
});

test('a concurrency limit emits one event per day and no notification', async () => {
  const { call, told } = await customer('FREE');
  const one = (await call('POST', '/streams', { title: 'One' })).string('data.id');
  const two = (await call('POST', '/streams', { title: 'Two' })).string('data.id');
  const start = (id: string) => call('POST', `/streams/${id}/start`);
  const exceeded = {
    ...{ type: 'quota.exceeded', key: 'CONCURRENT_STREAMS', limit: 1 },
    ...{ used: 1, percent: 100, sequence: 1 },
  };
  for (let n = 0; n < 2; n++) {
    (await start(one)).assertOk(200);
    (await start(two)).assertError('QUOTA_EXCEEDED');
    assert.deepEqual(await told(1), [exceeded]);
    (await call('POST', `/streams/${one}/stop`)).assertOk(200);
    await look();
  }
  clock.advance(24 * 3_600_000);
  (await start(one)).assertOk(200);
  await look();
  assert.deepEqual(await told(1), [exceeded], 'a limit of one is full by being used');
  (await start(two)).assertError('QUOTA_EXCEEDED');
  assert.deepEqual(await told(2), [exceeded, { ...exceeded, sequence: 2 }]);
  assert.deepEqual((await call('GET', '/notifications')).list('data'), []);
});

describe('the last unit of a resource', () => {
  /** Creates a customer whose requests go to both nodes. */
  async function buyer(plan: Plan): Promise<Customer> {
    const account = await app.createAccount({ plan });
    const { key } = await app.createKey({ account });
    let count = 0;
    return {
      ...{ account, key, nodes: [app, node], guests: [] },
      post(path, body) {
        count += 1;
        const to = count % 2 === 0 ? app : node;
        return to.request('POST', path, body === undefined ? { key } : { key, body });
      },
    };
  }

  async function oneGetsIt(resource: ResourceKey, { plan, refusals = ['QUOTA_EXCEEDED'], fill }: QuotaCase) {
    const customer = await buyer(plan);
    const { key, guests } = customer;
    const row = async () => Object((await app.request('GET', `/quota/${resource}`, { key })).at('data'));
    const ask = await fill(customer);
    const { limit, used, unit } = await row();
    if (unit === 'COUNT') assert.equal(used, limit - 1);
    const outcomes = await Promise.all(
      Array.from({ length: CONCURRENT_REQUESTS }, (_, number) => ask(number)),
    );
    const refused = outcomes.filter((one) => one !== 'taken');
    assert.equal(refused.length, CONCURRENT_REQUESTS - 1, outcomes.join(', '));
    assert.deepEqual(new Set(refused), new Set(refusals));
    const after = await row();
    assert.deepEqual([after.used, after.remaining], [limit, 0]);
    for (const guest of guests) guest.cut();
  }

  for (const resource of RESOURCE_KEYS) {
    for (const way of QUOTA_CASES[resource]) {
      test(`the last unit of ${resource} goes to one request: ${way.name}`, () => oneGetsIt(resource, way));
    }
  }

  test('the cases cover every resource that a plan limits', async () => {
    const { key } = await buyer('FREE');
    const rows = (await app.request('GET', '/quota', { key })).list('data.resources').map(Object);
    assert.deepEqual(
      rows.map((row) => [row.key, row.limit === null]),
      RESOURCE_KEYS.map((one) => [one, QUOTA_CASES[one].length === 0]),
    );
  });
});
