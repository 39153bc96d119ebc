import { Writable } from 'node:stream';
import type { Logger } from '../../platform/logger.ts';
import { SourceMuxer, type TimedTag } from '../protocols/fmp4/source-muxer.ts';
import type { Composer, EpochInput, RungSink } from './composer.ts';
import type { ScaledRungs } from './scaled-rungs.ts';
import { endsWithin } from './supervisor.ts';

export interface DirectPackagerOptions {
  /** Feeds the publish to one run, starting at its last keyframe. Frames may be batched for `gatherMs`. */
  feed: (reader: Writable, gatherMs?: number) => void;
  /** Video as announced by the encoder; null without video. */
  picture: { width: number; height: number } | null;
  hasSound: boolean;
  partMs: number;
  epoch: (fps: number) => EpochInput;
  fps: number;
  composer: Pick<Composer, 'beginEpoch' | 'endEpoch' | 'setFps'>;
  log: Logger;
  /** Encodes the rungs below the first. */
  scaled?: ScaledRungs;
  /** Called once when the published media cannot be stored in fragmented MP4. */
  onGiveUp?: () => void;
}

type RunEnd = 'over' | 'changed' | 'failed';

const EOF_WAIT_MS = 1000;
/**
 * Minimum length of a run: a header that changes with each frame must not start a new run, and an ffmpeg for
 * the scaled rungs, each time.
 */
const RUN_MIN_MS = 1000;

/** Packager that fragments a publish without ffmpeg. A change of codec settings begins a new epoch. */
export class DirectPackager {
  readonly #options: DirectPackagerOptions;
  readonly #stopped = Promise.withResolvers<void>();
  #isStopped = false;
  #eofWaitMs = EOF_WAIT_MS;
  #fps: number;
  #finished: Promise<void> | null = null;

  constructor(options: DirectPackagerOptions) {
    this.#options = options;
    this.#fps = options.fps;
  }

  /** Returns the process ID of the scaler; 0 when there is none. */
  pid(): number {
    return this.#options.scaled?.pid() ?? 0;
  }

  /** Always false: the first failure is final. */
  failing(): boolean {
    return false;
  }

  start(): void {
    this.#finished ??= this.#supervise();
  }

  setFps(fps: number): Promise<void> {
    this.#fps = fps;
    return this.#options.composer.setFps(fps);
  }

  async stop(eofWaitMs = EOF_WAIT_MS): Promise<void> {
    this.#isStopped = true;
    this.#eofWaitMs = eofWaitMs;
    const finished = this.#finished ?? Promise.resolve();
    if (eofWaitMs > 0 && (await endsWithin(finished, eofWaitMs))) return;
    this.#stopped.resolve();
    await finished;
  }

  async #supervise(): Promise<void> {
    const { composer, log, onGiveUp } = this.#options;
    try {
      for (let end: RunEnd = 'changed'; end === 'changed' && !this.#isStopped; ) {
        const begunMs = performance.now();
        end = await this.#runOnce();
        await composer.endEpoch();
        const restMs = RUN_MIN_MS - (performance.now() - begunMs);
        if (end === 'changed' && restMs > 0) await endsWithin(this.#stopped.promise, restMs);
        if (end === 'failed') onGiveUp?.();
      }
    } catch (error) {
      log.error({ err: error }, 'a signal could not be packaged');
      onGiveUp?.();
    }
  }

  async #runOnce(): Promise<RunEnd> {
    const ended = Promise.withResolvers<RunEnd>();
    const { composer, feed, scaled } = this.#options;
    const [sink, ...below] = await composer.beginEpoch({
      ...this.#options.epoch(this.#fps),
      follows: true,
      onLate: () => scaled?.restart(),
      onUnfit: () => ended.resolve('failed'),
    });
    if (sink === undefined || this.#isStopped) return 'over';
    const { reader, muxer } = this.#reader(sink, ended.resolve);
    scaled?.start(below, () => ended.resolve('changed'));
    // No batching: the reader is in this process, so a frame does not wake another one.
    feed(reader, 0);
    const end = await Promise.race([ended.promise, this.#stopped.promise.then((): RunEnd => 'over')]);
    muxer.end();
    reader.destroy();
    // After a change the publish continues, so there is no end of file to wait for.
    await scaled?.stop(end === 'over' ? this.#eofWaitMs : 0);
    return end;
  }

  /**
   * Creates the writable that the ingest writes to. It accepts all data immediately, so nothing is ever
   * buffered in it.
   */
  #reader(sink: RungSink, onEnd: (end: RunEnd) => void): { reader: Writable; muxer: SourceMuxer } {
    const { picture, hasSound: hasAudio, partMs, scaled, log } = this.#options;
    const now = () => performance.now();
    const onChanged = () => onEnd('changed');
    const onTag = (tag: TimedTag) => scaled?.push(tag);
    const muxer = new SourceMuxer({
      picture,
      hasSound: hasAudio,
      partMs,
      now,
      onBytes: sink,
      onTag,
      onChanged,
    });
    const reader = new Writable({
      write(chunk: Buffer, _encoding, done) {
        try {
          muxer.push(chunk);
        } catch (error) {
          log.warn({ err: error }, 'a published message cannot be packaged');
          onEnd('failed');
        }
        done();
      },
      final(done) {
        onEnd('over');
        done();
      },
    });
    return { reader, muxer };
  }
}
