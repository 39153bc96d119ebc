import { BitReader, CodecError } from '../codec/bit-reader.ts';
import { box, fullBox, u16, u32 } from './box.ts';

/** One track of a file: what a player must know before its first sample. */
export interface TrackHead {
  trackId: number;
  isVideo: boolean;
  /** Units of a second. */
  timescale: number;
  /** 0 by 0 for audio, or when unknown. */
  width: number;
  height: number;
  /** The box in `stsd`. */
  entry: Buffer;
}

export const VIDEO_TRACK_ID = 1;
export const AUDIO_TRACK_ID = 2;
/** RTMP timestamps are milliseconds, which are integers in this timescale. */
const VIDEO_TIMESCALE = 90_000;
const CONFIG_MAX_BYTES = 65_536;

/** Boxes of the configuration records, by the FourCCs of enhanced RTMP. */
const VIDEO_CONFIGS: Readonly<Record<string, string>> = {
  avc1: 'avcC',
  hvc1: 'hvcC',
  av01: 'av1C',
  vp09: 'vpcC',
};

interface VideoHeader {
  /** FourCC. */
  codec: string;
  config: Buffer;
}

/** @throws {CodecError} for a codec that has no place in a file, or without a usable configuration. */
export function videoTrack(
  { codec, config }: VideoHeader,
  { width, height }: { width: number; height: number },
): TrackHead {
  const name = VIDEO_CONFIGS[codec];
  if (name === undefined) throw new CodecError(`unsupported video codec ${JSON.stringify(codec)}`);
  checkConfig(config);
  const entry = box(
    codec,
    // reserved, data_reference_index
    u16(0, 0, 0, 1),
    Buffer.alloc(16),
    u16(width, height),
    // 72 dots an inch, one frame a sample
    u32(0x48_0000, 0x48_0000, 0),
    u16(1),
    Buffer.alloc(32),
    u16(0x18, 0xffff),
    box(name, config),
  );
  return { trackId: VIDEO_TRACK_ID, isVideo: true, timescale: VIDEO_TIMESCALE, width, height, entry };
}

interface AudioFormat {
  sampleRate: number;
  channels: number;
}

/**
 * @param config an AudioSpecificConfig; null for MP3, which has none.
 * @throws {CodecError}
 */
export function mpegTrack(config: Buffer | null, { sampleRate, channels }: AudioFormat): TrackHead {
  if (config !== null) checkConfig(config);
  checkRate(sampleRate);
  const entry = audioSampleEntry(
    'mp4a',
    { sampleRate, channels },
    fullBox('esds', 0, 0, descriptors(config)),
  );
  return audioTrack(sampleRate, entry);
}

/**
 * @param head OpusHead (RFC 7845 5.1); null for the default of two channels.
 * @throws {CodecError}
 */
export function opusTrack(head: Buffer | null): TrackHead {
  const config = head === null ? DEFAULT_OPUS : opusConfig(head);
  const channels = config.readUInt8(1);
  return audioTrack(48_000, audioSampleEntry('Opus', { sampleRate: 48_000, channels }, box('dOps', config)));
}

function audioTrack(timescale: number, entry: Buffer): TrackHead {
  return { trackId: AUDIO_TRACK_ID, isVideo: false, timescale, width: 0, height: 0, entry };
}

function audioSampleEntry(type: string, { sampleRate, channels }: AudioFormat, config: Buffer): Buffer {
  // The field has 16 bits; decoders read the rate from the configuration.
  const rate = sampleRate > 0xffff ? 0 : sampleRate;
  return box(type, u16(0, 0, 0, 1), u32(0, 0), u16(channels || 2, 16, 0, 0, rate, 0), config);
}

function checkConfig(config: Buffer): void {
  if (config.length === 0 || config.length > CONFIG_MAX_BYTES)
    throw new CodecError(`a codec configuration of ${config.length} bytes`);
}

function checkRate(rate: number): void {
  if (!(rate >= 1000 && rate <= 384_000)) throw new CodecError(`unsupported sample rate ${rate}`);
}

const AAC = 0x40;
const MP3 = 0x6b;
const AUDIO_STREAM = 0x15;

