import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { startTestDns, type TestDns } from '../../../../test/harness/dns.ts';
import type { TestAccount } from '../../../../test/harness/factories.ts';
import { runTask } from '../../../../test/harness/modules.ts';
import { dateFromMs } from '../../../kernel/clock.ts';
import { apiKeyExpiring } from '../../identity/api-keys/events.ts';
import { domainLapsed } from '../../identity/domains/events.ts';
import { videoProcessingFailed } from '../../video/videos/events.ts';
import { actionUrlOf } from './rules.ts';

const ROOT = join(import.meta.dirname, '../../../..');

const NOW = '2026-11-20T09:00:00.000Z';
const DAY = 86_400_000;
const clock = new TestClock(NOW);
let app: TestApp;
let dns: TestDns;
let account: TestAccount;
let key: string;

before(async () => {
  dns = await startTestDns();
  app = await startTestApp({ clock, env: { DNS_SERVERS: dns.address } });
});
after(async () => {
  await app.close();
  await dns.close();
});
beforeEach(async () => {
  clock.set(NOW);
  account = await app.createAccount();
  ({ key } = await app.createKey({ account }));
});

const call = (method: string, path: string, options: { by?: string; body?: unknown } = {}) => {
  const { by = key, ...rest } = options;
  return app.request(method, `/notifications${path}`, { key: by, ...rest });
};
const list = async (query = '', by = key) => (await call('GET', query, { by })).assertOk(200);
const titles = async (query = '') => (await list(query)).list('data').map((row) => Object(row).title);
const unread = async () => (await call('GET', '/unread-count')).assertOk(200).at('data');

/** Emits the event of an expiring key with this name, as the worker does. */
const happen = (name: string, workspaceId = account.live) =>
  app.container.events.transaction(async (_tx, append) => {
    await append(apiKeyExpiring, workspaceId, { ...apiKeyExpiring.sample, name, expiresAt: NOW });
  });
const expiring = (name: string) => `API key “${name}” expires soon`;

const lapse = () =>
  app.container.events.transaction(async (_tx, append) => {
    await append(domainLapsed, account.live, { ...domainLapsed.sample, error: 'dns: gone' });
  });
const mails = async () => (await app.container.mailbox.list()).filter(({ to }) => to === account.email);

describe('what makes one', () => {
  test('a key that expires within a week: in the list, not by mail', async () => {
    const made = await app.createKey({
      account,
      name: 'Back office',
      expiresAt: dateFromMs(clock.ms() + 20 * DAY),
    });
    clock.advance(14 * DAY);
    await app.container.apiKeys.announceExpiring();
    const rows = await list();
    assert.match(rows.string('data.0.id'), /^ntf_/);
    assert.deepEqual(rows.list('data'), [
      {
        id: rows.string('data.0.id'),
        type: 'api_key.expiring',
        title: expiring('Back office'),
        body: 'It stops working at 2026-12-10T09:00:00.000Z. Create a new key or rotate this one before then.',
        severity: 'WARNING',
        resource: { type: 'API_KEY', id: made.id },
        actionUrl: 'http://marquee.test/dashboard/keys',
        readAt: null,
        createdAt: clock.now().toISOString(),
      },
    ]);
    assert.deepEqual(await mails(), []);
    await app.container.apiKeys.announceExpiring();
    assert.equal((await list()).list('data').length, 1);
  });

  test('a webhook that keeps failing: in the list and by mail, without the query of its address', async () => {
    const id = (
      await app.request('POST', '/me/webhooks', {
        key,
        body: { url: 'https://receiver.example.com/hook?token=hidden' },
      })
    )
      .assertOk(201)
      .string('data.id');
    await app.container.sql`update webhook set consecutive_failures = 21,
      failing_since = ${dateFromMs(clock.ms() - 2 * DAY)} where id = ${id}`;
    await app.container.failureMonitor.run();
    await app.container.failureMonitor.run();
    const rows = await list();
    assert.equal(rows.list('data').length, 1);
    assert.equal(rows.at('data.0.type'), 'webhook.failing');
    assert.equal(rows.at('data.0.severity'), 'CRITICAL');
    assert.deepEqual(rows.at('data.0.resource'), { type: 'WEBHOOK', id });
    assert.match(rows.string('data.0.body'), /receiver\.example\.com\/hook has .* 21 consecutive failures/);
    const [mail, ...others] = await mails();
    assert.equal(others.length, 0);
    assert.equal(mail?.subject, 'Webhook keeps failing');
    const { text } = await app.container.mailbox.get(mail?.id ?? '');
    const page = `http://marquee\\.test/dashboard/webhooks/${id}`;
    assert.equal(`${rows.at('data.0.actionUrl')}`.replace('.', '\\.'), page);
    assert.match(text ?? '', new RegExp(`receiver\\.example\\.com/hook[^]*${page}[^]*/dashboard/account`));
    assert.ok(!`${text} ${rows.text}`.includes('hidden'));
  });

  test('a domain whose proof never came is a warning, one whose proof is gone is critical', async () => {
    const body = { domain: `never${account.id.slice(-6)}.example.com` };
    (await app.request('POST', '/me/integration-domains', { key, body })).assertOk(201);
    clock.advance(7 * DAY);
    await app.container.domains.checkDue();
    assert.deepEqual(await titles(), [`${body.domain} was not verified`]);
    assert.deepEqual([(await list()).at('data.0.severity'), await mails()], ['WARNING', []]);
    await lapse();
    assert.equal((await list()).at('data.0.severity'), 'CRITICAL');
    assert.match((await list()).string('data.0.body'), /Last seen: dns: gone\.$/);
    assert.equal((await mails()).length, 1);
  });

  test('other events make none, and a change that fails makes none', async () => {
    (await app.request('POST', '/streams', { key, body: { title: 'A stream' } })).assertOk(201);
    const failing = app.container.events.transaction(async (_tx, append) => {
      await append(apiKeyExpiring, account.live, apiKeyExpiring.sample);
      throw new Error('rolled back');
    });
    await assert.rejects(failing, /rolled back/);
    assert.deepEqual(await titles(), []);
  });

  test('nothing is mailed to an address that is not verified', async () => {
    await app.container.sql`update account set email_verified_at = null where id = ${account.id}`;
    await lapse();
    assert.deepEqual(await mails(), []);
  });
});

