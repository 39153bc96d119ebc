import type { FastifyInstance, FastifyReply } from 'fastify';
import { AppError } from '../../kernel/errors.ts';
import type { WindowCount } from '../../platform/counters.ts';
import type { Caller } from '../context.ts';
import type { HttpPorts } from '../ports.ts';

type Ports = Pick<HttpPorts, 'counters' | 'clock'>;

/** The general per-minute limit of a key and its daily quota, and the headers of contract 8.2. */
export function rateLimit(app: FastifyInstance, ports: Ports): void {
  app.addHook('onRequest', async (request, reply) => {
    const { caller } = request;
    if (caller === null) return;
    reply.header('Svc-Key-Mode', caller.mode);
    const window = await ports.counters.perMinute(caller.keyId);
    announce(reply, 'X-RateLimit', caller.rateLimitPerMinute, window, ports.clock.ms());
    const overMinute = window.count > caller.rateLimitPerMinute;
    if (!overMinute) await countDay(reply, ports, caller);
    if (overMinute) throw limited('RATE_LIMITED', window);
  });
}

async function countDay(reply: FastifyReply, ports: Ports, caller: Caller): Promise<void> {
  if (caller.dailyQuota === null) return;
  const day = await ports.counters.perDay(caller.keyId);
  announce(reply, 'X-RateLimit-Daily', caller.dailyQuota, day, ports.clock.ms());
  if (day.count > caller.dailyQuota) throw limited('DAILY_QUOTA_EXCEEDED', day);
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

function limited(code: 'RATE_LIMITED' | 'DAILY_QUOTA_EXCEEDED', window: WindowCount): AppError {
  const seconds = Math.max(1, Math.ceil(window.resetInMs / 1000));
  return new AppError(code, { headers: { 'Retry-After': String(seconds) } });
}
