/** Maximum connections of encoders: of all together, and of one IP address. */
export interface ConnectionLimits {
  connections: number;
  connectionsPerAddress: number;
}

export const DEFAULT_CONNECTION_LIMITS: ConnectionLimits = { connections: 1000, connectionsPerAddress: 20 };

/** Counter of the open connections of a listener. */
export class ConnectionLimit {
  readonly #limits: ConnectionLimits;
  readonly #perAddress = new Map<string, number>();
  #total = 0;

  constructor(limits: ConnectionLimits) {
    this.#limits = limits;
  }

  /** Counts a connection. @returns false when it exceeds a limit; it is not counted then. */
  admit(address: string): boolean {
    const count = this.count(address) + 1;
    const { connections, connectionsPerAddress } = this.#limits;
    if (count > connectionsPerAddress || this.#total >= connections) return false;
    this.#perAddress.set(address, count);
    this.#total += 1;
    return true;
  }

  /** Releases an admitted connection. */
  release(address: string): void {
    this.#total -= 1;
    const left = this.count(address) - 1;
    if (left > 0) this.#perAddress.set(address, left);
    else this.#perAddress.delete(address);
  }

  count(address: string): number {
    return this.#perAddress.get(address) ?? 0;
  }
}
