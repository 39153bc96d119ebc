import { type EventConsumer, on } from '../../../events/index.ts';
import type { streamUpdated } from '../streams/index.ts';
import type { Chat } from './service.ts';

interface Deps {
  chat: Pick<Chat, 'announce'>;
  streams: { streamUpdated: typeof streamUpdated };
}

/** Who may write, and how often, is said in the chat itself. */
export function createChatConsumers({ chat, streams }: Deps): EventConsumer[] {
  return [
    on(streams.streamUpdated, async (tx, { data: { streamId, changes } }) => {
      await chat.announce(tx, streamId, changes);
    }),
  ];
}
