import type { Clock } from '../../kernel/clock.ts';
import type { Secrets } from '../../platform/secrets.ts';

/** Purpose of the key for requests between nodes, derived from the `SECRET_KEY` they share. */
const PURPOSE = 'live streams between nodes';
const SCHEME = 'Marquee ';
/** Clock difference accepted between two nodes; also limits the validity of an intercepted request. */
const SKEW_MS = 120_000;

interface Signed {
  /** Node for which the request is valid. */
  nodeId: string;
  /** Path including the query. */
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
