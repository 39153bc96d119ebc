import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';

let app: TestApp;
before(async () => {
  app = await startTestApp();
});
after(() => app.close());

const put = (key: string, body: unknown) => app.request('PUT', '/booking/availability', { key, body });
const read = (key: string) => app.request('GET', '/booking/availability', { key });
const MORNING = { start: '09:00', end: '12:00' };

test('omitted fields and rules that were never set get defaults', async () => {
  const { key } = await app.createKey();
  const defaults = { timezone: 'UTC', blackoutsJson: [], minNoticeMin: 60, maxAdvanceDays: 60 };
  const none = { weeklyJson: {}, ...defaults, updatedAt: null };
  assert.deepEqual((await read(key)).assertOk(200).at('data'), none);
  (await app.request('PATCH', '/me', { key, body: { timezone: 'Europe/Vienna' } })).assertOk(200);
  assert.equal((await read(key)).at('data.timezone'), 'Europe/Vienna');
  const body = {
    weeklyJson: {
      sun: [],
      mon: [{ start: '13:00', end: '24:00' }, MORNING, { start: '12:00', end: '12:30' }],
    },
    timezone: 'america/new_york',
    blackoutsJson: [
      { start: '2026-12-24', end: '2026-12-24', reason: 'Holiday' },
      { start: '2026-12-31T18:00:00+01:00', end: '2027-01-01T00:00:00.5Z' },
      { start: '2027-01-05', end: '2027-01-06T12:00Z' },
    ],
    minNoticeMin: 0,
    maxAdvanceDays: 0,
  };
  const { updatedAt, ...kept } = Object((await put(key, body)).assertOk(200).at('data'));
  assert.deepEqual(kept, {
    ...body,
    weeklyJson: {
      mon: [MORNING, { start: '12:00', end: '12:30' }, { start: '13:00', end: '24:00' }],
      sun: [],
    },
    timezone: 'America/New_York',
    blackoutsJson: [
      { start: '2026-12-24', end: '2026-12-24', reason: 'Holiday' },
      { start: '2026-12-31T17:00:00Z', end: '2027-01-01T00:00:00.5Z' },
      { start: '2027-01-05', end: '2027-01-06T12:00:00Z' },
    ],
  });
  assert.deepEqual((await read(key)).at('data'), { ...kept, updatedAt });
  const again = (await put(key, { weeklyJson: { tue: [MORNING] } })).assertOk(200);
  const { updatedAt: _, ...reset } = Object(again.at('data'));
  assert.deepEqual(reset, { weeklyJson: { tue: [MORNING] }, ...defaults, timezone: 'Europe/Vienna' });
});

test('live and test mode have separate rules', async () => {
  const { key, account } = await app.createKey();
  const sandbox = (await app.createKey({ account, mode: 'test' })).key;
  (await put(key, { weeklyJson: { mon: [MORNING] } })).assertOk(200);
  assert.deepEqual((await read(sandbox)).at('data.weeklyJson'), {});
});

const week = (...mon: unknown[]) => ({ weeklyJson: { mon } });
const blackout = (start: unknown, end: unknown, more = {}) => ({
  weeklyJson: {},
  blackoutsJson: [{ start, end, ...more }],
});
const from = (start: unknown, end: unknown) => week({ start, end });

test('rules are accepted up to their limits', async () => {
  const { key } = await app.createKey();
  const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
  const good: object[] = [
    { weeklyJson: {} },
    { weeklyJson: Object.fromEntries(days.map((day) => [day, [MORNING]])) },
    from('00:00', '24:00'),
    from('23:59', '24:00'),
    from('00:00', '00:01'),
    week({ start: '00:00', end: '12:00' }, { start: '12:00', end: '24:00' }),
    week(...Array.from({ length: 48 }, (_, i) => ({ start: minute(i * 30), end: minute(i * 30 + 29) }))),
    { weeklyJson: {}, minNoticeMin: 0, maxAdvanceDays: 0 },
    { weeklyJson: {}, minNoticeMin: 5_256_000, maxAdvanceDays: 3650 },
    blackout('1970-01-01', '9998-12-31'),
    blackout('2026-10-25', '2026-10-25', { reason: 'x'.repeat(200) }),
    // A day that this zone skipped is empty, and those around it are not.
    { ...blackout('2011-12-29', '2011-12-31'), timezone: 'Pacific/Apia' },
    {
      weeklyJson: {},
      blackoutsJson: Array.from({ length: 500 }, () => ({ start: '2026-12-24', end: '2026-12-24' })),
    },
    { weeklyJson: {}, timezone: 'UTC' },
    { weeklyJson: {}, timezone: 'Asia/Kathmandu', more: true },
  ];
  for (const body of good) (await put(key, body)).assertOk(200);
});

function minute(of: number): string {
  return `${String(Math.floor(of / 60)).padStart(2, '0')}:${String(of % 60).padStart(2, '0')}`;
}

