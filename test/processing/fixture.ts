import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { sql } from 'kysely';
import { createCatalogue } from '../../src/events/catalogue.ts';
import { createEvents } from '../../src/events/index.ts';
import { createUsageEvents } from '../../src/features/insight/usage-events/service.ts';
import { transcribeJob } from '../../src/features/video/videos/captions/auto.jobs.ts';
import { videoEvents } from '../../src/features/video/videos/events.ts';
import { createVideoIntake } from '../../src/features/video/videos/intake/service.ts';
import { createTranscodeNode } from '../../src/features/video/videos/processing/nodes.ts';
import {
  createVideoProcessing,
  processingJobs,
} from '../../src/features/video/videos/processing/processing.service.ts';
import type { VideoRow } from '../../src/features/video/videos/repository.ts';
import * as transitions from '../../src/features/video/videos/transitions.ts';
import { type JobWorkers, startJobWorkers } from '../../src/jobs/worker.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import type { Plan } from '../../src/kernel/plans.ts';
import type { VideoCodec } from '../../src/kernel/video-codecs.ts';
import type {
  AudioPlan,
  RungPlan,
  SourceInfo,
  TranscodeRun,
  Transcoder,
} from '../../src/media/contract/index.ts';
import { createDiskStore } from '../../src/media/storage/disk.ts';
import { eventWatcher } from '../harness/contract-coverage.ts';
import { createTestDatabase } from '../harness/database.ts';
import { insertAccount } from '../harness/factories.ts';
import { waitFor } from '../harness/wait-for.ts';
import { openQueue } from '../jobs/fixture.ts';
import { writeRendition } from './fake-rendition.ts';
import { fakeSource } from './fake-source.ts';

type Method = keyof Transcoder;
type Behaviour = (signal: AbortSignal) => Promise<void>;

/** Transcoder controlled by a test: its source, the behavior of calls, and the calls made. */
export interface FakeTranscoder extends Transcoder {
  source: SourceInfo;
  /** The functions in the order of their calls, with the rungs where there are some: `encode 720p 360p`. */
  calls: string[];
  /** Codecs that this machine encodes in addition to H.264. */
  further: VideoCodec[];
  /** Hardware encodes here. */
  encodesWhole: boolean;
  /** Audio plan returned by `plan`: one in stereo. */
  audio: AudioPlan[];
  /** Height that the analysis drops from the ladder; null for none. */
  droppedHeight: number | null;
  heights: number[];
  /** Duration of renditions; null for that of the source. */
  measuredSec: number | null;
  /** Maximum heights passed to `plan`. */
  tops: number[];
  /** Behavior before the function writes its files; none by default. */
  before: Partial<Record<Method, Behaviour>>;
}

/** A copied stereo. */
export function audioPlan(plan: Partial<AudioPlan>): AudioPlan {
  const facts = { track: 0, streamIndex: 1, language: null, label: 'Main', isDescription: false };
  return { name: 'audio', isCopy: true, channels: 2, bitrate: 128_000, ...facts, ...plan };
}

const IMAGES = ['poster.jpg', 'preview.webp', 'storyboard.vtt', 'sb_001.jpg'];

async function writeImages(dir: string, names: string[]): Promise<string[]> {
  for (const name of names) await writeFile(join(dir, name), name);
  return names;
}

