/**
 * The chat of streams: posts by keys and by guests of the watch page, history, moderation.
 *
 * Terminology: a *guest* is a visitor of one stream's page who has set a name; a *time-out* is a ban that
 * expires.
 */
import { STREAM_LOG_TOPIC } from '../../../events/stream-log.ts';
import { createSnapshots, type SnapshotSource } from '../../../kernel/snapshots.ts';
import type { displayNameOf, findChannel } from '../../audience/channels/index.ts';
import type {
  Access,
  AccessRequest,
  Entitlements,
  LiveChat,
  StreamSnapshot,
  Viewer,
} from '../../audience/playback/index.ts';
import type { ViewerFingerprints } from '../../audience/viewer-fingerprints/index.ts';
import type { avatarUrl, Profiles } from '../../identity/accounts/index.ts';
import { type FeatureModule, INTERVALS } from '../../module.ts';
import type { Platform } from '../../platform.ts';
import type { StreamTails } from '../stream-tails/index.ts';
import type { Streams, streamUpdated } from '../streams/index.ts';
import { createChatConsumers } from './consumers.ts';
import { guestChatPages } from './guest.pages.ts';
import { createGuestSessions } from './guests.ts';
import { toMessage } from './messages.ts';
import { chatPanel } from './panel.views.ts';
import { chatRoutes } from './routes.ts';
import { RESTRICTED_MODES } from './rules.ts';
import { createChat } from './service.ts';

interface ChatDeps
  extends Pick<Platform, 'bus' | 'caps' | 'clock' | 'config' | 'cursors' | 'db' | 'facts' | 'secrets'> {
  access: Access;
  arrivals: ViewerFingerprints;
  entitlements: Entitlements;
  streamTails: StreamTails;
  streams: Streams;
  displayNameOf: typeof displayNameOf;
  findChannel: typeof findChannel;
  avatarUrl: typeof avatarUrl;
  profiles: Profiles;
  streamSnapshots: SnapshotSource<StreamSnapshot>;
  /** Topic of the IDs of streams that changed. */
  streamTopic: string;
  streamUpdated: typeof streamUpdated;
}

/** Chats that a process remembers for half a second, some 20 kB each. */
const RECENT_CHATS = 500;

export function createChatModule(deps: ChatDeps): FeatureModule & { liveChat: LiveChat } {
  const { config, db, cursors, bus, caps, access, entitlements, streams, streamTails: tails } = deps;
  const { avatarUrl, displayNameOf, findChannel, profiles, streamSnapshots, streamTopic, streamUpdated } =
    deps;
  const chat = createChat({
    ...deps,
    toMessage,
    async creatorOf({ account_id: accountId, workspace_id: workspaceId }) {
      const [profile, row] = await Promise.all([profiles.get(accountId), findChannel(db, workspaceId)]);
      const { id, username, name: accountName } = profile;
      const displayName = displayNameOf({ profile, row });
      return { id, username, displayName, accountName, avatarUrl: avatarUrl(profile, config.PUBLIC_URL) };
    },
  });
  const onChanged = (listener: (id: string) => void) => {
    for (const topic of [STREAM_LOG_TOPIC, streamTopic]) bus.subscribe(topic, listener);
  };
  const recent = createSnapshots({ find: (id) => chat.recent(id), onChanged }, 'str', {
    maxEntries: RECENT_CHATS,
  });
  const watched = createSnapshots(streamSnapshots, 'str');
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
  const guests = createGuestSessions(deps);
  return {
    async liveChat(streamId, suffix, asking) {
      const shown = await recent.get(streamId);
      if (!shown?.isOpen) return null;
      const modes = await entitledModes(streamId, asking);
      return chatPanel(streamId, suffix, { recent: shown, entitledModes: modes });
    },

    routes: () => chatRoutes({ chat, streams, tails, cursors }),
    pages: () => [guestChatPages({ chat, recent, guests, tails, admits, entitledModes, caps })],
    consumers: createChatConsumers({ chat, streams: { streamUpdated } }),
    tasks: () => [{ name: 'chat message cleanup', everyMs: INTERVALS.hour, run: () => chat.forget() }],
  };
}
