import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoizeAsync } from '../../kernel/cache.ts';
import { isDiskError } from '../../platform/disk.ts';
import {
  type AudioPlan,
  MediaFileError,
  type RenditionFiles,
  type RungPlan,
  type TranscodeRun,
  type Transcoder,
} from '../contract/index.ts';
import { checkFfmpeg, type FfmpegCapabilities } from '../ffmpeg/check.ts';
import type { ProgramLimits } from '../ffmpeg/guard.ts';
import type { HardwareUse } from '../ffmpeg/hardware.ts';
import { reserves } from '../ffmpeg/limits.ts';
import { UnsafeOutputError } from '../ffmpeg/output.ts';
import { extractCaptions } from './captions.ts';
import { encodeChunk, split, stitch } from './chunks.ts';
import { hasJumpingClock, putOnOneClock } from './clock.ts';
import { audioRenditions, copiedRung, encodedRungs, silenceInput, sourceInput } from './command.ts';
import { withHardware } from './hardware-run.ts';
import { makeImages } from './images.ts';
import { encodeLimits } from './limits.ts';
import { analyzeComplexity } from './per-title.ts';
import { planLadder } from './plan.ts';
import { probeFile } from './probe.ts';
import { readRendition } from './rendition.ts';
import { runTool, type Tools } from './run.ts';
import { collectImages, IMAGES, makeImageFolder, type SideImages, sideImages } from './side-images.ts';
import { isBroadcastFormat } from './sniff.ts';
import { isAnimatedWebp } from './webp.ts';
import { convertWebp } from './webp-video.ts';

export interface TranscoderOptions extends Omit<Tools, 'stallMs'> {
  /**
   * Time without progress in media time after which a run is killed and fails; 120 s when absent
   * (docs/decisions/transcoding.md#progress).
   */
  stallMs?: number;
}

const STALL_MS = 120_000;

/**
 * Creates the transcoder of users' files into HLS renditions and images, with ffmpeg under a guard
 * (docs/decisions/transcoding.md, docs/decisions/untrusted-media.md).
 */
export function createTranscoder(options: TranscoderOptions): Transcoder {
  const { ffmpeg } = options;
  const tools: Tools = { ...options, stallMs: options.stallMs ?? STALL_MS };
  const abilities = memoizeAsync(() => checkFfmpeg(ffmpeg));
  return {
    needsCopy: async (path, signal) =>
      (await isAnimatedWebp(path)) ||
      ((await isBroadcastFormat(path)) &&
        (await withFolder((dir) => hasJumpingClock(tools, { path, dir, signal })))),
    makeCopy: async (path, dir, signal) => {
      const copy = { path, dir, signal };
      return (await isAnimatedWebp(path)) ? convertWebp(tools, copy) : putOnOneClock(tools, copy);
    },
    probe: async (path, signal) => {
      const { canToneMap } = await abilities();
      return withFolder((dir) => probeFile(tools, { path, dir, signal, canToneMap }));
    },
    plan: planLadder,
    copyTop: (run) => copyTop(tools, run),
    encode: async (run) => encode(tools, await abilities(), run),
    encodeWithImages: async (run) => encodeWithImages(tools, await abilities(), run),
    captions: (run) => extractCaptions(tools, run),
    analyzeComplexity: (run) => analyzeComplexity(tools, run),
    split: (run) => split(tools, run),
    encodeChunk: async (run) => encodeChunk(tools, await abilities(), run),
    stitch: (run) => stitch(tools, run),
    images: async (run) => makeImages(tools, await abilities(), run),
  };
}

async function copyTop(tools: Tools, run: Parameters<Transcoder['copyTop']>[0]): Promise<RenditionFiles[]> {
  const { rung, audio, source } = run;
  return render(tools, run, {
    rungs: [rung],
    audio,
    outputs: [...copiedRung(source, rung.name), ...audioRenditions(audio)],
    limits: encodeLimits(source, []),
  });
}

