import { createDecipheriv } from 'node:crypto';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import type { HlsUrl } from '../../kernel/pull-url.ts';
import { type Download, GuardError, OutboundError } from '../../platform/outbound/index.ts';
import { timeRead } from '../longest-read.ts';
import {
  type ByteRange,
  chooseVariant,
  type MasterPlaylist,
  type MediaPlaylist,
  type Part,
  PlaylistError,
  parsePlaylist,
  resolveUri,
  type Segment,
} from '../protocols/hls/playlist.ts';
import { READ_BUDGETS, ReadMeter } from '../read-budget.ts';
import { PushError, toPushError } from '../restream/failure.ts';
import type { Demux, SourceFormat } from './demuxer.ts';
import { planBudget } from './paced-socket.ts';
import { createPlayoutTrack, type Playout, type PlayoutSegment, type PlayoutTrack } from './playout.ts';
import type { SourceContext } from './source.ts';

const MAX_SEGMENT_BYTES = 64 * 2 ** 20;
const MAX_URL = 4096;
const MAX_REDIRECTS = 5;
const MIN_SEGMENT_MS = 10_000;
const MIN_RELOAD_MS = 500;
/** A playlist is parsed at most a tenth of the time. */
const PARSE_FACTOR = 10;
/** Programs that may be started in a minute because the media changes its times or coding. */
const MAX_RESTARTS = 6;
const RESTART_WINDOW_MS = 60_000;
/** Bytes decrypted before other connections get their turn. */
const DECRYPT_SLICE_BYTES = 2 ** 20;
/** Target durations after which an unchanged playlist counts as stopped (RFC 8216, 6.2.1 asks for 1.5). */
const STALE_TARGETS = 3;
const MIN_STALE_MS = 10_000;
/** Target durations before the end of a live playlist at which playback starts (section 6.3.3). */
const START_TARGETS = 3;
const RETRY_MS = [500, 1500] as const;
const KEY_BYTES = 16;

/** Plays an HLS playlist (RFC 8216) as it grows, or once from its beginning when it has an end. */
export async function runHls(address: HlsUrl, context: SourceContext): Promise<void> {
  const http = new Fetcher(address, context);
  const { playlist, base, parseMs } = await http.playlist(address.url);
  const stretches = new Map<number, PlayoutSegment>();
  if (playlist.kind === 'media') {
    const playout = context.begin({ aheadMs: 0, tracks: 1 });
    const first = { playlist, base, parseMs };
    await new HlsTrack({ context, http, playout, stretches, url: address.url, first }).run();
    return playout.drained();
  }
  const { uri, audioUri } = worded(() => chooseVariant(playlist, context.grant));
  const urls = worded(() =>
    [uri, ...(audioUri === null ? [] : [audioUri])].map((one) => resolveUri(one, base)),
  );
  const playout = context.begin({ aheadMs: 0, tracks: urls.length });
  const tracks = urls.map((url) => new HlsTrack({ context, http, playout, stretches, url, first: null }));
  await Promise.all(tracks.map((track) => track.run()));
  return playout.drained();
}

/** Returns how long to wait before a playlist is loaded again (RFC 8216, section 6.3.4). */
export function reloadDelayMs({
  targetMs,
  hasGrown,
  passedMs,
  parseMs,
}: {
  targetMs: number;
  hasGrown: boolean;
  /** Since it was loaded. */
  passedMs: number;
  /** Parse time. */
  parseMs: number;
}): number {
  return Math.max(MIN_RELOAD_MS, (hasGrown ? targetMs : targetMs / 2) - passedMs, PARSE_FACTOR * parseMs);
}

function worded<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof PlaylistError)) throw error;
    throw new PushError('fatal', `The playlist of the source cannot be used: ${error.message}.`);
  }
}

/** Parsed playlist with the data needed to follow it. */
interface Loaded<T extends MasterPlaylist | MediaPlaylist> {
  playlist: T;
  /** Its URL after all redirects, the base of the relative URLs in it. */
  base: string;
  parseMs: number;
}

/** Resource to request. */
interface Target {
  url: string;
  range: ByteRange | null;
}

const targetOf = ({ uri, range }: Part, base: string): Target => ({
  url: worded(() => resolveUri(uri, base)),
  range,
});

/** HTTP client of one source: every request passes the guard and is limited in size and time. */
class Fetcher {
  readonly #address: HlsUrl;
  readonly #context: SourceContext;
  readonly #origin: string;
  readonly #keys = new Map<string, Buffer>();
  readonly #meter: ReadMeter;

  constructor(address: HlsUrl, context: SourceContext) {
    this.#address = address;
    this.#context = context;
    this.#origin = new URL(address.url).origin;
    this.#meter = new ReadMeter(planBudget(READ_BUDGETS.hlsFetch, context.grant));
  }

