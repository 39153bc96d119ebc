/** What an address of a broadcast says: it is on, it is not (yet, or any more), or nobody knows. */
export type Availability = 'live' | 'offline' | 'unreachable';

const TIMEOUT_MS = 8000;
const NOT_LIVE: ReadonlySet<number> = new Set([401, 403, 404, 410]);

/** Asks for the head of the master playlist, which exists exactly while the broadcast is live. */
export async function probe(src: string): Promise<Availability> {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const answer = await fetch(src, { method: 'HEAD', cache: 'no-store', signal });
    if (answer.ok) return 'live';
    return NOT_LIVE.has(answer.status) ? 'offline' : 'unreachable';
  } catch {
    return 'unreachable';
  }
}
