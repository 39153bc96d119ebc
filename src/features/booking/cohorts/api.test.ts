import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { bookedOnce } from '../../../../test/booking/rows.ts';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { runTask } from '../../../../test/harness/modules.ts';

const NOW = '2027-01-01T00:00:00.000Z';
const START = '2027-02-01T17:00:00.000Z';
const COURSE = { title: 'A course', type: 'COHORT', priceCents: 9000, capacity: 2, bufferMin: 30 };

const clock = new TestClock(NOW);
let app: TestApp;
before(async () => {
  app = await startTestApp({ clock });
});
after(() => app.close());

async function product(key: string, body: object = {}): Promise<string> {
  const made = await app.request('POST', '/booking/products', { key, body: { ...COURSE, ...body } });
  return made.assertOk(201).string('data.id');
}

const post = (key: string, productId: string, body: unknown) =>
  app.request('POST', `/booking/products/${productId}/cohorts`, { key, body });

/** Creates a cohort with a product of its own. */
async function make(key: string, body: object = {}) {
  const productId = await product(key);
  const made = (await post(key, productId, { startsAt: START, ...body })).assertOk(201);
  const id = made.string('data.id');
  return { productId, id, path: `/booking/cohorts/${id}`, made };
}

const read = async (key: string, path: string) => (await app.request('GET', path, { key })).assertOk(200);
const patch = (key: string, path: string, body: unknown) => app.request('PATCH', path, { key, body });

async function eventsOf(key: string, id: string): Promise<[string, number][]> {
  const rows = (await app.request('GET', '/me/events?order=asc', { key })).assertOk(200).list('data');
  return rows
    .map((row) => Object(row))
    .filter(({ data }) => data.cohortId === id)
    .map(({ type, data }): [string, number] => [type, data.sequence])
    .toSorted(([, a], [, b]) => a - b);
}

/** Seat operations as bookings call them. */
const seats = {
  claim: (id: string) =>
    app.container.db.transaction().execute((tx) => app.container.cohorts.seats.claim(tx, id)),
  release: (id: string) =>
    app.container.db.transaction().execute((tx) => app.container.cohorts.seats.release(tx, id)),
  take: (id: string) =>
    app.container.events.transaction((tx, append) => app.container.cohorts.seats.take({ tx, append }, id)),
  leave: (id: string) =>
    app.container.events.transaction((tx, append) => app.container.cohorts.seats.leave({ tx, append }, id)),
  async join(id: string) {
    assert.equal(await seats.claim(id), true);
    await seats.take(id);
  },
};

/** Returns an instant in the month of the start. */
const at = (day: number, time = '17:00') => `2027-02-${String(day).padStart(2, '0')}T${time}:00.000Z`;
const session = (day: number, from = '17:00', to = '18:00') => ({
  startsAt: at(day, from),
  endsAt: at(day, to),
});

test('a cohort is created with its defaults, read, updated and listed', async () => {
  const { key } = await app.createKey();
  const { productId, id, path, made } = await make(key);
  assert.deepEqual(made.at('data'), {
    ...{ id, productId, title: null, startsAt: START, endsAt: null, timezone: 'UTC', capacity: null },
    ...{ enrolledCount: 0, status: 'OPEN', enrollmentOpensAt: null, enrollmentClosesAt: null },
    ...{ sessions: [], videos: [], createdAt: NOW, updatedAt: NOW, canceledAt: null, mode: 'live' },
  });
  assert.deepEqual(await eventsOf(key, id), [['booking.cohort.opened', 1]]);
  const body = {
    ...{ title: 'Winter', startsAt: at(2), endsAt: at(20), timezone: 'Europe/Berlin', capacity: 8 },
    ...{ enrollmentOpensAt: '2027-01-10T00:00:00.000Z', enrollmentClosesAt: at(1) },
  };
  const changed = (await patch(key, path, body)).assertOk(200);
  const names = Object.keys(body);
  assert.deepEqual(Object.fromEntries(names.map((name) => [name, changed.at(`data.${name}`)])), body);
  assert.equal(changed.at('data.status'), 'SCHEDULED');
  assert.equal((await read(key, path)).text, changed.text);
  const bare = {
    title: null,
    endsAt: null,
    capacity: null,
    enrollmentOpensAt: null,
    enrollmentClosesAt: null,
  };
  const cleared = (await patch(key, path, bare)).assertOk(200);
  assert.deepEqual(
    Object.fromEntries(Object.keys(bare).map((name) => [name, cleared.at(`data.${name}`)])),
    bare,
  );
  const other = (await post(key, productId, { startsAt: at(5) })).assertOk(201).string('data.id');
  (await app.request('DELETE', `/booking/cohorts/${other}`, { key })).assertOk(200);
  const list = `/booking/products/${productId}/cohorts`;
  const ids = async (query: string) =>
    (await read(key, `${list}${query}`)).list('data').map((row) => Object(row).id);
  assert.deepEqual(await ids(''), [other, id]);
  assert.deepEqual(await ids('?status=OPEN,FULL'), [id]);
  const first = await read(key, `${list}?limit=1`);
  assert.deepEqual(await ids(`?limit=1&cursor=${first.string('pagination.nextCursor')}`), [id]);
  (await app.request('GET', `${list}?status=ENDED`, { key })).assertError('BAD_REQUEST', 'status');
});

