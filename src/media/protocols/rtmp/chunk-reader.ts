import { MessageType, type RtmpMessage } from './messages.ts';
import { ProtocolError } from './protocol-error.ts';

export interface ChunkLimits {
  /** Largest message in bytes, by its type. */
  messageBytes(type: number): number;
  /** Memory for assembling messages, over all chunk streams. */
  assemblyBytes: number;
  /** Maximum chunk streams of one peer; each uses a little memory permanently. */
  chunkStreams: number;
}

const KIB = 1024;
const MIB = 1024 * KIB;

/** Before a publish is accepted anyone may send, so memory is tight. */
export const UNAUTHENTICATED_LIMITS: ChunkLimits = {
  messageBytes: () => 64 * KIB,
  assemblyBytes: 256 * KIB,
  chunkStreams: 16,
};

export const PUBLISHING_LIMITS: ChunkLimits = {
  messageBytes: (type) => {
    if (type === MessageType.video || type === MessageType.aggregate) return 8 * MIB;
    return type === MessageType.audio ? MIB : 64 * KIB;
  },
  assemblyBytes: 16 * MIB,
  chunkStreams: 64,
};

/** A message length has 24 bits, so a larger chunk size has no effect. */
const CHUNK_SIZE_MAX = 0xffffff;
const FIRST_ALLOCATION_BYTES = 4 * KIB;
const NO_BYTES = Buffer.alloc(0);

interface ChunkStream {
  id: number;
  timestamp: number;
  delta: number;
  length: number;
  type: number;
  messageStreamId: number;
  /** Value of the 4 bytes of the extended timestamp; null when the header had none. */
  extended: number | null;
  /** Grows as bytes arrive (a length in a header allocates nothing by itself) and is reused. */
  buffer: Buffer;
  received: number;
  assembling: boolean;
}

/**
 * Reassembles RTMP chunks (Adobe RTMP 1.0, section 5.3.1): `push` the bytes as they arrive, then call `next`
 * until it returns null. Set-chunk-size and abort are applied here and not returned.
 */
export class ChunkReader {
  #limits: ChunkLimits;
  #chunkSize = 128;
  #streams = new Map<number, ChunkStream>();
  #assemblyBytes = 0;
  #input: Buffer = NO_BYTES;
  #at = 0;
  /** Pushed and not joined with `#input` yet, so that many small pieces are copied once. */
  #pieces: Buffer[] = [];
  #pieceBytes = 0;
  #messageCount = 0;
  #isInterrupted = false;
  #current: ChunkStream | null = null;
  #chunkRemaining = 0;

  constructor(limits: ChunkLimits) {
    this.#limits = limits;
  }

  setLimits(limits: ChunkLimits): void {
    this.#limits = limits;
  }

  /** Bytes that were pushed and not looked at yet. */
  get pendingBytes(): number {
    return this.#input.length - this.#at + this.#pieceBytes;
  }

  /** Number of pushed buffers not read yet: each costs memory of its own. */
  get pendingPieces(): number {
    return this.#pieces.length;
  }

  /** Number of messages read, of every type. */
  get messageCount(): number {
    return this.#messageCount;
  }

  /** Whether the last `next` returned null because of its limit, and not for lack of input. */
  get isInterrupted(): boolean {
    return this.#isInterrupted;
  }

  push(data: Buffer): void {
    this.#pieces.push(data);
    this.#pieceBytes += data.length;
  }

  /**
   * Returns the next message. Its payload is valid until the next call, which reuses the memory.
   *
   * @param maxChunks maximum chunks to read in this call.
   * @throws ProtocolError when the peer breaks the protocol or a limit; the reader is then unusable.
   */
  next(maxChunks = Number.POSITIVE_INFINITY): RtmpMessage | null {
    this.#join();
    this.#isInterrupted = false;
    for (let chunks = 0; ; chunks += 1) {
      if (chunks >= maxChunks) {
        this.#isInterrupted = true;
        return null;
      }
      const stream = this.#current ?? this.#readHeader();
      if (stream === null) return null;
      const message = this.#readPayload(stream);
      if (message === null) {
        if (this.#current === null) continue;
        return null;
      }
      this.#messageCount += 1;
      if (message.type === MessageType.setChunkSize) this.#setChunkSize(message.payload);
      else if (message.type === MessageType.abort) this.#abort(message.payload);
      else return message;
    }
  }

  #join(): void {
    const [only] = this.#pieces;
    if (only === undefined) return;
    const rest = this.#input.subarray(this.#at);
    this.#input =
      rest.length === 0 && this.#pieces.length === 1 ? only : Buffer.concat([rest, ...this.#pieces]);
    this.#at = 0;
    this.#pieces = [];
    this.#pieceBytes = 0;
  }

