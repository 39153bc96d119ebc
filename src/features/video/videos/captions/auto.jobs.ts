import Type from 'typebox';
import { defineJob } from '../../../../jobs/job.ts';

/** Job that creates captions from the speech of a video. */
export const transcribeJob = defineJob({
  name: 'video.transcribe',
  payload: Type.Object({ videoId: Type.String() }),
  retrySec: [30],
});