test('only a COHORT product that is not archived has cohorts', async () => {
  const { key } = await app.createKey();
  for (const type of ['ONE_TO_ONE', 'LIVE_CLASS']) {
    (await post(key, await product(key, { type }), { startsAt: START })).assertError('CONFLICT');
  }
  const { productId } = await make(key);
  (await patch(key, `/booking/products/${productId}`, { type: 'LIVE_CLASS' })).assertError(
    'CONFLICT',
    'type',
  );
  (await app.request('POST', `/booking/products/${productId}/publish`, { key })).assertOk(200);
  await bookedOnce(app.container, productId);
  (await app.request('DELETE', `/booking/products/${productId}`, { key })).assertOk(200);
  (await post(key, productId, { startsAt: START })).assertError('CONFLICT');
});

test('cohorts of a never booked product are deleted with it and emit events', async () => {
  const { key } = await app.createKey();
  const { productId, id, path } = await make(key, { sessions: [session(1)], startsAt: at(1) });
  const over = (await post(key, productId, { startsAt: at(5) })).assertOk(201).string('data.id');
  (await app.request('DELETE', `/booking/cohorts/${over}`, { key })).assertOk(200);
  const gone = await app.request('DELETE', `/booking/products/${productId}`, { key });
  assert.equal(gone.assertOk(200).at('data.deleted'), true);
  (await app.request('GET', path, { key })).assertError('NOT_FOUND');
  for (const cohort of [id, over]) {
    assert.deepEqual(await eventsOf(key, cohort), [
      ['booking.cohort.opened', 1],
      ['booking.cohort.canceled', 2],
    ]);
  }
  // Its time is free again.
  await make(key, { sessions: [session(1)], startsAt: at(1) });
});

