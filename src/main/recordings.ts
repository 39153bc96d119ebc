import { join } from 'node:path';
import type { Events } from '../events/index.ts';
import { createRecordingAssembly, createRecordings } from '../features/recordings/index.ts';
import type { StorageQuota } from '../features/usage/index.ts';
import type { VideoIntake } from '../features/videos/index.ts';
import type { JobQueue } from '../jobs/job.ts';
import type { Clock } from '../kernel/clock.ts';
import type { BlobStore } from '../media/contract/index.ts';
import { createRecordingJoiner } from '../media/recording/join.ts';
import type { Config } from '../platform/config.ts';
import type { Db } from '../platform/db/index.ts';
import type { Logger } from '../platform/logger.ts';

interface Parts {
  config: Config;
  db: Db;
  events: Events;
  queue: JobQueue;
  store: BlobStore;
  quota: StorageQuota;
  intake: VideoIntake;
  /** For encoders. */
  threads: number;
  clock: Clock;
  log: Logger;
}

/** Recordings, and the worker that makes videos of them. */
export function composeRecordings(parts: Parts) {
  const { config, log, threads } = parts;
  return {
    recordings: createRecordings(parts),
    recordingAssembly: createRecordingAssembly({
      ...parts,
      joiner: createRecordingJoiner({
        ffmpeg: config.FFMPEG_PATH,
        ffprobe: config.FFPROBE_PATH,
        threads,
        logger: log,
      }),
      scratchDir: join(config.DATA_DIR, 'tmp'),
    }),
  };
}
