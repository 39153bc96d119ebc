import Type from 'typebox';
import { defineJob } from '../../jobs/job.ts';

/** Job that composes the tracks of a room into the original of a video. */
export const roomRecordingJob = defineJob({
  name: 'room.compose',
  payload: Type.Object({ recordingId: Type.String() }),
  retrySec: [5, 60, 300],
});
