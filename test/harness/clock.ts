import { type Clock, dateFromMs } from '../../src/kernel/clock.ts';

/** Clock that only a test advances. */
export class TestClock implements Clock {
  #ms: number;

  /** @param start epoch milliseconds, or an ISO time. */
  constructor(start: number | string = '2026-01-01T00:00:00Z') {
    this.#ms = toMs(start);
  }

  ms(): number {
    return this.#ms;
  }

  now(): Date {
    return dateFromMs(this.#ms);
  }

  advance(ms: number): void {
    this.#ms += ms;
  }

  set(time: number | string): void {
    this.#ms = toMs(time);
  }
}

function toMs(time: number | string): number {
  return typeof time === 'number' ? time : Date.parse(time);
}
