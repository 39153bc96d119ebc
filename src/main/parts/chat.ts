import { STREAM_LOG_TOPIC } from '../../events/stream-log.ts';
import { displayNameOf, findChannel } from '../../features/audience/channels/index.ts';
import {
  type AccessRequest,
  createSnapshots,
  type LiveChat,
  STREAM_ID,
  type Viewer,
} from '../../features/audience/playback/index.ts';
import { avatarUrl, createProfiles } from '../../features/identity/accounts/index.ts';
import {
  chatPanel,
  chatRoutes,
  createChat,
  createChatConsumers,
  createGuestSessions,
  guestChatPages,
  RESTRICTED_MODES,
  toMessage,
} from '../../features/live/chat/index.ts';
import type { StreamTails } from '../../features/live/stream-tails/index.ts';
import {
  createStreamSnapshots,
  STREAM_TOPIC,
  type Streams,
  streamUpdated,
} from '../../features/live/streams/index.ts';
import { INTERVALS, type ModuleWithExports } from '../feature-module.ts';
import type { BaseContext } from '../wiring.ts';
import type { PlaybackUrls } from './addresses.ts';
import type { FingerprintServices } from './arrivals.ts';

/** Chats that a process remembers for half a second, some 20 kB each. */
const RECENT_CHATS = 500;

interface Needs
  extends BaseContext,
    Pick<PlaybackUrls, 'access' | 'entitlements'>,
    Pick<FingerprintServices, 'arrivals'> {
  streams: Streams;
  streamTails: StreamTails;
}

export function chatPart(needs: Needs): ModuleWithExports<{ liveChat: LiveChat }> {
  const { config, db, cursors, bus, caps, access, entitlements, streams, streamTails: tails } = needs;
  const profiles = createProfiles(needs);
  const chat = createChat({
    ...needs,
    toMessage,
    async creatorOf({ account_id: accountId, workspace_id: workspaceId }) {
      const [profile, row] = await Promise.all([profiles.get(accountId), findChannel(db, workspaceId)]);
      const { id, username, name: accountName } = profile;
      const displayName = displayNameOf({ profile, row });
      return { id, username, displayName, accountName, avatarUrl: avatarUrl(profile, config.PUBLIC_URL) };
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
  /** A restricted mode requires the entitlement to watch a stream of that visibility. */
  const entitledModes = async (streamId: string, asking: AccessRequest) => {
    const stream = await watched.get(streamId);
    if (stream === undefined) return [];
    const allowed = await Promise.all(
      RESTRICTED_MODES.map((mode) => entitlements.allows(asking, { ...stream, visibility: mode })),
    );
    return RESTRICTED_MODES.filter((_mode, index) => allowed[index]);
  };
  const guests = createGuestSessions(needs);
  return {
    exports: {
      async liveChat(streamId, suffix, asking) {
        const shown = await recent.get(streamId);
        if (!shown?.isOpen) return null;
        const modes = await entitledModes(streamId, asking);
        return chatPanel(streamId, suffix, { recent: shown, entitledModes: modes });
      },
    },
    module: {
      routes: () => chatRoutes({ chat, streams, tails, cursors }),
      pages: () => [guestChatPages({ chat, recent, guests, tails, admits, entitledModes, caps })],
      consumers: createChatConsumers({ chat, streams: { streamUpdated } }),
      tasks: () => [{ name: 'old chat messages', everyMs: INTERVALS.hour, run: () => chat.forget() }],
    },
  };
}