test('each field is accepted up to its limits and named beyond them', async () => {
  const { key } = await app.createKey();
  const productId = await product(key);
  const { path } = await make(key);
  const good: object[] = [
    { title: 'x' },
    { title: 'x'.repeat(200) },
    { startsAt: '2027-01-01T00:00:00.001Z' },
    { startsAt: '9998-12-31T23:59:59Z' },
    { startsAt: '2027-02-01T22:45:00+05:45' },
    { endsAt: '2027-02-01T17:00:00.001Z' },
    { capacity: 1 },
    { capacity: 1_000_000 },
    { enrollmentOpensAt: '1970-01-01T00:00:00Z', enrollmentClosesAt: START },
    { enrollmentOpensAt: '2027-02-01T16:59:59.999Z' },
    { timezone: 'Asia/Kathmandu' },
    { sessions: [] },
    { endsAt: at(1, '18:00'), sessions: [session(1)] },
  ];
  for (const body of good) {
    const made = (await post(key, productId, { startsAt: START, ...body })).assertOk(201);
    (await app.request('DELETE', `/booking/cohorts/${made.string('data.id')}`, { key })).assertOk(200);
  }
  const refused: [string, object][] = [
    ['startsAt', { startsAt: NOW }],
    ['startsAt', { startsAt: '2027-02-01' }],
    ['startsAt', { startsAt: '2027-02-01T17:00:00' }],
    ['startsAt', { startsAt: '2027-02-30T17:00:00Z' }],
    ['startsAt', { startsAt: '2027-02-01T24:00:01Z' }],
    ['startsAt', { startsAt: '9999-12-31T23:59:59Z' }],
    ['startsAt', { startsAt: 1_800_000_000 }],
    ['startsAt', { startsAt: null }],
    ['endsAt', { endsAt: START }],
    ['endsAt', { endsAt: '9999-01-01T00:00:00Z' }],
    ['title', { title: '' }],
    ['title', { title: ' ' }],
    ['title', { title: 'x'.repeat(201) }],
    ['timezone', { timezone: 'Mars/Olympus' }],
    ['timezone', { timezone: '+02:00' }],
    ['timezone', { timezone: null }],
    ['capacity', { capacity: 0 }],
    ['capacity', { capacity: 1_000_001 }],
    ['capacity', { capacity: 1.5 }],
    ['capacity', { capacity: '2' }],
    ['enrollmentOpensAt', { enrollmentOpensAt: START }],
    ['enrollmentOpensAt', { enrollmentOpensAt: '1969-12-31T23:59:59Z' }],
    ['enrollmentClosesAt', { enrollmentClosesAt: '2027-02-01T17:00:00.001Z' }],
    ['enrollmentClosesAt', { enrollmentOpensAt: at(1, '10:00'), enrollmentClosesAt: at(1, '10:00') }],
    ['sessions', { sessions: null }],
    ['sessions', { sessions: Array.from({ length: 201 }, () => session(1)) }],
    ['sessions.0', { sessions: ['2027-02-01'] }],
    ['sessions.0.endsAt', { sessions: [{ startsAt: START }] }],
    ['sessions.0.startsAt', { sessions: [{ startsAt: 'soon', endsAt: START }] }],
    ['sessions.0.endsAt', { sessions: [{ startsAt: START, endsAt: START }] }],
    ['sessions.0.startsAt', { sessions: [session(1, '16:59', '18:00')] }],
    ['sessions.1.endsAt', { endsAt: at(2, '18:00'), sessions: [session(1), session(2, '17:00', '18:01')] }],
    ['sessions.1.startsAt', { sessions: [session(1), session(1, '17:30', '18:30')] }],
    // The buffer of the product is 30 minutes.
    ['sessions.0.startsAt', { sessions: [session(1, '18:29', '19:00'), session(1)] }],
    ['sessions.0.endsAt', { sessions: [{ startsAt: START, endsAt: '9999-01-01T00:00:00Z' }] }],
    ['sessions.0.id', { sessions: [{ id: 'cse_01kafe3n4pfx2v9yq6m8d7t5zr', ...session(1) }] }],
  ];
  for (const [field, body] of refused) {
    (await post(key, productId, { startsAt: START, ...body })).assertError('BAD_REQUEST', field);
    (await patch(key, path, body)).assertError('BAD_REQUEST', field);
  }
  (await post(key, productId, {})).assertError('BAD_REQUEST', 'startsAt');
});

