import { setTimeout as delay } from 'node:timers/promises';
import type { BridgePort, BridgeReport, DesiredBridge, IngestEngine } from '../contract/index.ts';
import { READ_BUDGETS } from '../read-budget.ts';
import { PushError, toPushError } from '../restream/failure.ts';
import { RetryPolicy, STABLE_MS } from '../restream/retry-policy.ts';
import { Feeder, PublisherReplacedError } from './feeder.ts';
import { Playout } from './playout.ts';
import type { BridgePlayer, BridgeSource, SourceContext } from './source.ts';

export interface BridgeOptions {
  wanted: DesiredBridge;
  engine: Pick<IngestEngine, 'publish'>;
  admit: BridgePort['admit'];
  /** Source, or the message why there is none. */
  source: BridgeSource | BridgePlayer | string;
  outbound: SourceContext['outbound'];
  demuxer: SourceContext['demuxer'];
  report(report: BridgeReport): void;
  /** Waits between a failure and the next attempt, in milliseconds; the last one repeats. */
  backoffMs?: readonly number[];
}

/** Reason an attempt ended: null when the source announced its end. */
type Outcome = PushError | PublisherReplacedError | null;

const LEAVE_MS = 2000;

/** One source, fetched until it ends: each attempt is a connection, and between them it waits. */
export class Bridge {
  readonly #options: BridgeOptions;
  readonly #retries: RetryPolicy;
  readonly #stopped = new AbortController();
  readonly #finished: Promise<void>;
  #isFinalStop = true;
  #wake = () => {};

  constructor(options: BridgeOptions) {
    this.#options = options;
    this.#retries = new RetryPolicy(options.backoffMs);
    // Starts in a later microtask, so that the first report comes after the caller has the instance.
    this.#finished = Promise.resolve().then(() => this.#run());
  }

  /**
   * @param isFinal the bridge has ended; otherwise it continues later or on another node, and its signal gets
   *   its reconnect window.
   */
  async stop(isFinal: boolean): Promise<void> {
    this.#isFinalStop = isFinal;
    this.#stopped.abort();
    this.#wake();
    await this.#finished;
  }

  async #run(): Promise<void> {
    while (!this.#stopped.signal.aborted) {
      const outcome = await this.#attempt();
      if (this.#stopped.signal.aborted) return;
      if (outcome === null) return this.#say('STOPPED', { endReason: 'SOURCE_ENDED' });
      if (outcome instanceof PublisherReplacedError)
        return this.#say('STOPPED', { endReason: 'TARGET_TAKEN' });
      const retryInMs = this.#retries.failed(outcome.kind);
      const { message } = outcome;
      if (retryInMs === null || !this.#options.wanted.autoRestart) return this.#say('FAILED', { message });
      this.#say('PENDING', { message, retryInMs });
      await this.#pause(retryInMs);
    }
  }

  /** One connection from its beginning to its end. Never rejects. */
  async #attempt(): Promise<Outcome> {
    const { wanted, admit, source } = this.#options;
    if (typeof source === 'string') return new PushError('fatal', source);
    this.#say('CONNECTING', {});
    try {
      if ('play' in source) return await this.#play(source);
      const grant = await admit(wanted.streamId);
      if (typeof grant === 'string') return new PushError('normal', grant);
      return await this.#carry(source, grant);
    } catch (error) {
      return toPushError(error, 'source');
    }
  }

  async #play(source: BridgePlayer): Promise<null> {
    let activeMs = Number.POSITIVE_INFINITY;
    const onActive = () => {
      activeMs = Math.min(activeMs, performance.now());
      this.#say('ACTIVE', {});
    };
    try {
      await source.play({ onActive, signal: this.#stopped.signal });
      return null;
    } finally {
      if (Number.isFinite(activeMs)) this.#retries.ended(performance.now() - activeMs);
    }
  }

  async #carry(source: BridgeSource, grant: SourceContext['grant']): Promise<Outcome> {
    const { engine, outbound, demuxer } = this.#options;
    const over = new AbortController();
    const signal = AbortSignal.any([over.signal, this.#stopped.signal]);
    const ended = Promise.withResolvers<Outcome>();
    let activeMs = Number.POSITIVE_INFINITY;
    let good: NodeJS.Timeout | undefined;
    // Timeouts within a source are reported by its own reader.
    const late = setTimeout(
      () => ended.resolve(new PushError('normal', 'The source sent no media.')),
      READ_BUDGETS.bridgePublish.ms,
    );
    const onActive = () => {
      clearTimeout(late);
      activeMs = performance.now();
      this.#say('ACTIVE', {});
      good = setTimeout(() => {
        this.#retries.good();
        this.#say('ACTIVE', {});
      }, STABLE_MS);
    };
    const feeder = new Feeder({ engine, grant, onActive, onEnd: ended.resolve });
    let playout: Playout | null = null;
    const begin: SourceContext['begin'] = (options) => {
      const out = feeder.message.bind(feeder);
      playout = new Playout({ ...options, out, fail: ended.resolve });
      return playout;
    };
    const stopPlayout = () => playout?.stop();
    signal.addEventListener('abort', () => ended.resolve(null), { once: true });
    const running = source.run({ outbound, demuxer, grant, begin, signal }).then(
      () => ended.resolve(null),
      (error: unknown) => ended.resolve(toPushError(error, 'source')),
    );
    const told = await ended.promise;
    const isBreak = told === null && this.#options.wanted.autoRestart && !source.endsForGood;
    const outcome = isBreak ? new PushError('normal', 'The source ended its broadcast.') : told;
    clearTimeout(late);
    clearTimeout(good);
    over.abort();
    stopPlayout();
    if (Number.isFinite(activeMs)) this.#retries.ended(performance.now() - activeMs);
    const comesBack = this.#stopped.signal.aborted
      ? !this.#isFinalStop
      : outcome instanceof PushError && this.#options.wanted.autoRestart;
    await feeder.end(!comesBack);
    // A connection attempt still pending ends by itself: it has no feeder to write to.
    await Promise.race([running, delay(LEAVE_MS, null, { ref: false })]);
    return outcome;
  }

  #say(
    status: BridgeReport['status'],
    {
      endReason = null,
      message = null,
      retryInMs = null,
    }: Partial<Pick<BridgeReport, 'endReason' | 'message' | 'retryInMs'>>,
  ): void {
    if (this.#stopped.signal.aborted) return;
    const { bridgeId } = this.#options.wanted;
    const retryCount = this.#retries.failures;
    this.#options.report({ bridgeId, status, endReason, message, retryCount, retryInMs });
  }

  /** Waits for the given time, or until woken. */
  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
      if (this.#stopped.signal.aborted) this.#wake();
    });
  }
}
