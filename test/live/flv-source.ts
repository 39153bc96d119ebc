import { type ChildProcess, spawn } from 'node:child_process';
import type { Writable } from 'node:stream';

export interface FlvSourceOptions {
  width?: number;
  height?: number;
  fps?: number;
  gopSec?: number;
  audio?: 'aac' | 'mp3' | 'none';
  /** Seconds of media after which it ends. */
  seconds?: number;
  /** x264 options, such as `-profile:v high444 -pix_fmt yuv444p`. */
  extraArgs?: string[];
}

/** Stand-in for the ingest: every reader gets a separate live FLV, generated in real time. */
export interface FlvSource {
  feed(this: void, session: unknown, reader: Writable): void;
  /** Changes what the next reader gets. */
  use(options: FlvSourceOptions): void;
  /** Ends all readers cleanly, as the end of a publish does. */
  endReaders(): void;
  close(): Promise<void>;
}

export async function startFlvSource(initial: FlvSourceOptions = {}): Promise<FlvSource> {
  let options = initial;
  const generators = new Set<ChildProcess>();
  const endReaders = (): void => {
    for (const generator of generators) generator.kill('SIGKILL');
  };
  return {
    feed: (_session, reader) => {
      const generator = spawn('ffmpeg', generatorArgs(options), { stdio: ['ignore', 'pipe', 'ignore'] });
      generators.add(generator);
      generator.once('close', () => generators.delete(generator));
      generator.stdout.pipe(reader);
      reader.once('close', () => generator.kill('SIGKILL'));
    },
    use: (next) => {
      options = next;
    },
    endReaders,
    close: async () => endReaders(),
  };
}

function generatorArgs(options: FlvSourceOptions): string[] {
  const { width = 640, height = 360, fps = 30, gopSec = 1, audio = 'aac' } = options;
  const gop = String(Math.round(fps * gopSec));
  const audioCodec = audio === 'mp3' ? ['-c:a', 'libmp3lame'] : ['-c:a', 'aac'];
  return [
    ...[
      '-v',
      'error',
      '-nostdin',
      '-re',
      '-f',
      'lavfi',
      '-i',
      `testsrc2=size=${width}x${height}:rate=${fps}`,
    ],
    ...(audio === 'none' ? [] : ['-re', '-f', 'lavfi', '-i', 'sine=frequency=440:sample_rate=44100']),
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-tune', 'zerolatency', '-pix_fmt', 'yuv420p'],
    ...['-g', gop, '-keyint_min', gop, '-sc_threshold', '0', '-b:v', '500k', '-threads', '1'],
    ...(audio === 'none' ? [] : [...audioCodec, '-b:a', '64k', '-ac', '2']),
    ...(options.seconds === undefined ? [] : ['-t', String(options.seconds)]),
    ...(options.extraArgs ?? []),
    ...['-flush_packets', '1', '-f', 'flv', '-'],
  ];
}
