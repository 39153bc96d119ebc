import type { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../kernel/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import type { AudioInfo, VideoInfo } from '../contract/index.ts';
import { liveLimits } from '../ffmpeg/limits.ts';
import { type FfmpegExit, type FfmpegProcess, spawnFfmpeg } from '../ffmpeg/process.ts';
import type { FfmpegProgram } from '../ffmpeg/program.ts';
import type { FfmpegProgress } from '../ffmpeg/progress.ts';
import { recorderArgs } from './command.ts';
import { startDirectRun } from './direct-run.ts';
import type { PartFiles } from './part-files.ts';

export interface RecorderOptions {
  ffmpeg: FfmpegProgram;
  /** Feeds one run with the publish, from its last keyframe on. */
  feed: (stdin: Writable) => void;
  video: VideoInfo;
  audio: AudioInfo | undefined;
  /** The local ffmpeg cannot read it: frames are written as they arrive. */
  isDirect: boolean;
  recordingId: string;
  files: Pick<PartFiles, 'create' | 'announce' | 'close'>;
  log: Logger;
  clock: Clock;
}

export interface Recorder {
  /** It does not record, and not for the first time. */
  failing(): boolean;
  /** @param eofWaitMs the input is ending: time for ffmpeg to read on before it is stopped. */
  stop(eofWaitMs?: number): Promise<void>;
}

/** Delays between a failure and the next run. Retried indefinitely, since a full disk may be freed. */
const BACKOFF_MS = [200, 500, 1000, 2000, 5000, 10_000, 30_000] as const;
const FAILING_AFTER = 3;
/** Duration from which a run counts as successful. */
const GOOD_RUN_MS = 10_000;
/** Days of the highest bitrate. */
const PART_MAX_BYTES = 2 ** 40;
const STOP_GRACE_MS = 2000;

/**
 * Starts a supervised ffmpeg for one publish, or a direct run when it cannot read it; each run writes its own
 * part (docs/decisions/recordings.md).
 */
export function startRecorder(options: RecorderOptions): Recorder {
  return new SupervisedRecorder(options);
}

type RecorderRun = Pick<FfmpegProcess, 'exited' | 'stop'>;

class SupervisedRecorder implements Recorder {
  readonly #options: RecorderOptions;
  readonly #finished: Promise<void>;
  readonly #stopped = new AbortController();
  #child: RecorderRun | null = null;
  #failures = 0;
  #recording = false;

  constructor(options: RecorderOptions) {
    this.#options = options;
    this.#finished = this.#supervise();
  }

  failing(): boolean {
    return this.#failures >= FAILING_AFTER && !this.#recording;
  }

  async stop(eofWaitMs = 0): Promise<void> {
    this.#stopped.abort();
    const child = this.#child;
    if (child) {
      if (eofWaitMs > 0) await Promise.race([child.exited, sleep(eofWaitMs, undefined, { ref: false })]);
      await child.stop(STOP_GRACE_MS);
    }
    await this.#finished;
  }

  async #supervise(): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      const startedMs = this.#options.clock.ms();
      const exit = await this.#runOnce();
      if (signal.aborted) return;
      this.#count(exit, this.#options.clock.ms() - startedMs);
      const waitMs = BACKOFF_MS[Math.min(this.#failures, BACKOFF_MS.length) - 1] ?? 0;
      await sleep(waitMs, undefined, { signal }).catch(() => {});
    }
  }

  /** One file. Never rejects: a full disk is a failure like others. */
  async #runOnce(): Promise<FfmpegExit> {
    const { files, recordingId, isDirect } = this.#options;
    try {
      const { part, path } = await files.create(recordingId);
      const onMedia = () => {
        if (this.#recording) return;
        this.#recording = true;
        files.announce(part, true);
      };
      const run = isDirect ? this.#startDirect(path, onMedia) : await this.#startFfmpeg(path, onMedia);
      if (run === null) {
        files.close(part);
        return { code: 0, signal: null, stderr: '' };
      }
      files.announce(part, this.#recording);
      this.#child = run;
      const exit = await run.exited;
      this.#child = null;
      this.#recording = false;
      files.close(part);
      return exit;
    } catch (error) {
      return { code: null, signal: null, stderr: '', spawnError: String(error) };
    }
  }

  #startDirect(path: string, onMedia: () => void): RecorderRun | null {
    if (this.#stopped.signal.aborted) return null;
    return startDirectRun({ ...this.#options, path, onMedia });
  }

  /** @returns null when it was stopped in the interim. */
  async #startFfmpeg(file: string, onMedia: () => void): Promise<RecorderRun | null> {
    const { ffmpeg, log, feed } = this.#options;
    // Only the file, not its folder, which contains parts of other accounts' broadcasts.
    const view = { reads: [], writes: file };
    const program = await ffmpeg.guard.start(ffmpeg.bin, liveLimits(PART_MAX_BYTES), view);
    if (this.#stopped.signal.aborted) return null;
    const args = recorderArgs({ ...this.#options, file });
    const onProgress = ({ frame }: FfmpegProgress) => {
      if (frame) onMedia();
    };
    return spawnFfmpeg({ program, args, log, input: feed, onProgress });
  }

  #count({ code, signal, stderr, spawnError }: FfmpegExit, lastedMs: number): void {
    this.#failures = lastedMs >= GOOD_RUN_MS ? 1 : this.#failures + 1;
    const reason = spawnError ?? stderr.trim().split('\n').at(-1)?.slice(0, 300);
    this.#options.log.warn({ code, signal, reason, failures: this.#failures }, 'a recorder ended');
  }
}
