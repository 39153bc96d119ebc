import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { openOutput, openOutputFile } from '../../ffmpeg/output.ts';
import { MatroskaWriter } from '../../protocols/matroska/writer.ts';
import { readFrames } from './frames.ts';
import type { ScannedTrack, Span } from './scan.ts';
import { lastUpTo } from './track-clock.ts';
import { keyFrameSize } from './vp8.ts';

/** Slice of a track in its own file. */
export interface Slice {
  name: string;
  /** Start of the slice in the times of the file: earlier frames are only decoded. */
  zeroMs: number;
}

interface SliceRun {
  track: ScannedTrack;
  span: Span;
  dir: string;
  name: string;
  signal: AbortSignal;
}

/** Maximum delay between capture and arrival of a packet. */
const LATE_MS = 5000;
/** Lead for an Opus decoder to converge (RFC 7845, section 4.6), with a margin. */
const SOUND_LEAD_MS = 200;
/** Age above which a frame is not shown. */
const STALE_MS = 12_000;
const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;

/** Writes what a track has in a span of time as Matroska. @returns null when it has nothing there. */
export async function writeSlice(run: SliceRun): Promise<Slice | null> {
  const input = await openOutputFile(run.track.path);
  const output = await openOutput(run.dir, run.name, NEW_FILE);
  try {
    return run.track.header.kind === 'AUDIO'
      ? await sounds(run, input, output)
      : await pictures(run, input, output);
  } finally {
    await input.close();
    await output.close();
  }
}

/** Yields the frames of a span with their times, preceded by those needed for decoding. */
async function* timedFrames({ track, span, signal }: SliceRun, input: FileHandle, leadMs: number) {
  const { header, clock, entries } = track;
  const start = lastUpTo(entries, span.fromMs - leadMs, ({ atMs }) => atMs) ?? entries[0];
  for await (const frames of readFrames(input, header, start?.resume ?? null)) {
    signal.throwIfAborted();
    for (const frame of frames) {
      if (header.startedMs + frame.receivedMs > span.toMs + LATE_MS) return;
      yield [header.startedMs + clock.timeOf(frame), frame] as const;
    }
  }
}

async function sounds(run: SliceRun, input: FileHandle, output: FileHandle): Promise<Slice | null> {
  const writer = new MatroskaWriter(output);
  await writer.begin({ codec: 'A_OPUS' });
  const zeroMs = run.span.fromMs - SOUND_LEAD_MS;
  let frames = 0;
  for await (const [ms, frame] of timedFrames(run, input, SOUND_LEAD_MS)) {
    if (ms < zeroMs || ms >= run.span.toMs) continue;
    await writer.frame(Math.round(ms - zeroMs), frame.data, true);
    frames += 1;
  }
  await writer.end();
  return frames === 0 ? null : { name: run.name, zeroMs: SOUND_LEAD_MS };
}

/**
 * Writes the video frames. Frames before the span are one millisecond apart: they are decoded and not shown,
 * except the last one, which is visible when the span begins.
 */
async function pictures(run: SliceRun, input: FileHandle, output: FileHandle): Promise<Slice | null> {
  const writer = new MatroskaWriter(output);
  const { span, name } = run;
  let leading = 0;
  let leadMs = Number.NEGATIVE_INFINITY;
  let hasBegun = false;
  const zeroMs = () => Math.max(0, span.fromMs - leadMs > STALE_MS ? leading : leading - 1);
  for await (const [ms, frame] of timedFrames(run, input, 0)) {
    if (ms >= span.toMs) continue;
    if (!hasBegun) {
      const size = keyFrameSize(frame.data);
      if (size === null) continue;
      await writer.begin({ codec: 'V_VP8', ...size });
      hasBegun = true;
    }
    const isLead = ms <= span.fromMs;
    const at = isLead ? leading : zeroMs() + Math.round(ms - span.fromMs);
    await writer.frame(at, frame.data, frame.isKey);
    if (isLead) [leading, leadMs] = [leading + 1, ms];
  }
  await writer.end();
  return hasBegun ? { name, zeroMs: zeroMs() } : null;
}