  async playlist(url: string): Promise<Loaded<MasterPlaylist | MediaPlaylist>> {
    const { bytes: maxBytes, ms } = READ_BUDGETS.hlsPlaylist;
    const answer = await this.#again(() => this.#get({ url, range: null }, maxBytes, ms));
    const startedMs = performance.now();
    const playlist = timeRead(
      () => `HLS source ${new URL(answer.url).host}`,
      () => worded(() => parsePlaylist(answer.bytes.toString('utf8'))),
    );
    return { playlist, base: answer.url, parseMs: performance.now() - startedMs };
  }

  async part(target: Target, timeoutMs: number): Promise<Buffer> {
    const answer = await this.#again(() => this.#get(target, MAX_SEGMENT_BYTES, timeoutMs));
    const { range } = target;
    // Not every server knows ranges.
    const isWhole = range !== null && answer.status === 200;
    return isWhole ? answer.bytes.subarray(range.offset, range.offset + range.length) : answer.bytes;
  }

  /** The bytes of a segment, decrypted. */
  async segment({ key, sequence, ...part }: Segment, base: string, timeoutMs: number): Promise<Buffer> {
    const bytes = await this.part(targetOf(part, base), timeoutMs);
    if (key === null) return bytes;
    const counter = Buffer.alloc(KEY_BYTES);
    counter.writeBigUInt64BE(BigInt(sequence), 8);
    const cipher = createDecipheriv(
      'aes-128-cbc',
      await this.#key(targetOf({ ...key, range: null }, base)),
      key.iv ?? counter,
    );
    const plain: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += DECRYPT_SLICE_BYTES) {
      plain.push(cipher.update(bytes.subarray(at, at + DECRYPT_SLICE_BYTES)));
      await nextTurn();
    }
    try {
      return Buffer.concat([...plain, cipher.final()]);
    } catch {
      throw new PushError('normal', 'A segment of the source cannot be decrypted with its key.');
    }
  }

  async #key(target: Target): Promise<Buffer> {
    const known = this.#keys.get(target.url);
    if (known !== undefined) return known;
    const key = await this.part(target, READ_BUDGETS.hlsPlaylist.ms);
    if (key.length !== KEY_BYTES) throw new PushError('normal', 'The source returned an invalid key.');
    this.#keys.clear();
    this.#keys.set(target.url, key);
    return key;
  }

  /** Retries a transient failure within the same load; a rejection is not retried. */
  async #again<T>(work: () => Promise<T>): Promise<T> {
    const { signal } = this.#context;
    for (const waitMs of RETRY_MS) {
      try {
        return await work();
      } catch (error) {
        const isRing = error instanceof OutboundError && error.stage === 'redirect';
        const isFinal =
          isRing || error instanceof GuardError || toPushError(error, 'source').kind !== 'normal';
        if (isFinal || signal.aborted) throw error;
        await delay(waitMs, null, { signal });
      }
    }
    return work();
  }

  async #get({ url, range }: Target, maxBytes: number, timeoutMs: number): Promise<Download> {
    const { outbound, signal } = this.#context;
    const waitMs = this.#meter.add(1, 0);
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
    this.#meter.add(0, bytes.length);
    if (status === 401 || status === 403) {
      throw new PushError('refused', `The source denied access (${status}).`);
    }
    if (status !== 200 && status !== 206)
      throw new PushError('normal', `The source returned status ${status}.`);
    if (!complete) {
      throw new PushError(
        'normal',
        'The source sent data too slowly, closed the connection, or sent a file that is too large.',
      );
    }
    return answer;
  }

  #headers(url: string, range: ByteRange | null): Record<string, string> {
    const { credentials } = this.#address;
    const isHome = URL.parse(url)?.origin === this.#origin;
    const pair = credentials === null ? '' : `${credentials.user}:${credentials.password}`;
    return {
      Accept: '*/*',
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
  /** Segments by era, for all tracks. */
  stretches: Map<number, PlayoutSegment>;
  url: string;
  first: Loaded<MediaPlaylist> | null;
}

/** One media playlist, from its loads to the frames. */
class HlsTrack {
  readonly #options: TrackOptions;
  readonly #lane: PlayoutTrack = createPlayoutTrack();
  #demux: Demux | null = null;
  /** Era the running demuxer was started with. */
  #era = 0;
  #map: Target | null = null;
  #header: Buffer | null = null;
  /** Times of the last restarts. */
  readonly #restartsMs: number[] = [];
  #next: number | null = null;
  #grewMs = performance.now();

  constructor(options: TrackOptions) {
    this.#options = options;
  }