/** ES_Descriptor (ISO/IEC 14496-1 7.2.6.5). */
function descriptors(config: Buffer | null): Buffer {
  const specific = config === null ? Buffer.alloc(0) : descriptor(5, config);
  const decoder = Buffer.concat([
    Buffer.of(config === null ? MP3 : AAC, AUDIO_STREAM, 0, 0, 0),
    u32(0, 0),
    specific,
  ]);
  return descriptor(
    3,
    Buffer.concat([Buffer.of(0, 0, 0), descriptor(4, decoder), descriptor(6, Buffer.of(2))]),
  );
}

function descriptor(tag: number, content: Buffer): Buffer {
  const size = content.length;
  const length = [size >> 21, size >> 14, size >> 7].map((bits) => (bits & 0x7f) | 0x80);
  return Buffer.concat([Buffer.of(tag, ...length, size & 0x7f), content]);
}

const OPUS_HEAD_BYTES = 19;
/** Version 0, two channels, 312 samples to skip, 48 kHz, no gain, the plain mapping. */
const DEFAULT_OPUS = Buffer.of(0, 2, 1, 56, 0, 0, 0xbb, 0x80, 0, 0, 0);

/** The fields of OpusHead with their most significant byte first (Opus in ISOBMFF 4.3.2). */
function opusConfig(head: Buffer): Buffer {
  if (head.length < OPUS_HEAD_BYTES || head.toString('latin1', 0, 8) !== 'OpusHead')
    throw new CodecError('no OpusHead');
  const channels = head.readUInt8(9);
  const mapping = head.readUInt8(18);
  const table = mapping === 0 ? Buffer.alloc(0) : head.subarray(19, 21 + channels);
  if (channels === 0 || (mapping === 0 && channels > 2) || (mapping !== 0 && table.length < 2 + channels))
    throw new CodecError('an OpusHead without a channel mapping');
  const fields = Buffer.alloc(11);
  fields.writeUInt8(channels, 1);
  fields.writeUInt16BE(head.readUInt16LE(10), 2);
  fields.writeUInt32BE(head.readUInt32LE(12), 4);
  fields.writeInt16BE(head.readInt16LE(16), 8);
  fields.writeUInt8(mapping, 10);
  return Buffer.concat([fields, table]);
}

const OPUS_FRAME_SAMPLES = [
  ...[480, 960, 1920, 2880, 480, 960, 1920, 2880, 480, 960, 1920, 2880],
  ...[480, 960, 480, 960],
  ...[120, 240, 480, 960, 120, 240, 480, 960, 120, 240, 480, 960, 120, 240, 480, 960],
];
const OPUS_PACKET_MAX = 5760;

/** Returns the number of 48 kHz samples in a packet (RFC 6716 3.1 and 3.2). */
export function opusDuration(packet: Buffer): number {
  const toc = packet[0] ?? 0;
  const code = toc & 3;
  const frames = code === 3 ? (packet[1] ?? 1) & 0x3f : code === 0 ? 1 : 2;
  return Math.min(Math.max(frames, 1) * (OPUS_FRAME_SAMPLES[toc >> 3] ?? 960), OPUS_PACKET_MAX);
}

const SAMPLE_RATES = [
  ...[96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8000, 7350],
];

const EXPLICIT_RATE = 15;
const REPLICATED = new Set([5, 29]);

/**
 * Parses the coded frame format of an AudioSpecificConfig (ISO/IEC 14496-3 1.6.2.1): before spectral band
 * replication, which doubles the rate.
 *
 * @throws {CodecError}
 */
export function aacFrame(config: Buffer): { sampleRate: number; channels: number; samples: number } {
  const reader = new BitReader(config);
  const type = reader.bits(5);
  if (type === 31) reader.skip(6);
  const index = reader.bits(4);
  const sampleRate = index === EXPLICIT_RATE ? reader.bits(24) : (SAMPLE_RATES[index] ?? 0);
  const channels = reader.bits(4);
  const isShort = !REPLICATED.has(type) && reader.flag();
  return { sampleRate, channels: channels === 7 ? 8 : channels, samples: isShort ? 960 : 1024 };
}
