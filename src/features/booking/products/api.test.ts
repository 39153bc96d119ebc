import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { bookedOnce } from '../../../../test/booking/rows.ts';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';

let app: TestApp;
before(async () => {
  app = await startTestApp();
});
after(() => app.close());

const COACHING = { title: 'An hour of coaching', type: 'ONE_TO_ONE', priceCents: 5000 };
const WINDOWS = { weeklyJson: { mon: [{ start: '09:00', end: '12:00' }] } };

async function make(key: string, body: object = COACHING) {
  return (await app.request('POST', '/booking/products', { key, body })).assertOk(201);
}

async function eventsOf(key: string) {
  const rows = (await app.request('GET', '/me/events?order=asc', { key })).assertOk(200).list('data');
  return rows.map((row) => Object(row)).filter(({ type }) => String(type).startsWith('booking.product.'));
}

const book = (id: string) => bookedOnce(app.container, id);

test('a product is created with its defaults, read, updated and emits events', async () => {
  const { key } = await app.createKey();
  const made = await make(key);
  const id = made.string('data.id');
  const { createdAt, ...data } = Object(made.at('data'));
  assert.deepEqual(data, {
    id,
    ...COACHING,
    description: null,
    thumbnailUrl: null,
    durationMin: 60,
    bufferMin: 0,
    capacity: 1,
    currency: 'USD',
    recordable: false,
    replayAccessDays: 30,
    refundPolicyDays: 0,
    intakeFields: null,
    slug: null,
    status: 'DRAFT',
    url: null,
    bookingCount: 0,
    updatedAt: createdAt,
    publishedAt: null,
    archivedAt: null,
    mode: 'live',
  });
  const body = {
    ...{ title: 'Two hours', type: 'LIVE_CLASS', priceCents: 0, description: 'Bring a question.' },
    ...{ thumbnailUrl: 'https://example.com/a.jpg', durationMin: 120, bufferMin: 15, capacity: 8 },
    ...{ currency: 'USD', recordable: true, replayAccessDays: 7, refundPolicyDays: 2, slug: 'two-hours' },
    intakeFields: [
      { key: 'level', label: 'Your level', type: 'SELECT', required: true, options: ['New', 'Old'] },
      { key: 'wish', label: 'A wish', type: 'LONGTEXT', required: false },
    ],
  };
  const path = `/booking/products/${id}`;
  const changed = (await app.request('PATCH', path, { key, body })).assertOk(200);
  const names = Object.keys(body);
  assert.deepEqual(Object.fromEntries(names.map((name) => [name, changed.at(`data.${name}`)])), body);
  assert.equal((await app.request('GET', path, { key })).assertOk(200).text, changed.text);
  const same = (await app.request('PATCH', path, { key, body: { ...body, unknown: 1 } })).assertOk(200);
  assert.equal(same.string('data.updatedAt'), changed.string('data.updatedAt'));
  const cleared = { description: null, thumbnailUrl: null, intakeFields: null, slug: null };
  const bare = (await app.request('PATCH', path, { key, body: cleared })).assertOk(200);
  assert.deepEqual([bare.at('data.intakeFields'), bare.at('data.slug')], [null, null]);
  const events = await eventsOf(key);
  assert.deepEqual(
    events.map(({ type, data: { sequence } }) => [type, sequence]),
    [
      ['booking.product.created', 1],
      ['booking.product.updated', 2],
      ['booking.product.updated', 3],
    ],
  );
  assert.deepEqual(events[1]?.data.changes.priceCents, { from: 5000, to: 0 });
  assert.equal(events[1]?.data.changes.currency, undefined);
});

const field = { key: 'goal', label: 'Goal', type: 'TEXT', required: true };
const select = { ...field, type: 'SELECT' };
const fields = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ ...field, key: `k${index}` }));
const options = (count: number) => Array.from({ length: count }, (_, index) => `option ${index}`);

