import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export const FPS = 15;

/** Files of a playlist by name: `index.m3u8` and its segments. */
export type HlsFiles = Map<string, Buffer>;

const PICTURE = [
  ...['-f', 'lavfi', '-i', `testsrc2=s=320x180:r=${FPS}`],
  ...['-f', 'lavfi', '-i', 'sine=f=440:r=48000'],
];
const CODED = [
  ...['-c:v', 'libx264', '-preset', 'ultrafast', '-tune', 'zerolatency', '-pix_fmt', 'yuv420p'],
  ...['-g', String(FPS), '-keyint_min', String(FPS), '-sc_threshold', '0', '-c:a', 'aac', '-b:a', '64k'],
];

/** Creates a playlist with segments of one second in a separate process. */
export async function makeHls(seconds: number, options: string[] = [], coded = CODED): Promise<HlsFiles> {
  const dir = await mkdtemp(join(tmpdir(), 'marquee-hls-'));
  try {
    const hls = ['-f', 'hls', '-hls_time', '1', '-hls_playlist_type', 'vod', ...options, 'index.m3u8'];
    const args = ['-v', 'error', '-nostdin', ...PICTURE, '-t', String(seconds), ...coded, ...hls];
    await run('ffmpeg', args, { cwd: dir });
    const names = await readdir(dir);
    return new Map(
      await Promise.all(names.map(async (name) => [name, await readFile(join(dir, name))] as const)),
    );
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** MPEG-TS without any media. */
export function nullPackets(count: number): Buffer {
  const packet = Buffer.alloc(188, 0xff);
  packet.set([0x47, 0x1f, 0xff, 0x10]);
  return Buffer.concat(Array.from({ length: count }, () => packet));
}

/** A window of segments that slides with time, over and over the same ones with a discontinuity between. */
export function slidingPlaylist(seconds: number, startedMs: number): string {
  const now = Math.floor((performance.now() - startedMs) / 1000) + 4;
  const lines = [
    '#EXTM3U',
    '#EXT-X-VERSION:3',
    '#EXT-X-TARGETDURATION:1',
    `#EXT-X-MEDIA-SEQUENCE:${now - 4}`,
  ];
  lines.push(`#EXT-X-DISCONTINUITY-SEQUENCE:${Math.floor((now - 5 + seconds) / seconds)}`);
  for (let at = now - 4; at < now; at += 1) {
    if (at % seconds === 0) lines.push('#EXT-X-DISCONTINUITY');
    lines.push('#EXTINF:1.000,', `index${at % seconds}.ts`);
  }
  return lines.join('\n');
}
