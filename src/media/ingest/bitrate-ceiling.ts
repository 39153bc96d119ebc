import type { IngestEngine, IngestSession, RejectionIssue } from '../contract/index.ts';

interface Options {
  engine: Pick<IngestEngine, 'list' | 'stats' | 'kick'>;
  onRefused(session: IngestSession, issue: RejectionIssue): Promise<void>;
  /** How long somebody may send too much before the warning, and again after it; ten seconds. */
  patienceMs?: number;
  /** Milliseconds of a clock that never goes back. */
  now?: () => number;
}

/** Who sends more than its grant for so long is warned, and after as long again cut off. */
const PATIENCE_MS = 10_000;

/** The ceiling of what encoders send (docs/decisions/plans.md). */
export interface BitrateCeiling {
  /** Looks at every publish; to be called each second. */
  check(): Promise<void>;
  /** Is the publish of this stream to be warned? */
  isOver(streamId: string): boolean;
}

export function createBitrateCeiling({
  engine,
  onRefused,
  patienceMs = PATIENCE_MS,
  now = () => performance.now(),
}: Options): BitrateCeiling {
  /** By the publish: whose it is, and since when it sends too much. */
  const over = new Map<string, { streamId: string; since: number }>();
  return {
    async check() {
      const sessions = engine.list();
      const present = new Set(sessions.map(({ sessionId }) => sessionId));
      for (const id of over.keys()) if (!present.has(id)) over.delete(id);
      for (const session of sessions) {
        const { sessionId, streamId, grant } = session;
        const kbps = engine.stats(sessionId)?.bitrateKbps ?? 0;
        if (kbps <= (grant.maxBitrateKbps ?? Number.POSITIVE_INFINITY)) {
          over.delete(sessionId);
          continue;
        }
        const { since } = over.get(sessionId) ?? { since: now() };
        over.set(sessionId, { streamId, since });
        if (now() - since < 2 * patienceMs) continue;
        over.delete(sessionId);
        await onRefused(session, 'BITRATE_OVER_PLAN');
        await engine.kick(sessionId, 'kicked');
      }
    },
    isOver: (streamId) =>
      [...over.values()].some((one) => one.streamId === streamId && now() - one.since >= patienceMs),
  };
}