/** Values of each field: accepted at the limits, and rejected beyond them with the name in `error.field`. */
const RULES: [name: string, good: unknown[], bad: [value: unknown, field?: string][]][] = [
  ['title', ['x', 'x'.repeat(200)], [[''], ['  '], ['x'.repeat(201)], [5], [null]]],
  ['type', ['ONE_TO_ONE', 'LIVE_CLASS', 'COHORT'], [['one_to_one'], ['WEBINAR'], [1], [null]]],
  ['priceCents', [0, 1, 99_999_999], [[-1], [1.5], ['100'], [100_000_000], [null]]],
  ['description', ['', 'x'.repeat(2000), null], [['x'.repeat(2001)], [5]]],
  [
    'thumbnailUrl',
    ['http://example.com/', 'https://example.com/a b.png', null],
    [
      ['nowhere'],
      [''],
      ['javascript:alert(1)'],
      ['data:image/png;base64,'],
      [`https://example.com/${'x'.repeat(2048)}`],
      [5],
    ],
  ],
  ['durationMin', [1, 600], [[0], [601], [1.5], ['60'], [null]]],
  ['bufferMin', [0, 525_600], [[-1], [525_601], ['0'], [null]]],
  ['capacity', [1, 1_000_000], [[0], [1_000_001], [2.5], [null]]],
  ['currency', ['USD'], [['EUR'], ['usd'], [null]]],
  ['recordable', [true, false], [['true'], [1], [null]]],
  ['replayAccessDays', [0, 36_500], [[-1], [36_501], [null]]],
  ['refundPolicyDays', [0, 36_500], [[-1], [36_501], [null]]],
  [
    'slug',
    ['a', '-', 'a-1', 'x'.repeat(100), null],
    [[''], ['A'], ['a b'], ['ä'], ['a_b'], ['a\n'], ['x'.repeat(101)], [5]],
  ],
  [
    'intakeFields',
    [
      null,
      [],
      fields(20),
      [{ ...field, key: 'x'.repeat(64), label: 'x'.repeat(200) }],
      [{ ...select, options: options(50) }],
    ],
    [
      [fields(21)],
      ['none'],
      [[5], '0'],
      [[{ ...field, key: '' }], '0.key'],
      [[{ ...field, key: 'x'.repeat(65) }], '0.key'],
      [[{ ...field, key: '__proto__' }], '0.key'],
      [[field, field], '1.key'],
      [[{ ...field, label: ' ' }], '0.label'],
      [[{ ...field, label: 'x'.repeat(201) }], '0.label'],
      [[{ ...field, type: 'DATE' }], '0.type'],
      [[{ ...field, required: 'yes' }], '0.required'],
      [[{ key: 'goal', label: 'Goal', type: 'TEXT' }], '0.required'],
      [[select], '0.options'],
      [[{ ...select, options: [] }], '0.options'],
      [[{ ...select, options: options(51) }], '0.options'],
      [[{ ...select, options: ['a', 'a'] }], '0.options'],
      [[{ ...select, options: [5] }], '0.options.0'],
      [[{ ...field, options: ['a'] }], '0.options'],
    ],
  ],
];

test('each field is accepted up to its limits and named beyond them, on create and on update', async () => {
  const { key } = await app.createKey();
  for (const [name, good, bad] of RULES) {
    const id = (await make(key)).string('data.id');
    const calls: [string, string, object][] = [
      ['POST', '/booking/products', COACHING],
      ['PATCH', `/booking/products/${id}`, {}],
    ];
    for (const [method, path, base] of calls) {
      for (const value of good) {
        const answer = await app.request(method, path, { key, body: { ...base, [name]: value } });
        assert.ok(answer.status < 300, `${name} ${JSON.stringify(value)}: ${answer.text}`);
        assert.deepEqual(answer.at(`data.${name}`), value);
        // Deleting the product frees its slug.
        if (method === 'POST') await app.request('DELETE', `${path}/${answer.string('data.id')}`, { key });
      }
      for (const [value, inner] of bad) {
        const answer = await app.request(method, path, { key, body: { ...base, [name]: value } });
        answer.assertError('BAD_REQUEST', inner === undefined ? name : `${name}.${inner}`);
      }
    }
  }
  for (const name of ['title', 'type', 'priceCents']) {
    const body = { ...COACHING, [name]: undefined };
    (await app.request('POST', '/booking/products', { key, body })).assertError('BAD_REQUEST', name);
  }
  (await app.request('POST', '/booking/products', { key, body: [] })).assertError('BAD_REQUEST', 'body');
});

