import Type from 'typebox';
import { defineJob } from '../../../jobs/job.ts';

/** Asks the provider for a refund whose transaction nobody waits for. The reconciler retries what fails. */
export const settleRefundJob = defineJob({
  name: 'payment.settle-refund',
  payload: Type.Object({ paymentId: Type.String() }),
  retrySec: [],
});

/** Erased customers are forgotten by the provider as well. It may be out of reach for days. */
export const deleteCustomersJob = defineJob({
  name: 'payment.forget-customers',
  payload: Type.Object({
    customers: Type.Array(Type.Object({ id: Type.String(), ref: Type.Union([Type.String(), Type.Null()]) })),
  }),
  retrySec: [60, 600, 3600, 21_600, 86_400, 86_400, 86_400],
});
