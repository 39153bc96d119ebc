import { sql } from 'kysely';
import { dateFromMs } from '../../../kernel/clock.ts';
import { DAY_MS } from '../../../kernel/durations.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import type { UsageEventRow } from './usage-event.ts';

/** Inserts usage events in one statement; existing ones are skipped. */
export async function insertUsageEvents(db: Db, facts: readonly UsageEventRow[]): Promise<void> {
  await sql`
    insert into usage_event (created_at, id, workspace_id, kind, subject_id, amount, viewer, country, device, browser, os,
      referrer, is_bot, is_owner, playback_session, sequence_number, player_events, bitrate_kbps, key_id, status)
    select "at", id, "workspaceId", kind, "subjectId", coalesce(amount, 1), decode(viewer ->> 'hash', 'hex'),
      viewer ->> 'country', viewer ->> 'device', viewer ->> 'browser', viewer ->> 'os', viewer ->> 'referrer',
      coalesce((viewer ->> 'isBot')::boolean, false), coalesce((viewer ->> 'isSelf')::boolean, false),
      "playbackSession", number, "playerEvents", "bitrateKbps", "keyId", status
    from json_to_recordset(${JSON.stringify(facts)}::json) as x ("at" timestamptz, id text, "workspaceId" text,
      kind text, "subjectId" text, amount bigint, viewer json, "playbackSession" text, number integer,
      "playerEvents" jsonb, "bitrateKbps" integer, "keyId" text, status smallint)
    on conflict do nothing`.execute(db);
}

/** Beacon of a player, by its session and its number. */
export interface BeaconKey {
  playbackSession: string;
  number: number;
  before: Date;
}

export async function isDuplicateBeacon(db: Db, { number, ...session }: BeaconKey): Promise<boolean> {
  const row = await beaconsOf(db, session).where('sequence_number', '=', number).limit(1).executeTakeFirst();
  return row !== undefined;
}

export async function lastNumber(db: Db, session: Omit<BeaconKey, 'number'>): Promise<number | null> {
  const row = await beaconsOf(db, session).orderBy('sequence_number', 'desc').limit(1).executeTakeFirst();
  return row?.sequence_number ?? null;
}

function beaconsOf(db: Db, { playbackSession, before }: Omit<BeaconKey, 'number'>) {
  return db
    .selectFrom('usage_event')
    .select('sequence_number')
    .where('playback_session', '=', playbackSession)
    .where('kind', '=', 'BEACON')
    .where('created_at', '<=', before)
    .where('created_at', '>', dateFromMs(before.getTime() - 8 * DAY_MS));
}

/** Resets the transaction IDs of usage events; counted ones get none. */
export async function resetTransactionIds(
  tx: Tx,
  { nextXid, freshUntil }: { nextXid: string; freshUntil: Date },
): Promise<void> {
  await sql`
    update usage_event set xid = case when xid >= ${nextXid}::xid8 or created_at > ${freshUntil} then pg_current_xact_id()
      else '0' end`.execute(tx);
}
