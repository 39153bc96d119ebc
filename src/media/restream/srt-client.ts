import { randomInt } from 'node:crypto';
import type { Socket } from 'node:dgram';
import { failureOf, PushFailure } from './failure.ts';
import {
  Control,
  type ControlPacket,
  conclusion,
  control,
  dataPacket,
  distance,
  HandshakeType,
  induction,
  markRetransmitted,
  PAYLOAD_BYTES,
  readControl,
  readHandshake,
  readLosses,
  SEQUENCE_MASK,
} from './srt-packets.ts';

export interface SrtClientOptions {
  /** Connected to the destination. */
  socket: Socket;
  streamId: string | null;
  latencyMs: number;
}

const ASK_AGAIN_MS = 250;
const ACCEPT_MS = 5000;
/** The peer says something at least every second. */
const SILENT_MS = 5000;
const TICK_MS = 10;
/** So much of a burst goes out at once: 128 Mbit/s. */
const BYTES_PER_TICK = 160 * 1024;
const KEEP_ALIVE_MS = 1000;
const MAX_QUEUED_BYTES = 16 * 2 ** 20;
const MAX_RESENT_PER_NAK = 512;
/** What the receiver would drop as too late is not sent again. */
const MIN_KEPT_MS = 1000;
/** After so long of packets that are dropped in a row, the destination takes less than is sent. */
const MAX_DROPPING_MS = 10_000;

/** Reasons of a rejection that would not go away (libsrt's `SRT_REJECT_REASON`). */
const REJECTIONS: Readonly<Record<number, ['fatal' | 'refused', string]>> = {
  8: ['fatal', 'The destination speaks another version of SRT.'],
  10: ['fatal', 'The destination asks for a passphrase, which is not supported.'],
  11: ['fatal', 'The destination asks for a passphrase, which is not supported.'],
  2: ['refused', 'The destination refuses the streamid.'],
  1400: ['refused', 'The destination refuses the streamid (bad request).'],
  1401: ['refused', 'The destination refuses the streamid (unauthorized).'],
  1403: ['refused', 'The destination refuses the streamid (forbidden).'],
  1404: ['refused', 'The destination does not know the streamid.'],
};

interface Sent {
  packet: Buffer;
  sequence: number;
  atMs: number;
}

/** A caller of SRT in live mode, which sends. What the peer answers is read as far as it makes sense. */
export class SrtClient {
  readonly accepted: Promise<void>;
  readonly closed: Promise<PushFailure | null>;
  sentBytes = 0;
  readonly #socket: Socket;
  readonly #options: SrtClientOptions;
  readonly #socketId = randomInt(1, 0x3fff_ffff);
  readonly #startedMs = performance.now();
  readonly #initial = randomInt(1, SEQUENCE_MASK);
  readonly #timer: NodeJS.Timeout;
  readonly #settle: { accept: () => void; close: (failure: PushFailure | null) => void };
  #phase: 'induction' | 'conclusion' | 'sending' | 'over' = 'induction';
  #asking: Buffer;
  #askedMs = 0;
  #peer = 0;
  #sequence = this.#initial;
  #message = 1;
  #queue: Buffer[] = [];
  #queuedBytes = 0;
  /** Not acknowledged yet, oldest first. */
  #unacknowledged: Sent[] = [];
  #heardMs = performance.now();
  #saidMs = performance.now();
  #droppingSinceMs: number | null = null;
  #droppedMs = 0;
  #rest: Buffer = Buffer.alloc(0);

