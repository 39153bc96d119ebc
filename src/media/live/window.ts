import type { DvrPosition } from '../contract/index.ts';
import type { MasterVariant } from './master.ts';
import type { MediaPlaylist, PublicPart, PublicSegment } from './playlist.ts';
import type { LiveEpoch, LiveEpochRung, LivePart, LiveSlot, LiveState, LowLatency } from './state.ts';

/** Number of segments in a public media playlist. */
export const WINDOW_SLOTS = 8;
/** Lag above which dates are reset: the encoder's clock has drifted from ours, or the media stalled. */
const DATE_DRIFT_MS = 2000;
/** Time before dates are reset: media after a stall arrive faster than real time, and catch up. */
const DATE_PATIENCE_MS = 5000;
const CATCHES_UP_MS = 100;
/**
 * Lead above which dates are corrected, by a share of each segment that still lets players find the next one
 * by its date.
 */
const DATE_AHEAD_MS = 500;
const DATE_BACK_SHARE = 0.5;
/**
 * Distance from the end, in target durations, within which parts are listed (draft-pantos-hls-rfc8216bis
 * 6.2.2).
 */
const PARTS_TARGET_DURATIONS = 3;
const AUDIO_KBPS = 128;

/** Arrival time of a part, and its start if it was not delayed. */
interface Seen {
  observedMs: number;
  nowMs: number;
}

/** Position of a part: the number of its segment in the run, and the rung. */
export interface PartPosition {
  rung: string;
  index: number;
}

/**
 * Adds a part to its segment, which begins with the first part of any rung. Changes `state`.
 *
 * @returns null when the stream has continued too far without this rung.
 */
export function addPart(
  state: LiveState,
  epoch: LiveEpoch,
  place: PartPosition,
  part: LivePart,
  nowMs: number,
): LiveSlot | null {
  const observedMs = nowMs - part.durationSec * 1000;
  const slot =
    slotOf(state, epoch, place.index) ?? beginSlot(state, epoch, place.index, part, { observedMs, nowMs });
  if (slot === null) return null;
  if (slot.without?.includes(place.rung)) return null;
  const held = slot.rungs[place.rung] ?? beginRung(part);
  held.durationSec += part.durationSec;
  held.bytes += part.bytes;
  held.parts?.push(part);
  slot.rungs[place.rung] = held;
  // Media buffered before the run began arrive in a burst: only the last of them are current.
  if (isFirstOf(state, slot)) {
    const beforeMs = endOf(state.slots.at(-2)) ?? 0;
    slot.startMs = Math.min(slot.startMs, Math.max(beforeMs, nowMs - held.durationSec * 1000));
  }
  return slot;
}

function beginRung({ isIndependent }: LivePart): LiveSlot['rungs'][string] {
  return {
    ...{ durationSec: 0, bytes: 0, parts: [], isOpen: true },
    ...(isIndependent ? {} : { isDependent: true }),
  };
}

/**
 * Ends the segment. @param durationSec taken from the next segment's start; the sum of the parts when absent.
 */
export function endSegment(
  state: LiveState,
  epoch: LiveEpoch,
  { rung, index }: PartPosition,
  durationSec?: number,
): void {
  const held = slotOf(state, epoch, index)?.rungs[rung];
  if (held === undefined) return;
  delete held.isOpen;
  held.durationSec = durationSec ?? held.durationSec;
  // RFC 8216 6.2.1 wants it constant: it grows only when a segment is longer than any before.
  state.targetDuration = Math.max(state.targetDuration, Math.round(held.durationSec), 1);
}

export function segmentFile(index: number): string {
  return `s_${String(index).padStart(6, '0')}.m4s`;
}

function slotOf({ slots }: LiveState, epoch: LiveEpoch, index: number): LiveSlot | null {
  const file = segmentFile(index);
  return slots.findLast((slot) => slot.epoch === epoch.name && slot.file === file) ?? null;
}

