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
  /** Starts an ffmpeg that encodes the rungs from the data that `input` supplies. */
  begin: (outputs: RungSink[], input: (stdin: Writable) => void) => Promise<FfmpegProcess>;
  composer: Pick<Composer, 'restartFollowers'>;
  /**
   * Called when a run has ended by itself. @returns whether the next one uses another encoder: then the rungs
   * have another header.
   */
  onFailure?: () => boolean;
  log: Logger;
  clock: Clock;
  backoffMs?: readonly number[] | undefined;
}

/** Maximum queue of an ffmpeg; when it is full, its rungs are left out. */
const QUEUE_BYTES = 8 * 2 ** 20;

/**
 * Scaler for the rungs below a source that is fragmented without ffmpeg: one ffmpeg encodes all rungs, from
 * the same frames with the same timestamps. When it ends, hangs or is slow, the source continues, and the
 * rungs are restarted.
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
   * Starts scaling for a new run of the source.
   *
   * @param outputs sinks of all rungs but the first.
   * @param onOther called when the rungs no longer fit into the run.
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

  /** Restarts the rungs at the current position, because they are too far behind. */
  restart(): void {
    this.#run?.supervisor.kill();
  }

  /** Stops after the run of the source has ended. @param eofWaitMs time to wait for the buffered media. */
  async stop(eofWaitMs: number): Promise<void> {
    const run = this.#run;
    this.#run = null;
    run?.broadcast.end();
    await run?.supervisor.stop(eofWaitMs);
  }
}
