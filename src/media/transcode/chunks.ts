import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { RenditionFiles, SourceChunk, Transcoder } from '../contract/index.ts';
import type { FfmpegCapabilities } from '../ffmpeg/check.ts';
import { readOutput, UnsafeOutputError, writeOutput } from '../ffmpeg/output.ts';
import { encodedChunk, sourceInput, splitArgs, stitchArgs } from './command.ts';
import { encodeLimits, splitLimits } from './limits.ts';
import { readRendition } from './rendition.ts';
import { runTool, type Tools } from './run.ts';

const LIST = 'chunks.csv';
const CONCAT_LIST = 'chunks.ffconcat';
/** Maximum size of the list, far above that of twelve hours. */
const LIST_MAX_BYTES = 2 ** 20;
const CHUNK = /^chunk_\d+\.mkv$/;

/**
 * Splits the video of the source at keyframes (docs/decisions/transcoding.md#long-sources-in-chunks); the
 * chunks have no audio.
 */
export async function split(
  tools: Tools,
  run: Parameters<Transcoder['split']>[0],
): Promise<SourceChunk[] | null> {
  const { input, source, outDir, signal, chunkSec, onProgress } = run;
  if (!source.canSplit) return null;
  await runTool(tools, {
    program: 'ffmpeg',
    cwd: outDir,
    args: [...sourceInput(input, source, tools.threads), ...splitArgs(source, chunkSec)],
    limits: splitLimits(source),
    signal,
    onProgress: (sec) => onProgress?.(Math.min(1, sec / source.durationSec)),
  });
  const chunks = readList((await readOutput(outDir, LIST, LIST_MAX_BYTES)).toString('utf8'), outDir);
  return chunks.length > 1 ? chunks : null;
}

/** Parses lines such as `chunk_00000.mkv,0.000000,20.000000`: start and end by the video timestamps. */
function readList(csv: string, dir: string): SourceChunk[] {
  const rows = csv
    .trim()
    .split('\n')
    .map((line) => line.split(','));
  return rows.map(([file = '', start, end], index) => {
    // A chunk extends to the beginning of the next one: gaps in the source are preserved.
    const next = rows[index + 1]?.[1] ?? end;
    if (!CHUNK.test(file)) throw new UnsafeOutputError(join(dir, LIST), 'lists a file that is not a chunk');
    return {
      index,
      file: join(dir, file),
      startSec: Number(start),
      durationSec: Math.round((Number(next) - Number(start)) * 1e6) / 1e6,
    };
  });
}

export async function encodeChunk(
  tools: Tools,
  abilities: FfmpegCapabilities,
  run: Parameters<Transcoder['encodeChunk']>[0],
): Promise<void> {
  const { input, source, outDir, signal, rungs, chunk, onProgress } = run;
  const { threads } = tools;
  // A chunk has one track and begins at zero.
  const piece = {
    ...source,
    zeroSec: 0,
    durationSec: chunk.durationSec,
    video: { ...source.video, streamIndex: 0 },
  };
  await runTool(tools, {
    program: 'ffmpeg',
    cwd: outDir,
    args: [
      ...sourceInput(input, piece, threads),
      ...encodedChunk({ source: piece, rungs, threads, ...abilities }),
    ],
    limits: { ...encodeLimits(piece, rungs), fileBytes: splitLimits(piece).fileBytes },
    signal,
    onProgress: (sec) => onProgress?.(Math.min(1, sec / chunk.durationSec)),
  });
}

/** Concatenates the chunks without re-encoding, each at the start time of the source's chunk. */
export async function stitch(
  tools: Tools,
  run: Parameters<Transcoder['stitch']>[0],
): Promise<RenditionFiles> {
  const { source, outDir, signal, rung, chunks, onProgress } = run;
  await mkdir(join(outDir, rung.name), { recursive: true });
  const lines = chunks.map(({ file, durationSec }) => `file '${file}'\nduration ${durationSec.toFixed(6)}`);
  await writeOutput(outDir, CONCAT_LIST, ['ffconcat version 1.0', ...lines, ''].join('\n'));
  await runTool(tools, {
    program: 'ffmpeg',
    cwd: outDir,
    args: stitchArgs(join(outDir, CONCAT_LIST), rung.name),
    reads: chunks.map(({ file }) => file),
    limits: encodeLimits(source, []),
    signal,
    onProgress: (sec) => onProgress?.(Math.min(1, sec / source.durationSec)),
  });
  return readRendition(outDir, rung, source);
}
