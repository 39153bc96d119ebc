import type { Events } from '../../../events/index.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { dateFromMs } from '../../../kernel/clock.ts';
import { DAY_MS, MINUTE_MS } from '../../../kernel/durations.ts';
import { startOfMonth } from '../../../kernel/months.ts';
import { PLANS, type QuotaExceededDetails, RESOURCE_KEYS, type ResourceKey } from '../../../kernel/plans.ts';
import type { Bus } from '../../../platform/bus.ts';
import type { Db } from '../../../platform/db/index.ts';
import { getWorkspaceOwner } from '../../../platform/db/workspace.ts';
import type { Logger } from '../../../platform/logger.ts';
import { quotaExceededEvent, quotaWarning } from './events.ts';
import * as repository from './repository.ts';
import { nextNotification, type ResourceMeter } from './rules.ts';

const CHANGED_TOPIC = 'quota';
const REFUSED_TOPIC = 'quota.refused';
/** Maximum workspaces queued for a check; others are found by their usage. */
const MAX_QUEUED_WORKSPACES = 5000;
const TRIES = 5;

/** Returns functions that publish changes of plan usage; messages may be lost. */
export function createQuotaSignals(bus: Pick<Bus, 'publish'>) {
  return {
    changed: (workspaceId: string) => bus.publish(CHANGED_TOPIC, workspaceId),
    refused: ({ workspaceId, resource }: QuotaExceededDetails) =>
      bus.publish(REFUSED_TOPIC, `${workspaceId} ${resource}`),
  };
}

/** Notifications of accounts about the usage of their plans (docs/concepts/quota.md#events). */
export interface QuotaNotifications {
  /** Checks workspaces with reported changes, and each minute those with recent usage. */
  run(): Promise<void>;
}

interface Deps {
  db: Db;
  events: Events;
  clock: Clock;
  bus: Pick<Bus, 'subscribe'>;
  log: Pick<Logger, 'error'>;
  meters: readonly ResourceMeter[];
}

export function createQuotaNotifications(deps: Deps): QuotaNotifications {
  const { db, clock, log, bus } = deps;
  let wanted = new Map<string, Set<ResourceKey>>();
  let lookedMinute = 0;
  const want = (workspaceId: string, refused?: string) => {
    const keys = wanted.get(workspaceId) ?? new Set();
    const key = RESOURCE_KEYS.find((one) => one === refused);
    if (key !== undefined) keys.add(key);
    if (wanted.size < MAX_QUEUED_WORKSPACES) wanted.set(workspaceId, keys);
  };
  bus.subscribe(CHANGED_TOPIC, (workspaceId) => want(workspaceId));
  bus.subscribe(REFUSED_TOPIC, (text) => {
    const [workspaceId = '', key] = text.split(' ', 2);
    want(workspaceId, key);
  });
  return {
    async run() {
      const now = clock.now();
      const minute = Math.floor(now.getTime() / MINUTE_MS);
      if (minute !== lookedMinute) {
        for (const id of await repository.lastActive(db, now)) if (!wanted.has(id)) want(id);
        lookedMinute = minute;
      }
      const looking = wanted;
      wanted = new Map();
      for (const [workspaceId, refused] of looking) {
        await look(deps, workspaceId, refused).catch((error: unknown) =>
          log.error({ err: error, workspaceId }, 'the use of a plan could not be checked'),
        );
      }
    },
  };
}

/** Checks a workspace. A state that another process changed after it was read is read again. */
async function look(deps: Deps, workspaceId: string, refused: ReadonlySet<ResourceKey>): Promise<void> {
  const { db, clock, meters } = deps;
  let open = meters;
  for (let tries = 0; open.length > 0 && tries < TRIES; tries++) {
    const notices = await repository.noticesOf(db, workspaceId);
    // Read after the states, so that none of them is based on a newer plan.
    const { plan, mode } = await getWorkspaceOwner(db, workspaceId);
    const again: ResourceMeter[] = [];
    for (const meter of open) {
      const limit = meter.limit(PLANS[plan]);
      if (limit === null || (meter.isOfAccount === true && mode === 'test')) continue;
      const used = await meter.used(workspaceId);
      const before = notices.find(({ resource }) => resource === meter.key);
      const isRefused = refused.has(meter.key);
      const standing = { used, limit, isRefused, periodStart: periodStartOf(meter, clock.now()) };
      const telling = nextNotification(before, standing);
      if (telling === null) continue;
      const of = { workspaceId, resource: meter.key, version: before?.version ?? null };
      if (!(await emitNotification(deps, of, { ...telling, used, limit }))) again.push(meter);
    }
    open = again;
  }
}

function periodStartOf({ toldFor }: ResourceMeter, now: Date): Date | null {
  if (toldFor === undefined) return null;
  return toldFor === 'MONTH' ? startOfMonth(now) : dateFromMs(Math.floor(now.getTime() / DAY_MS) * DAY_MS);
}

type Telling = NonNullable<ReturnType<typeof nextNotification>> & { used: number; limit: number };

/** @returns false when another process was faster. */
function emitNotification(
  { events }: Deps,
  of: Parameters<typeof repository.upsertNotification>[1],
  { after, level, used, limit }: Telling,
): Promise<boolean> {
  return events.transaction(async (tx, append) => {
    const sequence = await repository.upsertNotification(tx, of, after);
    if (sequence === null) return false;
    if (level === null) return true;
    await repository.setSequence(tx, of, sequence);
    const definition = level === 100 ? quotaExceededEvent : quotaWarning;
    await append(definition, of.workspaceId, { key: of.resource, used, limit, percent: level, sequence });
    return true;
  });
}
