import { READ_BUDGETS } from '../../read-budget.ts';

/**
 * Playlists of HTTP Live Streaming (RFC 8216), as far as a reader needs them that copies one variant. Addresses stay as
 * the playlist has them: `resolveUri` is called for those that are fetched.
 */

export interface Variant {
  uri: string;
  /** Bits per second. */
  bandwidth: number;
  width: number;
  height: number;
  /** RFC 6381 strings; empty when not specified. */
  codecs: string[];
  /** Playlist of its audio; null when audio is muxed into its segments. */
  audioUri: string | null;
}

export interface ByteRange {
  offset: number;
  length: number;
}

export interface Part {
  uri: string;
  range: ByteRange | null;
}

export interface SegmentKey {
  uri: string;
  /** 16 bytes. */
  iv: Buffer | null;
}

export interface Segment extends Part {
  sequence: number;
  durationSec: number;
  /** Counts the discontinuities before it: where it differs, so do times and coding. */
  era: number;
  /** The header of fragmented MP4. */
  map: Part | null;
  key: SegmentKey | null;
}

export interface MediaPlaylist {
  kind: 'media';
  targetDurationSec: number;
  isEnded: boolean;
  segments: Segment[];
}

export interface MasterPlaylist {
  kind: 'master';
  variants: Variant[];
}

/** Error with a message for the owner of the bridge. */
export class PlaylistError extends Error {
  override name = 'PlaylistError';
}

/** Tags and comments of 2,000 segments of Low-Latency HLS, with parts, fit in. */
const MAX_LINES = 50_000;
/** Variants, groups of audio, keys or headers. */
const MAX_REFERENCES = 64;
const MAX_TARGET_SEC = 120;

/** @throws {PlaylistError} */
export function parsePlaylist(text: string): MasterPlaylist | MediaPlaylist {
  const lines = text.split(/\r?\n/, MAX_LINES + 1).map((line) => line.trim());
  if (lines[0]?.replace(/^\ufeff/, '') !== '#EXTM3U') throw new PlaylistError('it is not an HLS playlist');
  if (lines.length > MAX_LINES) throw new PlaylistError(`it has more than ${MAX_LINES} lines`);
  return lines.some((line) => line.startsWith('#EXT-X-STREAM-INF:'))
    ? parseMaster(lines)
    : new MediaReader().read(lines);
}

/** @param base URL of the playlist, after all redirects. @throws {PlaylistError} */
export function resolveUri(uri: string, base: string): string {
  const url = URL.parse(uri, base);
  if (url === null) throw new PlaylistError('it contains an invalid URL');
  return url.href;
}

/** An attribute list (section 4.2), quotes taken off. A name is looked for where one begins: a line can have megabytes. */
export function attributes(text: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const [, name, quoted, bare] of text.matchAll(/(?<![A-Z0-9-])([A-Z0-9-]+)=(?:"([^"]*)"|([^,"]*))/g)) {
    if (name !== undefined) found.set(name, quoted ?? bare ?? '');
  }
  return found;
}

function behind(line: string, tag: string): string | null {
  return line.startsWith(`${tag}:`) ? line.slice(tag.length + 1) : null;
}

/** @throws {PlaylistError} for one more than a playlist may have. */
function limit(count: number, max: number, what: string): void {
  if (count > max) throw new PlaylistError(`it lists more than ${max} ${what}`);
}

function parseMaster(lines: string[]): MasterPlaylist {
  const sounds = new Map<string, { uri: string | null; isDefault: boolean }>();
  const variants: (Variant & { group: string | undefined })[] = [];
  let pending: Map<string, string> | null = null;
  for (const line of lines) {
    const media = behind(line, '#EXT-X-MEDIA');
    if (media !== null) addSound(sounds, attributes(media));
    const info = behind(line, '#EXT-X-STREAM-INF');
    if (info !== null) pending = attributes(info);
    else if (pending !== null && line !== '' && !line.startsWith('#')) {
      variants.push({ ...variantOf(pending, line), group: pending.get('AUDIO') });
      pending = null;
    }
    limit(variants.length, MAX_REFERENCES, 'variants');
    limit(sounds.size, MAX_REFERENCES, 'groups of audio');
  }
  return {
    kind: 'master',
    variants: variants.map(({ group, ...variant }) => ({
      ...variant,
      audioUri: group === undefined ? null : (sounds.get(group)?.uri ?? null),
    })),
  };
}

