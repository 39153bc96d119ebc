import type { MasterVariant } from './master.ts';
import type { MediaPlaylist, PrivateSegment, PublicSegment } from './playlist.ts';
import type { LiveEpoch, LiveEpochRung, LiveSlot, LiveState } from './state.ts';

/** Segments in a public media playlist. */
export const WINDOW_SLOTS = 8;
/** Beyond this the encoder's clock and ours have parted, or media stood still: the dates are set anew. */
const DATE_DRIFT_MS = 2000;
const AUDIO_KBPS = 128;

/** A private segment that every rung of the epoch has, with its size in each. */
export interface ReadySegment {
  index: number;
  file: string;
  rungs: LiveSlot['rungs'];
}

/** The segments from `nextIndex` on that are in every rung's private playlist, oldest first. */
export function commonSegments(lists: PrivateSegment[][], nextIndex: number): PrivateSegment[][] {
  const [first, ...others] = lists;
  if (!first) return [];
  const ready: PrivateSegment[][] = [];
  for (const segment of first) {
    if (segment.index < nextIndex) continue;
    const same = others.map((list) => list.find((other) => other.index === segment.index));
    const found = same.filter((other) => other !== undefined);
    if (found.length < others.length) break;
    ready.push([segment, ...found]);
  }
  return ready;
}

/** Gives a segment its place after the last slot. `completeMs` is when its last frame had come. Changes `state`. */
export function appendSlot(
  state: LiveState,
  epoch: LiveEpoch,
  segment: ReadySegment,
  completeMs: number,
): void {
  const durations = Object.values(segment.rungs).map((rung) => rung.durationSec);
  const durationMs = Math.max(...durations) * 1000;
  if (state.lastSlotEpoch !== null && state.lastSlotEpoch !== epoch.name) state.disc += 1;
  const joins = state.lastSlotEpoch === epoch.name;
  state.slots.push({
    seq: state.nextSeq,
    disc: state.disc,
    epoch: epoch.name,
    file: segment.file,
    startMs: startOf(state.slots.at(-1), joins, completeMs - durationMs),
    rungs: segment.rungs,
    leftAtMs: null,
  });
  state.nextSeq += 1;
  state.lastSlotEpoch = epoch.name;
  epoch.nextIndex = segment.index + 1;
  // RFC 8216 6.2.1 wants it constant: it grows only when a segment is longer than any before.
  state.targetDuration = Math.max(state.targetDuration, ...durations.map(Math.round), 1);
}

/** Takes the slots before the last eight out of the window. */
export function slideWindow(state: LiveState, nowMs: number): void {
  for (const slot of state.slots.slice(0, -WINDOW_SLOTS)) slot.leftAtMs ??= nowMs;
}

/** Dates run on with the durations; they never go back, also not over a discontinuity. */
function startOf(last: LiveSlot | undefined, joins: boolean, observedMs: number): number {
  if (!last) return observedMs;
  const follows = last.startMs + longest(last) * 1000;
  const drifted = Math.abs(observedMs - follows) > DATE_DRIFT_MS;
  return joins && !drifted ? follows : Math.max(follows, observedMs);
}

export function longest(slot: LiveSlot): number {
  return Math.max(...Object.values(slot.rungs).map((rung) => rung.durationSec));
}

function windowSlots(state: LiveState): LiveSlot[] {
  return state.slots.filter((slot) => slot.leftAtMs === null);
}

/** The public playlist of a rung; all rungs have the same sequence numbers. */
export function mediaPlaylistOf(state: LiveState, rung: string): MediaPlaylist {
  const segments = windowSlots(state).map((slot): PublicSegment => {
    const source = rungInSlot(slot, rung);
    return {
      seq: slot.seq,
      disc: slot.disc,
      epoch: slot.epoch,
      rung: source,
      file: slot.file,
      durationSec: slot.rungs[source]?.durationSec ?? 0,
      startMs: slot.startMs,
    };
  });
  return { targetDuration: state.targetDuration, segments, nextSeq: state.nextSeq, disc: state.disc };
}

/**
 * An epoch may lack a rung that a player is still on (the encoder came back with a smaller picture): it gets
 * the next lower one, or the best there is below none.
 */
function rungInSlot(slot: LiveSlot, rung: string): string {
  if (slot.rungs[rung]) return rung;
  const lines = Number(rung);
  const lower = Object.keys(slot.rungs)
    .filter((name) => Number(name) < lines)
    .sort((a, b) => Number(b) - Number(a));
  return lower[0] ?? 'src';
}

/** The master's variants of the current epoch, with rates measured where segments exist. */
export function variantsOf(state: LiveState): MasterVariant[] {
  const { epoch } = state;
  if (!epoch) return [];
  const slots = state.slots.filter((slot) => slot.epoch === epoch.name);
  const variants = epoch.rungs.map((rung) => ({
    name: rung.name,
    codecs: [...(rung.videoCodec === null ? [] : [rung.videoCodec]), epoch.audioCodec],
    ...bandwidthOf(rung, slots),
    width: rung.width,
    height: rung.height,
    fps: rung.videoCodec === null ? 0 : epoch.fps,
  }));
  return inOrder(variants);
}

/**
 * Players order variants by BANDWIDTH, so a source sent with fewer bits than its scaled rungs would count as
 * the worst: its bound is raised above theirs.
 */
function inOrder(variants: MasterVariant[]): MasterVariant[] {
  let below = 0;
  return variants
    .toReversed()
    .map((variant) => {
      const bandwidth = Math.max(variant.bandwidth, roundUp(below * 1.1));
      below = bandwidth;
      return { ...variant, bandwidth };
    })
    .toReversed();
}

function bandwidthOf(
  rung: LiveEpochRung,
  slots: LiveSlot[],
): Pick<MasterVariant, 'bandwidth' | 'averageBandwidth'> {
  const seen = slots.flatMap((slot) => slot.rungs[rung.name] ?? []);
  const totalSec = seen.reduce((sum, segment) => sum + segment.durationSec, 0);
  const totalBytes = seen.reduce((sum, segment) => sum + segment.bytes, 0);
  const guess = (rung.videoKbps || guessKbps(rung)) + (rung.videoCodec === null ? 0 : AUDIO_KBPS);
  const target = rung.videoKbps > 0 ? guess * 1100 : 0;
  const rates = seen.map((segment) => (segment.bytes * 8) / Math.max(segment.durationSec, 0.1));
  const average = totalSec > 0 ? (totalBytes * 8) / totalSec : guess * 1000;
  const peak = Math.max(target, average, ...rates, ...(totalSec > 0 ? [] : [guess * 1200]));
  return { bandwidth: roundUp(peak), averageBandwidth: roundUp(average) };
}

/** Two significant digits, so that the master is not rewritten for every segment. */
function roundUp(bitsPerSecond: number): number {
  if (bitsPerSecond <= 0) return 0;
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(bitsPerSecond)) - 1);
  return Math.ceil(bitsPerSecond / unit) * unit;
}

/** A copied rung before its first segment: 0.1 bit per pixel at 30 frames per second; 128 for audio only. */
function guessKbps(rung: LiveEpochRung): number {
  return rung.videoCodec === null ? AUDIO_KBPS : Math.round((rung.width * rung.height * 3) / 1000);
}