describe('the list', () => {
  test('the list belongs to the account: both modes see it, another account does not', async () => {
    await happen('live one');
    await happen('test one', account.test);
    const expected = [`${expiring('test one')} (test mode)`, expiring('live one')];
    assert.deepEqual(await titles(), expected);
    assert.equal((await list()).at('data.0.actionUrl'), 'http://marquee.test/dashboard/keys?mode=test');
    const sandbox = (await app.createKey({ account, mode: 'test' })).key;
    assert.equal((await list('', sandbox)).text, (await list()).text);
    const foreign = (await app.createKey()).key;
    assert.deepEqual((await list('', foreign)).list('data'), []);
    const id = (await list()).string('data.0.id');
    for (const [method, path] of [
      ['GET', `/${id}`],
      ['POST', `/${id}/read`],
      ['DELETE', `/${id}`],
    ] as const) {
      (await call(method, path, { by: foreign })).assertError('NOT_FOUND');
    }
    assert.equal((await call('POST', '/read-all', { by: foreign })).assertOk(200).at('data.updated'), 0);
    assert.equal((await call('GET', `/${id}`)).assertOk(200).at('data.readAt'), null);
  });

  test('pages, newest first, and filters by unread and type', async () => {
    for (const name of ['a', 'b', 'c']) await happen(name);
    await lapse();
    const first = await list('?limit=2&type=api_key.expiring');
    assert.deepEqual(
      first.list('data').map((row) => Object(row).title),
      [expiring('c'), expiring('b')],
    );
    const cursor = first.string('pagination.nextCursor');
    assert.deepEqual(await titles(`?limit=2&type=api_key.expiring&cursor=${cursor}`), [expiring('a')]);
    (await call('GET', `?limit=2&type=webhook.failing&cursor=${cursor}`)).assertError(
      'BAD_REQUEST',
      'cursor',
    );
    assert.equal((await titles('?type=api_key.expiring,%20integration_domain.lapsed')).length, 4);
    assert.deepEqual(await titles('?type=none'), []);
    (await call('POST', `/${first.string('data.0.id')}/read`)).assertOk(200);
    assert.deepEqual(await titles('?unread=false'), [expiring('c')]);
    assert.deepEqual((await titles('?unread=true')).slice(1), [expiring('b'), expiring('a')]);
    (await call('GET', '?unread=maybe')).assertError('BAD_REQUEST', 'unread');
  });

  test('reading twice is idempotent, and reading all counts the unread ones', async () => {
    for (const name of ['a', 'b', 'c']) await happen(name);
    assert.deepEqual(await unread(), { count: 3 });
    const id = (await list()).string('data.0.id');
    assert.equal((await call('POST', `/${id}/read`)).assertOk(200).at('data.readAt'), NOW);
    clock.advance(1000);
    assert.equal((await call('POST', `/${id}/read`)).assertOk(200).at('data.readAt'), NOW);
    assert.deepEqual(await unread(), { count: 2 });
    assert.deepEqual((await call('POST', '/read-all')).assertOk(200).at('data'), { updated: 2 });
    assert.deepEqual((await call('POST', '/read-all')).assertOk(200).at('data'), { updated: 0 });
    assert.deepEqual(await unread(), { count: 0 });
    assert.equal((await call('GET', `/${id}`)).at('data.readAt'), NOW);
  });

  test('a deleted one is gone', async () => {
    await happen('a');
    const id = (await list()).string('data.0.id');
    assert.deepEqual((await call('DELETE', `/${id}`)).assertOk(200).at('data'), { id, deleted: true });
    (await call('DELETE', `/${id}`)).assertError('NOT_FOUND');
    assert.deepEqual(await titles(), []);
  });

  test('keeps 90 days', async () => {
    await happen('old');
    clock.advance(1000);
    await happen('young');
    clock.advance(90 * DAY);
    await runTask(app.container, 'notification cleanup');
    assert.deepEqual(await titles(), [expiring('young')]);
  });

  test('a READ_ONLY key looks and changes nothing', async () => {
    const reader = (await app.createKey({ account, scope: 'READ_ONLY' })).key;
    await list('', reader);
    (await call('POST', '/read-all', { by: reader })).assertError('INSUFFICIENT_SCOPE');
  });

  test('paths next to the IDs are not taken for IDs', async () => {
    for (const path of ['/unread-count', '/preferences', '/read-all']) {
      (await call('DELETE', path)).assertError('METHOD_NOT_ALLOWED');
    }
    assert.equal((await call('GET', '/read-all')).assertError('METHOD_NOT_ALLOWED').headers.allow, 'POST');
  });
});

