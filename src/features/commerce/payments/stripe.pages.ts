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
 * Registers `POST /webhooks/stripe`, which receives Stripe's events (docs/guides/money.md#set-up-stripe).
 * Returns 200 once the event is stored, and for irrelevant events; Stripe retries everything else for days.
 *
 * @throws {AppError} BAD_REQUEST, field `Stripe-Signature`, unless Stripe has signed the event within five
 *   minutes.
 */
export function stripeWebhookPage({ stripe, hints }: Deps): (app: FastifyInstance) => void {
  return (app) => {
    app.register(async (scope) => {
      // The signature covers the raw bytes.
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
