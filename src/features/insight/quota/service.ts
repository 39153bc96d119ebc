import type { Caller } from '../../../kernel/access.ts';
import { type Clock, dateFromMs } from '../../../kernel/clock.ts';
import { notFound } from '../../../kernel/errors.ts';
import { PLANS, type Plan } from '../../../kernel/plans.ts';
import type { Counter, WindowCount } from '../../../platform/counters.ts';
import type { Db } from '../../../platform/db/index.ts';
import { getWorkspaceOwner } from '../../../platform/db/workspace.ts';
import { type Reading, type ResourceMeter, readingOf } from './rules.ts';

interface Deps {
  db: Db;
  clock: Clock;
  /** Meters in display order. */
  meters: readonly ResourceMeter[];
  /** Counters of all requests. */
  requests: { perMinute: Pick<Counter, 'peek'>; perDay: Pick<Counter, 'peek'> };
}

/** Request limit; `used` is null while it cannot be counted. */
export interface RequestWindow {
  limit: number;
  used: number | null;
  remaining: number | null;
  resetsAt: Date;
}

export interface RequestLimits {
  perMinute: RequestWindow;
  /** Null for a key without a daily quota. */
  perDay: RequestWindow | null;
}

export interface Quota {
  /** Returns the current plan and readings: the caller's plan may be outdated. */
  read(workspaceId: string): Promise<{ plan: Plan; resources: Reading[] }>;
  /** @throws {AppError} NOT_FOUND for an unknown resource. */
  resource(workspaceId: string, key: string): Promise<Reading>;
  /** Returns the request limits of the caller, including this request. */
  requests(caller: Caller): Promise<RequestLimits>;
}

export function createQuota({ db, clock, meters, requests }: Deps): Quota {
  const planOf = async (workspaceId: string) => (await getWorkspaceOwner(db, workspaceId)).plan;
  const read = async (meter: ResourceMeter, workspaceId: string, plan: Plan) =>
    readingOf(meter, meter.limit(PLANS[plan]), await meter.used(workspaceId));
  const windowOf = (limit: number, { count, resetInMs }: WindowCount): RequestWindow => {
    const used = count < 0 ? null : Math.min(count, limit);
    return {
      limit,
      used,
      remaining: used === null ? null : limit - used,
      resetsAt: dateFromMs(clock.ms() + resetInMs),
    };
  };
  return {
    async read(workspaceId) {
      const plan = await planOf(workspaceId);
      const resources = await Promise.all(meters.map((meter) => read(meter, workspaceId, plan)));
      return { plan, resources };
    },
    async resource(workspaceId, key) {
      const meter = meters.find((one) => one.key === key);
      if (meter === undefined) throw notFound();
      return read(meter, workspaceId, await planOf(workspaceId));
    },
    async requests({ actor, rateLimitPerMinute, dailyQuota }) {
      const minute = await requests.perMinute.peek(actor.id);
      const day = dailyQuota === null ? null : await requests.perDay.peek(actor.id);
      return {
        perMinute: windowOf(rateLimitPerMinute, minute),
        perDay: day === null || dailyQuota === null ? null : windowOf(dailyQuota, day),
      };
    },
  };
}