/** Writes small files where the real one runs ffmpeg. */
function fakeTranscoder(): FakeTranscoder {
  const calls: string[] = [];
  const source = fakeSource();
  const tops: number[] = [];
  const call = async (method: Method, signal: AbortSignal, rungs: readonly RungPlan[] = []) => {
    calls.push([method, ...rungs.map(({ name }) => name)].join(' '));
    await fake.before[method]?.(signal);
    signal.throwIfAborted();
  };
  const make = async (
    { outDir, onProgress }: Pick<TranscodeRun, 'outDir' | 'onProgress'>,
    rungs: readonly RungPlan[],
    audio: readonly AudioPlan[],
  ) => {
    onProgress?.(0.5);
    return Promise.all(
      [...rungs, ...audio].map((plan) =>
        writeRendition(outDir, plan, fake.measuredSec ?? source.durationSec),
      ),
    );
  };
  const fake: FakeTranscoder = {
    source,
    audio: [audioPlan({})],
    calls,
    further: [],
    encodesWhole: false,
    droppedHeight: null,
    heights: [1080, 720, 360],
    measuredSec: null,
    tops,
    before: {},
    needsCopy: async () => false,
    makeCopy: () => Promise.reject(new Error('no file needs a copy here')),
    async probe(_input, signal) {
      await call('probe', signal);
      return source;
    },
    plan(_source, maxHeight, codecs = []) {
      tops.push(maxHeight);
      const { height, frameRate } = source.video;
      const rungs = fake.heights
        .filter((lines) => lines <= Math.min(height, maxHeight))
        .map((lines, i) => ({
          name: `${lines}p`,
          codec: 'H264' as const,
          width: Math.round((lines * 8) / 9) * 2,
          height: lines,
          frameRate,
          bitrate: lines * 2000,
          isCopy: i === 0 && lines === height && source.copyRefusal === null,
        }));
      const further = codecs.flatMap((codec) =>
        rungs.map((rung) => ({ ...rung, codec, name: `${rung.name}-${codec.toLowerCase()}`, isCopy: false })),
      );
      return { rungs, further, audio: fake.audio };
    },
    async analyzeComplexity(run) {
      const { ladder } = run;
      await call('analyzeComplexity', run.signal, ladder.rungs);
      return {
        ...ladder,
        keyframeSec: 6,
        rungs: ladder.rungs.filter(({ height }) => height !== fake.droppedHeight),
      };
    },
    async copyTop(run) {
      await call('copyTop', run.signal, [run.rung]);
      return make(run, [run.rung], run.audio);
    },
    async encode(run) {
      await call('encode', run.signal, run.rungs);
      return make(run, run.rungs, run.audio);
    },
    async encodeWithImages(run) {
      const renditions = await fake.encode(run);
      const outDir = join(run.outDir, 'img');
      await mkdir(outDir);
      const made = fake.before.images?.(run.signal) ?? Promise.resolve();
      const images = await made.then(
        () => writeImages(outDir, IMAGES),
        () => null,
      );
      return { renditions, images };
    },
    async captions({ source: { captions }, signal }) {
      await call('captions', signal);
      const cue = 'WEBVTT\n\n00:01.000 --> 00:03.000\n';
      return captions.map(({ title }) => title && cue + title);
    },
    async split({ outDir, signal }) {
      await call('split', signal);
      return Promise.all(
        [0, 1, 2].map(async (index) => {
          const file = join(outDir, `src_00${index}.mkv`);
          await writeFile(file, `piece ${index}`);
          return { index, file, startSec: index * 120, durationSec: 120 };
        }),
      );
    },
    async encodeChunk(run) {
      await call('encodeChunk', run.signal, run.rungs);
      run.onProgress?.(0.5);
      for (const { name } of run.rungs) await writeFile(join(run.outDir, `${name}.mkv`), name);
    },
    async stitch(run) {
      await call('stitch', run.signal, [run.rung]);
      return writeRendition(run.outDir, run.rung, fake.measuredSec ?? source.durationSec);
    },
    async images({ outDir, signal, storyboard }) {
      await call('images', signal);
      return writeImages(outDir, storyboard ? IMAGES : IMAGES.slice(0, 1));
    },
  };
  return fake;
}

interface Options {
  /** Default 600. */
  chunkMinSec?: number;
}

/**
 * Opens the processing with real jobs, events and files on a separate database, and a transcoder controlled
 * by the test.
 */
