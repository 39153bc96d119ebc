import type { Dispatcher } from 'undici';
import { errorCode, GuardError, OutboundError } from './errors.ts';
import type { ConnectionPools, PooledConnection } from './pool.ts';
import type { Target } from './ssrf-guard.ts';
import { withDeadline } from './with-deadline.ts';

export interface StreamRequest {
  url: string;
  headers: Record<string, string>;
  maxRedirects: number;
  /** The longest silence, before the answer and within it. */
  idleMs: number;
  /** Ends the call and the body. */
  signal: AbortSignal;
}

export interface StreamResponse {
  status: number;
  /** Headers by lower-case name. */
  headers: ReadonlyMap<string, string>;
  /** Final URL after redirects. */
  url: string;
  /**
   * Must be read, or given up by `discard`. It throws an OutboundError when the connection breaks before the end
   * that the answer has promised.
   */
  body: AsyncIterable<Uint8Array>;
  discard(): void;
}

interface Deps {
  pools: ConnectionPools;
  /** @throws {GuardError} */
  targetOf(url: string): Target;
  /** @throws {GuardError} @throws {OutboundError} */
  addressesOf(target: Target): Promise<string[]>;
}

const REDIRECTS = [301, 302, 303, 307, 308];
const DNS_MS = 5000;

/** Returns the target of a redirect; null when the response is not a redirect. */
export function redirectTarget(
  answer: { status: number; location: string | null },
  base: string,
): URL | null {
  const { status, location } = answer;
  return REDIRECTS.includes(status) && location !== null ? URL.parse(location, base) : null;
}

export async function openStream(request: StreamRequest, deps: Deps): Promise<StreamResponse> {
  for (let url = request.url, hops = 0; ; hops++) {
    const target = deps.targetOf(url);
    const addresses = await withDeadline(DNS_MS, () => deps.addressesOf(target));
    const answer = await firstThatConnects(deps.pools, target, addresses, request);
    const next = redirectTarget(
      { status: answer.status, location: answer.headers.get('location') ?? null },
      url,
    );
    if (next === null) return { ...answer, url };
    answer.discard();
    if (hops === request.maxRedirects) throw new OutboundError('redirect', 'too many');
    url = next.href;
  }
}

type Answer = Omit<StreamResponse, 'url'>;

async function firstThatConnects(
  pools: ConnectionPools,
  target: Target,
  addresses: string[],
  request: StreamRequest,
): Promise<Answer> {
  let failure: unknown = new OutboundError('dns', 'ENODATA');
  for (const ip of addresses) {
    request.signal.throwIfAborted();
    const lane = await pools.acquire(target.origin, ip, { fresh: true });
    // A new connection: an idle one might be stale, and the transfer of a file justifies a handshake.
    const release = () => pools.release(target.origin, ip, lane, false);
    try {
      return await get(lane, target, request, release);
    } catch (error) {
      release();
      failure = toKnownError(error, request.signal);
      if (!(failure instanceof OutboundError && failure.stage === 'connect')) break;
    }
  }
  throw failure;
}

async function get(
  lane: PooledConnection,
  target: Target,
  { headers, idleMs, signal }: StreamRequest,
  release: () => void,
): Promise<Answer> {
  const response = await lane.client.request({
    method: 'GET',
    path: target.path,
    headers: { Accept: '*/*', 'Accept-Encoding': 'identity', ...headers },
    headersTimeout: idleMs,
    bodyTimeout: idleMs,
    signal,
  });
  const { body } = response;
  // A body that breaks while it is not read would end the process if it had no listener.
  body.on('error', () => {});
  body.once('close', release);
  return {
    status: response.statusCode,
    headers: plain(response.headers),
    body: chunksOf(body, signal),
    discard: () => void body.destroy(),
  };
}

async function* chunksOf(body: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    throw toKnownError(error, signal);
  }
}

/** Returns the reason of the abort when the caller has aborted the request. */
function toKnownError(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof OutboundError || error instanceof GuardError) return error;
  const code = errorCode(error);
  const isLate = code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT';
  return new OutboundError(isLate ? 'timeout' : 'connection', code, error);
}

function plain(headers: Dispatcher.ResponseData['headers']): Map<string, string> {
  return new Map(
    Object.entries(headers).flatMap(([name, value]) => {
      const text = Array.isArray(value) ? value[0] : value;
      return text === undefined ? [] : [[name.toLowerCase(), text] as const];
    }),
  );
}
