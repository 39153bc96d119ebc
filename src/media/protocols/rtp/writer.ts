import { randomInt } from 'node:crypto';

const HEADER_BYTES = 12;
/** Fits a packet of every network, with all that is put around it. */
export const MAX_PAYLOAD = 1150;
/** A VP8 frame begins in this packet (RFC 7741, section 4.2). */
const STARTS_FRAME = 0x10;
const OPUS_STEP = 960;
const OPUS_RATE = 48;
const VIDEO_RATE = 90;
/** Deviation of audio from its expected time, in milliseconds, from which the timestamps jump. */
const JUMP_MS = 100;

/** Numbers the packets of one track (RFC 3550, section 5.1). */
export class RtpNumbers {
  readonly #payloadType: number;
  readonly #ssrc = randomInt(1, 2 ** 32);
  #next = randomInt(0, 2 ** 15);

  constructor(payloadType: number) {
    this.#payloadType = payloadType;
  }

  /** Builds the header of the next packet; its payload follows. */
  head(timestamp: number, isLast: boolean): Buffer {
    const head = Buffer.alloc(HEADER_BYTES);
    head.writeUInt8(0x80, 0);
    head.writeUInt8((isLast ? 0x80 : 0) | this.#payloadType, 1);
    head.writeUInt16BE(this.#next, 2);
    head.writeUInt32BE(timestamp >>> 0, 4);
    head.writeUInt32BE(this.#ssrc, 8);
    this.#next = (this.#next + 1) & 0xffff;
    return head;
  }

  packet(timestamp: number, isLast: boolean, payload: readonly Buffer[]): Buffer {
    return Buffer.concat([this.head(timestamp, isLast), ...payload]);
  }
}

/** VP8 frames in packets (RFC 7741). */
export class Vp8Writer {
  readonly #numbers: RtpNumbers;

  constructor(payloadType: number) {
    this.#numbers = new RtpNumbers(payloadType);
  }

  frame(ms: number, frame: Buffer): Buffer[] {
    const packets: Buffer[] = [];
    for (let at = 0; at < frame.length; at += MAX_PAYLOAD) {
      const descriptor = Buffer.of(at === 0 ? STARTS_FRAME : 0);
      const part = frame.subarray(at, at + MAX_PAYLOAD);
      const isLast = at + MAX_PAYLOAD >= frame.length;
      packets.push(this.#numbers.packet(ms * VIDEO_RATE, isLast, [descriptor, part]));
    }
    return packets;
  }
}

/**
 * Opus in packets of 20 milliseconds (RFC 7587), whose timestamps advance without the rounding of the file's
 * times.
 */
export class OpusWriter {
  readonly #numbers: RtpNumbers;
  #next: number | null = null;

  constructor(payloadType: number) {
    this.#numbers = new RtpNumbers(payloadType);
  }

  packet(ms: number, data: Buffer): Buffer {
    const told = ms * OPUS_RATE;
    const isOff = this.#next === null || Math.abs(told - this.#next) > JUMP_MS * OPUS_RATE;
    const timestamp = isOff ? told : (this.#next ?? told);
    this.#next = timestamp + OPUS_STEP;
    return this.#numbers.packet(timestamp, isOff, [data]);
  }
}
