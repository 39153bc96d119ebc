import type { FileHandle } from 'node:fs/promises';

/** Codec of the only track of a file (RFC 9559). */
export type MatroskaTrack = { codec: 'V_VP8'; width: number; height: number } | { codec: 'A_OPUS' };

/** Element IDs that our files use (RFC 9559). */
export const ID = {
  ebml: 0x1a45dfa3,
  docType: 0x4282,
  segment: 0x18538067,
  info: 0x1549a966,
  timestampScale: 0x2ad7b1,
  muxingApp: 0x4d80,
  writingApp: 0x5741,
  tracks: 0x1654ae6b,
  trackEntry: 0xae,
  trackNumber: 0xd7,
  trackUid: 0x73c5,
  trackType: 0x83,
  defaultDuration: 0x23e383,
  codecId: 0x86,
  codecPrivate: 0x63a2,
  video: 0xe0,
  pixelWidth: 0xb0,
  pixelHeight: 0xba,
  colourSpace: 0x2eb524,
  audio: 0xe1,
  samplingFrequency: 0xb5,
  channels: 0x9f,
  cluster: 0x1f43b675,
  clusterTimestamp: 0xe7,
  simpleBlock: 0xa3,
};
/** One millisecond. */
const SCALE_NS = 1_000_000;
export const UNKNOWN_SIZE = Buffer.from('01ffffffffffffff', 'hex');
/** The relative time of a block has 16 bits. */
const CLUSTER_MS = 5000;
const CLUSTER_BYTES = 2 ** 20;
const KEY_FLAG = 0x80;
const NAME = 'Marquee';

/** Writes one track into a Matroska file, which ffmpeg reads and which holds any time of any frame. */
export class MatroskaWriter {
  readonly #file: FileHandle;
  #blocks: Buffer[] = [];
  #bytes = 0;
  #clusterMs = 0;
  #lastMs = -1;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  /** Once, first. */
  async begin(track: MatroskaTrack): Promise<void> {
    await this.#file.write(matroskaHead([trackEntry(track)]));
  }

  /** @param atMs an integer; raised if it is not after the previous frame. */
  async frame(atMs: number, data: Buffer, isKey: boolean): Promise<void> {
    const ms = Math.max(atMs, this.#lastMs + 1);
    if (ms - this.#clusterMs >= CLUSTER_MS || this.#bytes >= CLUSTER_BYTES) await this.#flush();
    if (this.#blocks.length === 0) this.#clusterMs = ms;
    this.#lastMs = ms;
    const head = Buffer.alloc(4);
    head.writeUInt8(0x81, 0);
    head.writeInt16BE(ms - this.#clusterMs, 1);
    head.writeUInt8(isKey ? KEY_FLAG : 0, 3);
    // The caller uses its memory again.
    this.#blocks.push(element(ID.simpleBlock, [head, data]));
    this.#bytes += data.length;
  }

  /** Once, last. */
  async end(): Promise<void> {
    await this.#flush();
  }

  async #flush(): Promise<void> {
    if (this.#blocks.length === 0) return;
    const content = [number(ID.clusterTimestamp, this.#clusterMs), ...this.#blocks];
    [this.#blocks, this.#bytes] = [[], 0];
    await this.#file.write(element(ID.cluster, content));
  }
}

/** Builds the part of the file before the first cluster: times are in milliseconds. */
export function matroskaHead(tracks: readonly Buffer[]): Buffer {
  const info = [number(ID.timestampScale, SCALE_NS), text(ID.muxingApp, NAME), text(ID.writingApp, NAME)];
  return Buffer.concat([
    element(ID.ebml, [text(ID.docType, 'matroska')]),
    idOf(ID.segment),
    UNKNOWN_SIZE,
    element(ID.info, info),
    element(ID.tracks, tracks),
  ]);
}

function trackEntry(track: MatroskaTrack): Buffer {
  if (track.codec === 'A_OPUS') return opusEntry(1);
  const size = [number(ID.pixelWidth, track.width), number(ID.pixelHeight, track.height)];
  return element(ID.trackEntry, [...trackIds(1, 1, track.codec), element(ID.video, size)]);
}

/** @param type 1 for video, 2 for audio. */
export function trackIds(trackNumber: number, type: 1 | 2, codec: string): Buffer[] {
  return [
    number(ID.trackNumber, trackNumber),
    number(ID.trackUid, trackNumber),
    number(ID.trackType, type),
    text(ID.codecId, codec),
  ];
}

/** Opus, as browsers send it. */
export function opusEntry(trackNumber: number): Buffer {
  const common = trackIds(trackNumber, 2, 'A_OPUS');
  const rate = Buffer.alloc(8);
  rate.writeDoubleBE(48_000);
  const sound = [element(ID.samplingFrequency, [rate]), number(ID.channels, 2)];
  const audio = element(ID.audio, sound);
  return element(ID.trackEntry, [...common, element(ID.codecPrivate, [opusHead()]), audio]);
}

/**
 * Builds an OpusHead (RFC 7845, section 5.1): stereo at 48 kHz, no pre-skip, no gain. A decoder outputs mono
 * on both channels, too.
 */
export function opusHead(): Buffer {
  const head = Buffer.alloc(19);
  head.write('OpusHead', 0, 'latin1');
  head.writeUInt8(1, 8);
  head.writeUInt8(2, 9);
  head.writeUInt32LE(48_000, 12);
  return head;
}

export function element(id: number, content: readonly Buffer[]): Buffer {
  const bytes = content.reduce((sum, { length }) => sum + length, 0);
  return Buffer.concat([elementHead(id, bytes), ...content]);
}

/** Builds the header of an element with the given content length; the content may follow in chunks. */
export function elementHead(id: number, bytes: number): Buffer {
  const size = Buffer.alloc(8);
  size.writeUInt32BE(Math.floor(bytes / 2 ** 32), 0);
  size.writeUInt32BE(bytes >>> 0, 4);
  // Eight bytes for the size, whatever it is.
  size.writeUInt8(1, 0);
  return Buffer.concat([idOf(id), size]);
}

export function number(id: number, value: number): Buffer {
  const bytes = Buffer.alloc(6);
  bytes.writeUIntBE(value, 0, 6);
  return element(id, [bytes]);
}

export function text(id: number, value: string): Buffer {
  return element(id, [Buffer.from(value)]);
}

export function idOf(id: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(id);
  return bytes.subarray(bytes.findIndex((byte) => byte !== 0));
}
