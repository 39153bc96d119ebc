import * as log from '../../../events/stream-log.ts';
import type { Clock } from '../../../kernel/clock.ts';
import type { Bus } from '../../../platform/bus.ts';
import type { Db } from '../../../platform/db/index.ts';
import type { Logger } from '../../../platform/logger.ts';
import { StreamLogReader } from './reader.ts';
import { StateTicker, type StreamStates } from './states.ts';
import { type FollowOptions, StreamTail, type TailOut } from './tail.ts';

export type { StreamStates } from './states.ts';
export type { FollowOptions, TailOut } from './tail.ts';

export interface StreamTails {
  /** Sends the requested events to the connection until it closes. */
  follow(options: FollowOptions, out: TailOut): Promise<void>;
  /** Deletes entries from which no tail resumes anymore. */
  prune(): Promise<void>;
}

export interface StreamTailsDeps {
  db: Db;
  bus: Bus;
  clock: Clock;
  log: Logger;
  states: StreamStates;
  /** Topics whose payload is the ID of a changed stream. */
  topics: readonly string[];
  /** Topic whose payload is the ID of a deleted stream. */
  deletedTopic: string;
}

export function createStreamTails(deps: StreamTailsDeps): StreamTails {
  const { db, bus, clock, deletedTopic } = deps;
  const reader = new StreamLogReader(deps);
  const ticker = new StateTicker(deps);
  bus.subscribe(deletedTopic, (streamId) => ticker.gone(streamId));
  return {
    async follow(options, out) {
      const tail = new StreamTail({ db, clock, reader, ticker }, options, out);
      try {
        await tail.begin();
        await out.over;
      } finally {
        tail.end();
      }
    },
    prune: () => log.pruneLog(db, clock.now()),
  };
}
