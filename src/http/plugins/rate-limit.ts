import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Caller } from '../../kernel/access.ts';
import { tooManyRequests } from '../../kernel/errors.ts';
import type { WindowCount } from '../../platform/counters.ts';
import type { HttpPorts } from '../ports.ts';

type Ports = Pick<HttpPorts, 'counters' | 'clock'>;

/**
 * The general per-minute limit of a key or session and the daily quota of a key, and the headers of
 * docs/concepts/conventions.md#rate-limits.
 */
export function rateLimit(app: FastifyInstance, ports: Ports): void {
  app.addHook('onRequest', (request, reply, done) => {
    const { caller } = request;
    if (caller === null) return done();
    reply.header('svc-key-mode', caller.mode);
    // The time before the count: the end of a window never seems later than it is.
    const now = ports.clock.ms();
    const counted = ports.counters.perMinute(caller.actor.id);
    if (counted instanceof Promise || caller.dailyQuota !== null) {
      countBoth(reply, ports, caller, { counted, now }).then(() => done(), done);
      return;
    }
    // Counted in this process and only per minute: no wait is needed.
    announce(reply, MINUTE, caller.rateLimitPerMinute, counted, now);
    done(
      counted.count > caller.rateLimitPerMinute
        ? tooManyRequests('RATE_LIMITED', counted.resetInMs)
        : undefined,
    );
  });
}

interface CountedMinute {
  counted: WindowCount | Promise<WindowCount>;
  /** Epoch milliseconds. */
  now: number;
}

async function countBoth(
  reply: FastifyReply,
  ports: Ports,
  caller: Caller,
  { counted, now }: CountedMinute,
): Promise<void> {
  const window = await counted;
  announce(reply, MINUTE, caller.rateLimitPerMinute, window, now);
  const overMinute = window.count > caller.rateLimitPerMinute;
  await countDay(reply, ports, caller, !overMinute);
  if (overMinute) throw tooManyRequests('RATE_LIMITED', window.resetInMs);
}

/** @param counts false for a request that is refused already: it shows the quota and uses none of it. */
async function countDay(reply: FastifyReply, ports: Ports, caller: Caller, counts: boolean): Promise<void> {
  const { actor, dailyQuota } = caller;
  if (dailyQuota === null) return;
  const now = ports.clock.ms();
  const day = await (counts ? ports.counters.perDay(actor.id) : ports.counters.dayCount(actor.id));
  announce(reply, DAY, dailyQuota, day, now);
  if (counts && day.count > dailyQuota) throw tooManyRequests('DAILY_QUOTA_EXCEEDED', day.resetInMs);
}

/** The headers of a count, as Fastify keeps them: it would make others so for each answer. */
const MINUTE = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'] as const;
const DAY = ['x-ratelimit-daily-limit', 'x-ratelimit-daily-remaining', 'x-ratelimit-daily-reset'] as const;

function announce(
  reply: FastifyReply,
  names: typeof MINUTE | typeof DAY,
  limit: number,
  window: WindowCount,
  now: number,
): void {
  const remaining = window.count < 0 ? -1 : Math.max(0, limit - window.count);
  reply.header(names[0], limit);
  reply.header(names[1], remaining);
  reply.header(names[2], Math.ceil((now + window.resetInMs) / 1000));
}
