import { type ChildProcess, execFileSync, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { waitFor } from '../../test/harness/wait-for.ts';

export interface RtmpServer {
  /** The process that does the work. */
  pid: number;
  publishUrl(index: number): string;
  /** Returns the read URL; empty before the publish has begun. */
  readUrl(index: number): string;
  stop(): Promise<void>;
}

/** A source of 1080p60 at 6 Mbps that ffmpeg can send again and again without encoding it. */
export function encodeSource(path: string): void {
  const input = '-f lavfi -i testsrc2=size=1920x1080:rate=60 -f lavfi -i sine=sample_rate=48000 -t 6';
  const video = '-c:v libx264 -preset ultrafast -pix_fmt yuv420p -g 120 -sc_threshold 0';
  const rate = '-b:v 6M -minrate 6M -maxrate 6M -bufsize 6M -x264-params nal-hrd=cbr';
  const args = `-v error -y -nostdin ${input} ${video} ${rate} -c:a aac -b:a 128k -ac 2 ${path}`;
  execFileSync('ffmpeg', args.split(' '));
}

/** Starts only our ingest, in a process. */
export async function startEngine(): Promise<RtmpServer> {
  const main = join(import.meta.dirname, '../../test/rtmp/engine-main.ts');
  // Started with the flags of the media process.
  const child = fork(main, { execArgv: ['--max-semi-space-size=1'] });
  const readPorts: number[] = [];
  let port = 0;
  child.on('message', (message) => {
    if (typeof message !== 'object' || message === null) return;
    if ('port' in message && typeof message.port === 'number') port = message.port;
    if ('readPort' in message && typeof message.readPort === 'number') readPorts.push(message.readPort);
  });
  await waitFor(() => port > 0, { timeoutMs: 10_000 });
  return {
    pid: child.pid ?? -1,
    publishUrl: (index) => `rtmp://127.0.0.1:${port}/live/key-${index}`,
    readUrl: (index) => (readPorts[index] === undefined ? '' : `tcp://127.0.0.1:${readPorts[index]}`),
    stop: () => end(child),
  };
}

export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}

export function ffmpeg(args: string): ChildProcess {
  return spawn('ffmpeg', ['-v', 'error', '-nostdin', ...args.split(' ')], { stdio: 'ignore' });
}
