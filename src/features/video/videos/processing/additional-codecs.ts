import { videoPrefix } from '../../../../kernel/media-keys.ts';
import type { RungPlan } from '../../../../media/contract/index.ts';
import { emitRenditions } from '../emit.ts';
import { playableRungs, updateVideo, type VideoRow } from '../repository.ts';
import {
  deleteAdditionalRenditions,
  insertAdditionalRenditions,
  publishAdditionalRenditions,
} from './additional-codecs.repository.ts';
import type { ProcessingContext, ProcessingDeps } from './context.ts';
import { makeDir, storeRenditions, withScratch } from './files.ts';
import { commitRun, enqueueCleanUp, type Run } from './flow.ts';
import { useOriginal } from './output.ts';
import * as repository from './repository.ts';

/**
 * Encodes the HEVC and AV1 renditions of a READY video, one after the other; a run does not repeat the work
 * of previous runs. Players see a codec when all of its renditions are ready, because they keep the codec
 * they begin with.
 */
export async function encodeAdditionalCodecs(deps: ProcessingContext, run: Run): Promise<void> {
  const { db, scratchDir } = deps;
  const { videoId, revision } = run.payload;
  const video = await repository.findVideo(db, videoId);
  if (video === undefined || video.revision !== revision || video.status !== 'READY') return;
  const processing = await repository.findProcessing(db, videoId, revision);
  if (processing === undefined) return;
  const known = await repository.renditionsOf(db, videoId, revision);
  const open = new Set(known.filter(({ folder }) => folder === null).map(({ name }) => name));
  const rungs = processing.ladder.further.filter(({ name }) => open.has(name));
  await withScratch(scratchDir, run.id, async (dir) => {
    for (const rung of rungs) {
      const isGoingOn = await encodeOne(deps, run, { video, processing, dir, rung });
      if (!isGoingOn) return;
    }
  });
}

interface One {
  video: VideoRow;
  processing: repository.Processing;
  dir: string;
  rung: RungPlan;
}

/** @returns false when the video is no longer needed. */
async function encodeOne(deps: ProcessingContext, run: Run, one: One): Promise<boolean> {
  const { video, processing, dir, rung } = one;
  const { source, align_to_source: isAligned } = processing;
  const { signal } = run;
  const outDir = await makeDir(dir, rung.name);
  const [made] = await useOriginal(deps, video, signal, (input) =>
    deps.transcoder.encode({
      ...{ input, source, outDir, signal, rungs: [rung], audio: [] },
      alignToSource: isAligned,
      keyframeSec: processing.ladder.keyframeSec,
    }),
  );
  if (made === undefined) throw new Error(`${rung.name} was not encoded`);
  const folder = await repository.claimFolder(deps.db, video.id, video.revision);
  await storeRenditions(deps.store, `${videoPrefix(video)}/${folder}`, outDir, [made], signal);
  return commitRun(
    deps,
    run,
    async (tx, append, row) => {
      await insertAdditionalRenditions(tx, row.id, row.revision, { folder, made });
      const all = await repository.renditionsOf(tx, row.id, row.revision);
      if (all.some(({ codec, folder }) => codec === rung.codec && folder === null)) return;
      const before = await playableRungs(tx, row.id, row.revision);
      await publishAdditionalRenditions(tx, row.id, row.revision, rung.codec);
      const after = await updateVideo(tx, row.id, { updated_at: deps.clock.now() });
      await emitRenditions(tx, append, after, {
        from: before.map(({ name }) => name),
        to: (await playableRungs(tx, row.id, row.revision)).map(({ name }) => name),
      });
      if (all.every(({ folder }) => folder !== null)) await enqueueCleanUp(deps, tx, row);
    },
    ['READY'],
  );
}

/** Removes the pending renditions of the codecs; the video is not changed. */
export async function abandonAdditionalCodecs(deps: ProcessingDeps, run: Run): Promise<void> {
  await commitRun(
    deps,
    run,
    async (tx, _append, row) => {
      await deleteAdditionalRenditions(tx, row.id, row.revision);
      await enqueueCleanUp(deps, tx, row);
    },
    ['READY'],
  );
}
