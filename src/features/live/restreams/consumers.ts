import { type EventConsumer, on } from '../../../events/index.ts';
import type { Clock } from '../../../kernel/clock.ts';
import type { streamDeleted } from '../streams/index.ts';
import * as repository from './repository.ts';
import { removeLocked } from './service.ts';

interface Deps {
  clock: Clock;
  streams: { streamDeleted: typeof streamDeleted };
}

/** Creates the consumer that deletes restreams together with their stream. */
export function createRestreamConsumers({ clock, streams }: Deps): EventConsumer[] {
  return [
    on(streams.streamDeleted, async (tx, { data }, append) => {
      for (const row of await repository.restreamsOfStream(tx, data.streamId)) {
        await removeLocked({ tx, append, now: clock.now() }, row);
      }
    }),
  ];
}