test('a slug is unique among the products of a workspace', async () => {
  const { key, account } = await app.createKey();
  const id = (await make(key, { ...COACHING, slug: 'coaching' })).string('data.id');
  const other = (await make(key)).string('data.id');
  const again = { key, body: { ...COACHING, slug: 'coaching' } };
  (await app.request('POST', '/booking/products', again)).assertError('CONFLICT', 'slug');
  (await app.request('PATCH', `/booking/products/${other}`, again)).assertError('CONFLICT', 'slug');
  (await app.request('PATCH', `/booking/products/${id}`, again)).assertOk(200);
  await make((await app.createKey({ account, mode: 'test' })).key, again.body);
  await make((await app.createKey()).key, again.body);
  await book(id);
  (await app.request('DELETE', `/booking/products/${id}`, { key })).assertOk(200);
  await make(key, again.body);
});

test('publishing needs something to book, and only a published product has a page URL', async () => {
  const { key, account } = await app.createKey({ mode: 'test' });
  const post = (id: string, verb: string) => app.request('POST', `/booking/products/${id}/${verb}`, { key });
  const hour = (await make(key, { ...COACHING, slug: 'coaching' })).string('data.id');
  (await post(hour, 'publish')).assertError('BAD_REQUEST', 'availability');
  const empty = { weeklyJson: { mon: [] } };
  (await app.request('PUT', '/booking/availability', { key, body: empty })).assertOk(200);
  (await post(hour, 'publish')).assertError('BAD_REQUEST', 'availability');
  const course = (await make(key, { ...COACHING, type: 'COHORT' })).string('data.id');
  (await post(course, 'publish')).assertError('BAD_REQUEST', 'cohorts');
  const group = (await make(key, { ...COACHING, type: 'LIVE_CLASS' })).string('data.id');
  const open = (await post(group, 'publish')).assertOk(200);
  assert.equal(open.string('data.url'), `http://marquee.test/book/${account.id}/test/${group}`);
  const toHour = { key, body: { type: 'ONE_TO_ONE' } };
  (await app.request('PATCH', `/booking/products/${group}`, toHour)).assertError(
    'BAD_REQUEST',
    'availability',
  );
  (await app.request('PUT', '/booking/availability', { key, body: WINDOWS })).assertOk(200);
  const published = (await post(hour, 'publish')).assertOk(200);
  assert.equal(published.string('data.url'), `http://marquee.test/book/${account.id}/test/coaching`);
  assert.equal(published.at('data.status'), 'PUBLISHED');
  assert.equal((await post(hour, 'publish')).assertOk(200).text, published.text);
  const draft = (await post(hour, 'unpublish')).assertOk(200);
  assert.deepEqual([draft.at('data.status'), draft.at('data.url')], ['DRAFT', null]);
  assert.equal(draft.at('data.publishedAt'), published.at('data.publishedAt'));
  assert.equal((await post(hour, 'unpublish')).assertOk(200).text, draft.text);
  const told = (await eventsOf(key)).filter(({ data }) => data.productId === hour);
  assert.deepEqual(
    told.map(({ type, data }) => [type, data.status, data.sequence]),
    [
      ['booking.product.created', 'DRAFT', 1],
      ['booking.product.published', 'PUBLISHED', 2],
      ['booking.product.unpublished', 'DRAFT', 3],
    ],
  );
});

