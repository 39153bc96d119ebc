import type { Dispatcher } from 'undici';
import { memoize } from '../../kernel/cache.ts';
import { createDialer, type Dialer, type DialerOptions } from './dialer.ts';
import { errorCode, GuardError, OutboundError } from './errors.ts';
import {
  type ConnectionPools,
  createConnectionPools,
  type PooledConnection,
  type PoolOptions,
} from './pool.ts';
import { type AllowList, parseTarget, type Target, type UrlRules } from './ssrf-guard.ts';
import { openStream, redirectTarget, type StreamRequest, type StreamResponse } from './stream.ts';
import { withDeadline } from './with-deadline.ts';

export interface OutboundRequest {
  url: string;
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  body?: string;
  /** For everything together: resolving, connecting, sending and the answer. */
  timeoutMs: number;
}

export interface OutboundResponse {
  status: number;
  /** The first 16 KiB as text, with NUL and malformed UTF-8 replaced by U+FFFD. Never decompressed. */
  body: string;
  /** Time from the call to the status line. */
  latencyMs: number;
}

export interface DownloadRequest {
  url: string;
  headers: Record<string, string>;
  /** Timeout of the whole request, including redirects. */
  timeoutMs: number;
  /** A longer answer is cut here. */
  maxBytes: number;
  maxRedirects: number;
  /** Redirects stay on the host and port of the first address. */
  sameHost: boolean;
  /** Plain `http:` is allowed too. */
  http?: boolean;
  /** Maximum length of the URL, in characters; default 2048. */
  maxLength?: number;
  /** Ends the call, which fails with its reason. */
  signal?: AbortSignal;
}

export interface Download {
  status: number;
  /** Final URL after redirects. */
  url: string;
  /** Never decompressed. */
  bytes: Buffer;
  /** The whole answer came and fitted. */
  complete: boolean;
}

/** The only way to an address that a user gave (docs/decisions/outbound-requests.md). */
export interface Outbound extends Dialer {
  /**
   * For registration: refuses only on evidence, so a name that does not resolve now passes.
   *
   * @throws {GuardError} whose `reason` may be shown to the caller.
   */
  checkUrl(url: string, rules?: UrlRules): Promise<void>;
  /**
   * One HTTPS exchange with the guard in front of it. Redirects are not followed. An answer whose body does
   * not end in time counts, with as much body as came.
   *
   * @throws {GuardError} when the target must not be dialled.
   * @throws {OutboundError} when no answer came.
   */
  request(request: OutboundRequest): Promise<OutboundResponse>;
  /**
   * Sends a GET that follows redirects, each of them checked; another origin gets no `Authorization`.
   *
   * @throws {GuardError} when an address on the way must not be dialed.
   * @throws {OutboundError} when no response arrived, or there were too many redirects.
   */
  download(request: DownloadRequest): Promise<Download>;
  /**
   * Sends a GET for a file of any length, by `https:` or `http:`, that follows redirects, each of them
   * checked. The timeout applies to the time without a byte. The body is never decompressed.
   *
   * @throws {GuardError} when an address on the way must not be dialed.
   * @throws {OutboundError} when no response arrived, or there were too many redirects.
   */
  stream(request: StreamRequest): Promise<StreamResponse>;
  /** Sent with every request that names no other; for other protocols that have such a header. */
  userAgent: string;
  close(): Promise<void>;
}

export interface OutboundOptions extends PoolOptions, DialerOptions {
  /** User agent; default: the name of the program. */
  userAgent?: string;
}

const MAX_BODY_BYTES = 16 * 1024;
/** A longer body costs the connection; up to here it is read to its end so that the connection stays. */
const READ_BYTES = 64 * 1024;
const CHECK_DNS_MS = 2000;
/** Addresses that `request` has read lately: the same few are sent to over and over. */
const TARGETS = 1000;
/** Presigned addresses are long. */
export const STREAM_URL_LENGTH = 4096;
/** A stale kept-alive connection fails within a round trip; a later reset is the receiver's own doing. */
const STALE_MS = 1000;
const STALE_CODES = ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'];

