import type { VideoInfo } from '../../contract/index.ts';
import { parseAv1Codec, parseVp9Codec } from './av1-vp9.ts';
import { parseAvcConfig } from './h264.ts';
import { parseHevcConfig } from './hevc.ts';

const EX_HEADER = 0x80;
const FRAME_KEY = 1;
const FRAME_COMMAND = 5;
const CODEC_AVC = 7;
const SEQUENCE_HEADER = 0;
/** Enhanced RTMP packet types that carry frames: CodedFrames, CodedFramesX, Multitrack, ModEx. */
const EX_CODED = new Set([1, 3, 6, 7]);
const CODED_FRAMES = 1;
const MULTITRACK = 6;

/** Older codecs have a number where enhanced RTMP has a FourCC (FLV 10.1, E.4.3.1). */
const LEGACY_CODECS: Record<number, string> = { 2: 'h263', 4: 'vp6f', 5: 'vp6a', 12: 'hvc1' };

/** One video message: its kind, and the offset of a sequence header's configuration record. */
export interface VideoPacket {
  kind: 'header' | 'frame' | 'other';
  keyframe: boolean;
  /** FourCC, or a short name for codecs without one. */
  codec: string;
  config: Buffer;
  /** Coded data; only of a frame. */
  data?: Buffer;
  /** Offset of presentation from decoding, in milliseconds; only of a frame. */
  compositionMs?: number;
  isEnhanced?: true;
}

const OTHER: VideoPacket = { kind: 'other', keyframe: false, codec: '', config: Buffer.alloc(0) };

/** Reads the head of an FLV VIDEODATA, enhanced RTMP (Veovera v2) included. Total: never throws. */
export function readVideoPacket(payload: Buffer): VideoPacket {
  const first = payload[0];
  if (first === undefined) return OTHER;
  if ((first & EX_HEADER) !== 0) return readEnhanced(payload, first);
  const frameType = first >> 4;
  if (frameType === FRAME_COMMAND) return OTHER;
  const codecId = first & 0x0f;
  const codec = codecId === CODEC_AVC ? 'avc1' : LEGACY_CODECS[codecId];
  if (codec === undefined) return OTHER;
  const keyframe = frameType === FRAME_KEY;
  if (codec !== 'avc1' && codec !== 'hvc1') return { kind: 'frame', keyframe, codec, config: OTHER.config };
  if (payload.length < 5) return OTHER;
  if (payload[1] === SEQUENCE_HEADER)
    return { kind: 'header', keyframe: false, codec, config: payload.subarray(5) };
  const kind = payload[1] === 1 ? 'frame' : 'other';
  const compositionMs = payload.readIntBE(2, 3);
  return { kind, keyframe, codec, config: OTHER.config, data: payload.subarray(5), compositionMs };
}

function readEnhanced(payload: Buffer, first: number): VideoPacket {
  const frameType = (first >> 4) & 7;
  const packetType = first & 0x0f;
  if (payload.length < 5 || frameType === FRAME_COMMAND) return OTHER;
  const codec = payload.toString('latin1', 1, 5);
  if (packetType === SEQUENCE_HEADER) {
    return { kind: 'header', keyframe: false, codec, config: payload.subarray(5), isEnhanced: true };
  }
  const kind = EX_CODED.has(packetType) ? 'frame' : 'other';
  // These types have the FourCC later in the payload.
  if (packetType >= MULTITRACK) return { ...OTHER, kind, keyframe: frameType === FRAME_KEY };
  // CodedFrames of these two have a composition time first.
  const hasTime = packetType === CODED_FRAMES && (codec === 'avc1' || codec === 'hvc1');
  if (hasTime && payload.length < 8) return OTHER;
  const data = payload.subarray(hasTime ? 8 : 5);
  const compositionMs = hasTime ? payload.readIntBE(5, 3) : 0;
  const keyframe = frameType === FRAME_KEY;
  return { kind, keyframe, codec, config: OTHER.config, data, compositionMs, isEnhanced: true };
}

/** Parses a sequence header. @throws CodecError */
export function parseVideoHeader(packet: VideoPacket): VideoInfo {
  return { ...parseConfig(packet), ...(packet.isEnhanced ? { isEnhanced: true } : {}) };
}

function parseConfig(packet: VideoPacket): VideoInfo {
  const unsized = { width: 0, height: 0, fps: 0 };
  switch (packet.codec) {
    case 'avc1':
      return parseAvcConfig(packet.config);
    case 'hvc1':
      return parseHevcConfig(packet.config);
    case 'av01':
      return { codec: parseAv1Codec(packet.config), ...unsized };
    case 'vp09':
      return { codec: parseVp9Codec(packet.config), ...unsized };
    default:
      return { codec: packet.codec.replace(/[^A-Za-z0-9.-]/g, ''), ...unsized };
  }
}
