import {
  element,
  ID,
  idOf,
  matroskaHead,
  number,
  opusEntry,
  trackIds,
} from '../protocols/matroska/writer.ts';
import type { FrameSize } from '../rooms/compose/layout.ts';

/** Track number of the video; audio tracks follow. */
const VIDEO_TRACK = 1;
const SEC_NS = 1_000_000_000;
const KEY_FLAG = 0x80;
/** Bytes of a block's header: track, time and flags. */
const BLOCK_HEAD_BYTES = 4;

/** Builds the header of the encoder's input: raw video, and audio as coded by browsers (RFC 9559). */
export function mixHead(picture: FrameSize & { fps: number }, voices: number): Buffer {
  const video = element(ID.video, [
    number(ID.pixelWidth, picture.width),
    number(ID.pixelHeight, picture.height),
    element(ID.colourSpace, [Buffer.from('I420', 'latin1')]),
  ]);
  const everyNs = number(ID.defaultDuration, SEC_NS / picture.fps);
  return matroskaHead([
    element(ID.trackEntry, [...trackIds(VIDEO_TRACK, 1, 'V_UNCOMPRESSED'), everyNs, video]),
    ...Array.from({ length: voices }, (_, index) => opusEntry(VIDEO_TRACK + 1 + index)),
  ]);
}

export interface VoiceBlock {
  slot: number;
  /** Not before `atMs` of the cluster, nor 30 seconds after it. */
  atMs: number;
  packet: Buffer;
}

/**
 * Builds a cluster with the audio of a moment and, where a frame belongs to it, the header before its pixels.
 */
export function mixCluster(atMs: number, voices: readonly VoiceBlock[], pictureBytes: number | null): Buffer {
  const blocks = voices.map(({ slot, atMs: voiceMs, packet }) =>
    element(ID.simpleBlock, [blockHead(VIDEO_TRACK + 1 + slot, voiceMs - atMs), packet]),
  );
  const content = [number(ID.clusterTimestamp, atMs), ...blocks];
  if (pictureBytes === null) return element(ID.cluster, content);
  const block = element(ID.simpleBlock, [blockHead(VIDEO_TRACK, 0)]);
  const head = Buffer.concat([...content, block]);
  // The pixels are not copied, but the sizes include them.
  sizeOf(head, head.length - block.length + idOf(ID.simpleBlock).length, BLOCK_HEAD_BYTES + pictureBytes);
  const size = Buffer.alloc(8);
  sizeOf(size, 0, head.length + pictureBytes);
  return Buffer.concat([idOf(ID.cluster), size, head]);
}

/** A size in eight bytes. */
function sizeOf(bytes: Buffer, at: number, value: number): void {
  bytes.writeUInt32BE(0x01_00_00_00, at);
  bytes.writeUInt32BE(value, at + 4);
}

function blockHead(track: number, offsetMs: number): Buffer {
  const head = Buffer.alloc(BLOCK_HEAD_BYTES);
  head.writeUInt8(0x80 | track, 0);
  head.writeInt16BE(offsetMs, 1);
  head.writeUInt8(KEY_FLAG, 3);
  return head;
}
