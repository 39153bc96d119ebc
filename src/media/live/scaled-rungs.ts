import type { Writable } from 'node:stream';
import type { Clock } from '../../kernel/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import type { FfmpegProcess } from '../ffmpeg/process.ts';
import { Broadcast } from '../ingest/broadcast.ts';
import { feed } from '../ingest/flv-feed.ts';
import { flvTag } from '../protocols/flv/tags.ts';
import type { TimedTag } from '../protocols/fmp4/source-muxer.ts';
import type { Composer, RungSink } from './composer.ts';
import { Supervisor } from './supervisor.ts';

export interface ScaledRungsOptions {
  /** Starts an ffmpeg that makes the rungs of what `input` gives it. */
  begin: (outputs: RungSink[], input: (stdin: Writable) => void) => Promise<FfmpegProcess>;
  composer: Pick<Composer, 'restartFollowers'>;
  /** A run has ended by itself. @returns whether the next one encodes otherwise: then the rungs have another header. */
  onFailure?: () => boolean;
  log: Logger;
  clock: Clock;
  backoffMs?: readonly number[] | undefined;
}

/** An ffmpeg that takes no more is left behind by its rungs, which are then absent. */
const QUEUE_BYTES = 8 * 2 ** 20;

/**
 * The rungs below a source that is put into fragments without an ffmpeg: one of them makes all, of the same frames with the same
 * times. It may end, hang or be slow: the source goes on, and the rungs come back.
 */
export class ScaledRungs {
  readonly #options: ScaledRungsOptions;
  #run: { broadcast: Broadcast; supervisor: Supervisor } | null = null;

  constructor(options: ScaledRungsOptions) {
    this.#options = options;
  }

  /** 0 while there is none. */
  pid(): number {
    return this.#run?.supervisor.pid() ?? 0;
  }

  /**
   * A run of the source has begun.
   *
   * @param outputs where its rungs go, but for the first.
   * @param onOther the rungs have no place in it any more.
   */
  start(outputs: RungSink[], onOther: () => void): void {
    const { begin, composer, onFailure, log, clock, backoffMs } = this.#options;
    const broadcast = new Broadcast({ readerQueueBytes: QUEUE_BYTES });
    let first: RungSink[] | null = outputs;
    const supervisor = new Supervisor({
      begin: async () => {
        const sinks = first ?? (await composer.restartFollowers());
        first = null;
        return begin(sinks, (stdin) => feed(broadcast, stdin));
      },
      onFailure: () => {
        if (onFailure?.()) onOther();
      },
      log,
      clock,
      backoffMs,
    });
    this.#run = { broadcast, supervisor };
    supervisor.start();
  }

  push({ type, kind, atMs, payload, keyframe }: TimedTag): void {
    const broadcast = this.#run?.broadcast;
    if (kind === 'header') broadcast?.setHeader(type, flvTag(type, atMs, payload));
    else broadcast?.frame(type, atMs, payload, keyframe);
  }

  /** They are too far behind: a new run begins at what is now. */
  restart(): void {
    this.#run?.supervisor.kill();
  }

  /** The run of the source is over. @param eofWaitMs for what is still on its way. */
  async stop(eofWaitMs: number): Promise<void> {
    const run = this.#run;
    this.#run = null;
    run?.broadcast.end();
    await run?.supervisor.stop(eofWaitMs);
  }
}
