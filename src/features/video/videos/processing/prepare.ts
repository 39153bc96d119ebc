import type {
  AudioPlan,
  LadderPlan,
  RenditionFiles,
  RungPlan,
  SourceInfo,
} from '../../../../media/contract/index.ts';
import { getWorkspaceOwner } from '../../../../platform/db/workspace.ts';
import { isDiskError } from '../../../../platform/disk.ts';
import type { VideoRow } from '../repository.ts';
import type { ProcessingContext, ProcessingDeps } from './context.ts';
import { makeDir, withScratch } from './files.ts';
import { advance, begin, commitRun, type Run } from './flow.ts';
import { countLiveSlots } from './nodes.ts';
import { missingRenditions, publishRenditions, useOriginal } from './output.ts';
import { updateProcessed } from './processed.ts';
import * as repository from './repository.ts';
import { additionalCodecs, topHeight } from './rules.ts';

/** Probes the source, plans its renditions, and copies the top rung where it can be played as it is. */
export async function prepare(deps: ProcessingContext, run: Run): Promise<void> {
  const video = await begin(deps, run);
  if (video === undefined) return;
  const work = (dir: string) =>
    useOriginal(deps, video, run.signal, async (input) => {
      const known =
        (await repository.findProcessing(deps.db, video.id, video.revision)) ??
        (await probe(deps, run, video, input));
      if (known === undefined) return;
      const { rungs, audio } = await missingRenditions(deps, video, known.ladder);
      const top = rungs.find((rung) => rung.isCopy);
      if (top !== undefined) await copyTop(deps, run, { video, dir, input, top, audio, ...known });
      else await commitRun(deps, run, (tx, append, row) => advance(deps, tx, append, row));
    });
  await withScratch(deps.scratchDir, run.id, work);
}

async function probe(deps: ProcessingDeps, run: Run, video: VideoRow, input: string) {
  const { db, transcoder, clock, chunkMinSec } = deps;
  const source = await transcoder.probe(input, run.signal);
  const { plan, mode } = await getWorkspaceOwner(db, video.workspace_id);
  const further = additionalCodecs(plan, await deps.furtherCodecs());
  const ladder = transcoder.plan(source, topHeight(plan, mode), further);
  const isLong = source.canSplit && source.durationSec > chunkMinSec;
  const isCut = isLong && !(await deps.encodesWhole()) && (await countLiveSlots(deps)) > 1;
  const isGoingOn = await commitRun(deps, run, async (tx, _append, row) => {
    const { video: picture, durationSec, chapters, notes } = source;
    await updateProcessed(tx, row, {
      // Chapters set by the owner stay.
      ...(row.chapters.length === 0 ? { chapters: JSON.stringify(chapters) } : {}),
      processing_notes: JSON.stringify(notes),
      duration_sec: durationSec,
      width: picture.width,
      height: picture.height,
      frame_rate: picture.frameRate,
    });
    await repository.insertProcessing(tx, {
      videoId: video.id,
      revision: video.revision,
      source,
      ladder,
      mode: isCut ? 'SPLIT' : 'WHOLE',
      alignToSource: isCut || ladder.rungs.some((rung) => rung.isCopy),
      now: clock.now(),
    });
  });
  return isGoingOn ? { source, ladder } : undefined;
}

interface Copy {
  video: VideoRow;
  dir: string;
  input: string;
  source: SourceInfo;
  ladder: LadderPlan;
  top: RungPlan;
  audio: AudioPlan[];
}

async function copyTop(deps: ProcessingDeps, run: Run, copy: Copy): Promise<void> {
  const { video, dir, input, source, ladder, top, audio } = copy;
  const { signal } = run;
  const outDir = await makeDir(dir, 'copy');
  let made: RenditionFiles[];
  try {
    made = await deps.transcoder.copyTop({ input, source, outDir, signal, rung: top, audio });
  } catch (error) {
    if (signal.aborted || isDiskError(error)) throw error;
    deps.log.warn(
      { err: error, videoId: video.id },
      'the top rendition could not be copied and is encoded instead',
    );
    return encodeInstead(deps, run, ladder);
  }
  await publishRenditions(deps, run, video, outDir, made);
}

async function encodeInstead(deps: ProcessingDeps, run: Run, ladder: LadderPlan): Promise<void> {
  const rungs = ladder.rungs.map((rung) => ({ ...rung, isCopy: false }));
  await commitRun(deps, run, async (tx, append, row) => {
    const changed = JSON.stringify({ ...ladder, rungs });
    await repository.updateProcessing(tx, row.id, row.revision, { ladder: changed });
    await advance(deps, tx, append, row);
  });
}
