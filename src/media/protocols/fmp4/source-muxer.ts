import { CodecError } from '../codec/bit-reader.ts';
import { type AudioPacket, readAudioPacket } from '../codec/flv-audio.ts';
import { readVideoPacket, type VideoPacket } from '../codec/flv-video.ts';
import { FlvReader, type FlvTag } from '../flv/reader.ts';
import { FlvTagType } from '../flv/tags.ts';
import { writeInit } from './init.ts';
import { PartMaker } from './part-maker.ts';
import { Timeline } from './timeline.ts';
import { aacFrame, mpegTrack, opusDuration, opusTrack, type TrackHead, videoTrack } from './track.ts';

/** A message of the publish, at its place on the line of time that the file has. */
export interface TimedTag {
  /** FLV tag type. */
  type: number;
  kind: 'header' | 'frame';
  /** Integer milliseconds. */
  atMs: number;
  payload: Buffer;
  keyframe: boolean;
}

export interface SourceMuxerOptions {
  /** Announced frame size; null for a stream without video. */
  picture: { width: number; height: number } | null;
  /** Whether the publish has audio; otherwise silence is inserted. */
  hasSound: boolean;
  /** Target duration of a part in milliseconds. */
  partMs: number;
  /** Returns the milliseconds of a monotonic clock. */
  now: () => number;
  /** Takes the header once, then each fragment. */
  onBytes: (bytes: Buffer) => void;
  /** Receives the content of the file; silence is AAC. The payload is valid only during the call. */
  onTag?: (tag: TimedTag) => void;
  /** Called when the publish changes its codec configuration: no further output follows. */
  onChanged: () => void;
}

/** Audio codec, and the samples per packet. */
interface AudioHead {
  track: TrackHead;
  samplesOf: (packet: Buffer) => number;
}

const SILENT_RATE = 48_000;
const SILENT_SAMPLES = 1024;
/** AAC-LC, 48 kHz, two channels; and a packet without any sound. */
const SILENT_CONFIG = Buffer.of(0x11, 0x90);
const SILENT_PACKET = Buffer.of(0x21, 0x10, 0x04, 0x60, 0x8c, 0x1c);
/** FLV tag of the silent header. */
const SILENT_HEADER_TAG = Buffer.of(0xaf, 0, ...SILENT_CONFIG);
const SILENT_TAG = Buffer.of(0xaf, 1, ...SILENT_PACKET);
const NOTHING = Buffer.alloc(0);

/**
 * Muxes the FLV of a publish (with enhanced RTMP), as the ingest delivers it, into fragmented MP4 without
 * decoding: H.264, HEVC, AV1 and VP9, AAC and Opus. Output begins with a keyframe. Additional tracks of a
 * publish are left out.
 */
