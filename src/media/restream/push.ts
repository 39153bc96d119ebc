import { type PushUrl, parsePushUrl } from '../../kernel/push-url.ts';
import type { PushReport } from '../contract/index.ts';
import { unsupportedCodecReason } from './codec-support.ts';
import { PushError, toPushError } from './failure.ts';
import type { Feed } from './feed.ts';
import type { PushSession } from './push-session.ts';
import { ESTABLISHED_MS, RetryPolicy, STABLE_MS } from './retry-policy.ts';
import type { VerifiedPush } from './verified-keys.ts';

/** Connects to a destination. @throws {PushError} */
export type OpenPush = (address: PushUrl, streamKey: string | null) => Promise<PushSession>;

export interface PushOptions {
  wanted: VerifiedPush;
  feed: Feed;
  open: OpenPush;
  report(report: PushReport): void;
  /** Waits between a failure and the next attempt, in milliseconds; the last one repeats. */
  backoffMs?: readonly number[];
  /** The push that it replaces: the destination would take two for one too many. */
  after?: Promise<void>;
}

/** Short sessions after which a destination that accepts and hangs up gets a hint. */
const SHORT_LIVES = 3;
const REPLACE_MS = 2000;
const HINT =
  'The destination accepted the stream but ended it shortly after. Check the stream key, and that the broadcast is ready there.';

/** One destination, kept supplied: each of its connections is a session, and between them it waits. */
export class Push {
  readonly #options: PushOptions;
  readonly #stopped = new AbortController();
  readonly #finished: Promise<void>;
  #wake = () => {};
  #session: PushSession | null = null;
  readonly #retries: RetryPolicy;
  /** Or why it is refused. */
  readonly #address: PushUrl | string;
  #shortLives = 0;
  #state: PushReport['state'] = 'IDLE';
  #measured = { bytes: 0, atMs: 0 };

  constructor(options: PushOptions) {
    this.#options = options;
    const { goodAgoMs = Number.POSITIVE_INFINITY } = options.wanted;
    this.#address = parsePushUrl(options.wanted.url);
    this.#retries = new RetryPolicy(options.backoffMs, goodAgoMs);
    this.#finished = this.#run();
  }

  get revision(): number {
    return this.#options.wanted.revision;
  }

  /** Handles an encoder that has returned, or changed its media. */
  feedChanged(): void {
    if (this.#state === 'IDLE') this.#wake();
    // The next attempt reports the reason.
    else if (this.#refusal() !== null) void this.#session?.end();
  }

  /** Returns the bitrate since the last call, in kbit/s; null while nothing is sent. */
  bitrateKbps(): number | null {
    const session = this.#session;
    if (session === null || this.#state !== 'BROADCASTING') return null;
    const bytes = session.sentBytes();
    const atMs = performance.now();
    const { bytes: before, atMs: beforeMs } = this.#measured;
    this.#measured = { bytes, atMs };
    return beforeMs === 0 ? null : Math.round(((bytes - before) * 8) / (atMs - beforeMs));
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#wake();
    await this.#session?.end();
    await this.#finished;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopped;
    if (this.#options.after) await Promise.race([this.#options.after, after(REPLACE_MS)]);
    while (!signal.aborted) {
      const { feed } = this.#options;
      if (!feed.isFlowing) {
        await this.#pause(null);
        continue;
      }
      const failure = await this.#attempt().catch(toPushError);
      if (signal.aborted || failure === null) continue;
      if (!feed.isFlowing && failure.kind === 'normal') {
        this.#say('IDLE', { message: failure.message });
        continue;
      }
      const retryInMs = this.#retries.failed(failure.kind);
      if (retryInMs === null) {
        this.#say('ERRORED', { severity: 'FATAL', message: failure.message });
        // Until it is changed, which is another push.
        return;
      }
      const message = this.#shortLives >= SHORT_LIVES ? HINT : failure.message;
      this.#say('ERRORED', { severity: 'NORMAL', message, retryInMs });
      await this.#pause(retryInMs);
    }
  }

  /** One connection from its beginning to its end. @returns null when it was ended by us. */
  async #attempt(): Promise<PushError | null> {
    const { wanted, open } = this.#options;
    const address = this.#address;
    if (typeof address === 'string') return new PushError('fatal', `Invalid URL: ${address}.`);
    const refusal = this.#refusal();
    if (refusal !== null) return new PushError('fatal', refusal);
    this.#say('CONNECTING', {});
    const session = await open(address, wanted.streamKey);
    if (this.#stopped.signal.aborted || this.#refusal() !== null) {
      await session.end();
      return null;
    }
    this.#session = session;
    const startedMs = performance.now();
    const failure = await this.#hold(session);
    this.#session = null;
    const lastedMs = performance.now() - startedMs;
    this.#shortLives = lastedMs >= STABLE_MS ? 0 : this.#shortLives + 1;
    this.#retries.ended(lastedMs);
    return failure;
  }

  /** Why the destination does not take how the broadcast is coded; null when it does. */
  #refusal(): string | null {
    const { wanted, feed } = this.#options;
    const address = this.#address;
    return typeof address === 'string' ? null : unsupportedCodecReason(wanted.platform, address, feed.codecs);
  }

  /** Reports the broadcast as running, once the session is established. */
  async #hold(session: PushSession): Promise<PushError | null> {
    const early = await Promise.race([session.closed, after(ESTABLISHED_MS)]);
    if (early !== TIME) return early;
    this.#measured = { bytes: session.sentBytes(), atMs: performance.now() };
    this.#say('BROADCASTING', {});
    const good = setTimeout(() => {
      this.#retries.good();
      this.#shortLives = 0;
      this.#say('BROADCASTING', {});
    }, STABLE_MS);
    try {
      return await session.closed;
    } finally {
      clearTimeout(good);
    }
  }

  #say(
    state: PushReport['state'],
    { severity = null, message = null, retryInMs = null }: Partial<PushReport>,
  ): void {
    if (this.#stopped.signal.aborted) return;
    this.#state = state;
    const { targetId, revision } = this.#options.wanted;
    const retryCount = this.#retries.failures;
    this.#options.report({ targetId, revision, state, severity, message, retryCount, retryInMs });
  }

  /** Waits for the given time, or until woken. */
  #pause(ms: number | null): Promise<void> {
    return new Promise((resolve) => {
      const timer = ms === null ? undefined : setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
      if (this.#stopped.signal.aborted) this.#wake();
    });
  }
}

const TIME = Symbol('timed out');

function after(ms: number): Promise<typeof TIME> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(TIME), ms);
  });
}
