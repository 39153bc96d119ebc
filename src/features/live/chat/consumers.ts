import { type EventConsumer, on } from '../../../events/index.ts';
import type { streamUpdated } from '../streams/index.ts';
import type { Chat } from './service.ts';

interface Deps {
  chat: Pick<Chat, 'announce'>;
  streams: { streamUpdated: typeof streamUpdated };
}

/** Announces changes of the chat mode and of slow mode in the chat. */
export function createChatConsumers({ chat, streams }: Deps): EventConsumer[] {
  return [
    on(streams.streamUpdated, async (tx, { data: { streamId, changes } }) => {
      await chat.announce(tx, streamId, changes);
    }),
  ];
}
