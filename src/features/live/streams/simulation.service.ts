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
   * Switches the platform's own encoder for a stream of a test workspace on for so many seconds, or off.
   *
   * @throws {AppError} NOT_FOUND; CONFLICT, field `enabled`, for a disabled stream; QUOTA_EXCEEDED over two at once.
   */
  set(workspaceId: string, streamId: string, wish: { on: boolean; seconds: number }): Promise<StreamDetails>;
  /** For the media plane. */
  readonly port: SimulationPort;
}

interface Deps {
  db: Db;
  bus: Bus;
  clock: Clock;
  secrets: Pick<Secrets, 'decrypt'>;
  streams: Pick<Streams, 'get'>;
}

/** Each is an encoder on our own machines. */
const MAX_PER_WORKSPACE = 2;
const MAX_PER_NODE = 4;
/** A node that was not heard of for so long does not make its signals any more. */
const LOST_MS = 10_000;
/** What has ended is wanted no more at once, and deleted so often. */
const FORGET_MS = 60_000;

export function createSignalSimulations({ db, bus, clock, secrets, streams }: Deps): SignalSimulations {
  let forgottenAtMs = 0;
  return {
    async set(workspaceId, streamId, { on, seconds }) {
      const stream = await streams.get(workspaceId, streamId);
      await db.transaction().execute(async (tx) => {
        await lockWorkspace(tx, workspaceId);
        // What ends a simulation holds the stream: none begins behind its back.
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
