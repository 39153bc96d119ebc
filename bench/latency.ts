/**
 * How far behind the camera a viewer of the watch page is: the time is in the picture, as bits, and Chromium reads it.
 * `node bench/latency.ts [seconds [keyframes]]`: for each latency mode and distance of keyframes (`1,2,4` seconds) one
 * broadcast, of 30 seconds unless told. Prints JSON lines with the 95th percentile, the time to the first picture and the stalls.
 */
import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../src/kernel/clock.ts';
import { launchBrowser, type TestBrowser } from '../test/harness/browser.ts';
import { createPartner, type Partner } from '../test/harness/partner.ts';
import { type RunningPlatform, startPlatform } from '../test/harness/platform.ts';
import { until } from '../test/harness/wait.ts';
import { median, report } from './support/report.ts';

const SECONDS = Number(process.argv[2] ?? 30);
const GOPS_SEC = (process.argv[3] ?? '1,2,4').split(',').map(Number);
const [WIDTH, HEIGHT, FPS] = [640, 360, 30];
/** Milliseconds of the time of day, each bit a square of the picture. */
const BITS = 27;
const SQUARE = 20;
const TARGET_MS = { LOW: 2000, STANDARD: 5000 } as const;

/** A camera: its picture is grey noise that moves, with the time in the first rows. */
function startCamera(url: string, gopSec: number): { stop(): void } {
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
  const sound = ['-c:a', 'aac', '-b:a', '96k', '-shortest'];
  const child = spawn(
    'ffmpeg',
    [
      '-v',
      'error',
      ...input,
      ...tone,
      ...codec,
      ...keyframes,
      ...sound,
      '-flush_packets',
      '1',
      '-f',
      'flv',
      url,
    ],
    { stdio: ['pipe', 'ignore', 'inherit'] },
  );
  child.stdin.on('error', () => {});
  const startedMs = performance.now();
  let frame = 0;
  const timer = setInterval(() => {
    const due = ((performance.now() - startedMs) / 1000) * FPS;
    for (; frame < due; frame += 1) {
      // What the encoder has no time for is dropped, as a camera does: its own delay is not measured here.
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
    stop: () => {
      clearInterval(timer);
      child.kill('SIGKILL');
    },
  };
}

/** Reads the time out of each picture that is shown, and tells how old it is. */
const READER = `
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
      if (delay > -1000 && delay < 60000) window.delays.push([performance.now(), delay]);
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

interface Setting {
  mode: keyof typeof TARGET_MS;
  gopSec: number;
}

async function measure(
  { platform, browser, partner }: { platform: RunningPlatform; browser: TestBrowser; partner: Partner },
  { mode, gopSec }: Setting,
): Promise<void> {
  const name = `${mode}, keyframes every ${gopSec} s`;
  const stream = await partner.createStream({ latencyMode: mode });
  await partner.start(stream.id);
  const early = await browser.open(`${platform.url}/watch/${stream.id}`, { initScript: READER });
  const camera = startCamera(`rtmp://127.0.0.1:${platform.rtmpPort}/live/${stream.streamKey}`, gopSec);
  try {
    await until(async () => (await partner.stream(stream.id)).hasSignal === true, { intervalMs: 10 });
    const publishedMs = performance.now();
    const address = `${platform.url}/live/${stream.id}/src/index.m3u8`;
    await until(async () => (await (await fetch(address)).text()).includes('.m4s'), {
      timeoutMs: 30_000,
      intervalMs: 20,
    });
    const playableSec = (performance.now() - publishedMs) / 1000;
    report({ name: `${name}: publish to playable`, value: playableSec, unit: 's', target: '<= 1.5' });
    await until(() => early.page.evaluate<boolean>('firstAt !== null'), {
      timeoutMs: 30_000,
      intervalMs: 20,
    });
    const seenSec = (performance.now() - publishedMs) / 1000;
    report({ name: `${name}: publish to first picture`, value: seenSec, unit: 's', target: '<= 1.5' });
    await sleep(8000);
    const waits = await early.page.evaluate<number>('stalls');
    report({ name: `${name}: stalls of who was there first`, value: waits, unit: '', target: '<= 1' });
    await early.close();
    const opened = await browser.open(`${platform.url}/watch/${stream.id}`, { initScript: READER });
    await sleep(SECONDS * 1000);
    const { delays, stalls, firstAt } = await opened.page.evaluate<{
      delays: [number, number][];
      stalls: number;
      firstAt: number | null;
    }>('({ delays, stalls, firstAt })');
    await opened.close();
    const sorted = delays.map(([, delay]) => delay).toSorted((a, b) => a - b);
    const p95 = sorted[Math.floor(sorted.length * 0.95)] ?? Number.NaN;
    report({ name: `${name}: delay p95`, value: p95, unit: 'ms', target: `<= ${TARGET_MS[mode]}` });
    report({
      name: `${name}: delay p50`,
      value: median(sorted),
      unit: 'ms',
      target: `<= ${TARGET_MS[mode]}`,
    });
    report({ name: `${name}: stalls`, value: stalls, unit: '', target: '<= 0' });
    report({ name: `${name}: first picture`, value: firstAt ?? Number.NaN, unit: 'ms', target: '<= 1000' });
  } finally {
    camera.stop();
    await partner.stop(stream.id);
  }
}

const platform = await startPlatform();
const browser = await launchBrowser();
try {
  const partner = createPartner(platform);
  for (const mode of ['LOW', 'STANDARD'] as const)
    for (const gopSec of GOPS_SEC) await measure({ platform, browser, partner }, { mode, gopSec });
} finally {
  await browser.close();
  await platform.stop();
}
