import type { FastifyInstance, FastifyRequest } from 'fastify';
import { badRequest } from '../../../kernel/errors.ts';
import type { ProviderEventService } from './provider-events.service.ts';
import type { PaymentProvider } from './providers/provider.ts';

interface Deps {
  stripe: Pick<PaymentProvider, 'readWebhook'>;
  hints: Pick<ProviderEventService, 'keep'>;
}

const BODY_MAX_BYTES = 1_000_000;

/**
 * `POST /webhooks/stripe`: what Stripe tells (docs/guides/money.md#set-up-stripe). 200 once it is kept, and for what is of no
 * concern; Stripe repeats everything else for days.
 *
 * @throws {AppError} BAD_REQUEST, field `Stripe-Signature`, for what Stripe has not signed within five minutes.
 */
export function stripeWebhookPage({ stripe, hints }: Deps): (app: FastifyInstance) => void {
  return (app) => {
    app.register(async (scope) => {
      // The signature is over the bytes.
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser(
        '*',
        { parseAs: 'buffer', bodyLimit: BODY_MAX_BYTES },
        (_request, bytes, done) => done(null, bytes),
      );
      scope.post('/webhooks/stripe', async ({ body, headers }: FastifyRequest) => {
        const hint = Buffer.isBuffer(body) ? await stripe.readWebhook(body, headers) : null;
        if (hint === null) {
          throw badRequest('Stripe-Signature', 'Missing, invalid or expired signature.');
        }
        if (hint !== 'OTHER') await hints.keep('STRIPE', hint);
        return { received: true };
      });
    });
  };
}
