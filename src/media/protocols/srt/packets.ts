import type { SrtKey } from './crypto.ts';

/**
 * Packets of SRT (draft-sharabayko-srt-01), as a caller needs them in live mode.
 * Numbers of packets have 31 bits and wrap.
 */
export const HEADER_BYTES = 16;
export const PAYLOAD_BYTES = 1316;
export const SEQUENCE_MASK = 0x7fff_ffff;

export const Control = {
  handshake: 0,
  keepAlive: 1,
  ack: 2,
  nak: 3,
  shutdown: 5,
  ackAck: 6,
  dropRequest: 7,
} as const;

export const HandshakeType = { induction: 1, conclusion: 0xffff_ffff, rejected: 1000 } as const;

const MTU = 1500;
const FLOW_WINDOW = 8192;
const SRT_VERSION = 0x0001_0500;
/** Timestamp-based sending and receiving, too-late packet drop, periodic NAKs, retransmission flag. */
const FLAGS = 0x3f;
const EXTENSION = { request: 1, keyRequest: 3, keyAnswer: 4, streamId: 5 } as const;
const HAS_REQUEST = 1;
const HAS_KEY = 2;
const HAS_CONFIG = 4;
const SOLO = 0xc000_0000;
const RETRANSMITTED = 0x0400_0000;
const EVEN_KEY = 0x0800_0000;
const MESSAGE_MASK = 0x03ff_ffff;

/** Control packet of the peer; null when invalid or truncated. */
export interface ControlPacket {
  type: number;
  info: number;
  destination: number;
  body: Buffer;
}

export function readControl(packet: Buffer): ControlPacket | null {
  if (packet.length < HEADER_BYTES || (packet.readUInt8(0) & 0x80) === 0) return null;
  return {
    type: packet.readUInt16BE(0) & 0x7fff,
    info: packet.readUInt32BE(4),
    destination: packet.readUInt32BE(12),
    body: packet.subarray(HEADER_BYTES),
  };
}

/** @param timestamp microseconds since the socket began. */
export function control(
  type: number,
  { info = 0, timestamp, destination }: { info?: number; timestamp: number; destination: number },
  body: Buffer = Buffer.alloc(4),
): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt16BE(0x8000 | type, 0);
  header.writeUInt32BE(info >>> 0, 4);
  header.writeUInt32BE(timestamp >>> 0, 8);
  header.writeUInt32BE(destination, 12);
  return Buffer.concat([header, body]);
}

export interface Handshake {
  version: number;
  sequence: number;
  type: number;
  socketId: number;
  cookie: number;
}

/** Handshake response of the peer; `takesKey` is null when it has no key extension. */
export interface HandshakeAnswer extends Handshake {
  takesKey: boolean | null;
}

const HANDSHAKE_BYTES = 48;

export function readHandshake(body: Buffer): HandshakeAnswer | null {
  if (body.length < HANDSHAKE_BYTES) return null;
  return {
    version: body.readUInt32BE(0),
    sequence: body.readUInt32BE(8),
    type: body.readUInt32BE(20),
    socketId: body.readUInt32BE(24),
    cookie: body.readUInt32BE(28),
    takesKey: takesKey(body),
  };
}

/**
 * Reports whether the peer accepts the key: it then sends it back, otherwise one word with the reason
 * (section 3.2.2).
 */
function takesKey(body: Buffer): boolean | null {
  for (let at = HANDSHAKE_BYTES; at + 4 <= body.length; ) {
    const words = body.readUInt16BE(at + 2);
    if (body.readUInt16BE(at) === EXTENSION.keyAnswer) return words > 1;
    at += 4 + words * 4;
  }
  return null;
}

function handshake(
  { version, sequence, type, socketId, cookie }: Handshake,
  extension: number,
  keyBytes = 0,
): Buffer {
  const body = Buffer.alloc(HANDSHAKE_BYTES);
  body.writeUInt32BE(version, 0);
  body.writeUInt16BE(keyBytes / 8, 4);
  body.writeUInt16BE(extension, 6);
  body.writeUInt32BE(sequence, 8);
  body.writeUInt32BE(MTU, 12);
  body.writeUInt32BE(FLOW_WINDOW, 16);
  body.writeUInt32BE(type, 20);
  body.writeUInt32BE(socketId, 24);
  body.writeUInt32BE(cookie, 28);
  return body;
}

/** Builds the request for a cookie (section 4.3.1.1). */
export function induction(sequence: number, socketId: number): Buffer {
  return handshake({ version: 4, sequence, type: HandshakeType.induction, socketId, cookie: 0 }, 2);
}

export interface Conclusion {
  sequence: number;
  socketId: number;
  cookie: number;
  latencyMs: number;
  /** At most 512 bytes. */
  streamId: string | null;
  key: SrtKey | null;
}

/**
 * Builds the conclusion handshake: returns the cookie and proposes the settings (sections 4.3.1.2, 3.2.1.1,
 * 3.2.1.3).
 */
