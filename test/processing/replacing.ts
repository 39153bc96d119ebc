import {
  insertReplacement,
  lastReplacement,
  type ReplacementRow,
} from '../../src/features/video/videos/replacement/repository.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { newId } from '../../src/kernel/ids.ts';
import { waitFor } from '../harness/wait-for.ts';
import type { ProcessingRig } from './fixture.ts';

/** Stores a replacement file for a READY video. @returns its key. */
export async function replace({ events, store, intake, find }: ProcessingRig, id: string): Promise<string> {
  const { workspace_id: workspaceId, revision } = await find(id);
  return events.transaction(async (tx, append) => {
    const uploadId = newId('upl');
    const at = systemClock.now();
    const made = { video_id: id, revision, upload_id: uploadId, created_at: at, updated_at: at };
    await insertReplacement(tx, made);
    const key = `w/${workspaceId}/v/${id}/original/${uploadId}`;
    await store.put(key, 'another file', 'video/mp4');
    await intake.received(tx, append, { workspaceId, videoId: id, uploadId }, { key, sizeBytes: 12 });
    return key;
  });
}

/** Waits for the end of the last replacement. */
export function replaced({ db, transcoder }: ProcessingRig, id: string): Promise<ReplacementRow> {
  return waitFor(
    async () => {
      const row = await lastReplacement(db, id);
      return row !== undefined && row.ended_at !== null && row;
    },
    { timeoutMs: 10_000, message: `an end; the calls were ${transcoder.calls.join(', ')}` },
  );
}
