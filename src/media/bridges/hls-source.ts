import { createDecipheriv } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { HlsAddress } from '../../kernel/pull-address.ts';
import { type Download, GuardError, OutboundError } from '../../platform/outbound/index.ts';
import { failureOf, PushFailure } from '../restream/failure.ts';
import { ByteBudget } from './byte-budget.ts';
import type { Demux, SourceFormat } from './demuxer.ts';
import {
  chooseVariant,
  type MediaPlaylist,
  type Part,
  PlaylistError,
  parsePlaylist,
  type Segment,
  type SegmentKey,
} from './hls-playlist.ts';
import { type Lane, newLane, type Playout, type Stretch } from './playout.ts';
import type { SourceContext } from './source.ts';

const MAX_PLAYLIST_BYTES = 5 * 2 ** 20;
const MAX_SEGMENT_BYTES = 64 * 2 ** 20;
const MAX_URL = 4096;
const MAX_REDIRECTS = 5;
const PLAYLIST_MS = 10_000;
const MIN_SEGMENT_MS = 10_000;
const MIN_RELOAD_MS = 500;
/** A playlist that does not move for so many target durations has stopped (RFC 8216, 6.2.1 asks for 1.5). */
const STALE_TARGETS = 3;
const MIN_STALE_MS = 10_000;
/** A live playlist is begun so many target durations before its end (section 6.3.3). */
const START_TARGETS = 3;
const RETRY_MS = [500, 1500] as const;
const KEY_BYTES = 16;

/** Plays an HLS playlist (RFC 8216) as it grows, or once from its beginning when it has an end. */
export async function runHls(address: HlsAddress, context: SourceContext): Promise<void> {
  const http = new Fetcher(address, context);
  const { playlist, url } = await http.playlist(address.url);
  const stretches = new Map<number, Stretch>();
  if (playlist.kind === 'media') {
    const playout = context.begin({ aheadMs: 0, tracks: 1 });
    await new HlsTrack({ context, http, playout, stretches, url, first: playlist }).run();
    return playout.drained();
  }
  const variant = worded(() => chooseVariant(playlist, context.grant));
  const urls = [variant.url, ...(variant.audioUrl === null ? [] : [variant.audioUrl])];
  const playout = context.begin({ aheadMs: 0, tracks: urls.length });
  const tracks = urls.map(
    (one) => new HlsTrack({ context, http, playout, stretches, url: one, first: null }),
  );
  await Promise.all(tracks.map((track) => track.run()));
  return playout.drained();
}

function worded<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof PlaylistError)) throw error;
    throw new PushFailure('fatal', `The playlist of the source cannot be used: ${error.message}.`);
  }
}

/** What is asked of the server, each time by the guard, within bounds of size and time. */
class Fetcher {
  readonly #address: HlsAddress;
  readonly #context: SourceContext;
  readonly #origin: string;
  readonly #keys = new Map<string, Buffer>();
  readonly #budget: ByteBudget;

  constructor(address: HlsAddress, context: SourceContext) {
    this.#address = address;
    this.#context = context;
    this.#origin = new URL(address.url).origin;
    this.#budget = new ByteBudget(context.grant);
  }

  async playlist(url: string) {
    const answer = await this.#again(() => this.#get({ url, range: null }, MAX_PLAYLIST_BYTES, PLAYLIST_MS));
    const playlist = worded(() => parsePlaylist(answer.bytes.toString('utf8'), answer.url));
    return { playlist, url };
  }

  async part(part: Part, timeoutMs: number): Promise<Buffer> {
    const answer = await this.#again(() => this.#get(part, MAX_SEGMENT_BYTES, timeoutMs));
    const { range } = part;
    // Not every server knows ranges.
    const isWhole = range !== null && answer.status === 200;
    return isWhole ? answer.bytes.subarray(range.offset, range.offset + range.length) : answer.bytes;
  }

