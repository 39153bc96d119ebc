import { randomInt } from 'node:crypto';
import type { Socket } from 'node:dgram';
import { timeRead } from '../../longest-read.ts';
import { READ_BUDGETS, ReadMeter } from '../../read-budget.ts';
import { PushError, toPushError, type Who } from '../../restream/failure.ts';
import type { SrtKey } from './crypto.ts';
import {
  Control,
  type ControlPacket,
  conclusion,
  control,
  HandshakeType,
  induction,
  readControl,
  readHandshake,
  SEQUENCE_MASK,
} from './packets.ts';

export interface SrtConnectionOptions {
  /** Connected to the other end. */
  socket: Socket;
  streamId: string | null;
  latencyMs: number;
  /** Encrypts the sent data; null sends it in the clear. */
  key?: SrtKey | null;
  who: Who;
}

/** Callbacks of the sender or receiver that uses the connection. */
export interface SrtUse {
  /** Every ten milliseconds, once it is accepted. */
  onTick(now: number): void;
  onControl(packet: ControlPacket): void;
  /** Receives a complete data packet. */
  onData(packet: Buffer): void;
}

const ASK_AGAIN_MS = 250;
const ACCEPT_MS = 5000;
/** Silence that counts as a lost connection: the peer sends at least once a second. */
const SILENT_MS = 5000;
const TICK_MS = 10;
const KEEP_ALIVE_MS = 1000;

/** Permanent rejection reasons (libsrt's `SRT_REJECT_REASON`). */
const REJECTIONS: Readonly<Record<number, ['fatal' | 'refused', string]>> = {
  8: ['fatal', 'uses an incompatible version of SRT'],
  2: ['refused', 'rejected the streamid'],
  1400: ['refused', 'rejected the streamid (bad request)'],
  1401: ['refused', 'rejected the streamid (unauthorized)'],
  1403: ['refused', 'rejected the streamid (forbidden)'],
  1404: ['refused', 'does not know the streamid'],
};

/** The other end and we differ about the passphrase: `SRT_REJ_BADSECRET`, `SRT_REJ_UNSECURE`. */
const SECRETS: ReadonlySet<number> = new Set([10, 11]);

/**
 * SRT caller in live mode: handshake, keep-alive, end. Responses of the peer are read as far as they are
 * valid.
 */
