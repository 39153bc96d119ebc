import type { FileHandle } from 'node:fs/promises';
import { type MjrPacket, readMjrPackets } from './mjr.ts';
import { parseRtp, type RtpPacket, wrappedDistance } from './rtp.ts';

/** Numbers of one packet: as it was sent, and counted on without an end. */
interface Numbers {
  ssrc: number;
  /** As sent: 16 bits, 32 bits. */
  raw: { sequence: number; timestamp: number };
  sequence: number;
  timestamp: number;
  receivedMs: number;
}

/** Where reading may begin again, as if it had come there from the start. */
export interface ResumePoint extends Numbers {
  offset: number;
}

/** A packet in the order in which it was sent, each once. */
export interface OrderedPacket {
  /** Numbers that never begin anew. */
  sequence: number;
  /** In ticks of the codec's clock; it never begins anew, either. */
  timestamp: number;
  receivedMs: number;
  /** Packets before it are missing. */
  isAfterLoss: boolean;
  /** Valid until the next packets are asked for. */
  rtp: RtpPacket;
  /** Reading may begin again at this packet. */
  resume: ResumePoint;
}

/** How long order is waited for, in milliseconds. */
export interface ReorderTimeouts {
  /** Those sent once more come a little later; then they are missing. */
  waitMs: number;
  /** The first packet that came may not be the first that was sent. */
  settleMs: number;
}

const RECORDED: ReorderTimeouts = { waitMs: 1000, settleMs: 250 };
const MAX_HELD = 1024;
/** A sender that begins anew begins anywhere. */
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

/** Puts the packets of one track in their order. */
export class JitterBuffer {
  readonly #ticksPerMs: number;
  readonly #patience: ReorderTimeouts;
  readonly #held = new Map<number, Held>();
  #newest: Numbers | null;
  /** The number that is due. */
  #next: number;
  /** When it was first missed. */
  #missedAtMs: number | null = null;
  /** When the first of all came, until it is known which is due. */
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

  /** What is held lies in memory that is about to be used again. */
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

  /** Hands over what is due and there. */
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

  /** Gives up what is due, up to the first that is there. */
  #skip(ready: OrderedPacket[]): void {
    this.#next = Math.min(...this.#held.keys());
    this.#release(ready, true);
  }

  /** What is held has come before what was waited for. */
  #lowestOffset(): number {
    let lowest = Number.POSITIVE_INFINITY;
    for (const { packet } of this.#held.values()) lowest = Math.min(lowest, packet.offset);
    return lowest;
  }
}
