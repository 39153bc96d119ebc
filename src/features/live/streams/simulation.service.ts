import { type Clock, dateFromMs } from '../../../kernel/clock.ts';
import { AppError, notFound } from '../../../kernel/errors.ts';
import type { SimulatedSignal, SimulationPort } from '../../../media/contract/index.ts';
import type { Bus } from '../../../platform/bus.ts';
import type { Db } from '../../../platform/db/index.ts';
import { lockWorkspace } from '../../../platform/db/workspace.ts';
import type { Secrets } from '../../../platform/secrets.ts';
import { assertEnabled } from './broadcast.service.ts';
import type { StreamDetails } from './lists.repository.ts';
import { lockStream } from './repository.ts';
import { STREAM_TOPIC, type Streams } from './service.ts';
import * as repository from './simulation.repository.ts';

export interface SignalSimulations {
  /**
   * Starts the platform's own encoder for a stream of a test workspace for this many seconds, or stops it.
   *
   * @throws {AppError} NOT_FOUND; CONFLICT, field `enabled`, for a disabled stream; QUOTA_EXCEEDED over two
   *   concurrent ones.
   */
  set(workspaceId: string, streamId: string, wish: { on: boolean; seconds: number }): Promise<StreamDetails>;
  /** Port for the media plane. */
  readonly port: SimulationPort;
}

interface Deps {
  db: Db;
  bus: Bus;
  clock: Clock;
  secrets: Pick<Secrets, 'decrypt'>;
  streams: Pick<Streams, 'get'>;
}

/** Each simulation is an encoder on the platform's machines. */
const MAX_PER_WORKSPACE = 2;
const MAX_PER_NODE = 4;
/** Silence after which a node no longer runs its simulations. */
const LOST_MS = 10_000;
/** Interval at which ended simulations are deleted; they stop immediately. */
const FORGET_MS = 60_000;

export function createSignalSimulations({ db, bus, clock, secrets, streams }: Deps): SignalSimulations {
  let forgottenAtMs = 0;
  return {
    async set(workspaceId, streamId, { on, seconds }) {
      const stream = await streams.get(workspaceId, streamId);
      await db.transaction().execute(async (tx) => {
        await lockWorkspace(tx, workspaceId);
        // Ending a simulation locks the stream, so none begins in between.
        const locked = await lockStream(tx, workspaceId, streamId);
        if (locked === undefined) throw notFound();
        if (!on) return repository.end(tx, streamId);
        assertEnabled(locked);
        const now = clock.now();
        if ((await repository.countOthers(tx, workspaceId, { streamId, now })) >= MAX_PER_WORKSPACE) {
          throw new AppError('QUOTA_EXCEEDED', {
            message: `Limit of ${MAX_PER_WORKSPACE} simulated signals reached.`,
          });
        }
        await repository.begin(tx, workspaceId, streamId, dateFromMs(now.getTime() + seconds * 1000));
      });
      bus.publish(STREAM_TOPIC, streamId);
      return stream;
    },
    port: {
      ended: ({ streamId, until }) => repository.deleteSimulation(db, streamId, until),
      async wanted(nodeId): Promise<SimulatedSignal[]> {
        const now = clock.now();
        if (now.getTime() - forgottenAtMs >= FORGET_MS) {
          forgottenAtMs = now.getTime();
          await repository.deleteEndedSimulations(db, now);
        }
        const lostBefore = dateFromMs(now.getTime() - LOST_MS);
        const rows = await repository.claim(db, nodeId, { now, lostBefore, max: MAX_PER_NODE });
        return rows.map((row) => ({
          streamId: row.stream_id,
          streamKey: secrets.decrypt(row.key_encrypted),
          until: row.ends_at,
        }));
      },
    },
  };
}
