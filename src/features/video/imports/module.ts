import type { Declarations, FeatureModule } from '../../module.ts';
import type { Platform } from '../../platform.ts';
import type {
  VideoIntake,
  videoDeleted,
  videoProcessingCompleted,
  videoProcessingFailed,
  videoReplaced,
  videoReplacementFailed,
} from '../videos/index.ts';
import { createImportConsumers } from './consumers.ts';
import { importEvents } from './events.ts';
import { createImportRunner } from './fetch.service.ts';
import { importJob } from './jobs.ts';
import { importRoutes } from './routes.ts';
import { createImports, type Imports } from './service.ts';

interface ImportsDeps
  extends Pick<
    Platform,
    'clock' | 'cursors' | 'db' | 'disk' | 'events' | 'fetcher' | 'jobs' | 'log' | 'store'
  > {
  intake: VideoIntake;
  videoDeleted: typeof videoDeleted;
  videoProcessingCompleted: typeof videoProcessingCompleted;
  videoProcessingFailed: typeof videoProcessingFailed;
  videoReplaced: typeof videoReplaced;
  videoReplacementFailed: typeof videoReplacementFailed;
}

/** They wait for other servers most of the time. */
const AT_ONCE = 4;

export const importsDeclarations: Declarations = { events: importEvents, jobs: [importJob] };

export function createImportsModule(deps: ImportsDeps): FeatureModule & { imports: Imports } {
  const imports = createImports(deps);
  return {
    imports,
    routes: () => importRoutes({ ...deps, imports }),
    jobs: () => [
      { job: importJob, concurrency: AT_ONCE, perGroup: AT_ONCE - 1, run: createImportRunner(deps) },
    ],
    consumers: createImportConsumers({ ...deps, videos: deps }),
  };
}
