import type { Clock } from '../../kernel/clock.ts';
import type { Secrets } from '../../platform/secrets.ts';

/** Of requests between nodes: under a key of its own, derived from the `SECRET_KEY` that all of them have. */
const PURPOSE = 'live streams between nodes';
const SCHEME = 'Marquee ';
/** As far may the clocks of two nodes be apart; a request that was overheard is good for no longer. */
const SKEW_MS = 120_000;

interface Signed {
  /** Of the node that is asked: the request is good for no other. */
  nodeId: string;
  /** With its query. */
  path: string;
}

/** The value of the `Authorization` header. */
export function signRequest(secrets: Pick<Secrets, 'sign'>, clock: Clock, request: Signed): string {
  const atMs = clock.ms();
  return `${SCHEME}${atMs}.${secrets.sign(PURPOSE, textOf(request, atMs))}`;
}

export function isSigned(
  secrets: Pick<Secrets, 'verify'>,
  clock: Clock,
  request: Signed & { authorization: string | undefined },
): boolean {
  const given = /^Marquee (\d{1,15})\.([\w-]{1,100})$/.exec(request.authorization ?? '');
  const [atMs, signature = ''] = [Number(given?.[1]), given?.[2]];
  if (given === null || Math.abs(clock.ms() - atMs) > SKEW_MS) return false;
  return secrets.verify(PURPOSE, textOf(request, atMs), signature);
}

function textOf({ nodeId, path }: Signed, atMs: number): string {
  return `${nodeId}\n${path}\n${atMs}`;
}
