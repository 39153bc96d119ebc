import { LOGIN_CAPS } from '../../features/auth/index.ts';
import {
  createEraser,
  createErasure,
  erasureJob,
  keepPages,
  privacyRoutes,
} from '../../features/privacy/index.ts';
import { createLinks, createSubscribers } from '../../features/subscribers/index.ts';
import { forgetNaming } from '../../jobs/store.ts';
import type { Noun } from '../core.ts';
import { privacyCommands, privacyRunners } from './privacy-commands.ts';

export const privacy: Noun = {
  jobs: [erasureJob],
  commands: privacyCommands,
  build(core) {
    const { db, apiKeys, auth, team, follows, config } = core;
    const subscribers = createSubscribers({
      ...core,
      links: createLinks({ ...core, publicUrl: config.PUBLIC_URL }),
    });
    const forget = () => {
      auth.signIns.forget();
      apiKeys.forget();
    };
    const forgetSubscriber = (email: string) => subscribers.forget(email);
    const erasure = createErasure({
      ...core,
      forgetSubscriber,
      signIns: {
        confirmPassword: auth.confirmPassword,
        endAll: (tx, id) => auth.signIns.endAll(tx, id, { tokenId: null, sessionId: null }),
        forget,
      },
      publicUrl: config.PUBLIC_URL,
    });
    return {
      routes: () => privacyRoutes({ erasure, limits: LOGIN_CAPS }),
      pages: ({ assets }) => [keepPages({ erasure, assets })],
      commands: () => privacyRunners({ erasure }),
      jobs: () => [
        {
          job: erasureJob,
          concurrency: 1,
          run: createEraser({
            ...core,
            forget,
            forgetSubscriber,
            leaveTeam: (userId, accountId) => team.leave(userId, accountId),
            unfollowAll: (accountId) => follows.endAll(accountId),
            forgetJobs: (ids, except) => forgetNaming(db, ids, except),
          }),
        },
      ],
    };
  },
};
