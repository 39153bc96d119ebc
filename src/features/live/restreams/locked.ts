import type { Events } from '../../../events/index.ts';
import { STREAM_LOG_TOPIC } from '../../../events/stream-log.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { notFound } from '../../../kernel/errors.ts';
import type { Bus } from '../../../platform/bus.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import type { Outbound } from '../../../platform/outbound/index.ts';
import type { Secrets } from '../../../platform/secrets.ts';
import type { RestreamRow, RestreamWithTargets } from './repository.ts';
import * as repository from './repository.ts';
import type { Change } from './transitions.ts';

/** Bus topic of restreams that must start or stop sending. */
export const RESTREAM_TOPIC = 'restreams';

export interface RestreamDeps {
  db: Db;
  events: Events;
  secrets: Secrets;
  bus: Bus;
  clock: Clock;
  fetcher: Pick<Outbound, 'checkUrl'>;
  /** List of a stream's restreams, maintained by the streams feature. */
  streams: RestreamedStreams;
}

/** Port that module.ts provides. */
export interface RestreamedStreams {
  /**
   * Locks the stream until the transaction ends, and attaches the restream.
   * @returns the title of the stream; undefined when the workspace has no stream with this ID.
   */
  attach(tx: Tx, workspaceId: string, streamId: string, restreamId: string): Promise<string | undefined>;
  detach(tx: Tx, streamId: string, restreamId: string): Promise<void>;
}

/** Notifies the sending nodes and the tails of the stream. */
export function notifyChanged({ bus }: { bus: Bus }, id: string, streamId: string): void {
  bus.publish(RESTREAM_TOPIC, id);
  bus.publish(STREAM_LOG_TOPIC, streamId);
}

export type LockedWork = (change: Change, row: RestreamRow) => Promise<void>;

/** Locks the restream, runs the work, commits, and notifies the sending nodes. */
export async function changeLocked(
  { events, bus, clock }: Pick<RestreamDeps, 'events' | 'bus' | 'clock'>,
  workspaceId: string,
  id: string,
  work: LockedWork,
): Promise<RestreamWithTargets> {
  const whole = await events.transaction(async (tx, append) => {
    const found = await repository.lockRestream(tx, workspaceId, id);
    if (found === undefined) throw notFound();
    await work({ tx, append, now: clock.now() }, found);
    const row = (await repository.findRestream(tx, workspaceId, id)) ?? found;
    return { row, targets: await repository.targetsOf(tx, [id]) };
  });
  notifyChanged({ bus }, id, whole.row.stream_id);
  return whole;
}
