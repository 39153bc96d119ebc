import Type from 'typebox';
import { defineJob } from '../../../jobs/job.ts';

/** Job that turns the parts of a recording into the original of its video. */
export const recordingJob = defineJob({
  name: 'video.recording',
  payload: Type.Object({ recordingId: Type.String() }),
  retrySec: [2, 15, 60],
});
