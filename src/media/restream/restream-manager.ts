import { Writable } from 'node:stream';
import type { Logger } from '../../platform/logger.ts';
import {
  type DesiredPush,
  type IngestEngine,
  type IngestSession,
  PUSH_LEASE_MS,
  type PushReport,
  type RestreamPort,
} from '../contract/index.ts';
import { LeaseLoop } from './lease-loop.ts';
import { VerifiedKeys, type VerifiedPush } from './verified-keys.ts';

/** A process that sends one broadcast to its destinations. */
export interface SenderProcess {
  /** Takes FLV files, one for each connection of the encoder. */
  readonly stdin: Writable;
  want(wanted: readonly VerifiedPush[]): void;
  /** Lets the destinations know, and ends within two seconds. */
  stop(): Promise<void>;
  /** Resolves when it has exited, by itself or by `stop`. */
  readonly exited: Promise<void>;
}

export interface SenderEvents {
  onReport(report: PushReport): void;
  onBitrates(bitrates: readonly [targetId: string, kbps: number][]): void;
}

export interface RestreamManagerOptions {
  engine: Pick<IngestEngine, 'list' | 'feed'>;
  port: RestreamPort;
  nodeId: string;
  launch(events: SenderEvents): SenderProcess;
  log: Logger;
  /** Waits between two processes that end by themselves, in milliseconds; the last one repeats. */
  backoffMs?: readonly number[];
}

/**
 * Manager of restreams: one process for each stream with destinations. The desired state is read from the
 * database; while that is unavailable, the last known state continues for the duration of this node's lease.
 */
export interface RestreamManager {
  /** Releases restreams of an earlier process. */
  recover(): Promise<void>;
  /** Reads the desired state, and starts, updates and ends processes accordingly. Never rejects. */
  sync(): Promise<void>;
  /** Notifies of the start or end of a publish. */
  publishesChanged(): void;
  /** Ends every push. */
  stop(): Promise<void>;
}

/** Destinations are seconds behind a broadcast: fewer wake-ups are worth more than these (docs/decisions/restreams.md#measurements). */
export const SENDER_GATHER_MS = 200;
const BACKOFF_MS = [100, 500, 1000, 2000, 5000] as const;
/** Duration from which a run of the process counts as successful. */
const GOOD_RUN_MS = 30_000;
const RESTARTED = 'The sending process ended and is being restarted.';

export function createRestreamManager(options: RestreamManagerOptions): RestreamManager {
  return new StreamSenders(options);
}

class StreamSenders implements RestreamManager {
  readonly #options: RestreamManagerOptions;
  readonly #senders = new Map<string, StreamSender>();
  /**
   * A stream's sender restarts only after its previous process has exited: destinations would reject a second
   * one.
   */
  readonly #ending = new Map<string, Promise<void>>();
  readonly #good = new VerifiedKeys();
  readonly #bitrates = new Map<string, number>();
  readonly #loop: LeaseLoop<DesiredPush>;

