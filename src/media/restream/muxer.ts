import type { Writable } from 'node:stream';
import type { Logger } from '../../platform/logger.ts';
import { liveGuard } from '../ffmpeg/guard.ts';
import { liveLimits } from '../ffmpeg/limits.ts';
import { spawnFfmpeg } from '../ffmpeg/process.ts';
import type { FfmpegProgram } from '../ffmpeg/program.ts';
import type { Muxer } from './srt-push.ts';

const STOP_GRACE_MS = 500;

/** One ffmpeg for one destination, which copies: it has no network, and knows no address and no key. */
export function createMuxer(open: () => Promise<FfmpegProgram>, log: Logger): Muxer {
  return async (onBytes) => {
    const ffmpeg = await open();
    const view = { reads: [], writes: null };
    const program = await ffmpeg.guard.start(ffmpeg.bin, liveLimits(0), view);
    const given = Promise.withResolvers<Writable>();
    const child = spawnFfmpeg({ program, args: muxerArgs(), log, input: given.resolve, onBytes });
    const ended = child.exited.then(({ code, signal, stderr, spawnError }) => {
      const last = spawnError ?? stderr.trim().split('\n').at(-1)?.slice(0, 200);
      return last || `ffmpeg ended with ${signal ?? code}`;
    });
    const stop = async () => void (await child.stop(STOP_GRACE_MS));
    return { stdin: await given.promise, ended, stop };
  };
}

function muxerArgs(): string[] {
  return [
    ...['-v', 'error', '-nostdin', '-fflags', '+genpts+nobuffer'],
    ...['-analyzeduration', '1500000', '-probesize', '1000000', '-fpsprobesize', '0'],
    ...liveGuard(null),
    ...['-map', '0:v:0?', '-map', '0:a:0?', '-c', 'copy', '-max_muxing_queue_size', '1024'],
    ...['-f', 'mpegts', '-muxdelay', '0', '-muxpreload', '0', '-flush_packets', '1', 'pipe:1'],
  ];
}
