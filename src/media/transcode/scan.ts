import { probeGuard } from '../ffmpeg/guard.ts';
import { lineReader } from '../ffmpeg/text.ts';
import { runTool, type Tools } from './run.ts';

/** Result of scanning a file's packets; times in seconds on the file's own clock. */
export interface PacketScan {
  /** The scan reached the end of the file; otherwise the rest was not read. */
  isComplete: boolean;
  /** Null without a single packet. */
  video: TrackScan | null;
  /** Declared end of the last packet of any track. */
  endSec: number;
  /** Spans of the audio tracks that have packets, by stream index; including packets that are not played. */
  audio: ReadonlyMap<number, AudioSpan>;
  /** Longest time between two keyframes, or from the last one to the end. */
  maxKeyframeGapSec: number;
  beginsWithKeyframe: boolean;
  /** Frames are presented before a keyframe but stored after it, so they depend on earlier ones. */
  hasOpenGop: boolean;
  /** The file hides some of its packets (an edit list) or changes its settings on the way. */
  isEdited: boolean;
  hasAllTimestamps: boolean;
}

export interface AudioSpan {
  startSec: number;
  /** Start of the last played packet, and its declared end. */
  lastSec: number;
  endSec: number;
}

export interface TrackScan {
  startSec: number;
  endSec: number;
  /** Declared end of its last packet, which may be much later for a still frame. */
  lastEndSec: number;
  packets: number;
  bytes: number;
  /** Most common time between two frames; 0 for a single one. */
  frameSec: number;
  /** Mean over the whole track; at a constant rate, gaps of missing frames are excluded. */
  meanFrameSec: number;
  isVariable: boolean;
}

/** Time budget: a file on a slow disk or of many hours is judged by the part read in this time. */
const BUDGET_MS = 15_000;
/** Time limit for a file without a declared duration, which is read to its end. */
const LONG_BUDGET_MS = 600_000;

export interface ScanInput {
  path: string;
  cwd: string;
  videoIndex: number;
  audioIndexes: readonly number[];
  /** Reads to the end, however long that takes. */
  toTheEnd: boolean;
  /** Media time at which the scan ends. */
  maxSec: number;
  signal: AbortSignal;
}

/** Demuxes the file once, without decoding or buffering it. */
export async function scanPackets(tools: Tools, input: ScanInput): Promise<PacketScan> {
  const collector = createCollector(input);
  const enough = new AbortController();
  const end = () => enough.abort();
  let timer = setTimeout(end, LONG_BUDGET_MS);
  // The start may take long on a busy machine, which is not the fault of the file.
  let hasBegun = input.toTheEnd;
  const begin = () => {
    if (hasBegun) return;
    hasBegun = true;
    clearTimeout(timer);
    timer = setTimeout(end, BUDGET_MS);
  };
  try {
    await runTool(tools, {
      program: 'ffprobe',
      cwd: input.cwd,
      args: [
        ...['-v', 'error', '-of', 'compact=p=0:nk=1', '-show_entries'],
        'packet=stream_index,pts_time,dts_time,duration_time,size,flags:packet_side_data=side_data_type',
        ...probeGuard(input.path),
      ],
      limits: { memoryBytes: 4 * 2 ** 30, cpuSec: LONG_BUDGET_MS / 1000, fileBytes: 0, isUrgent: true },
      looks: true,
      signal: input.signal,
      enough: enough.signal,
      onOutput: lineReader((line) => {
        begin();
        if (collector.add(line) > input.maxSec) end();
      }),
    });
  } finally {
    clearTimeout(timer);
  }
  return collector.result(!enough.signal.aborted);
}

/**
 * Maximum reordering distance: frames are stored in decoding order, and none is presented more places later.
 */
const REORDER_DEPTH = 17;
/**
 * Share of the usual distance by which distances may differ, in addition to rounding, before the rate counts
 * as variable.
 */
const VARIES = 0.25;
const VARIES_SEC = 0.002;
/** Share of irregular distances that still counts as a constant frame rate: single frames may be lost. */
const VARIABLE_SHARE = 0.01;
const VARIABLE_COUNT = 3;

interface Collector {
  /** @returns the media time reached. */
  add(line: string): number;
  result(isComplete: boolean): PacketScan;
}

