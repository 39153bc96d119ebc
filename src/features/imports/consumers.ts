import { type EventConsumer, on } from '../../events/index.ts';
import type { JobQueue } from '../../jobs/job.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { videoDeleted, videoProcessingCompleted, videoProcessingFailed } from '../videos/index.ts';
import { endImport } from './ending.ts';
import { importJob } from './jobs.ts';
import * as repository from './repository.ts';
import { isTerminal } from './rules.ts';

interface VideoEnds {
  videoProcessingCompleted: typeof videoProcessingCompleted;
  videoProcessingFailed: typeof videoProcessingFailed;
  videoDeleted: typeof videoDeleted;
}

interface Deps {
  jobs: Pick<JobQueue, 'cancel'>;
  clock: Clock;
  /** The events of a video that an import ends with. */
  videos: VideoEnds;
}

/** An import ends with its video, in the transaction that tells of the video. */
export function createImportConsumers({ jobs, clock, videos }: Deps): EventConsumer[] {
  return [
    on(videos.videoProcessingCompleted, async (tx, { data }, append) => {
      const row = await repository.lockImportOf(tx, data.videoId);
      // One whose processing was retried had failed before.
      if (row === undefined || (row.status !== 'PROCESSING' && row.status !== 'FAILED')) return;
      await endImport(tx, append, row, { at: clock.now(), error: null });
    }),
    on(videos.videoProcessingFailed, async (tx, { data }, append) => {
      const row = await repository.lockImportOf(tx, data.videoId);
      if (row === undefined || isTerminal(row.status)) return;
      await endImport(tx, append, row, { at: clock.now(), error: data.error });
    }),
    on(videos.videoDeleted, async (tx, { data }) => {
      const row = await repository.lockImportOf(tx, data.videoId);
      if (row === undefined || isTerminal(row.status)) return;
      await repository.updateImport(tx, row.id, { status: 'CANCELED', completed_at: clock.now() });
      await jobs.cancel(tx, importJob, row.id);
    }),
  ];
}
