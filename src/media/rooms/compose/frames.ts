import type { FileHandle } from 'node:fs/promises';
import { LEVEL_EXTENSION } from '../janus/sources.ts';
import { type OrderedPacket, type ResumePoint, readInOrder } from './jitter-buffer.ts';
import type { MjrHeader } from './mjr.ts';
import { primaryOfRed } from './rtp.ts';
import { isKeyFrame, keyFrameSize, parseVp8Payload, type Vp8Size } from './vp8.ts';

/** Video or audio frame. */
export interface MediaFrame {
  sequence: number;
  timestamp: number;
  receivedMs: number;
  /** Resume point of its first packet. */
  resume: ResumePoint;
  /** It is a keyframe. */
  isKey: boolean;
  /** Audio level from 0, the loudest, to 127, silence (RFC 6464); null when not signaled. */
  level: number | null;
  /** Clockwise rotation of the video, in degrees; null when not signaled. */
  rotation: 0 | 90 | 180 | 270 | null;
  /** Valid until the next frames are requested. */
  data: Buffer;
}

/** Clock rates of the supported codecs. */
const CLOCK_RATES: Readonly<Record<string, number>> = { vp8: 90_000, opus: 48_000 };
const ORIENTATION = 'urn:3gpp:video-orientation';
const ROTATIONS = [0, 90, 180, 270] as const;
/** Maximum size of a video frame, more than any camera sends. */
const MAX_FRAME_BYTES = 4 * 2 ** 20;
/** Maximum packets per video frame: each costs memory, even an empty one. */
const MAX_FRAME_PACKETS = 8192;
const MAX_SIDE = 4096;
/** Opus: 48 kHz, at most 120 ms of stereo at 510 kbit/s. */
const MAX_AUDIO_BYTES = 16 * 1024;

/** Returns the ticks per second; null for an unsupported codec. */
export function clockRateOf({ kind, codec }: MjrHeader): number | null {
  if (codec !== (kind === 'VIDEO' ? 'vp8' : 'opus')) return null;
  return CLOCK_RATES[codec] ?? null;
}

/**
 * Yields the complete frames of a track in the order in which they were sent; skips video frames that lack a
 * packet.
 */
export async function* readFrames(
  file: FileHandle,
  header: MjrHeader,
  from: ResumePoint | null,
): AsyncGenerator<MediaFrame[]> {
  const clockRate = clockRateOf(header);
  if (clockRate === null) return;
  const orientationId = idOf(header.extensions, ORIENTATION);
  const make =
    header.kind === 'VIDEO'
      ? assembleVideoFrames((extensions) => extensions.get(orientationId)?.readUInt8(0))
      : assembleAudioFrames(header);
  for await (const packets of readInOrder(file, header.bodyAt, clockRate, from)) {
    const frames: MediaFrame[] = [];
    for (const packet of packets) make(packet, frames);
    if (frames.length > 0) yield frames;
  }
}

/** Function that appends the frames completed by a packet to the list. */
export type FrameAssembler = (packet: OrderedPacket, frames: MediaFrame[]) => void;

function assembleAudioFrames({ redType, extensions }: MjrHeader): FrameAssembler {
  const levelId = idOf(extensions, LEVEL_EXTENSION);
  return (packet, frames) => {
    const { payload, payloadType } = packet.rtp;
    const data = payloadType === redType ? primaryOfRed(payload) : payload;
    if (data === null || data.length > MAX_AUDIO_BYTES) return;
    const level = packet.rtp.extensions?.get(levelId)?.readUInt8(0);
    frames.push({
      ...numbersOf(packet),
      ...{ isKey: true, rotation: null, data },
      level: level === undefined ? null : level & 0x7f,
    });
  };
}

/**
 * Assembles video frames. After a loss, frames are skipped until the next keyframe: a frozen image is better
 * than a corrupted one.
 *
 * @param turnOf the orientation in a packet (3GPP TS 26.114, section 7.4.5), if present.
 */
export function assembleVideoFrames(
  turnOf: (extensions: ReadonlyMap<number, Buffer>) => number | undefined,
): FrameAssembler {
  let open: { first: OrderedPacket; parts: Buffer[]; bytes: number } | null = null;
  let isTorn = true;
  return (packet, frames) => {
    const part = parseVp8Payload(packet.rtp.payload);
    if (packet.isAfterLoss) [open, isTorn] = [null, true];
    if (open !== null && open.first.timestamp !== packet.timestamp) [open, isTorn] = [null, true];
    if (part === null) return;
    if (open === null) {
      if (!part.isStart) {
        isTorn = true;
        return;
      }
      open = { first: packet, parts: [], bytes: 0 };
    }
    open.bytes += part.data.length;
    if (open.bytes > MAX_FRAME_BYTES || open.parts.length >= MAX_FRAME_PACKETS) {
      [open, isTorn] = [null, true];
      return;
    }
    // Copied, because the rest may arrive after the memory was reused.
    open.parts.push(Buffer.from(part.data));
    if (!packet.rtp.isMarked) return;
    const [data, { first }] = [Buffer.concat(open.parts), open];
    open = null;
    const isKey = isKeyFrame(data);
    if (isKey) isTorn = !isSensible(keyFrameSize(data));
    if (isTorn) return;
    const turned = packet.rtp.extensions === null ? undefined : turnOf(packet.rtp.extensions);
    const rotation = turned === undefined ? null : (ROTATIONS[turned & 3] ?? null);
    frames.push({ ...numbersOf(first), isKey, rotation, level: null, data });
  };
}

function isSensible(size: Vp8Size | null): boolean {
  return size !== null && size.width <= MAX_SIDE && size.height <= MAX_SIDE;
}

function numbersOf({ sequence, timestamp, receivedMs, resume }: OrderedPacket) {
  return { sequence, timestamp, receivedMs, resume };
}

function idOf(extensions: ReadonlyMap<number, string>, name: string): number {
  for (const [id, known] of extensions) if (known === name) return id;
  return -1;
}
