import type { LadderPlan } from '../../../../media/contract/index.ts';
import { isDiskError } from '../../../../platform/disk.ts';
import { deleteUnplannedRenditions } from './additional-codecs.repository.ts';
import type { ProcessingContext } from './context.ts';
import { makeDir } from './files.ts';
import { commitRun } from './flow.ts';
import { useOriginal } from './output.ts';
import * as repository from './repository.ts';
import { isWorthAnalyzing } from './rules.ts';
import type { EncodeStep } from './step.ts';

/**
 * Adapts the ladder to the content of this video before the bulk of its encoding; once
 * (docs/decisions/transcoding.md#per-title-encoding).
 */
export async function refineLadder(deps: ProcessingContext, step: EncodeStep): Promise<LadderPlan> {
  const { run, video, dir, processing } = step;
  const { source, ladder } = processing;
  if (!deps.isPerTitle || !isWorthAnalyzing(run.payload.task, ladder, source.durationSec)) return ladder;
  const { signal } = run;
  const known = await repository.renditionsOf(deps.db, video.id, video.revision);
  const keep = known.filter(({ status }) => status === 'READY').map(({ name }) => name);
  const outDir = await makeDir(dir, 'look');
  let refined: LadderPlan;
  try {
    refined = await useOriginal(deps, video, signal, (input) =>
      deps.transcoder.analyzeComplexity({ input, source, outDir, signal, ladder, keep }),
    );
  } catch (error) {
    if (signal.aborted || isDiskError(error)) throw error;
    deps.log.warn({ err: error, videoId: video.id }, 'a video is encoded without per-title analysis');
    return ladder;
  }
  await commitRun(deps, run, async (tx, _append, row) => {
    // Audio tracks may have been skipped in the interim.
    const now = await repository.findProcessing(tx, row.id, row.revision);
    const ladder = { ...refined, audio: now?.ladder.audio ?? refined.audio };
    await repository.updateProcessing(tx, row.id, row.revision, { ladder: JSON.stringify(ladder) });
    const names = [...refined.rungs, ...refined.further].map(({ name }) => name);
    await deleteUnplannedRenditions(tx, row.id, row.revision, names);
  });
  return refined;
}