export async function openProcessing(options: Options = {}) {
  const database = await createTestDatabase();
  const queue = await openQueue(database.url, [...processingJobs, transcribeJob]);
  const { db, bus, jobs } = queue;
  const dataDir = await mkdtemp(join(tmpdir(), 'marquee-processing-'));
  const scratchDir = join(dataDir, 'tmp', 'own');
  const store = createDiskStore(join(dataDir, 'media'));
  const transcoder = fakeTranscoder();
  const log = queue.workersOf([]).log;
  const playable: string[] = [];
  const events = createEvents({
    db,
    catalogue: createCatalogue(videoEvents),
    livemode: false,
    clock: systemClock,
    bus,
    consumers: [eventWatcher],
    log,
    strict: true,
    onCommitted: jobs.committed,
  });
  let failedWrites = 0;
  const facts = createUsageEvents({ db, clock: systemClock, log, onRowsDropped: () => {} });
  const disk = { isFull: false, isThere: async () => !disk.isFull };
  const processing = createVideoProcessing({
    db,
    events: {
      transaction: (work) =>
        events.transaction(work).catch((error: unknown) => {
          failedWrites += 1;
          throw error;
        }),
    },
    facts,
    queue: jobs,
    store,
    disk,
    transcoder,
    bus,
    clock: systemClock,
    log,
    links: {
      playbackUrl: ({ id, isPlayable }) => (isPlayable ? `https://m.test/v/${id}/master.m3u8` : null),
      embedUrl: ({ id }) => `https://m.test/embed/${id}`,
      thumbnailUrl: ({ imageFolder }) => imageFolder,
      previewUrl: () => null,
      storyboardUrl: () => null,
      captionUrl: () => '',
    },
    scratchDir,
    chunkMinSec: options.chunkMinSec ?? 600,
    isPerTitle: true,
    furtherCodecs: async () => transcoder.further,
    encodesWhole: async () => transcoder.encodesWhole,
    checkTools: async () => {},
    onPlayable: [async (_tx, _append, video) => void playable.push(video.id)],
  });
  const intake = createVideoIntake({
    clock: systemClock,
    trash: { makeRoom: async () => false },
    facts,
    processing,
  });
  let workers: JobWorkers | null = null;

  const find = (id: string): Promise<VideoRow> =>
    db.selectFrom('video').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

  return {
    db,
    events,
    intake,
    processing,
    store,
    /** `isFull` takes the room from all that follows. */
    disk,
    transcoder,
    scratchDir,
    /** Transactions of the processing that were undone. */
    failedWrites: () => failedWrites,
    /** Videos whose first rung became playable, in order. */
    playable,
    find,
    start(slots = 1): void {
      workers = startJobWorkers({ ...queue.workersOf(processing.workers(slots)), drainMs: 5000 });
    },
    async stop(): Promise<void> {
      await workers?.stop();
      workers = null;
    },
    /** Registers another node. */
    addNode: (slots: number) => createTranscodeNode({ db, clock: systemClock }, slots).heartbeat(),
    /** Adds a video whose original has just been stored. */
    async addVideo({ plan = 'VIP', mode = 'live' }: { plan?: Plan; mode?: 'live' | 'test' } = {}) {
      const account = await insertAccount(db, { plan });
      const workspaceId = account[mode];
      return events.transaction(async (tx, append) => {
        const input = { title: 'A film', source: 'UPLOAD' as const };
        const { id } = await intake.create(tx, append, workspaceId, input);
        const key = `w/${workspaceId}/v/${id}/original/1`;
        await store.put(key, 'the original', 'video/mp4');
        await intake.received(tx, append, { workspaceId, videoId: id }, { key, sizeBytes: 12 });
        return id;
      });
    },
    retry: (id: string) =>
      events.transaction(async (tx, append) => {
        const row = await transitions.retry({ tx, append, row: await find(id), now: systemClock.now() });
        if (row !== null) await processing.start(tx, row);
      }),
    ended: (id: string) =>
      waitFor(async () => ['READY', 'FAILED'].includes((await find(id)).status) && find(id), {
        timeoutMs: 10_000,
        message: `an end of the processing; the calls were ${transcoder.calls.join(', ')}`,
      }),
    /** Types of the video's events with their data, oldest first. */
    async eventsOf(id: string) {
      const rows = await db
        .selectFrom('event')
        .select(['type', 'body'])
        .where('body', 'like', `%${id}%`)
        .execute();
      return rows
        .map(({ type, body }): { type: string; data: Record<string, unknown> } => ({
          type,
          data: JSON.parse(body).data,
        }))
        .sort((a, b) => Number(a.data.sequence) - Number(b.data.sequence));
    },
    renditions: (id: string) =>
      db.selectFrom('video_rendition').selectAll().where('video_id', '=', id).orderBy('height').execute(),
    /** Jobs that wait for a later time may run now. */
    async hurry(): Promise<void> {
      await sql`update job set run_after = clock_timestamp() where state = 'waiting'`.execute(db);
    },
    async openJobs(): Promise<string[]> {
      const { rows } = await sql<{ name: string }>`select name from job where state in ('waiting', 'active')
        order by created_at`.execute(db);
      return rows.map(({ name }) => name);
    },
    /** Lists the files that runs have left behind. */
    scratch: async () => {
      const all = dirname(scratchDir);
      const lives = await readdir(all).catch(() => []);
      return (await Promise.all(lives.map((life) => readdir(join(all, life))))).flat();
    },
    /** Folders of the video in the store, such as `r0a1`. */
    async folders(id: string): Promise<string[]> {
      const { workspace_id: workspaceId } = await find(id);
      const prefix = `w/${workspaceId}/v/${id}/`;
      const found = new Set<string>();
      for await (const { key } of store.list(prefix)) found.add(key.slice(prefix.length).split('/')[0] ?? '');
      found.delete('original');
      return [...found].sort();
    },
    async close(): Promise<void> {
      await workers?.stop();
      await queue.close();
      await database.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

export type ProcessingRig = Awaited<ReturnType<typeof openProcessing>>;

/** Returns a behavior that waits for the test, or for its signal. */
export function gate(): { wait: Behaviour; open(): void; reached(): Promise<boolean> } {
  const opened = Promise.withResolvers<void>();
  let isReached = false;
  return {
    reached: () => waitFor(() => isReached, { message: 'the call that the test holds' }),
    open: () => opened.resolve(),
    wait: (signal) =>
      new Promise((resolve, reject) => {
        isReached = true;
        opened.promise.then(resolve);
        signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      }),
  };
}
