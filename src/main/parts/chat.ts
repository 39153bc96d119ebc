import { STREAM_LOG_TOPIC } from '../../events/stream-log.ts';
import { createProfiles } from '../../features/accounts/index.ts';
import {
  chatPanel,
  chatRoutes,
  createChat,
  createChatConsumers,
  createGuestSessions,
  guestChatPages,
  toMessage,
} from '../../features/chat/index.ts';
import { createSnapshots, type LiveChat, STREAM_ID, type Viewer } from '../../features/playback/index.ts';
import type { StreamTails } from '../../features/stream-tails/index.ts';
import {
  createStreamSnapshots,
  STREAM_TOPIC,
  type Streams,
  streamUpdated,
} from '../../features/streams/index.ts';
import { type Built, EVERY } from '../part.ts';
import type { Base } from '../wiring.ts';
import type { Addresses } from './addresses.ts';

/** Chats that a process remembers for half a second, some 20 kB each. */
const RECENT_CHATS = 500;

interface Needs extends Base, Pick<Addresses, 'access'> {
  streams: Streams;
  streamTails: StreamTails;
}

export function chatPart(needs: Needs): Built<{ liveChat: LiveChat }> {
  const { config, cursors, bus, caps, access, streams, streamTails: tails } = needs;
  const profiles = createProfiles(needs);
  const chat = createChat({
    ...needs,
    toMessage,
    async creatorOf(accountId) {
      const { id, username, name, avatar_id: avatar } = await profiles.get(accountId);
      const avatarUrl = avatar === null ? null : `${config.PUBLIC_URL}/avatars/${avatar}.webp`;
      return { id, username, displayName: name ?? username, avatarUrl };
    },
  });
  const onChanged = (listener: (id: string) => void) => {
    for (const topic of [STREAM_LOG_TOPIC, STREAM_TOPIC]) bus.subscribe(topic, listener);
  };
  const recent = createSnapshots({ find: (id) => chat.recent(id), onChanged }, STREAM_ID, RECENT_CHATS);
  const watched = createSnapshots(createStreamSnapshots(needs), STREAM_ID);
  const admits = async (streamId: string, viewer: Viewer) => {
    const stream = await watched.get(streamId);
    return stream !== undefined && (await access.passFor(stream, viewer)) !== null;
  };
  const guests = createGuestSessions(needs);
  return {
    gives: {
      async liveChat(streamId, suffix) {
        const shown = await recent.get(streamId);
        return shown?.isOpen ? chatPanel(streamId, suffix, shown) : null;
      },
    },
    part: {
      routes: () => chatRoutes({ chat, streams, tails, cursors }),
      pages: () => [guestChatPages({ chat, recent, guests, tails, admits, caps })],
      consumers: createChatConsumers({ chat, streams: { streamUpdated } }),
      tasks: () => [{ name: 'old chat messages', everyMs: EVERY.hour, run: () => chat.forget() }],
    },
  };
}
