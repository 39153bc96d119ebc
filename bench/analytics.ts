import { readFileSync } from 'node:fs';
import type { Sql } from 'postgres';
import { maintainPartitions } from '../src/events/partitions.ts';
import { createRollups } from '../src/features/insight/analytics/rollups.service.ts';
import { createUsageEvents } from '../src/features/insight/usage-events/service.ts';
import { TestClock } from '../test/harness/clock.ts';
import { createTestDatabase } from '../test/harness/database.ts';
import { report } from './support/report.ts';

/**
 * Measures the cost of rolling up usage events, per million: 30,000 viewers send a beacon every 15 seconds
 * from one of 1,000 videos with a skewed distribution, at 2,000 beacons a second; a tenth of the events are
 * views, requests and bytes. Also measures the memory of the worker and its connection when they process the
 * whole backlog in one run.
 *
 * Argument: events (200,000), in rounds of ten seconds.
 */
const FACTS = Number(process.argv[2] ?? 200_000);
const ROUND = 20_000;
const VIEWERS = 30_000;
const START = Date.parse('2026-11-20T11:50:00Z');
/** Seconds per million events that correspond to half a core of one worker at 2,000 events a second. */
const HALF_A_CORE = 250;
const TICKS_PER_SEC = 100;
const MS_A_FACT = 0.5;

const clock = new TestClock(new Date(START).toISOString());
const database = await createTestDatabase({ pool: 1 });
const writer = await openWriter(database.url);
await maintainPartitions(database.sql, clock, { ANALYTICS_RAW_DAYS: 90 });
const facts = createUsageEvents({ db: database.db, clock, log: { warn() {} }, onRowsDropped() {} });
const sums = createRollups({ db: database.db, clock, facts, rawDays: 90 });
const [backend] = await database.sql`select pg_backend_pid() as pid`;
const pid = Number(backend?.pid);

async function openWriter(url: string): Promise<Sql> {
  const { default: postgres } = await import('postgres');
  return postgres(url, { max: 1, onnotice: () => {} });
}

/** Writes the usage events of these ten seconds, in statements of a thousand. */
async function writeRound(round: number): Promise<void> {
  for (let first = round * ROUND; first < (round + 1) * ROUND; first += 1000) {
    await writer`
      insert into usage_event (created_at, id, workspace_id, kind, subject_id, amount, viewer, country, device, browser, os,
        referrer, playback_session, sequence_number, player_events, key_id, status)
      select ${new Date(START).toISOString()}::timestamptz + n * ${MS_A_FACT}::float8 * interval '1 millisecond', 'fct_' || n,
        'wsp_' || video % 20, kind, 'vid_' || video, 1, decode(md5('viewer' || viewer), 'hex'),
        'C' || chr(65 + (viewer % 19) * (viewer % 3) / 2), (array['MOBILE', 'DESKTOP', 'TABLET', 'TV'])[1 + viewer % 4],
        (array['Chrome', 'Safari', 'Firefox', 'Edge', 'Other'])[1 + viewer % 5],
        (array['iOS', 'Android', 'Windows', 'macOS'])[1 + viewer % 4],
        case when viewer % 3 > 0 then (array['google.com', 'example.com', 'news.example'])[1 + viewer % 3] end,
        case when kind = 'BEACON' then 'session' || viewer end, case when kind = 'BEACON' then tick end,
        case when kind = 'BEACON' then jsonb_build_array(jsonb_build_object('type',
          case when tick = 0 then 'PLAY' else 'TICK' end, 'positionSec', tick * 15, 'at', 0, 'quality', 1080)) end,
        'key_' || viewer % 50, 200
      from generate_series(${first}::integer, ${first + 999}::integer) n,
        lateral (select n % ${VIEWERS}::integer as viewer, n / ${VIEWERS}::integer as tick) who,
        lateral (select (1000 * power((viewer * 7919 % 30011) / 30011.0, 3))::integer as video) what,
        lateral (select case n % 30 when 0 then 'VIEW' when 1 then 'REQUEST' when 2 then 'EGRESS' else 'BEACON' end
          as kind) how`;
  }
}

/** Processor seconds of the connection that adds up, and of this process. */
function processorSec(): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  const { user, system } = process.cpuUsage();
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SEC + (user + system) / 1e6;
}

function anonymousMb(file: string): number {
  return Number(/RssAnon:\s+(\d+)/.exec(readFileSync(file, 'utf8'))?.[1]) / 1024;
}

const spent = { facts: 0, processor: 0 };
for (let round = 0; round < FACTS / ROUND; round++) {
  await writeRound(round);
  clock.set(new Date(START + (round + 1) * ROUND * MS_A_FACT).toISOString());
  const before = processorSec();
  spent.facts += await sums.run();
  spent.processor += processorSec() - before;
}
const million = 1e6 / spent.facts;
report({
  name: 'processor for a million facts, PostgreSQL included',
  value: spent.processor * million,
  unit: 's',
  target: `<= ${HALF_A_CORE}`,
});

const held = { node: anonymousMb('/proc/self/status'), postgres: anonymousMb(`/proc/${pid}/status`) };
for (let round = FACTS / ROUND; round < (2 * FACTS) / ROUND; round++) await writeRound(round);
clock.set(new Date(START + 2 * FACTS * MS_A_FACT).toISOString());
const begun = performance.now();
const caught = await sums.run();
report({
  name: `facts a second when ${caught} are caught up on`,
  value: caught / ((performance.now() - begun) / 1000),
  unit: '1/s',
  target: '>= 2000',
});
report({
  name: 'memory that the worker holds more after it',
  value: anonymousMb('/proc/self/status') - held.node,
  unit: 'MB',
  target: '<= 50',
});
report({
  name: 'memory that its connection holds more after it',
  value: anonymousMb(`/proc/${pid}/status`) - held.postgres,
  unit: 'MB',
  target: '<= 100',
});
const before = processorSec();
await sums.rebuild('2026-11-20', '2026-11-20');
report({
  name: 'processor for a million facts, when a day is made anew',
  value: (processorSec() - before) * (1e6 / (spent.facts + caught)),
  unit: 's',
  target: `<= ${HALF_A_CORE}`,
});
await writer.end();
await database.close();
