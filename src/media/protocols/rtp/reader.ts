import type { FlvTag } from '../flv/reader.ts';
import { FlvTagType } from '../flv/tags.ts';

/** One packet (RFC 3550, section 5.1). */
export interface RtpPacket {
  isLast: boolean;
  payloadType: number;
  timestamp: number;
  payload: Buffer;
}

const HEADER_BYTES = 12;

/** Parses an RTP packet; null when invalid. */
export function readRtp(packet: Buffer): RtpPacket | null {
  if (packet.length < HEADER_BYTES || packet.readUInt8(0) >> 6 !== 2) return null;
  const first = packet.readUInt8(0);
  let start = HEADER_BYTES + 4 * (first & 0x0f);
  if ((first & 0x10) !== 0 && packet.length >= start + 4) start += 4 + 4 * packet.readUInt16BE(start + 2);
  const padding = (first & 0x20) === 0 ? 0 : (packet.at(-1) ?? 0);
  if (start + padding > packet.length) return null;
  return {
    isLast: (packet.readUInt8(1) & 0x80) !== 0,
    payloadType: packet.readUInt8(1) & 0x7f,
    timestamp: packet.readUInt32BE(4),
    payload: packet.subarray(start, packet.length - padding),
  };
}

/** Converts the packets of one track to tags. */
export interface Depacketiser {
  /** @param ms the packet's time in milliseconds. */
  packet(packet: RtpPacket, ms: number): void;
}

type OnTag = (tag: FlvTag) => void;

const MAX_FRAME_BYTES = 8 * 2 ** 20;
/** Maximum units of a frame, and packets of a unit: each costs memory, however small it is. */
const MAX_PIECES = 16_384;
/** Units in one packet of an aggregate format. */
const MAX_PACKET_UNITS = 64;
/** The record has 16 bits for their lengths. */
const MAX_SET_BYTES = 2 ** 16 - 1;
/** FLV has 24 bits for it, with a sign. */
const MIN_COMPOSITION_MS = -(2 ** 23);
const STAP_A = 24;
const FU_A = 28;
const IDR = 5;
const SPS = 7;
const PPS = 8;
const DELIMITER = 9;

/** H.264 (RFC 6184): single units, STAP-A and FU-A, which are packetisation modes 0 and 1. */
export class H264Depacketiser implements Depacketiser {
  readonly #onTag: OnTag;
  #sps: Buffer | null = null;
  #pps: Buffer | null = null;
  #isNews = false;
  #units: Buffer[] = [];
  #bytes = 0;
  #fragments: Buffer[] | null = null;
  #timestamp: number | null = null;
  #damaged: number | null = null;
  #ms = 0;
  #lastDts = Number.NEGATIVE_INFINITY;
  /** Latest presentation timestamp of the frames received. */
  #lastShown: number | null = null;

  constructor(parameters: ReadonlyMap<string, string>, onTag: OnTag) {
    this.#onTag = onTag;
    for (const text of (parameters.get('sprop-parameter-sets') ?? '').split(',', MAX_PACKET_UNITS)) {
      const unit = Buffer.from(text, 'base64');
      if (unit.length > 3) this.#unit(unit);
    }
  }

