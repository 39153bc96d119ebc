import { setTimeout as sleep } from 'node:timers/promises';
import { MediaNodeUnavailableError } from '../contract/index.ts';
import type { CachedTextFile } from './live-source.ts';
import { type NodeAddress, type NodeClient, REQUEST_ABANDONED } from './node-client.ts';
import { changesPath, frameShape, HEARTBEAT_MS } from './protocol.ts';

export interface MirrorOptions {
  client: NodeClient;
  streamId: string;
  /** Returns the current address of the node, which may change with a restart. */
  address(): NodeAddress;
  /** Called after a period without requests. */
  onEnd(): void;
}

/**
 * Mirror of the texts of one stream on another node, by one request that stays open while there are local
 * requests for them. While the node is unavailable they stay unchanged: players wait in the last window.
 */
export interface Mirror {
  /** Returns a text, after the first response of the node, or its failure. */
  text(name: string): Promise<CachedTextFile | null>;
  next(): Promise<void>;
  /** Returns the state of the broadcast in the last frame; null when there was none in the last seconds. */
  isLive(): boolean | null;
  close(): void;
}

const IDLE_MS = 30_000;
/** Interval at which waiters check again even without changes, as for folders. */
const LOOK_MS = 100;
const SILENT_MS = 3 * HEARTBEAT_MS;
const BACKOFF_MS = [100, 200, 500, 1000];
/** The playlists of the longest window, many times over. */
const LINE_MAX_CHARS = 2 ** 24;

export function createMirror(options: MirrorOptions): Mirror {
  return new FollowedStream(options);
}

class FollowedStream implements Mirror {
  readonly #options: MirrorOptions;
  readonly #first = Promise.withResolvers<void>();
  #texts: ReadonlyMap<string, CachedTextFile> = new Map();
  #change: { promise: Promise<void>; tell: () => void } | null = null;
  #request: AbortController | null = null;
  #usedMs = performance.now();
  #lastFrame: { isLive: boolean | null; receivedMs: number } | null = null;
  #isClosed = false;

  constructor(options: MirrorOptions) {
    this.#options = options;
    void this.#run();
  }

  async text(name: string): Promise<CachedTextFile | null> {
    this.#usedMs = performance.now();
    await this.#first.promise;
    return this.#texts.get(name) ?? null;
  }

  next(): Promise<void> {
    if (this.#change !== null) return this.#change.promise;
    const { promise, resolve } = Promise.withResolvers<void>();
    const tell = () => {
      clearTimeout(timer);
      this.#change = null;
      resolve();
    };
    const timer = setTimeout(tell, LOOK_MS);
    this.#change = { promise, tell };
    return promise;
  }

  isLive(): boolean | null {
    this.#usedMs = performance.now();
    const frame = this.#lastFrame;
    return frame === null || performance.now() - frame.receivedMs > SILENT_MS ? null : frame.isLive;
  }

  close(): void {
    this.#isClosed = true;
    this.#request?.abort(REQUEST_ABANDONED);
    this.#first.resolve();
    this.#change?.tell();
  }

  get #isWanted(): boolean {
    return !this.#isClosed && performance.now() - this.#usedMs < IDLE_MS;
  }

  async #run(): Promise<void> {
    for (let failures = 0; this.#isWanted; failures += 1) {
      await this.#follow(() => {
        failures = 0;
      }).catch(() => {});
      this.#first.resolve();
      if (this.#isWanted) await sleep(BACKOFF_MS[Math.min(failures, BACKOFF_MS.length - 1)]);
    }
    this.#options.onEnd();
  }

  /** Follows the node until it is silent or there are no more requests. */
  async #follow(onFrame: () => void): Promise<void> {
    const { client, streamId, address } = this.#options;
    const request = new AbortController();
    this.#request = request;
    const watchdog = setTimeout(() => request.abort(new MediaNodeUnavailableError('silent')), SILENT_MS);
    const path = changesPath(streamId);
    try {
      await client.ask(
        { node: address(), kind: 'changes', path, signal: request.signal },
        async ({ body }) => {
          for await (const line of linesOf(body)) {
            watchdog.refresh();
            this.#take(line);
            onFrame();
            if (!this.#isWanted) break;
          }
          return true;
        },
      );
    } finally {
      clearTimeout(watchdog);
      request.abort(REQUEST_ABANDONED);
      this.#request = null;
    }
  }

  /**
   * Applies a frame. Unchanged texts stay the identical object, so that derived data is not computed again.
   */
  #take(line: string): void {
    const frame: unknown = JSON.parse(line);
    if (!frameShape.matches(frame))
      throw new MediaNodeUnavailableError(
        'the response could not be parsed: the node may run another version',
      );
    const changed = Object.entries(frame.texts);
    const texts = new Map(frame.isWhole ? [] : this.#texts);
    for (const [name, text] of changed) {
      const known = this.#texts.get(name);
      if (text === null) texts.delete(name);
      else texts.set(name, known?.text === text ? known : { text });
    }
    this.#texts = texts;
    this.#lastFrame = { isLive: frame.isLive ?? null, receivedMs: performance.now() };
    this.#first.resolve();
    if (changed.length > 0) this.#change?.tell();
  }
}

async function* linesOf(body: Response['body']): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of body ?? []) {
    rest += decoder.decode(bytes, { stream: true });
    if (rest.length > LINE_MAX_CHARS) throw new MediaNodeUnavailableError('the response is too large');
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
}