export class SrtConnection {
  readonly accepted: Promise<void>;
  readonly closed: Promise<PushError | null>;
  /** The number of the first packet of either side. */
  readonly initial = randomInt(1, SEQUENCE_MASK);
  readonly #options: SrtConnectionOptions;
  readonly #use: SrtUse;
  readonly #socketId = randomInt(1, 0x3fff_ffff);
  readonly #startedMs = performance.now();
  readonly #timer: NodeJS.Timeout;
  readonly #settle: { accept: () => void; close: (failure: PushError | null) => void };
  readonly #meters = {
    control: new ReadMeter(READ_BUDGETS.srtControl),
    data: new ReadMeter(READ_BUDGETS.srtData),
  };
  #phase: 'induction' | 'conclusion' | 'open' | 'over' = 'induction';
  #asking: Buffer;
  #askedMs = 0;
  #peer = 0;
  #heardMs = performance.now();
  #saidMs = performance.now();

  constructor(options: SrtConnectionOptions, use: SrtUse) {
    this.#options = options;
    this.#use = use;
    const accepted = Promise.withResolvers<void>();
    const closed = Promise.withResolvers<PushError | null>();
    this.accepted = accepted.promise;
    this.closed = closed.promise;
    this.#settle = {
      accept: accepted.resolve,
      close: (failure) => {
        closed.resolve(failure);
        accepted.reject(failure ?? new PushError('normal', 'The connection was closed.'));
      },
    };
    this.#asking = induction(this.initial, this.#socketId);
    const { socket, who } = options;
    const reader = () => `${who} by SRT`;
    socket.on('message', (packet) => timeRead(reader, () => this.#onPacket(packet)));
    socket.on('error', (error) => this.over(toPushError(error, who)));
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
    this.#tick();
  }

  get isOpen(): boolean {
    return this.#phase === 'open';
  }

  get isOver(): boolean {
    return this.#phase === 'over';
  }

  /** The other end's number for this connection. */
  get peer(): number {
    return this.#peer;
  }

  get #key(): SrtKey | null {
    return this.#options.key ?? null;
  }

  /** Microseconds since it began. */
  now(): number {
    return Math.round((performance.now() - this.#startedMs) * 1000);
  }

  send(type: number, info = 0, body?: Buffer): void {
    this.put(control(type, { info, timestamp: this.now(), destination: this.#peer }, body));
  }

  put(packet: Buffer): void {
    if (this.#phase === 'over') return;
    this.#saidMs = performance.now();
    this.#options.socket.send(packet, (error) => {
      if (error !== null) this.over(toPushError(error, this.#options.who));
    });
  }

  end(): void {
    if (this.#phase === 'open') this.send(Control.shutdown);
    this.over(null);
  }

  over(failure: PushError | null): void {
    if (this.#phase === 'over') return;
    this.#phase = 'over';
    clearInterval(this.#timer);
    // The last packets are still sent.
    setImmediate(() => this.#options.socket.close());
    this.#settle.close(failure);
  }

  /** @param kind @param words what the other end does, as the end of a sentence. */
  fail(kind: 'normal' | 'refused' | 'fatal', words: string): void {
    this.over(new PushError(kind, `The ${this.#options.who} ${words}.`));
  }

  #tick(): void {
    const now = performance.now();
    if (this.#phase === 'open') {
      if (now - this.#heardMs > SILENT_MS) this.fail('normal', 'stopped responding');
      else this.#use.onTick(now);
      if (this.isOpen && now - this.#saidMs > KEEP_ALIVE_MS) this.send(Control.keepAlive);
    } else if (this.#phase !== 'over') this.#ask(now);
  }

  #ask(now: number): void {
    if (now - this.#startedMs > ACCEPT_MS) {
      this.fail('normal', 'did not respond in time (SRT)');
      return;
    }
    if (now - this.#askedMs < ASK_AGAIN_MS) return;
    this.#askedMs = now;
    this.send(Control.handshake, 0, this.#asking);
  }

  #onPacket(packet: Buffer): void {
    if (this.#phase === 'over') return;
    const read = readControl(packet);
    if (this.#meters[read === null ? 'data' : 'control'].add(1, packet.length) > 0) {
      this.fail('normal', 'sends too many packets');
      return;
    }
    if (read === null) {
      const isOurs = packet.length > 16 && packet.readUInt32BE(12) === this.#socketId;
      if (!isOurs || !this.isOpen) return;
      this.#heardMs = performance.now();
      this.#use.onData(packet);
      return;
    }
    if (read.destination !== this.#socketId) return;
    this.#heardMs = performance.now();
    if (read.type === Control.handshake) this.#onHandshake(read);
    else if (!this.isOpen) return;
    else if (read.type === Control.shutdown) this.#onShutdown();
    else this.#use.onControl(read);
  }

  /** Handles a shutdown, which is the regular end of a source. */
  #onShutdown(): void {
    if (this.#options.who === 'source') this.over(null);
    else this.fail('normal', 'has closed the connection');
  }

  #onHandshake({ body }: ControlPacket): void {
    const answer = readHandshake(body);
    if (answer === null || this.isOpen) return;
    const { type, cookie, version, socketId, takesKey } = answer;
    if (type >= HandshakeType.rejected && type < 0x8000_0000) {
      const reason = type - HandshakeType.rejected;
      if (SECRETS.has(reason)) {
        this.fail('fatal', this.#key === null ? 'requires a passphrase' : 'rejected the passphrase');
        return;
      }
      const [kind, words] = REJECTIONS[reason] ?? ['normal', `rejected the connection (SRT ${reason})`];
      this.fail(kind, words);
    } else if (this.#phase === 'induction' && type === HandshakeType.induction) {
      if (version < 5) {
        this.fail('fatal', 'uses an incompatible version of SRT');
        return;
      }
      this.#phase = 'conclusion';
      const { latencyMs, streamId } = this.#options;
      const own = { sequence: this.initial, socketId: this.#socketId };
      this.#asking = conclusion({ ...own, cookie, latencyMs, streamId, key: this.#key });
      this.#askedMs = 0;
      this.#tick();
    } else if (this.#phase === 'conclusion' && type === HandshakeType.conclusion) {
      this.#phase = 'open';
      this.#peer = socketId;
      // A listener that does not require encryption accepts the connection anyway, but could not decrypt the
      // data.
      if (this.#key !== null && takesKey !== true) {
        this.send(Control.shutdown);
        this.fail('fatal', 'rejected the passphrase');
        return;
      }
      this.#settle.accept();
    }
  }
}
