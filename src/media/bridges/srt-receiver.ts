import type { Socket } from 'node:dgram';
import { SrtConnection } from '../protocols/srt/connection.ts';
import {
  Control,
  type ControlPacket,
  distance,
  HEADER_BYTES,
  readSpan,
  SEQUENCE_MASK,
  writeLosses,
} from '../protocols/srt/packets.ts';
import type { PushError } from '../restream/failure.ts';

export interface SrtReceiverOptions {
  /** Connected to the source. */
  socket: Socket;
  streamId: string | null;
  latencyMs: number;
  /** Receives the payload of packets in order; those lost permanently are left out. */
  onBytes(bytes: Buffer): void;
}

const ACK_MS = 10;
const NAK_AGAIN_MS = 40;
const MAX_NAKED = 256;
/** Limit of packets waiting behind a lost one, and the window announced to the peer. */
const MAX_WAITING = 8192;
const START_RTT_US = 100_000;
const ENCRYPTED = 0x1800_0000;

/**
 * SRT caller in live mode, which receives (draft-sharabayko-srt-01): acknowledges packets, requests missing
 * ones again, and skips them when they are later than the latency.
 */
export class SrtReceiver {
  readonly #options: SrtReceiverOptions;
  readonly #connection: SrtConnection;
  readonly #waiting = new Map<number, Buffer>();
  /** Sequence number to deliver next; null before the first packet. */
  #next: number | null = null;
  /** Sequence number after the last one received. */
  #end = 0;
  /** Since when the next one is missing. */
  #missingMs: number | null = null;
  #nakedMs = 0;
  #ackedMs = 0;
  #acked: number | null = null;
  #ackNumber = 0;
  readonly #ackTimes = new Map<number, number>();
  #rttUs = START_RTT_US;

