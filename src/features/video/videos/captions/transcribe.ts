import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Static } from 'typebox';
import { type Events, nextSequence } from '../../../../events/index.ts';
import { JobDeferredError, type JobRun, type JobWorker } from '../../../../jobs/job.ts';
import type { Clock } from '../../../../kernel/clock.ts';
import { AppError } from '../../../../kernel/errors.ts';
import { newId } from '../../../../kernel/ids.ts';
import { canonicalLanguage, languageName } from '../../../../kernel/languages.ts';
import { videoPrefix } from '../../../../kernel/media-keys.ts';
import { type BlobStore, type Transcriber, TranscriptError } from '../../../../media/contract/index.ts';
import type { Bus } from '../../../../platform/bus.ts';
import type { Db, Tx } from '../../../../platform/db/index.ts';
import { type DiskSpace, isDiskError } from '../../../../platform/disk.ts';
import type { Logger } from '../../../../platform/logger.ts';
import { videoCaptionReady } from '../events.ts';
import { MAX_WORKER_CRASHES } from '../processing/failures.ts';
import { withScratch } from '../processing/files.ts';
import { lockAnyVideo, updateVideo, type VideoRow } from '../repository.ts';
import { VIDEO_TOPIC } from '../with-locked-video.ts';
import { transcribeJob } from './auto.jobs.ts';
import type { AudioRow } from './auto.repository.ts';
import * as repository from './auto.repository.ts';
import { ownCaptionsExist } from './auto.service.ts';
import { deleteCaption, findCaption, hasAllCaptions, insertCaption } from './repository.ts';
import { TOO_MANY } from './service.ts';
import { readWebVtt, toWebVtt } from './webvtt.ts';

type Run = JobRun<Static<typeof transcribeJob.payload>>;

export interface TranscribeDeps {
  db: Db;
  events: Events;
  store: BlobStore;
  disk: Pick<DiskSpace, 'isThere'>;
  transcriber: Transcriber;
  bus: Pick<Bus, 'publish'>;
  clock: Clock;
  log: Logger;
  /** Parent of the scratch folders of the runs. */
  scratchDir: string;
}

const FULL_RETRY_SEC = 60;
const TYPE = 'text/vtt; charset=utf-8';
const FAILED = 'The captions could not be generated. The video itself is not affected. Try again.';
/** Language assumed when the engine reports none: BCP 47 for an undetermined language. */
const UNKNOWN = 'und';

/** Creates a worker with a concurrency of 1: an engine uses all the processors available to it. */
export function createTranscribeWorker(deps: TranscribeDeps): JobWorker<typeof transcribeJob.payload> {
  return { job: transcribeJob, concurrency: 1, run: (run) => guarded(deps, run) };
}

async function guarded(deps: TranscribeDeps, run: Run): Promise<void> {
  const { log } = deps;
  const { videoId } = run.payload;
  if (!(await deps.disk.isThere())) throw new JobDeferredError('no disk space', FULL_RETRY_SEC);
  try {
    if (run.lost > MAX_WORKER_CRASHES) throw new TranscriptError(FAILED);
    await transcribe(deps, run);
  } catch (error) {
    if (run.signal.aborted) throw error;
    if (isDiskError(error)) throw new JobDeferredError('no disk space', FULL_RETRY_SEC);
    const isOwn = error instanceof TranscriptError;
    if (!isOwn && !run.isLast) throw error;
    log.warn({ err: error, videoId }, 'captions could not be created');
    await end(deps, run, async (tx) => fail(tx, deps, videoId, isOwn ? error.message : FAILED));
  }
}

async function transcribe(deps: TranscribeDeps, run: Run): Promise<void> {
  const { db, store, transcriber, scratchDir } = deps;
  const { videoId } = run.payload;
  const { signal } = run;
  const asked = await repository.findTranscription(db, videoId);
  if (asked === undefined || asked.ended_at !== null) return;
  const sound = await repository.findAudio(db, videoId);
  if (sound === undefined) {
    return end(deps, run, (tx) => fail(tx, deps, videoId, 'The video no longer has audio.'));
  }
  await repository.updateTranscription(db, videoId, { status: 'PROCESSING' });
  const named = asked.language === null ? UNKNOWN : new Intl.Locale(asked.language).language;
  const hint = named === UNKNOWN ? null : named;
  const transcript = await withScratch(scratchDir, run.id, async (dir) => {
    const path = join(dir, 'sound.mp4');
    await gather(store, sound, path, signal);
    return transcriber.transcribe({
      ...{ sound: path, durationSec: sound.duration_sec ?? 0, language: hint, dir, signal },
    });
  });
  const language = asked.language ?? canonicalLanguage(transcript.language ?? UNKNOWN) ?? UNKNOWN;
  await publish(deps, run, { sound, language, content: readable(transcript.text) });
}

