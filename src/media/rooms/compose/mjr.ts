import type { FileHandle } from 'node:fs/promises';
import { LEVEL_EXTENSION, readDescription } from '../janus/sources.ts';

/**
 * Header of a Janus recording: one file for each track. The header names the codec and the time of the first
 * packet; the RTP packets follow in order of arrival, each with its time
 * (docs/decisions/room-recordings.md#janus-files). Packet contents come from participants and are untrusted.
 */
export interface MjrHeader {
  kind: 'AUDIO' | 'VIDEO';
  /** Codec as named by Janus: `vp8`, `opus`. */
  codec: string;
  /** Arrival time of the first packet, in epoch milliseconds. */
  startedMs: number;
  /** Names of RTP header extensions by their IDs (RFC 8285). */
  extensions: ReadonlyMap<number, string>;
  /** Payload type of redundant Opus (RFC 2198); null without one. */
  redType: number | null;
  /** Description with which the stream was published. */
  description: string | null;
  /** Offset of the first packet in the file. */
  bodyAt: number;
}

/** Packet as stored in the file. */
export interface MjrPacket {
  /** Offset of its record in the file: reading can resume there. */
  offset: number;
  /** Arrival time relative to the first packet. */
  receivedMs: number;
  /** RTP packet (RFC 3550). Valid until the next packets are requested. */
  data: Buffer;
}

const FILE_MAGIC = 'MJR00002';
const FRAME_MAGIC = 0x4d454554;
/** Magic, receive time, length. */
const FRAME_HEAD_BYTES = 10;
const READ_BYTES = 256 * 1024;
const DECIMAL_ID = /^\d{1,3}$/;

/** @returns null when the file is not an MJR file, is empty, or holds neither audio nor video. */
export async function readMjrHeader(file: FileHandle): Promise<MjrHeader | null> {
  const head = Buffer.alloc(FILE_MAGIC.length + 2 + 0xffff);
  const { bytesRead } = await file.read(head, 0, head.length, 0);
  if (bytesRead < FILE_MAGIC.length + 2) return null;
  if (head.toString('latin1', 0, FILE_MAGIC.length) !== FILE_MAGIC) return null;
  const bodyAt = FILE_MAGIC.length + 2 + head.readUInt16BE(FILE_MAGIC.length);
  if (bodyAt > bytesRead) return null;
  const info = parse(head.toString('utf8', FILE_MAGIC.length + 2, bodyAt));
  if (info === null) return null;
  const { t: type, c: codec, u: startedUs, x: extensions, o: red, d: description } = info;
  if ((type !== 'a' && type !== 'v') || typeof codec !== 'string' || typeof startedUs !== 'number')
    return null;
  return {
    kind: type === 'a' ? 'AUDIO' : 'VIDEO',
    codec,
    startedMs: Math.round(startedUs / 1000),
    extensions: extensionsOf(extensions, type === 'a' ? description : null),
    redType: typeof red === 'number' ? red : null,
    description: typeof description === 'string' ? description : null,
    bodyAt,
  };
}

/**
 * Yields the packets from `offset` on, in batches of one read. A truncated or corrupted file ends at the
 * first invalid record.
 */
export async function* readMjrPackets(file: FileHandle, offset: number): AsyncGenerator<MjrPacket[]> {
  const buffer = Buffer.alloc(READ_BYTES);
  let [fileAt, filled] = [offset, 0];
  for (;;) {
    const { bytesRead } = await file.read(buffer, filled, buffer.length - filled, fileAt + filled);
    if (bytesRead === 0) return;
    filled += bytesRead;
    const { packets, used, isBroken } = cut(buffer.subarray(0, filled), fileAt);
    if (packets.length > 0) yield packets;
    if (isBroken) return;
    buffer.copyWithin(0, used, filled);
    [fileAt, filled] = [fileAt + used, filled - used];
  }
}

function cut(bytes: Buffer, fileAt: number): { packets: MjrPacket[]; used: number; isBroken: boolean } {
  const packets: MjrPacket[] = [];
  let at = 0;
  while (at + FRAME_HEAD_BYTES <= bytes.length) {
    if (bytes.readUInt32BE(at) !== FRAME_MAGIC) return { packets, used: at, isBroken: true };
    const start = at + FRAME_HEAD_BYTES;
    const end = start + bytes.readUInt16BE(at + 8);
    if (end > bytes.length) break;
    packets.push({
      offset: fileAt + at,
      receivedMs: bytes.readUInt32BE(at + 4),
      data: bytes.subarray(start, end),
    });
    at = end;
  }
  return { packets, used: at, isBroken: false };
}

function parse(json: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null ? { ...value } : null;
  } catch {
    return null;
  }
}

/** @param description of an audio stream: Janus does not record which extension has the audio level. */
function extensionsOf(value: unknown, description: unknown): Map<number, string> {
  const found = new Map<number, string>();
  const levelId = readDescription(description)?.levelId;
  if (typeof levelId === 'number') found.set(levelId, LEVEL_EXTENSION);
  if (typeof value !== 'object' || value === null) return found;
  for (const [id, name] of Object.entries(value)) {
    if (DECIMAL_ID.test(id) && typeof name === 'string') found.set(Number(id), name);
  }
  return found;
}
