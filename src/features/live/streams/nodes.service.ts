import { type Clock, dateFromMs } from '../../../kernel/clock.ts';
import { DAY_MS, HOUR_MS } from '../../../kernel/durations.ts';
import type { SnapshotSource } from '../../../kernel/snapshots.ts';
import type { StreamLocation } from '../../../media/contract/index.ts';
import type { Bus } from '../../../platform/bus.ts';
import type { Db } from '../../../platform/db/index.ts';
import * as repository from './nodes.repository.ts';
import { listWatchable } from './public.repository.ts';
import { STREAM_TOPIC } from './service.ts';

/** Locations of live streams (docs/decisions/live-packaging.md#between-nodes). */
export interface MediaNodes {
  /** Stores the URL of a media node; called at its start and every minute. */
  listens(nodeId: string, url: string): Promise<void>;
  /** Lists those of the streams whose broadcast is live for viewers. */
  listLive(streamIds: readonly string[]): Promise<string[]>;
  readonly places: SnapshotSource<StreamLocation>;
  /** Finds another node that had the stream after a moment, and within the last hour. */
  elsewhere(streamId: string, than: { nodeId: string; sinceMs: number }): Promise<StreamLocation | undefined>;
  /** Reports whether another media node runs, to which encoders can reconnect. */
  hasOther(nodeId: string): Promise<boolean>;
  /** Deletes nodes without a heartbeat for a week. */
  forget(): Promise<void>;
}

/** Age of the last heartbeat of a running node, which sends one per second. */
const ALIVE_MS = 5000;
const NODE_RETENTION_MS = 7 * DAY_MS;

export function createMediaNodes({ db, bus, clock }: { db: Db; bus: Bus; clock: Clock }): MediaNodes {
  return {
    listens: (id, url) => repository.upsertNode(db, { id, url, last_seen_at: clock.now() }),
    listLive: (streamIds) => listWatchable(db, streamIds),
    places: {
      find: (streamId) => repository.findNode(db, streamId),
      onChanged: (listener) => void bus.subscribe(STREAM_TOPIC, listener),
    },
    elsewhere(streamId, { nodeId, sinceMs }) {
      const since = dateFromMs(Math.max(sinceMs, clock.ms() - HOUR_MS));
      return repository.findOtherNode(db, streamId, { nodeId, since });
    },
    hasOther: (nodeId) => repository.hasOtherNode(db, nodeId, dateFromMs(clock.ms() - ALIVE_MS)),
    forget: () => repository.deleteNodes(db, dateFromMs(clock.ms() - NODE_RETENTION_MS)),
  };
}