  constructor(options: RestreamManagerOptions) {
    this.#options = options;
    this.#loop = new LeaseLoop({
      ask: () => this.#ask(),
      apply: (wanted) => this.#apply(wanted),
      leaseMs: PUSH_LEASE_MS,
      what: 'the restreams to send',
      log: options.log,
    });
  }

  recover(): Promise<void> {
    return this.#options.port.started(this.#options.nodeId);
  }

  sync(): Promise<void> {
    return this.#loop.sync();
  }

  publishesChanged(): void {
    const live = new Map(this.#options.engine.list().map((session) => [session.streamId, session]));
    for (const [streamId, sender] of this.#senders) sender.setSession(live.get(streamId) ?? null);
  }

  async stop(): Promise<void> {
    await this.#loop.stop();
    await Promise.all(this.#ending.values());
  }

  #ask(): Promise<DesiredPush[]> {
    const bitrates = new Map(this.#bitrates);
    this.#bitrates.clear();
    return this.#options.port.wanted(this.#options.nodeId, bitrates);
  }

  #apply(wanted: readonly DesiredPush[]): void {
    const byStream = Map.groupBy(wanted, ({ streamId }) => streamId);
    for (const [streamId, sender] of this.#senders) {
      if (byStream.has(streamId)) continue;
      this.#senders.delete(streamId);
      const ended = sender.stop().finally(() => {
        this.#ending.delete(streamId);
        // It may be wanted again by now.
        if (!this.#loop.isStopped) void this.sync();
      });
      this.#ending.set(streamId, ended);
    }
    this.#good.forget();
    for (const [streamId, pushes] of byStream) {
      if (this.#ending.has(streamId)) continue;
      const sender = this.#senders.get(streamId) ?? this.#begin(streamId);
      sender.want(pushes);
    }
    this.publishesChanged();
  }

  #begin(streamId: string): StreamSender {
    const onBitrates: SenderEvents['onBitrates'] = (bitrates) => {
      for (const [targetId, kbps] of bitrates) this.#bitrates.set(targetId, kbps);
    };
    const sender = new StreamSender(this.#options, streamId, { onBitrates, good: this.#good });
    this.#senders.set(streamId, sender);
    return sender;
  }
}

/** Process of one stream, restarted when it ends by itself. */
class StreamSender {
  readonly #options: RestreamManagerOptions;
  readonly #log: Logger;
  readonly #onBitrates: SenderEvents['onBitrates'];
  readonly #good: VerifiedKeys;
  #process: SenderProcess | null = null;
  #wanted: readonly DesiredPush[] = [];
  #session: IngestSession | null = null;
  #feeding: Writable | null = null;
  /** Reports are written one after another. */
  #reports: Promise<void> = Promise.resolve();
  #told = new Map<string, PushReport>();
  #failures = 0;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(
    options: RestreamManagerOptions,
    streamId: string,
    { onBitrates, good }: Pick<SenderEvents, 'onBitrates'> & { good: VerifiedKeys },
  ) {
    this.#options = options;
    this.#good = good;
    this.#log = options.log.child({ streamId });
    this.#onBitrates = onBitrates;
    this.#launch();
  }

  want(wanted: readonly DesiredPush[]): void {
    const same = JSON.stringify(wanted) === JSON.stringify(this.#wanted);
    this.#wanted = wanted;
    if (!same) this.#tell();
  }

  #tell(): void {
    this.#process?.want(this.#wanted.map((one) => this.#good.of(one)));
  }

  setSession(session: IngestSession | null): void {
    if (session?.sessionId === this.#session?.sessionId) return;
    this.#session = session;
    this.#feed();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#feeding?.destroy();
    for (const { targetId } of this.#wanted) this.#good.ended(targetId);
    await this.#process?.stop();
    await this.#reports;
  }

  #launch(): void {
    const startedMs = performance.now();
    const started = this.#options.launch({
      onReport: (report) => this.#report(report),
      onBitrates: (bitrates) => this.#onBitrates(bitrates),
    });
    this.#process = started;
    if (this.#wanted.length > 0) this.#tell();
    this.#feed();
    void started.exited.then(() => {
      if (this.#process === started) this.#process = null;
      if (!this.#stopped) this.#ended(performance.now() - startedMs);
    });
  }

  #ended(lastedMs: number): void {
    this.#failures = lastedMs >= GOOD_RUN_MS ? 1 : this.#failures + 1;
    const backoff = this.#options.backoffMs ?? BACKOFF_MS;
    const retryInMs = backoff[Math.min(this.#failures, backoff.length) - 1] ?? 0;
    this.#log.error({ retryInMs }, 'the process of a restream ended');
    for (const { targetId, revision } of this.#wanted) {
      const told = this.#told.get(targetId);
      const retryCount = (told?.retryCount ?? 0) + 1;
      const failure = { state: 'ERRORED', severity: 'NORMAL', message: RESTARTED } as const;
      this.#report({ targetId, revision, ...failure, retryCount, retryInMs });
    }
    this.#timer = setTimeout(() => this.#launch(), retryInMs);
  }

  /** Feeds the publish to the process; its end does not end the process. */
  #feed(): void {
    this.#feeding?.destroy();
    this.#feeding = null;
    const { stdin } = this.#process ?? {};
    if (stdin === undefined || this.#session === null) return;
    this.#feeding = passOn(stdin);
    this.#options.engine.feed(this.#session, this.#feeding, SENDER_GATHER_MS);
  }

  #report(report: PushReport): void {
    this.#told.set(report.targetId, report);
    const wanted = this.#wanted.find((one) => one.targetId === report.targetId);
    if (wanted?.revision === report.revision) this.#good.note(wanted, report.state === 'BROADCASTING');
    this.#reports = this.#reports
      .then(() => this.#options.port.report(this.#options.nodeId, report))
      .catch((error: unknown) => {
        this.#log.warn(
          { err: error, targetId: report.targetId },
          'the state of a restream could not be stored',
        );
      });
  }
}

function passOn(to: Writable): Writable {
  return new Writable({
    // Equals that of the pipe: beyond it, a slow reader loses data, and other readers lose nothing.
    highWaterMark: to.writableHighWaterMark,
    write: (chunk, _encoding, done) => void to.write(chunk, () => done()),
    writev(chunks, done) {
      to.cork();
      for (const { chunk } of chunks) to.write(chunk);
      to.uncork();
      to.write(NO_BYTES, () => done());
    },
  });
}

const NO_BYTES = Buffer.alloc(0);
