import { basename } from 'node:path';
import { videoPrefix } from '../../../../kernel/media-keys.ts';
import type { SourceChunk } from '../../../../media/contract/index.ts';
import type { ProcessingContext, ProcessingDeps } from './context.ts';
import { makeDir, storeFiles } from './files.ts';
import { advance, commitRun } from './flow.ts';
import { missingRenditions, publishRenditions, useOriginal } from './output.ts';
import { createProgressWriter } from './progress.ts';
import * as repository from './repository.ts';
import type { EncodeStep } from './step.ts';

/** Length of a chunk (docs/decisions/transcoding.md#long-sources-in-chunks). */
const CHUNK_SEC = 120;

/**
 * Splits the source at keyframes into chunks that any node can encode; one that cannot be split stays whole.
 */
export async function split(deps: ProcessingContext, step: EncodeStep): Promise<void> {
  const { run, video, processing, dir } = step;
  const { signal } = run;
  const outDir = await makeDir(dir, 'split');
  const { source } = processing;
  const chunkSec = Math.min(CHUNK_SEC, deps.chunkMinSec);
  const chunks = await useOriginal(deps, video, signal, (input) =>
    deps.transcoder.split({ input, source, outDir, signal, chunkSec }),
  );
  if (chunks === null) {
    await commitRun(deps, run, async (tx, append, row) => {
      await repository.updateProcessing(tx, row.id, row.revision, { mode: 'WHOLE' });
      await advance(deps, tx, append, row);
    });
    return;
  }
  const folder = await repository.claimFolder(deps.db, video.id, video.revision);
  const prefix = `${videoPrefix(video)}/${folder}/source`;
  const placed = chunks.map((chunk) => ({ ...chunk, key: `${prefix}/${basename(chunk.file)}` }));
  await storeFiles(
    deps.store,
    prefix,
    outDir,
    placed.map(({ file }) => basename(file)),
    signal,
  );
  await commitRun(deps, run, async (tx, append, row) => {
    await repository.insertChunks(tx, row.id, row.revision, placed);
    await repository.updateProcessing(tx, row.id, row.revision, { mode: 'CHUNKS' });
    await advance(deps, tx, append, row);
  });
}

/** Encodes one chunk; the run that finishes the last chunk enqueues the stitching. */
export async function encodeChunk(deps: ProcessingDeps, step: EncodeStep): Promise<void> {
  const { run, video, processing, dir } = step;
  const { db, store, transcoder, log } = deps;
  const { id, revision } = video;
  const chunk = (await repository.chunksOf(db, id, revision)).find(
    ({ number }) => number === run.payload.chunk,
  );
  if (chunk === undefined || chunk.folder !== null) return;
  const { rungs } = await missingRenditions(deps, video, processing.ladder);
  const input = await store.toLocalFile(chunk.source_key, dir, run.signal);
  const outDir = await makeDir(dir, 'chunk');
  const names = rungs.map(({ name }) => name);
  const progress = createProgressWriter(
    (percent) =>
      repository.writeChunkProgress(db, id, revision, { number: chunk.number, rungs: names, percent }),
    log,
  );
  const { number: index, start_sec: startSec, duration_sec: durationSec } = chunk;
  await transcoder
    .encodeChunk({
      input,
      source: processing.source,
      outDir,
      signal: run.signal,
      onProgress: progress.report,
      rungs,
      chunk: { index, file: input, startSec, durationSec },
    })
    .finally(progress.end);
  const folder = await repository.claimFolder(db, id, revision);
  const files = names.map((name) => `${name}.mkv`);
  await storeFiles(store, `${videoPrefix(video)}/${folder}`, outDir, files, run.signal);
  await commitRun(deps, run, async (tx, append, row) => {
    await repository.finishChunk(tx, id, revision, chunk.number, folder);
    const all = await repository.chunksOf(tx, id, revision);
    if (all.every((one) => one.folder !== null)) await advance(deps, tx, append, row);
  });
}

/** Joins the encoded chunks of each rung, frame by frame. */
export async function stitch(deps: ProcessingDeps, step: EncodeStep): Promise<void> {
  const { run, video, processing, dir } = step;
  const { rungs } = await missingRenditions(deps, video, processing.ladder);
  const rows = await repository.chunksOf(deps.db, video.id, video.revision);
  for (const rung of rungs) {
    const chunks: SourceChunk[] = [];
    for (const { number, folder, start_sec: startSec, duration_sec: durationSec } of rows) {
      const pieceDir = await makeDir(dir, `${rung.name}-${number}`);
      const key = `${videoPrefix(video)}/${folder}/${rung.name}.mkv`;
      const file = await deps.store.toLocalFile(key, pieceDir, run.signal);
      chunks.push({ index: number, file, startSec, durationSec });
    }
    const outDir = await makeDir(dir, rung.name);
    const { source } = processing;
    const made = await deps.transcoder.stitch({ source, outDir, signal: run.signal, rung, chunks });
    await publishRenditions(deps, run, video, outDir, [made]);
  }
}
