import { type RawBuilder, sql } from 'kysely';
import type { Tx } from '../../../platform/db/index.ts';
import { CUSTOM_PLAN } from '../../../platform/db/page.ts';
import {
  dayOf,
  isNew,
  quarterHourOf,
  type RollupScope,
  usageEventColumns,
  watchTimeDeltas,
} from './beacons.repository.ts';
import {
  DAILY_ROLLUP_INTERVALS_MIN,
  ROLLUP_INTERVALS_MIN,
  type RollupInterval,
} from './rollup-intervals.rules.ts';

type Sql = RawBuilder<unknown>;

/** Returns `level`: the account and the content that a usage event counts for. */
function levelsOf(subject: string): Sql {
  return sql`(select * from (values ('ACCOUNT', ''), (${kindOf(subject)}, ${sql.raw(subject)})) one (kind, id)
    where kind is not null) level`;
}

function kindOf(subject: string): Sql {
  const id = sql.raw(subject);
  return sql`case when ${id} like 'vid\\_%' then 'VIDEO' when ${id} like 'str\\_%' then 'STREAM' end`;
}

/** Returns `span`: the quarter-hour, and every compacted interval that contains it. */
const spansOf = ({ closedUntil }: RollupScope) => madeSpans(ROLLUP_INTERVALS_MIN, closedUntil);

function madeSpans(lengths: readonly RollupInterval[], closedUntil: Date | null): Sql {
  const made =
    closedUntil === null
      ? sql``
      : sql`or begins + make_interval(mins => minutes) <= ${closedUntil}::timestamptz`;
  return sql`(select minutes, begins from unnest(array[${sql.join(lengths.map((one) => sql.lit(one)))}]) minutes,
    lateral (select date_bin(make_interval(mins => minutes), at, 'epoch'::timestamptz) as begins) one
    where minutes = ${sql.lit(lengths[0])} ${made}) span`;
}

const SEARCH = String.raw`(^|\.)(google|bing|duckduckgo|yahoo|ecosia|baidu|yandex|startpage|qwant|search\.brave)\.`;
const SOCIAL = String.raw`(^|\.)(facebook|instagram|twitter|x|t\.co|reddit|linkedin|lnkd|youtube|youtu|tiktok|pinterest|whatsapp|telegram|t\.me|discord|threads|bsky|mastodon|vk|twitch)(\.|$)`;

/** Returns `share`: each known property of a viewer as a row; unknown values are empty. */
function sharesOf(alias: string): Sql {
  const of = (name: string) => sql.raw(`${alias}.${name}`);
  return sql`(values ('country', coalesce(${of('country')}, 'ZZ')), ('device', coalesce(${of('device')}, '')),
    ('browser', coalesce(${of('browser')}, '')), ('os', coalesce(${of('os')}, '')),
    ('referrer', coalesce(${of('referrer')}, '')),
    ('source', case when ${of('referrer')} is null then 'DIRECT' when ${of('referrer')} ~ ${SEARCH} then 'SEARCH'
      when ${of('referrer')} ~ ${SOCIAL} then 'SOCIAL' else 'LINK' end)) share (dimension, value)`;
}

/** Records each viewer once per UTC day and subject; `seen` are the new ones. */
const SEEN = sql`
  sign as (
    select * from (
      select xid, created_at, id, workspace_id, subject_id, viewer, is_owner, country, device, browser, os, referrer
      from fresh where kind = 'VIEW'
      union all select xid, created_at, id, workspace_id, subject_id, viewer, is_owner, country, device, browser, os,
        referrer from move where sign = 1 and is_new and plays and not was_seen) one
    where viewer is not null),
  seen as (
    insert into analytics_unique_viewer (at, workspace_id, subject_id, dimension_filter, viewer, is_owner, first_at)
    select distinct on (1, 2, 3, 4, 5, 6) ${dayOf('created_at')}, workspace_id, level.id,
      part.dimension_filter, viewer, is_owner, ${quarterHourOf('created_at')}
    from sign cross join lateral ${levelsOf('sign.subject_id')}
      cross join lateral (select '' as dimension_filter union all
        select share.dimension || ':' || share.value from ${sharesOf('sign')}) part
    order by 1, 2, 3, 4, 5, 6, xid, created_at, id
    on conflict do nothing
    returning *)`;

