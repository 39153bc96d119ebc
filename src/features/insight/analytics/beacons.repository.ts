import { type RawBuilder, sql } from 'kysely';

/** Usage events to add, and the rollups to add them to. */
export interface RollupScope {
  /** First transaction ID of new usage events: earlier ones are counted already. */
  fromXid: string;
  /** First transaction ID that is not visible yet. */
  belowXid: string;
  /** UTC days, the end excluded, of all new usage events. */
  days: { from: Date; to: Date };
  /** Days with a margin of two days at both ends. */
  around: { from: Date; to: Date };
  /** End of compacted intervals, which are updated as well; null: none. */
  closedUntil: Date | null;
}

/** Distance of two beacons of a session, in messages or in time, from which they are independent. */
const APART = { numbers: 100, time: sql.lit('1 day') };

type Sql = RawBuilder<unknown>;

/** Returns the condition of new usage events, aliased `f`. */
export function isNew({ fromXid, belowXid, days }: RollupScope): Sql {
  return sql`f.xid >= ${fromXid}::xid8 and f.xid < ${belowXid}::xid8
    and f.created_at >= ${days.from} and f.created_at < ${days.to}`;
}

/** Returns the condition of beacons `one` near `other`; the constants allow partition pruning. */
function near(one: string, other: string, { around }: RollupScope): Sql {
  const [a, b] = [sql.raw(one), sql.raw(other)];
  return sql`${a}.playback_session = ${b}.playback_session and ${a}.kind = 'BEACON' and not ${a}.is_bot
    and ${a}.created_at > ${b}.created_at - interval ${APART.time}
    and ${a}.created_at < ${b}.created_at + interval ${APART.time}
    and ${a}.created_at >= ${around.from} and ${a}.created_at < ${around.to}`;
}

/** Returns the condition that no earlier beacon has this number, which excludes replays. */
function isFirst(one: string, scope: RollupScope): Sql {
  const a = sql.raw(one);
  return sql`(select true from usage_event d where ${near('d', one, scope)} and d.sequence_number = ${a}.sequence_number
    and d.xid <= ${a}.xid and (d.xid, d.created_at, d.id) < (${a}.xid, ${a}.created_at, ${a}.id) limit 1) is null`;
}

function isBefore(one: string, other: string, scope: RollupScope): Sql {
  const [a, b] = [sql.raw(one), sql.raw(other)];
  return sql`${near(one, other, scope)} and ${a}.sequence_number < ${b}.sequence_number
    and ${a}.sequence_number >= ${b}.sequence_number - ${sql.lit(APART.numbers)} and ${a}.xid < ${b}.seen_xid`;
}

/** Returns the UTC day, independent of the session's time zone. */
export const dayOf = (at: string): Sql => sql`date_bin('1 day', ${sql.raw(at)}, 'epoch'::timestamptz)`;

export const quarterHourOf = (at: string): Sql =>
  sql`date_bin('15 minutes', ${sql.raw(at)}, 'epoch'::timestamptz)`;

const plays = (events: string): Sql => {
  const told = sql.raw(events);
  return sql`(${told} @> '[{"type": "PLAY"}]' or ${told} @> '[{"type": "TICK"}]')`;
};

/** A player reports seeking while it plays, so a beacon with only SEEK keeps it playing. */
const leavesPlaying = (events: string): Sql => {
  const told = sql.raw(events);
  return sql`case ${told} -> -1 ->> 'type' when 'PLAY' then true when 'TICK' then true when 'SEEK' then
    coalesce((select e ->> 'type' in ('PLAY', 'TICK') from jsonb_array_elements(${told}) with ordinality one (e, n)
      where e ->> 'type' <> 'SEEK' order by n desc limit 1), true) else false end`;
};

/**
 * Returns the CTE `move`: the watch time of each beacon by the one before it
 * (docs/decisions/analytics.md#watch-time). A late beacon changes the value of those after it: they appear
 * twice, with the sign of the old and of the new value. Requires the CTE `fresh` with the new usage events.
 */
export function watchTimeDeltas(scope: RollupScope): Sql {
  const { fromXid, belowXid } = scope;
  return sql`
    told as materialized (
      select * from fresh f where kind = 'BEACON' and playback_session is not null and sequence_number is not null
        and ${isFirst('f', scope)}),
    -- Counted before, and after one that is new.
    after as materialized (
      select distinct on (c.created_at, c.id) c.* from told t cross join lateral (
        select ${usageEventColumns('c')} from usage_event c where ${near('c', 't', scope)} and c.sequence_number > t.sequence_number
          and c.sequence_number <= t.sequence_number + ${sql.lit(APART.numbers)} and c.xid < ${fromXid}::xid8
          and ${isFirst('c', scope)}) c),
    weighed as (
      select *, 1 as sign, true as is_new, ${belowXid}::xid8 as seen_xid from told
      union all select *, 1, false, ${belowXid}::xid8 from after
      union all select *, -1, false, ${fromXid}::xid8 from after),
    move as materialized (
      select c.sign, c.is_new, c.xid, c.created_at, c.id, c.workspace_id, c.subject_id, c.viewer, c.is_owner, c.country,
        c.device, c.browser, c.os, c.referrer, c.player_events,
        p.player_events -> -1 as last_event, p.player_events -> -1 ->> 'quality' as quality,
        p.left_playing,
        least(greatest(case when p.left_playing then extract(epoch from c.created_at - p.created_at) * 1000 else 0 end,
          0), 30000)::bigint as watch_ms,
        c_plays.yes as plays,
        c_plays.yes and not coalesce(p.plays, false) and (p.id is null or (
          select true from usage_event q where ${isBefore('q', 'c', scope)} and ${plays('q.player_events')}
            and ${isFirst('q', scope)} limit 1) is null) as begins,
        -- The one before was a sign of the same viewer already.
        coalesce(p.plays and (p.xid, p.created_at, p.id) < (c.xid, c.created_at, c.id)
          and ${dayOf('p.created_at')} = ${dayOf('c.created_at')} and p.is_owner = c.is_owner
          and (p.workspace_id, p.subject_id, p.viewer, p.country, p.device, p.browser, p.os, p.referrer)
            is not distinct from
            (c.workspace_id, c.subject_id, c.viewer, c.country, c.device, c.browser, c.os, c.referrer), false)
          as was_seen
      from weighed c
        cross join lateral (select ${plays('c.player_events')} as yes) c_plays
        left join lateral (
          select ${usageEventColumns('p')}, ${plays('p.player_events')} as plays,
            ${leavesPlaying('p.player_events')} as left_playing
          from usage_event p where ${isBefore('p', 'c', scope)} and ${isFirst('p', scope)}
          order by p.sequence_number desc, p.xid, p.created_at, p.id limit 1) p on true)`;
}

/** Returns the columns of a usage event that analytics rollups need. */
export function usageEventColumns(alias: string): Sql {
  const names = [
    ...[
      'xid',
      'created_at',
      'id',
      'workspace_id',
      'kind',
      'subject_id',
      'amount',
      'viewer',
      'country',
      'device',
    ],
    ...[
      'browser',
      'os',
      'referrer',
      'is_owner',
      'playback_session',
      'sequence_number',
      'player_events',
      'bitrate_kbps',
    ],
  ];
  return sql.raw(names.map((name) => `${alias}.${name}`).join(', '));
}
