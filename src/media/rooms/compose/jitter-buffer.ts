import type { FileHandle } from 'node:fs/promises';
import { type MjrPacket, readMjrPackets } from './mjr.ts';
import { parseRtp, type RtpPacket, wrappedDistance } from './rtp.ts';

/** Numbers of one packet: as sent, and without wraparound. */
interface Numbers {
  ssrc: number;
  /** Values as sent: 16 bits, 32 bits. */
  raw: { sequence: number; timestamp: number };
  sequence: number;
  timestamp: number;
  receivedMs: number;
}

/** Position from which reading can resume, with the same result as reading from the start. */
export interface ResumePoint extends Numbers {
  offset: number;
}

/** Packet in sending order, without duplicates. */
export interface OrderedPacket {
  /** Sequence number without wraparound. */
  sequence: number;
  /** Timestamp without wraparound, in ticks of the codec's clock. */
  timestamp: number;
  receivedMs: number;
  /** Packets before it are missing. */
  isAfterLoss: boolean;
  /** Valid until the next packets are requested. */
  rtp: RtpPacket;
  /** Position from which reading can resume at this packet. */
  resume: ResumePoint;
}

/** Maximum times to wait for packets out of order, in milliseconds. */
export interface ReorderTimeouts {
  /** Time after which a missing packet counts as lost; retransmissions come a little later. */
  waitMs: number;
  /** Initial wait, because the first packet received may not be the first one sent. */
  settleMs: number;
}

const RECORDED: ReorderTimeouts = { waitMs: 1000, settleMs: 250 };
const MAX_HELD = 1024;
/** Jump in sequence numbers that counts as a restart of the sender, whose first number is random. */
const RESTART_DISTANCE = 5000;

interface Held {
  packet: MjrPacket;
  rtp: RtpPacket;
  numbers: Numbers;
}

/** Reads the packets of a track in the order of their numbers. */
export async function* readInOrder(
  file: FileHandle,
  bodyAt: number,
  clockRate: number,
  from: ResumePoint | null,
): AsyncGenerator<OrderedPacket[]> {
  const order = new JitterBuffer(clockRate, from);
  for await (const packets of readMjrPackets(file, from?.offset ?? bodyAt)) {
    const ready: OrderedPacket[] = [];
    for (const packet of packets) {
      const rtp = parseRtp(packet.data);
      if (rtp !== null) order.push(packet, rtp, ready);
    }
    order.keep();
    if (ready.length > 0) yield ready;
  }
  const rest: OrderedPacket[] = [];
  order.flush(rest);
  if (rest.length > 0) yield rest;
}

/** Buffer that restores the sending order of one track's packets. */
export class JitterBuffer {
  readonly #ticksPerMs: number;
  readonly #patience: ReorderTimeouts;
  readonly #held = new Map<number, Held>();
  #newest: Numbers | null;
  /** Next expected sequence number. */
  #next: number;
  /** Time since which the expected packet has been missing. */
  #missedAtMs: number | null = null;
  /** Arrival time of the very first packet, until the first expected number is known. */
  #beganAtMs: number | null = null;

  constructor(clockRate: number, from: ResumePoint | null, patience = RECORDED) {
    this.#ticksPerMs = clockRate / 1000;
    this.#patience = patience;
    this.#newest = from;
    this.#next = from?.sequence ?? 0;
  }

  push(packet: MjrPacket, rtp: RtpPacket, ready: OrderedPacket[]): void {
    const numbers = this.#count(packet, rtp, ready);
    const { sequence } = numbers;
    if ((sequence < this.#next && this.#beganAtMs === null) || this.#held.has(sequence)) return;
    this.#held.set(sequence, { packet, rtp, numbers });
    if (this.#beganAtMs !== null) {
      if (packet.receivedMs - this.#beganAtMs < this.#patience.settleMs && this.#held.size <= MAX_HELD)
        return;
      this.#begin();
    }
    this.#release(ready);
    if (this.#held.size === 0) return;
    this.#missedAtMs ??= packet.receivedMs;
    const isLost = packet.receivedMs - this.#missedAtMs > this.#patience.waitMs;
    if (isLost || this.#held.size > MAX_HELD) this.#skip(ready);
  }

  /** Copies the held packets, because their memory is about to be reused. */
  keep(): void {
    for (const [sequence, { packet, numbers }] of this.#held) {
      const data = Buffer.from(packet.data);
      const rtp = parseRtp(data);
      if (rtp !== null) this.#held.set(sequence, { packet: { ...packet, data }, rtp, numbers });
    }
  }

  flush(ready: OrderedPacket[]): void {
    if (this.#beganAtMs !== null) {
      this.#begin();
      this.#release(ready);
    }
    while (this.#held.size > 0) this.#skip(ready);
  }

  #count(packet: MjrPacket, rtp: RtpPacket, ready: OrderedPacket[]): Numbers {
    const { sequence, timestamp, ssrc } = rtp;
    const { receivedMs } = packet;
    const last = this.#newest;
    const raw = { sequence, timestamp };
    const distance = last === null ? 0 : wrappedDistance(last.raw.sequence, sequence, 16);
    if (last === null) {
      this.#newest = { ssrc, raw, sequence: 0, timestamp: 0, receivedMs };
      this.#beganAtMs = receivedMs;
      return this.#newest;
    }
    if (last.ssrc !== ssrc || Math.abs(distance) > RESTART_DISTANCE) {
      this.flush(ready);
      const ticks = Math.max(0, Math.round((receivedMs - last.receivedMs) * this.#ticksPerMs));
      const counted = { sequence: last.sequence + 1, timestamp: last.timestamp + ticks };
      this.#newest = { ssrc, raw, ...counted, receivedMs };
      this.#next = counted.sequence;
      return this.#newest;
    }
    const numbers = {
      ...{ ssrc, raw, receivedMs, sequence: last.sequence + distance },
      timestamp: last.timestamp + wrappedDistance(last.raw.timestamp, timestamp, 32),
    };
    if (distance > 0) this.#newest = numbers;
    return numbers;
  }

  #begin(): void {
    this.#beganAtMs = null;
    if (this.#held.size > 0) this.#next = Math.min(...this.#held.keys());
  }

  /** Releases consecutive packets, beginning with the next expected one. */
  #release(ready: OrderedPacket[], isAfterLoss = false): void {
    for (let held = this.#held.get(this.#next); held !== undefined; held = this.#held.get(this.#next)) {
      const { sequence, timestamp, receivedMs } = held.numbers;
      const resume = { ...held.numbers, offset: this.#lowestOffset() };
      ready.push({ sequence, timestamp, receivedMs, isAfterLoss, rtp: held.rtp, resume });
      this.#held.delete(sequence);
      this.#next += 1;
      this.#missedAtMs = null;
      isAfterLoss = false;
    }
  }

  /** Skips the missing packets up to the first one held. */
  #skip(ready: OrderedPacket[]): void {
    this.#next = Math.min(...this.#held.keys());
    this.#release(ready, true);
  }

  /** Returns the lowest file offset of the held packets, which arrived before the awaited one. */
  #lowestOffset(): number {
    let lowest = Number.POSITIVE_INFINITY;
    for (const { packet } of this.#held.values()) lowest = Math.min(lowest, packet.offset);
    return lowest;
  }
}