export function conclusion({ sequence, socketId, cookie, latencyMs, streamId, key }: Conclusion): Buffer {
  const request = Buffer.alloc(16);
  request.writeUInt16BE(EXTENSION.request, 0);
  request.writeUInt16BE(3, 2);
  request.writeUInt32BE(SRT_VERSION, 4);
  request.writeUInt32BE(FLAGS, 8);
  request.writeUInt16BE(latencyMs, 12);
  request.writeUInt16BE(latencyMs, 14);
  const config = streamId === null ? Buffer.alloc(0) : streamIdExtension(streamId);
  const extension = HAS_REQUEST | (key === null ? 0 : HAS_KEY) | (streamId === null ? 0 : HAS_CONFIG);
  const type = HandshakeType.conclusion;
  return Buffer.concat([
    handshake({ version: 5, sequence, type, socketId, cookie }, extension, key?.length),
    request,
    key === null ? Buffer.alloc(0) : keyExtension(key),
    config,
  ]);
}

function keyExtension({ message }: SrtKey): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt16BE(EXTENSION.keyRequest, 0);
  head.writeUInt16BE(message.length / 4, 2);
  return Buffer.concat([head, message]);
}

/** Builds the stream ID extension: its bytes are reversed within words of four. */
function streamIdExtension(streamId: string): Buffer {
  const text = Buffer.from(streamId, 'utf8');
  const words = Math.ceil(text.length / 4);
  const extension = Buffer.alloc(4 + words * 4);
  extension.writeUInt16BE(EXTENSION.streamId, 0);
  extension.writeUInt16BE(words, 2);
  text.copy(extension, 4);
  extension.subarray(4).swap32();
  return extension;
}

/** Builds one data packet, a message of its own. */
export function dataPacket(
  plain: Buffer,
  {
    sequence,
    message,
    timestamp,
    destination,
  }: Record<'sequence' | 'message' | 'timestamp' | 'destination', number>,
  key: SrtKey | null,
): Buffer {
  const payload = key === null ? plain : key.encrypt(plain, sequence);
  const flags = key === null ? SOLO : SOLO | EVEN_KEY;
  const packet = Buffer.allocUnsafe(HEADER_BYTES + payload.length);
  packet.writeUInt32BE(sequence, 0);
  packet.writeUInt32BE((flags | (message & MESSAGE_MASK)) >>> 0, 4);
  packet.writeUInt32BE(timestamp >>> 0, 8);
  packet.writeUInt32BE(destination, 12);
  payload.copy(packet, HEADER_BYTES);
  return packet;
}

/** Marks the packet as retransmitted. */
export function markRetransmitted(packet: Buffer): void {
  packet.writeUInt32BE((packet.readUInt32BE(4) | RETRANSMITTED) >>> 0, 4);
}

/** Returns the number of steps from `a` to `b`, across the wraparound. */
export function distance(a: number, b: number): number {
  const steps = (b - a) & SEQUENCE_MASK;
  return steps > SEQUENCE_MASK / 2 ? steps - SEQUENCE_MASK - 1 : steps;
}

/** Parses the sequence numbers requested by a NAK (appendix A), up to `max`. */
export function readLosses(body: Buffer, max: number): number[] {
  const lost: number[] = [];
  for (let at = 0; at + 4 <= body.length && lost.length < max; at += 4) {
    const first = body.readUInt32BE(at);
    const from = first & SEQUENCE_MASK;
    const isRange = first > SEQUENCE_MASK && at + 8 <= body.length;
    if (isRange) at += 4;
    const to = isRange ? body.readUInt32BE(at) & SEQUENCE_MASK : from;
    const count = Math.min(distance(from, to) + 1, max - lost.length);
    for (let step = 0; step < count; step += 1) lost.push((from + step) & SEQUENCE_MASK);
  }
  return lost;
}

/** Encodes lost sequence numbers, consecutive ones as ranges. */
export function writeLosses(lost: readonly number[]): Buffer {
  const words: number[] = [];
  for (let at = 0; at < lost.length; ) {
    let end = at;
    while (end + 1 < lost.length && lost[end + 1] === (((lost[end] ?? 0) + 1) & SEQUENCE_MASK)) end += 1;
    const [first = 0, last = 0] = [lost[at], lost[end]];
    if (first === last) words.push(first);
    else words.push((first | 0x8000_0000) >>> 0, last);
    at = end + 1;
  }
  const body = Buffer.alloc(Math.max(4, words.length * 4));
  for (const [index, word] of words.entries()) body.writeUInt32BE(word, index * 4);
  return body;
}

/** The first and the last number of a drop request (section 3.2.9); null when it is cut short. */
export function readSpan(body: Buffer): { first: number; last: number } | null {
  if (body.length < 8) return null;
  return { first: body.readUInt32BE(0) & SEQUENCE_MASK, last: body.readUInt32BE(4) & SEQUENCE_MASK };
}
