import Type from 'typebox';
import { defineJob } from '../../../jobs/job.ts';

/** Job that fetches the file of one import; its key is the import's ID. */
export const importJob = defineJob({
  name: 'import.fetch',
  payload: Type.Object({ importId: Type.String() }),
  retrySec: [5, 60],
});
