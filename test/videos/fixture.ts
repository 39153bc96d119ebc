import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Insertable } from 'kysely';
import { newId } from '../../src/kernel/ids.ts';
import type { Container } from '../../src/main/container.ts';
import type { VideoTable } from '../../src/platform/db/tables.generated.ts';
import type { TestAccount } from '../harness/factories.ts';
import { insertVideo } from '../harness/videos.ts';

export const FOLDER = 'r0a1';

/** Files of one rendition by name, and the values of its row. */
export interface RenditionFixture {
  name: string;
  kind: 'VIDEO' | 'AUDIO';
  width: number | null;
  height: number | null;
  codecs: string;
  bitrate: number;
  files: ReadonlyMap<string, Buffer>;
  /** Audio properties; the only track, in stereo, by default. */
  sound?: { track: number; label: string; channels: number; language?: string };
}

export interface VideoFixture {
  renditions: readonly RenditionFixture[];
  images: ReadonlyMap<string, Buffer>;
  durationSec: number;
}

type Columns = Partial<Insertable<VideoTable>>;

const ENGLISH = 'WEBVTT\n\n00:00.000 --> 00:04.000\nHello there\n\n00:04.000 --> 00:11.000\nStill here\n';

/** A READY video of the account's live workspace, with its files in the store. @returns its id. */
export async function addVideo(
  { db, store }: Pick<Container, 'db' | 'store'>,
  account: TestAccount,
  { renditions, images, durationSec }: VideoFixture,
  columns: Columns = {},
): Promise<string> {
  const top = renditions.find(({ kind }) => kind === 'VIDEO');
  const id = await insertVideo(db, account.live, {
    title: 'Evening concert',
    status: 'READY',
    duration_sec: durationSec,
    width: top?.width ?? null,
    height: top?.height ?? null,
    image_folder: images.size > 0 ? FOLDER : null,
    has_storyboard: images.has('storyboard.vtt'),
    has_preview: images.has('preview.webp'),
    ...columns,
  });
  const base = `w/${account.live}/v/${id}`;
  for (const { name, kind, width, height, codecs, bitrate, files, sound } of renditions) {
    const row = { video_id: id, revision: 0, name, kind, width, height, codecs, folder: FOLDER };
    const heard = kind === 'AUDIO' ? { track: 0, label: 'Main', channels: 2, ...sound } : {};
    const keyframes = files.has('iframes.m3u8') ? { iframe_bitrate: bitrate / 10 } : {};
    const rates = { frame_rate: 10, average_bitrate: bitrate, peak_bitrate: bitrate * 1.2, ...keyframes };
    await db
      .insertInto('video_rendition')
      .values({ ...row, ...heard, ...rates, status: 'READY' })
      .execute();
    for (const [file, bytes] of files) {
      await store.put(`${base}/${FOLDER}/${name}/${file}`, bytes, 'application/octet-stream');
    }
  }
  for (const [file, bytes] of images) {
    await store.put(`${base}/${FOLDER}/img/${file}`, bytes, 'application/octet-stream');
  }
  return id;
}

export async function addCaption(
  { db, store }: Pick<Container, 'db' | 'store'>,
  account: TestAccount,
  videoId: string,
) {
  const id = newId('cap');
  const file = `${id}.vtt`;
  await store.put(`w/${account.live}/v/${videoId}/captions/${file}`, ENGLISH, 'text/vtt');
  await db
    .insertInto('video_caption')
    .values({ id, video_id: videoId, language: 'en', label: 'English', file })
    .execute();
  return file;
}

/** Returns two rungs and audio with dummy segments: for tests of files, not of players. */
export function madeUpFiles(): VideoFixture {
  const playlist = [
    '#EXTM3U',
    '#EXT-X-VERSION:7',
    '#EXT-X-TARGETDURATION:6',
    '#EXT-X-PLAYLIST-TYPE:VOD',
    '#EXT-X-MAP:URI="init.mp4"',
    '#EXTINF:6.000000,',
    's_00000.m4s',
    '#EXTINF:4.000000,',
    's_00001.m4s',
    '#EXT-X-ENDLIST',
    '',
  ].join('\n');
  const files = (size: number) =>
    new Map([
      ['index.m3u8', Buffer.from(playlist)],
      ['iframes.m3u8', Buffer.from(playlist.replace(/^s_/gm, '#EXT-X-BYTERANGE:9@0\ns_'))],
      ['init.mp4', Buffer.from('init')],
      ['s_00000.m4s', Buffer.alloc(size, 7)],
      ['s_00001.m4s', Buffer.from(Array.from({ length: 1000 }, (_, i) => i % 251))],
    ]);
  const rung = { kind: 'VIDEO', codecs: 'avc1.64001e' } as const;
  return {
    durationSec: 10,
    renditions: [
      { ...rung, name: '1080p', width: 1920, height: 1080, bitrate: 5_000_000, files: files(600_000) },
      { ...rung, name: '360p', width: 640, height: 360, bitrate: 700_000, files: files(2000) },
      {
        name: 'audio',
        kind: 'AUDIO',
        width: null,
        height: null,
        codecs: 'mp4a.40.2',
        bitrate: 128_000,
        files: new Map([...files(500)].filter(([name]) => name !== 'iframes.m3u8')),
      },
    ],
    images: new Map([
      ['poster.jpg', Buffer.from('poster')],
      ['preview.webp', Buffer.from('preview')],
      ['sb_001.jpg', Buffer.from('sprite')],
      ['storyboard.vtt', Buffer.from('WEBVTT\n\n00:00.000 --> 00:10.000\nsb_001.jpg#xywh=0,0,160,90\n')],
    ]),
  };
}

