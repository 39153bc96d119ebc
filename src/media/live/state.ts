import { readFile, rename, writeFile } from 'node:fs/promises';
import { type Static, Type } from 'typebox';
import { compileSchema } from '../../platform/schema-validator.ts';

/**
 * What a stream's playlists are made from, kept in `state.json` so that a new process goes on with the same
 * sequence numbers. Terminology: a *slot* is one media sequence number; it has a segment in every rung of
 * its epoch, which keeps the rungs aligned. A *part* is a piece of a segment that can be played before the rest of
 * it is there (draft-pantos-hls-rfc8216bis 4.4.4.9).
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
  /** Of the newest segments. */
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
  /** Rungs of its epoch that never have it: their playlists have another one's here. */
  without: Type.Optional(Type.Array(Type.String())),
  /** When it left the window; its files are deleted some time after that. */
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
  /** How many segments have been begun. */
  nextIndex: Type.Integer(),
  /** Rungs that do not come at present, and of these the ones that should. */
  absent: Type.Optional(Type.Array(Type.String())),
  late: Type.Optional(Type.Array(Type.String())),
  /** How far its dates are behind the clock, at the least since then (milliseconds since the Unix epoch). */
  behind: Type.Optional(Type.Object({ ms: Type.Number(), sinceMs: Type.Number() })),
});

const LowLatency = Type.Object({
  /** No part is longer, unless the picture has a gap. */
  partTargetSec: Type.Number(),
  /** How far players stay behind the newest part. */
  holdBackSec: Type.Number(),
});

const State = Type.Object({
  version: Type.Literal(1),
  targetDuration: Type.Integer(),
  lowLatency: Type.Optional(LowLatency),
  nextSeq: Type.Integer(),
  /** Of the last slot. */
  disc: Type.Integer(),
  lastSlotEpoch: Type.Union([Type.String(), Type.Null()]),
  /** The run that is being read; its folder may outlive the process that started it. */
  epoch: Type.Union([Epoch, Type.Null()]),
  /** Oldest first; those with `leftAtMs` wait for their deletion. */
  slots: Type.Array(Slot),
  /** Every rung that ever had a playlist: a player may still be reading it. */
  playlists: Type.Array(Type.String()),
});

const kept = compileSchema(State);

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

/** The state kept in a file; null when there is none, or when what is there cannot be used. */
export async function loadState(path: string): Promise<LiveState | null> {
  try {
    const value: unknown = JSON.parse(await readFile(path, 'utf8'));
    return kept.matches(value) ? value : null;
  } catch {
    return null;
  }
}

/** Ends the name of a file until it takes the place of another. */
export const TEMPORARY = '.tmp';

/** Replaces a file in one step, so that a reader or a killed writer never leaves half of it. */
export async function replaceFile(path: string, content: string): Promise<void> {
  const temporary = path + TEMPORARY;
  await writeFile(temporary, content);
  await rename(temporary, path);
}
