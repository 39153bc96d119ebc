import Type from 'typebox';
import { defineJob } from '../../../jobs/job.ts';

/** Job that emails the members of a cohort about its new times. */
export const cohortMovedJob = defineJob({
  name: 'booking.cohort-moved',
  payload: Type.Object({ cohortId: Type.String() }),
  retrySec: [5, 60, 600, 3600],
});
