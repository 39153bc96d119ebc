import type { Socket } from 'node:dgram';
import { PushError } from '../../restream/failure.ts';
import { SrtConnection } from './connection.ts';
import type { SrtKey } from './crypto.ts';
import {
  Control,
  type ControlPacket,
  dataPacket,
  distance,
  markRetransmitted,
  PAYLOAD_BYTES,
  readLosses,
  SEQUENCE_MASK,
} from './packets.ts';

export interface SrtClientOptions {
  /** Connected to the destination. */
  socket: Socket;
  streamId: string | null;
  latencyMs: number;
  /** Null: in the clear. */
  key: SrtKey | null;
}

/** Bytes of a burst sent per tick: 128 Mbit/s. */
const BYTES_PER_TICK = 160 * 1024;
const MAX_QUEUED_BYTES = 16 * 2 ** 20;
const MAX_RESENT_PER_NAK = 512;
/** Minimum time for which packets are held for retransmission; the receiver drops later ones anyway. */
const MIN_RETENTION_MS = 1000;
/** Duration of continuous packet drops from which the destination counts as too slow. */
const MAX_DROPPING_MS = 10_000;
/** Packets encrypted with one key: packet numbers repeat after 2^31, and no key may see one twice. */
const MAX_PACKETS_PER_KEY = 2 ** 30;

interface Sent {
  packet: Buffer;
  sequence: number;
  atMs: number;
}

/** A caller of SRT in live mode, which sends. */
export class SrtClient {
  sentBytes = 0;
  readonly #options: SrtClientOptions;
  readonly #connection: SrtConnection;
  #sequence: number;
  #packets = 0;
  #message = 1;
  #queue: Buffer[] = [];
  #queuedBytes = 0;
  /** Not acknowledged yet, oldest first. */
  #unacknowledged: Sent[] = [];
  /** Bytes that may still be sent before the next tick. */
  #tickBytes = BYTES_PER_TICK;
  #droppingSinceMs: number | null = null;
  #droppedMs = 0;
  #rest: Buffer = Buffer.alloc(0);

  constructor(options: SrtClientOptions) {
    this.#options = options;
    this.#connection = new SrtConnection(
      { ...options, who: 'destination' },
      {
        onTick: (now) => this.#supply(now),
        onControl: (packet) => this.#onControl(packet),
        onData: () => {},
      },
    );
    this.#sequence = this.#connection.initial;
    void this.closed.then(() => {
      this.#queue = [];
      this.#unacknowledged = [];
    });
  }

  get accepted(): Promise<void> {
    return this.#connection.accepted;
  }

  get closed(): Promise<PushError | null> {
    return this.#connection.closed;
  }

  /** Bytes of MPEG-TS. */
  write(bytes: Buffer): void {
    if (this.#connection.isOver) return;
    let input = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    for (; input.length >= PAYLOAD_BYTES; input = input.subarray(PAYLOAD_BYTES)) {
      this.#queue.push(input.subarray(0, PAYLOAD_BYTES));
      this.#queuedBytes += PAYLOAD_BYTES;
    }
    this.#rest = Buffer.from(input);
    if (this.#queuedBytes > MAX_QUEUED_BYTES) this.#connection.over(takesLess());
  }

  end(): void {
    this.#connection.end();
  }

  #supply(now: number): void {
    this.#drop(now);
    for (this.#tickBytes = BYTES_PER_TICK; this.#tickBytes > 0 && this.#connection.isOpen; ) {
      const payload = this.#queue.shift();
      if (payload === undefined) break;
      this.#queuedBytes -= payload.length;
      this.#tickBytes -= payload.length;
      this.#sendData(payload, now);
    }
  }

  #sendData(payload: Buffer, now: number): void {
    const sequence = this.#sequence;
    const { peer: destination } = this.#connection;
    const place = { sequence, message: this.#message, timestamp: this.#connection.now(), destination };
    const { key } = this.#options;
    const packet = dataPacket(payload, place, key);
    this.#packets += 1;
    if (key !== null && this.#packets > MAX_PACKETS_PER_KEY) {
      this.#connection.over(new PushError('normal', 'Reconnecting with a different key.'));
      return;
    }
    this.#sequence = (sequence + 1) & SEQUENCE_MASK;
    this.#message = this.#message >= 0x03ff_ffff ? 1 : this.#message + 1;
    this.#unacknowledged.push({ packet, sequence, atMs: now });
    this.#connection.put(packet);
  }

  /** Drops packets that would arrive too late, and notifies the receiver not to wait for them. */
  #drop(now: number): void {
    const keptMs = Math.max(MIN_RETENTION_MS, 2 * this.#options.latencyMs);
    const late = this.#unacknowledged.findIndex(({ atMs }) => now - atMs <= keptMs);
    const count = late < 0 ? this.#unacknowledged.length : late;
    const first = this.#unacknowledged[0];
    const last = this.#unacknowledged[count - 1];
    if (count === 0 || first === undefined || last === undefined) {
      if (now - this.#droppedMs > 1000) this.#droppingSinceMs = null;
      return;
    }
    this.#unacknowledged.splice(0, count);
    const range = Buffer.alloc(8);
    range.writeUInt32BE(first.sequence, 0);
    range.writeUInt32BE(last.sequence, 4);
    this.#connection.send(Control.dropRequest, 0, range);
    this.#droppedMs = now;
    this.#droppingSinceMs ??= now;
    if (now - this.#droppingSinceMs > MAX_DROPPING_MS) this.#connection.over(takesLess());
  }

  #onControl(packet: ControlPacket): void {
    if (packet.type === Control.ack) this.#onAck(packet);
    else if (packet.type === Control.nak) this.#onNak(packet);
  }

  #onAck({ info, body }: ControlPacket): void {
    if (body.length < 4) return;
    const next = body.readUInt32BE(0) & SEQUENCE_MASK;
    const behind = this.#unacknowledged.findIndex(({ sequence }) => distance(sequence, next) <= 0);
    const count = behind < 0 ? this.#unacknowledged.length : behind;
    for (const { packet } of this.#unacknowledged.splice(0, count)) this.sentBytes += packet.length;
    // A light acknowledgement needs no response.
    if (info !== 0) this.#connection.send(Control.ackAck, info);
  }

  #onNak({ body }: ControlPacket): void {
    if (this.#tickBytes <= 0) return;
    const lost = new Set(readLosses(body, MAX_RESENT_PER_NAK));
    for (const { packet, sequence } of this.#unacknowledged) {
      if (!lost.has(sequence)) continue;
      // A report of few bytes can request megabytes: packets beyond the limit are requested again.
      if (this.#tickBytes <= 0) return;
      this.#tickBytes -= packet.length;
      markRetransmitted(packet);
      this.#connection.put(packet);
    }
  }
}

function takesLess(): PushError {
  return new PushError('normal', 'The destination receives data too slowly; the connection was closed.');
}
