import { join } from 'node:path';
import { MAX_DURATION_SEC } from '../../kernel/plans.ts';
import { MediaFileError, type RecordingJoiner } from '../contract/index.ts';
import { LIVE_DECODERS } from '../ffmpeg/codecs.ts';
import { concatGuard, inputGuard, probeGuard } from '../ffmpeg/guard.ts';
import { UnsafeOutputError, writeOutput } from '../ffmpeg/output.ts';
import { reportReader } from '../ffmpeg/text.ts';
import { runTool, type Tools } from '../transcode/run.ts';
import { type PartFormat, readFormat } from './part-format.ts';

/** `threads` are for the encoder, where parts differ. */
export type RecordingJoinerOptions = Omit<Tools, 'stallMs'>;

const PROBE_MS = 60_000;
const STALL_MS = 120_000;
/** Size limit of a report; that of an honest part has about 2,000 characters. */
const REPORT_MAX_CHARS = 2 ** 20;
const GB = 2 ** 30;
/** Far above what honest parts need. */
const LIMITS = { memoryBytes: 8 * GB, cpuSec: 20 * MAX_DURATION_SEC, fileBytes: 1024 * GB };

interface Run {
  dir: string;
  signal: AbortSignal;
}

interface Part {
  path: string;
  format: PartFormat;
}

/**
 * Joins parts by ffmpeg's concat demuxer without re-encoding. It needs parts with equal codec settings: where
 * an encoder has reconnected with others, the tracks that differ are first encoded to those of the first
 * part.
 */
export function createRecordingJoiner(options: RecordingJoinerOptions): RecordingJoiner {
  const tools: Tools = { ...options, stallMs: STALL_MS };
  return {
    async join({ parts, maxSec, ...run }) {
      const readable: Part[] = [];
      for (const path of parts) {
        const format = await formatOf(tools, path, run);
        if (format === null) options.log.warn({ path }, 'a part of a recording cannot be read');
        else readable.push({ path, format });
      }
      const [first] = readable;
      if (first === undefined) throw new MediaFileError('CORRUPT_INPUT', 'The recording is unreadable.');
      return concat(tools, await alike(tools, readable, first, run), maxSec, run);
    },
  };
}

/** null when it is no video file. */
async function formatOf(tools: Tools, path: string, run: Run): Promise<PartFormat | null> {
  const report = reportReader(REPORT_MAX_CHARS);
  const show = ['-v', 'error', '-show_streams', '-show_data_hash', 'sha256', '-of', 'json'];
  try {
    await runTool(tools, {
      ...baseOf(run),
      program: 'ffprobe',
      args: [...show, ...probeGuard(path)],
      timeoutMs: PROBE_MS,
      enough: report.isTooLong,
      onOutput: report.onOutput,
    });
  } catch (error) {
    if (error instanceof MediaFileError && !(error instanceof UnsafeOutputError)) return null;
    throw error;
  }
  return report.isTooLong.aborted ? null : readFormat(report.text());
}

/** The parts themselves, or copies whose tracks have the settings of the first one. */
async function alike(tools: Tools, parts: readonly Part[], first: Part, run: Run): Promise<string[]> {
  const target = first.format;
  const sound = parts.find((part) => part.format.audio !== null)?.format.audio ?? null;
  const sameVideo = parts.every(({ format }) => format.video.settings === target.video.settings);
  const sameAudio = parts.every(({ format }) => format.audio?.settings === target.audio?.settings);
  if (sameVideo && sameAudio) return parts.map(({ path }) => path);
  const made: string[] = [];
  for (const [index, part] of parts.entries()) {
    const out = join(run.dir, `part-${index}.mp4`);
    const args = [
      ...['-v', 'error', '-nostdin', '-y', ...inputGuard(part.path, LIVE_DECODERS)],
      ...(part.format.audio === null && sound !== null ? SILENCE : []),
      ...(sameVideo ? ['-map', '0:v:0', '-c:v', 'copy'] : videoArgs(target, tools.threads)),
      ...audioArgs(part.format, sound, sameAudio),
      ...['-video_track_timescale', '90000', '-f', 'mp4', `file:${out}`],
    ];
    await encode(tools, args, run);
    made.push(out);
  }
  return made;
}

const SILENCE = ['-f', 'lavfi', '-i', 'anullsrc=r=48000:cl=stereo'];

function videoArgs({ video: { width, height, frameRate } }: PartFormat, threads: number): string[] {
  const fit = `scale=${width}:${height}:force_original_aspect_ratio=decrease`;
  const pad = `pad=${width}:${height}:(ow-iw)/2:(oh-ih)/2,setsar=1,fps=${frameRate},format=yuv420p`;
  return [
    ...['-map', '0:v:0', '-vf', `${fit},${pad}`],
    // Quality close to the source, because the renditions are encoded from this. Frames are not reordered at
    // the joints.
    ...['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '18', '-bf', '0', '-threads', String(threads)],
  ];
}

function audioArgs({ audio }: PartFormat, sound: PartFormat['audio'], isSame: boolean): string[] {
  if (sound === null) return [];
  const map = ['-map', audio === null ? '1:a:0' : '0:a:0'];
  if (isSame) return [...map, '-c:a', 'copy'];
  const { sampleRate, channels } = sound;
  const format = ['-c:a', 'aac', '-b:a', '160k', '-ar', String(sampleRate), '-ac', String(channels)];
  // The silence is endless.
  return [...map, ...format, ...(audio === null ? ['-shortest'] : [])];
}

async function concat(tools: Tools, files: readonly string[], maxSec: number, run: Run): Promise<string> {
  const list = 'parts.ffconcat';
  const out = join(run.dir, 'joined.mp4');
  const lines = files.map((path) => `file 'file:${path.replaceAll("'", "'\\''")}'`);
  await writeOutput(run.dir, list, `${['ffconcat version 1.0', ...lines].join('\n')}\n`);
  await encode(
    tools,
    [
      ...['-v', 'error', '-nostdin', '-y', ...concatGuard(join(run.dir, list), 'mov,mp4', LIVE_DECODERS)],
      ...['-map', '0', '-c', 'copy', '-t', String(maxSec), '-f', 'mp4', `file:${out}`],
    ],
    run,
    files,
  );
  return out;
}

async function encode(tools: Tools, args: string[], run: Run, reads: readonly string[] = []): Promise<void> {
  // The progress callback makes sure that it is killed when it stalls.
  await runTool(tools, { ...baseOf(run), program: 'ffmpeg', args, reads, onProgress: () => {} });
}

function baseOf({ dir, signal }: Run) {
  return { cwd: dir, signal, limits: LIMITS };
}
