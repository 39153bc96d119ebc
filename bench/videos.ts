import { startTestApp, type TestApp } from '../test/harness/app.ts';
import { median, report } from './support/report.ts';

/**
 * Lists do not slow down with what a workspace holds: pages of `GET /videos` out of 1,000,000 videos against the
 * first page out of 1,000, over HTTP through the whole chain. The requests take turns; the median counts.
 */
const MANY = 1_000_000;
const FEW = 1000;
const PAGE = 25;
const DEEP = 1000;
const WARM_UP = 50;
const ROUNDS = 300;

/** @param kind tells the ids of the two libraries apart. @returns the key of its owner. */
async function createLibrary(app: TestApp, kind: string, count: number): Promise<string> {
  const account = await app.createAccount();
  const { key } = await app.createKey({ account, rateLimitPerMinute: 2_000_000_000 });
  const { sql } = app.container;
  await sql`
    insert into video (id, workspace_id, title, status, visibility, source, duration_sec, width, height, tags,
      external_id, created_at)
    select 'vid_' || ${kind}::text || lpad(n::text, 25, '0'), ${account.live}, 'Video number ' || n,
      case when n % 50 = 0 then 'FAILED' else 'READY' end, 'PUBLIC', 'UPLOAD', 600, 1920, 1080,
      array['tag' || n % 100], 'external-' || n, timestamptz '2026-01-01' + n * interval '1 second'
    from generate_series(1, ${count}) n`;
  await sql`
    insert into video_rendition (video_id, revision, name, kind, status, folder, width, height, frame_rate)
    select id, 0, '1080p', 'VIDEO', 'READY', 'r0a1', 1920, 1080, 30 from video
    where workspace_id = ${account.live}`;
  return key;
}

async function page(app: TestApp, key: string, query: string) {
  const answer = await app.request('GET', `/videos?limit=${PAGE}${query}`, { key });
  answer.assertOk(200);
  if (answer.list('data').length !== PAGE) throw new Error(`a short page: ${query}`);
  return answer;
}

/** The query of a page so many pages on. */
async function walk(app: TestApp, key: string, pages: number): Promise<string> {
  let query = '';
  for (let n = 1; n < pages; n++) {
    query = `&cursor=${(await page(app, key, query)).string('pagination.nextCursor')}`;
  }
  return query;
}

const app = await startTestApp({ env: { DATABASE_POOL: '4' } });
try {
  const few = await createLibrary(app, 'a', FEW);
  const many = await createLibrary(app, 'b', MANY);
  await app.container.sql.unsafe('vacuum analyze video, video_rendition');
  const deep = await walk(app, many, DEEP);
  const cases = [
    { name: 'first page of 1,000', key: few, query: '' },
    { name: 'first page of 1,000,000', key: many, query: '' },
    { name: '1000th page of 1,000,000', key: many, query: deep },
    { name: 'first page of 1,000,000 with status=FAILED', key: many, query: '&status=FAILED' },
  ].map((one) => ({ ...one, times: [] as number[] }));
  for (let round = 0; round < WARM_UP + ROUNDS; round++) {
    for (const { key, query, times } of cases) {
      const begun = performance.now();
      await page(app, key, query);
      if (round >= WARM_UP) times.push(performance.now() - begun);
    }
  }
  const [base, ...others] = cases.map(({ name, times }) => ({ name, ms: median(times) }));
  for (const { name, ms } of others) {
    const unit = `ratio to the ${base?.name} (${(base?.ms ?? Number.NaN).toFixed(2)} ms)`;
    report({ name: `GET /videos, ${name}`, value: ms / (base?.ms ?? Number.NaN), unit, target: '<= 1.5' });
  }
} finally {
  await app.close();
}
