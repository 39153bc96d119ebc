import type { FlvTag } from '../protocols/flv/reader.ts';
import { FlvTagType } from '../protocols/flv/tags.ts';
import { H264Depacketiser } from '../protocols/rtp/reader.ts';
import { JitterBuffer, type OrderedPacket } from '../rooms/compose/jitter-buffer.ts';
import { parseRtp, type RtpPacket } from '../rooms/compose/rtp.ts';
import { ArrivalClock } from './arrival-clock.ts';
import type { OpusPacket } from './opus-passthrough.ts';

/** Time to wait for the retransmission of a lost packet. */
const PATIENCE = { waitMs: 120, settleMs: 0 };
const RATES = { video: 90_000, audio: 48_000 } as const;
const HEADER_BYTES = 12;
/** Interval between keyframe requests: senders ignore more frequent ones. */
const AGAIN_MS = 500;
const KEY_FRAME = 1;
const SEQUENCE_HEADER = 0;

interface Options {
  onPicture(tag: FlvTag): void;
  onSound(packet: OpusPacket): void;
  /** Requests a keyframe. */
  askForPicture(): void;
}

/** Assembles frames from the packets of a WHIP client, each track in order and both on one timeline. */
export class PublisherMedia {
  readonly #options: Options;
  readonly #orders = { video: order('video'), audio: order('audio') };
  readonly #clocks = { video: new ArrivalClock(RATES.video), audio: new ArrivalClock(RATES.audio) };
  readonly #pictures: H264Depacketiser;
  readonly #bornMs = performance.now();
  /** No frame can be decoded before the next keyframe. */
  #isWaiting = true;
  #askedMs = Number.NEGATIVE_INFINITY;

  constructor(options: Options) {
    this.#options = options;
    this.#pictures = new H264Depacketiser(new Map(), (tag) => this.#picture(tag));
  }

  /** @param data an RTP packet (RFC 3550), in memory of its own. */
  packet(kind: 'audio' | 'video', data: Buffer): void {
    const rtp = parseRtp(data) ?? padding(data);
    if (rtp === null) return;
    const receivedMs = performance.now() - this.#bornMs;
    const ready: OrderedPacket[] = [];
    this.#orders[kind].push({ data, receivedMs, offset: 0 }, rtp, ready);
    for (const packet of ready) {
      const ms = this.#clocks[kind].timeOf(packet.timestamp, packet.receivedMs);
      if (kind === 'video') this.#part(packet, ms);
      else this.#packetOfSound(packet, Math.max(0, Math.round(ms)));
    }
  }

  #packetOfSound({ rtp: { payload: data }, timestamp: ticks }: OrderedPacket, ms: number): void {
    if (data.length > 0) this.#options.onSound({ ms, ticks, data });
  }

  #part({ rtp, isAfterLoss }: OrderedPacket, ms: number): void {
    const { payload, timestamp, isMarked: isLast, payloadType } = rtp;
    if (isAfterLoss) {
      this.#isWaiting = true;
      this.#pictures.lost(timestamp);
    }
    if (payload.length > 0) this.#pictures.packet({ payload, timestamp, isLast, payloadType }, ms);
    if (this.#isWaiting) this.#ask();
  }

  #picture(tag: FlvTag): void {
    const [first = 0, kind] = tag.payload;
    const isHeader = kind === SEQUENCE_HEADER;
    if (!isHeader && first >> 4 === KEY_FRAME) this.#isWaiting = false;
    if (isHeader || !this.#isWaiting) this.#options.onPicture({ ...tag, type: FlvTagType.video });
  }

  #ask(): void {
    const now = performance.now();
    if (now - this.#askedMs < AGAIN_MS) return;
    this.#askedMs = now;
    this.#options.askForPicture();
  }
}

function order(kind: 'audio' | 'video'): JitterBuffer {
  return new JitterBuffer(RATES[kind], null, PATIENCE);
}

/** Parses a packet without payload: padding-only packets use a sequence number, too. */
function padding(data: Buffer): RtpPacket | null {
  if (data.length < HEADER_BYTES || data.readUInt8(0) >> 6 !== 2) return null;
  return {
    payloadType: data.readUInt8(1) & 0x7f,
    isMarked: false,
    sequence: data.readUInt16BE(2),
    timestamp: data.readUInt32BE(4),
    ssrc: data.readUInt32BE(8),
    extensions: null,
    payload: Buffer.alloc(0),
  };
}