const ADDED = {
  views: sum('VIEW'),
  unique_viewers: sum('UNIQUE'),
  watch_ms: sum('WATCH'),
  impressions: sum('IMPRESSION'),
  plays: sum('PLAY'),
  joins: sum('JOIN'),
  leaves: sum('LEAVE'),
  chat_messages: sum('CHAT'),
  new_followers: sum('FOLLOW'),
  lost_followers: sum('UNFOLLOW'),
  broadcasts: sum('BROADCAST'),
  live_ms: sum('LIVE'),
  viewer_samples_sum: sum('PRESENCE'),
  viewer_samples: sum('PRESENCE', 'pieces'),
  bitrate_kbit: sum('BITRATE'),
};

function sum(measure: string, what: 'total' | 'pieces' = 'total'): Sql {
  return sql`coalesce(sum(${sql.raw(what)}) filter (where measure = ${sql.lit(measure)}), 0)::bigint`;
}

/** Returns one row per rollup with the increments of its measures. */
const totalsIn = (scope: RollupScope) => sql`
  counted as (
    select workspace_id, subject_id, ${quarterHourOf('created_at')} as at, is_owner, kind as measure,
      sum(amount) as total, max(amount) as highest, count(*) as pieces
    from fresh where kind <> 'BEACON' group by 1, 2, 3, 4, 5
    union all
    select workspace_id, subject_id, ${quarterHourOf('created_at')}, is_owner, 'BITRATE',
      sum(amount * coalesce(bitrate_kbps, 0) / 1000), 0, 0
    from fresh where kind = 'LIVE' group by 1, 2, 3, 4
    union all
    select workspace_id, subject_id, ${quarterHourOf('created_at')}, is_owner, 'WATCH', sum(sign * watch_ms), 0, 0
    from move where watch_ms > 0 group by 1, 2, 3, 4 having sum(sign * watch_ms) <> 0
    union all
    select workspace_id, subject_id, ${quarterHourOf('created_at')}, is_owner, 'PLAY', sum(sign), 0, 0
    from move where begins group by 1, 2, 3, 4 having sum(sign) <> 0),
  leveled as (
    select workspace_id, level.kind as subject_kind, level.id as subject_id, at, is_owner, measure, total, highest,
      pieces
    from counted cross join lateral ${levelsOf('counted.subject_id')}
    union all
    select workspace_id, case when subject_id = '' then 'ACCOUNT' else ${kindOf('subject_id')} end, subject_id,
      first_at, is_owner, 'UNIQUE', count(*), 0, 0
    from seen where dimension_filter = '' group by 1, 2, 3, 4, 5),
  totaled as (
    insert into analytics_total (workspace_id, subject_kind, subject_id, interval_min, at, is_owner, peak_viewers,
      ${sql.raw(Object.keys(ADDED).join(', '))})
    select workspace_id, subject_kind, subject_id, span.minutes, span.begins, is_owner,
      coalesce(max(highest) filter (where measure = 'PRESENCE'), 0), ${sql.join(Object.values(ADDED))}
    from leveled cross join lateral ${spansOf(scope)}
    group by 1, 2, 3, 4, 5, 6 order by 1, 2, 3, 4, 5, 6
    on conflict (workspace_id, subject_kind, subject_id, interval_min, at, is_owner) do update set
      peak_viewers = greatest(analytics_total.peak_viewers, excluded.peak_viewers),
      ${added('analytics_total', Object.keys(ADDED))})`;

function added(table: string, columns: readonly string[]): Sql {
  return sql.raw(columns.map((name) => `${name} = ${table}.${name} + excluded.${name}`).join(', '));
}

