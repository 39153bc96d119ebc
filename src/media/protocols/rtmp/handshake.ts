import { randomBytes } from 'node:crypto';
import { ProtocolError } from './protocol-error.ts';

const RTMP_VERSION = 3;
const PACKET_BYTES = 1536;

/**
 * The server's side of the simple handshake (Adobe RTMP 1.0, section 5.2): C0 C1 -> S0 S1 S2 -> C2. The digest form of
 * Flash players is not needed by encoders, which all take the simple one.
 */
export class ServerHandshake {
  #received: Buffer[] = [];
  #bytes = 0;
  #answered = false;

  /**
   * @returns what to send, and the bytes after C2 once the handshake is complete (null until then).
   * @throws ProtocolError at the first byte when the peer does not speak RTMP (HTTP, TLS, noise).
   */
  push(data: Buffer): { reply: Buffer | null; rest: Buffer | null } {
    if (this.#bytes === 0 && data.length > 0 && data[0] !== RTMP_VERSION) throw new ProtocolError('not RTMP');
    this.#received.push(data);
    this.#bytes += data.length;
    const reply = !this.#answered && this.#bytes >= 1 + PACKET_BYTES ? this.#answer() : null;
    if (this.#bytes < 1 + 2 * PACKET_BYTES) return { reply, rest: null };
    const rest = Buffer.concat(this.#received).subarray(1 + 2 * PACKET_BYTES);
    this.#received = [];
    return { reply, rest };
  }

  #answer(): Buffer {
    this.#answered = true;
    const c1 = Buffer.concat(this.#received).subarray(1, 1 + PACKET_BYTES);
    const s1 = randomBytes(PACKET_BYTES);
    s1.fill(0, 0, 8); // time 0 and four zero bytes: the simple handshake
    return Buffer.concat([Buffer.of(RTMP_VERSION), s1, c1]);
  }
}

/** The client's side of the same: C0 C1 -> S0 S1 S2 -> C2. */
export class ClientHandshake {
  readonly #c1 = randomBytes(PACKET_BYTES).fill(0, 0, 8);
  #received: Buffer[] = [];
  #bytes = 0;
  #answered = false;

  /** Returns the bytes to send first. */
  begin(): Buffer {
    return Buffer.concat([Buffer.of(RTMP_VERSION), this.#c1]);
  }

  /**
   * @returns what to send, and the bytes after S2 once the handshake is complete (null until then).
   * @throws ProtocolError at the first byte when the peer does not speak RTMP.
   */
  push(data: Buffer): { reply: Buffer | null; rest: Buffer | null } {
    if (this.#bytes === 0 && data.length > 0 && data[0] !== RTMP_VERSION) throw new ProtocolError('not RTMP');
    this.#received.push(data);
    this.#bytes += data.length;
    let reply: Buffer | null = null;
    if (!this.#answered && this.#bytes >= 1 + PACKET_BYTES) {
      this.#answered = true;
      reply = Buffer.from(Buffer.concat(this.#received).subarray(1, 1 + PACKET_BYTES));
    }
    if (this.#bytes < 1 + 2 * PACKET_BYTES) return { reply, rest: null };
    const rest = Buffer.concat(this.#received).subarray(1 + 2 * PACKET_BYTES);
    this.#received = [];
    return { reply, rest };
  }
}
