import type { Db, Tx } from '../../../../platform/db/index.ts';
import {
  findReplacement,
  type ReplacementChange,
  type ReplacementRow,
  updateReplacement,
} from '../replacement/repository.ts';
import { lockAnyVideo, updateVideo, type VideoRow } from '../repository.ts';
import { findVideo } from './repository.ts';

/** A video as its processing sees it: with the file that is to replace its own, where the revision is that file's. */
export interface ProcessedVideo extends VideoRow {
  /** Whether the processed file replaces another, which the video plays until this one is done. */
  replaces: boolean;
}

/** Locks the video; returns undefined when this revision is no longer processed. */
export async function lockProcessed(
  tx: Tx,
  videoId: string,
  revision: number,
): Promise<ProcessedVideo | undefined> {
  return overlaid(tx, await lockAnyVideo(tx, videoId), revision);
}

export async function findProcessed(
  db: Db,
  videoId: string,
  revision: number,
): Promise<ProcessedVideo | undefined> {
  return overlaid(db, await findVideo(db, videoId), revision);
}

async function overlaid(
  db: Db,
  video: VideoRow | undefined,
  revision: number,
): Promise<ProcessedVideo | undefined> {
  if (video === undefined || video.deleted_at !== null) return undefined;
  if (video.revision === revision) return { ...video, replaces: false };
  const row = await findReplacement(db, video.id, revision);
  return row && overlay(video, row);
}

/** Returns undefined when the replacement has ended. */
export function overlay(video: VideoRow, row: ReplacementRow): ProcessedVideo | undefined {
  const { status } = row;
  if (status !== 'QUEUED' && status !== 'PROCESSING') return undefined;
  const { revision, original_key, size_bytes, progress_percent, duration_sec, width, height } = row;
  const { frame_rate, image_folder, has_storyboard, has_preview, chapters, processing_notes } = row;
  return {
    ...video,
    ...{ status, revision, original_key, size_bytes, progress_percent, duration_sec, width, height },
    ...{ frame_rate, image_folder, has_storyboard, has_preview, chapters, processing_notes },
    replaces: true,
  };
}

type ProcessedChange = Pick<
  ReplacementChange,
  | 'duration_sec'
  | 'width'
  | 'height'
  | 'frame_rate'
  | 'chapters'
  | 'processing_notes'
  | 'image_folder'
  | 'has_storyboard'
  | 'has_preview'
  | 'updated_at'
>;

/** Updates the row of the file being processed, whether it plays already or not. */
export async function updateProcessed(
  tx: Tx,
  row: ProcessedVideo,
  change: ProcessedChange,
): Promise<ProcessedVideo> {
  if (!row.replaces) return { ...(await updateVideo(tx, row.id, change)), replaces: false };
  const { id, revision } = row;
  return overlay(row, await updateReplacement(tx, { video_id: id, revision }, change)) ?? row;
}
