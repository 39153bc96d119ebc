import {
  createImportConsumers,
  createImportRunner,
  importEvents,
  importJob,
  importRoutes,
} from '../../features/video/imports/index.ts';
import {
  videoDeleted,
  videoProcessingCompleted,
  videoProcessingFailed,
  videoReplaced,
  videoReplacementFailed,
} from '../../features/video/videos/index.ts';
import type { OptionalModule } from '../core.ts';

/** They wait for other servers most of the time. */
const AT_ONCE = 4;

export const imports: OptionalModule = {
  events: importEvents,
  jobs: [importJob],
  build(core) {
    return {
      routes: () => importRoutes(core),
      jobs: () => [
        { job: importJob, concurrency: AT_ONCE, perGroup: AT_ONCE - 1, run: createImportRunner(core) },
      ],
      consumers: createImportConsumers({
        ...core,
        videos: {
          ...{ videoProcessingCompleted, videoProcessingFailed, videoDeleted },
          ...{ videoReplaced, videoReplacementFailed },
        },
      }),
    };
  },
};
