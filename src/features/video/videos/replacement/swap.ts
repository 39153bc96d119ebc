import { isDeepStrictEqual } from 'node:util';
import { nextSequence } from '../../../../events/index.ts';
import { dateFromMs } from '../../../../kernel/clock.ts';
import { HOUR_MS } from '../../../../kernel/durations.ts';
import type { Tx } from '../../../../platform/db/index.ts';
import type { Chapter } from '../../../../platform/db/json-columns.ts';
import type { VideoLinks } from '../../../audience/playback/index.ts';
import { deleteTranscription } from '../captions/auto.repository.ts';
import { deleteAutoCaptions } from '../captions/repository.ts';
import { showSourceCaptions } from '../captions/source.ts';
import { videoReplaced, videoReplacementFailed } from '../events.ts';
import { overlay, type ProcessedVideo } from '../processing/processed.ts';
import { findProcessing } from '../processing/repository.ts';
import { playableRungs, updateVideo, type VideoRow } from '../repository.ts';
import { toLinked } from '../schemas.ts';
import type { Step, VideoFailure } from '../transitions.ts';
import { findReplacement, type ReplacementRow, updateReplacement } from './repository.ts';

/** Extra time for which a replaced file stays playable for viewers who pause, added to its duration. */
const PAUSE_MS = HOUR_MS;

type ReplacementStep = Step & { row: ProcessedVideo };

/** QUEUED → PROCESSING. */
export async function pickReplacement(
  tx: Tx,
  row: ProcessedVideo,
  now: Date,
): Promise<ProcessedVideo | undefined> {
  const key = { video_id: row.id, revision: row.revision };
  return overlay(row, await updateReplacement(tx, key, { status: 'PROCESSING', updated_at: now }));
}

/**
 * Switches the video to the new file: `video.replaced`. Properties of the file change, those of the video
 * stay (docs/concepts/videos.md#replacing-the-file). The previous file is retained for its current viewers.
 *
 * @param step.row as it was processed.
 * @param former the video before the switch.
 */
export async function swapFile(
  step: ReplacementStep,
  former: VideoRow,
  links: VideoLinks,
): Promise<VideoRow | null> {
  const { tx, row, now } = step;
  const made = await findReplacement(tx, row.id, row.revision);
  if (made === undefined) return null;
  const captions = await replaceCaptions(step, made);
  const after = await updateVideo(tx, row.id, {
    revision: made.revision,
    upload_id: made.upload_id,
    import_id: made.import_id,
    original_key: made.original_key,
    size_bytes: made.size_bytes,
    storage_bytes: made.storage_bytes,
    duration_sec: made.duration_sec,
    width: made.width,
    height: made.height,
    frame_rate: made.frame_rate,
    image_folder: made.image_folder,
    has_storyboard: made.has_storyboard,
    has_preview: made.has_preview,
    processing_notes: JSON.stringify(made.processing_notes),
    chapters: JSON.stringify(await chaptersOf(tx, former, made)),
    updated_at: now,
  });
  await updateReplacement(tx, made, {
    status: 'READY',
    progress_percent: 100,
    original_key: null,
    storage_bytes: 0,
    captions: '[]',
    previous_kept_until: dateFromMs(now.getTime() + (former.duration_sec ?? 0) * 1000 + PAUSE_MS),
    previous_revision: former.revision,
    previous_original_key: former.original_key,
    previous_image_folder: former.image_folder,
    previous_captions: captions,
    previous_storage_bytes: former.storage_bytes,
    updated_at: now,
    ended_at: now,
  });
  await announce(step, after, made, links);
  return after;
}

/**
 * Replaces the captions that came with the previous file or were generated from it.
 *
 * @returns their files.
 */
async function replaceCaptions(step: ReplacementStep, made: ReplacementRow): Promise<string[]> {
  const { tx, row } = step;
  const heard = await deleteAutoCaptions(tx, row.id);
  await deleteTranscription(tx, row.id);
  const { used, former } = await showSourceCaptions(step, made.captions);
  const unused = made.captions.map(({ file }) => file).filter((file) => !used.includes(file));
  return [...heard, ...former, ...unused];
}

/**
 * Returns the chapters of the new file. Chapters set by the owner take precedence; those that start after its
 * end are dropped.
 */
async function chaptersOf(tx: Tx, former: VideoRow, made: ReplacementRow): Promise<Chapter[]> {
  const processing = await findProcessing(tx, former.id, former.revision);
  const isOfFile = isDeepStrictEqual(former.chapters, processing?.source.chapters ?? []);
  if (former.chapters.length === 0 || isOfFile) return made.chapters;
  return former.chapters.filter(({ startSec }) => startSec < (made.duration_sec ?? Number.POSITIVE_INFINITY));
}

async function announce(
  { tx, append, now }: Step,
  video: VideoRow,
  { upload_id: uploadId, import_id: importId }: ReplacementRow,
  links: VideoLinks,
): Promise<void> {
  const { id: videoId, workspace_id: workspaceId, title, width, height } = video;
  const rungs = await playableRungs(tx, videoId, video.revision);
  const linked = toLinked(video, rungs.length > 0);
  await append(videoReplaced, workspaceId, {
    ...{ videoId, title, uploadId, importId, width, height },
    durationSec: video.duration_sec,
    renditions: rungs.map(({ name }) => name),
    playbackUrl: links.playbackUrl(linked),
    thumbnailUrl: links.thumbnailUrl(linked),
    externalId: video.external_id,
    replacedAt: now.toISOString(),
    sequence: await nextSequence(tx, 'video', videoId),
  });
}

/** Fails a replacement: `video.replacement.failed`. The video plays its current file. */
export async function failReplacement(
  {
    tx,
    append,
    row,
    now,
  }: Pick<Step, 'tx' | 'append' | 'now'> & {
    row: Pick<VideoRow, 'id' | 'workspace_id' | 'title' | 'revision'>;
  },
  { code, message }: VideoFailure,
): Promise<void> {
  const { id: videoId, workspace_id: workspaceId, title, revision } = row;
  const { upload_id: uploadId, import_id: importId } = await updateReplacement(
    tx,
    { video_id: videoId, revision },
    { status: 'FAILED', error_code: code, error_message: message, updated_at: now, ended_at: now },
  );
  await append(videoReplacementFailed, workspaceId, {
    ...{ videoId, title, uploadId, importId, error: { code, message } },
    failedAt: now.toISOString(),
    sequence: await nextSequence(tx, 'video', videoId),
  });
}
