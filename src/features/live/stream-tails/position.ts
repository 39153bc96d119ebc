import type { LoggedTail, LogPosition } from '../../../events/stream-log.ts';

export type Positions = ReadonlyMap<LoggedTail, LogPosition>;

const POSITION = /^(\d{1,15})-(\d{1,15})$/;
/** Separator in the position ID of a tail with several logs. */
const JOINT = '_';

/** Returns `<epochMs>-<seq>` of each log, in the order of the map. */
export function positionId(positions: Positions): string {
  return [...positions.values()].map(({ seq, atMs }) => `${atMs}-${seq}`).join(JOINT);
}

/** Parses a position ID; returns null when the text is not an ID of a tail of these logs. */
export function parsePositionId(text: string, tails: readonly LoggedTail[]): Positions | null {
  const parts = text.split(JOINT);
  if (parts.length !== tails.length) return null;
  const positions = new Map<LoggedTail, LogPosition>();
  for (const [at, tail] of tails.entries()) {
    const [, atMs, seq] = POSITION.exec(parts[at] ?? '') ?? [];
    if (atMs === undefined || seq === undefined) return null;
    positions.set(tail, { seq: Number(seq), atMs: Number(atMs) });
  }
  return positions;
}
