import type { FastifyRequest } from 'fastify';
import { visitOf } from '../../http/visit.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import type { Arrival, Arrivals } from '../arrivals/index.ts';
import type { Facts } from '../facts/index.ts';
import type { Grant } from './access.rules.ts';
import type { PlaybackSessions } from './playback-sessions.ts';

/** What a page shows, and how its visitor was let in. */
interface Shown {
  id: string;
  workspaceId: string;
  accountId: string;
  grant: Grant | null;
  /** The token that let the visitor in, as a query. */
  suffix: string;
}

/** Whoever is given a page with a player. */
export interface Reception {
  /** Counts the page as an impression. @returns the session for its player. */
  receive(request: FastifyRequest, shown: Shown): Promise<string>;
}

interface Deps {
  arrivals: Arrivals;
  sessions: Pick<PlaybackSessions, 'mint'>;
  facts: Pick<Facts, 'note'>;
  clock: Clock;
  log: Pick<Logger, 'warn'>;
}

export function createReception({ arrivals, sessions, facts, clock, log }: Deps): Reception {
  const note = async (arrival: Arrival, { id, workspaceId }: Shown) => {
    const at = clock.now();
    const viewer = await arrivals.viewerOf(arrival, at);
    facts.note({ kind: 'IMPRESSION', workspaceId, subjectId: id, at, viewer });
  };
  return {
    async receive(request, shown) {
      const visit = visitOf(request);
      const isSelf = await arrivals.isOwner(visit, shown.accountId);
      if (request.method === 'GET' && !isPrefetched(request)) {
        const arrival = arrivals.meet(visit, { workspaceId: shown.workspaceId, isSelf });
        // Beside the page, which is not to wait for it.
        if (!arrival.isBot)
          note(arrival, shown).catch((error: unknown) =>
            log.warn({ err: error }, 'an impression is not counted'),
          );
      }
      const { id, grant, suffix } = shown;
      return sessions.mint({ id, grant, referrer: arrivals.referrerOf(visit), isSelf }, suffix);
    },
  };
}

/** The browser has not been asked to show it yet (https://wicg.github.io/nav-speculation/prefetch.html#sec-purpose-header). */
function isPrefetched({ headers }: FastifyRequest): boolean {
  return [headers['sec-purpose'], headers.purpose, headers['x-moz']].some((value) =>
    /prefetch/.test(String(value)),
  );
}
