import type { Clock } from '../../kernel/clock.ts';
import type { Hardware } from './hardware.ts';

/** An encoder in hardware, shared by what this process makes. */
export interface HardwarePool {
  readonly hardware: Hardware;
  /** At most as many places as are free: none while it rests. */
  take(wanted: number): number;
  give(count: number): void;
  /** It has failed where the software has not: it is left alone for a while. */
  rest(): void;
}

/** A driver that was reset is back by then. */
const REST_MS = 300_000;

/** @param sessions encodes at once. */
export function createHardwarePool(hardware: Hardware, sessions: number, clock: Clock): HardwarePool {
  let free = sessions;
  let restsUntilMs = 0;
  return {
    hardware,
    take(wanted) {
      const count = clock.ms() < restsUntilMs ? 0 : Math.max(0, Math.min(wanted, free));
      free -= count;
      return count;
    },
    give(count) {
      free += count;
    },
    rest() {
      restsUntilMs = clock.ms() + REST_MS;
    },
  };
}
