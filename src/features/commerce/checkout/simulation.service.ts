import { AppError } from '../../../kernel/errors.ts';
import type { CountMail } from '../../integration/mail/index.ts';
import type { CheckoutPayments } from './pay.service.ts';
import type { CheckoutRow } from './rules.ts';
import type { OUTCOMES } from './schemas.ts';
import type { Checkouts } from './service.ts';

/** Simulated buyer actions in test mode. */
export interface CheckoutSimulations {
  /** @throws {AppError} NOT_FOUND; CONFLICT when the checkout has ended, or nothing is due that could be declined. */
  simulate(
    workspaceId: string,
    id: string,
    how: { outcome: (typeof OUTCOMES)[number]; countMail: CountMail },
  ): Promise<CheckoutRow>;
}

const CARDS = { PAID: '4242424242424242', DECLINED: '4000000000000002' };
const BUYER = 'buyer@example.com';

export function createCheckoutSimulations(deps: {
  checkouts: Pick<Checkouts, 'get'>;
  checkoutPayments: Pick<CheckoutPayments, 'pay' | 'expire'>;
}): CheckoutSimulations {
  const { checkouts, checkoutPayments } = deps;
  return {
    async simulate(workspaceId, id, { outcome, countMail }) {
      const row = await checkouts.get(workspaceId, id);
      if (outcome === 'EXPIRED') return checkoutPayments.expire(id);
      if (row.status !== 'OPEN')
        throw new AppError('CONFLICT', { message: 'The checkout is no longer open.' });
      if (outcome === 'DECLINED' && (row.amount_cents === 0 || row.trial_days > 0)) {
        throw new AppError('CONFLICT', { message: 'Nothing is due, so no payment can be declined.' });
      }
      const payment = { email: row.customer_email ?? BUYER, card: CARDS[outcome] };
      await checkoutPayments.pay(id, payment, countMail);
      return checkouts.get(workspaceId, id);
    },
  };
}
