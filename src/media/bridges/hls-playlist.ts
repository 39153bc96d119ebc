/** Playlists of HTTP Live Streaming (RFC 8216), as far as a reader needs them that copies one variant. */

export interface Variant {
  url: string;
  /** Bits per second. */
  bandwidth: number;
  width: number;
  height: number;
  /** RFC 6381 strings; empty when it does not say. */
  codecs: string[];
  /** The playlist of its sound; null when that is in its own segments. */
  audioUrl: string | null;
}

export interface ByteRange {
  offset: number;
  length: number;
}

export interface Part {
  url: string;
  range: ByteRange | null;
}

export interface SegmentKey {
  url: string;
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

/** Words for the owner of the bridge. */
export class PlaylistError extends Error {
  override name = 'PlaylistError';
}

const MAX_LINES = 100_000;
const MAX_VARIANTS = 200;
const MAX_TARGET_SEC = 120;

/** @param url of the playlist, behind all redirects. @throws {PlaylistError} */
export function parsePlaylist(text: string, url: string): MasterPlaylist | MediaPlaylist {
  const lines = text.split(/\r?\n/, MAX_LINES).map((line) => line.trim());
  if (lines[0]?.replace(/^\ufeff/, '') !== '#EXTM3U') throw new PlaylistError('it is no HLS playlist');
  return lines.some((line) => line.startsWith('#EXT-X-STREAM-INF:'))
    ? parseMaster(lines, url)
    : new MediaReader(url).read(lines);
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

function resolved(uri: string, base: string): string {
  const url = URL.parse(uri, base);
  if (url === null) throw new PlaylistError('it names an address that is none');
  return url.href;
}

function parseMaster(lines: string[], base: string): MasterPlaylist {
  const sounds = new Map<string, { uri: string | null; isDefault: boolean }>();
  const variants: (Variant & { group: string | undefined })[] = [];
  let pending: Map<string, string> | null = null;
  for (const line of lines) {
    const media = behind(line, '#EXT-X-MEDIA');
    if (media !== null) addSound(sounds, attributes(media));
    const info = behind(line, '#EXT-X-STREAM-INF');
    if (info !== null) pending = attributes(info);
    else if (pending !== null && line !== '' && !line.startsWith('#')) {
      variants.push({ ...variantOf(pending, resolved(line, base)), group: pending.get('AUDIO') });
      pending = null;
    }
    if (variants.length > MAX_VARIANTS) throw new PlaylistError('it lists too many variants');
  }
  return {
    kind: 'master',
    variants: variants.map(({ group, ...variant }) => {
      const uri = group === undefined ? null : (sounds.get(group)?.uri ?? null);
      return { ...variant, audioUrl: uri === null ? null : resolved(uri, base) };
    }),
  };
}

/** Of a group the default one, or the first. */
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

function variantOf(info: Map<string, string>, url: string): Variant {
  const [width = 0, height = 0] = (info.get('RESOLUTION') ?? '').split('x').map(Number);
  return {
    url,
    bandwidth: Number(info.get('BANDWIDTH') ?? 0) || 0,
    width: width || 0,
    height: height || 0,
    codecs: (info.get('CODECS') ?? '').split(',').flatMap((codec) => codec.trim() || []),
    audioUrl: null,
  };
}

const TAKEN = /^(avc1|avc3|mp4a\.40|mp4a\.67)/i;

/**
 * The best variant that is H.264 with AAC and fits what the target may take; the least one when none fits.
 *
 * @throws {PlaylistError} when all are coded otherwise.
 */
export function chooseVariant(
  { variants }: MasterPlaylist,
  { maxHeight, maxBitrateKbps = Number.POSITIVE_INFINITY }: { maxHeight: number; maxBitrateKbps?: number },
): Variant {
  const taken = variants.filter(({ codecs }) => codecs.every((codec) => TAKEN.test(codec)));
  if (taken.length === 0) {
    const codecs = [...new Set(variants.flatMap((variant) => variant.codecs))].join(', ').slice(0, 100);
    throw new PlaylistError(
      codecs === '' ? 'it lists no variant' : `no variant is H.264 with AAC (${codecs})`,
    );
  }
  const byRate = taken.toSorted((a, b) => b.height - a.height || b.bandwidth - a.bandwidth);
  // Where there is a picture, sound alone is for those who have no other choice.
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

/** Reads a media playlist line by line (section 4.3.3 and 4.3.2). */
class MediaReader {
  readonly #base: string;
  readonly #segments: Segment[] = [];
  #target = 0;
  #sequence = 0;
  #isEnded = false;
  #durationSec: number | null = null;
  #era = 0;
  #isGap = false;
  #range: ByteRange | null = null;
  /** Where a byte range without an offset goes on. */
  #next = { url: '', offset: 0 };
  #map: Part | null = null;
  #key: SegmentKey | null = null;

  constructor(base: string) {
    this.#base = base;
  }

  read(lines: string[]): MediaPlaylist {
    for (const line of lines) {
      if (line.startsWith('#')) this.#tag(line);
      else if (line !== '') this.#segment(line);
    }
    if (!(this.#target > 0 && this.#target <= MAX_TARGET_SEC)) {
      throw new PlaylistError('it has no EXT-X-TARGETDURATION that makes sense');
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
        this.#sequence = Number.parseInt(value, 10) || 0;
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
        this.#era = Number.parseInt(value, 10) || 0;
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
    const url = resolved(uri, this.#base);
    let range = this.#range;
    if (range !== null && range.offset < 0) {
      range = { ...range, offset: this.#next.url === url ? this.#next.offset : 0 };
    }
    if (range !== null) this.#next = { url, offset: range.offset + range.length };
    const durationSec = this.#durationSec;
    const sequence = this.#sequence++;
    if (durationSec !== null && !this.#isGap) {
      const place = { sequence, url, range, durationSec, era: this.#era };
      this.#segments.push({ ...place, map: this.#map, key: this.#key });
    }
    this.#durationSec = null;
    this.#isGap = false;
    this.#range = null;
  }

  #rangeOf(text: string): ByteRange {
    const [length, offset] = text.split('@').map(Number);
    if (length === undefined || !Number.isSafeInteger(length) || length <= 0) {
      throw new PlaylistError('it has a byte range that is none');
    }
    return { length, offset: offset === undefined || !Number.isSafeInteger(offset) ? -1 : offset };
  }

  #mapOf(map: Map<string, string>): Part {
    const uri = map.get('URI');
    if (uri === undefined) throw new PlaylistError('it has an EXT-X-MAP without an address');
    const text = map.get('BYTERANGE');
    const range = text === undefined ? null : this.#rangeOf(text);
    return {
      url: resolved(uri, this.#base),
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
    const iv = /^0x([0-9a-f]{1,32})$/i.exec(key.get('IV') ?? '')?.[1];
    return {
      url: resolved(uri, this.#base),
      iv: iv === undefined ? null : Buffer.from(iv.padStart(32, '0'), 'hex'),
    };
  }
}
