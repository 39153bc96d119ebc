import Type from 'typebox';
import { defineJob } from '../../../jobs/job.ts';

/** Erases one account; its key is the account's id. It goes on until it is done, so it has many tries. */
export const erasureJob = defineJob({
  name: 'account.erase',
  payload: Type.Object({ accountId: Type.String() }),
  retrySec: [60, 300, 900, 3600, 3600, 3600, 21_600, 21_600, 86_400, 86_400, 86_400],
});

/** Makes one archive; its key is the archive's id. */
export const exportJob = defineJob({
  name: 'account.export',
  payload: Type.Object({ accountId: Type.String(), exportId: Type.String() }),
  retrySec: [60, 600, 3600],
});