  /** Reads one chunk header; null, with nothing consumed, when it is incomplete. */
  #readHeader(): ChunkStream | null {
    const input = this.#input;
    const basic = input[this.#at];
    if (basic === undefined) return null;
    const format = basic >> 6;
    let at = this.#at + 1;
    let id = basic & 0x3f;
    if (id < 2) {
      const bytes = id + 1;
      if (input.length < at + bytes) return null;
      id = 64 + input.readUIntLE(at, bytes);
      at += bytes;
    }
    const known = this.#streams.get(id);
    // librtmp opens the control stream with a type-1 header, so only types 2 and 3 need a predecessor.
    if (known === undefined && format > 1) throw new ProtocolError('chunk without a preceding header');
    if (known === undefined && this.#streams.size >= this.#limits.chunkStreams) {
      throw new ProtocolError('too many chunk streams');
    }
    const stream = known ?? newChunkStream(id);
    if (format === 3) return this.#readContinuation(stream, at);
    return this.#readMessageHeader(stream, format, at);
  }

  #readMessageHeader(stream: ChunkStream, format: number, start: number): ChunkStream | null {
    const input = this.#input;
    const size = format === 0 ? 11 : format === 1 ? 7 : 3;
    let at = start + size;
    if (input.length < at) return null;
    const field = input.readUIntBE(start, 3);
    const extended = field === 0xffffff;
    if (extended && input.length < at + 4) return null;
    const time = extended ? input.readUInt32BE(at) : field;
    if (extended) at += 4;
    if (stream.assembling) throw new ProtocolError('new message header within a message');
    if (format <= 1) {
      stream.length = input.readUIntBE(start + 3, 3);
      stream.type = input.readUInt8(start + 6);
    }
    if (format === 0) stream.messageStreamId = input.readUInt32LE(start + 7);
    stream.extended = extended ? time : null;
    this.#streams.set(stream.id, stream);
    this.#beginMessage(stream, format === 0 ? time : (stream.timestamp + time) >>> 0, time);
    return this.#beginChunk(stream, at);
  }

  /** A type-3 header: more of a message, or a new message with the header of the one before. */
  #readContinuation(stream: ChunkStream, start: number): ChunkStream | null {
    let at = start;
    if (stream.extended !== null) {
      if (this.#input.length < at + 4) return null;
      const repeated = this.#input.readUInt32BE(at);
      // The specification repeats the extended timestamp here; some encoders do not, and payload follows.
      const isPayload = repeated !== stream.extended && repeated !== stream.timestamp;
      if (!stream.assembling) {
        stream.extended = repeated;
        stream.delta = repeated;
        at += 4;
      } else if (!isPayload) at += 4;
    }
    if (!stream.assembling) this.#beginMessage(stream, (stream.timestamp + stream.delta) >>> 0, stream.delta);
    return this.#beginChunk(stream, at);
  }

  #beginMessage(stream: ChunkStream, timestamp: number, delta: number): void {
    if (stream.length > this.#limits.messageBytes(stream.type)) throw new ProtocolError('message too large');
    stream.timestamp = timestamp;
    stream.delta = delta;
    stream.received = 0;
    stream.assembling = true;
  }

  #beginChunk(stream: ChunkStream, at: number): ChunkStream {
    this.#at = at;
    this.#current = stream;
    this.#chunkRemaining = Math.min(this.#chunkSize, stream.length - stream.received);
    return stream;
  }

  /** Reads the available part of the current chunk; returns a message when it is complete. */
  #readPayload(stream: ChunkStream): RtmpMessage | null {
    const bytes = Math.min(this.#chunkRemaining, this.pendingBytes);
    this.#reserve(stream, stream.received + bytes);
    this.#input.copy(stream.buffer, stream.received, this.#at, this.#at + bytes);
    this.#at += bytes;
    stream.received += bytes;
    this.#chunkRemaining -= bytes;
    if (this.#chunkRemaining > 0) return null;
    this.#current = null;
    if (stream.received < stream.length) return null;
    const payload = stream.buffer.subarray(0, stream.length);
    stream.assembling = false;
    return { type: stream.type, streamId: stream.messageStreamId, timestamp: stream.timestamp, payload };
  }

  #reserve(stream: ChunkStream, bytes: number): void {
    if (stream.buffer.length >= bytes) return;
    const size = Math.min(stream.length, Math.max(bytes, 2 * stream.buffer.length, FIRST_ALLOCATION_BYTES));
    this.#assemblyBytes += size - stream.buffer.length;
    if (this.#assemblyBytes > this.#limits.assemblyBytes)
      throw new ProtocolError('too many unfinished messages');
    const grown = Buffer.allocUnsafe(size);
    stream.buffer.copy(grown, 0, 0, stream.received);
    stream.buffer = grown;
  }

  #setChunkSize(payload: Buffer): void {
    const size = payload.length >= 4 ? payload.readUInt32BE(0) : 0;
    if (size < 1 || size > CHUNK_SIZE_MAX) throw new ProtocolError('invalid chunk size');
    this.#chunkSize = size;
  }

  #abort(payload: Buffer): void {
    if (payload.length < 4) throw new ProtocolError('invalid abort message');
    const stream = this.#streams.get(payload.readUInt32BE(0));
    if (stream?.assembling) stream.assembling = false;
  }
}

function newChunkStream(id: number): ChunkStream {
  return {
    id,
    timestamp: 0,
    delta: 0,
    length: 0,
    type: 0,
    messageStreamId: 0,
    extended: null,
    buffer: NO_BYTES,
    received: 0,
    assembling: false,
  };
}
