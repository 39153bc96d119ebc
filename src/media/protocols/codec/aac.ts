import type { AudioInfo } from '../../contract/index.ts';
import { BitReader } from './bit-reader.ts';

const SAMPLE_RATES = [
  96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000, 7350,
];
const EXPLICIT_RATE = 15;
const SBR = 5;
const PARAMETRIC_STEREO = 29;
const CHANNELS = [0, 1, 2, 3, 4, 5, 6, 8];

/**
 * Parses an AudioSpecificConfig (ISO/IEC 14496-3, 1.6.2.1), the payload of an AAC sequence header. The sample
 * rate is that of the decoder's output, so that of the extension for HE-AAC; 0 channels: defined in the
 * stream.
 * @throws CodecError
 */
export function parseAudioSpecificConfig(config: Buffer): AudioInfo {
  const reader = new BitReader(config);
  const objectType = readObjectType(reader);
  let sampleRate = readSampleRate(reader);
  const channels = CHANNELS[reader.bits(4)] ?? 0;
  const extended = objectType === SBR || objectType === PARAMETRIC_STEREO;
  if (extended) sampleRate = readSampleRate(reader);
  return {
    codec: `mp4a.40.${objectType}`,
    sampleRate,
    channels: objectType === PARAMETRIC_STEREO ? 2 : channels,
  };
}

function readObjectType(reader: BitReader): number {
  const type = reader.bits(5);
  return type === 31 ? 32 + reader.bits(6) : type;
}

function readSampleRate(reader: BitReader): number {
  const index = reader.bits(4);
  return index === EXPLICIT_RATE ? reader.bits(24) : (SAMPLE_RATES[index] ?? 0);
}