/** Twelve seconds that play: 360 and 180 lines, ten frames a second, a tone, and a storyboard. */
export function encodedFiles(): Promise<VideoFixture> {
  return inFolder(async (dir) => {
    const rungs = [
      { name: '360p', width: 640, height: 360, bitrate: 500_000 },
      { name: '180p', width: 320, height: 180, bitrate: 150_000 },
    ];
    for (const name of ['360p', '180p', 'audio']) await mkdir(join(dir, name));
    await ffmpeg(dir, encodeArgs());
    const tile = 'fps=1/3,scale=160:90,tile=4x1';
    await ffmpeg(dir, [...PICTURE, '-t', '12', '-vf', tile, '-frames:v', '1', 'sb_001.jpg']);
    await ffmpeg(dir, [...PICTURE, '-t', '1', '-frames:v', '1', 'poster.jpg']);
    const cues = [0, 1, 2, 3].map(
      (index) =>
        `00:${two(index * 3)}.000 --> 00:${two(index * 3 + 3)}.000\nsb_001.jpg#xywh=${index * 160},0,160,90\n`,
    );
    const rung = { kind: 'VIDEO', codecs: 'avc1.64001e' } as const;
    return {
      durationSec: 12,
      renditions: [
        ...(await Promise.all(
          rungs.map(async (one) => ({ ...rung, ...one, files: await filesOf(join(dir, one.name)) })),
        )),
        {
          name: 'audio',
          kind: 'AUDIO',
          width: null,
          height: null,
          codecs: 'mp4a.40.2',
          bitrate: 64_000,
          files: await filesOf(join(dir, 'audio')),
        },
      ],
      images: new Map([
        ['poster.jpg', await readFile(join(dir, 'poster.jpg'))],
        ['sb_001.jpg', await readFile(join(dir, 'sb_001.jpg'))],
        ['storyboard.vtt', Buffer.from(`WEBVTT\n\n${cues.join('\n')}`)],
      ]),
    };
  });
}

/** Returns both renditions of `encodedFiles` in AV1. @returns null if ffmpeg has no AV1 encoder. */
export async function av1Renditions(): Promise<RenditionFixture[] | null> {
  const encoders = spawnSync('ffmpeg', ['-hide_banner', '-encoders'], { encoding: 'utf8' }).stdout;
  if (!encoders.includes('libsvtav1')) return null;
  return inFolder(async (dir) => {
    const codec = ['-c:v', 'libsvtav1', '-preset', '12', '-g', '20', '-pix_fmt', 'yuv420p'];
    const rung = { kind: 'VIDEO', codecs: 'av01.0.01M.08' } as const;
    const made: RenditionFixture[] = [];
    for (const [width, height, bitrate] of [
      [640, 360, 300_000],
      [320, 180, 100_000],
    ] as const) {
      const name = `${height}p-av1`;
      await mkdir(join(dir, name));
      const scale = ['-s', `${width}x${height}`, '-b:v', `${bitrate}`];
      await ffmpeg(dir, [...PICTURE, '-t', '12', ...scale, ...codec, ...hls(name)]);
      made.push({ ...rung, name, width, height, bitrate, files: await filesOf(join(dir, name)) });
    }
    return made;
  });
}

async function inFolder<T>(make: (dir: string) => Promise<T>): Promise<T> {
  const dir = await mkdtemp(join(tmpdir(), 'marquee-vod-'));
  try {
    return await make(dir);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

const two = (value: number) => String(value).padStart(2, '0');
const PICTURE = ['-f', 'lavfi', '-i', 'testsrc2=size=640x360:rate=10'];
const TONE = ['-f', 'lavfi', '-i', 'sine=frequency=330:sample_rate=48000'];

function hls(name: string): string[] {
  const kind = ['-f', 'hls', '-hls_time', '2', '-hls_playlist_type', 'vod', '-hls_segment_type', 'fmp4'];
  return [...kind, '-hls_segment_filename', `${name}/s_%05d.m4s`, `${name}/index.m3u8`];
}

function encodeArgs(): string[] {
  const codecs = ['-c:v', 'libx264', '-preset', 'ultrafast', '-profile:v', 'high', '-pix_fmt', 'yuv420p'];
  const keys = ['-g', '20', '-keyint_min', '20', '-sc_threshold', '0'];
  return [
    ...[...PICTURE, ...TONE, '-t', '12'],
    ...['-map', '0:v', ...codecs, ...keys, '-b:v', '400k', ...hls('360p'), '-t', '12'],
    ...['-map', '0:v', '-s', '320x180', ...codecs, ...keys, '-b:v', '120k', ...hls('180p'), '-t', '12'],
    ...['-map', '1:a', '-c:a', 'aac', '-b:a', '64k', ...hls('audio')],
  ];
}

async function filesOf(dir: string): Promise<Map<string, Buffer>> {
  const names = await readdir(dir);
  return new Map(
    await Promise.all(names.map(async (name) => [name, await readFile(join(dir, name))] as const)),
  );
}

async function ffmpeg(cwd: string, args: string[]): Promise<void> {
  const child = spawn('ffmpeg', ['-v', 'error', '-nostdin', ...args], {
    cwd,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`ffmpeg ended with ${code}`);
}