  async decrypted(bytes: Buffer, { url, iv }: SegmentKey, sequence: number): Promise<Buffer> {
    let key = this.#keys.get(url);
    if (key === undefined) {
      key = await this.part({ url, range: null }, PLAYLIST_MS);
      if (key.length !== KEY_BYTES) throw new PushFailure('normal', 'The source gives a key that is none.');
      this.#keys.clear();
      this.#keys.set(url, key);
    }
    const counter = Buffer.alloc(KEY_BYTES);
    counter.writeBigUInt64BE(BigInt(sequence), 8);
    try {
      const cipher = createDecipheriv('aes-128-cbc', key, iv ?? counter);
      return Buffer.concat([cipher.update(bytes), cipher.final()]);
    } catch {
      throw new PushFailure('normal', 'A segment of the source cannot be decrypted with its key.');
    }
  }

  /** A fault that may pass is tried again at once; a refusal is not. */
  async #again<T>(work: () => Promise<T>): Promise<T> {
    const { signal } = this.#context;
    for (const waitMs of RETRY_MS) {
      try {
        return await work();
      } catch (error) {
        const isRing = error instanceof OutboundError && error.stage === 'redirect';
        const isFinal = isRing || error instanceof GuardError || failureOf(error, 'source').kind !== 'normal';
        if (isFinal || signal.aborted) throw error;
        await delay(waitMs, null, { signal });
      }
    }
    return work();
  }

  async #get({ url, range }: Part, maxBytes: number, timeoutMs: number): Promise<Download> {
    const { outbound, signal } = this.#context;
    const waitMs = this.#budget.take(0);
    if (waitMs > 0) await delay(waitMs, null, { signal });
    const answer = await outbound.download({
      url,
      headers: this.#headers(url, range),
      timeoutMs,
      maxBytes,
      maxRedirects: MAX_REDIRECTS,
      sameHost: false,
      maxLength: MAX_URL,
      signal,
    });
    const { status, complete, bytes } = answer;
    this.#budget.take(bytes.length);
    if (status === 401 || status === 403) {
      throw new PushFailure('refused', `The source refuses access (${status}).`);
    }
    if (status !== 200 && status !== 206) throw new PushFailure('normal', `The source answers ${status}.`);
    if (!complete) {
      throw new PushFailure('normal', 'The source sends too slowly, breaks off, or sends too large a file.');
    }
    return answer;
  }

  #headers(url: string, range: Part['range']): Record<string, string> {
    const { credentials } = this.#address;
    const isHome = URL.parse(url)?.origin === this.#origin;
    const pair = credentials === null ? '' : `${credentials.user}:${credentials.password}`;
    return {
      Accept: '*/*',
      'User-Agent': 'Marquee',
      ...(range === null ? {} : { Range: `bytes=${range.offset}-${range.offset + range.length - 1}` }),
      ...(credentials !== null && isHome
        ? { Authorization: `Basic ${Buffer.from(pair).toString('base64')}` }
        : {}),
    };
  }
}

interface TrackOptions {
  context: SourceContext;
  http: Fetcher;
  playout: Playout;
  /** By era, of all tracks. */
  stretches: Map<number, Stretch>;
  url: string;
  first: MediaPlaylist | null;
}

/** One media playlist, from its loads to the frames. */
class HlsTrack {
  readonly #options: TrackOptions;
  readonly #lane: Lane = newLane();
  #demux: Demux | null = null;
  /** What the running demuxer was begun with. */
  #era = 0;
  #map: Part | null = null;
  #next: number | null = null;
  #grewMs = performance.now();

  constructor(options: TrackOptions) {
    this.#options = options;
  }

  async run(): Promise<void> {
    const { context, first } = this.#options;
    const { signal } = context;
    try {
      let playlist = first ?? (await this.#load());
      for (let loadedMs = performance.now(); !signal.aborted; loadedMs = performance.now()) {
        const hasGrown = await this.#take(playlist);
        if (playlist.isEnded) break;
        const targetMs = playlist.targetDurationSec * 1000;
        const passedMs = performance.now() - loadedMs;
        const waitMs = Math.max(MIN_RELOAD_MS, (hasGrown ? targetMs : targetMs / 2) - passedMs);
        await delay(waitMs, null, { signal });
        playlist = await this.#load();
      }
      await this.#demux?.end();
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      await this.#demux?.stop();
    }
  }

  async #load(): Promise<MediaPlaylist> {
    const { playlist } = await this.#options.http.playlist(this.#options.url);
    if (playlist.kind === 'media') return playlist;
    throw new PushFailure('fatal', 'The playlist of the source cannot be used: a list of lists of lists.');
  }