  constructor(options: SrtReceiverOptions) {
    this.#options = options;
    this.#connection = new SrtConnection(
      { ...options, who: 'source' },
      {
        onTick: (now) => this.#onTick(now),
        onControl: (packet) => this.#onControl(packet),
        onData: (packet) => this.#onData(packet),
      },
    );
  }

  get accepted(): Promise<void> {
    return this.#connection.accepted;
  }

  /** Resolves with null after `end`, and when the source announced its end. */
  get closed(): Promise<PushError | null> {
    return this.#connection.closed;
  }

  end(): void {
    this.#connection.end();
  }

  /** @param words what the source does, as the end of a sentence. */
  fail(words: string): void {
    this.#connection.fail('normal', words);
  }

  #onData(packet: Buffer): void {
    if ((packet.readUInt32BE(4) & ENCRYPTED) !== 0) {
      this.#connection.fail('fatal', 'sends encrypted packets, which is not supported');
      return;
    }
    const sequence = packet.readUInt32BE(0) & SEQUENCE_MASK;
    if (this.#next === null) this.#beginAt(sequence);
    const ahead = distance(this.#next ?? sequence, sequence);
    if (Math.abs(ahead) > MAX_WAITING) this.#beginAt(sequence);
    else if (ahead < 0 || this.#waiting.has(sequence)) return;
    // Copied, because the memory of a datagram is reused.
    this.#waiting.set(sequence, Buffer.from(packet.subarray(HEADER_BYTES)));
    const lost = distance(this.#end, sequence);
    if (lost >= 0) this.#end = (sequence + 1) & SEQUENCE_MASK;
    // A gap is requested at the next tick.
    if (lost > 0) this.#nakedMs = 0;
    this.#deliver();
  }

  /** Starts at a sequence number: initially, and after the source jumped to another one. */
  #beginAt(sequence: number): void {
    this.#waiting.clear();
    this.#next = sequence;
    this.#end = sequence;
    this.#missingMs = null;
  }

  #deliver(): void {
    if (this.#next === null) return;
    // The receiver may be ended while it delivers packets that waited behind a gap.
    for (let payload = this.#waiting.get(this.#next); payload !== undefined && !this.#connection.isOver; ) {
      this.#waiting.delete(this.#next);
      this.#next = (this.#next + 1) & SEQUENCE_MASK;
      this.#missingMs = null;
      this.#options.onBytes(payload);
      payload = this.#waiting.get(this.#next);
    }
    if (this.#waiting.size > 0) this.#missingMs ??= performance.now();
  }

  #onTick(now: number): void {
    if (this.#next === null) return;
    if (this.#missingMs !== null && now - this.#missingMs > this.#options.latencyMs) this.#skip();
    if (this.#missingMs !== null && now - this.#nakedMs > NAK_AGAIN_MS) {
      this.#nakedMs = now;
      this.#connection.send(Control.nak, 0, writeLosses(this.#missing()));
    }
    if (now - this.#ackedMs >= ACK_MS && this.#acked !== this.#next) this.#acknowledge(now);
  }

  /** Skips missing packets that would arrive too late. */
  #skip(): void {
    while (this.#next !== null && this.#waiting.size > 0 && !this.#waiting.has(this.#next)) {
      this.#next = (this.#next + 1) & SEQUENCE_MASK;
    }
    this.#missingMs = null;
    this.#deliver();
  }

  #missing(): number[] {
    const missing: number[] = [];
    if (this.#next === null) return missing;
    for (let at = this.#next; at !== this.#end && missing.length < MAX_NAKED; at = (at + 1) & SEQUENCE_MASK) {
      if (!this.#waiting.has(at)) missing.push(at);
    }
    return missing;
  }

  /** Acknowledges the packets received without a gap and reports the round-trip time (section 3.2.4). */
  #acknowledge(now: number): void {
    this.#ackedMs = now;
    this.#acked = this.#next;
    this.#ackNumber += 1;
    this.#ackTimes.set(this.#ackNumber, now);
    if (this.#ackTimes.size > 64) this.#ackTimes.delete(this.#ackNumber - 64);
    const body = Buffer.alloc(16);
    body.writeUInt32BE(this.#next ?? 0, 0);
    body.writeUInt32BE(this.#rttUs, 4);
    body.writeUInt32BE(Math.round(this.#rttUs / 2), 8);
    body.writeUInt32BE(Math.max(2, MAX_WAITING - this.#waiting.size), 12);
    this.#connection.send(Control.ack, this.#ackNumber, body);
  }

  #onControl({ type, info, body }: ControlPacket): void {
    if (type === Control.ackAck) {
      const sentMs = this.#ackTimes.get(info);
      if (sentMs === undefined) return;
      this.#ackTimes.delete(info);
      const measuredUs = Math.round((performance.now() - sentMs) * 1000);
      this.#rttUs = Math.round((7 * this.#rttUs + measuredUs) / 8);
    } else if (type === Control.dropRequest) this.#onDropped(readSpan(body));
  }

  /** Skips packets that the source will not send again. */
  #onDropped(span: { first: number; last: number } | null): void {
    if (span === null || this.#next === null) return;
    const isNext = distance(span.first, this.#next) >= 0 && distance(this.#next, span.last) >= 0;
    if (!isNext) return;
    const former = this.#next;
    this.#next = (span.last + 1) & SEQUENCE_MASK;
    if (distance(this.#end, this.#next) > 0) this.#end = this.#next;
    this.#forget(former, (this.#next - former) & SEQUENCE_MASK);
    this.#missingMs = null;
    this.#deliver();
  }
  /** Removes what waits of `count` packets; the cost is the smaller of `count` and of what waits. */
  #forget(first: number, count: number): void {
    if (count < this.#waiting.size) {
      for (let ahead = 0; ahead < count; ahead += 1) this.#waiting.delete((first + ahead) & SEQUENCE_MASK);
      return;
    }
    for (const sequence of this.#waiting.keys()) {
      if (distance(first, sequence) < count) this.#waiting.delete(sequence);
    }
  }
}