async function encode(
  tools: Tools,
  abilities: FfmpegCapabilities,
  run: Parameters<Transcoder['encode']>[0],
  images: SideImages | null = null,
): Promise<RenditionFiles[]> {
  const { rungs, audio, source, keyframeSec, outDir, signal } = run;
  const { threads } = tools;
  // SVT-AV1 does not support external keyframe requests (docs/decisions/transcoding.md#hevc-and-av1).
  const alignToSource = run.alignToSource && rungs.every(({ codec }) => codec !== 'AV1');
  const input = { source, rungs, alignToSource, keyframeSec, threads, images, ...abilities };
  const isIdle = rungs.some(({ codec }) => codec !== 'H264');
  const clear = async () => {
    for (const { name } of [...rungs, ...audio]) await remove(outDir, name);
    if (images === null) return;
    await remove(outDir, IMAGES);
    await makeImageFolder(outDir);
  };
  return withHardware(tools, { source, rungs, signal, clear }, (hardware) =>
    render(tools, run, {
      rungs,
      audio,
      outputs: [...encodedRungs({ ...input, hardware }), ...audioRenditions(audio)],
      limits: { ...encodeLimits(source, rungs), isIdle },
      hardware,
    }),
  );
}

async function encodeWithImages(
  tools: Tools,
  abilities: FfmpegCapabilities,
  run: Parameters<Transcoder['encode']>[0],
): Promise<{ renditions: RenditionFiles[]; images: string[] | null }> {
  const { rungs, audio, source, outDir, signal } = run;
  await makeImageFolder(outDir);
  const side = sideImages(source, rungs.length - 1, abilities);
  let renditions: RenditionFiles[];
  try {
    renditions = await encode(tools, abilities, run, side);
  } catch (error) {
    if (signal.aborted || isDiskError(error) || error instanceof UnsafeOutputError) throw error;
    tools.log.info({ err: error }, 'an encode with images failed: encoding without them');
    for (const { name } of [...rungs, ...audio]) await remove(outDir, name);
    return { renditions: await encode(tools, abilities, run), images: null };
  }
  try {
    return { renditions, images: await collectImages(tools, abilities, run) };
  } catch (error) {
    if (signal.aborted || isDiskError(error) || error instanceof UnsafeOutputError) throw error;
    tools.log.warn({ err: error }, 'the images of a video were not created during its encoding');
    return { renditions, images: null };
  }
}

/** Deletes the output of a failed run. */
function remove(outDir: string, name: string): Promise<void> {
  return rm(join(outDir, name), { recursive: true, force: true });
}

interface Render {
  rungs: readonly RungPlan[];
  audio: readonly AudioPlan[];
  outputs: string[];
  limits: ProgramLimits;
  hardware?: HardwareUse | null;
}

/** Runs one ffmpeg that writes the renditions, each into its folder. */
async function render(tools: Tools, run: TranscodeRun, what: Render): Promise<RenditionFiles[]> {
  const { rungs, audio, outputs, limits } = what;
  const device = what.hardware?.hardware ?? null;
  const { input, source, outDir, signal } = run;
  const plans = [...rungs, ...audio];
  if (plans.length === 0) return [];
  for (const { name } of plans) await mkdir(join(outDir, name), { recursive: true });
  let doneSec = 0;
  await runTool(tools, {
    program: 'ffmpeg',
    cwd: outDir,
    args: [...sourceInput(input, source, tools.threads), ...silenceInput(audio), ...outputs],
    limits: { ...limits, isReserving: device !== null && reserves(device.kind) },
    devices: device?.nodes ?? [],
    signal,
    onProgress: (sec) => {
      doneSec = sec;
      run.onProgress?.(Math.min(1, sec / source.durationSec));
    },
  });
  try {
    const made: RenditionFiles[] = [];
    for (const plan of plans) made.push(await readRendition(outDir, plan, source));
    return made;
  } catch (error) {
    if (doneSec > 0 || isDiskError(error) || error instanceof UnsafeOutputError) throw error;
    throw new MediaFileError('CORRUPT_INPUT', 'The file cannot be decoded.');
  }
}

/**
 * Provides an empty folder for programs without output, in which relative names in a file resolve to nothing.
 */
async function withFolder<T>(work: (dir: string) => Promise<T>): Promise<T> {
  const dir = await mkdtemp(join(tmpdir(), 'marquee-probe-'));
  try {
    return await work(dir);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
