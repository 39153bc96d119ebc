import Type from 'typebox';
import { defineJob } from '../../../jobs/job.ts';

/** Job that erases one account; its key is the account ID. It has many attempts, because it must complete. */
export const erasureJob = defineJob({
  name: 'account.erase',
  payload: Type.Object({ accountId: Type.String() }),
  retrySec: [60, 300, 900, 3600, 3600, 3600, 21_600, 21_600, 86_400, 86_400, 86_400],
});

/** Job that creates one export; its key is the export ID. */
export const exportJob = defineJob({
  name: 'account.export',
  payload: Type.Object({ accountId: Type.String(), exportId: Type.String() }),
  retrySec: [60, 600, 3600],
});
