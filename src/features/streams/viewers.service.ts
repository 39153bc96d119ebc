import { createHmac, randomBytes } from 'node:crypto';
import { type Clock, dateFromMs } from '../../kernel/clock.ts';
import { DAY_MS } from '../../kernel/durations.ts';
import type { Db } from '../../platform/db/index.ts';
import type { Secrets } from '../../platform/secrets.ts';
import * as repository from './viewers.repository.ts';
import {
  createPresence,
  dayOf,
  type Sign,
  STAY_MAX_MS,
  type Stay,
  type ViewerIdentity,
  type Watched,
} from './viewers.ts';

/** How often `flush` should run, in milliseconds. */
export const VIEWER_FLUSH_MS = 5000;

const BATCH = 2000;
const SALT_BYTES = 32;
const HASH_BYTES = 9;
/** Two days of salts, and whoever the last broadcasts have left behind. */
const KEPT_MS = 2 * DAY_MS;

/**
 * Who watches: `viewerCount`, `peakViewers` and `uniqueViewers`
 * (docs/decisions/views-and-viewers.md#viewers-of-a-broadcast). Signs are gathered in memory and written together;
 * the database adds them up over all processes.
 */
export interface Viewers {
  /** A sign of a viewer who may watch the broadcast. */
  seen(stream: Watched, viewer: ViewerIdentity, sign?: Sign): void;
  /** Writes what was seen, and counts. Every five seconds; what fails is written the next time. */
  flush(): Promise<void>;
  /** Forgets the salts of days that are over, and what they have hashed. Every hour. */
  forget(): Promise<void>;
}

interface Deps {
  db: Db;
  clock: Clock;
  secrets: Pick<Secrets, 'sign' | 'encrypt' | 'decrypt'>;
}

export function createViewers({ db, clock, secrets }: Deps): Viewers {
  const presence = createPresence((text) => secrets.sign('viewer', text));
  const salts = createSalts({ db, secrets });

  const write = async (stays: readonly Stay[], now: Date) => {
    const saltOf = new Map<string, Buffer>();
    for (const day of new Set(stays.map((stay) => stay.day))) saltOf.set(day, await salts.of(day));
    for (let at = 0; at < stays.length; at += BATCH) {
      const batch = stays.slice(at, at + BATCH);
      const stored = batch.map((stay) => toStored(stay, saltOf.get(stay.day) ?? Buffer.alloc(0)));
      await repository.writeStays(db, stored, now);
      presence.written(batch);
    }
  };
  const count = (now: Date) =>
    db.transaction().execute(async (tx) => {
      const locked = await repository.lockWatched(tx);
      if (locked.length === 0) return;
      const latest = dateFromMs(now.getTime() + STAY_MAX_MS);
      await repository.countViewers(tx, locked, { now, latest });
      await repository.dropSpent(tx, locked, now);
    });

  return {
    seen: (stream, viewer, sign = 'playlist') => presence.note(stream, viewer, sign, clock.ms()),
    async flush() {
      const now = clock.now();
      await write(presence.unwritten(), now);
      await count(now);
      presence.forget(now.getTime());
    },
    async forget() {
      const nowMs = clock.ms();
      salts.forget();
      await repository.dropOld(db, {
        days: [dayOf(nowMs - DAY_MS), dayOf(nowMs), dayOf(nowMs + DAY_MS)],
        from: dateFromMs(nowMs - KEPT_MS),
        until: dateFromMs(nowMs + DAY_MS),
      });
    },
  };
}

function toStored({ streamId, sessionId, day, who, hasBeacon, untilMs }: Stay, salt: Buffer) {
  const text = JSON.stringify([streamId, sessionId, who]);
  const viewer = createHmac('sha256', salt).update(text).digest().subarray(0, HASH_BYTES).toString('hex');
  return { streamId, viewer, sessionId, day, hasBeacon, until: dateFromMs(untilMs) };
}

/** The salt of each day, shared by all processes; what this one knows is forgotten with the rest. */
function createSalts({ db, secrets }: Pick<Deps, 'db' | 'secrets'>) {
  const known = new Map<string, Buffer>();
  const context = (day: string) => `viewer-salt:${day}`;
  return {
    async of(day: string): Promise<Buffer> {
      const salt = known.get(day);
      if (salt !== undefined) return salt;
      const fresh = secrets.encrypt(randomBytes(SALT_BYTES).toString('hex'), context(day));
      const kept = secrets.decrypt(await repository.keepSalt(db, day, fresh), context(day));
      const made = Buffer.from(kept, 'hex');
      known.set(day, made);
      return made;
    },
    forget: () => known.clear(),
  };
}
