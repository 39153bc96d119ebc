import { Writable } from 'node:stream';
import type { Logger } from '../../platform/logger.ts';
import { SourceMuxer } from '../fmp4/source-muxer.ts';
import type { Composer, EpochInput, RungSink } from './composer.ts';

export interface DirectPackagerOptions {
  /** Gives one run the publish, from its last keyframe on. */
  feed: (reader: Writable) => void;
  /** The picture that was announced; null without one. */
  picture: { width: number; height: number } | null;
  hasSound: boolean;
  partMs: number;
  epoch: (fps: number) => EpochInput;
  fps: number;
  composer: Pick<Composer, 'beginEpoch' | 'endEpoch' | 'setFps'>;
  log: Logger;
  /** Called once when what is published has no place in a file. */
  onGiveUp?: () => void;
}

type RunEnd = 'over' | 'changed' | 'failed';

/** Puts a publish into fragments as it comes, without an ffmpeg. A publish that is coded otherwise begins a new epoch. */
export class DirectPackager {
  readonly #options: DirectPackagerOptions;
  readonly #stopped = Promise.withResolvers<void>();
  #isStopped = false;
  #fps: number;
  #finished: Promise<void> | null = null;

  constructor(options: DirectPackagerOptions) {
    this.#options = options;
    this.#fps = options.fps;
  }

  /** There is no process. */
  pid(): number {
    return 0;
  }

  /** It is given up at its first failure. */
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

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#stopped.resolve();
    await this.#finished;
  }

  async #supervise(): Promise<void> {
    const { composer, log, onGiveUp } = this.#options;
    try {
      for (let end: RunEnd = 'changed'; end === 'changed' && !this.#isStopped; ) {
        end = await this.#runOnce();
        await composer.endEpoch();
        if (end === 'failed') onGiveUp?.();
      }
    } catch (error) {
      log.error({ err: error }, 'a publish could not be put into fragments');
      onGiveUp?.();
    }
  }

  async #runOnce(): Promise<RunEnd> {
    const ended = Promise.withResolvers<RunEnd>();
    const epoch = { ...this.#options.epoch(this.#fps), onUnfit: () => ended.resolve('failed') };
    const [sink] = await this.#options.composer.beginEpoch(epoch);
    if (sink === undefined || this.#isStopped) return 'over';
    const { reader, muxer } = this.#reader(sink, ended.resolve);
    this.#options.feed(reader);
    const end = await Promise.race([ended.promise, this.#stopped.promise.then((): RunEnd => 'over')]);
    muxer.end();
    reader.destroy();
    return end;
  }

  /** Where the ingest writes to: all is taken at once, so nothing ever waits in it. */
  #reader(sink: RungSink, onEnd: (end: RunEnd) => void): { reader: Writable; muxer: SourceMuxer } {
    const { picture, hasSound, partMs, log } = this.#options;
    const now = () => performance.now();
    const onChanged = () => onEnd('changed');
    const muxer = new SourceMuxer({ picture, hasSound, partMs, now, onBytes: sink, onChanged });
    const reader = new Writable({
      write(chunk: Buffer, _encoding, done) {
        try {
          muxer.push(chunk);
        } catch (error) {
          log.warn({ err: error }, 'what is published has no place in a file');
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
