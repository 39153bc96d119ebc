import type { Clock } from '../../kernel/clock.ts';
import type { Hardware } from './hardware.ts';

/** Hardware encoder, shared by the encodes of this process. */
export interface HardwarePool {
  readonly hardware: Hardware;
  /** Takes up to the given number of free sessions; none while it is paused. */
  take(wanted: number): number;
  give(count: number): void;
  /** Pauses the hardware for a while, after it failed where the software did not. */
  rest(): void;
}

/** A driver that was reset is back by then. */
const REST_MS = 300_000;

/** @param sessions maximum concurrent encodes. */
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
