import { type ChildProcess, spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface FlvSourceOptions {
  width?: number;
  height?: number;
  fps?: number;
  gopSec?: number;
  audio?: 'aac' | 'mp3' | 'none';
  /** Ends by itself after so much media. */
  seconds?: number;
  /** x264 options, such as `-profile:v high444 -pix_fmt yuv444p`. */
  extraArgs?: string[];
}

/** A stand-in for the ingest: every GET is answered with a live FLV of its own, made in real time. */
export interface FlvSource {
  url: string;
  /** Changes what the next reader gets. */
  use(options: FlvSourceOptions): void;
  /** Ends all readers cleanly, as the end of a publish does. */
  endReaders(): void;
  close(): Promise<void>;
}

export async function startFlvSource(initial: FlvSourceOptions = {}): Promise<FlvSource> {
  let options = initial;
  const generators = new Set<ChildProcess>();
  const server = createServer((_request, response) => {
    const generator = spawn('ffmpeg', generatorArgs(options), { stdio: ['ignore', 'pipe', 'ignore'] });
    generators.add(generator);
    generator.once('close', () => generators.delete(generator));
    response.writeHead(200, { 'content-type': 'video/x-flv' });
    generator.stdout.pipe(response);
    response.once('close', () => generator.kill('SIGKILL'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (!isAddressInfo(address)) throw new Error('the source has no port');
  const endReaders = (): void => {
    for (const generator of generators) generator.kill('SIGKILL');
  };
  return {
    url: `http://127.0.0.1:${address.port}/int/test.flv`,
    use: (next) => {
      options = next;
    },
    endReaders,
    close: async () => {
      endReaders();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function isAddressInfo(address: AddressInfo | string | null): address is AddressInfo {
  return typeof address === 'object' && address !== null;
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
