import { aacFrame, opusDuration } from '../fmp4/track.ts';
import type { AudioPacket } from './flv-audio.ts';

/** A packet of silence as FLV carries it (AUDIODATA), and how long it lasts. */
export interface SilentPacket {
  payload: Buffer;
  durationMs: number;
}

/** Raw data blocks of silence by channelConfiguration (ISO/IEC 14496-3, 1.6.3.5), as ffmpeg encodes them. */
const AAC_SILENCE: Readonly<Record<number, Buffer>> = {
  1: Buffer.from('01182007', 'hex'),
  2: Buffer.from('211004608c1c', 'hex'),
  3: Buffer.from('011820010880230460e0', 'hex'),
  4: Buffer.from('01182001088023046003182007', 'hex'),
  5: Buffer.from('011820010880230460231004608c1c', 'hex'),
  6: Buffer.from('011820010880230460231004608c0c230000e0', 'hex'),
  8: Buffer.from('011820010880230460231004608c04a2008c11818460001c', 'hex'),
};
const MAX_AAC_RATE = 96_000;
/** 20 ms of silence in CELT, full band, stereo (RFC 6716, 3.1). */
const OPUS_SILENCE = Buffer.of(0xfc, 0xff, 0xfe);

/**
 * Returns silence in the format of a packet.
 *
 * @param packet a header, or a frame of a codec that has no header.
 * @param payload its AUDIODATA, whose first bytes name the format.
 * @returns null for a codec whose silence is unknown.
 */
export function silentPacket(packet: AudioPacket, payload: Buffer): SilentPacket | null {
  const { codec, config, kind, isEnhanced = false } = packet;
  if (codec === 'mp4a' && kind === 'header') {
    const { sampleRate, channels, samples } = aacFrame(config);
    const data = AAC_SILENCE[channels];
    // Rates beyond that of AAC would be packets without a length.
    if (data === undefined || sampleRate === 0 || sampleRate > MAX_AAC_RATE) return null;
    const head = isEnhanced ? codedFrames('mp4a') : Buffer.of(payload[0] ?? 0, 1);
    return { payload: Buffer.concat([head, data]), durationMs: (samples * 1000) / sampleRate };
  }
  if (codec !== 'Opus') return null;
  return {
    payload: Buffer.concat([codedFrames('Opus'), OPUS_SILENCE]),
    durationMs: opusDuration(OPUS_SILENCE) / 48,
  };
}

/** The head of an ExAudioTagHeader with PacketType CodedFrames (enhanced RTMP). */
function codedFrames(fourCc: string): Buffer {
  return Buffer.concat([Buffer.of(0x91), Buffer.from(fourCc, 'latin1')]);
}
