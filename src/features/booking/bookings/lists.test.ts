import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';

let app: TestApp;
/** API key of the creator of the bookings. */
let key: string;
let workspaceId: string;
before(async () => {
  app = await startTestApp();
  const made = await app.createKey({ rateLimitPerMinute: 1_000_000 });
  key = made.key;
  workspaceId = made.account.live;
  await insertBookings();
});
after(() => app.close());

const BOOKINGS = 900;

/**
 * Inserts bookings in another order than they begin, some on a shared day or month, some with a cohort. Their
 * IDs cover one year.
 */
async function insertBookings(): Promise<void> {
  await app.container.sql.begin(async (tx) => {
    await tx`set local session_replication_role = replica`;
    await tx`insert into cohort (id, workspace_id, product_id, starts_at, timezone, status, created_at, updated_at)
      select 'coh_' || n, ${workspaceId}, 'bkp_1', '2026-01-20T12:00:00Z'::timestamptz + n * interval '1 month', 'UTC',
        'OPEN', now(), now() from generate_series(0, 2) n`;
    await tx`insert into booking (id, workspace_id, product_id, type, cohort_id, status, starts_at, ends_at, timezone,
        customer_name, customer_email, amount_cents, created_at, updated_at)
      select 'bkg_01' || lpad((n * 97)::text, 5, '0') || lpad(n::text, 19, '0'), ${workspaceId},
        'bkp_' || case when is_member or n % 3 > 0 then 1 else 2 end, case when is_member then 'COHORT' else 'ONE_TO_ONE' end,
        case when is_member then 'coh_' || n % 3 end,
        case n % 7 when 0 then 'CONFIRMED' when 1 then 'EXPIRED' else 'COMPLETED' end,
        case when not is_member then '2026-01-01T00:00:00Z'::timestamptz + n * 7919 % 1800 * interval '2 hours' end, null,
        'UTC', 'Ada', case when n % 10 < 7 then 'ada' else 'bob' end || '@example.com', 0, now(), now()
      from generate_series(1, ${BOOKINGS}::integer) n, lateral (select n % 20 = 0) of (is_member)`;
  });
}

/** Returns every page of the list. */
async function list(query: string): Promise<string[]> {
  const ids: string[] = [];
  let cursor = '';
  for (;;) {
    const path = `/booking/bookings?limit=90&${query}${cursor}`;
    const page = (await app.request('GET', path, { key })).assertOk(200);
    ids.push(...page.list('data').map((_, index) => page.string(`data.${index}.id`)));
    if (page.at('pagination.hasMore') !== true) return ids;
    cursor = `&cursor=${page.string('pagination.nextCursor')}`;
  }
}

interface Span {
  from?: string;
  to?: string;
  status?: string;
  productId?: string;
  cohortId?: string;
  customerEmail?: string;
}

async function expected({ from, to, status, productId, cohortId, customerEmail }: Span): Promise<string[]> {
  const rows = await app.container.sql<{ id: string }[]>`
    select booking.id from booking left join cohort on cohort.id = cohort_id
    where booking.workspace_id = ${workspaceId}
      and coalesce(booking.starts_at, cohort.starts_at) >= ${from ?? '-infinity'}::text::timestamptz
      and coalesce(booking.starts_at, cohort.starts_at) < ${to ?? 'infinity'}::text::timestamptz
      and (${status ?? null}::text is null or booking.status = ${status ?? null})
      and (${productId ?? null}::text is null or booking.product_id = ${productId ?? null})
      and (${cohortId ?? null}::text is null or booking.cohort_id = ${cohortId ?? null})
      and (${customerEmail ?? null}::text is null or booking.customer_email = ${customerEmail ?? null})
    order by booking.id desc`;
  return rows.map(({ id }) => id);
}

const SPANS: readonly Span[] = [
  ...[{ from: '2026-01-01T00:00:00Z' }, { to: '2026-03-01T00:00:00Z' }, { from: '2026-05-30T01:00:00Z' }],
  ...[
    { from: '2026-02-01T00:00:00Z', to: '2026-04-01T00:00:00Z' },
    { from: '2026-01-31T23:00:00Z', to: '2026-04-01T01:00:00Z' },
    { from: '2026-01-15T06:30:00Z', to: '2026-03-15T17:45:00Z' },
    { from: '2026-02-10T00:00:00Z', to: '2026-02-20T00:00:00Z' },
    { from: '2026-02-10T05:00:00Z', to: '2026-02-10T15:00:00Z' },
    { from: '2026-02-10T22:00:00Z', to: '2026-02-11T06:00:00Z' },
    { from: '2026-02-28T22:00:00Z', to: '2026-03-01T00:00:00Z' },
    { from: '2026-03-01T00:00:00Z', to: '2026-02-01T00:00:00Z' },
    { from: '0001-01-01T00:00:00Z', to: '9999-12-31T00:00:00Z' },
  ],
  { from: '2026-01-10T10:00:00Z', to: '2026-04-20T10:00:00Z', status: 'EXPIRED' },
];

/** Filters for one product, cohort or customer. */
const OF_ONE: readonly Span[] = [
  { productId: 'bkp_1' },
  { productId: 'bkp_2', status: 'COMPLETED' },
  { customerEmail: 'ada@example.com' },
  { customerEmail: 'bob@example.com', productId: 'bkp_1' },
  { cohortId: 'coh_1' },
].flatMap((one) => [SPANS[0], SPANS[5], SPANS[6], SPANS[11]].map((span) => ({ ...span, ...one })));

for (const span of [...SPANS, ...OF_ONE]) {
  const query = new URLSearchParams({ ...span }).toString();
  test(`bookings by ${query}`, async () => {
    const ids = await expected(span);
    assert.deepEqual(await list(query), ids);
    assert.deepEqual(await list(`${query}&order=asc`), ids.toReversed());
  });
}

test('the test data has bookings outside of most ranges', async () => {
  assert.equal((await expected({})).length, BOOKINGS);
  assert.ok(
    (await expected({ from: '2026-01-15T00:00:00Z', to: '2026-03-01T00:00:00Z' })).length < BOOKINGS / 2,
  );
  assert.ok((await expected({ from: '2026-05-01T00:00:00Z' })).length > 0);
});

test('an account without bookings has none in any range', async () => {
  const { key: other } = await app.createKey();
  const path = '/booking/bookings?from=0001-01-01T00:00:00Z&to=9999-12-31T00:00:00Z';
  const page = (await app.request('GET', path, { key: other })).assertOk(200);
  assert.equal(page.list('data').length, 0);
});