describe('a video that failed', () => {
  test('a failed video creates a notification with the reason, but an abandoned upload does not', async () => {
    const owner = await app.createKey();
    for (const code of ['UPLOAD_EXPIRED', 'CORRUPT_INPUT']) {
      await app.container.events.transaction(async (_tx, append) => {
        const data = { ...videoProcessingFailed.sample, videoId: 'vid_1' };
        const error = { code, message: 'The file is truncated.' };
        await append(videoProcessingFailed, owner.account.live, { ...data, error });
      });
    }
    const told = (await app.request('GET', '/notifications', { key: owner.key })).assertOk(200);
    assert.equal(told.list('data').length, 1);
    assert.equal(told.at('data.0.severity'), 'WARNING');
    assert.equal(told.at('data.0.body'), 'The file is truncated. Error code: CORRUPT_INPUT.');
    assert.deepEqual(told.at('data.0.resource'), { type: 'VIDEO', id: 'vid_1' });
  });
});

describe('preferences', () => {
  const put = (body: unknown) => call('PUT', '/preferences', { body });
  const on = { email: true, inApp: true };
  const off = { email: false, inApp: false };
  const defaults = {
    'api_key.expiring': { email: false, inApp: true },
    'changelog.deprecation_used': { email: false, inApp: true },
    'changelog.published': { email: false, inApp: true },
    'booking.cohort.full': { email: false, inApp: true },
    'booking.discount_code.exhausted': { email: false, inApp: true },
    'booking.reminder': { email: false, inApp: true },
    'payment.dispute_closed': { email: false, inApp: true },
    'payment.disputed': { email: false, inApp: true },
    'payment.succeeded': { email: false, inApp: true },
    'payout.failed': on,
    'room.recording_ready': { email: false, inApp: true },
    'stream.recording_ready': { email: false, inApp: true },
    'subscription.canceled': { email: false, inApp: true },
    'subscription.created': { email: false, inApp: true },
    'subscription.expired': { email: false, inApp: true },
    'integration_domain.failed': { email: false, inApp: true },
    'integration_domain.lapsed': on,
    'support.ticket_replied': { email: false, inApp: true },
    'team.member_added': { email: false, inApp: true },
    'team.member_removed': { email: false, inApp: true },
    'team.role_changed': { email: false, inApp: true },
    'quota.exceeded': on,
    'quota.warning': { email: false, inApp: true },
    'restream.target.failed': { email: false, inApp: true },
    'bridge.failed': { email: false, inApp: true },
    'booking.canceled': { email: false, inApp: true },
    'booking.confirmed': { email: false, inApp: true },
    'booking.rescheduled': { email: false, inApp: true },
    'stream.restored': { email: false, inApp: true },
    'stream.taken_down': on,
    'video.restored': { email: false, inApp: true },
    'video.taken_down': on,
    'video.expiring': { email: false, inApp: true },
    'video.processing.failed': { email: false, inApp: true },
    'video.replacement.failed': { email: false, inApp: true },
    'webhook.failing': on,
  };

  test('preferences default to in-app for all types and email for critical ones', async () => {
    const expected = { channels: on, types: defaults };
    assert.deepEqual((await call('GET', '/preferences')).assertOk(200).at('data'), expected);
  });

  test('preferences of a type override the channels; omitted types get their default again', async () => {
    const types = { 'api_key.expiring': { email: true, inApp: false } };
    const set = (await put({ channels: on, types })).assertOk(200);
    assert.deepEqual(set.at('data'), { channels: on, types: { ...defaults, ...types } });
    const sandbox = (await app.createKey({ account, mode: 'test' })).key;
    assert.equal((await call('GET', '/preferences', { by: sandbox })).text, set.text);
    await happen('mailed');
    assert.deepEqual(await titles(), []);
    assert.deepEqual(
      (await mails()).map(({ subject }) => subject),
      [expiring('mailed')],
    );
    assert.deepEqual((await put({ channels: on })).assertOk(200).at('data.types'), defaults);
    await happen('listed');
    assert.deepEqual([await titles(), (await mails()).length], [[expiring('listed')], 1]);
  });

  test('a channel that is off is off for every type', async () => {
    const types = { 'integration_domain.lapsed': on };
    (await put({ channels: { email: false, inApp: true }, types })).assertOk(200);
    await lapse();
    assert.deepEqual([(await titles()).length, (await mails()).length], [1, 0]);
    (await put({ channels: off, types })).assertOk(200);
    await lapse();
    assert.deepEqual([(await titles()).length, (await mails()).length], [1, 0]);
    (await put({ channels: { email: true, inApp: false }, types })).assertOk(200);
    await lapse();
    assert.deepEqual([(await titles()).length, (await mails()).length], [1, 1]);
  });

  const wrong: [body: unknown, field: string][] = [
    [{}, 'channels'],
    [{ channels: { email: true } }, 'channels.inApp'],
    [{ channels: { email: 'yes', inApp: true } }, 'channels.email'],
    [{ channels: on, types: { 'video.created': on } }, 'types.video.created'],
    [{ channels: on, types: { toString: on } }, 'types.toString'],
    [{ channels: on, types: { 'webhook.failing': { email: true } } }, 'types.webhook.failing.inApp'],
    [{ channels: on, types: [] }, 'types'],
  ];
  for (const [body, field] of wrong) {
    test(`${JSON.stringify(body)} is 400 for ${field}`, async () => {
      (await put(body)).assertError('BAD_REQUEST', field);
    });
  }
});

test('what a notification is about has a page of the dashboard, but for tickets and releases', () => {
  const files = globSync('web/dashboard/pages/*/index.ts', { cwd: ROOT });
  const routes = files.flatMap((file) => [
    ...readFileSync(join(ROOT, file), 'utf8').matchAll(/path: '([^']+)'/g),
  ]);
  const known = routes.map(([, path = '']) => new RegExp(`^/dashboard${path.replace(/\$\w+/g, '[^/]+')}$`));
  const without = app.container.catalogue.definitions.flatMap(({ notice, sample }) => {
    const words = notice?.words(sample) ?? null;
    if (words === null) return [];
    const url = actionUrlOf('', words.resource, 'live');
    return url !== null && known.some((route) => route.test(url)) ? [] : [words.resource.type];
  });
  assert.deepEqual(without, ['RELEASE', 'SUPPORT_TICKET']);
});
