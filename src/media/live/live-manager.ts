import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../kernel/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import type {
  IngestEnd,
  IngestEngine,
  IngestSession,
  LiveIssue,
  RejectionIssue,
  StreamHealth,
} from '../contract/index.ts';
import type { FfmpegProgram } from '../ffmpeg/program.ts';
import { type LiveHardware, remainingCapacity } from './capacity.ts';
import { emptyFolder, emptyIdleFolders } from './clean-folders.ts';
import { type Composer, type ComposerOptions, type FinishedSegments, openComposer } from './composer.ts';
import { LONG_KEYFRAME_MS, SignalWatch } from './health.ts';
import { type LadderPlan, planKey, planLadder, toSoftwarePlan, updatePlan } from './ladder.ts';
import { mediaKey } from './media-key.ts';
import { createPackager, type Packager } from './packager.ts';
import { createThumbnails, type Thumbnails } from './thumbnail.ts';

export interface LiveManagerOptions {
  engine: Pick<IngestEngine, 'feed' | 'stats' | 'kick'>;
  /** Root of the playlists and segments, in `<liveDir>/<streamId>`. */
  liveDir: string;
  ffmpeg: FfmpegProgram;
  /** `LIVE_MAX_RUNGS`. */
  maxRungs: number;
  /** CPU cores of the node for live transcodes; three quarters of them by default. */
  cores?: number;
  /** Number of media processes that share the machine; default 1. */
  processes?: number;
  /** Returns the hardware encoder; null while unknown, and when there is none. */
  hardware?: () => LiveHardware | null;
  log: Logger;
  clock: Clock;
  lastKept?: ComposerOptions['lastKept'];
  /** Time without a signal after which a folder is emptied; one hour, longer than any reconnect window. */
  idleMs?: number;
  /** Called every five seconds for each stream that publishes, and within one when its issues have changed. */
  onHealth?: (streamId: string, health: StreamHealth) => void;
  /** Called when the publish cannot be packaged; it is kicked afterwards. */
  onRefused?: (session: IngestSession, issue: RejectionIssue) => Promise<void>;
}

/** Manager of the packagers of all publishes; never runs two for a stream. */
export interface LiveManager {
  /** Empties idle folders and starts the timers. */
  start(): Promise<void>;
  /** Prepares the stream's folder. Never rejects. */
  onStart(session: IngestSession): Promise<void>;
  /** Starts the packager, or a new epoch when the kind of media has changed. */
  onMedia(session: IngestSession): void;
  /** Resolves when the packager has ended and the last segment is in the playlists. */
  onEnd(end: IngestEnd): Promise<void>;
  /** Handles a state change of the stream, such as going live: its thumbnail is renewed soon. */
  changed(streamId: string): void;
  /** Returns the health of a stream; null when nothing is published. */
  health(streamId: string): StreamHealth | null;
  /** Returns the finished segments of a stream; null without a folder. */
  finished(streamId: string): FinishedSegments | null;
  /** Ends the packager of a deleted stream and deletes its files. */
  remove(streamId: string): Promise<void>;
  /** Ends every packager; the files remain. */
  stop(): Promise<void>;
}

interface Run {
  packager: Packager;
  sessionId: string;
  plan: LadderPlan;
  /** Result of `mediaKey` for the session. */
  media: string;
  startedAtMs: number;
}

/** Stream with a folder; its tasks run serially. */
interface Entry {
  streamId: string;
  session: IngestSession | null;
  composer: Composer | null;
  running: Run | null;
  longKeyframeInterval: boolean;
  failure: LiveIssue | null;
  watch: SignalWatch;
  /** Issues reported last. */
  toldIssues: string;
  headerTimer: NodeJS.Timeout | null;
  idleSinceMs: number;
  queue: Promise<void>;
}

const IDLE_MS = 3_600_000;
/**
 * Wait for the audio header, which follows the video header within a few packets; without it there is no
 * audio.
 */
const AUDIO_WAIT_MS = 400;
/** Time after which a publish without a video header counts as audio only. */
const VIDEO_WAIT_MS = 1500;
const CHECK_MS = 1000;
const HEALTH_EVERY_CHECKS = 5;
const PRUNE_EVERY_CHECKS = 10;

export function createLiveManager(options: LiveManagerOptions): LiveManager {
  return new EntryManager(options);
}

class EntryManager implements LiveManager {
  readonly #options: LiveManagerOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #thumbnails: Thumbnails;
  #ticker: NodeJS.Timeout | null = null;
  #checks = 0;

  constructor(options: LiveManagerOptions) {
    this.#options = options;
    this.#thumbnails = createThumbnails(options);
  }

  async start(): Promise<void> {
    await emptyIdleFolders(this.#options, this.#options.clock.ms() - idleMsOf(this.#options));
    this.#ticker ??= setInterval(() => this.#check(), CHECK_MS);
  }

  async onStart(session: IngestSession): Promise<void> {
    const entry = this.#entryOf(session.streamId);
    if (entry.session?.sessionId !== session.sessionId) {
      entry.longKeyframeInterval = false;
      entry.failure = null;
      entry.watch = new SignalWatch();
    }
    entry.session = session;
    await this.#inTurn(entry, async () => {
      await composerOf(this.#options, entry);
      await this.#thumbnails.forget(dirOf(this.#options, entry));
      // A takeover: the packager of the replaced publish has no more input.
      if (entry.running?.sessionId !== session.sessionId) await endRun(entry);
    });
  }

