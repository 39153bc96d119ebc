import type { FileHandle } from 'node:fs/promises';

/** What the one track of a file is (RFC 9559). */
export type MatroskaTrack = { codec: 'V_VP8'; width: number; height: number } | { codec: 'A_OPUS' };

const ID = {
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
  codecId: 0x86,
  codecPrivate: 0x63a2,
  video: 0xe0,
  pixelWidth: 0xb0,
  pixelHeight: 0xba,
  audio: 0xe1,
  samplingFrequency: 0xb5,
  channels: 0x9f,
  cluster: 0x1f43b675,
  clusterTimestamp: 0xe7,
  simpleBlock: 0xa3,
};
/** One millisecond. */
const SCALE_NS = 1_000_000;
const UNKNOWN_SIZE = Buffer.from('01ffffffffffffff', 'hex');
/** A block's time has 16 bits of its own. */
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
    const info = [number(ID.timestampScale, SCALE_NS), text(ID.muxingApp, NAME), text(ID.writingApp, NAME)];
    await this.#file.write(
      Buffer.concat([
        element(ID.ebml, [text(ID.docType, 'matroska')]),
        idOf(ID.segment),
        UNKNOWN_SIZE,
        element(ID.info, info),
        element(ID.tracks, [trackEntry(track)]),
      ]),
    );
  }

  /** @param atMs a whole number; one that is not after the frame before becomes so. */
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

function trackEntry(track: MatroskaTrack): Buffer {
  const isVideo = track.codec === 'V_VP8';
  const common = [
    number(ID.trackNumber, 1),
    number(ID.trackUid, 1),
    number(ID.trackType, isVideo ? 1 : 2),
    text(ID.codecId, track.codec),
  ];
  if (track.codec === 'V_VP8') {
    const size = [number(ID.pixelWidth, track.width), number(ID.pixelHeight, track.height)];
    return element(ID.trackEntry, [...common, element(ID.video, size)]);
  }
  const rate = Buffer.alloc(8);
  rate.writeDoubleBE(48_000);
  const sound = [element(ID.samplingFrequency, [rate]), number(ID.channels, 2)];
  const audio = element(ID.audio, sound);
  return element(ID.trackEntry, [...common, element(ID.codecPrivate, [opusHead()]), audio]);
}

/** RFC 7845, section 5.1: stereo at 48 kHz, nothing to skip, no gain. A decoder gives both sides of mono, too. */
function opusHead(): Buffer {
  const head = Buffer.alloc(19);
  head.write('OpusHead', 0, 'latin1');
  head.writeUInt8(1, 8);
  head.writeUInt8(2, 9);
  head.writeUInt32LE(48_000, 12);
  return head;
}

function element(id: number, content: readonly Buffer[]): Buffer {
  const bytes = content.reduce((sum, { length }) => sum + length, 0);
  const size = Buffer.alloc(8);
  size.writeUInt32BE(Math.floor(bytes / 2 ** 32), 0);
  size.writeUInt32BE(bytes >>> 0, 4);
  // Eight bytes for the size, whatever it is.
  size.writeUInt8(1, 0);
  return Buffer.concat([idOf(id), size, ...content]);
}

function number(id: number, value: number): Buffer {
  const bytes = Buffer.alloc(6);
  bytes.writeUIntBE(value, 0, 6);
  return element(id, [bytes]);
}

function text(id: number, value: string): Buffer {
  return element(id, [Buffer.from(value)]);
}

function idOf(id: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(id);
  return bytes.subarray(bytes.findIndex((byte) => byte !== 0));
}
