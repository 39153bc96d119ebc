import { Agent, get } from 'node:http';

/** Order to the process: which broadcast to watch, number of players, and duration. */
export interface ViewersOptions {
  /** URL of a media playlist. */
  playlist: string;
  count: number;
  seconds: number;
}

/** Results of the players. */
export interface ViewersReport {
  requests: number;
  failures: number;
  parts: number;
  /** Delay of a playlist with a new part after the first player that received it, in milliseconds. */
  p50Ms: number;
  p95Ms: number;
}

/** Time by which all players have connected. */
const SETTLED_MS = 3000;
const agent = new Agent({ keepAlive: true });
/** Time at which the first player saw each part. */
const firstMs = new Map<string, number>();
const delays: number[] = [];
const parts = new Set<string>();
let [requests, failures] = [0, 0];

function read(address: string): Promise<string | null> {
  requests += 1;
  return new Promise((resolve) => {
    const request = get(address, { agent }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () =>
        resolve(answer.statusCode === 200 ? Buffer.concat(chunks).toString('latin1') : null),
      );
    });
    request.on('error', () => resolve(null));
  });
}

/** Returns the query for the next part, and the URI of the newest one. */
function edgeOf(text: string): { query: string; key: string; part: string | null } {
  const first = Number(/MEDIA-SEQUENCE:(\d+)/.exec(text)?.[1] ?? 0);
  const whole = text.match(/^#EXTINF/gm)?.length ?? 0;
  const rest = text.slice(Math.max(0, text.lastIndexOf('#EXTINF')));
  const uris = [...rest.matchAll(/^#EXT-X-PART:.*URI="([^"]+)"/gm)].map(([, uri]) => uri);
  const key = `_HLS_msn=${first + whole}&_HLS_part=${uris.length}`;
  return { query: `?${key}`, key, part: uris.at(-1) ?? null };
}

/** A player of parts: waits for the next one, loads it, and so on. */
async function watch(playlist: string, settledMs: number, untilMs: number): Promise<void> {
  let query = '';
  while (performance.now() < untilMs) {
    const text = await read(playlist + query);
    if (text === null) failures += 1;
    if (text === null) continue;
    const edge = edgeOf(text);
    const nowMs = performance.now();
    const first = firstMs.get(edge.key) ?? nowMs;
    firstMs.set(edge.key, first);
    if (query !== '' && nowMs > settledMs) delays.push(nowMs - first);
    query = edge.query;
    if (edge.part === null) continue;
    parts.add(edge.part);
    if ((await read(new URL(edge.part, playlist).href)) === null) failures += 1;
  }
}

process.once('message', async ({ playlist, count, seconds }: ViewersOptions) => {
  const settledMs = performance.now() + SETTLED_MS;
  const untilMs = settledMs + seconds * 1000;
  await Promise.all(Array.from({ length: count }, () => watch(playlist, settledMs, untilMs)));
  const sorted = delays.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
  const report: ViewersReport = { requests, failures, parts: parts.size, p50Ms: at(0.5), p95Ms: at(0.95) };
  process.send?.(report, () => process.disconnect?.());
});