  onMedia(session: IngestSession): void {
    const entry = this.#entries.get(session.streamId);
    if (entry?.session?.sessionId !== session.sessionId) return;
    entry.session = session;
    stopWaiting(entry);
    const complete = session.video !== undefined && session.audio !== undefined;
    const isTold = complete || entry.running?.sessionId === session.sessionId;
    const waitMs = session.video ? AUDIO_WAIT_MS : VIDEO_WAIT_MS;
    if (isTold) void this.#apply(entry);
    else entry.headerTimer = setTimeout(() => void this.#apply(entry), waitMs);
  }

  async onEnd(end: IngestEnd): Promise<void> {
    const entry = this.#entries.get(end.streamId);
    if (entry?.session?.sessionId !== end.sessionId) return;
    this.#leave(entry);
    await this.#inTurn(entry, () => endRun(entry));
  }

  changed(streamId: string): void {
    const entry = this.#entries.get(streamId);
    if (entry) this.#thumbnails.hurry(dirOf(this.#options, entry));
  }

  health(streamId: string): StreamHealth | null {
    const entry = this.#entries.get(streamId);
    return entry ? healthOf(this.#options, entry) : null;
  }

  finished(streamId: string): FinishedSegments | null {
    return this.#entries.get(streamId)?.composer?.finished() ?? null;
  }

  async remove(streamId: string): Promise<void> {
    await this.#forget(this.#entryOf(streamId), (dir) => rm(dir, { recursive: true, force: true }));
  }

  async stop(): Promise<void> {
    if (this.#ticker) clearInterval(this.#ticker);
    this.#ticker = null;
    const ends = [...this.#entries.values()].map((entry) => {
      this.#leave(entry);
      return this.#inTurn(entry, async () => {
        await endRun(entry);
        await entry.composer?.close();
      });
    });
    await Promise.all(ends);
  }

