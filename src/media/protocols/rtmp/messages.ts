import { type AmfValue, encodeAmf0 } from './amf0.ts';

/** RTMP message types (Adobe RTMP 1.0, sections 5.4 and 7.1). */
export const MessageType = {
  setChunkSize: 1,
  abort: 2,
  acknowledgement: 3,
  userControl: 4,
  windowAckSize: 5,
  setPeerBandwidth: 6,
  audio: 8,
  video: 9,
  dataAmf3: 15,
  commandAmf3: 17,
  data: 18,
  command: 20,
  aggregate: 22,
} as const;

/** User control events (Adobe RTMP 1.0, section 7.1.7). */
export const UserControl = { streamBegin: 0, streamEof: 1, pingRequest: 6, pingResponse: 7 } as const;

export interface RtmpMessage {
  type: number;
  /** Message stream ID: 0 for the connection, the number returned by createStream for a publish. */
  streamId: number;
  /** Milliseconds, modulo 2^32. */
  timestamp: number;
  payload: Buffer;
}

const CONTROL_CHUNK_STREAM = 2;
const COMMAND_CHUNK_STREAM = 3;

/**
 * Encodes one message as chunks of at most `chunkSize` payload bytes (sections 5.3.1, 5.3.2): a type-0
 * header, then type-3 headers, which repeat the extended timestamp when there is one.
 */
export function encodeMessage(message: RtmpMessage, chunkSize: number, chunkStreamId?: number): Buffer {
  const csid =
    chunkStreamId ?? (message.type >= MessageType.audio ? COMMAND_CHUNK_STREAM : CONTROL_CHUNK_STREAM);
  const { payload } = message;
  const timestamp = message.timestamp >>> 0;
  const extended = timestamp >= 0xffffff;
  const extension = Buffer.alloc(extended ? 4 : 0);
  if (extended) extension.writeUInt32BE(timestamp);
  const header = Buffer.alloc(11);
  header.writeUIntBE(extended ? 0xffffff : timestamp, 0, 3);
  header.writeUIntBE(payload.length, 3, 3);
  header.writeUInt8(message.type, 6);
  header.writeUInt32LE(message.streamId, 7);
  const parts: Buffer[] = [Buffer.of(csid), header, extension, payload.subarray(0, chunkSize)];
  for (let at = chunkSize; at < payload.length; at += chunkSize) {
    parts.push(Buffer.of(0xc0 | csid), extension, payload.subarray(at, at + chunkSize));
  }
  return Buffer.concat(parts);
}

function control(type: number, payload: Buffer): RtmpMessage {
  return { type, streamId: 0, timestamp: 0, payload };
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes;
}

export const setChunkSize = (bytes: number): RtmpMessage => control(MessageType.setChunkSize, uint32(bytes));

export const acknowledgement = (bytes: number): RtmpMessage =>
  control(MessageType.acknowledgement, uint32(bytes));

export const windowAckSize = (bytes: number): RtmpMessage =>
  control(MessageType.windowAckSize, uint32(bytes));

/** Limit type 2, "dynamic". */
export const setPeerBandwidth = (bytes: number): RtmpMessage =>
  control(MessageType.setPeerBandwidth, Buffer.concat([uint32(bytes), Buffer.of(2)]));

export const userControl = (event: number, value: number): RtmpMessage =>
  control(MessageType.userControl, Buffer.concat([Buffer.of(0, event), uint32(value)]));

/** A command message: name, transaction id, then its arguments. */
export function command(streamId: number, name: string, transaction: number, args: AmfValue[]): RtmpMessage {
  const payload = encodeAmf0([name, transaction, ...args]);
  return { type: MessageType.command, streamId, timestamp: 0, payload };
}

/** An `onStatus` command (Adobe RTMP 1.0, section 7.2.2). */
export function onStatus(
  streamId: number,
  level: 'status' | 'error',
  code: string,
  description: string,
): RtmpMessage {
  return command(streamId, 'onStatus', 0, [null, { level, code, description }]);
}
