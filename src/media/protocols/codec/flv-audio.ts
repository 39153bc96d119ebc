import type { AudioInfo } from '../../contract/index.ts';
import { parseAudioSpecificConfig } from './aac.ts';

const FORMAT_EX_HEADER = 9;
const FORMAT_AAC = 10;
const SEQUENCE_HEADER = 0;
/** CodedFrames, Multitrack, ModEx; the FourCC of the last two is further on. */
const EX_CODED_FRAMES = new Set([1, 5, 7]);
const MULTITRACK = 5;
const SAMPLE_RATES = [5500, 11025, 22050, 44100];

/** Short names by SoundFormat (FLV 10.1, E.4.2.1). */
const FORMATS: Record<number, string> = {
  0: 'pcm',
  1: 'adpcm',
  2: 'mp3',
  3: 'pcm_s16le',
  4: 'nellymoser',
  5: 'nellymoser',
  6: 'nellymoser',
  7: 'pcm_alaw',
  8: 'pcm_mulaw',
  11: 'speex',
  14: 'mp3',
};

export interface AudioPacket {
  kind: 'header' | 'frame' | 'other';
  codec: string;
  config: Buffer;
  /** Value of the tag's own flags; always 44100 and stereo for AAC, whatever the real format. */
  sampleRate: number;
  channels: number;
  /** Coded data; only of a frame. */
  data?: Buffer;
  isEnhanced?: true;
}

const OTHER: AudioPacket = { kind: 'other', codec: '', config: Buffer.alloc(0), sampleRate: 0, channels: 0 };

/** Reads the head of an FLV AUDIODATA, enhanced RTMP included. Total: never throws. */
export function readAudioPacket(payload: Buffer): AudioPacket {
  const first = payload[0];
  if (first === undefined) return OTHER;
  const format = first >> 4;
  if (format === FORMAT_EX_HEADER) return readEnhanced(payload, first & 0x0f);
  const sampleRate = SAMPLE_RATES[(first >> 2) & 3] ?? 0;
  const channels = (first & 1) + 1;
  if (format === FORMAT_AAC) {
    if (payload.length < 2) return OTHER;
    const body = payload.subarray(2);
    if (payload[1] === SEQUENCE_HEADER)
      return { kind: 'header', codec: 'mp4a', config: body, sampleRate, channels };
    return { kind: 'frame', codec: 'mp4a', config: body, sampleRate, channels, data: body };
  }
  const codec = FORMATS[format];
  if (codec === undefined) return OTHER;
  return { kind: 'frame', codec, config: OTHER.config, sampleRate, channels, data: payload.subarray(1) };
}

function readEnhanced(payload: Buffer, packetType: number): AudioPacket {
  if (payload.length < 5) return OTHER;
  const codec = payload.toString('latin1', 1, 5);
  const config = payload.subarray(5);
  if (packetType === SEQUENCE_HEADER) return { ...OTHER, kind: 'header', codec, config, isEnhanced: true };
  if (packetType >= MULTITRACK)
    return { ...OTHER, kind: EX_CODED_FRAMES.has(packetType) ? 'frame' : 'other' };
  const kind = EX_CODED_FRAMES.has(packetType) ? 'frame' : 'other';
  return { ...OTHER, kind, codec, data: config, isEnhanced: true };
}

/**
 * Returns the audio format: from the AudioSpecificConfig of an AAC header, otherwise from the flags. @throws
 * CodecError
 */
export function parseAudioInfo(packet: AudioPacket): AudioInfo {
  return { ...parseConfig(packet), ...(packet.isEnhanced ? { isEnhanced: true } : {}) };
}

function parseConfig(packet: AudioPacket): AudioInfo {
  if (packet.codec === 'mp4a' && packet.kind === 'header') return parseAudioSpecificConfig(packet.config);
  if (packet.codec === 'Opus') {
    const channels = packet.config[9] ?? 0; // OpusHead (RFC 7845, 5.1)
    return { codec: 'opus', sampleRate: 48000, channels };
  }
  const codec = packet.codec.replace(/[^A-Za-z0-9.-]/g, '');
  return { codec, sampleRate: packet.sampleRate, channels: packet.channels };
}
