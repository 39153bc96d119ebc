import type { Logger } from '../../platform/logger.ts';
import { type AudioTranscoder, startAudioTranscoder } from '../ffmpeg/audio-transcoder.ts';
import { liveGuard } from '../ffmpeg/guard.ts';
import type { FfmpegProgram } from '../ffmpeg/program.ts';
import { FlvTagType, flvHeader, flvTag } from '../protocols/flv/tags.ts';
import { WebmReader } from '../protocols/matroska/reader.ts';

/** Transcodes RTMP audio to Opus: WebRTC has no AAC. */
export interface OpusCoder extends Pick<AudioTranscoder, 'gone' | 'stop'> {
  /** @param payload of an audio tag, including its header. */
  sound(ms: number, payload: Buffer): void;
}

/** @param onPacket packets of 20 milliseconds, on the same line of times. */
export async function startOpusCoder(
  means: { ffmpeg: FfmpegProgram; log: Logger },
  onPacket: (ms: number, data: Buffer) => void,
): Promise<OpusCoder> {
  const reader = new WebmReader(({ ms, data }) => onPacket(ms, data));
  const program = await startAudioTranscoder(means, {
    input: ['-analyzeduration', '200000', ...liveGuard(null)],
    output: [
      ...['-c:a', 'libopus', '-b:a', '128k', '-frame_duration', '20', '-avoid_negative_ts', 'disabled'],
      // A cluster for each packet, because an incomplete cluster is held back.
      ...['-f', 'webm', '-live', '1', '-cluster_time_limit', '0'],
    ],
    onBytes: (bytes) => reader.push(bytes),
    complaint: 'cannot encode audio for WebRTC viewers',
  });
  program.write(flvHeader({ audio: true, video: false }));
  return {
    gone: program.gone,
    sound: (ms, payload) => program.write(flvTag(FlvTagType.audio, ms, payload)),
    stop: () => program.stop(),
  };
}
