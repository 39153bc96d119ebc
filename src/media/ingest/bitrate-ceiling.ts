import type { IngestEngine, IngestSession, RejectionIssue } from '../contract/index.ts';

interface Options {
  engine: Pick<IngestEngine, 'list' | 'stats' | 'kick'>;
  onRefused(session: IngestSession, issue: RejectionIssue): Promise<void>;
  /** Time with an excessive bitrate before the warning, and again before the end; ten seconds. */
  patienceMs?: number;
  /** Returns the milliseconds of a monotonic clock. */
  now?: () => number;
}

/** Time above the grant after which a publisher is warned; after as long again it is disconnected. */
const PATIENCE_MS = 10_000;

/** The ceiling of what encoders send (docs/decisions/plans.md). */
export interface BitrateCeiling {
  /** Looks at every publish; to be called each second. */
  check(): Promise<void>;
  /** Reports whether a warning is due for the publish of this stream. */
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
