import type { FastifyRequest } from 'fastify';
import { clientInfoOf } from '../../../http/client-info.ts';
import type { Clock } from '../../../kernel/clock.ts';
import type { Logger } from '../../../platform/logger.ts';
import type { UsageEvents } from '../../insight/usage-events/index.ts';
import type { ViewerFingerprint, ViewerFingerprints } from '../viewer-fingerprints/index.ts';
import type { Grant } from './access.rules.ts';
import { unlessUnavailable } from './last-known.ts';
import type { PlaybackSessions } from './playback-sessions.ts';

/** Media of a page, and the grant that admitted its visitor. */
interface PageContext {
  id: string;
  workspaceId: string;
  accountId: string;
  grant: Grant | null;
  /** Token that admitted the visitor, as a query string. */
  suffix: string;
}

/** Recorder of visitors who get a page with a player. */
export interface Impressions {
  /** Records the page as an impression. @returns the session for its player. */
  recordImpression(request: FastifyRequest, shown: PageContext): Promise<string>;
}

interface Deps {
  arrivals: ViewerFingerprints;
  sessions: Pick<PlaybackSessions, 'mint'>;
  facts: Pick<UsageEvents, 'record'>;
  clock: Clock;
  log: Pick<Logger, 'warn'>;
}

export function createImpressions({ arrivals, sessions, facts, clock, log }: Deps): Impressions {
  const note = async (arrival: ViewerFingerprint, { id, workspaceId }: PageContext) => {
    const at = clock.now();
    const viewer = await arrivals.viewerOf(arrival, at);
    facts.record({ kind: 'IMPRESSION', workspaceId, subjectId: id, at, viewer });
  };
  return {
    async recordImpression(request, shown) {
      const visit = clientInfoOf(request);
      const isSelf = (await unlessUnavailable(arrivals.isOwner(visit, shown.accountId))) ?? false;
      if (request.method === 'GET' && !isPrefetched(request)) {
        const arrival = arrivals.fingerprint(visit, { workspaceId: shown.workspaceId, isSelf });
        // Runs in the background, so that the page does not wait.
        if (!arrival.isBot)
          note(arrival, shown).catch((error: unknown) =>
            log.warn({ err: error }, 'an impression could not be counted'),
          );
      }
      const { id, grant, suffix } = shown;
      return sessions.mint({ id, grant, referrer: arrivals.referrerOf(visit), isSelf }, suffix);
    },
  };
}

/**
 * Reports whether the page is only prefetched
 * (https://wicg.github.io/nav-speculation/prefetch.html#sec-purpose-header).
 */
function isPrefetched({ headers }: FastifyRequest): boolean {
  return [headers['sec-purpose'], headers.purpose, headers['x-moz']].some((value) =>
    /prefetch/.test(String(value)),
  );
}
