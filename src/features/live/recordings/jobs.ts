import Type from 'typebox';
import { defineJob } from '../../../jobs/job.ts';

/** The parts of a recording become the original of its video. */
export const recordingJob = defineJob({
  name: 'video.recording',
  payload: Type.Object({ recordingId: Type.String() }),
  retrySec: [2, 15, 60],
});
