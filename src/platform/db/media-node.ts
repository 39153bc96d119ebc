import { type RawBuilder, sql } from 'kysely';

/** Column of the last heartbeat, by table whose rows belong to a media node. */
const HEARTBEATS = {
  ingest_session: 'last_seen_at',
  recording_part: 'last_seen_at',
  whip_session: 'heartbeat_at',
} as const;

/**
 * Returns the condition for rows without a heartbeat since `deadline`: their own, or that of their node if
 * theirs is null (docs/decisions/streams.md#heartbeats).
 */
export function isLost(table: keyof typeof HEARTBEATS, deadline: Date): RawBuilder<boolean> {
  const heartbeat = sql.ref(`${table}.${HEARTBEATS[table]}`);
  return sql<boolean>`(${heartbeat} < ${deadline} or (${heartbeat} is null and ${sql.ref(`${table}.node_id`)}
    not in (select media_node.id from media_node where media_node.last_seen_at >= ${deadline})))`;
}
