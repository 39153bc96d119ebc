/** Result of a probe of a broadcast: live, offline (not started or ended), or unreachable. */
export type Availability = 'live' | 'offline' | 'unreachable';

const TIMEOUT_MS = 8000;
const NOT_LIVE: ReadonlySet<number> = new Set([401, 403, 404, 410]);

/**
 * Sends a HEAD request for the master playlist: while the broadcast is offline, it is missing or redirects to
 * the recording.
 */
export async function probe(src: string): Promise<Availability> {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const answer = await fetch(src, { method: 'HEAD', cache: 'no-store', redirect: 'manual', signal });
    if (answer.ok) return 'live';
    if (answer.type === 'opaqueredirect') return 'offline';
    return NOT_LIVE.has(answer.status) ? 'offline' : 'unreachable';
  } catch {
    return 'unreachable';
  }
}
