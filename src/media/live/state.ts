import { readFile, rename, writeFile } from 'node:fs/promises';
import { type Static, Type } from 'typebox';
import { compileSchema } from '../../platform/schema-validator.ts';

/**
 * State behind a stream's playlists, stored in `state.json` so that a new process continues with the same
 * sequence numbers. Terminology: a *slot* is one media sequence number; it has a segment in every rung of its
 * epoch, which aligns the rungs. A *part* is a section of a segment that can be played before the segment is
 * complete (draft-pantos-hls-rfc8216bis 4.4.4.9).
 */
const Part = Type.Object({
  durationSec: Type.Number(),
  bytes: Type.Integer(),
  /** It begins with a keyframe. */
  isIndependent: Type.Boolean(),
});

const SlotRung = Type.Object({
  durationSec: Type.Number(),
  bytes: Type.Number(),
  /** Parts, present for the newest segments only. */
  parts: Type.Optional(Type.Array(Part)),
  /** More of it is to come. */
  isOpen: Type.Optional(Type.Literal(true)),
  /** It begins without a keyframe. */
  isDependent: Type.Optional(Type.Literal(true)),
});

const Slot = Type.Object({
  seq: Type.Integer(),
  disc: Type.Integer(),
  epoch: Type.String(),
  file: Type.String(),
  startMs: Type.Number(),
  rungs: Type.Record(Type.String(), SlotRung),
  /** Rungs of the epoch that lack this segment: their playlists list another rung's. */
  without: Type.Optional(Type.Array(Type.String())),
  /** Time at which it left the window; its files are deleted after the retention. */
  leftAtMs: Type.Union([Type.Number(), Type.Null()]),
});

const EpochRung = Type.Object({
  name: Type.String(),
  width: Type.Integer(),
  height: Type.Integer(),
  videoCodec: Type.Union([Type.String(), Type.Null()]),
  /** Target of an encoded rung, 0 for a copied one. */
  videoKbps: Type.Integer(),
});

const Epoch = Type.Object({
  name: Type.String(),
  rungs: Type.Array(EpochRung, { minItems: 1 }),
  audioCodec: Type.String(),
  fps: Type.Number(),
  /** Number of segments begun. */
  nextIndex: Type.Integer(),
  /** Rungs that are left out, and those of them that are expected. */
  absent: Type.Optional(Type.Array(Type.String())),
  late: Type.Optional(Type.Array(Type.String())),
  /** Lag of its dates behind the clock: the minimum since that time (milliseconds since the Unix epoch). */
  behind: Type.Optional(Type.Object({ ms: Type.Number(), sinceMs: Type.Number() })),
});

const LowLatency = Type.Object({
  /** Maximum part length, except for a gap in the video. */
  partTargetSec: Type.Number(),
  /** Distance of players behind the newest part. */
  holdBackSec: Type.Number(),
});

const State = Type.Object({
  version: Type.Literal(1),
  targetDuration: Type.Integer(),
  lowLatency: Type.Optional(LowLatency),
  nextSeq: Type.Integer(),
  /** Discontinuity sequence number of the last slot. */
  disc: Type.Integer(),
  lastSlotEpoch: Type.Union([Type.String(), Type.Null()]),
  /** Current run; its folder may outlive the process that started it. */
  epoch: Type.Union([Epoch, Type.Null()]),
  /** Oldest first; those with `leftAtMs` wait for their deletion. */
  slots: Type.Array(Slot),
  /** All rungs that ever had a playlist: a player may still be reading it. */
  playlists: Type.Array(Type.String()),
});

const stateValidator = compileSchema(State);

export type LiveState = Static<typeof State>;
export type LiveSlot = Static<typeof Slot>;
export type LivePart = Static<typeof Part>;
export type LowLatency = Static<typeof LowLatency>;
export type LiveEpoch = Static<typeof Epoch>;
export type LiveEpochRung = Static<typeof EpochRung>;

export function emptyState(): LiveState {
  return {
    version: 1,
    targetDuration: 0,
    nextSeq: 0,
    disc: 0,
    lastSlotEpoch: null,
    epoch: null,
    slots: [],
    playlists: [],
  };
}

/** Loads the state from a file; null when there is none or its content is invalid. */
export async function loadState(path: string): Promise<LiveState | null> {
  try {
    const value: unknown = JSON.parse(await readFile(path, 'utf8'));
    return stateValidator.matches(value) ? value : null;
  } catch {
    return null;
  }
}

/** Suffix of a file until it replaces another. */
export const TEMPORARY = '.tmp';

/** Replaces a file atomically, so that neither a reader nor a killed writer sees a partial file. */
export async function replaceFile(path: string, content: string): Promise<void> {
  const temporary = path + TEMPORARY;
  await writeFile(temporary, content);
  await rename(temporary, path);
}