test('a product that was never booked is deleted, and a booked one is archived and stays unchanged', async () => {
  const { key } = await app.createKey();
  const unused = (await make(key)).string('data.id');
  const gone = (await app.request('DELETE', `/booking/products/${unused}`, { key })).assertOk(200);
  assert.deepEqual(gone.at('data'), { id: unused, deleted: true });
  (await app.request('GET', `/booking/products/${unused}`, { key })).assertError('NOT_FOUND');
  const id = (await make(key)).string('data.id');
  await book(id);
  const path = `/booking/products/${id}`;
  const other = { key, body: { type: 'COHORT' } };
  (await app.request('PATCH', path, other)).assertError('CONFLICT', 'type');
  (await app.request('PATCH', path, { key, body: { type: 'ONE_TO_ONE', title: 'Same' } })).assertOk(200);
  const archived = (await app.request('DELETE', path, { key })).assertOk(200);
  assert.deepEqual([archived.at('data.status'), archived.at('data.bookingCount')], ['ARCHIVED', 1]);
  assert.equal((await app.request('DELETE', path, { key })).assertOk(200).text, archived.text);
  (await app.request('PATCH', path, { key, body: { title: 'Other' } })).assertError('CONFLICT');
  (await app.request('POST', `${path}/publish`, { key })).assertError('CONFLICT');
  (await app.request('POST', `${path}/unpublish`, { key })).assertError('CONFLICT');
  const statuses = (await eventsOf(key))
    .filter(({ type }) => type === 'booking.product.deleted')
    .map(({ data }) => data.status);
  assert.deepEqual(statuses, ['DRAFT', 'ARCHIVED']);
  const listed = async (query: string) =>
    (await app.request('GET', `/booking/products${query}`, { key })).assertOk(200).list('data').length;
  await make(key, { ...COACHING, type: 'COHORT' });
  assert.deepEqual(
    [await listed(''), await listed('?status=ARCHIVED'), await listed('?status=DRAFT,PUBLISHED&type=COHORT')],
    [2, 1, 1],
  );
  for (const name of ['status', 'type']) {
    (await app.request('GET', `/booking/products?${name}=OTHER`, { key })).assertError('BAD_REQUEST', name);
  }
});

test('reads and writes need their permissions, and other methods do not exist', async () => {
  const account = await app.createAccount();
  const owner = (await app.createKey({ account })).key;
  const id = (await make(owner)).string('data.id');
  const reader = (await app.createKey({ account, scope: 'STANDARD', permissions: ['booking:read'] })).key;
  const other = (await app.createKey({ account, scope: 'STANDARD', permissions: ['videos:write'] })).key;
  for (const path of ['/booking/products', `/booking/products/${id}`, '/booking/availability']) {
    (await app.request('GET', path, { key: reader })).assertOk(200);
    (await app.request('GET', path, { key: other })).assertError('PERMISSION_DENIED');
  }
  const writes: [string, string, object?][] = [
    ['POST', '/booking/products', COACHING],
    ['PATCH', `/booking/products/${id}`, {}],
    ['DELETE', `/booking/products/${id}`],
    ['POST', `/booking/products/${id}/publish`],
    ['POST', `/booking/products/${id}/unpublish`],
    ['PUT', '/booking/availability', WINDOWS],
  ];
  for (const [method, path, body] of writes) {
    const answer = await app.request(method, path, { key: reader, ...(body === undefined ? {} : { body }) });
    answer.assertError('PERMISSION_DENIED');
  }
  const allowed = async (method: string, path: string) =>
    (await app.request(method, path, { key: owner })).assertError('METHOD_NOT_ALLOWED').headers.allow;
  assert.equal(await allowed('DELETE', '/booking/products'), 'POST, GET');
  assert.equal(await allowed('POST', '/booking/availability'), 'GET, PUT');
});