test('sessions take their times in the calendar atomically', async () => {
  const { key } = await app.createKey();
  const { path, made } = await make(key, {
    sessions: [session(2), session(1), session(1, '18:30', '19:00')],
  });
  const starts = (answer: typeof made) => answer.list('data.sessions').map((row) => Object(row).startsAt);
  assert.deepEqual(starts(made), [at(1), at(1, '18:30'), at(2)]);
  const other = await make(key);
  const taken = { sessions: [session(3), session(2, '18:29', '19:00')] };
  (await patch(key, other.path, taken)).assertError('CONFLICT', 'sessions.1.startsAt');
  (await post(key, other.productId, { startsAt: START, ...taken })).assertError(
    'CONFLICT',
    'sessions.1.startsAt',
  );
  assert.deepEqual(starts(await read(key, other.path)), []);
  // Two sessions swap, one is removed, one is added; moved sessions keep their IDs.
  const [one, , two] = made.list('data.sessions').map((row) => String(Object(row).id));
  const swapped = [{ id: one, ...session(2) }, { id: two, ...session(1) }, session(4)];
  const after = (await patch(key, path, { sessions: swapped })).assertOk(200);
  assert.deepEqual(starts(after), [at(1), at(2), at(4)]);
  assert.deepEqual(
    after
      .list('data.sessions')
      .slice(0, 2)
      .map((row) => Object(row).id),
    [two, one],
  );
  (
    await patch(key, path, {
      sessions: [
        { id: one, ...session(2) },
        { id: one, ...session(3) },
      ],
    })
  ).assertError('BAD_REQUEST', 'sessions.1.id');
  (await patch(key, path, { startsAt: at(1, '17:01') })).assertError('BAD_REQUEST', 'sessions.0.startsAt');
  // A canceled cohort frees its time.
  (await app.request('DELETE', path, { key })).assertOk(200);
  const free = (await patch(key, other.path, taken)).assertOk(200);
  assert.equal(free.list('data.sessions').length, 2);
  // Other creators have separate calendars.
  const stranger = await app.createKey();
  await make(stranger.key, taken);
});

test('videos are added once, in order, and removed', async () => {
  const { key } = await app.createKey();
  const { path } = await make(key);
  const video = async (of = key) =>
    (await app.request('POST', '/videos', { key: of, body: { title: 'A lesson' } }))
      .assertOk(201)
      .string('data.id');
  const add = (body: unknown) => app.request('POST', `${path}/videos`, { key, body });
  const [one, two] = [await video(), await video()];
  const first = (await add({ videoId: one })).assertOk(201);
  assert.deepEqual(first.at('data'), { id: first.at('data.id'), videoId: one, releaseAt: null, position: 0 });
  const second = (await add({ videoId: two, releaseAt: at(8), position: 7 })).assertOk(201);
  (await add({ videoId: one })).assertError('CONFLICT', 'videoId');
  (await add({ videoId: await video((await app.createKey()).key) })).assertError('NOT_FOUND', 'videoId');
  const third = (await add({ videoId: await video(), releaseAt: null })).assertOk(201);
  assert.equal(third.at('data.position'), 8);
  const refused: [string, object][] = [
    ['videoId', {}],
    ['videoId', { videoId: null }],
    ['videoId', { videoId: 'x'.repeat(65) }],
    ['releaseAt', { videoId: one, releaseAt: 'soon' }],
    ['position', { videoId: one, position: -1 }],
    ['position', { videoId: one, position: 1_000_000_001 }],
  ];
  for (const [field, body] of refused) (await add(body)).assertError('BAD_REQUEST', field);
  assert.deepEqual((await read(key, path)).at('data.videos.1'), second.at('data'));
  const { cohorts, db } = app.container;
  assert.deepEqual(await cohorts.showing(db, two), []);
  assert.equal((await cohorts.showing(db, one)).length, 1);
  const gone = `${path}/videos/${second.string('data.id')}`;
  (await app.request('DELETE', gone, { key })).assertOk(200);
  (await app.request('DELETE', gone, { key })).assertError('NOT_FOUND');
  (await app.request('DELETE', `/videos/${one}`, { key })).assertOk(200);
  assert.equal((await read(key, path)).list('data.videos').length, 1);
  const other = await make(key);
  const elsewhere = `${other.path}/videos/${third.string('data.id')}`;
  (await app.request('DELETE', elsewhere, { key })).assertError('NOT_FOUND');
});

