import type { Socket } from 'node:net';
import type { PublishGrant } from '../contract/index.ts';
import { type ReadBudget, ReadMeter } from '../read-budget.ts';

/**
 * Factor of the plan's bitrate a source may send: containers add overhead, and servers send buffered media.
 */
const BITRATE_FACTOR = 4;
/** Bitrate of the largest plan. */
const DEFAULT_KBPS = 120_000;

/** Lowers the bytes of a budget to what the plan of the stream allows. */
export function planBudget(
  budget: ReadBudget,
  { maxBitrateKbps = DEFAULT_KBPS }: Pick<PublishGrant, 'maxBitrateKbps'>,
): ReadBudget {
  return { ...budget, bytes: Math.min(budget.bytes, ((BITRATE_FACTOR * maxBitrateKbps) / 8) * budget.ms) };
}

/** Socket that is not read while it exceeds its budget, or while it is held. */
export class PacedSocket {
  readonly socket: Socket;
  readonly #meter: ReadMeter;
  #holds = 0;

  constructor(socket: Socket, budget: ReadBudget) {
    this.socket = socket;
    this.#meter = new ReadMeter(budget);
    socket.on('data', ({ length }: Buffer) => this.add(1, length));
  }

  /** Counts input, and stops reading until the budget holds again. Bytes of the socket are counted already. */
  add(items: number, bytes: number): void {
    const waitMs = this.#meter.add(items, bytes);
    if (waitMs > 0) this.hold(new Promise((resolve) => setTimeout(resolve, waitMs)));
  }

  /** Stops reading until the promise resolves. */
  hold(until: Promise<void>): void {
    this.#holds += 1;
    this.socket.pause();
    void until.then(() => {
      this.#holds -= 1;
      if (this.#holds === 0) this.socket.resume();
    });
  }
}