/** Concatenates the initialization and media segments of the audio into one file. */
async function gather(store: BlobStore, sound: AudioRow, path: string, signal: AbortSignal): Promise<void> {
  const folder = `${videoPrefix(sound)}/${sound.folder}/${sound.name}/`;
  const keys: string[] = [];
  for await (const { key } of store.list(folder)) if (key.endsWith('.m4s')) keys.push(key);
  const files = [`${folder}init.mp4`, ...keys.toSorted()];
  const bytes = async function* () {
    for (const key of files) {
      const found = await store.open(key);
      if (found === null) throw new Error(`${key} is not in the media storage`);
      yield* found.body;
    }
  };
  await pipeline(Readable.from(bytes()), createWriteStream(path), { signal });
}

/** @throws {TranscriptError} */
function readable(text: string): string {
  const read = readWebVtt(text, 0);
  if (read !== null) return read;
  try {
    return toWebVtt(text, 'content');
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const isEmpty = /^No cues found/.test(error.message);
    throw new TranscriptError(
      isEmpty ? 'No speech was detected in the video.' : 'The speech engine produced invalid captions.',
    );
  }
}

interface Made {
  sound: AudioRow;
  language: string;
  content: string;
}

/** Publishes the captions in place of previous automatic ones; those of the owner stay. */
async function publish(deps: TranscribeDeps, run: Run, { sound, language, content }: Made): Promise<void> {
  const { store, clock } = deps;
  const { videoId } = run.payload;
  const id = newId('cap');
  const file = `${id}.vtt`;
  const keyOf = (name: string) => `${videoPrefix(sound)}/captions/${name}`;
  await store.put(keyOf(file), content, TYPE);
  let unused: string | undefined = file;
  try {
    await end(deps, run, async (tx, row, append) => {
      const there = await findCaption(tx, videoId, language);
      if (there !== undefined && !there.is_auto) return fail(tx, deps, videoId, ownCaptionsExist(language));
      if (there === undefined && (await hasAllCaptions(tx, videoId)))
        return fail(tx, deps, videoId, TOO_MANY);
      unused = await deleteCaption(tx, videoId, language);
      const now = clock.now();
      const made = { id, video_id: videoId, language, label: `${languageName(language)} (auto)`, file };
      await insertCaption(tx, { ...made, is_auto: true, created_at: now });
      await updateVideo(tx, videoId, { updated_at: now });
      await repository.updateTranscription(tx, videoId, { status: 'READY', language, ended_at: now });
      const sequence = await nextSequence(tx, 'video', videoId);
      await append(videoCaptionReady, row.workspace_id, { videoId, language, isAuto: true, sequence });
    });
  } finally {
    if (unused !== undefined) await store.delete(keyOf(unused));
  }
}

type Append = Parameters<Parameters<Events['transaction']>[0]>[1];

/** Finishes a run; does nothing when the video was deleted in the interim. */
async function end(
  { events, bus }: TranscribeDeps,
  run: Run,
  work: (tx: Tx, row: VideoRow, append: Append) => Promise<void>,
): Promise<void> {
  const { videoId } = run.payload;
  await events.transaction(async (tx, append) => {
    const row = await lockAnyVideo(tx, videoId);
    await run.confirm(tx);
    if (row !== undefined && row.deleted_at === null) await work(tx, row, append);
  });
  bus.publish(VIDEO_TOPIC, videoId);
}

function fail(tx: Tx, { clock }: TranscribeDeps, videoId: string, error: string): Promise<void> {
  return repository.updateTranscription(tx, videoId, { status: 'FAILED', error, ended_at: clock.now() });
}
