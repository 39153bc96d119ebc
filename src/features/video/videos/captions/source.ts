import { type AppendEvent, nextSequence } from '../../../../events/index.ts';
import type { Tx } from '../../../../platform/db/index.ts';
import type { SourceCaption } from '../../../../platform/db/json-columns.ts';
import { videoCaptionReady } from '../events.ts';
import type { VideoRow } from '../repository.ts';
import { captionLanguages, deleteSourceCaptions, insertCaption } from './repository.ts';

interface Showing {
  tx: Tx;
  append: AppendEvent;
  row: Pick<VideoRow, 'id' | 'workspace_id'>;
  now: Date;
}

/**
 * Publishes the captions of the file that plays in place of those of the previous file: `video.caption.ready`
 * for each. Captions uploaded by the owner remain; the file's captions in the same languages are skipped.
 *
 * @returns `used`: the files of the published captions; `former`: the files that are no longer needed.
 */
export async function showSourceCaptions(
  { tx, append, row, now }: Showing,
  stored: readonly SourceCaption[],
): Promise<{ used: string[]; former: string[] }> {
  const { id: videoId, workspace_id: workspaceId } = row;
  const former = await deleteSourceCaptions(tx, videoId);
  const taken = await captionLanguages(tx, videoId);
  const used: string[] = [];
  for (const [index, { id, language, label, file, isDefault }] of stored.entries()) {
    if (taken.has(language)) continue;
    await insertCaption(tx, {
      ...{ id, video_id: videoId, language, label, file, created_at: now },
      ...{ from_source: true, position: index + 1, is_default: isDefault },
    });
    const sequence = await nextSequence(tx, 'video', videoId);
    await append(videoCaptionReady, workspaceId, { videoId, language, isAuto: false, sequence });
    used.push(file);
  }
  return { used, former };
}