test('a rejected field is named by its dotted path', async () => {
  const { key } = await app.createKey();
  const start = 'weeklyJson.mon.0.start';
  const end = 'weeklyJson.mon.0.end';
  const refused: [string, unknown][] = [
    ['weeklyJson', {}],
    ['weeklyJson', { weeklyJson: null }],
    ['weeklyJson', { weeklyJson: [] }],
    ['weeklyJson', { weeklyJson: 'mon' }],
    ['weeklyJson.monday', { weeklyJson: { monday: [] } }],
    ['weeklyJson.MON', { weeklyJson: { MON: [MORNING] } }],
    ['weeklyJson.mon', { weeklyJson: { mon: MORNING } }],
    ['weeklyJson.mon', { weeklyJson: { mon: null } }],
    ['weeklyJson.mon.0', week('09:00-12:00')],
    [start, week({ end: '12:00' })],
    [end, week({ start: '12:00' })],
    [start, from('9:00', '12:00')],
    [start, from('24:00', '24:00')],
    [start, from('25:00', '26:00')],
    [start, from('09:60', '12:00')],
    [start, from('09:00:00', '12:00')],
    [start, from(' 09:00', '12:00')],
    [start, from('09:00\n', '12:00')],
    [start, from('٠٩:٠٠', '12:00')],
    [start, from(540, '12:00')],
    [end, from('09:00', null)],
    [end, from('09:00', '24:01')],
    [end, from('09:00', '09:00')],
    [end, from('22:00', '02:00')],
    ['weeklyJson.mon.1.start', week({ start: '09:00', end: '12:00' }, { start: '11:59', end: '13:00' })],
    ['weeklyJson.mon.0.start', week({ start: '11:59', end: '13:00' }, { start: '09:00', end: '12:00' })],
    ['weeklyJson.mon.1.start', week(MORNING, MORNING)],
    [
      'weeklyJson.mon',
      week(...Array.from({ length: 49 }, (_, i) => ({ start: minute(i * 20), end: minute(i * 20 + 1) }))),
    ],
    [
      'weeklyJson.mon',
      week(...Array.from({ length: 100 }, (_, i) => ({ start: minute(i * 10), end: minute(i * 10 + 1) }))),
    ],
    ['timezone', { weeklyJson: {}, timezone: 'Mars/Olympus' }],
    ['timezone', { weeklyJson: {}, timezone: '+02:00' }],
    ['timezone', { weeklyJson: {}, timezone: '' }],
    ['timezone', { weeklyJson: {}, timezone: null }],
    ['timezone', { weeklyJson: {}, timezone: 'x'.repeat(65) }],
    ['blackoutsJson', { weeklyJson: {}, blackoutsJson: null }],
    [
      'blackoutsJson',
      {
        weeklyJson: {},
        blackoutsJson: Array.from({ length: 501 }, () => ({ start: '2026-12-24', end: '2026-12-24' })),
      },
    ],
    ['blackoutsJson.0', { weeklyJson: {}, blackoutsJson: ['2026-12-24'] }],
    ['blackoutsJson.0.end', { weeklyJson: {}, blackoutsJson: [{ start: '2026-12-24' }] }],
    ['blackoutsJson.0.start', blackout('24.12.2026', '2026-12-26')],
    ['blackoutsJson.0.start', blackout('2026-02-30', '2026-03-01')],
    ['blackoutsJson.0.start', blackout('2026-12-24T18:00', '2026-12-26')],
    ['blackoutsJson.0.start', blackout('1969-12-31', '2026-12-26')],
    ['blackoutsJson.0.start', blackout(20261224, '2026-12-26')],
    ['blackoutsJson.0.end', blackout('2026-12-24', '2026-12-23')],
    ['blackoutsJson.0.end', blackout('2026-12-24', '9999-12-31')],
    ['blackoutsJson.0.end', blackout('2026-12-24', '+010000-01-01')],
    ['blackoutsJson.0.end', blackout('2026-12-24T18:00:00Z', '2026-12-24T18:00:00Z')],
    ['blackoutsJson.0.end', blackout('2026-12-24T18:00:00Z', '2026-12-24T25:00:00Z')],
    ['blackoutsJson.0.end', { ...blackout('2011-12-30', '2011-12-30'), timezone: 'Pacific/Apia' }],
    ['blackoutsJson.0.reason', blackout('2026-12-24', '2026-12-26', { reason: 'x'.repeat(201) })],
    ['minNoticeMin', { weeklyJson: {}, minNoticeMin: -1 }],
    ['minNoticeMin', { weeklyJson: {}, minNoticeMin: 5_256_001 }],
    ['minNoticeMin', { weeklyJson: {}, minNoticeMin: 1.5 }],
    ['minNoticeMin', { weeklyJson: {}, minNoticeMin: '60' }],
    ['maxAdvanceDays', { weeklyJson: {}, maxAdvanceDays: -1 }],
    ['maxAdvanceDays', { weeklyJson: {}, maxAdvanceDays: 3651 }],
    ['maxAdvanceDays', { weeklyJson: {}, maxAdvanceDays: null }],
    ['body', []],
  ];
  for (const [field, body] of refused) (await put(key, body)).assertError('BAD_REQUEST', field);
  assert.equal((await read(key)).at('data.updatedAt'), null);
});