  #forget(entry: Entry, clear: (dir: string) => Promise<void>): Promise<void> {
    const dir = dirOf(this.#options, entry);
    this.#leave(entry);
    return this.#inTurn(entry, async () => {
      await endRun(entry, 0);
      await entry.composer?.close();
      entry.composer = null;
      await this.#thumbnails.forget(dir);
      await clear(dir);
      // A publish that began in the meantime has queued its own work on this entry.
      if (!entry.session) this.#entries.delete(entry.streamId);
    });
  }

  #leave(entry: Entry): void {
    entry.session = null;
    entry.idleSinceMs = this.#options.clock.ms();
    stopWaiting(entry);
  }

  #entryOf(streamId: string): Entry {
    const known = this.#entries.get(streamId);
    if (known) return known;
    if (!/^[a-z0-9_-]+$/.test(streamId)) throw new Error('a stream ID is not a valid folder name');
    const entry = newEntry(streamId, this.#options.clock.ms());
    this.#entries.set(streamId, entry);
    return entry;
  }

  #inTurn(entry: Entry, work: () => Promise<void>): Promise<void> {
    entry.queue = entry.queue.then(work).catch((error: unknown) => {
      this.#options.log.error({ err: error, streamId: entry.streamId }, 'live packaging failed');
      entry.failure = 'PACKAGER_FAILED';
    });
    return entry.queue;
  }

  #apply(entry: Entry): Promise<void> {
    return this.#inTurn(entry, async () => {
      const { session } = entry;
      if (session) await applySession(this.#options, entry, session, this.#plansBeside(entry));
    });
  }

  #plansBeside(except: Entry): LadderPlan[] {
    return [...this.#entries.values()].flatMap((entry) =>
      entry === except || entry.running === null ? [] : [entry.running.plan],
    );
  }

  #check(): void {
    this.#checks += 1;
    for (const entry of this.#entries.values()) {
      if (hasLongKeyframes(this.#options, entry)) {
        entry.longKeyframeInterval = true;
        void this.#apply(entry);
      }
      this.#tellHealth(entry, this.#checks % HEALTH_EVERY_CHECKS === 0);
      if (this.#checks % PRUNE_EVERY_CHECKS === 0)
        void this.#inTurn(entry, async () => entry.composer?.prune());
      if (entry.running && entry.composer && entry.session?.video)
        this.#thumbnails.look(dirOf(this.#options, entry), entry.composer);
      if (isIdle(this.#options, entry)) void this.#forget(entry, emptyFolder);
    }
  }

  #tellHealth(entry: Entry, isDue: boolean): void {
    const health = healthOf(this.#options, entry);
    const issues = health?.issues.join() ?? '';
    if (health && (isDue || issues !== entry.toldIssues)) this.#options.onHealth?.(entry.streamId, health);
    entry.toldIssues = issues;
  }
}

function newEntry(streamId: string, nowMs: number): Entry {
  return {
    streamId,
    session: null,
    composer: null,
    running: null,
    longKeyframeInterval: false,
    failure: null,
    watch: new SignalWatch(),
    toldIssues: '',
    headerTimer: null,
    idleSinceMs: nowMs,
    queue: Promise.resolve(),
  };
}

function stopWaiting(entry: Entry): void {
  if (entry.headerTimer) clearTimeout(entry.headerTimer);
  entry.headerTimer = null;
}

function dirOf({ liveDir }: LiveManagerOptions, { streamId }: Entry): string {
  return join(liveDir, streamId);
}

async function composerOf(options: LiveManagerOptions, entry: Entry): Promise<Composer> {
  entry.composer ??= await openComposer({ ...options, dir: dirOf(options, entry) });
  return entry.composer;
}

/** Starts, restarts or keeps the packager, depending on the session's media. */
async function applySession(
  options: LiveManagerOptions,
  entry: Entry,
  session: IngestSession,
  beside: readonly LadderPlan[],
): Promise<void> {
  if (!session.video && !session.audio) return;
  const result = planLadder({
    video: session.video,
    audio: session.audio,
    grant: session.grant,
    maxRungs: options.maxRungs,
    ...remainingCapacity(options, beside),
    abilities: options.ffmpeg.info,
    longKeyframeInterval: entry.longKeyframeInterval,
  });
  if (!result.ok) {
    entry.failure = result.issue;
    options.log.warn({ streamId: entry.streamId, issue: result.issue }, 'publish cannot be packaged');
    await endRun(entry, 0);
    await options.onRefused?.(session, result.issue);
    // The end of the publish waits for this task in the stream's queue.
    options.engine.kick(session.sessionId, 'kicked').catch((error: unknown) => {
      options.log.error(
        { err: error, streamId: entry.streamId },
        'a rejected publish session could not be ended',
      );
    });
    return;
  }
  const { plan } = result;
  const media = mediaKey(session);
  const { running } = entry;
  if (
    running?.sessionId === session.sessionId &&
    running.media === media &&
    planKey(running.plan) === planKey(plan)
  ) {
    running.plan = updatePlan(running.plan, plan, session.video);
    await running.packager.setFps(plan.fps);
    return;
  }
  // The input continues after a plan change: there is no end of file to wait for.
  await endRun(entry, running?.sessionId === session.sessionId ? 0 : undefined);
  const packager = await newPackager(options, entry, session, plan);
  entry.running = { packager, sessionId: session.sessionId, plan, media, startedAtMs: options.clock.ms() };
  packager.start();
}

async function newPackager(
  options: LiveManagerOptions,
  entry: Entry,
  session: IngestSession,
  plan: LadderPlan,
): Promise<Packager> {
  const { streamId } = entry;
  return createPackager({
    ffmpeg: options.ffmpeg,
    feed: (reader, gatherMs) => options.engine.feed(session, reader, gatherMs),
    plan,
    hardware: options.hardware?.()?.hardware ?? null,
    onSoftware: () => {
      if (entry.running?.sessionId === session.sessionId)
        entry.running.plan = toSoftwarePlan(entry.running.plan);
    },
    source: session.video ?? null,
    audioCodec: session.audio?.codec ?? '',
    segmentSeconds: 2,
    latencyMode: session.grant.latencyMode ?? 'STANDARD',
    composer: await composerOf(options, entry),
    log: options.log.child({ streamId, sessionId: session.sessionId }),
    clock: options.clock,
    onGiveUp: () => {
      if (entry.session?.sessionId === session.sessionId) entry.failure = 'PACKAGER_FAILED';
    },
  });
}

async function endRun(entry: Entry, eofWaitMs?: number): Promise<void> {
  const { running } = entry;
  entry.running = null;
  await running?.packager.stop(eofWaitMs);
}

/**
 * Reports whether the keyframe interval is too long. Also true when the second keyframe is overdue: then
 * nothing has been playable yet.
 */
function hasLongKeyframes(options: LiveManagerOptions, entry: Entry): boolean {
  const { session, running } = entry;
  if (!session?.video || !running || entry.longKeyframeInterval) return false;
  const stats = options.engine.stats(session.sessionId);
  if (!stats) return false;
  const sinceStartMs = stats.lastMediaAtMs - running.startedAtMs;
  return (stats.keyframeIntervalMs ?? sinceStartMs) > LONG_KEYFRAME_MS;
}

const isIdle = (options: LiveManagerOptions, { session, running, idleSinceMs }: Entry): boolean =>
  !session && !running && options.clock.ms() - idleSinceMs > idleMsOf(options);

const idleMsOf = ({ idleMs = IDLE_MS }: LiveManagerOptions): number => idleMs;

function healthOf(options: LiveManagerOptions, entry: Entry): StreamHealth | null {
  const { session, running, composer } = entry;
  if (!session) return null;
  const facts = {
    session,
    stats: options.engine.stats(session.sessionId),
    plan: running?.plan ?? null,
    failure: entry.failure ?? (running?.packager.failing() ? ('PACKAGER_FAILED' as const) : null),
    packaged: running && composer ? composer.packaged() : null,
  };
  return entry.watch.look(facts, performance.now());
}
