import type { Clock } from '../../kernel/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import type { Secrets } from '../../platform/secrets.ts';
import { MediaNodeUnavailableError } from '../contract/index.ts';
import type { LiveRequestKind } from './protocol.ts';
import { signRequest } from './signature.ts';

/** Address at which a media node listens for the others, as it announced it in the database. */
export interface NodeAddress {
  nodeId: string;
  /** URL without a trailing slash. */
  url: string;
}

export interface NodeClientOptions {
  secrets: Pick<Secrets, 'sign'>;
  clock: Clock;
  log: Logger;
  /** Called for each request. */
  onAsked?: (kind: LiveRequestKind, outcome: Outcome) => void;
}

export type Outcome = 'answered' | 'missing' | 'away';

export interface NodeClient {
  /**
   * @param use reads the response, while the request counts as active.
   * @returns null when the node does not have the resource.
   * @throws {MediaNodeUnavailableError}
   */
  ask<T>(request: NodeRequestOptions, use: (answer: Response) => Promise<T>): Promise<T | null>;
}

interface NodeRequestOptions {
  node: NodeAddress;
  kind: LiveRequestKind;
  path: string;
  signal: AbortSignal;
}

/** Interval between log entries about an unreachable node. */
const WARN_MS = 60_000;

export function createNodeClient(options: NodeClientOptions): NodeClient {
  const warnedMs = new Map<string, number>();
  const warn = (node: NodeAddress, error: MediaNodeUnavailableError) => {
    const now = performance.now();
    if (now - (warnedMs.get(node.nodeId) ?? Number.NEGATIVE_INFINITY) < WARN_MS) return;
    warnedMs.set(node.nodeId, now);
    options.log.warn({ err: error, node }, 'cannot read the live streams of a media node');
  };
  return {
    async ask(request, use) {
      const { kind, node, signal } = request;
      try {
        const answer = await send(options, request);
        const found = answer === null ? null : await use(answer);
        options.onAsked?.(kind, found === null ? 'missing' : 'answered');
        return found;
      } catch (error) {
        // The request was abandoned.
        if (signal.aborted && signal.reason === REQUEST_ABANDONED) return null;
        const away =
          error instanceof MediaNodeUnavailableError
            ? error
            : new MediaNodeUnavailableError(`${node.url} does not respond`, { cause: error });
        options.onAsked?.(kind, 'away');
        warn(node, away);
        throw away;
      }
    },
  };
}

/** Abort reason of a request whose result is no longer needed. */
export const REQUEST_ABANDONED = 'not wanted';

async function send(
  { secrets, clock }: NodeClientOptions,
  { node: { nodeId, url }, path, signal }: NodeRequestOptions,
): Promise<Response | null> {
  const authorization = signRequest(secrets, clock, { nodeId, path });
  const answer = await fetch(url + path, { headers: { authorization }, signal, redirect: 'error' });
  if (answer.status === 200) return answer;
  await answer.body?.cancel();
  if (answer.status === 404) return null;
  const why = answer.status === 401 ? ': its SECRET_KEY or clock differs' : '';
  throw new MediaNodeUnavailableError(`${url} returned ${answer.status}${why}`);
}
