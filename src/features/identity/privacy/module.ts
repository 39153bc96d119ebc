/** Privacy: erasure of accounts and people, and data exports. */
import { deleteJobsReferencing } from '../../../jobs/repository.ts';
import type { VideoFiles } from '../../../media/contract/index.ts';
import { workspaceOf } from '../../../platform/db/workspace.ts';
import type { Subscribers } from '../../audience/subscribers/index.ts';
import type { CustomerDeletion } from '../../commerce/payments/index.ts';
import type { Mailbox } from '../../integration/mail/index.ts';
import { type Declarations, type FeatureModule, INTERVALS } from '../../module.ts';
import type { Platform } from '../../platform.ts';
import type { Accounts } from '../accounts/index.ts';
import type { ApiKeys } from '../api-keys/index.ts';
import type { Auth, credentialCaps } from '../auth/index.ts';
import type { Team } from '../team/index.ts';
import type { Follows } from '../users/index.ts';
import { privacyCommands, privacyRunners } from './commands.ts';
import { downloadPages } from './download.pages.ts';
import { createEraser } from './erase.service.ts';
import { createErasure } from './erasure.service.ts';
import { createExporter } from './export.service.ts';
import { createExports } from './exports.service.ts';
import { erasureJob, exportJob } from './jobs.ts';
import { privacyRoutes } from './routes.ts';
import { undoDeletionPages } from './undo-deletion.pages.ts';

interface PrivacyDeps
  extends Pick<Platform, 'clock' | 'config' | 'db' | 'disk' | 'jobs' | 'log' | 'secrets' | 'store'> {
  accounts: Accounts;
  apiKeys: ApiKeys;
  auth: Auth;
  customerDeletion: CustomerDeletion;
  follows: Follows;
  mailbox: Mailbox;
  team: Team;
  subscribers: Subscribers;
  videoFiles: VideoFiles;
  credentialCaps: typeof credentialCaps;
}

export const privacyDeclarations: Declarations = { jobs: [erasureJob, exportJob], commands: privacyCommands };

export function createPrivacyModule(deps: PrivacyDeps): FeatureModule {
  const { db, apiKeys, auth, team, follows, config, customerDeletion } = deps;
  const forget = () => {
    auth.signIns.forget();
    apiKeys.forget();
  };
  const forgetSubscriber = (email: string) => deps.subscribers.forget(email);
  const erasure = createErasure({
    ...deps,
    forgetSubscriber,
    forgetCustomers: customerDeletion.enqueue,
    signIns: {
      confirmPassword: auth.confirmPassword,
      endAll: (tx, id) => auth.signIns.endAll(tx, id, { tokenId: null, sessionId: null }),
      forget,
    },
    publicUrl: config.PUBLIC_URL,
  });
  const exporting = {
    ...deps,
    workspaceOf: (accountId: string) => workspaceOf(db, accountId, 'live'),
    publicUrl: config.PUBLIC_URL,
  };
  const exports = createExports(exporting);
  return {
    routes: () => privacyRoutes({ erasure, exports, limits: deps.credentialCaps('account-deletion') }),
    pages: ({ assets }) => [
      undoDeletionPages({ erasure, assets }),
      downloadPages({ exports, files: deps.videoFiles, assets }),
    ],
    tasks: () => [{ name: 'exports', everyMs: INTERVALS.hour, run: () => exports.cleanUp() }],
    commands: () => privacyRunners({ erasure }),
    jobs: () => [
      { job: exportJob, concurrency: 1, run: createExporter({ ...exporting, exports }) },
      {
        job: erasureJob,
        concurrency: 1,
        run: createEraser({
          ...deps,
          forget,
          forgetSubscriber,
          forgetCustomers: customerDeletion.enqueue,
          leaveTeam: (userId, accountId) => team.leave(userId, accountId),
          unfollowAll: (accountId) => follows.endAll(accountId),
          forgetJobs: (ids, except) => deleteJobsReferencing(db, ids, except),
        }),
      },
    ],
  };
}