  constructor(options: SrtClientOptions) {
    this.#options = options;
    this.#socket = options.socket;
    const accepted = Promise.withResolvers<void>();
    const closed = Promise.withResolvers<PushFailure | null>();
    this.accepted = accepted.promise;
    this.closed = closed.promise;
    this.#settle = {
      accept: accepted.resolve,
      close: (failure) => {
        closed.resolve(failure);
        accepted.reject(failure ?? new PushFailure('normal', 'The connection was ended.'));
      },
    };
    this.#asking = induction(this.#initial, this.#socketId);
    this.#socket.on('message', (packet) => this.#onPacket(packet));
    this.#socket.on('error', (error) => this.#over(failureOf(error)));
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
    this.#tick();
  }

  /** Bytes of MPEG-TS. */
  write(bytes: Buffer): void {
    if (this.#phase === 'over') return;
    let input = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    for (; input.length >= PAYLOAD_BYTES; input = input.subarray(PAYLOAD_BYTES)) {
      this.#queue.push(input.subarray(0, PAYLOAD_BYTES));
      this.#queuedBytes += PAYLOAD_BYTES;
    }
    this.#rest = Buffer.from(input);
    if (this.#queuedBytes > MAX_QUEUED_BYTES) this.#over(takesLess());
  }

  end(): void {
    if (this.#phase === 'sending') this.#send(Control.shutdown);
    this.#over(null);
  }

  #over(failure: PushFailure | null): void {
    if (this.#phase === 'over') return;
    this.#phase = 'over';
    clearInterval(this.#timer);
    this.#queue = [];
    this.#unacknowledged = [];
    // What was sent last still goes out.
    setImmediate(() => this.#socket.close());
    this.#settle.close(failure);
  }

  #now(): number {
    return Math.round((performance.now() - this.#startedMs) * 1000);
  }

  #send(type: number, info = 0, body?: Buffer): void {
    this.#saidMs = performance.now();
    this.#put(control(type, { info, timestamp: this.#now(), destination: this.#peer }, body));
  }

  #put(packet: Buffer): void {
    this.#socket.send(packet, (error) => {
      if (error !== null) this.#over(failureOf(error));
    });
  }

  #tick(): void {
    const now = performance.now();
    if (this.#phase === 'sending') this.#supply(now);
    else if (this.#phase !== 'over') this.#ask(now);
  }

  #ask(now: number): void {
    if (now - this.#startedMs > ACCEPT_MS) {
      this.#over(new PushFailure('normal', 'The destination does not answer in time (SRT).'));
      return;
    }
    if (now - this.#askedMs < ASK_AGAIN_MS) return;
    this.#askedMs = now;
    this.#send(Control.handshake, 0, this.#asking);
  }

  #supply(now: number): void {
    if (now - this.#heardMs > SILENT_MS) {
      this.#over(new PushFailure('normal', 'The destination does not answer any more.'));
      return;
    }
    this.#drop(now);
    if (this.#phase !== 'sending') return;
    for (let bytes = 0; bytes < BYTES_PER_TICK; bytes += PAYLOAD_BYTES) {
      const payload = this.#queue.shift();
      if (payload === undefined) break;
      this.#queuedBytes -= payload.length;
      this.#sendData(payload, now);
    }
    if (now - this.#saidMs > KEEP_ALIVE_MS) this.#send(Control.keepAlive);
  }

  #sendData(payload: Buffer, now: number): void {
    const sequence = this.#sequence;
    const place = { sequence, message: this.#message, timestamp: this.#now(), destination: this.#peer };
    const packet = dataPacket(payload, place);
    this.#sequence = (sequence + 1) & SEQUENCE_MASK;
    this.#message = this.#message >= 0x03ff_ffff ? 1 : this.#message + 1;
    this.#unacknowledged.push({ packet, sequence, atMs: now });
    this.#saidMs = now;
    this.#put(packet);
  }

  /** Packets that would come too late are given up, and the receiver is told not to wait for them. */
  #drop(now: number): void {
    const keptMs = Math.max(MIN_KEPT_MS, 2 * this.#options.latencyMs);
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
    this.#send(Control.dropRequest, 0, range);
    this.#droppedMs = now;
    this.#droppingSinceMs ??= now;
    if (now - this.#droppingSinceMs > MAX_DROPPING_MS) this.#over(takesLess());
  }

  #onPacket(packet: Buffer): void {
    const read = readControl(packet);
    if (read === null || read.destination !== this.#socketId || this.#phase === 'over') return;
    this.#heardMs = performance.now();
    if (read.type === Control.handshake) this.#onHandshake(read);
    else if (this.#phase !== 'sending') return;
    else if (read.type === Control.ack) this.#onAck(read);
    else if (read.type === Control.nak) this.#onNak(read);
    else if (read.type === Control.shutdown) {
      this.#over(new PushFailure('normal', 'The destination has closed the connection.'));
    }
  }

  #onHandshake({ body }: ControlPacket): void {
    const answer = readHandshake(body);
    if (answer === null || this.#phase === 'sending') return;
    const { type, cookie, version, socketId } = answer;
    if (type >= HandshakeType.rejected && type < 0x8000_0000) {
      const [kind, message] = REJECTIONS[type - HandshakeType.rejected] ?? [
        'normal',
        `The destination refuses the connection (SRT ${type - HandshakeType.rejected}).`,
      ];
      this.#over(new PushFailure(kind, message));
    } else if (this.#phase === 'induction' && type === HandshakeType.induction) {
      if (version < 5) {
        this.#over(new PushFailure('fatal', 'The destination speaks another version of SRT.'));
        return;
      }
      this.#phase = 'conclusion';
      const { latencyMs, streamId } = this.#options;
      const own = { sequence: this.#initial, socketId: this.#socketId };
      this.#asking = conclusion({ ...own, cookie, latencyMs, streamId });
      this.#askedMs = 0;
      this.#tick();
    } else if (this.#phase === 'conclusion' && type === HandshakeType.conclusion) {
      this.#phase = 'sending';
      this.#peer = socketId;
      this.#settle.accept();
    }
  }

  #onAck({ info, body }: ControlPacket): void {
    if (body.length < 4) return;
    const next = body.readUInt32BE(0) & SEQUENCE_MASK;
    const behind = this.#unacknowledged.findIndex(({ sequence }) => distance(sequence, next) <= 0);
    const count = behind < 0 ? this.#unacknowledged.length : behind;
    for (const { packet } of this.#unacknowledged.splice(0, count)) this.sentBytes += packet.length;
    // A light one asks for no answer.
    if (info !== 0) this.#send(Control.ackAck, info);
  }

  #onNak({ body }: ControlPacket): void {
    const lost = new Set(readLosses(body, MAX_RESENT_PER_NAK));
    for (const { packet, sequence } of this.#unacknowledged) {
      if (!lost.has(sequence)) continue;
      markRetransmitted(packet);
      this.#put(packet);
    }
  }
}

function takesLess(): PushFailure {
  return new PushFailure('normal', 'The destination takes less than is sent; the connection was given up.');
}