export class SourceMuxer {
  readonly #options: SourceMuxerOptions;
  readonly #reader = new FlvReader(
    () => {},
    (tag) => this.#tag(tag),
  );
  readonly #timeline = new Timeline();
  #videoHeader: VideoPacket | null = null;
  #audioHeader: AudioPacket | null = null;
  /** Tags that contained the headers. */
  #videoTag = NOTHING;
  #audioTag = NOTHING;
  #sound: AudioHead | null = null;
  #maker: PartMaker | null = null;
  #silence = 0;
  #isOver = false;

  constructor(options: SourceMuxerOptions) {
    this.#options = options;
  }

  /**
   * Adds input bytes; none are retained by reference.
   *
   * @throws {CodecError} for a header that cannot be written to a file.
   */
  push(bytes: Buffer): void {
    // The memory that they lie in is written over.
    if (!this.#isOver) this.#reader.push(bytes, true);
  }

  /** Nothing follows. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#maker?.end();
  }

  #tag({ type, timestamp, payload }: FlvTag): void {
    if (this.#isOver) return;
    if (type === FlvTagType.video && this.#options.picture !== null)
      this.#picture(readVideoPacket(payload), timestamp, payload);
    if (type === FlvTagType.audio && this.#options.hasSound)
      this.#packet(readAudioPacket(payload), timestamp, payload);
  }

  #picture(packet: VideoPacket, timestamp: number, payload: Buffer): void {
    const { kind, keyframe, data, compositionMs = 0 } = packet;
    if (kind === 'header') {
      if (this.#videoHeader !== null && !isSame(this.#videoHeader, packet)) this.#change();
      this.#videoHeader = copyHeader(packet);
      this.#videoTag = Buffer.from(payload);
    }
    if (kind !== 'frame' || data === undefined || data.length === 0) return;
    if (this.#maker === null && keyframe) this.#begin();
    const maker = this.#maker;
    if (maker === null) return;
    const atMs = this.#timeline.place('video', timestamp, this.#options.now());
    if (!this.#options.hasSound) this.#beSilent(maker, atMs);
    maker.frame(atMs, compositionMs, keyframe, withoutDelimiter(packet.codec, data));
    this.#tell(FlvTagType.video, { kind, atMs, payload, keyframe });
  }

  #packet(packet: AudioPacket, timestamp: number, payload: Buffer): void {
    const { kind, data } = packet;
    if (kind === 'header') {
      if (this.#audioHeader !== null && !isSame(this.#audioHeader, packet)) this.#change();
      this.#audioHeader = copyHeader(packet);
      this.#audioTag = Buffer.from(payload);
    }
    if (kind !== 'frame' || data === undefined || data.length === 0) return;
    if (this.#audioHeader === null && packet.codec === 'Opus') this.#audioHeader = copyHeader(packet);
    if (this.#maker === null && this.#options.picture === null) this.#begin();
    if (this.#maker === null || this.#sound === null) return;
    const atMs = this.#timeline.place('audio', timestamp, this.#options.now());
    // Audio before the first video frame is dropped.
    if (atMs < 0) return;
    this.#maker.sound(atMs, this.#sound.samplesOf(data), data);
    this.#tell(FlvTagType.audio, { kind, atMs, payload, keyframe: false });
  }

  #tell(type: number, tag: Omit<TimedTag, 'type'>): void {
    this.#options.onTag?.({ type, ...tag });
  }

  #change(): void {
    // No media was produced under the previous header.
    if (this.#maker === null) return;
    this.end();
    this.#options.onChanged();
  }

  #begin(): void {
    const { picture, hasSound, partMs, onBytes } = this.#options;
    if (picture !== null && this.#videoHeader === null) return;
    if (hasSound && this.#audioHeader === null) return;
    const video =
      picture === null || this.#videoHeader === null ? null : videoTrack(this.#videoHeader, picture);
    this.#sound = hasSound && this.#audioHeader !== null ? audioHead(this.#audioHeader) : silentHead();
    const audio = this.#sound.track;
    const tracks = video === null ? [audio] : [video, audio];
    onBytes(writeInit(tracks));
    this.#maker = new PartMaker({ video, audio, partMs, onPart: onBytes });
    const header = { kind: 'header' as const, atMs: 0, keyframe: false };
    if (video !== null) this.#tell(FlvTagType.video, { ...header, payload: this.#videoTag });
    const soundTag = hasSound ? this.#audioTag : SILENT_HEADER_TAG;
    if (soundTag.length > 0) this.#tell(FlvTagType.audio, { ...header, payload: soundTag });
  }

  /** Adds silence up to the next video frame. */
  #beSilent(maker: PartMaker, untilMs: number): void {
    const last = Math.floor((untilMs * SILENT_RATE) / (1000 * SILENT_SAMPLES));
    // After a pause, missed silence is not made up.
    this.#silence = Math.max(this.#silence, last - SILENT_RATE / SILENT_SAMPLES);
    for (; this.#silence < last; this.#silence += 1) {
      const atMs = (this.#silence * SILENT_SAMPLES * 1000) / SILENT_RATE;
      maker.sound(atMs, SILENT_SAMPLES, SILENT_PACKET);
      const tag = { kind: 'frame' as const, atMs: Math.round(atMs), payload: SILENT_TAG, keyframe: false };
      this.#tell(FlvTagType.audio, tag);
    }
  }
}

function silentHead(): AudioHead {
  const track = mpegTrack(SILENT_CONFIG, { sampleRate: SILENT_RATE, channels: 2 });
  return { track, samplesOf: () => SILENT_SAMPLES };
}

function audioHead({ codec, kind, config }: AudioPacket): AudioHead {
  if (codec === 'Opus')
    return { track: opusTrack(kind === 'header' ? config : null), samplesOf: opusDuration };
  if (codec !== 'mp4a' || kind !== 'header')
    throw new CodecError(`unsupported audio codec ${JSON.stringify(codec)}`);
  const { samples, ...format } = aacFrame(config);
  return { track: mpegTrack(config, format), samplesOf: () => samples };
}

/** Copies the header: it is retained for long, and must not retain the buffer it arrived in. */
function copyHeader<T extends VideoPacket | AudioPacket>(packet: T): T {
  return { ...packet, config: Buffer.from(packet.config) };
}

function isSame(a: VideoPacket | AudioPacket, b: VideoPacket | AudioPacket): boolean {
  return a.codec === b.codec && settingsOf(a).equals(settingsOf(b));
}

function settingsOf({ codec, config }: VideoPacket | AudioPacket): Buffer {
  return codec === 'avc1' ? withoutPadding(config) : config;
}

/**
 * Removes trailing zeros from the parameter sets of an avcC (ISO/IEC 14496-15 5.3.3.1): ffmpeg sends
 * identical sets sometimes with and sometimes without them.
 */
function withoutPadding(config: Buffer): Buffer {
  const units: Buffer[] = [config.subarray(0, 5)];
  let at = 5;
  for (const mask of [0x1f, 0xff]) {
    const count = (config[at] ?? 0) & mask;
    at += 1;
    for (let i = 0; i < count; i += 1) {
      if (at + 2 > config.length) return config;
      const unit = config.subarray(at + 2, at + 2 + config.readUInt16BE(at));
      at += 2 + config.readUInt16BE(at);
      units.push(Buffer.of(count), unit.subarray(0, unit.findLastIndex((byte) => byte !== 0) + 1));
    }
  }
  return Buffer.concat([...units, config.subarray(at)]);
}

/** Frames of AV1 have no temporal delimiter in a file (AV1-ISOBMFF 2.4). */
function withoutDelimiter(codec: string, data: Buffer): Buffer {
  const hasOne = codec === 'av01' && data.length > 2 && data[0] === 0x12 && data[1] === 0;
  return hasOne ? data.subarray(2) : data;
}
