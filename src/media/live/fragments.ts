/**
 * Parser for a fragmented MP4 stream (ISO/IEC 14496-12): its header, and then each `moof` with its `mdat`.
 * The program that writes the stream has processed untrusted input, so the stream is not trusted.
 */

/** Initialization segment that a player needs before the first fragment: `ftyp` and `moov`. */
export interface Init {
  type: 'init';
  bytes: Buffer;
}

/** A `moof` and its `mdat`. Times are those of the video, or of the audio when there is no video. */
export interface Fragment {
  type: 'fragment';
  bytes: Buffer;
  startSec: number;
  durationSec: number;
  /** Presentation time of its first frame, later than `startSec` when frames are reordered. */
  shownSec: number;
  /** The fragment begins with a keyframe; always true when the stream has no video. */
  isIndependent: boolean;
  /** The stream has video, but this fragment has none. */
  isSoundAlone?: true;
}

export class InvalidFragmentsError extends Error {
  override readonly name = 'InvalidFragmentsError';
}

export interface FragmentReader {
  /**
   * Parses bytes of any chunking.
   *
   * @returns the items completed by these bytes.
   * @throws {InvalidFragmentsError} when the stream is invalid; the reader cannot be used afterwards.
   */
  push(bytes: Buffer): (Init | Fragment)[];
}

interface Track {
  id: number;
  timescale: number;
  isVideo: boolean;
  defaultDuration: number;
  defaultFlags: number;
}

interface Box {
  type: string;
  /** Offsets of the box and of its content. */
  start: number;
  body: number;
  end: number;
}

/** Boxes allowed at the top level, and their maximum sizes. */
const MAX_BYTES: Readonly<Record<string, number>> = {
  ...Object.fromEntries(['ftyp', 'styp', 'sidx', 'prft', 'free', 'mfra'].map((type) => [type, 2 ** 20])),
  moov: 2 ** 20,
  moof: 2 ** 21,
  // Ten seconds of 200 Mbps.
  mdat: 2 ** 28,
};
const HEADER_BYTES = 8;
const LARGE_HEADER_BYTES = 16;
/** Maximum duration of our fragments. */
const MAX_SECONDS = 60;
const NON_SYNC_SAMPLE = 0x1_0000;

export function createFragmentReader(): FragmentReader {
  return new BoxReader();
}

class BoxReader implements FragmentReader {
  #chunks: Buffer[] = [];
  #held = 0;
  /** Bytes needed to complete the next box or its header. */
  #needed = HEADER_BYTES;
  #ftyp: Buffer | null = null;
  #tracks: Track[] | null = null;
  #moof: { bytes: Buffer; facts: Omit<Fragment, 'bytes' | 'type'> } | null = null;

