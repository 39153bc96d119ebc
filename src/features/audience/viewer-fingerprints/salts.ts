import { randomBytes } from 'node:crypto';
import { type Clock, utcDay } from '../../../kernel/clock.ts';
import { DAY_MS } from '../../../kernel/durations.ts';
import type { Db } from '../../../platform/db/index.ts';
import type { Secrets } from '../../../platform/secrets.ts';
import * as repository from './repository.ts';

const SALT_BYTES = 32;

/** Random salt for each UTC day, shared by all processes, and deleted with the day after. */
export interface Salts {
  /** @param day `2026-11-20`. */
  of(day: string): Promise<Buffer>;
  /** Deletes the salts of past days; runs every hour. */
  forget(): Promise<void>;
}

interface Deps {
  db: Db;
  clock: Clock;
  secrets: Pick<Secrets, 'encrypt' | 'decrypt'>;
}

export function createSalts({ db, clock, secrets }: Deps): Salts {
  const known = new Map<string, Buffer>();
  const context = (day: string) => `viewer-salt:${day}`;
  return {
    async of(day) {
      const salt = known.get(day);
      if (salt !== undefined) return salt;
      const fresh = secrets.encrypt(randomBytes(SALT_BYTES).toString('hex'), context(day));
      const kept = secrets.decrypt(await repository.insertSaltIfAbsent(db, day, fresh), context(day));
      const made = Buffer.from(kept, 'hex');
      known.set(day, made);
      return made;
    },
    async forget() {
      const nowMs = clock.ms();
      const kept = [utcDay(nowMs - DAY_MS), utcDay(nowMs), utcDay(nowMs + DAY_MS)];
      for (const day of known.keys()) if (!kept.includes(day)) known.delete(day);
      await repository.deleteOldSalts(db, kept);
    },
  };
}