/** @throws {Error} when an entry of `allowPrivate` is neither a CIDR nor a name. */
export function createOutbound(options: OutboundOptions): Outbound {
  const dialer = createDialer(options);
  const { allow, addressesOf } = dialer;
  const pools = createConnectionPools(options);
  const targetOf = memoize(TARGETS, (url) => parseTarget(url, allow));
  const { userAgent = 'Marquee' } = options;
  const identified = <R extends { headers: Record<string, string> }>(request: R): R => ({
    ...request,
    headers: { 'User-Agent': userAgent, ...request.headers },
  });

  return {
    userAgent,
    async checkUrl(url, rules) {
      const target = parseTarget(url, allow, rules);
      try {
        await withDeadline(CHECK_DNS_MS, () => addressesOf(target));
      } catch (error) {
        if (!(error instanceof OutboundError)) throw error;
      }
    },
    request: (request) =>
      withDeadline(request.timeoutMs, async (deadline) => {
        const startedAt = performance.now();
        const target = targetOf(request.url);
        const addresses = await addressesOf(target);
        const { status, body } = await exchange(pools, target, addresses, identified(request), deadline);
        return { status, body: body.text(), latencyMs: Math.round(body.startedAt - startedAt) };
      }),
    download: (request) =>
      withDeadline(request.timeoutMs, (deadline) =>
        download(identified(request), deadline, { pools, allow, addressesOf }),
      ),
    stream: (request) =>
      openStream(identified(request), {
        pools,
        targetOf: (url) => parseTarget(url, allow, { maxLength: STREAM_URL_LENGTH, http: true }),
        addressesOf,
      }),
    connect: dialer.connect,
    datagrams: dialer.datagrams,
    close: async () => {
      dialer.close();
      await pools.close();
    },
  };
}

interface DownloadDeps {
  pools: ConnectionPools;
  allow: AllowList;
  addressesOf(target: Target): Promise<string[]>;
}

async function download(
  request: DownloadRequest,
  deadline: AbortSignal,
  deps: DownloadDeps,
): Promise<Download> {
  const { headers, maxBytes, http = false, maxLength, signal, sameHost, maxRedirects } = request;
  const end = signal === undefined ? deadline : AbortSignal.any([deadline, signal]);
  const { Authorization: _, ...strangers } = headers;
  let first = '';
  for (let url = request.url, hops = 0; ; hops++) {
    const target = parseTarget(url, deps.allow, { http, ...(maxLength === undefined ? {} : { maxLength }) });
    if (hops === 0) first = target.origin;
    const addresses = await deps.addressesOf(target);
    const sent = target.origin === first ? headers : strangers;
    const get: Exchange = { method: 'GET', headers: sent, keptBytes: maxBytes };
    const answer = await exchange(deps.pools, target, addresses, get, end);
    const next = redirectTarget(answer, url);
    if (next === null) return { ...answer.body.toDownload(answer.status), url };
    if (hops === maxRedirects) throw new OutboundError('redirect', 'too many');
    if (sameHost && next.origin !== target.origin) throw new OutboundError('redirect', 'to another host');
    url = next.href;
  }
}

/** A request, and the number of response bytes to keep. */
interface Exchange extends Pick<OutboundRequest, 'method' | 'headers' | 'body'> {
  keptBytes?: number;
}

interface Answer {
  status: number;
  location: string | null;
  body: CapturedBody;
}

/** Tries the addresses in turn until one accepts a connection. */
async function exchange(
  pools: ConnectionPools,
  target: Target,
  addresses: string[],
  request: Exchange,
  deadline: AbortSignal,
): Promise<Answer> {
  // A kept-alive connection beats the order of the answer, which name servers rotate.
  const isKept = (ip: string) => Number(pools.has(target.origin, ip));
  const ordered = addresses.length > 1 ? addresses.toSorted((a, b) => isKept(b) - isKept(a)) : addresses;
  let failure: unknown = null;
  for (const ip of ordered) {
    try {
      return await sendTo(pools, target, ip, request, deadline);
    } catch (error) {
      failure = error;
      if (!(error instanceof OutboundError && error.stage === 'connect')) throw error;
    }
  }
  throw failure ?? new OutboundError('dns', 'ENODATA');
}

