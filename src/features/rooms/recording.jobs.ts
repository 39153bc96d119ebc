import Type from 'typebox';
import { defineJob } from '../../jobs/job.ts';

/** What was sent into a room becomes the original of a video. */
export const roomRecordingJob = defineJob({
  name: 'room.compose',
  payload: Type.Object({ recordingId: Type.String() }),
  retrySec: [5, 60, 300],
});
