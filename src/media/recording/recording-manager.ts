import type { Clock } from '../../kernel/clock.ts';
import type { DiskSpace } from '../../platform/disk.ts';
import type { Logger } from '../../platform/logger.ts';
import type {
  BlobStore,
  DesiredRecording,
  IngestEngine,
  IngestSession,
  RecordingPort,
  VideoInfo,
} from '../contract/index.ts';
import type { FfmpegProgram } from '../ffmpeg/program.ts';
import { isReadable } from '../live/ladder.ts';
import { createPartFiles, type PartFiles } from './part-files.ts';
import { type Recorder, type RecorderOptions, startRecorder } from './recorder.ts';

export interface RecordingManagerOptions {
  engine: Pick<IngestEngine, 'list' | 'feed'>;
  port: RecordingPort;
  store: Pick<BlobStore, 'putFile' | 'head'>;
  /** Nothing is recorded while it has no space. */
  disk: Pick<DiskSpace, 'isThere'>;
  /** Files are written below it, and move to the store when they are closed. */
  dir: string;
  nodeId: string;
  ffmpeg: FfmpegProgram;
  log: Logger;
  clock: Clock;
}

/**
 * Manager of the desired recordings: one recorder for each publish, never two. The desired state is read from
 * the database through the port; while that is unavailable, the last known state continues to apply.
 */
export interface RecordingManager {
  /** Recovers the files of an earlier process. */
  recover(): Promise<void>;
  /** Reads the desired recordings, and starts and stops recorders accordingly. Never rejects. */
  sync(): Promise<void>;
  /** Notifies of new media or the end of a publish. */
  publishesChanged(): void;
  /** Why this stream is to be recorded and is not; null where all is well. */
  issue(streamId: string): 'RECORDING_FAILED' | 'DISK_FULL' | null;
  /** Ends every recorder and stores the files, as far as a few seconds suffice. */
  stop(): Promise<void>;
}

interface Run {
  recorder: Recorder;
  streamId: string;
  /** Format of the recording; a change requires a new file. */
  key: string;
}

/**
 * Time to wait for the audio header, which follows the video header within a few packets; without it, there
 * is no audio.
 */
const AUDIO_WAIT_MS = 1500;
/** Pause after a full disk: restarting the recorder every second would create a file each time. */
const FULL_MS = 10_000;
/** The end of a publish ends the recorder's input. */
const EOF_WAIT_MS = 1000;

export function createRecordingManager(options: RecordingManagerOptions): RecordingManager {
  return new WantedRecordings(options, createPartFiles(options));
}

class WantedRecordings implements RecordingManager {
  readonly #options: RecordingManagerOptions;
  readonly #files: PartFiles;
  /** Runs by the ID of the publish. */
  readonly #runs = new Map<string, Run>();
  readonly #ending = new Set<Promise<void>>();
  #wanted: readonly DesiredRecording[] = [];
  #asking: Promise<void> | null = null;
  #askAgain = false;
  /** `performance.now()` */
  #fullUntil = 0;
  #stopped = false;

  constructor(options: RecordingManagerOptions, files: PartFiles) {
    this.#options = options;
    this.#files = files;
  }

  recover(): Promise<void> {
    return this.#files.recover();
  }

  /** One query at a time; a call during one is served by the next. */
  sync(): Promise<void> {
    if (this.#asking !== null) {
      this.#askAgain = true;
      return this.#asking;
    }
    this.#asking = this.#ask().finally(() => {
      this.#asking = null;
    });
    return this.#asking;
  }

  publishesChanged(): void {
    if (this.#stopped) return;
    const live = new Map(this.#options.engine.list().map((session) => [session.sessionId, session]));
    const wanting = this.#isFull() ? [] : this.#wanted.filter((one) => one.isRefused !== true);
    const wanted = new Map(wanting.map((one) => [one.publishId, one.recordingId]));
    for (const [publishId, run] of this.#runs) {
      const session = live.get(publishId);
      const recordingId = wanted.get(publishId);
      if (session === undefined) this.#end(publishId, EOF_WAIT_MS);
      else if (recordingId === undefined || keyOf(session, recordingId) !== run.key) this.#end(publishId, 0);
    }
    for (const [publishId, recordingId] of wanted) {
      const session = live.get(publishId);
      if (session !== undefined && !this.#runs.has(publishId)) this.#begin(session, recordingId);
    }
  }

  issue(streamId: string): 'RECORDING_FAILED' | 'DISK_FULL' | null {
    const wanted = this.#wantedOf(streamId);
    if (this.#isFull() && wanted.length > 0) return 'DISK_FULL';
    if (wanted.some((one) => one.isRefused === true)) return 'RECORDING_FAILED';
    const runs = [...this.#runs.values()];
    const isFailing = runs.some((run) => run.streamId === streamId && run.recorder.failing());
    return isFailing ? 'RECORDING_FAILED' : null;
  }

  #wantedOf(streamId: string): DesiredRecording[] {
    const live = this.#options.engine.list().filter((session) => session.streamId === streamId);
    const publishes = new Set(live.map(({ sessionId }) => sessionId));
    return this.#wanted.filter(({ publishId }) => publishes.has(publishId));
  }

  #isFull(): boolean {
    return performance.now() < this.#fullUntil;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    for (const publishId of [...this.#runs.keys()]) this.#end(publishId, 0);
    await Promise.all(this.#ending);
    await this.#files.stop();
  }

  async #ask(): Promise<void> {
    do {
      this.#askAgain = false;
      try {
        this.#wanted = await this.#options.port.wanted(this.#options.nodeId, await this.#files.sizes());
        if (!(await this.#options.disk.isThere())) this.#fullUntil = performance.now() + FULL_MS;
      } catch (error) {
        this.#options.log.warn({ err: error }, 'the broadcasts to record could not be read');
      }
      this.publishesChanged();
    } while (this.#askAgain && !this.#stopped);
  }

  #begin(session: IngestSession, recordingId: string): void {
    const { video, audio, streamId, sessionId } = session;
    // A video needs a video track: an encoder that sends only audio is not recorded.
    if (video === undefined) return;
    if (audio === undefined && this.#ageMs(session) < AUDIO_WAIT_MS) return;
    const recorder = startRecorder(this.#recorderOptions(session, video, recordingId));
    this.#runs.set(sessionId, { recorder, streamId, key: keyOf(session, recordingId) });
  }

  #recorderOptions(session: IngestSession, video: VideoInfo, recordingId: string): RecorderOptions {
    const { engine, ffmpeg, log, clock } = this.#options;
    const { streamId, sessionId, audio } = session;
    return {
      ffmpeg,
      feed: (stdin) => engine.feed(session, stdin),
      video,
      audio,
      isDirect: !isReadable(session, ffmpeg.info),
      recordingId,
      files: this.#files,
      log: log.child({ streamId, sessionId, recordingId }),
      clock,
    };
  }

  #ageMs(session: IngestSession): number {
    return this.#options.clock.ms() - session.startedAt.getTime();
  }

  #end(publishId: string, eofWaitMs: number): void {
    const run = this.#runs.get(publishId);
    this.#runs.delete(publishId);
    if (run === undefined) return;
    const ended = run.recorder.stop(eofWaitMs).finally(() => this.#ending.delete(ended));
    this.#ending.add(ended);
  }
}

/** A file holds one recording and one kind of media. */
function keyOf({ video, audio }: IngestSession, recordingId: string): string {
  return [
    recordingId,
    video ? `${video.codec} ${video.width}x${video.height}` : '',
    audio ? `${audio.codec} ${audio.sampleRate} ${audio.channels}` : '',
  ].join(', ');
}
