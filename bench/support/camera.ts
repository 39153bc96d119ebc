import { spawn } from 'node:child_process';
import { systemClock } from '../../src/kernel/clock.ts';

const [WIDTH, HEIGHT, FPS] = [640, 360, 30];
/** Number of bits of the time of day in milliseconds, each drawn as a square in the video. */
const BITS = 27;
const SQUARE = 20;

/** Output of a camera by a program other than the system's ffmpeg. */
export interface CameraOutput {
  program: string;
  /** Arguments after the video options. */
  args: readonly string[];
}

const AAC = ['-c:a', 'aac', '-b:a', '96k', '-shortest'];

/**
 * Starts a camera: its video is moving gray noise with the time in the first rows.
 *
 * @param to an RTMP URL, or another output.
 */
export function startCamera(to: string | CameraOutput, gopSec: number): { pid: number; stop(): void } {
  const size = WIDTH * HEIGHT;
  const input = [
    '-use_wallclock_as_timestamps',
    '1',
    '-f',
    'rawvideo',
    '-pix_fmt',
    'gray',
    '-s',
    `${WIDTH}x${HEIGHT}`,
    '-framerate',
    String(FPS),
    '-i',
    'pipe:0',
  ];
  const gop = String(gopSec * FPS);
  const codec = ['-c:v', 'libx264', '-preset', 'ultrafast', '-tune', 'zerolatency', '-pix_fmt', 'yuv420p'];
  const keyframes = ['-g', gop, '-keyint_min', gop, '-sc_threshold', '0', '-b:v', '1500k'];
  const tone = ['-f', 'lavfi', '-i', 'sine=frequency=440:sample_rate=48000'];
  const { program, args } =
    typeof to === 'string'
      ? { program: 'ffmpeg', args: [...AAC, '-flush_packets', '1', '-f', 'flv', to] }
      : to;
  const child = spawn(program, ['-v', 'error', ...input, ...tone, ...codec, ...keyframes, ...args], {
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  child.stdin.on('error', () => {});
  const startedMs = performance.now();
  let frame = 0;
  const timer = setInterval(() => {
    const due = ((performance.now() - startedMs) / 1000) * FPS;
    for (; frame < due; frame += 1) {
      // Frames that the encoder cannot take are dropped, as a camera does: the encoder's own delay is not
      // measured here.
      if (child.stdin.writableLength > size || frame < due - 1) continue;
      const picture = Buffer.alloc(size, 64 + (frame % 64));
      const now = systemClock.ms() % 86_400_000;
      for (let bit = 0; bit < BITS; bit += 1) {
        const value = Math.floor(now / 2 ** bit) % 2 === 1 ? 235 : 16;
        for (let y = 0; y < SQUARE; y += 1)
          picture.fill(value, y * WIDTH + bit * SQUARE, y * WIDTH + (bit + 1) * SQUARE);
      }
      child.stdin.write(picture);
    }
  }, 5);
  return {
    pid: child.pid ?? 0,
    stop: () => {
      clearInterval(timer);
      child.kill('SIGKILL');
    },
  };
}

/**
 * Returns a page script that reads the time from each displayed frame and records its age.
 *
 * @param mostSec maximum age; a frame that seems older was misread.
 */
export const readerOf = (mostSec: number): string => `
window.delays = []; window.stalls = 0; window.firstAt = null;
addEventListener('DOMContentLoaded', () => {
  const canvas = new OffscreenCanvas(${WIDTH}, ${SQUARE});
  const context = canvas.getContext('2d', { willReadFrequently: true });
  const look = (video) => {
    const read = () => {
      context.drawImage(video, 0, 0, video.videoWidth, ${SQUARE}, 0, 0, ${WIDTH}, ${SQUARE});
      const { data } = context.getImageData(0, ${SQUARE / 2}, ${WIDTH}, 1);
      let time = 0;
      for (let bit = 0; bit < ${BITS}; bit += 1)
        if (data[(bit * ${SQUARE} + ${SQUARE / 2}) * 4] > 128) time += 2 ** bit;
      const delay = (Date.now() % 86400000) - time;
      window.firstAt ??= performance.now();
      if (delay > -1000 && delay < ${mostSec * 1000}) window.delays.push([performance.now(), delay]);
      video.requestVideoFrameCallback(read);
    };
    video.requestVideoFrameCallback(read);
    video.addEventListener('waiting', () => { if (window.firstAt !== null) window.stalls += 1; });
  };
  const find = () => {
    const host = document.querySelector('marquee-player');
    const video = document.querySelector('video') ?? host?.shadowRoot?.querySelector('video');
    if (video) look(video); else setTimeout(find, 10);
  };
  find();
});`;

export const READER: string = readerOf(60);