const sharesIn = (scope: RollupScope) => sql`
  shared as (
    select workspace_id, subject_id, ${quarterHourOf('created_at')} as at, is_owner, share.dimension, share.value,
      sum(amount) as views, 0::numeric as watch_ms
    from fresh cross join lateral ${sharesOf('fresh')} where kind = 'VIEW' group by 1, 2, 3, 4, 5, 6
    union all
    select workspace_id, subject_id, ${quarterHourOf('created_at')}, is_owner, share.dimension, share.value, 0,
      sum(sign * watch_ms)
    from move cross join lateral (select * from ${sharesOf('move')}
      union all select 'quality', quality where quality is not null) share
    where watch_ms > 0 group by 1, 2, 3, 4, 5, 6 having sum(sign * watch_ms) <> 0),
  shared_by_level as (
    select workspace_id, level.kind as subject_kind, level.id as subject_id, at, is_owner, dimension, value, views,
      0 as unique_viewers, watch_ms
    from shared cross join lateral ${levelsOf('shared.subject_id')}
    union all
    select workspace_id, case when subject_id = '' then 'ACCOUNT' else ${kindOf('subject_id')} end, subject_id,
      first_at, is_owner, split_part(dimension_filter, ':', 1),
      substr(dimension_filter, strpos(dimension_filter, ':') + 1), 0, count(*), 0
    from seen where dimension_filter <> '' group by 1, 2, 3, 4, 5, 6, 7),
  parted as (
    insert into analytics_breakdown (workspace_id, subject_kind, subject_id, dimension, interval_min, value, at, is_owner,
      views, unique_viewers, watch_ms)
    select workspace_id, subject_kind, subject_id, dimension, span.minutes, value, span.begins, is_owner, sum(views),
      sum(unique_viewers), sum(watch_ms)
    from shared_by_level cross join lateral ${spansOf(scope)}
    group by 1, 2, 3, 4, 5, 6, 7, 8 order by 1, 2, 3, 4, 5, 7, 6, 8
    on conflict (workspace_id, subject_kind, subject_id, dimension, interval_min, at, value, is_owner) do update set
      ${added('analytics_breakdown', ['views', 'unique_viewers', 'watch_ms'])})`;

/** Maximum duration of a video (docs/decisions/plans.md); later seconds are ignored. */
const LONGEST_SEC = 43_200;

/**
 * Returns the seconds that a player passed between beacons, if the time sufficed at double speed: the start
 * and end of each stretch, summed up in arrays.
 */
const retentionIn = ({ closedUntil }: RollupScope) => sql`
  stretch as (
    select workspace_id, subject_id, ${dayOf('created_at')} as at, is_owner, sign,
      greatest(ceil(begun), 0)::integer as first_second, least(ceil(position), ${sql.lit(LONGEST_SEC)})::integer as next_second
    from move cross join lateral (
      select e ->> 'type' as type, (e ->> 'positionSec')::float8 as position,
        coalesce(lag((e ->> 'positionSec')::float8) over told, (last_event ->> 'positionSec')::float8) as begun,
        coalesce(lag(e ->> 'type') over told, 'PLAY') as before
      from jsonb_array_elements(player_events) with ordinality one (e, n) window told as (order by n)) event
    where left_playing and watch_ms > 0 and subject_id like 'vid\\_%' and type <> 'SEEK'
      and before in ('PLAY', 'TICK', 'SEEK') and position > begun and position < 1e9 and begun > -1e9
      and position - begun <= 2 * watch_ms / 1000.0 + 2),
  turn as (
    select workspace_id, subject_id, span.minutes, span.begins as at, is_owner, second, sum(delta)::integer as delta
    from stretch cross join lateral (values (0, 0), (first_second, sign), (next_second, -sign)) one (second, delta)
      cross join lateral ${madeSpans(DAILY_ROLLUP_INTERVALS_MIN, closedUntil)}
    where first_second < next_second group by 1, 2, 3, 4, 5, 6),
  run as (
    select workspace_id, subject_id, minutes, at, is_owner, second, lead(second) over seconds as next_second,
      (sum(delta) over seconds)::integer as watched
    from turn window seconds as (partition by workspace_id, subject_id, minutes, at, is_owner order by second)),
  retained as (
    insert into analytics_retention (workspace_id, video_id, interval_min, at, is_owner, watch_counts)
    select workspace_id, subject_id, minutes, at, is_owner, array_agg(watched order by second)
    from run cross join lateral generate_series(second, next_second - 1)
    group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5
    on conflict (workspace_id, video_id, interval_min, at, is_owner) do update set watch_counts = (
      select array_agg(coalesce(a, 0) + coalesce(b, 0) order by n)
      from unnest(analytics_retention.watch_counts, excluded.watch_counts) with ordinality one (a, b, n)))`;