/** Adds the default rendition of an audio group, or the first. */
function addSound(
  sounds: Map<string, { uri: string | null; isDefault: boolean }>,
  media: Map<string, string>,
): void {
  const group = media.get('GROUP-ID');
  if (media.get('TYPE') !== 'AUDIO' || group === undefined) return;
  const isDefault = media.get('DEFAULT') === 'YES';
  if (sounds.has(group) && !isDefault) return;
  sounds.set(group, { uri: media.get('URI') ?? null, isDefault });
}

function variantOf(info: Map<string, string>, uri: string): Variant {
  const [width = 0, height = 0] = (info.get('RESOLUTION') ?? '').split('x').map(Number);
  return {
    uri,
    bandwidth: Number(info.get('BANDWIDTH') ?? 0) || 0,
    width: width || 0,
    height: height || 0,
    codecs: (info.get('CODECS') ?? '').split(',').flatMap((codec) => codec.trim() || []),
    audioUri: null,
  };
}

const SUPPORTED_CODECS = /^(avc1|avc3|mp4a\.40|mp4a\.67)/i;

/**
 * Chooses the best variant with H.264 and AAC that fits the target's limits; the smallest one when none fits.
 *
 * @throws {PlaylistError} when all use other codecs.
 */
export function chooseVariant(
  { variants }: MasterPlaylist,
  { maxHeight, maxBitrateKbps = Number.POSITIVE_INFINITY }: { maxHeight: number; maxBitrateKbps?: number },
): Variant {
  const taken = variants.filter(({ codecs }) => codecs.every((codec) => SUPPORTED_CODECS.test(codec)));
  if (taken.length === 0) {
    const codecs = [...new Set(variants.flatMap((variant) => variant.codecs))].join(', ').slice(0, 100);
    throw new PlaylistError(
      codecs === '' ? 'it lists no variant' : `no variant uses H.264 with AAC (${codecs})`,
    );
  }
  const byRate = taken.toSorted((a, b) => b.height - a.height || b.bandwidth - a.bandwidth);
  // Audio-only variants are chosen only where no variant has video.
  const pictured = byRate.filter(({ codecs, height }) => height > 0 || codecs.some((c) => /^avc/i.test(c)));
  const choice = pictured.length > 0 ? pictured : byRate;
  const fits = choice.find(
    ({ width, height, bandwidth }) =>
      Math.min(width, height) <= maxHeight && bandwidth / 1000 <= maxBitrateKbps,
  );
  const chosen = fits ?? choice.at(-1);
  if (chosen === undefined) throw new PlaylistError('it lists no variant');
  return chosen;
}

/** Parses a decimal integer (section 4.2); 0 when invalid. */
function numberOf(text: string): number {
  const number = Number.parseInt(text, 10);
  return Number.isSafeInteger(number) && number >= 0 ? number : 0;
}

/** Reads a media playlist line by line (section 4.3.3 and 4.3.2). */
class MediaReader {
  readonly #keys = new Set<string>();
  readonly #maps = new Set<string>();
  readonly #segments: Segment[] = [];
  #target = 0;
  #sequence = 0;
  #isEnded = false;
  #durationSec: number | null = null;
  #era = 0;
  #isGap = false;
  #range: ByteRange | null = null;
  /** Position at which a byte range without an offset continues. */
  #next = { uri: '', offset: 0 };
  #map: Part | null = null;
  #key: SegmentKey | null = null;