test('the last seat goes to one buyer, and a free one opens the cohort again', async () => {
  const { key } = await app.createKey();
  const { id, path, productId } = await make(key);
  await seats.join(id);
  const claimed = await Promise.all(Array.from({ length: 20 }, () => seats.claim(id)));
  assert.equal(claimed.filter(Boolean).length, 1);
  assert.equal((await read(key, path)).at('data.status'), 'OPEN');
  (await patch(key, path, { capacity: 1 })).assertError('CONFLICT', 'capacity');
  await seats.release(id);
  await seats.join(id);
  const full = await read(key, path);
  assert.deepEqual([full.at('data.status'), full.at('data.enrolledCount')], ['FULL', 2]);
  (await patch(key, path, { capacity: 1 })).assertError('BAD_REQUEST', 'capacity');
  assert.equal(await seats.claim(id), false);
  // The product's capacity applies until the cohort sets its own.
  (await patch(key, `/booking/products/${productId}`, { capacity: 3 })).assertOk(200);
  assert.equal((await read(key, path)).at('data.status'), 'OPEN');
  (await patch(key, path, { capacity: 2 })).assertOk(200);
  await seats.leave(id);
  assert.deepEqual(
    (await eventsOf(key, id)).map(([type]) => type.slice('booking.cohort.'.length)),
    ['opened', 'full', 'opened', 'full', 'opened'],
  );
});

test('time moves a cohort through its states with one event each, and a canceled one stays canceled', async () => {
  const { key } = await app.createKey();
  const opens = '2027-01-10T00:00:00Z';
  const { id, path } = await make(key, { enrollmentOpensAt: opens, enrollmentClosesAt: at(1, '12:00') });
  const canceled = await make(key, { sessions: [session(10)] });
  const statusAt = async (time: string) => {
    clock.set(time);
    await runTask(app.container, 'cohorts');
    return (await read(key, path)).at('data.status');
  };
  assert.deepEqual(await eventsOf(key, id), []);
  assert.equal(await seats.claim(id), false);
  assert.equal(await statusAt('2027-01-09T23:59:59.999Z'), 'SCHEDULED');
  assert.equal(await statusAt(opens), 'OPEN');
  await seats.join(id);
  const gone = (await app.request('DELETE', canceled.path, { key })).assertOk(200);
  assert.deepEqual(
    [gone.at('data.status'), gone.at('data.canceledAt')],
    ['CANCELED', '2027-01-10T00:00:00.000Z'],
  );
  assert.equal((await app.request('DELETE', canceled.path, { key })).assertOk(200).text, gone.text);
  assert.equal(await seats.claim(canceled.id), false);
  (await patch(key, canceled.path, { title: 'Other' })).assertError('CONFLICT');
  clock.set(at(1, '12:00'));
  assert.equal(await seats.claim(id), false);
  // This holds before a sweep has processed the start.
  clock.set(START);
  (await patch(key, path, { startsAt: at(20) })).assertError('CONFLICT', 'startsAt');
  assert.equal(await statusAt(START), 'RUNNING');
  (await app.request('DELETE', path, { key })).assertError('CONFLICT');
  (await patch(key, path, { startsAt: at(20) })).assertError('CONFLICT', 'startsAt');
  (await patch(key, path, { title: 'Begun', sessions: [session(3)] })).assertOk(200);
  assert.equal(await statusAt(at(3, '17:59')), 'RUNNING');
  assert.equal(await statusAt(at(3, '18:00')), 'COMPLETED');
  (await patch(key, path, { title: 'Over' })).assertError('CONFLICT');
  assert.equal(await statusAt(at(20)), 'COMPLETED');
  assert.deepEqual(await eventsOf(key, id), [
    ['booking.cohort.opened', 1],
    ['booking.cohort.started', 2],
    ['booking.cohort.rescheduled', 3],
    ['booking.cohort.completed', 4],
  ]);
  assert.deepEqual(
    (await eventsOf(key, canceled.id)).map(([type]) => type),
    ['booking.cohort.opened', 'booking.cohort.canceled'],
  );
  clock.set(NOW);
});

test('reads and writes need their permissions', async () => {
  const account = await app.createAccount();
  const owner = (await app.createKey({ account })).key;
  const { path, productId } = await make(owner);
  const reader = (await app.createKey({ account, scope: 'STANDARD', permissions: ['booking:read'] })).key;
  await read(reader, path);
  (await post(reader, productId, { startsAt: START })).assertError('PERMISSION_DENIED');
  (await patch(reader, path, {})).assertError('PERMISSION_DENIED');
  (await app.request('DELETE', path, { key: reader })).assertError('PERMISSION_DENIED');
  const answer = await app.request('GET', `${path}/videos`, { key: owner });
  assert.equal(answer.assertError('METHOD_NOT_ALLOWED').headers.allow, 'POST');
});
