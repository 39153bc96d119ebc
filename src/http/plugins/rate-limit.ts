import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Caller } from '../../kernel/access.ts';
import { tooMany } from '../../kernel/errors.ts';
import type { WindowCount } from '../../platform/counters.ts';
import type { HttpPorts } from '../ports.ts';

type Ports = Pick<HttpPorts, 'counters' | 'clock'>;

/**
 * The general per-minute limit of a key or session and the daily quota of a key, and the headers of
 * docs/api/conventions.md#rate-limits.
 */
export function rateLimit(app: FastifyInstance, ports: Ports): void {
  app.addHook('onRequest', async (request, reply) => {
    const { caller } = request;
    if (caller === null) return;
    reply.header('Svc-Key-Mode', caller.mode);
    // The time before the count: the end of a window never seems later than it is.
    const now = ports.clock.ms();
    const window = await ports.counters.perMinute(caller.actor.id);
    announce(reply, 'X-RateLimit', caller.rateLimitPerMinute, window, now);
    const overMinute = window.count > caller.rateLimitPerMinute;
    await countDay(reply, ports, caller, !overMinute);
    if (overMinute) throw tooMany('RATE_LIMITED', window.resetInMs);
  });
}

/** @param counts false for a request that is refused already: it shows the quota and uses none of it. */
async function countDay(reply: FastifyReply, ports: Ports, caller: Caller, counts: boolean): Promise<void> {
  const { actor, dailyQuota } = caller;
  if (dailyQuota === null) return;
  const now = ports.clock.ms();
  const day = await (counts ? ports.counters.perDay(actor.id) : ports.counters.dayCount(actor.id));
  announce(reply, 'X-RateLimit-Daily', dailyQuota, day, now);
  if (counts && day.count > dailyQuota) throw tooMany('DAILY_QUOTA_EXCEEDED', day.resetInMs);
}

function announce(
  reply: FastifyReply,
  prefix: string,
  limit: number,
  window: WindowCount,
  now: number,
): void {
  const remaining = window.count < 0 ? -1 : Math.max(0, limit - window.count);
  reply.header(`${prefix}-Limit`, limit);
  reply.header(`${prefix}-Remaining`, remaining);
  reply.header(`${prefix}-Reset`, Math.ceil((now + window.resetInMs) / 1000));
}
