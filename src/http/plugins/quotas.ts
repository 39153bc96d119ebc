import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { HttpPorts } from '../ports.ts';

/**
 * Reports requests that may have changed the usage of the plan, and rejections by the plan
 * (docs/concepts/quota.md#events).
 */
export function quotas(app: FastifyInstance, { quotas: told }: Pick<HttpPorts, 'quotas'>): void {
  app.decorateRequest('quotaRefusal', null);
  app.addHook('onResponse', (request, reply, done) => {
    const { caller, quotaRefusal } = request;
    if (quotaRefusal !== null) told.refused(quotaRefusal);
    else if (caller !== null && reply.statusCode < 300 && uses(request)) told.changed(caller.workspaceId);
    done();
  });
}

function uses({ method, endpoint }: FastifyRequest): boolean {
  if (method === 'DELETE') return true;
  return method !== 'GET' && method !== 'HEAD' && endpoint?.errors.includes('QUOTA_EXCEEDED') === true;
}
