import type { Logger } from '../../platform/logger.ts';
import { roomMixGuard } from '../ffmpeg/guard.ts';
import type { FfmpegProgram } from '../ffmpeg/program.ts';
import { startSoundProgram } from '../ffmpeg/sound-program.ts';
import { FlvTagType } from '../ingest/flv.ts';
import { FlvReader, type FlvTag } from '../restream/flv-reader.ts';
import { element, ID, matroskaHead, number, opusEntry } from '../rooms/compose/matroska.ts';

/** Makes AAC of Opus: players and the platforms that a stream is sent on to take nothing else by RTMP. */
export interface SoundCoder {
  /** @param ms a whole number, after those before. */
  packet(ms: number, data: Buffer): void;
  stop(): Promise<void>;
}

const BLOCK_HEAD = Buffer.of(0x81, 0, 0, 0x80);

/** @param onTag a tag of FLV, on the same line of times. */
export async function startSoundCoder(
  means: { ffmpeg: FfmpegProgram; log: Logger },
  onTag: (tag: FlvTag) => void,
): Promise<SoundCoder> {
  const reader = new FlvReader(
    () => {},
    (tag) => tag.type === FlvTagType.audio && onTag(tag),
  );
  const program = await startSoundProgram(means, {
    input: ['-analyzeduration', '0', '-probesize', '32', ...roomMixGuard()],
    output: ['-c:a', 'aac', '-b:a', '160k', '-f', 'flv', '-flvflags', 'no_duration_filesize'],
    onBytes: (bytes) => reader.push(bytes),
    complaint: 'the sound of a publish by WebRTC is not coded',
  });
  program.write(matroskaHead([opusEntry(1)]));
  let lastMs = -1;
  return {
    packet(ms, data) {
      const atMs = Math.max(ms, lastMs + 1);
      lastMs = atMs;
      const block = element(ID.simpleBlock, [BLOCK_HEAD, data]);
      program.write(element(ID.cluster, [number(ID.clusterTimestamp, atMs), block]));
    },
    stop: () => program.stop(),
  };
}
