import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError } from '../../kernel/errors.ts';
import type { HttpPorts } from '../ports.ts';

/**
 * `Origin`, else the origin of `Referer` (docs/concepts/integration-domains.md); null where neither names a page.
 */
export function originOf({ origin, referer }: FastifyRequest['headers']): URL | null {
  return URL.parse(origin ?? referer ?? '');
}

/**
 * Checkout and payment calls come from the platform or a verified integration domain
 * (docs/concepts/integration-domains.md#the-origin-lock).
 */
export function originLock(app: FastifyInstance, ports: Pick<HttpPorts, 'originLock'>): void {
  // Not async: endpoints without a lock need no promise.
  app.addHook('onRequest', (request, _reply, done) => {
    const { caller, headers, endpoint } = request;
    if (endpoint?.originLock !== true || caller === null) return done();
    ports.originLock.refusal(caller, originOf(headers)).then(
      (refusal) => done(refusal === null ? undefined : new AppError(refusal)),
      (error: unknown) => done(error instanceof Error ? error : new Error(String(error))),
    );
  });
}