  /** @returns whether there was something new. */
  async #take(playlist: MediaPlaylist): Promise<boolean> {
    const { context, playout } = this.#options;
    const targetMs = playlist.targetDurationSec * 1000;
    const fresh = this.#fresh(playlist);
    if (fresh.length === 0 && !playlist.isEnded) {
      const staleMs = Math.max(MIN_STALE_MS, STALE_TARGETS * targetMs);
      const quietMs = performance.now() - this.#grewMs;
      if (quietMs > staleMs) {
        const message = `The playlist of the source has had nothing new for ${Math.round(quietMs / 1000)} seconds.`;
        throw new PushFailure('normal', message);
      }
      return false;
    }
    for (const segment of fresh) {
      // One portion ahead, so that a slow answer is no gap.
      await playout.room(this.#lane, targetMs);
      if (context.signal.aborted) return true;
      await this.#segment(segment, targetMs);
      this.#next = segment.sequence + 1;
      this.#grewMs = performance.now();
    }
    return true;
  }

  #fresh({ segments, isEnded, targetDurationSec }: MediaPlaylist): Segment[] {
    const last = segments.at(-1);
    // It counts anew: the server has begun again.
    const isAnew = this.#next !== null && last !== undefined && last.sequence + 1 < this.#next;
    if (this.#next !== null && !isAnew) {
      const next = this.#next;
      return segments.filter(({ sequence }) => sequence >= next);
    }
    if (isEnded) return segments;
    let heldSec = 0;
    const at = segments.findLastIndex(({ durationSec }) => {
      heldSec += durationSec;
      return heldSec >= START_TARGETS * targetDurationSec;
    });
    return segments.slice(Math.max(0, at));
  }

  async #segment(segment: Segment, targetMs: number): Promise<void> {
    const { http } = this.#options;
    const timeoutMs = Math.max(MIN_SEGMENT_MS, 3 * targetMs);
    const bytes = await http.part(segment, timeoutMs);
    const plain = segment.key === null ? bytes : await http.decrypted(bytes, segment.key, segment.sequence);
    const isOther = segment.era !== this.#era || !samePart(segment.map, this.#map);
    if (this.#demux !== null && isOther) {
      await this.#demux.end();
      this.#demux = null;
    }
    this.#demux ??= await this.#begin(segment, plain, timeoutMs);
    await this.#demux.write(plain);
  }

  async #begin(segment: Segment, plain: Buffer, timeoutMs: number): Promise<Demux> {
    const { context, http, playout, stretches } = this.#options;
    const { era, map } = segment;
    const stretch = stretches.get(era) ?? { shift: null };
    stretches.set(era, stretch);
    const header = map === null ? null : await http.part(map, timeoutMs);
    const format = map === null ? formatOf(plain) : 'mp4';
    this.#era = era;
    this.#map = map;
    const demux = await context.demuxer(
      format,
      (tag) => playout.tag(this.#lane, stretch, tag),
      () => playout.flush(),
    );
    if (header !== null) await demux.write(header);
    return demux;
  }
}

function samePart(a: Part | null, b: Part | null): boolean {
  return a?.url === b?.url && a?.range?.offset === b?.range?.offset;
}

const SYNC = 0x47;
const TS_PACKET = 188;

/** @throws {PushFailure} for what is none of the forms of segments (RFC 8216, section 3). */
function formatOf(bytes: Buffer): SourceFormat {
  if (bytes[0] === SYNC && (bytes.length <= TS_PACKET || bytes[TS_PACKET] === SYNC)) return 'mpegts';
  if (['ftyp', 'styp', 'moof', 'sidx', 'emsg'].includes(bytes.toString('latin1', 4, 8))) return 'mp4';
  const isTagged = bytes.toString('latin1', 0, 3) === 'ID3';
  if (isTagged || (bytes[0] === 0xff && ((bytes[1] ?? 0) & 0xf6) === 0xf0)) return 'aac';
  throw new PushFailure('normal', 'The segments of the source are neither MPEG-TS nor fragmented MP4.');
}
