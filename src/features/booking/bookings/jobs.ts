import Type from 'typebox';
import { defineJob } from '../../../jobs/job.ts';

/** The members of a cohort are told that it takes place at other times. */
export const cohortMovedJob = defineJob({
  name: 'booking.cohort-moved',
  payload: Type.Object({ cohortId: Type.String() }),
  retrySec: [5, 60, 600, 3600],
});
