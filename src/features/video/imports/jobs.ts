import Type from 'typebox';
import { defineJob } from '../../../jobs/job.ts';

/** Fetches the file of one import; its key is the import's id. */
export const importJob = defineJob({
  name: 'import.fetch',
  payload: Type.Object({ importId: Type.String() }),
  retrySec: [5, 60],
});
