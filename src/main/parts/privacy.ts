import { createLinks, createSubscribers } from '../../features/audience/subscribers/index.ts';
import { credentialCaps } from '../../features/identity/auth/index.ts';
import {
  createEraser,
  createErasure,
  createExporter,
  createExports,
  downloadPages,
  erasureJob,
  exportJob,
  privacyRoutes,
  undoDeletionPages,
} from '../../features/identity/privacy/index.ts';
import { deleteJobsReferencing } from '../../jobs/repository.ts';
import { createVideoFiles } from '../../media/playback/index.ts';
import { workspaceOf } from '../../platform/db/workspace.ts';
import type { OptionalModule } from '../core.ts';
import { INTERVALS } from '../feature-module.ts';
import { privacyCommands, privacyRunners } from './privacy-commands.ts';

export const privacy: OptionalModule = {
  jobs: [erasureJob, exportJob],
  commands: privacyCommands,
  build(core) {
    const { db, apiKeys, auth, team, follows, config, customerForgetting } = core;
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
      forgetCustomers: customerForgetting.enqueue,
      signIns: {
        confirmPassword: auth.confirmPassword,
        endAll: (tx, id) => auth.signIns.endAll(tx, id, { tokenId: null, sessionId: null }),
        forget,
      },
      publicUrl: config.PUBLIC_URL,
    });
    const exporting = {
      ...core,
      workspaceOf: (accountId: string) => workspaceOf(db, accountId, 'live'),
      publicUrl: config.PUBLIC_URL,
    };
    const exports = createExports(exporting);
    return {
      routes: () => privacyRoutes({ erasure, exports, limits: credentialCaps('account-deletion') }),
      pages: ({ assets }) => {
        const files = createVideoFiles({ store: core.store, accelPrefix: config.ACCEL_REDIRECT_PREFIX });
        return [undoDeletionPages({ erasure, assets }), downloadPages({ exports, files, assets })];
      },
      tasks: () => [{ name: 'exports', everyMs: INTERVALS.hour, run: () => exports.cleanUp() }],
      commands: () => privacyRunners({ erasure }),
      jobs: () => [
        { job: exportJob, concurrency: 1, run: createExporter({ ...exporting, exports }) },
        {
          job: erasureJob,
          concurrency: 1,
          run: createEraser({
            ...core,
            forget,
            forgetSubscriber,
            forgetCustomers: customerForgetting.enqueue,
            leaveTeam: (userId, accountId) => team.leave(userId, accountId),
            unfollowAll: (accountId) => follows.endAll(accountId),
            forgetJobs: (ids, except) => deleteJobsReferencing(db, ids, except),
          }),
        },
      ],
    };
  },
};
