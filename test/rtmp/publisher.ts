import { spawn } from 'node:child_process';

export interface PublisherOptions {
  /** `rtmp://host:port/live/<stream key>`, or any URL that ffmpeg's flv muxer can write to. */
  url: string;
  /** Seconds of media after which it ends (a clean unpublish); endless without it. */
  seconds?: number;
  width?: number;
  height?: number;
  fps?: number;
  gopSec?: number;
  bitrateKbps?: number;
  /** Whether to send a 440 Hz tone in AAC; true by default. */
  audio?: boolean;
  /** Output options, placed before `-f flv`. */
  extraArgs?: string[];
}

export interface PublisherExit {
  /** null when a signal ended it. */
  code: number | null;
  stderr: string;
}

export interface Publisher {
  pid: number;
  /** Ends the publish as an encoder does (SIGINT, so FCUnpublish and deleteStream are sent). */
  stop(): Promise<PublisherExit>;
  /** SIGKILL resets the connection, SIGSTOP silences the publisher. */
  kill(signal: NodeJS.Signals): void;
  exited: Promise<PublisherExit>;
}

const STDERR_MAX_CHARS = 64 * 1024;

/** Starts a real encoder: ffmpeg sends test video (H.264) and a tone (AAC) in real time. */
export function startPublisher(options: PublisherOptions): Publisher {
  const child = spawn('ffmpeg', publisherArgs(options), { stdio: ['ignore', 'ignore', 'pipe'] });
  let stderr = '';
  child.stderr.setEncoding('utf8');
  child.stderr.on('data', (text: string) => {
    stderr = (stderr + text).slice(-STDERR_MAX_CHARS);
  });
  const exited = new Promise<PublisherExit>((resolve) => {
    child.once('error', (error) => resolve({ code: null, stderr: String(error) }));
    child.once('close', (code) => resolve({ code, stderr }));
  });
  return {
    pid: child.pid ?? -1,
    kill: (signal) => void child.kill(signal),
    exited,
    stop: async () => {
      child.kill('SIGCONT');
      child.kill('SIGINT');
      const force = setTimeout(() => child.kill('SIGKILL'), 5000);
      try {
        return await exited;
      } finally {
        clearTimeout(force);
      }
    },
  };
}

function publisherArgs(options: PublisherOptions): string[] {
  const { width = 640, height = 360, fps = 30, gopSec = 1, bitrateKbps = 600, audio = true } = options;
  const gop = String(Math.max(1, Math.round(fps * gopSec)));
  const rate = `${bitrateKbps}k`;
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
    ...(audio ? ['-re', '-f', 'lavfi', '-i', 'sine=frequency=440:sample_rate=48000'] : []),
    ...['-map', '0:v', ...(audio ? ['-map', '1:a'] : [])],
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-tune', 'zerolatency', '-pix_fmt', 'yuv420p'],
    ...['-g', gop, '-keyint_min', gop, '-sc_threshold', '0', '-threads', '1'],
    ...['-b:v', rate, '-maxrate', rate, '-bufsize', rate],
    ...(audio ? ['-c:a', 'aac', '-b:a', '96k', '-ac', '2'] : []),
    ...(options.seconds === undefined ? [] : ['-t', String(options.seconds)]),
    ...(options.extraArgs ?? []),
    ...['-f', 'flv', options.url],
  ];
}
