import { type AppendEvent, nextSequence } from '../../../../events/index.ts';
import { newId } from '../../../../kernel/ids.ts';
import { videoPrefix } from '../../../../kernel/media-keys.ts';
import type { BlobStore } from '../../../../media/contract/index.ts';
import type { Db, Tx } from '../../../../platform/db/index.ts';
import type { Chapter } from '../../../../platform/db/json-columns.ts';
import { allCaptions, captionLanguages, insertCaption } from '../captions/repository.ts';
import { readWebVtt } from '../captions/webvtt.ts';
import { videoCaptionReady } from '../events.ts';
import { lockAnyVideo, updateVideo } from '../repository.ts';
import type { ClipRange } from './rules.ts';

/** Captions and chapters of a video, as copied to its clip (docs/concepts/clips.md#clips-of-a-video). */
export interface ClipMetadata {
  captions: CopiedCaptions[];
  chapters: Chapter[];
}

interface CopiedCaptions {
  id: string;
  language: string;
  label: string;
  file: string;
  isAuto: boolean;
  isDefault: boolean;
}

interface Deps {
  db: Db;
  store: BlobStore;
}

type ClipLocation = { workspaceId: string; videoId: string };

const TYPE = 'text/vtt; charset=utf-8';

/** Copies the captions of the cut range to the clip; they stay hidden until `publishClipMetadata`. */
export async function copyClipMetadata(
  { db, store }: Deps,
  clip: ClipLocation,
  from: { videoId: string; chapters: readonly Chapter[] },
  piece: ClipRange,
): Promise<ClipMetadata> {
  const { workspaceId } = clip;
  const captions: CopiedCaptions[] = [];
  for (const caption of await allCaptions(db, from.videoId)) {
    const text = await store.read(keyOf({ workspaceId, videoId: from.videoId }, caption.file));
    const content = text && readWebVtt(text.toString('utf8'), piece.startSec, piece.endSec);
    if (content === null) continue;
    const id = newId('cap');
    const { language, label, is_auto: isAuto, is_default: isDefault } = caption;
    await store.put(keyOf(clip, `${id}.vtt`), content, TYPE);
    captions.push({ id, file: `${id}.vtt`, language, label, isAuto, isDefault });
  }
  return { captions, chapters: chaptersOf(from.chapters, piece) };
}

/** Returns the chapters of the range; the one in which the range begins comes first. */
function chaptersOf(chapters: readonly Chapter[], { startSec, endSec }: ClipRange): Chapter[] {
  const first = chapters.findLastIndex((chapter) => chapter.startSec <= startSec);
  return chapters
    .filter((chapter, index) => index >= first && chapter.startSec < endSec)
    .map(({ startSec: at, title }) => ({ startSec: Math.max(0, round(at - startSec)), title }));
}

function round(sec: number): number {
  return Math.round(sec * 1000) / 1000;
}

/**
 * Emits `video.caption.ready` for each caption. Captions uploaded for the clip in the interim remain.
 *
 * @returns the captions that were skipped for that reason.
 */
export async function publishClipMetadata(
  tx: Tx,
  append: AppendEvent,
  { workspaceId, videoId }: ClipLocation,
  { captions, chapters, at }: ClipMetadata & { at: Date },
): Promise<CopiedCaptions[]> {
  const taken = await captionLanguages(tx, videoId);
  const isShown = ({ language }: CopiedCaptions) => !taken.has(language);
  for (const [index, one] of captions.filter(isShown).entries()) {
    const { id, language, label, file, isAuto, isDefault } = one;
    await insertCaption(tx, {
      ...{ id, video_id: videoId, language, label, file, created_at: at },
      ...{ from_source: true, is_auto: isAuto, position: index + 1, is_default: isDefault },
    });
    const sequence = await nextSequence(tx, 'video', videoId);
    await append(videoCaptionReady, workspaceId, { videoId, language, isAuto, sequence });
  }
  const video = await lockAnyVideo(tx, videoId);
  if (chapters.length > 0 && video?.chapters.length === 0)
    await updateVideo(tx, videoId, { chapters: JSON.stringify(chapters) });
  return captions.filter((one) => !isShown(one));
}

/** Deletes the files of unpublished captions. */
export async function dropCaptions(
  store: BlobStore,
  clip: ClipLocation,
  captions: readonly CopiedCaptions[],
): Promise<void> {
  for (const { file } of captions) await store.delete(keyOf(clip, file));
}

function keyOf({ workspaceId, videoId }: ClipLocation, file: string): string {
  return `${videoPrefix({ workspace_id: workspaceId, id: videoId })}/captions/${file}`;
}
