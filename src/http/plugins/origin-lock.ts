import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError } from '../../kernel/errors.ts';
import type { HttpPorts } from '../ports.ts';

/** `Origin`, else the origin of `Referer` (`api.md` C11); null where neither names a page. */
export function originOf({ origin, referer }: FastifyRequest['headers']): URL | null {
  return URL.parse(origin ?? referer ?? '');
}

/** Checkout and payment calls come from the platform or a verified integration domain (contract 5.3). */
export function originLock(app: FastifyInstance, ports: Pick<HttpPorts, 'originLock'>): void {
  app.addHook('onRequest', async (request) => {
    const { caller, headers, routeOptions } = request;
    if (routeOptions.config.route?.originLock !== true || caller === null) return;
    const refusal = await ports.originLock.refusal(caller, originOf(headers));
    if (refusal !== null) throw new AppError(refusal);
  });
}
