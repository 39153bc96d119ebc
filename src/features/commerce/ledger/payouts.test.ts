import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';

let app: TestApp;
let key: string;
let workspaceId: string;
const PAYOUTS = 900;

/** Payouts made by a provider have its times, in another order than that of their arrival here. */
before(async () => {
  app = await startTestApp();
  const made = await app.createKey();
  ({ key } = made);
  workspaceId = made.account.live;
  await app.container.sql`
    insert into payout (id, workspace_id, provider, provider_ref, amount_cents, status, created_at)
    select 'pyo_01' || lpad((n * 97)::text, 5, '0') || lpad(n::text, 19, '0'), ${workspaceId}, 'STRIPE', 'po_' || n, 1000,
      case when n % 9 = 0 then 'FAILED' else 'PAID' end,
      '2026-01-01T00:00:00Z'::timestamptz + n * 7919 % 1800 * interval '2 hours'
    from generate_series(1, ${PAYOUTS}::integer) n`;
});
after(() => app.close());

async function list(query: string): Promise<string[]> {
  const ids: string[] = [];
  let cursor = '';
  do {
    const page = (await app.request('GET', `/me/payouts?limit=90&${query}${cursor}`, { key })).assertOk(200);
    ids.push(...page.list('data').map((_, index) => page.string(`data.${index}.id`)));
    cursor = page.at('pagination.hasMore') === true ? `&cursor=${page.string('pagination.nextCursor')}` : '';
  } while (cursor !== '');
  return ids;
}

for (const [from, to, status] of [
  ['2026-01-15T06:30:00Z', '2026-03-15T17:45:00Z', 'PAID'],
  ['2026-02-28T01:00:00Z', '2026-03-02T00:00:00Z', 'PAID,FAILED'],
  ['0001-01-01T00:00:00Z', '2026-04-01T00:00:00Z', 'FAILED'],
  ['2026-03-01T00:00:00Z', '9999-12-31T00:00:00Z', 'PAID,FAILED'],
] as const) {
  test(`payouts of ${status} from ${from} to ${to}, on all pages in both orders`, async () => {
    const rows = await app.container.sql<{ id: string }[]>`
      select id from payout where workspace_id = ${workspaceId} and created_at > ${from}::text::timestamptz
        and created_at < ${to}::text::timestamptz and status = any(${status.split(',')}) order by id desc`;
    const ids = rows.map(({ id }) => id);
    assert.ok(ids.length > 0);
    const query = `status=${status}&createdAfter=${from}&createdBefore=${to}`;
    assert.deepEqual(await list(query), ids);
    assert.deepEqual(await list(`${query}&order=asc`), ids.toReversed());
  });
}
