import type { Writable } from 'node:stream';
import type { Logger } from '../../platform/logger.ts';
import { roomMixGuard } from '../ffmpeg/guard.ts';
import { liveLimits } from '../ffmpeg/limits.ts';
import { spawnFfmpeg } from '../ffmpeg/process.ts';
import type { FfmpegProgram } from '../ffmpeg/program.ts';
import { FlvTagType } from '../ingest/flv.ts';
import { FlvReader, type FlvTag } from '../restream/flv-reader.ts';
import { element, ID, matroskaHead, number, opusEntry } from '../rooms/compose/matroska.ts';

/** Makes AAC of Opus: players and the platforms that a stream is sent on to take nothing else by RTMP. */
export interface SoundCoder {
  /** @param ms a whole number, after those before. */
  packet(ms: number, data: Buffer): void;
  stop(): Promise<void>;
}

const STOP_GRACE_MS = 500;
/** What waits for a program that does not keep up; more is left out. */
const MOST_WAITING_BYTES = 2 ** 18;
const BLOCK_HEAD = Buffer.of(0x81, 0, 0, 0x80);

/** @param onTag a tag of FLV, on the same line of times. */
export async function startSoundCoder(
  { ffmpeg, log }: { ffmpeg: FfmpegProgram; log: Logger },
  onTag: (tag: FlvTag) => void,
): Promise<SoundCoder> {
  const program = await ffmpeg.guard.start(ffmpeg.bin, liveLimits(0), { reads: [], writes: null });
  const reader = new FlvReader(
    () => {},
    (tag) => tag.type === FlvTagType.audio && onTag(tag),
  );
  const given = Promise.withResolvers<Writable>();
  const child = spawnFfmpeg({
    program,
    args: ARGS,
    log,
    input: given.resolve,
    onBytes: (bytes) => reader.push(bytes),
  });
  const stdin = await given.promise;
  stdin.write(matroskaHead([opusEntry(1)]));
  let lastMs = -1;
  let isStopped = false;
  void child.exited.then(({ stderr }) => {
    if (!isStopped) log.warn({ stderr: stderr.slice(-500) }, 'the sound of a publish by WebRTC is not coded');
  });
  return {
    packet(ms, data) {
      if (stdin.writableLength > MOST_WAITING_BYTES || stdin.destroyed) return;
      const atMs = Math.max(ms, lastMs + 1);
      lastMs = atMs;
      const block = element(ID.simpleBlock, [BLOCK_HEAD, data]);
      stdin.write(element(ID.cluster, [number(ID.clusterTimestamp, atMs), block]));
    },
    async stop() {
      isStopped = true;
      await child.stop(STOP_GRACE_MS);
    },
  };
}

const ARGS = [
  ...['-hide_banner', '-nostats', '-v', 'error', '-nostdin', '-analyzeduration', '0', '-probesize', '32'],
  ...['-fflags', 'nobuffer', '-copyts', ...roomMixGuard()],
  ...[
    '-map',
    '0:a:0',
    '-af',
    'aresample=async=1000',
    '-c:a',
    'aac',
    '-b:a',
    '160k',
    '-ar',
    '48000',
    '-ac',
    '2',
  ],
  ...['-f', 'flv', '-flvflags', 'no_duration_filesize', '-flush_packets', '1', 'pipe:1'],
];