  push(chunk: Buffer): (Init | Fragment)[] {
    this.#chunks.push(chunk);
    this.#held += chunk.length;
    if (this.#held < this.#needed) return [];
    const bytes = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks);
    const found: (Init | Fragment)[] = [];
    let at = 0;
    for (;;) {
      const box = boxAt(bytes, at);
      this.#needed = box === null ? LARGE_HEADER_BYTES : box.end - at;
      if (box === null || box.end > bytes.length) break;
      const piece = this.#take(box, bytes.subarray(at, box.end));
      if (piece !== null) found.push(piece);
      at = box.end;
    }
    this.#chunks = at < bytes.length ? [bytes.subarray(at)] : [];
    this.#held = bytes.length - at;
    if (this.#held === 0) this.#needed = HEADER_BYTES;
    return found;
  }

  #take({ type }: Box, bytes: Buffer): Init | Fragment | null {
    switch (type) {
      case 'ftyp':
        this.#ftyp = bytes;
        return null;
      case 'moov':
        if (this.#tracks !== null) throw new InvalidFragmentsError('a second header');
        this.#tracks = tracksOf(bytes);
        return { type: 'init', bytes: Buffer.concat([this.#ftyp ?? Buffer.alloc(0), bytes]) };
      case 'moof':
        if (this.#tracks === null) throw new InvalidFragmentsError('a fragment before the header');
        this.#moof = { bytes, facts: factsOf(bytes, this.#tracks) };
        return null;
      case 'mdat': {
        const moof = this.#moof;
        if (moof === null) throw new InvalidFragmentsError('media without a description');
        this.#moof = null;
        return { type: 'fragment', bytes: joined(moof.bytes, bytes), ...moof.facts };
      }
      default:
        return null;
    }
  }
}

/** Joins two buffers; without a copy when they are already contiguous. */
function joined(first: Buffer, second: Buffer): Buffer {
  const isOne = first.buffer === second.buffer && first.byteOffset + first.length === second.byteOffset;
  if (!isOne) return Buffer.concat([first, second]);
  return Buffer.from(first.buffer, first.byteOffset, first.length + second.length);
}

/** Returns the top-level box at this offset; null when its header is incomplete. */
function boxAt(bytes: Buffer, at: number): Box | null {
  if (at + HEADER_BYTES > bytes.length) return null;
  const box = readBox(bytes, at);
  if (box === null) return null;
  const most = MAX_BYTES[box.type];
  if (most === undefined) throw new InvalidFragmentsError(`a box ${JSON.stringify(box.type)}`);
  if (box.end - at > most) throw new InvalidFragmentsError(`${box.type} of ${box.end - at} bytes`);
  return box;
}

function readBox(bytes: Buffer, at: number): Box | null {
  const type = bytes.toString('latin1', at + 4, at + 8);
  let size = bytes.readUInt32BE(at);
  let body = at + HEADER_BYTES;
  if (size === 1) {
    if (at + LARGE_HEADER_BYTES > bytes.length) return null;
    size = Number(bytes.readBigUInt64BE(at + HEADER_BYTES));
    body = at + LARGE_HEADER_BYTES;
  }
  if (at + size < body) throw new InvalidFragmentsError(`${JSON.stringify(type)} of ${size} bytes`);
  return { type, start: at, body, end: at + size };
}

function* boxesIn(bytes: Buffer, { body, end }: Pick<Box, 'body' | 'end'>): Generator<Box> {
  for (let at = body; at < end; ) {
    const box = at + HEADER_BYTES <= end ? readBox(bytes, at) : null;
    if (box === null || box.end > end)
      throw new InvalidFragmentsError('a box that ends after the one around it');
    yield box;
    at = box.end;
  }
}

function childOf(bytes: Buffer, parent: Box, ...path: string[]): Box | null {
  let found: Box | null = parent;
  for (const type of path) {
    if (found === null) return null;
    found = [...boxesIn(bytes, found)].find((box) => box.type === type) ?? null;
  }
  return found;
}

/** Reads an integer of `size` bytes, which must lie within the box. */
function numberAt(bytes: Buffer, box: Box, offset: number, size: 1 | 3 | 4 | 8 = 4): number {
  const at = box.body + offset;
  if (at + size > box.end) throw new InvalidFragmentsError(`${box.type} is too short`);
  return size === 8 ? Number(bytes.readBigUInt64BE(at)) : bytes.readUIntBE(at, size);
}

function tracksOf(bytes: Buffer): Track[] {
  const moov = { type: 'moov', start: 0, body: HEADER_BYTES, end: bytes.length };
  const defaults = new Map<number, Pick<Track, 'defaultDuration' | 'defaultFlags'>>();
  const extension = childOf(bytes, moov, 'mvex');
  for (const box of extension === null ? [] : boxesIn(bytes, extension)) {
    if (box.type !== 'trex') continue;
    const [defaultDuration, defaultFlags] = [numberAt(bytes, box, 12), numberAt(bytes, box, 20)];
    defaults.set(numberAt(bytes, box, 4), { defaultDuration, defaultFlags });
  }
  const tracks: Track[] = [];
  for (const trak of boxesIn(bytes, moov)) {
    if (trak.type !== 'trak') continue;
    const header = childOf(bytes, trak, 'tkhd');
    const media = childOf(bytes, trak, 'mdia', 'mdhd');
    const handler = childOf(bytes, trak, 'mdia', 'hdlr');
    if (header === null || media === null || handler === null)
      throw new InvalidFragmentsError('a track without metadata');
    const id = numberAt(bytes, header, isLong(bytes, header) ? 20 : 12);
    const timescale = numberAt(bytes, media, isLong(bytes, media) ? 20 : 12);
    if (timescale === 0) throw new InvalidFragmentsError('a track without a timescale');
    // "vide"
    const isVideo = numberAt(bytes, handler, 8) === 0x76_69_64_65;
    tracks.push({ id, timescale, isVideo, defaultDuration: 0, defaultFlags: 0, ...defaults.get(id) });
  }
  if (tracks.length === 0) throw new InvalidFragmentsError('no track');
  return tracks;
}

/** Reports whether the box has 8-byte times, as in version 1. */
function isLong(bytes: Buffer, box: Box): boolean {
  return numberAt(bytes, box, 0, 1) === 1;
}

function factsOf(bytes: Buffer, tracks: readonly Track[]): Omit<Fragment, 'bytes' | 'type'> {
  const moof = { type: 'moof', start: 0, body: HEADER_BYTES, end: bytes.length };
  let best: { track: Track; facts: Omit<Fragment, 'bytes' | 'type'> } | null = null;
  for (const traf of boxesIn(bytes, moof)) {
    if (traf.type !== 'traf') continue;
    const header = childOf(bytes, traf, 'tfhd');
    if (header === null) throw new InvalidFragmentsError('a part of no track');
    const id = numberAt(bytes, header, 4);
    const track = tracks.find((one) => one.id === id);
    if (track === undefined) throw new InvalidFragmentsError('a part of an unknown track');
    if (best === null || (track.isVideo && !best.track.isVideo))
      best = { track, facts: trackFacts(bytes, traf, header, track) };
  }
  if (best === null) throw new InvalidFragmentsError('a fragment without a track');
  const { startSec, durationSec } = best.facts;
  if (!(durationSec <= MAX_SECONDS && Number.isSafeInteger(Math.round(startSec * 1000))))
    throw new InvalidFragmentsError('a fragment of invalid length');
  // Playback cannot start without video.
  if (!best.track.isVideo && tracks.some(({ isVideo }) => isVideo))
    return { ...best.facts, isIndependent: false, isSoundAlone: true };
  return best.facts;
}

function trackFacts(bytes: Buffer, traf: Box, header: Box, track: Track): Omit<Fragment, 'bytes' | 'type'> {
  const { duration, flags } = sampleDefaults(bytes, header, track);
  const time = childOf(bytes, traf, 'tfdt');
  const start = time === null ? 0 : numberAt(bytes, time, 4, isLong(bytes, time) ? 8 : 4);
  let total = 0;
  let firstFlags: number | null = null;
  let composition: number | null = null;
  for (const run of boxesIn(bytes, traf)) {
    if (run.type !== 'trun') continue;
    const read = readRun(bytes, run, duration);
    total += read.duration;
    firstFlags ??= read.firstFlags ?? flags;
    composition ??= read.firstComposition;
  }
  return {
    startSec: start / track.timescale,
    durationSec: total / track.timescale,
    shownSec: (start + (composition ?? 0)) / track.timescale,
    isIndependent: ((firstFlags ?? flags) & NON_SYNC_SAMPLE) === 0,
  };
}

/** Returns the defaults of `tfhd` (8.8.7), or else those of the track. */
function sampleDefaults(bytes: Buffer, header: Box, track: Track): { duration: number; flags: number } {
  const has = numberAt(bytes, header, 1, 3);
  let at = 8;
  if (has & 0x1) at += 8;
  if (has & 0x2) at += 4;
  const duration = has & 0x8 ? numberAt(bytes, header, at) : track.defaultDuration;
  if (has & 0x8) at += 4;
  if (has & 0x10) at += 4;
  const flags = has & 0x20 ? numberAt(bytes, header, at) : track.defaultFlags;
  return { duration, flags };
}

/** `trun` (8.8.8). */
function readRun(
  bytes: Buffer,
  run: Box,
  defaultDuration: number,
): { duration: number; firstFlags: number | null; firstComposition: number } {
  const has = numberAt(bytes, run, 1, 3);
  const count = numberAt(bytes, run, 4);
  let at = 8 + (has & 0x1 ? 4 : 0);
  let firstFlags = has & 0x4 ? numberAt(bytes, run, at) : null;
  if (has & 0x4) at += 4;
  const size = [0x100, 0x200, 0x400, 0x800].filter((flag) => has & flag).length * 4;
  if (size * count > run.end - run.body) throw new InvalidFragmentsError('trun is too short');
  const flagsAt = (has & 0x100 ? 4 : 0) + (has & 0x200 ? 4 : 0);
  if (has & 0x400 && count > 0) firstFlags ??= numberAt(bytes, run, at + flagsAt);
  // Signed in version 1, and small enough in version 0.
  const compositionAt = at + size - 4;
  const firstComposition = has & 0x800 && count > 0 ? numberAt(bytes, run, compositionAt) | 0 : 0;
  if (!(has & 0x100)) return { duration: count * defaultDuration, firstFlags, firstComposition };
  let duration = 0;
  for (let i = 0; i < count; i += 1) duration += numberAt(bytes, run, at + i * size);
  return { duration, firstFlags, firstComposition };
}
