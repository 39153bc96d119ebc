import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { Browser } from '../../../../test/auth/browser.ts';
import { type AuthFixture, PASSWORD, startAuthFixture } from '../../../../test/auth/fixture.ts';
import type { TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { commandLine, runCommand } from '../../../../test/harness/command-line.ts';
import type { TestAccount } from '../../../../test/harness/factories.ts';
import { runTask } from '../../../../test/harness/modules.ts';
import { insertVideo } from '../../../../test/harness/videos.ts';
import { dateFromMs } from '../../../kernel/clock.ts';
import { newId } from '../../../kernel/ids.ts';
import type { ProviderPayout } from './index.ts';
import type { Movement } from './rules.ts';

const NOW = '2026-11-20T09:00:00.000Z';
const clock = new TestClock(NOW);
let fixture: AuthFixture;
let app: TestApp;
let account: TestAccount;
let key: string;

before(async () => {
  fixture = await startAuthFixture(clock);
  app = fixture.app;
});
after(() => fixture.close());
beforeEach(async () => {
  clock.set(NOW);
  account = await app.createAccount();
  ({ key } = await app.createKey({ account }));
});

const get = (path: string) => app.request('GET', path, { key });
const revenue = async (query: string) => (await get(`/monetization/revenue?${query}`)).assertOk(200);
const date = (time: string) => dateFromMs(Date.parse(time));

interface Moved {
  at: string;
  cents?: number;
  fee?: number;
  itemId?: string;
  sale?: 'VIDEO' | 'BOOKING' | 'SUBSCRIPTION';
  workspaceId?: string;
}

const SALES = ['CHARGE', 'REFUND', 'DISPUTE_LOST'] as const;

async function move(kind: (typeof SALES)[number] | 'DISPUTE_OPENED', moved: Moved): Promise<void> {
  const sale = { purchaseId: 'pur_1', kind: moved.sale ?? 'VIDEO', itemId: moved.itemId ?? 'vid_1' };
  const base = {
    workspaceId: moved.workspaceId ?? account.live,
    provider: 'SANDBOX',
    source: newId('pay'),
    at: date(moved.at),
    sale,
    amountCents: moved.cents ?? 1000,
  } as const;
  const movement: Movement =
    kind === 'DISPUTE_OPENED' ? { ...base, kind } : { ...base, kind, feeCents: moved.fee ?? 0 };
  await app.container.events.transaction((tx) => app.container.ledger.record(tx, movement));
}

/** Returns the buckets of the series that contain a sale. */
function sold(answer: { list(path: string): unknown[] }): [string, number][] {
  return answer
    .list('data.series')
    .map((piece): Record<string, unknown> => Object(piece))
    .filter(({ count }) => count !== 0)
    .map(({ date: day, grossCents }) => [String(day), Number(grossCents)]);
}

describe('revenue', () => {
  test('revenue is summed day by day without gaps and broken down by kind and item', async () => {
    const video = await insertVideo(app.container.db, account.live, { title: 'Bridges' });
    await move('CHARGE', { at: '2026-11-18T10:00:00Z', cents: 1000, fee: 100, itemId: video });
    await move('CHARGE', {
      at: '2026-11-20T08:00:00Z',
      cents: 500,
      fee: 50,
      sale: 'SUBSCRIPTION',
      itemId: 'tier_1',
    });
    await move('REFUND', { at: '2026-11-19T10:00:00Z', cents: 400, fee: 40, itemId: video });
    const query = 'from=2026-11-17&to=2026-11-21';
    const answer = await revenue(query);
    const nothing = { grossCents: 0, feeCents: 0, refundCents: 0, netCents: 0, count: 0 };
    const charged = { grossCents: 1000, feeCents: 100, refundCents: 0, netCents: 900, count: 1 };
    const refunded = { grossCents: 0, feeCents: -40, refundCents: 400, netCents: -360, count: 0 };
    const subscribed = { grossCents: 500, feeCents: 50, refundCents: 0, netCents: 450, count: 1 };
    const videos = { grossCents: 1000, feeCents: 60, refundCents: 400, netCents: 540, count: 1 };
    assert.deepEqual(answer.at('data'), {
      from: '2026-11-17T00:00:00.000Z',
      to: '2026-11-21T00:00:00.000Z',
      timezone: 'UTC',
      granularity: 'DAY',
      currency: 'USD',
      totals: { grossCents: 1500, feeCents: 110, refundCents: 400, netCents: 990, count: 2 },
      series: [
        { date: '2026-11-17', ...nothing },
        { date: '2026-11-18', ...charged },
        { date: '2026-11-19', ...refunded },
        { date: '2026-11-20', ...subscribed },
      ],
      breakdown: [
        { key: 'VIDEO', label: 'Videos', ...videos },
        { key: 'SUBSCRIPTION', label: 'Subscriptions', ...subscribed },
      ],
    });
    const byVideo = (await revenue(`${query}&groupBy=video`)).at('data.breakdown');
    assert.deepEqual(byVideo, [{ key: video, label: 'Bridges', ...videos }]);
    const byTier = (await revenue(`${query}&groupBy=tier`)).at('data.breakdown');
    assert.deepEqual(byTier, [{ key: 'tier_1', label: 'tier_1', ...subscribed }]);
    assert.deepEqual((await revenue(`${query}&groupBy=product`)).at('data.breakdown'), []);
  });

  test('a disputed payment counts until the dispute is lost, and the loss counts on its own day', async () => {
    await move('CHARGE', { at: '2026-11-17T10:00:00Z', fee: 100 });
    await move('DISPUTE_OPENED', { at: '2026-11-18T10:00:00Z' });
    const query = 'from=2026-11-17&to=2026-11-21';
    assert.equal((await revenue(query)).at('data.totals.netCents'), 900);
    await move('DISPUTE_LOST', { at: '2026-11-19T10:00:00Z', fee: 100 });
    const lost = await revenue(query);
    assert.equal(lost.at('data.totals.netCents'), 0);
    assert.equal(lost.at('data.series.2.refundCents'), 1000);
  });

  test('days follow the time zone: one has 23 hours, one 25, and one begins at a quarter to the hour', async () => {
    const hours = async (zone: string, day: string, next: string) => {
      const answer = await revenue(`from=${day}&to=${next}&timezone=${zone}`);
      assert.equal(answer.list('data.series').length, 1);
      return (Date.parse(answer.string('data.to')) - Date.parse(answer.string('data.from'))) / 3_600_000;
    };
    assert.equal(await hours('Europe/Berlin', '2026-03-29', '2026-03-30'), 23);
    assert.equal(await hours('Europe/Berlin', '2026-10-25', '2026-10-26'), 25);
    for (const [at, cents] of [
      ['2026-10-24T21:59:59Z', 1],
      ['2026-10-24T22:00:00Z', 20],
      ['2026-10-25T22:59:59Z', 300],
      ['2026-10-25T23:00:00Z', 4000],
    ] as const) {
      await move('CHARGE', { at, cents });
    }
    const berlin = await revenue('from=2026-10-24&to=2026-10-27&timezone=Europe/Berlin');
    assert.deepEqual(sold(berlin), [
      ['2026-10-24', 1],
      ['2026-10-25', 320],
      ['2026-10-26', 4000],
    ]);
    await move('CHARGE', { at: '2026-05-01T18:14:59Z', cents: 7 });
    await move('CHARGE', { at: '2026-05-01T18:15:00Z', cents: 70 });
    const kathmandu = 'from=2026-05-01&to=2026-05-03&timezone=Asia/Kathmandu&groupBy=video';
    const answer = await revenue(kathmandu);
    assert.deepEqual(sold(answer), [
      ['2026-05-01', 7],
      ['2026-05-02', 70],
    ]);
    assert.equal(answer.at('data.breakdown.0.grossCents'), 77);
    const second = await revenue(kathmandu.replace('05-01', '05-02'));
    assert.equal(second.at('data.breakdown.0.grossCents'), 70);
  });

  test('weeks begin on Monday, months on their first, and a range may begin inside', async () => {
    await move('CHARGE', { at: '2026-11-01T12:00:00Z', cents: 5 });
    await move('CHARGE', { at: '2026-11-02T12:00:00Z', cents: 60 });
    await move('CHARGE', { at: '2026-11-08T12:00:00Z', cents: 700 });
    const weeks = await revenue('from=2026-10-31&to=2026-11-12&granularity=WEEK');
    assert.equal(weeks.list('data.series').length, 3);
    assert.deepEqual(sold(weeks), [
      ['2026-10-26', 5],
      ['2026-11-02', 760],
    ]);
    const months = await revenue('from=2026-10-15&to=2026-12-01&granularity=MONTH');
    assert.equal(months.list('data.series').length, 2);
    assert.deepEqual(sold(months), [['2026-11-01', 765]]);
  });

  test('instants limit the range to the quarter-hour, also in the breakdown', async () => {
    await move('CHARGE', { at: '2026-11-18T10:14:59.999Z', cents: 1 });
    await move('CHARGE', { at: '2026-11-18T10:15:00Z', cents: 20 });
    await move('CHARGE', { at: '2026-11-20T07:59:59Z', cents: 300 });
    await move('CHARGE', { at: '2026-11-20T08:00:00Z', cents: 4000 });
    const answer = await revenue('from=2026-11-18T10:20:00Z&to=2026-11-20T08:00:00Z');
    assert.equal(answer.at('data.from'), '2026-11-18T10:15:00.000Z');
    assert.equal(answer.at('data.totals.grossCents'), 320);
    assert.equal(answer.at('data.breakdown.0.grossCents'), 320);
    const inside = await revenue('from=2026-11-20T08:00:00%2B00:00&to=2026-11-20T08:15:00Z');
    assert.equal(inside.at('data.breakdown.0.grossCents'), 4000);
  });

  test('the default range is the last 28 days, including today', async () => {
    await move('CHARGE', { at: '2026-10-23T23:59:59Z', cents: 1 });
    await move('CHARGE', { at: '2026-10-24T00:00:00Z', cents: 20 });
    await move('CHARGE', { at: NOW, cents: 300 });
    const answer = await revenue('');
    assert.equal(answer.list('data.series').length, 28);
    assert.equal(answer.at('data.totals.grossCents'), 320);
  });

  test('invalid ranges are rejected with their field', async () => {
    for (const [query, field] of [
      ['from=yesterday', 'from'],
      ['from=2026-02-30', 'from'],
      ['from=2026-11-20T09:00:00', 'from'],
      ['from=0001-01-01', 'from'],
      ['to=', 'to'],
      ['to=2026-13-01', 'to'],
      ['from=2026-11-20&to=2026-11-20', 'to'],
      ['from=2026-11-20&to=2026-11-19', 'to'],
      ['from=2027-01-01', 'from'],
      ['from=2025-10-16&to=2026-11-21', 'from'],
      ['timezone=%2B02:00', 'timezone'],
      ['timezone=Mars/Olympus', 'timezone'],
      ['granularity=HOUR', 'granularity'],
      ['groupBy=buyer', 'groupBy'],
    ]) {
      (await get(`/monetization/revenue?${query}`)).assertError('BAD_REQUEST', field);
    }
    (await get('/monetization/revenue?from=2025-10-17&to=2026-11-21')).assertOk(200);
  });

  test('revenue covers one workspace', async () => {
    await move('CHARGE', { at: NOW, workspaceId: account.test });
    assert.equal((await revenue('')).at('data.totals.count'), 0);
    const { key: testKey } = await app.createKey({ account, mode: 'test' });
    const answer = (await app.request('GET', '/monetization/revenue', { key: testKey })).assertOk(200);
    assert.equal(answer.at('data.totals.count'), 1);
  });
});

describe('payouts', () => {
  const payouts = async (query = '') => (await get(`/me/payouts${query}`)).assertOk(200);
  const DAY = 24 * 3_600_000;
  const told = async () => {
    const events = (await get('/me/events?type=payout.*&order=asc')).assertOk(200).list('data');
    return events.map((event) => {
      const { type, data }: Record<string, unknown> = Object(event);
      return [type, Object(data)];
    });
  };

  test('the sandbox pays out balances of two days ago once a day, and payouts arrive a day later', async () => {
    await move('CHARGE', { at: '2026-11-18T09:00:00Z', cents: 1000, fee: 100 });
    await move('CHARGE', { at: '2026-11-18T09:00:01Z', cents: 500 });
    await runTask(app.container, 'payouts');
    await runTask(app.container, 'payouts');
    const list = await payouts();
    const id = list.string('data.0.id');
    assert.deepEqual(list.at('data'), [
      {
        id,
        amountCents: 900,
        currency: 'USD',
        status: 'IN_TRANSIT',
        arrivalAt: '2026-11-21T09:00:00.000Z',
        failureCode: null,
        createdAt: NOW,
      },
    ]);
    assert.deepEqual(await told(), []);
    clock.advance(DAY);
    await runTask(app.container, 'payouts');
    assert.deepEqual(
      (await payouts('?order=asc')).list('data').map((row) => [Object(row).amountCents, Object(row).status]),
      [
        [900, 'PAID'],
        [500, 'IN_TRANSIT'],
      ],
    );
    assert.deepEqual(await told(), [
      ['payout.paid', { payoutId: id, status: 'PAID', failureCode: null, sequence: 1 }],
    ]);
    const inTransit = await payouts('?status=IN_TRANSIT,PENDING');
    assert.equal(inTransit.list('data').length, 1);
    (await get('/me/payouts?status=LOST')).assertError('BAD_REQUEST', 'status');
  });

  test('refunds and amounts held by banks are not paid out; payouts of a suspended account wait', async () => {
    await move('CHARGE', { at: '2026-11-10T09:00:00Z', cents: 1000 });
    await move('DISPUTE_OPENED', { at: '2026-11-19T09:00:00Z', cents: 1000 });
    await move('REFUND', { at: '2026-11-19T09:00:00Z', cents: 100 });
    await runTask(app.container, 'payouts');
    assert.equal((await payouts()).list('data').length, 0);
    await move('CHARGE', { at: '2026-11-10T09:00:00Z', cents: 300 });
    await app.container.accounts.suspend(account.email);
    await runTask(app.container, 'payouts');
    await app.container.accounts.unsuspend(account.email);
    assert.equal((await payouts()).list('data').length, 0);
    await runTask(app.container, 'payouts');
    assert.equal((await payouts()).at('data.0.amountCents'), 200);
  });

  test('an operator can start a payout, and a key cannot', async () => {
    await move('CHARGE', { at: NOW, cents: 1000 });
    const body = { workspaceId: account.live };
    (await app.request('POST', '/monetization/payouts', { key, body })).assertError('ADMIN_ONLY');
    const email = `${newId('usr')}@example.com`;
    await app.container.accounts.create({ email, password: PASSWORD, verified: true, role: 'ADMIN' });
    const operator = new Browser(app);
    await operator.signIn({ email });
    const start = (order: object) =>
      operator.send('POST', '/monetization/payouts', { body: { ...body, ...order } });
    (await start({ amountCents: 1001 })).assertError('BAD_REQUEST', 'amountCents');
    (await start({ amountCents: 0 })).assertError('BAD_REQUEST', 'amountCents');
    (await start({ workspaceId: newId('wsp') })).assertError('BAD_REQUEST', 'workspaceId');
    const failed = (await start({ amountCents: 400, outcome: 'FAILED' })).assertOk(201);
    assert.equal(failed.at('data.status'), 'FAILED');
    const paid = (await start({})).assertOk(201);
    assert.equal(paid.at('data.amountCents'), 1000);
    (await start({})).assertError('CONFLICT', 'workspaceId');
    const failure = {
      payoutId: failed.at('data.id'),
      status: 'FAILED',
      failureCode: 'account_closed',
      sequence: 1,
    };
    assert.deepEqual(await told(), [['payout.failed', failure]]);
    clock.advance(11 * 60_000);
    (await start({})).assertError('PASSWORD_REQUIRED');
  });

  test('payouts of a provider are synced: each state once, and never backwards', async () => {
    const { events, ledger } = app.container;
    const shown: ProviderPayout = {
      workspaceId: account.live,
      provider: 'STRIPE',
      ref: `po_${newId('pyo')}`,
      amountCents: 700,
      currency: 'USD',
      status: 'IN_TRANSIT',
      failureCode: null,
      arrivalAt: date('2026-11-22T00:00:00Z'),
      createdAt: date(NOW),
    };
    const show = (change: Partial<ProviderPayout>) =>
      events.transaction((tx, append) => ledger.mirrorPayout(tx, append, { ...shown, ...change }));
    await Promise.all([show({}), show({}), show({ status: 'PAID' })]);
    await show({ status: 'PENDING' });
    assert.equal((await payouts()).at('data.0.status'), 'PAID');
    clock.advance(1000);
    await show({ status: 'FAILED', failureCode: 'account_closed' });
    await show({ status: 'PAID' });
    await show({ status: 'CANCELED' });
    const list = await payouts();
    assert.equal(list.list('data').length, 1);
    assert.equal(list.at('data.0.status'), 'FAILED');
    assert.equal(list.at('data.0.failureCode'), 'account_closed');
    assert.deepEqual(
      (await told()).map(([type]) => type),
      ['payout.paid', 'payout.failed'],
    );
    const balances = await commandLine(app, 'money', 'show', '--account', account.email, '--json');
    assert.deepEqual(JSON.parse(balances), { workspaceId: account.live, balances: [] });
  });
});

test('the command line shows balances, finds wrong rollups, and rebuilds them', async () => {
  await move('CHARGE', { at: '2026-11-18T10:00:00Z', fee: 100 });
  await move('DISPUTE_OPENED', { at: '2026-11-18T11:00:00Z', cents: 300 });
  const shown = await commandLine(app, 'money', 'show', '--account', account.email);
  assert.match(
    shown,
    /SANDBOX: creator \$6\.00, fees \$1\.00, disputed \$3\.00, paid out \$0\.00; the provider holds \$7\.00/,
  );
  const before = (await revenue('groupBy=video')).at('data');
  await app.container.sql`update ledger_revenue set gross_cents = 5 where workspace_id = ${account.live}`;
  await app.container.sql`delete from ledger_revenue_item where workspace_id = ${account.live}`;
  const wrong = await runCommand(app, ['money', 'check']);
  assert.equal(wrong.code, 1);
  assert.match(wrong.stdout, new RegExp(`the totals of ${account.live} do not match its entries`));
  await commandLine(app, 'money', 'rebuild');
  assert.deepEqual((await revenue('groupBy=video')).at('data'), before);
  const right = await runCommand(app, ['money', 'check']);
  assert.doesNotMatch(right.stdout, /the totals of/);
});