/** Appends a slot for a new segment. */
function beginSlot(
  state: LiveState,
  epoch: LiveEpoch,
  index: number,
  { isIndependent }: LivePart,
  seen: Seen,
): LiveSlot | null {
  if (index < epoch.nextIndex) return null;
  const { absent = [] } = epoch;
  // A rung that joined in the meantime begins with a keyframe.
  const without = isIndependent ? absent : [...absent, ...(state.slots.at(-1)?.without ?? [])];
  if (state.lastSlotEpoch !== null && state.lastSlotEpoch !== epoch.name) state.disc += 1;
  const slot: LiveSlot = {
    seq: state.nextSeq,
    disc: state.disc,
    epoch: epoch.name,
    file: segmentFile(index),
    startMs: startOf(state, epoch, seen),
    rungs: {},
    ...(without.length === 0 ? {} : { without: [...new Set(without)] }),
    leftAtMs: null,
  };
  state.slots.push(slot);
  state.nextSeq += 1;
  state.lastSlotEpoch = epoch.name;
  epoch.nextIndex = index + 1;
  return slot;
}

/** Adds the rung from the next segment that begins with a keyframe on. */
export function addRung(epoch: LiveEpoch, rung: string): void {
  epoch.absent = epoch.absent?.filter((name) => name !== rung) ?? [];
  epoch.late = epoch.late?.filter((name) => name !== rung) ?? [];
}

/** Removes a rung that has stopped: ends the segment it is in. */
export function removeRung(state: LiveState, epoch: LiveEpoch, rung: string): void {
  for (const slot of state.slots) {
    if (slot.epoch !== epoch.name) continue;
    const held = slot.rungs[rung];
    if (held === undefined) leaveSlot(slot, rung);
    else delete held.isOpen;
  }
  epoch.absent = [...new Set([...(epoch.absent ?? []), rung])];
}

/** Marks segments that the rung will never have. */
export function leaveSegments(
  state: LiveState,
  epoch: LiveEpoch,
  rung: string,
  { from, to }: { from: number; to: number },
): void {
  for (let index = from; index <= to; index += 1) {
    const slot = slotOf(state, epoch, index);
    if (slot !== null && slot.rungs[rung] === undefined) leaveSlot(slot, rung);
  }
}

/** Reports whether the segment exists but has nothing of this rung yet. */
export function isAwaited(state: LiveState, epoch: LiveEpoch, { rung, index }: PartPosition): boolean {
  const slot = slotOf(state, epoch, index);
  return slot !== null && slot.rungs[rung] === undefined && !slot.without?.includes(rung);
}

function leaveSlot(slot: LiveSlot, rung: string): void {
  slot.without = [...new Set([...(slot.without ?? []), rung])];
}

function isFirstOf({ slots }: LiveState, slot: LiveSlot): boolean {
  return slots.at(-1) === slot && slots.at(-2)?.epoch !== slot.epoch;
}

/**
 * Removes slots from the window, except the last eight that a rung has completely, and drops the parts of old
 * ones.
 */
export function slideWindow(state: LiveState, nowMs: number): void {
  const complete = state.slots.filter((slot) => Object.values(slot.rungs).some(({ isOpen }) => !isOpen));
  for (const slot of complete.slice(0, -WINDOW_SLOTS)) slot.leftAtMs ??= nowMs;
  const last = complete.at(-1);
  const sinceMs = (endOf(last) ?? 0) - PARTS_TARGET_DURATIONS * state.targetDuration * 1000;
  for (const slot of complete) {
    if ((endOf(slot) ?? 0) > sinceMs) break;
    for (const rung of Object.values(slot.rungs)) delete rung.parts;
  }
}

/** Continues after segments that another node published: the local ones are older. */
export function resumeAfter(state: LiveState, { seq, disc, epoch }: DvrPosition, nowMs: number): void {
  if (seq < state.nextSeq) return;
  for (const slot of state.slots) slot.leftAtMs ??= nowMs;
  state.nextSeq = seq + 1;
  state.disc = Math.max(state.disc, disc);
  state.lastSlotEpoch = epoch;
}

/** Milliseconds since the Unix epoch. */
export function endOf(slot: LiveSlot | undefined): number | null {
  return slot === undefined ? null : slot.startMs + longest(slot) * 1000;
}

