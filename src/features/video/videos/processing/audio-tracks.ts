import type { AudioPlan, ProcessingNote } from '../../../../media/contract/index.ts';
import type { ProcessingDeps } from './context.ts';
import { commitRun, completeIfLast } from './flow.ts';
import { missingRenditions } from './output.ts';
import { updateProcessed } from './processed.ts';
import * as repository from './repository.ts';
import type { EncodeRun } from './step.ts';

/**
 * Skips the additional audio tracks that could not be encoded and records a note: the video is playable
 * without them.
 */
export async function skipAudioTracks(deps: ProcessingDeps, run: EncodeRun): Promise<void> {
  await commitRun(deps, run, async (tx, append, row) => {
    const { id, revision, processing_notes: before } = row;
    const processing = await repository.findProcessing(tx, id, revision);
    if (processing === undefined) return;
    const { ladder } = processing;
    const { otherAudio } = await missingRenditions({ db: tx }, row, ladder);
    const names = otherAudio.map(({ name }) => name);
    const audio = ladder.audio.filter(({ name }) => !names.includes(name));
    await repository.updateProcessing(tx, id, revision, { ladder: JSON.stringify({ ...ladder, audio }) });
    await repository.deleteUnplannedAudio(tx, id, revision, names);
    const after = await updateProcessed(tx, row, {
      processing_notes: JSON.stringify([...before, ...otherAudio.map(lostNote)]),
      updated_at: deps.clock.now(),
    });
    await completeIfLast(deps, tx, append, after);
  });
}

function lostNote({ streamIndex, label, channels }: AudioPlan): ProcessingNote {
  const what = `Track ${streamIndex + 1} (${label})${channels > 2 ? ' in 5.1' : ''}`;
  return { code: 'AUDIO_LEFT_OUT', message: `${what} was omitted: its audio could not be encoded.` };
}