  read(lines: string[]): MediaPlaylist {
    for (const line of lines) {
      if (line.startsWith('#')) this.#tag(line);
      else if (line !== '') this.#segment(line);
    }
    if (!(this.#target > 0 && this.#target <= MAX_TARGET_SEC)) {
      throw new PlaylistError('it has no valid EXT-X-TARGETDURATION');
    }
    return {
      kind: 'media',
      targetDurationSec: this.#target,
      isEnded: this.#isEnded,
      segments: this.#segments,
    };
  }

  #tag(line: string): void {
    const cut = line.indexOf(':');
    const [name, value] = cut < 0 ? [line, ''] : [line.slice(0, cut), line.slice(cut + 1)];
    switch (name) {
      case '#EXT-X-TARGETDURATION':
        this.#target = Number(value);
        break;
      case '#EXT-X-MEDIA-SEQUENCE':
        this.#sequence = numberOf(value);
        break;
      case '#EXT-X-ENDLIST':
        this.#isEnded = true;
        break;
      case '#EXTINF':
        this.#durationSec = Number.parseFloat(value) || 0;
        break;
      case '#EXT-X-DISCONTINUITY':
        this.#era += 1;
        break;
      case '#EXT-X-DISCONTINUITY-SEQUENCE':
        this.#era = numberOf(value);
        break;
      case '#EXT-X-GAP':
        this.#isGap = true;
        break;
      case '#EXT-X-BYTERANGE':
        this.#range = this.#rangeOf(value);
        break;
      case '#EXT-X-MAP':
        this.#map = this.#mapOf(attributes(value));
        break;
      case '#EXT-X-KEY':
        this.#key = this.#keyOf(attributes(value));
        break;
    }
  }

  #segment(uri: string): void {
    let range = this.#range;
    if (range !== null && range.offset < 0) {
      range = { ...range, offset: this.#next.uri === uri ? this.#next.offset : 0 };
    }
    if (range !== null) this.#next = { uri, offset: range.offset + range.length };
    const durationSec = this.#durationSec;
    const sequence = this.#sequence++;
    if (durationSec !== null && !this.#isGap) {
      const place = { sequence, uri, range, durationSec, era: this.#era };
      this.#segments.push({ ...place, map: this.#map, key: this.#key });
      limit(this.#segments.length, READ_BUDGETS.hlsPlaylist.items, 'segments');
    }
    this.#durationSec = null;
    this.#isGap = false;
    this.#range = null;
  }

  #rangeOf(text: string): ByteRange {
    const [length, offset] = text.split('@').map(Number);
    if (length === undefined || !Number.isSafeInteger(length) || length <= 0) {
      throw new PlaylistError('it has an invalid byte range');
    }
    return { length, offset: offset === undefined || !Number.isSafeInteger(offset) ? -1 : offset };
  }

  #mapOf(map: Map<string, string>): Part {
    const uri = map.get('URI');
    if (uri === undefined) throw new PlaylistError('it has an EXT-X-MAP without a URI');
    const text = map.get('BYTERANGE');
    this.#maps.add(`${uri} ${text ?? ''}`);
    limit(this.#maps.size, MAX_REFERENCES, 'headers of fragmented MP4');
    const range = text === undefined ? null : this.#rangeOf(text);
    return {
      uri,
      range: range === null ? null : { ...range, offset: Math.max(0, range.offset) },
    };
  }

  #keyOf(key: Map<string, string>): SegmentKey | null {
    const method = key.get('METHOD');
    if (method === 'NONE') return null;
    const uri = key.get('URI');
    if (method !== 'AES-128' || uri === undefined || (key.get('KEYFORMAT') ?? 'identity') !== 'identity') {
      throw new PlaylistError(`its segments are protected (${method?.slice(0, 20)}), which is not supported`);
    }
    this.#keys.add(uri);
    limit(this.#keys.size, MAX_REFERENCES, 'keys');
    const iv = /^0x([0-9a-f]{1,32})$/i.exec(key.get('IV') ?? '')?.[1];
    return {
      uri,
      iv: iv === undefined ? null : Buffer.from(iv.padStart(32, '0'), 'hex'),
    };
  }
}