/**
 * Returns the date of a new segment. Dates advance with the durations, and stay near the clock; they never
 * decrease, even at a discontinuity.
 */
function startOf(state: LiveState, epoch: LiveEpoch, seen: Seen): number {
  const last = state.slots.at(-1);
  if (!last) return seen.observedMs;
  const lastsMs = longest(last) * 1000;
  const follows = last.startMs + lastsMs;
  if (state.lastSlotEpoch !== epoch.name) return Math.max(follows, seen.observedMs);
  const behindMs = seen.observedMs - follows;
  if (behindMs < -DATE_AHEAD_MS) return Math.max(seen.observedMs, follows - lastsMs * DATE_BACK_SHARE);
  return follows + lostMs(epoch, behindMs, seen.nowMs);
}

/** Returns the lag of the dates that is permanent; 0 while unknown. */
function lostMs(epoch: LiveEpoch, behindMs: number, nowMs: number): number {
  const { behind } = epoch;
  if (behindMs <= DATE_DRIFT_MS) delete epoch.behind;
  else if (behind === undefined || behindMs < behind.ms - CATCHES_UP_MS)
    epoch.behind = { ms: behindMs, sinceMs: nowMs };
  else if (nowMs - behind.sinceMs >= DATE_PATIENCE_MS) {
    delete epoch.behind;
    return behind.ms;
  }
  return 0;
}

export function longest(slot: LiveSlot): number {
  return Math.max(0, ...Object.values(slot.rungs).map((rung) => rung.durationSec));
}

function windowSlots(state: LiveState): LiveSlot[] {
  return state.slots.filter((slot) => slot.leftAtMs === null);
}

/**
 * Returns the public playlist of a rung; all rungs have the same sequence numbers. A rung that is behind ends
 * before the others.
 */
export function mediaPlaylistOf(state: LiveState, rung: string): MediaPlaylist {
  const segments: PublicSegment[] = [];
  let open: MediaPlaylist['open'];
  const slots = windowSlots(state);
  for (const slot of slots) {
    const source = rungInSlot(state, slot, rung);
    const held = slot.rungs[source];
    if (held === undefined) break;
    const segment = publicSegment(slot, source, held);
    if (!held.isOpen) segments.push(segment);
    else {
      open = segment;
      break;
    }
  }
  const nextSeq = open?.seq ?? (segments.at(-1)?.seq ?? (slots[0]?.seq ?? state.nextSeq) - 1) + 1;
  const disc = open?.disc ?? segments.at(-1)?.disc ?? slots[0]?.disc ?? state.disc;
  return {
    targetDuration: state.targetDuration,
    segments,
    nextSeq,
    disc,
    ...(state.lowLatency === undefined ? {} : { lowLatency: holding(state.lowLatency, segments, open) }),
    ...(open === undefined ? {} : { open }),
  };
}

/**
 * Returns the part target that holds for all listed parts: a long part, from a gap in the video, raises it
 * temporarily.
 */
function holding(
  lowLatency: LowLatency,
  segments: readonly PublicSegment[],
  open?: PublicSegment,
): LowLatency {
  let longestSec = lowLatency.partTargetSec;
  for (const { parts = [] } of open === undefined ? segments : [...segments, open]) {
    for (const { durationSec } of parts)
      longestSec = Math.max(longestSec, Math.ceil(durationSec * 1000) / 1000);
  }
  return { ...lowLatency, partTargetSec: longestSec };
}

/**
 * Returns the parts added to the open segment since the given playlist of its rung; null when anything else
 * has changed. The caller must detect segments that have begun or ended since.
 */
export function partsSince(state: LiveState, { open, lowLatency }: MediaPlaylist): PublicPart[] | null {
  if (open === undefined) return null;
  const slot = state.slots.findLast(({ epoch, file }) => epoch === open.epoch && file === open.file);
  const held = slot?.rungs[open.rung];
  if (slot?.startMs !== open.startMs || !held?.isOpen) return null;
  const known = open.parts ?? [];
  const added = held.parts?.slice(known.length) ?? [];
  const mostSec = lowLatency?.partTargetSec ?? Number.POSITIVE_INFINITY;
  if (added.some(({ durationSec }) => durationSec > mostSec)) return null;
  return withOffsets(added, endOfParts(known));
}

