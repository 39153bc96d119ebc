import { encodeMessage, MessageType, setChunkSize } from '../../src/media/protocols/rtmp/messages.ts';

const MEDIA_STREAM = 1;
const AUDIO_CHUNK_STREAM = 4;
/** A message header that repeats the one before (type 3). */
const REPEATED = 0xc0 | AUDIO_CHUNK_STREAM;

/** Returns one audio message, and `count - 1` more with one-byte headers. */
function repeated(payload: Buffer, count: number): Buffer {
  const message = { type: MessageType.audio, streamId: MEDIA_STREAM, timestamp: 0, payload };
  const first = encodeMessage(message, 128, AUDIO_CHUNK_STREAM);
  const next = Buffer.concat([Buffer.of(REPEATED), payload]);
  return Buffer.concat([first, Buffer.alloc((count - 1) * next.length, next)]);
}

/** Messages without a payload: one byte each. */
export const emptyMessages = (count: number): Buffer => repeated(Buffer.alloc(0), count);

/** AAC frames of two bytes: three bytes each. */
export const tinyFrames = (count: number): Buffer => repeated(Buffer.of(0xaf, 1), count);

/** An aggregate of audio messages without a payload: 15 bytes each. */
export function emptyAggregate(parts: number): Buffer {
  const payload = Buffer.alloc(parts * 15);
  for (let at = 0; at < payload.length; at += 15) payload[at] = MessageType.audio;
  const chunkBytes = 0xffffff;
  const message = { type: MessageType.aggregate, streamId: MEDIA_STREAM, timestamp: 0, payload };
  return Buffer.concat([
    encodeMessage(setChunkSize(chunkBytes), 128),
    encodeMessage(message, chunkBytes, AUDIO_CHUNK_STREAM),
  ]);
}