/** Kinds of usage events that content analytics counts; others only count as usage. */
const KINDS = [
  ...(['BEACON', 'VIEW', 'IMPRESSION', 'JOIN', 'LEAVE', 'PRESENCE', 'CHAT', 'FOLLOW', 'UNFOLLOW'] as const),
  ...(['BROADCAST', 'LIVE'] as const),
];

/** Adds the new usage events to content analytics in one statement, so that each one is read once. */
export async function addContentMetrics(tx: Tx, scope: RollupScope): Promise<void> {
  await sql`
    ${CUSTOM_PLAN} with fresh as materialized (
      select ${usageEventColumns('f')} from usage_event f where ${isNew(scope)} and not is_bot
        and kind in (${sql.join(KINDS.map((kind) => sql.lit(kind)))})),
    ${watchTimeDeltas(scope)}, ${SEEN}, ${totalsIn(scope)}, ${sharesIn(scope)},
    ${retentionIn(scope)}
    select 1`.execute(tx);
}

const USAGE = ['STORAGE', 'EGRESS', 'ENCODE', 'LIVE', 'ROOM', 'REQUEST', 'DELIVERY'] as const;

/** Adds the new usage events to usage. Storage is a gauge: the maximum of an interval counts. */
export async function addUsage(tx: Tx, scope: RollupScope): Promise<void> {
  await sql`
    ${CUSTOM_PLAN} with used as materialized (
      select workspace_id, kind, ${quarterHourOf('created_at')} as at,
        case when kind = 'STORAGE' then max(amount) else sum(amount) end as amount
      from usage_event f where ${isNew(scope)} and kind in (${sql.join(USAGE.map((kind) => sql.lit(kind)))})
      group by 1, 2, 3)
    insert into usage_total (workspace_id, metric, interval_min, at, amount)
    select workspace_id, kind, span.minutes, span.begins,
      case when kind = 'STORAGE' then max(amount) else sum(amount) end
    from used cross join lateral (values (15::smallint, at), (1440::smallint, ${dayOf('at')})) span (minutes, begins)
    group by 1, 2, 3, 4 order by 1, 2, 3, 4
    on conflict (workspace_id, metric, interval_min, at) do update set amount =
      case when excluded.metric = 'STORAGE' then greatest(usage_total.amount, excluded.amount)
        else usage_total.amount + excluded.amount end`.execute(tx);
}

/** Adds new requests to the counts per key and day. */
export async function addRequests(tx: Tx, scope: RollupScope): Promise<void> {
  const errors = (from: number, to: number) =>
    sql`coalesce(sum(amount) filter (where status between ${sql.lit(from)} and ${sql.lit(to)}), 0)`;
  await sql`
    ${CUSTOM_PLAN} insert into usage_request (workspace_id, key_id, at, requests, errors_4xx, errors_5xx,
      rate_limited)
    select workspace_id, coalesce(key_id, ''), ${dayOf('created_at')}, sum(amount), ${errors(400, 499)},
      ${errors(500, 599)}, ${errors(429, 429)}
    from usage_event f where ${isNew(scope)} and kind = 'REQUEST' group by 1, 2, 3 order by 1, 2, 3
    on conflict (workspace_id, at, key_id) do update set
      ${added('usage_request', ['requests', 'errors_4xx', 'errors_5xx', 'rate_limited'])}`.execute(tx);
}
