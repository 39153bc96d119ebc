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
  /** Playlists and segments live in `<liveDir>/<streamId>`. */
  liveDir: string;
  ffmpeg: FfmpegProgram;
  /** `LIVE_MAX_RUNGS`. */
  maxRungs: number;
  /** What live transcodes may use of the node, in CPU cores; three quarters of them unless told otherwise. */
  cores?: number;
  /** What encodes for the processor; null while it is not known, and where there is none. */
  hardware?: () => LiveHardware | null;
  log: Logger;
  clock: Clock;
  lastKept?: ComposerOptions['lastKept'];
  /** A folder without a signal is emptied after this; one hour, longer than any reconnect window. */
  idleMs?: number;
  /** Called every five seconds for each stream that publishes, and within one when its issues have changed. */
  onHealth?: (streamId: string, health: StreamHealth) => void;
  /** The publish cannot be packaged, and is kicked when this is done. */
  onRefused?: (session: IngestSession, issue: RejectionIssue) => Promise<void>;
}

/** Packages what the ingest receives: never two packagers for a stream. */
export interface LiveManager {
  /** Empties folders that were left idle and starts the timers. */
  start(): Promise<void>;
  /** Prepares the stream's folder. Never rejects. */
  onStart(session: IngestSession): Promise<void>;
  /** Starts the packager, or a new epoch when the media has changed in kind. */
  onMedia(session: IngestSession): void;
  /** Resolves when the packager has ended and the last segment is in the playlists. */
  onEnd(end: IngestEnd): Promise<void>;
  /** Such as its going live: its picture is soon renewed. */
  changed(streamId: string): void;
  /** null when nothing is published. */
  health(streamId: string): StreamHealth | null;
  /** What there is whole of a stream; null without a folder. */
  finished(streamId: string): FinishedSegments | null;
  /** The stream is gone: ends its packager and deletes its files. */
  remove(streamId: string): Promise<void>;
  /** Ends every packager; the files stay. */
  stop(): Promise<void>;
}

interface Run {
  packager: Packager;
  sessionId: string;
  plan: LadderPlan;
  /** What `mediaKey` said of the session. */
  media: string;
  startedAtMs: number;
}

/** One stream with a folder; its work is done in turn. */
interface Entry {
  streamId: string;
  session: IngestSession | null;
  composer: Composer | null;
  running: Run | null;
  longKeyframeInterval: boolean;
  failure: LiveIssue | null;
  watch: SignalWatch;
  /** The issues that were told last. */
  toldIssues: string;
  headerTimer: NodeJS.Timeout | null;
  idleSinceMs: number;
  queue: Promise<void>;
}

const IDLE_MS = 3_600_000;
/** The audio header follows the video header within a few packets; without it there is no audio. */
const AUDIO_WAIT_MS = 400;
/** An encoder may send audio alone; its video header has had time enough by then. */
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
      // A takeover: the packager of the replaced publish has nothing to read any more.
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
      // A publish that began meanwhile has queued its own work on this entry.
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
    if (!/^[a-z0-9_-]+$/.test(streamId)) throw new Error('a stream id is not fit for a folder name');
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

/** Starts, restarts or leaves the packager as the session's media asks for. */
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
    // The end of the publish waits for its turn on this stream, which is ours until we return.
    options.engine.kick(session.sessionId, 'kicked').catch((error: unknown) => {
      options.log.error({ err: error, streamId: entry.streamId }, 'a refused publish could not be ended');
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
  // The input of a changed plan goes on: there is no end of file to wait for.
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

/** Also when the second keyframe is overdue: then nothing at all could have been played so far. */
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
