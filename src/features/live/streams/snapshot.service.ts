import type { SnapshotSource } from '../../../kernel/snapshots.ts';
import type { Bus } from '../../../platform/bus.ts';
import type { Db } from '../../../platform/db/index.ts';
import type { StreamSnapshot } from '../../audience/playback/index.ts';
import * as repository from './repository.ts';
import { visibleHealth } from './rules.ts';
import { STREAM_TOPIC } from './service.ts';

/** Creates the source of stream snapshots for playback. */
export function createStreamSnapshots({ db, bus }: { db: Db; bus: Bus }): SnapshotSource<StreamSnapshot> {
  return {
    find: (id) => find(db, id),
    onChanged: (listener) => void bus.subscribe(STREAM_TOPIC, listener),
  };
}

async function find(db: Db, id: string): Promise<StreamSnapshot | undefined> {
  const row = await repository.findSnapshot(db, id);
  if (row === undefined) return undefined;
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    accountId: row.account_id,
    title: row.title,
    description: row.description,
    visibility: row.visibility,
    tierIds: row.tier_ids,
    mode: row.mode,
    isLive: row.is_live,
    hasSignal: row.has_signal,
    dvrWindowSec: row.dvr_window_sec,
    currentSessionId: row.current_session_id,
    liveSince: row.live_since,
    ended: endedBroadcast(row),
    scheduledStartAt: row.scheduled_start_at,
    viewerCount: row.viewer_count,
    creator: { username: row.username, name: row.name },
    embedHosts: row.embed_mode === 'OPEN' ? null : row.embed_domains,
    video: row.video,
    issues: visibleHealth(row)?.issues ?? [],
  };
}

function endedBroadcast(row: {
  is_live: boolean;
  broadcast_started_at: Date | null;
  broadcast_ended_at: Date | null;
}): StreamSnapshot['ended'] {
  const { is_live: isLive, broadcast_started_at: since, broadcast_ended_at: until } = row;
  return isLive || since === null || until === null ? null : { since, until };
}
