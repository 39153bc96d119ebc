import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { newId } from '../../../kernel/ids.ts';

let app: TestApp;
let key: string;

interface Made {
  id: string;
  /** ID of a similar video in another workspace. */
  foreignId: string;
  title: string;
  status: 'READY' | 'FAILED';
  tags: string[];
  at: string;
}
/** Oldest first. */
const videos: Made[] = [];

before(async () => {
  app = await startTestApp();
  const made = await app.createKey({ rateLimitPerMinute: 1_000_000 });
  ({ key } = made);
  const clock = new TestClock('2024-02-29T23:59:59Z');
  const add = (count: number, everyMs: number, title: (n: number) => string) => {
    for (let n = 0; n < count; n++) {
      const at = clock.now().toISOString();
      const id = newId('vid', clock);
      const status = n % 7 === 0 ? 'FAILED' : 'READY';
      const foreignId = newId('vid', clock);
      videos.push({ id, foreignId, title: title(n), status, tags: n % 5 === 0 ? ['fifth'] : [], at });
      clock.advance(everyMs);
    }
  };
  // More than are taken as a whole in one half minute, and in spans of every other width.
  add(450, 2, (n) => (n % 2 === 0 ? `A needle, ${n}` : `Hay ${n}`));
  add(250, 3000, () => 'Needles in a row');
  add(300, 86_400_000, (n) => (n % 3 === 0 ? `The Needle of day ${n}` : `Day ${n}`));
  add(
    60,
    1000,
    (n) => ['100% wool', 'A_b', 'C:\\wool', 'ÉTÉ à Łódź', '冬の映画', 'AxB and 100 wool'][n % 6] ?? '',
  );
  add(400, 1000, (n) => (n % 150 === 0 ? 'A late needle' : `Straw ${n}`));
  const foreign = (await app.createAccount()).live;
  for (const workspaceId of [made.account.live, foreign]) {
    const rows = videos.map((one) => (workspaceId === foreign ? { ...one, id: one.foreignId } : one));
    await app.container.sql`
      insert into video (id, workspace_id, title, status, visibility, source, tags, created_at, updated_at)
      select id, ${workspaceId}, title, status, 'PUBLIC', 'UPLOAD',
        array(select json_array_elements_text(tags)), "at", "at"
      from json_to_recordset(${JSON.stringify(rows)}::json)
        as x (id text, title text, status text, tags json, "at" timestamptz)`;
  }
  await app.container.sql`analyze video`;
});
after(() => app.close());

/** The ids of all pages. */
async function walk(query: string): Promise<string[]> {
  const ids: string[] = [];
  let cursor = '';
  do {
    const page = (await app.request('GET', `/videos?limit=70&${query}${cursor}`, { key })).assertOk(200);
    ids.push(...page.list('data').map((row) => String(Object(row).id)));
    const next = page.at('pagination.nextCursor');
    cursor = next === null ? '' : `&cursor=${next}`;
  } while (cursor !== '');
  return ids;
}

const [first, middle] = ['2024-03-01T00:00:00.350Z', '2024-07-14T12:00:00.000Z'];
const has = (text: string) => (one: Made) => one.title.toLowerCase().includes(text);
type SearchCase = [query: string, matches: (one: Made) => boolean];
const searches: SearchCase[] = [
  ['q=needle', has('needle')],
  ['q=NEEDLE&status=FAILED', (one) => has('needle')(one) && one.status === 'FAILED'],
  ['q=needle&tag=fifth', (one) => has('needle')(one) && one.tags.length > 0],
  ['q=ee', has('ee')],
  ['q=9', has('9')],
  ['q=late', has('late')],
  ['q=haystack', () => false],
  ...['100%', '%', '_', 'a_b', '\\', ':\\WOOL', 'été', 'łÓDŹ', '映画', 'の', 'zq', 'l '].map(
    (text): SearchCase => [`q=${encodeURIComponent(text)}`, has(text.toLowerCase())],
  ),
  [`q=needle&createdBefore=${first}`, (one) => has('needle')(one) && one.at < first],
  [
    `q=needle&createdAfter=${first}&createdBefore=${middle}`,
    (one) => has('needle')(one) && one.at > first && one.at < middle,
  ],
  [`q=hay&createdAfter=${middle}`, () => false],
];
for (const [query, matches] of searches) {
  test(`the pages of ${query} contain all matches, in both orders`, async () => {
    const expected = videos.filter(matches).map(({ id }) => id);
    assert.deepEqual(await walk(`${query}&order=asc`), expected);
    assert.deepEqual(await walk(query), expected.toReversed());
  });
}
