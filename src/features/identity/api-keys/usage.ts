import type { Clock } from '../../../kernel/clock.ts';
import { MINUTE_MS } from '../../../kernel/durations.ts';
import type { Logger } from '../../../platform/logger.ts';
import type { KeyUse } from './repository.ts';

const FLUSH_MS = 500;
const ENTRIES = 50_000;

/** Batches when and from where keys were used, and writes it outside of requests. */
export interface KeyUsage {
  note(keyId: string, ip: string): void;
  /** Writes pending uses. */
  close(): Promise<void>;
}

interface Deps {
  write(uses: readonly KeyUse[]): Promise<void>;
  clock: Clock;
  log: Pick<Logger, 'warn'>;
}

export function createKeyUsage({ write, clock, log }: Deps): KeyUsage {
  const noted = new Map<string, number>();
  let waiting: KeyUse[] = [];
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();

  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    const uses = waiting;
    waiting = [];
    if (uses.length === 0) return writing;
    writing = writing
      .then(() => write(uses))
      .catch((error: unknown) => log.warn({ err: error }, 'the use of keys could not be stored'));
    return writing;
  };

  return {
    note(keyId, ip) {
      const now = clock.ms();
      const last = noted.get(keyId);
      if (last !== undefined && now - last < MINUTE_MS) return;
      if (noted.size >= ENTRIES) noted.clear();
      noted.set(keyId, now);
      waiting.push({ keyId, ip: ip.replace(/^::ffff:(?=\d+\.)/i, ''), at: clock.now() });
      timer ??= setTimeout(flush, FLUSH_MS).unref();
    },
    close: flush,
  };
}