function withOffsets(parts: readonly LivePart[], from: number): PublicPart[] {
  let offset = from;
  return parts.map((part) => {
    const placed = { ...part, offset };
    offset += part.bytes;
    return placed;
  });
}

function endOfParts(parts: readonly PublicPart[]): number {
  const last = parts.at(-1);
  return last === undefined ? 0 : last.offset + last.bytes;
}

function publicSegment(slot: LiveSlot, rung: string, held: LiveSlot['rungs'][string]): PublicSegment {
  const parts = withOffsets(held.parts ?? [], 0);
  return {
    seq: slot.seq,
    disc: slot.disc,
    epoch: slot.epoch,
    rung,
    file: slot.file,
    durationSec: held.durationSec,
    startMs: slot.startMs,
    ...(held.isDependent && { isDependent: true }),
    ...(parts.length === 0 ? {} : { parts }),
  };
}

/**
 * Returns the rung to list in a slot. An epoch may lack a rung that a player is still on (the encoder came
 * back with a lower resolution): the player gets the next lower one, or the best available when none is
 * lower.
 */
function rungInSlot({ epoch }: LiveState, slot: LiveSlot, rung: string): string {
  const isOfEpoch = epoch?.name === slot.epoch && epoch.rungs.some(({ name }) => name === rung);
  const isToCome = isOfEpoch && !slot.without?.includes(rung);
  if (slot.rungs[rung] || isToCome) return rung;
  const lines = Number(rung);
  const lower = Object.keys(slot.rungs)
    .filter((name) => Number(name) < lines)
    .sort((a, b) => Number(b) - Number(a));
  return lower[0] ?? 'src';
}

/** Returns the master's variants of the current epoch, with measured bitrates where segments exist. */
export function variantsOf(state: LiveState): MasterVariant[] {
  const { epoch } = state;
  if (!epoch) return [];
  const slots = state.slots.filter((slot) => slot.epoch === epoch.name);
  const shown = epoch.rungs.filter(({ name }) => !epoch.late?.includes(name));
  const variants = shown.map((rung) => ({
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
 * Players order variants by BANDWIDTH, so a source with a lower bitrate than its scaled rungs would count as
 * the worst: its value is raised above theirs.
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
  const seen = slots.flatMap((slot) => slot.rungs[rung.name] ?? []).filter(({ isOpen }) => !isOpen);
  const totalSec = seen.reduce((sum, segment) => sum + segment.durationSec, 0);
  const totalBytes = seen.reduce((sum, segment) => sum + segment.bytes, 0);
  const guess = (rung.videoKbps || guessKbps(rung)) + (rung.videoCodec === null ? 0 : AUDIO_KBPS);
  const target = rung.videoKbps > 0 ? guess * 1100 : 0;
  const rates = seen.map((segment) => (segment.bytes * 8) / Math.max(segment.durationSec, 0.1));
  const average = totalSec > 0 ? (totalBytes * 8) / totalSec : guess * 1000;
  const peak = Math.max(target, average, ...rates, ...(totalSec > 0 ? [] : [guess * 1200]));
  return { bandwidth: roundUp(peak), averageBandwidth: roundUp(average) };
}

/** Rounds up to two significant digits, so that the master is not rewritten for every segment. */
function roundUp(bitsPerSecond: number): number {
  if (bitsPerSecond <= 0) return 0;
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(bitsPerSecond)) - 1);
  return Math.ceil(bitsPerSecond / unit) * unit;
}

/**
 * Estimates the bitrate of a copied rung before its first segment: 0.1 bit per pixel at 30 frames per second;
 * 128 for audio only.
 */
function guessKbps(rung: LiveEpochRung): number {
  return rung.videoCodec === null ? AUDIO_KBPS : Math.round((rung.width * rung.height * 3) / 1000);
}
