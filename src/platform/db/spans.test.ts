import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { sql } from 'kysely';
import { TestClock } from '../../../test/harness/clock.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/harness/database.ts';
import { newId } from '../../kernel/ids.ts';
import type { PageRequest } from '../../kernel/page.ts';
import { pageCondition, plannedWithValues } from './page.ts';
import { hasPart, likePart, pageBySpans } from './spans.ts';

const COUNT = 12_000;
const MINUTE = 60_000;
/** What a title may have in it: of the row with this number from the oldest on. */
const WORDS: Readonly<Record<string, (n: number) => boolean>> = {
  nearly: (n) => n % 11 > 0,
  older: (n) => n < COUNT / 2,
  oldest: (n) => n < COUNT / 30,
  middle: (n) => n > COUNT * 0.42 && n < COUNT * 0.6,
  newest: (n) => n > COUNT * 0.97,
  thin: (n) => n % 53 === 0,
  rare: (n) => n % 3001 === 0,
};

interface Row {
  id: string;
  scope: string;
  title: string;
  at: string;
}
/** Oldest first. */
const rows: Row[] = [];
let database: TestDatabase;

before(async () => {
  database = await createTestDatabase({ pool: 1 });
  const clock = new TestClock('2023-10-05T23:59:59Z');
  for (let n = 0; n < COUNT; n++) {
    const title = Object.keys(WORDS).filter((word) => WORDS[word]?.(n) === true);
    const at = clock.now().toISOString();
    rows.push({ id: newId('vid', clock), scope: n % 7 === 0 ? 'other' : 'own', title: title.join(' '), at });
    // Thousands within seconds, and some years beside them.
    clock.advance(n > COUNT * 0.4 && n < COUNT * 0.7 ? 3 : 45 * MINUTE);
  }
  await database.sql.unsafe(`
    create table spanned (id text primary key, workspace_id text not null, title text not null, created_at timestamptz not null);
    insert into spanned select id, scope, title, "at"
      from json_to_recordset('${JSON.stringify(rows)}') as x (id text, scope text, title text, "at" timestamptz);
    create index on spanned using gin
      (sampled_spans(workspace_id, id), (show_trgm(title) || string_to_array(lower(title), null)));
    create index on spanned (workspace_id, id);
    analyze spanned`);
});
after(() => database.close());

const row = fc.option(fc.nat(COUNT - 1));
const asked = fc.record({
  // The last ones have no three letters in a row.
  word: fc.constantFrom(...Object.keys(WORDS), 'e', 'dd', 'zq', 'missing'),
  order: fc.constantFrom<PageRequest['order']>('asc', 'desc'),
  take: fc.integer({ min: 2, max: 101 }),
  behind: row,
  from: row,
  to: row,
});

test('a page is the one that reading all rows gives, wherever those lie that match', async () => {
  const find = async (page: PageRequest, word: string) => {
    const query = pageBySpans(page, {
      table: 'spanned',
      workspaceId: 'own',
      within: sql`workspace_id = 'own' and ${pageCondition(page, 'id', 'created_at', 'vid')}`,
      spans: 'sampled_spans(workspace_id, id)',
      scope: 'own',
      indexed: hasPart('title', word),
      matching: sql`(title || '') ilike ${likePart(word)}`,
    });
    const found = await sql<{ id: string }>`${plannedWithValues} ${query}`.execute(database.db);
    return found.rows.map(({ id }) => id);
  };
  await fc.assert(
    fc.asyncProperty(asked, async ({ word, order, take, behind, from, to }) => {
      const at = (n: number | null) => (n === null ? null : (rows[n]?.at ?? null));
      const [createdAfter, createdBefore, last] = [at(from), at(to), behind === null ? null : rows[behind]];
      const after = last?.id ?? null;
      const matching = rows.filter(
        (one) =>
          one.scope === 'own' &&
          one.title.includes(word) &&
          (after === null || (order === 'asc' ? one.id > after : one.id < after)) &&
          (createdAfter === null || one.at > createdAfter) &&
          (createdBefore === null || one.at < createdBefore),
      );
      const inOrder = order === 'asc' ? matching : matching.toReversed();
      const found = await find({ order, take, limit: take - 1, after, createdAfter, createdBefore }, word);
      assert.deepEqual(
        found,
        inOrder.slice(0, take).map(({ id }) => id),
      );
    }),
    { numRuns: 100 },
  );
});

test('spans between two have the ids between them, and no others', async () => {
  // Few digits, so that many are the same.
  const digits = (length: number) =>
    fc
      .array(fc.constantFrom('0', '1', 'h', 'y', 'z'), { minLength: length, maxLength: length })
      .map((all) => `0${all.join('')}`);
  const width = fc.integer({ min: 2, max: 7 });
  const one = fc.tuple(digits(6), digits(6), digits(25), width, width);
  const cases = fc.sample(one, 5000).map(([left, right, rest, lowWidth, highWidth]) => {
    const [low = '', high = ''] = [left, right].toSorted();
    return { id: `vid_${rest}`, low: low.slice(0, lowWidth), high: high.slice(0, highWidth) };
  });
  const found = await database.sql<{ isIn: boolean; id: string; low: string; high: string }[]>`
    select sampled_spans('of', id) && spans_between('of', low, high) as "isIn", id, low, high
    from json_to_recordset(${JSON.stringify(cases)}::json) as x (id text, low text, high text)`;
  assert.equal(found.length, cases.length);
  for (const { isIn, id, low, high } of found) {
    const is = id.slice(4, 4 + low.length) >= low && id.slice(4, 4 + high.length) <= high;
    assert.equal(isIn, is, `${id} between ${low} and ${high}`);
  }
});

test('what an index is asked for is in every text that has the part', async () => {
  // Few letters, so that many are the same; some that change their length or their alphabet with their case.
  const letters = fc.array(fc.constantFrom(...'aabbiI1A  -_%éÉİıжЖßſ\u212a'), { maxLength: 6 });
  const text = letters.map((all) => all.join(''));
  const longer = fc.tuple(text, text).map((both) => both.join(''));
  const cases = fc.sample(fc.tuple(text, longer, text), 20_000).map(([before, part, behind], n) => {
    const cased = n % 2 === 0 ? part : part.toUpperCase();
    return { title: before + part + behind, part: cased, like: likePart(cased) };
  });
  const found = await database.sql<{ title: string; part: string; isFound: boolean }[]>`
    select title, part, (show_trgm(title) || string_to_array(lower(title), null))
      @> parts_sought(part) as "isFound"
    from json_to_recordset(${JSON.stringify(cases)}::json) as x (title text, part text, "like" text)
    where title ilike "like"`;
  assert.ok(found.length > cases.length / 2);
  for (const { title, part, isFound } of found) assert.ok(isFound, `${part} in ${title}`);
});
