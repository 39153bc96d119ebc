import { type EventConsumer, on } from '../../../events/index.ts';
import type { JobQueue } from '../../../jobs/job.ts';
import type { Clock } from '../../../kernel/clock.ts';
import type {
  videoDeleted,
  videoProcessingCompleted,
  videoProcessingFailed,
  videoReplaced,
  videoReplacementFailed,
} from '../videos/index.ts';
import { cancelImport, finishImport } from './completion.ts';
import * as repository from './repository.ts';
import { isTerminal } from './rules.ts';

interface VideoEnds {
  videoProcessingCompleted: typeof videoProcessingCompleted;
  videoProcessingFailed: typeof videoProcessingFailed;
  videoDeleted: typeof videoDeleted;
  videoReplaced: typeof videoReplaced;
  videoReplacementFailed: typeof videoReplacementFailed;
}

interface Deps {
  jobs: Pick<JobQueue, 'cancel'>;
  clock: Clock;
  /** The events of a video that an import ends with. */
  videos: VideoEnds;
}

/** Ends an import together with its video, in the transaction of the video's event. */
export function createImportConsumers({ jobs, clock, videos }: Deps): EventConsumer[] {
  return [
    on(videos.videoProcessingCompleted, async (tx, { data }, append) => {
      const row = await repository.lockImportOf(tx, data.videoId);
      // A retried processing had failed before.
      if (row === undefined || (row.status !== 'PROCESSING' && row.status !== 'FAILED')) return;
      await finishImport(tx, append, row, { at: clock.now(), error: null });
    }),
    on(videos.videoProcessingFailed, async (tx, { data }, append) => {
      const row = await repository.lockImportOf(tx, data.videoId);
      if (row === undefined || isTerminal(row.status)) return;
      await finishImport(tx, append, row, { at: clock.now(), error: data.error });
    }),
    on(videos.videoReplaced, async (tx, { data: { importId } }, append) => {
      if (importId === null) return;
      const row = await repository.lockImport(tx, importId);
      if (!isTerminal(row.status)) await finishImport(tx, append, row, { at: clock.now(), error: null });
    }),
    on(videos.videoReplacementFailed, async (tx, { data: { importId, error } }, append) => {
      if (importId === null) return;
      const row = await repository.lockImport(tx, importId);
      if (!isTerminal(row.status)) await finishImport(tx, append, row, { at: clock.now(), error });
    }),
    on(videos.videoDeleted, async (tx, { data }) => {
      for (const row of await repository.lockImportsOf(tx, data.videoId)) {
        if (!isTerminal(row.status)) await cancelImport({ jobs, clock }, tx, row.id);
      }
    }),
  ];
}