  async run(): Promise<void> {
    const { context, first } = this.#options;
    const { signal } = context;
    try {
      let loaded = first ?? (await this.#load());
      for (let loadedMs = performance.now(); !signal.aborted; loadedMs = performance.now()) {
        const { playlist, parseMs } = loaded;
        const hasGrown = await this.#take(loaded);
        if (playlist.isEnded) break;
        const targetMs = playlist.targetDurationSec * 1000;
        const passedMs = performance.now() - loadedMs;
        await delay(reloadDelayMs({ targetMs, hasGrown, passedMs, parseMs }), null, { signal });
        loaded = await this.#load();
      }
      await this.#demux?.end();
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      await this.#demux?.stop();
    }
  }

  async #load(): Promise<Loaded<MediaPlaylist>> {
    const { playlist, ...rest } = await this.#options.http.playlist(this.#options.url);
    if (playlist.kind === 'media') return { playlist, ...rest };
    throw new PushError(
      'fatal',
      'The playlist of the source cannot be used: playlists are nested too deeply.',
    );
  }

  /** @returns whether there was something new. */
  async #take({ playlist, base }: Loaded<MediaPlaylist>): Promise<boolean> {
    const { context, playout } = this.#options;
    const targetMs = playlist.targetDurationSec * 1000;
    const fresh = this.#fresh(playlist);
    if (fresh.length === 0 && !playlist.isEnded) {
      const staleMs = Math.max(MIN_STALE_MS, STALE_TARGETS * targetMs);
      const quietMs = performance.now() - this.#grewMs;
      if (quietMs > staleMs) {
        const message = `The playlist of the source has not been updated for ${Math.round(quietMs / 1000)} seconds.`;
        throw new PushError('normal', message);
      }
      return false;
    }
    for (const segment of fresh) {
      // Loads one portion ahead, so that a slow response causes no gap.
      await playout.room(this.#lane, targetMs);
      if (context.signal.aborted) return true;
      await this.#segment(segment, base, targetMs);
      this.#next = segment.sequence + 1;
      this.#grewMs = performance.now();
    }
    return true;
  }

  #fresh({ segments, isEnded, targetDurationSec }: MediaPlaylist): Segment[] {
    const last = segments.at(-1);
    // The sequence numbers restarted: so did the server.
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

  async #segment(segment: Segment, base: string, targetMs: number): Promise<void> {
    const timeoutMs = Math.max(MIN_SEGMENT_MS, 3 * targetMs);
    const plain = await this.#options.http.segment(segment, base, timeoutMs);
    const map = segment.map === null ? null : targetOf(segment.map, base);
    const header = map === null ? null : await this.#headerOf(map, timeoutMs);
    if (this.#demux !== null && (segment.era !== this.#era || !isSameHeader(header, this.#header))) {
      this.#countRestart();
      await this.#demux.end();
      this.#demux = null;
    }
    this.#era = segment.era;
    this.#map = map;
    this.#header = header;
    this.#demux ??= await this.#begin(plain);
    await this.#demux.write(plain);
  }

  /** An address that changes with every load, such as a signed one, mostly names the same header. */
  async #headerOf(map: Target, timeoutMs: number): Promise<Buffer> {
    const isKnown = map.url === this.#map?.url && map.range?.offset === this.#map.range?.offset;
    return isKnown && this.#header !== null ? this.#header : this.#options.http.part(map, timeoutMs);
  }

  /** @throws {PushError} after too many restarts: each starts a process. */
  #countRestart(): void {
    const now = performance.now();
    this.#restartsMs.push(now);
    if (this.#restartsMs.length <= MAX_RESTARTS) return;
    const sinceMs = now - (this.#restartsMs.shift() ?? now);
    if (sinceMs > RESTART_WINDOW_MS) return;
    const message = `The source changes its timestamps or encoding more than ${MAX_RESTARTS} times a minute (EXT-X-DISCONTINUITY, EXT-X-MAP).`;
    throw new PushError('fatal', message);
  }

  async #begin(plain: Buffer): Promise<Demux> {
    const { context, playout, stretches } = this.#options;
    const stretch = stretches.get(this.#era) ?? { shift: null };
    stretches.set(this.#era, stretch);
    const format = this.#header === null ? formatOf(plain) : 'mp4';
    const demux = await context.demuxer(
      format,
      (tag) => playout.tag(this.#lane, stretch, tag),
      () => playout.flush(),
    );
    if (this.#header !== null) await demux.write(this.#header);
    return demux;
  }
}

function isSameHeader(a: Buffer | null, b: Buffer | null): boolean {
  return a === null || b === null ? a === b : a.equals(b);
}

const SYNC = 0x47;
const TS_PACKET = 188;

/** @throws {PushError} when the bytes match no segment format (RFC 8216, section 3). */
function formatOf(bytes: Buffer): SourceFormat {
  if (bytes[0] === SYNC && (bytes.length <= TS_PACKET || bytes[TS_PACKET] === SYNC)) return 'mpegts';
  if (['ftyp', 'styp', 'moof', 'sidx', 'emsg'].includes(bytes.toString('latin1', 4, 8))) return 'mp4';
  const isTagged = bytes.toString('latin1', 0, 3) === 'ID3';
  if (isTagged || (bytes[0] === 0xff && ((bytes[1] ?? 0) & 0xf6) === 0xf0)) return 'aac';
  throw new PushError('normal', 'The segments of the source are neither MPEG-TS nor fragmented MP4.');
}
