import type { Static } from 'typebox';
import type { VideoRow } from '../repository.ts';
import type { Run } from './flow.ts';
import type { encodeJob } from './jobs.ts';
import type * as repository from './repository.ts';

export type EncodeRun = Run<Static<typeof encodeJob.payload>>;

/** Context of a task of the encode queue. */
export interface EncodeStep {
  run: EncodeRun;
  video: VideoRow;
  processing: repository.Processing;
  /** Belongs to this run. */
  dir: string;
}
