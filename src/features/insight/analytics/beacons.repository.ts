import { type RawBuilder, sql } from 'kysely';

/** Which facts are added up, and beside which. */
export interface RollupScope {
  /** Facts of transactions from here on are new: those before are counted already. */
  fromXid: string;
  /** Facts of transactions from here on are not there yet. */
  belowXid: string;
  /** UTC days, the end not included, in which all that is new happened. */
  days: { from: Date; to: Date };
  /** Two days more at both ends. */
  around: { from: Date; to: Date };
  /** Sums of longer spans that end until then are there, and are added to; null: none. */
  closedUntil: Date | null;
}

/** Beacons of a session that have so many messages or so much time between them have nothing to do with each other. */
const APART = { numbers: 100, time: sql.lit('1 day') };

type Sql = RawBuilder<unknown>;

/** The new facts, as `f`. */
export function isNew({ fromXid, belowXid, days }: RollupScope): Sql {
  return sql`f.xid >= ${fromXid}::xid8 and f.xid < ${belowXid}::xid8
    and f.created_at >= ${days.from} and f.created_at < ${days.to}`;
}

/** Beacons `one` that are near `other`; the constants let the planner leave partitions out. */
function near(one: string, other: string, { around }: RollupScope): Sql {
  const [a, b] = [sql.raw(one), sql.raw(other)];
  return sql`${a}.playback_session = ${b}.playback_session and ${a}.kind = 'BEACON' and not ${a}.is_bot
    and ${a}.created_at > ${b}.created_at - interval ${APART.time}
    and ${a}.created_at < ${b}.created_at + interval ${APART.time}
    and ${a}.created_at >= ${around.from} and ${a}.created_at < ${around.to}`;
}

/** No beacon of this number was there before `one`: it is no replay. */
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

/** The UTC day, whatever zone the session has. */
export const dayOf = (at: string): Sql => sql`date_bin('1 day', ${sql.raw(at)}, 'epoch'::timestamptz)`;

export const quarterHourOf = (at: string): Sql =>
  sql`date_bin('15 minutes', ${sql.raw(at)}, 'epoch'::timestamptz)`;

const plays = (events: string): Sql => {
  const told = sql.raw(events);
  return sql`(${told} @> '[{"type": "PLAY"}]' or ${told} @> '[{"type": "TICK"}]')`;
};

/** A player tells of seeking while it plays, so a beacon of nothing else leaves it playing. */
const leavesPlaying = (events: string): Sql => {
  const told = sql.raw(events);
  return sql`case ${told} -> -1 ->> 'type' when 'PLAY' then true when 'TICK' then true when 'SEEK' then
    coalesce((select e ->> 'type' in ('PLAY', 'TICK') from jsonb_array_elements(${told}) with ordinality one (e, n)
      where e ->> 'type' <> 'SEEK' order by n desc limit 1), true) else false end`;
};

/**
 * What each beacon counts for, by the one before it (docs/decisions/analytics.md#watch-time): `move`. A beacon that
 * comes late changes what those after it counted for: they are there twice, with the sign of what is taken back and
 * of what is right now. Needs `fresh`, the new facts.
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

/** What is read of a fact for the sums of analytics. */
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
