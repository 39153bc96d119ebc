import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { copyFile, mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const CLIPS = join(import.meta.dirname, '../../.cache/clips');

export interface ClipOptions {
  seconds: number;
  width: number;
  height: number;
  fps?: number;
  bitrateKbps?: number;
}

/** Creates an MP4 of a test pattern and a tone, with a keyframe every two seconds; cached for all tests. */
export async function makeClip(path: string, options: ClipOptions): Promise<void> {
  const { seconds, width, height, fps = 24, bitrateKbps = 2000 } = options;
  const name = createHash('sha256').update(JSON.stringify([seconds, width, height, fps, bitrateKbps]));
  const clip = join(CLIPS, `${name.digest('hex').slice(0, 16)}.mp4`);
  const isThere = await copyFile(clip, path).then(
    () => true,
    () => false,
  );
  if (isThere) return;
  await mkdir(CLIPS, { recursive: true });
  const made = join(CLIPS, `${randomUUID()}.mp4`);
  await encode(made, { seconds, width, height, fps, bitrateKbps });
  await rename(made, clip);
  await copyFile(clip, path);
}

async function encode(path: string, options: Required<ClipOptions>): Promise<void> {
  const { seconds, width, height, fps, bitrateKbps } = options;
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