function createCollector(input: Pick<ScanInput, 'videoIndex' | 'audioIndexes'>): Collector {
  const shownTimes = createFrameTimes();
  const decodedTimes = createFrameTimes();
  let bytes = 0;
  let packets = 0;
  const audio = createSpans(input.audioIndexes);
  let keyframe: number | null = null;
  let maxGap = 0;
  let beginsWithKeyframe = true;
  let hasOpenGop = false;
  let isEdited = false;
  let hasAllTimestamps = true;
  let reached = 0;
  let endSec = 0;
  let videoEndSec = 0;

  const addVideo = (pts: number, size: number, flags: string) => {
    const isHidden = flags.includes('D');
    packets += isHidden ? 0 : 1;
    bytes += isHidden ? 0 : size;
    if (!Number.isFinite(pts)) return;
    if (isHidden) isEdited = true;
    if (flags.includes('K')) {
      if (keyframe !== null) maxGap = Math.max(maxGap, pts - keyframe);
      keyframe = pts;
    } else if (keyframe === null) beginsWithKeyframe = false;
    else if (pts < keyframe) hasOpenGop = true;
  };

  return {
    add(line) {
      const [stream = '', shown = '', decoded = '', lasts = '', size, flags = ''] = line.split('|');
      const hasTime = shown !== 'N/A';
      const pts = Number.parseFloat(hasTime ? shown : decoded);
      // Packets hidden by an edit list have times as well, before the start or after the end.
      const isPlayed = !flags.includes('D');
      const end = isPlayed ? pts + (Number.parseFloat(lasts) || 0) : Number.NEGATIVE_INFINITY;
      if (end > endSec) endSec = end;
      if (stream === String(input.videoIndex)) {
        if (!hasTime) hasAllTimestamps = false;
        else if (isPlayed) shownTimes.add(pts);
        if (isPlayed) decodedTimes.add(Number.parseFloat(decoded));
        if (end > videoEndSec) videoEndSec = end;
        addVideo(pts, Number(size) || 0, flags);
        if (line.includes('New Extradata') || line.includes('Param Change')) isEdited = true;
      } else audio.add(stream, pts, end);
      if (pts > reached) reached = pts;
      return reached;
    },
    result(isComplete) {
      // AVI has only decoding times, and MPEG-2 in part.
      const times = (hasAllTimestamps ? shownTimes : decodedTimes).finish();
      const last = times === null || keyframe === null ? 0 : times.endSec - keyframe;
      return {
        isComplete,
        video: packets === 0 ? null : { packets, bytes, lastEndSec: videoEndSec, ...(times ?? NO_TIMES) },
        endSec,
        audio: audio.spans,
        maxKeyframeGapSec: Math.max(maxGap, last),
        beginsWithKeyframe,
        hasOpenGop,
        isEdited,
        hasAllTimestamps,
      };
    },
  };
}

/** Collects the span from the first to the last packet of each of these streams. */
function createSpans(indexes: readonly number[]) {
  const streams = new Map(indexes.map((index) => [String(index), index]));
  const spans = new Map<number, AudioSpan>();
  return {
    spans,
    add(stream: string, pts: number, end: number) {
      const index = streams.get(stream);
      if (index === undefined || !Number.isFinite(pts)) return;
      const known = spans.get(index) ?? { startSec: pts, lastSec: pts, endSec: pts };
      const isPlayed = Number.isFinite(end);
      spans.set(index, {
        startSec: Math.min(known.startSec, pts),
        lastSec: isPlayed ? Math.max(known.lastSec, pts) : known.lastSec,
        endSec: Math.max(known.endSec, end),
      });
    },
  };
}

type FrameTimes = Omit<TrackScan, 'packets' | 'bytes' | 'lastEndSec'>;

const NO_TIMES: FrameTimes = { startSec: 0, endSec: 0, frameSec: 0, meanFrameSec: 0, isVariable: false };

/** Restores the presentation order of timestamps, and counts the distances between them. */
function createFrameTimes(): { add(pts: number): void; finish(): FrameTimes | null } {
  const waiting: number[] = [];
  /** Distances in microseconds; even a hostile file has only a few relevant ones. */
  const distances = new Map<number, number>();
  let first: number | null = null;
  let last = 0;
  let count = 0;

  const show = (pts: number) => {
    if (first === null) first = pts;
    else {
      const distance = Math.round((pts - last) * 1e6);
      if (distances.size < 10_000 || distances.has(distance)) {
        distances.set(distance, (distances.get(distance) ?? 0) + 1);
      }
    }
    last = Math.max(last, pts);
    if (count === 0) last = pts;
    count += 1;
  };
  const showFirst = () => {
    const pts = waiting.shift();
    if (pts !== undefined) show(pts);
  };

  return {
    add(pts) {
      if (!Number.isFinite(pts)) return;
      let at = waiting.length;
      while (at > 0 && (waiting[at - 1] ?? 0) > pts) at -= 1;
      waiting.splice(at, 0, pts);
      if (waiting.length > REORDER_DEPTH) showFirst();
    },
    finish() {
      while (waiting.length > 0) showFirst();
      if (first === null) return null;
      const usual = usualDistance(distances);
      const meanSec = count > 1 ? (last - first) / (count - 1) : 0;
      const isVariable = varies(distances, usual);
      return {
        startSec: first,
        endSec: last + (usual || meanSec),
        frameSec: usual,
        meanFrameSec: isVariable ? meanSec : (beatOf(distances, usual) ?? meanSec),
        isVariable,
      };
    },
  };
}

/** Returns the median, in seconds. */
function usualDistance(distances: ReadonlyMap<number, number>): number {
  const sorted = [...distances].toSorted(([a], [b]) => a - b);
  const half = sorted.reduce((sum, [, count]) => sum + count, 0) / 2;
  let passed = 0;
  for (const [distance, count] of sorted) {
    passed += count;
    if (passed >= half) return distance / 1e6;
  }
  return 0;
}

/** Returns the mean of the distances that are not gaps, in seconds. */
function beatOf(distances: ReadonlyMap<number, number>, usual: number): number | null {
  const tolerance = Math.max(usual * VARIES, VARIES_SEC);
  const near = [...distances].filter(([distance]) => Math.abs(distance / 1e6 - usual) <= tolerance);
  const count = near.reduce((sum, [, times]) => sum + times, 0);
  return count === 0
    ? null
    : near.reduce((sum, [distance, times]) => sum + distance * times, 0) / count / 1e6;
}

function varies(distances: ReadonlyMap<number, number>, usual: number): boolean {
  const tolerance = Math.max(usual * VARIES, VARIES_SEC);
  let total = 0;
  let varying = 0;
  for (const [distance, count] of distances) {
    total += count;
    if (Math.abs(distance / 1e6 - usual) > tolerance) varying += count;
  }
  return varying >= VARIABLE_COUNT && varying > total * VARIABLE_SHARE;
}
