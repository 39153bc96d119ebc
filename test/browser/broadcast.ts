import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance, FastifyReply } from 'fastify';

const SEGMENT_SEC = 1;
/** Frames per second. */
export const FRAME_RATE = 10;
const WINDOW = 6;
/** Segments that are there when a broadcast starts. */
const HEAD_START = 4;

/** A broadcast out of a file: a live playlist that grows by the clock, on and off at will. */
export interface SimulatedBroadcast {
  /** `off`: 404. `on`: a segment per second. `empty`: a playlist without segments. `frozen`: none that is
   * new. `ending`: likewise, and complete; the master is 404. `broken`: 503. */
  mode: 'off' | 'on' | 'empty' | 'frozen' | 'ending' | 'broken';
  /** Responses sent, by status and last part of the path: `200 master.m3u8`. */
  log: string[];
  /** Segments that a playlist has. */
  window: number;
  /** Number of viewers in the playlist header. */
  viewers: number;
  /** With `headStart` segments that are there already. */
  start(headStart?: number): void;
  /**
   * Simulates another resolution of the encoder from the next segment on: lines by the folders of the
   * master's playlists.
   */
  change(lines: Readonly<Record<string, number>>): void;
  /** Returns the last segment of the current playlist. */
  lastSegment(): string;
  register(app: FastifyInstance): void;
  close(): Promise<void>;
}

/** Encodes `durationSec` of test video and tone with ffmpeg. */
export async function simulateBroadcast(durationSec = 90): Promise<SimulatedBroadcast> {
  const folder = await mkdtemp(join(tmpdir(), 'marquee-broadcast-'));
  await encode(folder, durationSec);
  const names = await readdir(folder);
  const segments = names.filter((name) => name.endsWith('.m4s')).sort();
  let startedAt = 0;
  let headStart = HEAD_START;
  let frozenAt = HEAD_START;
  let master = masterOf({ src: 180 });
  /** The first segments after each change. */
  let changes: number[] = [];

  const send = (reply: FastifyReply, name: string, type: string, body: Buffer | string) => {
    broadcast.log.push(`200 ${name}`);
    const headers = { 'Cache-Control': 'no-store', 'X-Viewers': broadcast.viewers };
    return reply.type(type).headers(headers).send(body);
  };
  const refuse = (reply: FastifyReply, name: string) => {
    const status = broadcast.mode === 'broken' ? 503 : 404;
    broadcast.log.push(`${status} ${name}`);
    return reply.status(status).header('Cache-Control', 'no-store').send();
  };
  const mediaPlaylist = () => {
    const elapsed = Math.floor((performance.now() - startedAt) / 1000 / SEGMENT_SEC);
    if (broadcast.mode === 'on') frozenAt = Math.min(headStart + elapsed, segments.length);
    const last = broadcast.mode === 'empty' ? 0 : frozenAt;
    const first = Math.max(0, last - broadcast.window);
    return [
      '#EXTM3U',
      '#EXT-X-VERSION:7',
      `#EXT-X-TARGETDURATION:${SEGMENT_SEC}`,
      `#EXT-X-MEDIA-SEQUENCE:${first}`,
      `#EXT-X-DISCONTINUITY-SEQUENCE:${changes.filter((index) => index < first).length}`,
      '#EXT-X-MAP:URI="../file/init.mp4"',
      ...segments
        .slice(first, last)
        .flatMap((name, index) => [
          ...(changes.includes(first + index) ? ['#EXT-X-DISCONTINUITY'] : []),
          ...[`#EXTINF:${SEGMENT_SEC},`, `../file/${name}`],
        ]),
      ...(broadcast.mode === 'ending' ? ['#EXT-X-ENDLIST'] : []),
      '',
    ].join('\n');
  };

  const broadcast: SimulatedBroadcast = {
    mode: 'off',
    log: [],
    window: WINDOW,
    viewers: 0,
    start(already = HEAD_START) {
      headStart = already;
      startedAt = performance.now();
      broadcast.mode = 'on';
      master = masterOf({ src: 180 });
      changes = [];
    },
    change(lines) {
      mediaPlaylist();
      master = masterOf(lines);
      changes.push(frozenAt);
    },
    lastSegment: () => segments[frozenAt - 1] ?? '',
    register(app) {
      const type = 'application/vnd.apple.mpegurl';
      const isShut = () => broadcast.mode === 'off' || broadcast.mode === 'broken';
      app.get('/live/:id/master.m3u8', (_request, reply) =>
        isShut() || broadcast.mode === 'ending'
          ? refuse(reply, 'master.m3u8')
          : send(reply, 'master.m3u8', type, master),
      );
      app.get('/live/:id/:rung/index.m3u8', (_request, reply) =>
        isShut() ? refuse(reply, 'index.m3u8') : send(reply, 'index.m3u8', type, mediaPlaylist()),
      );
      app.get('/live/:id/thumbnail.jpg', (_request, reply) => refuse(reply, 'thumbnail.jpg'));
      app.get<{ Params: { name: string } }>('/live/:id/file/:name', async ({ params }, reply) =>
        isShut() || !names.includes(params.name)
          ? refuse(reply, params.name)
          : send(reply, params.name, 'video/mp4', await readFile(join(folder, params.name))),
      );
    },
    close: () => rm(folder, { recursive: true, force: true }),
  };
  return broadcast;
}

/** Returns a master playlist whose variants all have the same video. */
function masterOf(lines: Readonly<Record<string, number>>): string {
  const variants = Object.entries(lines).flatMap(([name, height]) => [
    `#EXT-X-STREAM-INF:BANDWIDTH=${height * 2000},CODECS="avc1.42c01e,mp4a.40.2",RESOLUTION=${(height * 16) / 9}x${height},FRAME-RATE=10.000`,
    `${name}/index.m3u8`,
  ]);
  return ['#EXTM3U', '#EXT-X-VERSION:7', ...variants, ''].join('\n');
}

async function encode(folder: string, durationSec: number): Promise<void> {
  const input = [
    ['-f', 'lavfi', '-i', `testsrc2=size=320x180:rate=${FRAME_RATE}`],
    ['-f', 'lavfi', '-i', 'sine=frequency=330:sample_rate=48000'],
  ].flat();
  const codecs = ['-c:v', 'libx264', '-preset', 'ultrafast', '-profile:v', 'baseline', '-pix_fmt', 'yuv420p'];
  const keyframes = ['-g', `${FRAME_RATE}`, '-keyint_min', `${FRAME_RATE}`, '-sc_threshold', '0'];
  const audio = ['-c:a', 'aac', '-b:a', '64k'];
  const hls = ['-f', 'hls', '-hls_time', String(SEGMENT_SEC), '-hls_segment_type', 'fmp4'];
  const names = ['-hls_list_size', '0', '-hls_segment_filename', 's_%05d.m4s', 'index.m3u8'];
  const duration = ['-t', String(durationSec)];
  const child = spawn(
    'ffmpeg',
    ['-v', 'error', ...input, ...duration, ...codecs, ...keyframes, ...audio, ...hls, ...names],
    { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] },
  );
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`ffmpeg ended with ${code}`);
}
