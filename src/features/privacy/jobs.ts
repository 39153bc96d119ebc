import Type from 'typebox';
import { defineJob } from '../../jobs/job.ts';

/** Erases one account; its key is the account's id. It goes on until it is done, so it has many tries. */
export const erasureJob = defineJob({
  name: 'account.erase',
  payload: Type.Object({ accountId: Type.String() }),
  retrySec: [60, 300, 900, 3600, 3600, 3600, 21_600, 21_600, 86_400, 86_400, 86_400],
});
