import type {
  CountBatch,
  CountOperation,
  CountReply,
  CountResult,
  LeaseCount,
  LeaseLimit,
} from './count-server.ts';
import { type CounterStore, counterKey, type WindowCount } from './counters.ts';
import type { HeldLeases, LeaseStore } from './leases.ts';
import type { Logger } from './logger.ts';

/** Channel to the first process, such as `process` of a forked child. */
export interface ParentChannel {
  send?(message: object, callback: (error: Error | null) => void): boolean;
  on(event: 'message', listener: (message: unknown) => void): unknown;
  off(event: 'message', listener: (message: unknown) => void): unknown;
}

/** Counters and leases in the first process, for all processes of this machine. */
export interface CountClient extends CounterStore, LeaseStore {
  close(): void;
}

/** Time for a response of the first process, which never blocks. */
const ANSWER_MS = 1000;
/** Maximum operations of one message, of some 100 bytes each. */
const MAX_OPERATIONS = 500;
/** Longer keys are hashed. */
const MAX_KEY_LENGTH = 64;

interface Options {
  log: Pick<Logger, 'info' | 'warn'>;
  /** Default 1 s. */
  answerMs?: number;
}

/**
 * Creates the counters and leases of a child. While the first process does not respond, operations return null
 * immediately.
 */
export function createCountClient(channel: ParentChannel, options: Options): CountClient {
  let held: HeldLeases = new Map();
  const exchange = openExchange(channel, {
    ...options,
    onRecovery(message) {
      message.held = [...held].map(([key, ids]) => [boundedKey(key), ids.size]);
    },
  });
  return {
    counter({ name, window }) {
      const operate = (method: 'hits' | 'peeks') => async (key: string) =>
        exchange.batch()?.count(method, [name, window, boundedKey(key)]) ?? null;
      return { hit: operate('hits'), peek: operate('peeks') };
    },
    acquire: async (key, limit) => exchange.batch()?.acquire([boundedKey(key), limit]) ?? null,
    async release(key, ids) {
      await exchange.batch()?.release([boundedKey(key), ids.length]);
    },
    keep(leases) {
      held = leases;
      return { stop: () => {} };
    },
    close: exchange.close,
  };
}

/** Exchange of batches with the first process. */
interface Exchange {
  /** Returns the batch of this turn of the event loop; null while the first process does not respond. */
  batch(): PendingBatch | null;
  close(): void;
}

interface ExchangeOptions extends Options {
  /** Completes the first message after a time without responses, before any operation. */
  onRecovery(message: CountBatch): void;
}

function openExchange(
  channel: ParentChannel,
  { log, answerMs = ANSWER_MS, onRecovery }: ExchangeOptions,
): Exchange {
  const sent = new Map<number, { batch: PendingBatch; timer: NodeJS.Timeout }>();
  let next: PendingBatch | null = null;
  let lastId = 0;
  let isAvailable = true;
  let probing: NodeJS.Timeout | undefined;

  const abandon = () => {
    isAvailable = false;
    for (const { batch, timer } of sent.values()) {
      clearTimeout(timer);
      batch.abandon();
    }
    sent.clear();
    next?.abandon();
    next = null;
  };
  const lose = (error?: Error) => {
    if (!isAvailable) return;
    log.warn({ err: error }, 'the first process does not respond; limits apply per process');
    abandon();
    const probe = new PendingBatch(0).message;
    probing = setInterval(() => channel.send?.(probe, () => {}), answerMs).unref();
  };
  const send = (batch: PendingBatch) => {
    if (next !== batch) return;
    next = null;
    const { message } = batch;
    // The response may have arrived while this process was too busy to read it.
    const expire = () => setImmediate(() => sent.has(message.id) && lose());
    sent.set(message.id, { batch, timer: setTimeout(expire, answerMs) });
    channel.send?.(message, (error) => {
      if (error !== null) lose(error);
    });
  };
  const openBatch = (): PendingBatch => {
    if (next !== null && next.size >= MAX_OPERATIONS) send(next);
    if (next !== null) return next;
    lastId += 1;
    next = new PendingBatch(lastId);
    setImmediate(send, next);
    return next;
  };
  const receive = (message: unknown) => {
    if (!isReply(message)) return;
    if (!isAvailable) {
      isAvailable = true;
      clearInterval(probing);
      log.info('the first process responds again');
      onRecovery(openBatch().message);
    }
    const answered = sent.get(message.id);
    if (answered === undefined) return;
    sent.delete(message.id);
    clearTimeout(answered.timer);
    answered.batch.settle(message);
  };
  channel.on('message', receive);
  return {
    batch: () => (isAvailable ? openBatch() : null),
    close() {
      channel.off('message', receive);
      abandon();
      clearInterval(probing);
    },
  };
}

const boundedKey = (key: string) => (key.length > MAX_KEY_LENGTH ? counterKey(key) : key);

/** The processes of a tree run one version of the program, so the type of a message determines its fields. */
function isReply(message: unknown): message is CountReply {
  return typeof message === 'object' && message !== null && 'type' in message && message.type === 'counts';
}

type Settle<T> = (result: T | null) => void;

/** Operations that wait for their results. */
class PendingBatch {
  readonly message: CountBatch;
  readonly #counted: Record<'hits' | 'peeks', Settle<WindowCount>[]> = { hits: [], peeks: [] };
  readonly #acquired: Settle<boolean>[] = [];
  readonly #settled = Promise.withResolvers<void>();

  constructor(id: number) {
    this.message = { type: 'counts', id, released: [], hits: [], peeks: [], acquired: [] };
  }

  get size(): number {
    const { released, hits, peeks, acquired } = this.message;
    return released.length + hits.length + peeks.length + acquired.length;
  }

  count(method: 'hits' | 'peeks', operation: CountOperation): Promise<WindowCount | null> {
    this.message[method].push(operation);
    return new Promise((resolve) => this.#counted[method].push(resolve));
  }

  acquire(lease: LeaseLimit): Promise<boolean | null> {
    this.message.acquired.push(lease);
    return new Promise((resolve) => this.#acquired.push(resolve));
  }

  release(leases: LeaseCount): Promise<void> {
    this.message.released.push(leases);
    return this.#settled.promise;
  }

  settle({ hits, peeks, acquired }: Pick<CountReply, 'hits' | 'peeks' | 'acquired'>): void {
    for (const [index, resolve] of this.#counted.hits.entries()) resolve(toCount(hits[index]));
    for (const [index, resolve] of this.#counted.peeks.entries()) resolve(toCount(peeks[index]));
    for (const [index, resolve] of this.#acquired.entries()) resolve(acquired[index] ?? null);
    this.#settled.resolve();
  }

  /** Resolves every operation to null. */
  abandon(): void {
    this.settle({ hits: [], peeks: [], acquired: [] });
  }
}

function toCount(result: CountResult | undefined): WindowCount | null {
  return result === undefined ? null : { count: result[0], resetInMs: result[1] };
}