  packet({ isLast, timestamp, payload }: RtpPacket, ms: number): void {
    if (this.#timestamp !== null && this.#timestamp !== timestamp) this.#flush();
    this.#timestamp = timestamp;
    this.#ms = ms;
    if (timestamp === this.#damaged) return;
    this.#damaged = null;
    const type = (payload[0] ?? 0) & 0x1f;
    if (type === STAP_A) this.#aggregate(payload);
    else if (type === FU_A) this.#fragment(payload);
    else if (type > 0 && type < STAP_A) this.#unit(Buffer.from(payload));
    if (isLast) this.#flush();
  }

  /** Handles missing packets: the rest of their frame is discarded. */
  lost(timestamp: number): void {
    this.#fragments = null;
    this.#units = [];
    this.#bytes = 0;
    this.#damaged = timestamp;
  }

  /** Ignores the rest of a packet from an empty unit, or one that is cut short, on. */
  #aggregate(payload: Buffer): void {
    let at = 1;
    for (let count = 0; count < MAX_PACKET_UNITS && at + 2 <= payload.length; count += 1) {
      const size = payload.readUInt16BE(at);
      const end = at + 2 + size;
      if (size === 0 || end > payload.length) return;
      this.#unit(Buffer.from(payload.subarray(at + 2, end)));
      at = end;
    }
  }

  #fragment(payload: Buffer): void {
    if (payload.length < 3) return;
    const indicator = payload.readUInt8(0);
    const header = payload.readUInt8(1);
    if ((header & 0x80) !== 0) this.#fragments = [Buffer.of((indicator & 0xe0) | (header & 0x1f))];
    if (this.#fragments === null) return;
    this.#fragments.push(Buffer.from(payload.subarray(2)));
    this.#bytes += payload.length;
    if (this.#bytes > MAX_FRAME_BYTES || this.#fragments.length > MAX_PIECES) this.#fragments = null;
    if ((header & 0x40) === 0 || this.#fragments === null) return;
    const whole = Buffer.concat(this.#fragments);
    this.#fragments = null;
    this.#unit(whole);
  }

  #unit(unit: Buffer): void {
    const type = (unit[0] ?? 0) & 0x1f;
    if ((type === SPS || type === PPS) && unit.length > MAX_SET_BYTES) return;
    if (type === SPS) {
      this.#isNews ||= this.#sps === null || !this.#sps.equals(unit);
      this.#sps = unit;
    } else if (type === PPS) {
      this.#isNews ||= this.#pps === null || !this.#pps.equals(unit);
      this.#pps = unit;
    } else if (type !== DELIMITER && this.#fits(unit)) {
      this.#units.push(unit);
      this.#bytes += unit.length;
    }
  }

  #fits({ length }: Buffer): boolean {
    return this.#bytes + length <= MAX_FRAME_BYTES && this.#units.length < MAX_PIECES;
  }

  /** Emits the completed frame. */
  #flush(): void {
    const units = this.#units;
    this.#units = [];
    this.#bytes = 0;
    if (this.#isNews) this.#header();
    if (units.length === 0 || this.#sps === null || this.#pps === null) return;
    const isKey = units.some((unit) => ((unit[0] ?? 0) & 0x1f) === IDR);
    // Packets carry the presentation time of a frame; it is decoded no earlier than the previous one.
    const pts = Math.round(this.#ms);
    const dts = Math.max(pts, this.#lastDts + 1);
    this.#lastDts = dts;
    // Milliseconds also decrease where a clock is corrected: such a frame is not out of order.
    const compositionMs = this.#isShownNext() ? 0 : Math.max(pts - dts, MIN_COMPOSITION_MS);
    const head = Buffer.of(isKey ? 0x17 : 0x27, 1, 0, 0, 0);
    head.writeIntBE(compositionMs, 2, 3);
    const parts = units.flatMap((unit) => [uint32(unit.length), unit]);
    this.#onTag({ type: FlvTagType.video, timestamp: dts, payload: Buffer.concat([head, ...parts]) });
  }

  /** Compares timestamps, which wrap around after 32 bits. */
  #isShownNext(): boolean {
    const timestamp = this.#timestamp ?? 0;
    const isNext = this.#lastShown === null || ((timestamp - this.#lastShown) | 0) > 0;
    if (isNext) this.#lastShown = timestamp;
    return isNext;
  }

  /** An AVCDecoderConfigurationRecord (ISO/IEC 14496-15, 5.3.3.1). */
  #header(): void {
    const [sps, pps] = [this.#sps, this.#pps];
    if (sps === null || pps === null) return;
    this.#isNews = false;
    const record = [
      Buffer.of(0x17, 0, 0, 0, 0, 1, sps[1] ?? 0, sps[2] ?? 0, sps[3] ?? 0, 0xff, 0xe1),
      ...[uint16(sps.length), sps, Buffer.of(1), uint16(pps.length), pps],
    ];
    const timestamp = Math.max(0, Math.round(this.#ms));
    this.#onTag({ type: FlvTagType.video, timestamp, payload: Buffer.concat(record) });
  }
}

const AAC_FRAME_SAMPLES = 1024;
/** An AudioSpecificConfig (ISO/IEC 14496-3, 1.6.2.1) has few bytes, unless it lists the channels itself. */
const MAX_AAC_CONFIG_BYTES = 256;
/** The modes of RFC 3640 for AAC, by the bits of a unit's size and of its index: AAC-hbr and AAC-lbr. */
const AAC_MODES: readonly AacMode[] = [
  { sizeBits: 13, indexBits: 3 },
  { sizeBits: 6, indexBits: 2 },
];
/** Fields that no unit has in these modes. */
const OTHER_AAC_FIELDS = [
  'ctsdeltalength',
  'dtsdeltalength',
  'randomaccessindication',
  'streamstateindication',
  'auxiliarydatasizelength',
];

interface AacMode {
  sizeBits: number;
  indexBits: number;
}

export interface AacFormat extends AacMode {
  config: Buffer;
}

/**
 * @returns the AAC packetization, from its parameters in the SDP; null for modes other than AAC-hbr and
 *   AAC-lbr.
 */
export function aacFormat(parameters: ReadonlyMap<string, string>): AacFormat | null {
  const bits = (name: string, absent: number) => Number(parameters.get(name) ?? absent);
  const usual = parameters.get('mode')?.toLowerCase() === 'aac-lbr' ? 6 : 13;
  const mode = AAC_MODES.find(
    ({ sizeBits, indexBits }) =>
      sizeBits === bits('sizelength', usual) &&
      indexBits === bits('indexlength', indexBits) &&
      indexBits === bits('indexdeltalength', indexBits),
  );
  const config = Buffer.from(parameters.get('config') ?? '', 'hex');
  const isConfigured = config.length > 0 && config.length <= MAX_AAC_CONFIG_BYTES;
  const isPlain = OTHER_AAC_FIELDS.every((name) => bits(name, 0) === 0);
  return mode === undefined || !isConfigured || !isPlain ? null : { ...mode, config };
}

/** AAC (RFC 3640, mode AAC-hbr or AAC-lbr). */
export class AacDepacketiser implements Depacketiser {
  readonly #onTag: OnTag;
  readonly #clockRate: number;
  readonly #sizeBits: number;
  readonly #headerBits: number;
  #config: Buffer | null;
  /** Fragments of a unit that is larger than a packet. */
  #fragments: Buffer[] = [];

  constructor({ sizeBits, indexBits, config }: AacFormat, clockRate: number, onTag: OnTag) {
    this.#onTag = onTag;
    this.#clockRate = clockRate;
    this.#sizeBits = sizeBits;
    this.#headerBits = sizeBits + indexBits;
    this.#config = config;
  }

  /** Ignores a packet of more units than one may have, and units that are empty or cut short. */
  packet({ isLast, payload }: RtpPacket, ms: number): void {
    if (payload.length < 2) return;
    const bits = payload.readUInt16BE(0);
    const count = Math.floor(bits / this.#headerBits);
    if (count > MAX_PACKET_UNITS) return;
    if (count > 1) this.#fragments = [];
    const headers = payload.subarray(2);
    let at = 2 + Math.ceil(bits / 8);
    for (let index = 0; index < count && at < payload.length; index += 1) {
      const size = bitsAt(headers, index * this.#headerBits, this.#sizeBits);
      if (size === 0) continue;
      const unit = Buffer.from(payload.subarray(at, at + size));
      at += size;
      const time = ms + (index * AAC_FRAME_SAMPLES * 1000) / this.#clockRate;
      if (unit.length === size && this.#fragments.length === 0) this.#frame(unit, time);
      else if (count === 1) this.#fragment(unit, isLast, time);
    }
  }

  #fragment(fragment: Buffer, isLast: boolean, ms: number): void {
    this.#fragments.push(fragment);
    const isWithin = this.#fragments.length <= MAX_PACKET_UNITS;
    if (!isLast && isWithin) return;
    const whole = Buffer.concat(this.#fragments);
    this.#fragments = [];
    if (isWithin && whole.length < 2 ** this.#sizeBits) this.#frame(whole, ms);
  }

  #frame(frame: Buffer, ms: number): void {
    const timestamp = Math.max(0, Math.round(ms));
    const tag = (kind: number, bytes: Buffer) =>
      this.#onTag({
        type: FlvTagType.audio,
        timestamp,
        payload: Buffer.concat([Buffer.of(0xaf, kind), bytes]),
      });
    if (this.#config !== null) tag(0, this.#config);
    this.#config = null;
    tag(1, frame);
  }
}

function bitsAt(bytes: Buffer, at: number, count: number): number {
  let value = 0;
  for (let bit = at; bit < at + count; bit += 1) {
    value = value * 2 + (((bytes[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1);
  }
  return value;
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}
