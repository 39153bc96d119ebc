import { createProfiles } from '../../features/accounts/index.ts';
import { chatRoutes, createChat, toMessage } from '../../features/chat/index.ts';
import type { Noun } from '../core.ts';
import { EVERY } from '../part.ts';

export const chat: Noun = {
  build(core) {
    const { config, cursors, streams, streamTails: tails } = core;
    const profiles = createProfiles(core);
    const chat = createChat({
      ...core,
      toMessage,
      async creatorOf(accountId) {
        const { id, username, name, avatar_id: avatar } = await profiles.get(accountId);
        const avatarUrl = avatar === null ? null : `${config.PUBLIC_URL}/avatars/${avatar}.webp`;
        return { id, username, displayName: name ?? username, avatarUrl };
      },
    });
    return {
      routes: () => chatRoutes({ chat, streams, tails, cursors }),
      tasks: () => [{ name: 'old chat messages', everyMs: EVERY.hour, run: () => chat.forget() }],
    };
  },
};
