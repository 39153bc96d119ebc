import Type from 'typebox';
import { defineJob } from '../../../../jobs/job.ts';

/** Captions out of what is spoken. */
export const transcribeJob = defineJob({
  name: 'video.transcribe',
  payload: Type.Object({ videoId: Type.String() }),
  retrySec: [30],
});
