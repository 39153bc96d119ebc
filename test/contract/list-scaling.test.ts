import assert from 'node:assert/strict';
import { after, before, mock, test } from 'node:test';
import { CASES, type Case, gathersMatches } from '../../bench/support/growth-cases.ts';
import { ROWS, rowsOf } from '../../bench/support/growth-lists.ts';
import { insertParents, insertRows, prepareRows } from '../../bench/support/growth-rows.ts';
import { startTestApp, type TestApp } from '../harness/app.ts';
import { readOperations } from './document.ts';

/** Rows of the large workspace and of the small one, in the same tables. */
const MANY = 6000;
const FEW = 400;
/** 1,000 of the newest, or a page of each of 36 pairs of values. */
const MAX_ROWS_READ = 1500;

let app: TestApp;
/** API key of the large workspace. */
let key: string;
let keyOfSmall: string;

before(async () => {
  app = await startTestApp();
  const { sql } = app.container;
  await prepareRows(sql);
  const workspaces = [];
  for (const [letter, count] of [
    ['a', MANY],
    ['b', FEW],
  ] as const) {
    const made = await app.createKey({ rateLimitPerMinute: 1_000_000 });
    if (letter === 'a') key = made.key;
    else keyOfSmall = made.key;
    await insertParents(sql, { id: made.account.live, letter });
    workspaces.push({ id: made.account.live, letter, count });
  }
  for (const rows of ROWS) await insertRows(sql, rows, workspaces);
});
after(() => app.close());

interface Node {
  'Relation Name'?: string;
  'Actual Rows'?: number;
  'Actual Loops'?: number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  Plans?: Node[];
}

interface Explained {
  'QUERY PLAN': { Plan: Node }[];
}

/** Returns the rows of these tables, or of their partitions, that a plan has read. */
function rowsRead(node: Node, tables: readonly string[]): number {
  const inner = (node.Plans ?? []).reduce((sum, plan) => sum + rowsRead(plan, tables), 0);
  const name = node['Relation Name']?.replace(/_(default|\d{8})$/, '') ?? '';
  if (!tables.includes(name)) return inner;
  const { 'Actual Loops': loops = 0, 'Actual Rows': shown = 0 } = node;
  const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0);
  return inner + loops * (shown + removed);
}

/** Returns the statements that a request executes on these tables. */
async function statementsOf(path: string, by: string, tables: readonly string[]) {
  const spy = mock.method(app.container.sql, 'unsafe');
  (await app.request('GET', path, { key: by })).assertOk(200);
  const statements = spy.mock.calls.map(({ arguments: [text, parameters] }) => ({ text, parameters }));
  spy.mock.restore();
  const ofTables = statements.filter(({ text }) => new RegExp(`from "?(${tables.join('|')})\\b`).test(text));
  assert.ok(ofTables.length > 0, `${path} reads ${tables}`);
  return ofTables;
}

/**
 * Returns the number of rows that the list reads from its tables, by the plans of its statements, and the
 * statements.
 */
async function readBy({ name, query }: Case): Promise<{ read: number; by: string[] }> {
  const { sql } = app.container;
  const tables = rowsOf(name).map(({ table }) => table);
  const ofTables = await statementsOf(query('a'), key, tables);
  let read = 0;
  const by: string[] = [];
  for (const { text, parameters } of ofTables) {
    await sql.begin(async (tx) => {
      // Simulates a table too large to be read completely.
      await tx`set local enable_seqscan = off`;
      const [row] = await tx.unsafe<Explained[]>(`explain (analyze, format json) ${text}`, parameters);
      const one = rowsRead(row?.['QUERY PLAN'][0]?.Plan ?? {}, tables);
      read += one;
      if (one > 0) by.push(`${one} by ${text}`);
    });
  }
  return { read, by };
}

for (const one of CASES.filter(({ isDeep }) => isDeep !== true)) {
  test(`GET ${one.name}`, async () => {
    const { read, by } = await readBy(one);
    const maxRead = gathersMatches(one.name) ? MANY + MAX_ROWS_READ : MAX_ROWS_READ;
    assert.ok(read < maxRead, `${read} rows are read: ${by.join('; ')}`);
  });
}

for (const table of ['video', 'stream']) {
  test(`the plan of ${table}s for every workspace reads no rows of others`, async () => {
    const { sql } = app.container;
    await sql.unsafe(`vacuum analyze ${table}`);
    const [one] = await statementsOf(`/${table}s?limit=25`, keyOfSmall, [table]);
    assert.ok(one !== undefined);
    const values = (one.parameters ?? []).map((value) => (typeof value === 'number' ? value : `'${value}'`));
    await sql.begin(async (tx) => {
      await tx`set local plan_cache_mode = force_generic_plan`;
      // Simulates a table whose rows are far apart on disk.
      await tx`set local random_page_cost = 8`;
      await tx.unsafe(`prepare list_of_${table}s as ${one.text}`);
      const [row] = await tx.unsafe<Explained[]>(
        `explain (analyze, format json) execute list_of_${table}s (${values.join(', ')})`,
      );
      const read = rowsRead(row?.['QUERY PLAN'][0]?.Plan ?? {}, [table]);
      assert.ok(read <= 2 * 26, `${read} rows are read`);
    });
  });
}

const OF_EVERY_LIST = ['limit', 'cursor', 'order', 'createdAfter', 'createdBefore'];
/** Lists or filters with at most some hundreds of rows, or that read the same as another one. */
const SHORT: Readonly<Record<string, string>> = {
  '/changelog': 'a line for each release',
  '/channels': 'those of the platform, by a name that one has',
  '/booking/products': 'made by hand, one by one',
  '/booking/products/{productId}/cohorts': 'made by hand, one by one',
  '/team/invitations': 'people of a team',
  '/rooms/{id}/participants': 'people of a call',
  '/admin/mails': 'those of some days, and no filter',
  '/admin/tickets': 'by the same function as those of one account',
  '/videos/{id}/purchases': 'by the same function as /purchases',
  '/upload': 'as /rooms; its rows have addresses that only the platform can encrypt',
  '/usage/requests': 'a row for each key and day',
};

test('there is a case for every filter of every list', async () => {
  const lists = (await readOperations(app)).filter(
    ({ method, queryParameters }) =>
      method === 'get' && queryParameters.some(({ name }) => name === 'cursor'),
  );
  const missing = lists.flatMap(({ path, queryParameters }) => {
    const address = new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}\\?`);
    const queries = CASES.map(({ query }) => query('a')).filter((query) => address.test(query));
    return queryParameters
      .filter(
        ({ name }) => !OF_EVERY_LIST.includes(name) && !queries.some((query) => query.includes(`&${name}=`)),
      )
      .map(({ name }) => `${path} ${name}`);
  });
  assert.deepEqual(
    missing.filter((one) => SHORT[one.split(' ')[0] ?? ''] === undefined),
    [],
  );
});
