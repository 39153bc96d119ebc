import Type from 'typebox';
import { defineJob } from '../../../jobs/job.ts';

/** Job that settles a refund for which no caller waits. The reconciler retries failures. */
export const settleRefundJob = defineJob({
  name: 'payment.settle-refund',
  payload: Type.Object({ paymentId: Type.String() }),
  retrySec: [],
});

/** Job that deletes erased customers at the provider, which may be unavailable for days. */
export const deleteCustomersJob = defineJob({
  name: 'payment.forget-customers',
  payload: Type.Object({
    customers: Type.Array(Type.Object({ id: Type.String(), ref: Type.Union([Type.String(), Type.Null()]) })),
  }),
  retrySec: [60, 600, 3600, 21_600, 86_400, 86_400, 86_400],
});