/**
 * Sends to one address. When a reused connection turns out to be stale, resends once over a new one: without
 * it 7 % of deliveries to receivers that close idle connections failed
 * (docs/decisions/outbound-requests.md#pinned-connections).
 */
async function sendTo(
  pools: ConnectionPools,
  target: Target,
  ip: string,
  request: Exchange,
  deadline: AbortSignal,
): Promise<Answer> {
  for (let fresh = false; ; fresh = true) {
    deadline.throwIfAborted();
    const lane = await pools.acquire(target.origin, ip, { fresh });
    const sentAt = performance.now();
    const connects = lane.connects();
    try {
      const answer = await send(lane, target, request, deadline);
      pools.release(target.origin, ip, lane, answer.body.complete);
      return answer;
    } catch (error) {
      pools.release(target.origin, ip, lane, false);
      const reused = connects > 0 && lane.connects() === connects;
      const fast = performance.now() - sentAt < STALE_MS;
      const stale = reused && fast && STALE_CODES.includes(errorCode(error)) && !deadline.aborted;
      if (!stale) throw asOutboundError(error);
    }
  }
}

function asOutboundError(error: unknown): unknown {
  if (error instanceof OutboundError || error instanceof GuardError) return error;
  return new OutboundError('connection', errorCode(error), error);
}

/** One request over one lane; resolves when the body ended, was long enough, or was cut off. */
function send(
  lane: PooledConnection,
  target: Target,
  request: Exchange,
  deadline: AbortSignal,
): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const { keptBytes = MAX_BODY_BYTES } = request;
  const body = new CapturedBody(keptBytes);
  let answer: Answer | null = null;
  const settle = (failure?: unknown) => {
    deadline.removeEventListener('abort', cut);
    if (answer === null) reject(failure);
    else resolve(answer);
  };
  const cut = () => {
    settle(deadline.reason);
    void lane.client.destroy();
  };
  const handler: Dispatcher.DispatchHandler = {
    // Required by undici; the abort it offers is not needed, because the lane is ours to destroy.
    onRequestStart() {},
    onResponseStart(_controller, status, headers) {
      // Interim answers (1xx) come before the real one.
      if (status < 200) return;
      body.startedAt = performance.now();
      answer = { status, body, location: typeof headers.location === 'string' ? headers.location : null };
    },
    onResponseData(controller, chunk) {
      body.add(chunk);
      if (body.size <= Math.max(READ_BYTES, keptBytes)) return;
      settle();
      controller.abort(new Error('the response exceeds the size limit'));
    },
    onResponseEnd() {
      body.complete = true;
      settle();
    },
    onResponseError(_controller, error) {
      settle(error);
    },
  };
  deadline.addEventListener('abort', cut, { once: true });
  lane.client.dispatch(
    {
      origin: target.origin,
      path: target.path,
      method: request.method,
      headers: request.headers,
      body: request.body ?? null,
    },
    handler,
  );
  return promise;
}

class CapturedBody {
  /** `performance.now()` of the status line. */
  startedAt = 0;
  /** The whole body was read, so the connection can carry another request. */
  complete = false;
  size = 0;
  readonly #limit: number;
  #kept: Buffer[] = [];
  #keptBytes = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(chunk: Buffer): void {
    this.size += chunk.length;
    const room = this.#limit - this.#keptBytes;
    if (room <= 0) return;
    // A copy: a slice would keep the parser's larger buffer alive.
    const part = Buffer.from(chunk.subarray(0, room));
    this.#kept.push(part);
    this.#keptBytes += part.length;
  }

  toDownload(status: number): Omit<Download, 'url'> {
    const whole = this.complete && this.size === this.#keptBytes;
    return { status, bytes: Buffer.concat(this.#kept), complete: whole };
  }

  /**
   * PostgreSQL refuses U+0000 in text, and one bad row would fail a whole batch
   * (docs/decisions/outbound-requests.md#error-messages).
   */
  text(): string {
    if (this.#keptBytes === 0) return '';
    const cut = this.size > this.#keptBytes || !this.complete;
    // `stream` drops a character that the cut went through instead of replacing it.
    return new TextDecoder().decode(Buffer.concat(this.#kept), { stream: cut }).replaceAll('\0', '\uFFFD');
  }
}
