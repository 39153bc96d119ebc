import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

export interface ClipOptions {
  seconds: number;
  width: number;
  height: number;
  fps?: number;
  bitrateKbps?: number;
}

/** Makes an MP4 of a test picture and a tone, with a keyframe every two seconds. */
export async function makeClip(path: string, options: ClipOptions): Promise<void> {
  const { seconds, width, height, fps = 24, bitrateKbps = 2000 } = options;
  await promisify(execFile)(
    'ffmpeg',
    [
      ...['-v', 'error', '-y', '-f', 'lavfi', '-i', `testsrc2=s=${width}x${height}:r=${fps}`],
      ...['-f', 'lavfi', '-i', 'sine=f=440:r=48000', '-t', String(seconds)],
      ...['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-g', String(fps * 2)],
      ...['-b:v', `${bitrateKbps}k`, '-minrate', `${bitrateKbps}k`, '-maxrate', `${bitrateKbps}k`],
      ...['-bufsize', `${bitrateKbps}k`, '-c:a', 'aac', '-b:a', '96k', '-movflags', '+faststart', path],
    ],
    { timeout: 60_000 },
  );
}
