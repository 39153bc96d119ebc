import type { Socket } from 'node:net';
import type { PublishGrant } from '../contract/index.ts';

/** What a stream may take is exceeded by containers, and by what a source keeps for those who come. */
const TIMES = 4;
const AVERAGED_MS = 10_000;
/** As the greatest plan has it. */
const DEFAULT_KBPS = 120_000;

/** How much a source may send by the clock: otherwise one whose bytes are no media is taken at the speed of the line. */
export class ByteBudget {
  readonly #bytesPerMs: number;
  readonly #now: () => number;
  #owedBytes = 0;
  #atMs: number;

  /** @param now milliseconds of a clock that never goes back. */
  constructor(
    { maxBitrateKbps = DEFAULT_KBPS }: Pick<PublishGrant, 'maxBitrateKbps'>,
    now = () => performance.now(),
  ) {
    this.#bytesPerMs = (TIMES * maxBitrateKbps) / 8;
    this.#now = now;
    this.#atMs = now();
  }

  /** So much has come. @returns for how many milliseconds nothing more shall; 0 when it may. */
  take(bytes: number): number {
    const nowMs = this.#now();
    this.#owedBytes = Math.max(0, this.#owedBytes - (nowMs - this.#atMs) * this.#bytesPerMs) + bytes;
    this.#atMs = nowMs;
    return Math.max(0, this.#owedBytes / this.#bytesPerMs - AVERAGED_MS);
  }
}

/** A connection that sends more than the budget is not read meanwhile. */
export function pace(socket: Socket, grant: Pick<PublishGrant, 'maxBitrateKbps'>): void {
  const budget = new ByteBudget(grant);
  socket.on('data', ({ length }: Buffer) => {
    const waitMs = budget.take(length);
    if (waitMs === 0) return;
    socket.pause();
    setTimeout(() => socket.resume(), waitMs);
  });
}
