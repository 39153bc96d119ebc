import type { Logger } from '../../platform/logger.ts';
import { type AudioTranscoder, startAudioTranscoder } from '../ffmpeg/audio-transcoder.ts';
import { roomMixGuard } from '../ffmpeg/guard.ts';
import type { FfmpegProgram } from '../ffmpeg/program.ts';
import { FlvReader, type FlvTag } from '../protocols/flv/reader.ts';
import { FlvTagType } from '../protocols/flv/tags.ts';
import { element, ID, matroskaHead, number, opusEntry } from '../protocols/matroska/writer.ts';

/**
 * Encodes Opus as AAC: players and restream platforms accept nothing else by RTMP. Its program is started by
 * the first packet.
 */
export interface AudioEncoder {
  /** @param ms an integer, after the previous ones. */
  packet(ms: number, data: Buffer): void;
  stop(): Promise<void>;
}

interface SoundCoderOptions {
  ffmpeg: FfmpegProgram;
  log: Logger;
  /** A tag of FLV, on the same line of times. */
  onTag(tag: FlvTag): void;
  /** The program could not be started. */
  onError(error: unknown): void;
}

const BLOCK_HEAD = Buffer.of(0x81, 0, 0, 0x80);
/** Packets that wait for the program to start: some seconds of them. */
const MOST_WAITING = 250;

export function createAudioEncoder({ ffmpeg, log, onTag, onError }: SoundCoderOptions): AudioEncoder {
  const reader = new FlvReader(
    () => {},
    (tag) => tag.type === FlvTagType.audio && onTag(tag),
  );
  let program: AudioTranscoder | null = null;
  let starting: Promise<void> | null = null;
  let waiting = [matroskaHead([opusEntry(1)])];
  let lastMs = -1;
  const start = async () => {
    const started = await startAudioTranscoder(
      { ffmpeg, log },
      {
        input: ['-analyzeduration', '0', '-probesize', '32', ...roomMixGuard()],
        output: ['-c:a', 'aac', '-b:a', '160k', '-f', 'flv', '-flvflags', 'no_duration_filesize'],
        onBytes: (bytes) => reader.push(bytes),
        complaint: 'cannot encode the audio of a WebRTC publish session',
      },
    );
    for (const bytes of waiting) started.write(bytes);
    waiting = [];
    program = started;
  };
  return {
    packet(ms, data) {
      starting ??= start().catch(onError);
      const atMs = Math.max(ms, lastMs + 1);
      lastMs = atMs;
      const block = element(ID.simpleBlock, [BLOCK_HEAD, data]);
      const bytes = element(ID.cluster, [number(ID.clusterTimestamp, atMs), block]);
      if (program !== null) program.write(bytes);
      else if (waiting.length <= MOST_WAITING) waiting.push(bytes);
    },
    async stop() {
      await starting;
      await program?.stop();
    },
  };
}
