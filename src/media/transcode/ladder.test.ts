import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { assertNear, type Made, segments, transcode } from '../../../test/transcode/result.ts';
import {
  assertDecodes,
  H264,
  make,
  pictures,
  readTrack,
  TURNED,
  testTranscoder,
  tone,
  withMatrix,
} from '../../../test/transcode/sources.ts';
import type { SourceInfo } from '../contract/index.ts';

const transcoder = testTranscoder();
let dir = '';
before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'ladder-'));
});
after(() => rm(dir, { recursive: true, force: true }));

/** Renditions as `name width x height @ frames`, and the number of audio channels; null without audio. */
interface Shown {
  rungs: string[];
  channels: unknown;
}

/** Asserts the properties that every result must have, whatever the source was. */
async function assertPlayable(made: Made): Promise<Shown> {
  const videos = made.renditions.filter(({ kind }) => kind === 'VIDEO');
  const sound = made.renditions.find(({ kind }) => kind === 'AUDIO');
  const [top] = videos;
  assert.ok(top);
  const reference = await segments(made.path(top.name));
  const shown: Shown = { rungs: [], channels: null };
  for (const video of videos) {
    const { stream, times } = await readTrack(made.path(video.name));
    shown.rungs.push(`${video.name} ${stream.width}x${stream.height} @${times.length}`);
    assert.deepEqual([stream.width, stream.height], [video.width, video.height]);
    assert.equal(stream.pix_fmt, 'yuv420p');
    assert.match(video.codecs, /^avc1\.(42|4d|64)[0-9a-f]{4}$/);
    const frameSec = 1 / (video.frameRate ?? 1);
    assertNear(times[0] ?? -1, 0, 0.002, `${video.name} begins`);
    assert.equal(new Set(times).size, times.length);
    const own = await segments(made.path(video.name));
    assert.equal(own.length, reference.length);
    own.forEach((sec, index) => {
      assertNear(sec, reference[index] ?? 0, frameSec + 0.001, `${video.name} ${index}`);
    });
    assert.ok(video.averageBitrate > 0 && video.averageBitrate <= video.peakBitrate);
  }
  assert.equal(sound === undefined, made.source.audio.length === 0);
  if (sound) {
    assert.match(sound.codecs, /^mp4a\.40\.2$/);
    const { stream, times } = await readTrack(made.path('audio'));
    assertNear(times[0] ?? 1, 0, 0.04, 'the audio begins');
    shown.channels = stream.channels;
  }
  await assertDecodes(...made.renditions.map(({ name }) => made.path(name)));
  return shown;
}

interface Case {
  name: string;
  args: string[];
  maxHeight?: number;
  /** Rungs as `name width x height @ frames`, best first. */
  rungs: string[];
  source?: Partial<SourceInfo['video']>;
  channels?: number | null;
  isCopied?: boolean;
}

const AAC = ['-c:a', 'aac'];
const HEVC = ['-c:v', 'libx265', '-preset', 'ultrafast', '-x265-params', 'log-level=error'];

const CASES: Case[] = [
  {
    name: 'H.264 in MP4: the top is copied',
    args: [...pictures('640x360', 25, 3), ...tone(3), ...H264, '-b:v', '1M', '-g', '25', ...AAC, 'top.mp4'],
    rungs: ['360p 640x360 @75', '240p 426x240 @75'],
    channels: 1,
    isCopied: true,
  },
  {
    name: 'the plan is below the source',
    args: [...pictures('640x360', 25, 2), ...H264, '-b:v', '1M', 'plan.mp4'],
    maxHeight: 240,
    rungs: ['240p 426x240 @50'],
    channels: null,
    isCopied: false,
  },
  {
    name: 'portrait, ProRes in MOV, with PCM',
    args: [...pictures('270x480', 25, 2), ...tone(2), '-c:v', 'prores', '-c:a', 'pcm_s16le', 'portrait.mov'],
    rungs: ['270p 270x480 @50', '240p 240x426 @50'],
  },
  {
    name: 'odd, 10 bits, 4:4:4, lossless, in Matroska',
    args: [...pictures('121x91', 25, 2), '-c:v', 'ffv1', '-pix_fmt', 'yuv444p10le', 'odd.mkv'],
    rungs: ['90p 120x90 @50'],
    channels: null,
  },
  {
    name: 'VP9 and Opus in WebM',
    args: [
      ...pictures('160x90', 25, 2),
      ...tone(2),
      '-c:v',
      'libvpx-vp9',
      '-deadline',
      'realtime',
      '-cpu-used',
      '8',
      'a.webm',
    ],
    rungs: ['90p 160x90 @50'],
  },
  {
    name: 'MPEG-4 and MP3 in AVI',
    args: [...pictures('160x90', 25, 2), ...tone(2), '-c:v', 'mpeg4', '-c:a', 'mp3', 'a.avi'],
    // ffmpeg leaves the second of 51 frame positions in the file empty.
    rungs: ['90p 160x90 @51'],
  },
  {
    name: 'H.264 in FLV',
    args: [...pictures('160x90', 25, 2), ...tone(2), ...H264, '-bf', '2', '-ar', '44100', ...AAC, 'a.flv'],
    rungs: ['90p 160x90 @50'],
    isCopied: true,
  },
  {
    name: 'H.264 in a transport stream',
    args: [...pictures('160x90', 25, 2), ...tone(2), ...H264, ...AAC, 'a.ts'],
    rungs: ['90p 160x90 @50'],
    isCopied: false,
  },
  {
    name: 'interlaced MPEG-2, 5.1 sound',
    args: [
      ...[...pictures('160x90', 50, 2), ...tone(2), '-vf', 'tinterlace=interleave_top,fieldorder=tff'],
      ...['-c:v', 'mpeg2video', '-flags', '+ilme+ildct', '-af', 'pan=5.1|c0=c0|c1=c0|c2=c0', '-c:a', 'ac3'],
      'interlaced.ts',
    ],
    rungs: ['90p 160x90 @50'],
    source: { isInterlaced: true },
    channels: 2,
  },
  {
    name: 'HDR in HEVC',
    args: [
      ...[...pictures('160x90', 25, 2), ...HEVC.slice(0, -1)],
      ...['log-level=error:colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc'],
      ...['-pix_fmt', 'yuv420p10le', '-tag:v', 'hvc1', 'hdr.mp4'],
    ],
    rungs: ['90p 160x90 @50'],
    source: { range: 'PQ' },
    channels: null,
  },
  {
    name: '120 frames a second',
    args: [...pictures('640x480', 120, 1), '-c:v', 'mpeg4', '-b:v', '1M', 'fast.mp4'],
    rungs: ['480p 640x480 @120', '360p 480x360 @30', '240p 320x240 @30'],
    channels: null,
  },
  {
    name: 'a variable frame rate',
    args: [
      ...[
        ...pictures('160x90', 30, 3),
        ...tone(3),
        '-vf',
        "select='lt(n,30)+not(mod(n,4))+eq(n,89)'",
        '-fps_mode',
        'vfr',
      ],
      ...['-c:v', 'mpeg4', ...AAC, 'variable.mp4'],
    ],
    rungs: ['90p 160x90 @90'],
    source: { isVariableFrameRate: true, frameRate: 30 },
  },
  {
    name: 'pixels that are not square',
    args: [...pictures('144x96', 25, 2), '-vf', 'setsar=4/3', ...H264, 'wide.mp4'],
    rungs: ['96p 192x96 @50'],
    isCopied: false,
    channels: null,
  },
];
for (const { name, args, maxHeight, rungs, source, channels, isCopied } of CASES) {
  test(`ladder: ${name}`, async () => {
    const made = await transcode(dir, await make(dir, ...args), maxHeight);
    const shown = await assertPlayable(made);
    assert.deepEqual(shown.rungs, rungs);
    for (const [fact, value] of Object.entries(source ?? {})) {
      assert.deepEqual([fact, Object(made.source.video)[fact]], [fact, value]);
    }
    if (channels !== undefined) assert.equal(shown.channels, channels);
    if (isCopied !== undefined) assert.equal(made.isCopied, isCopied, made.source.copyRefusal ?? '');
  });
}

test('ladder: video with a rotation flag is rotated', async () => {
  const plain = await make(dir, ...pictures('320x180', 25, 1), ...H264, 'plain.mp4');
  const made = await transcode(dir, await withMatrix(plain, TURNED, 'turned.mp4'));
  assert.equal(made.isCopied, false);
  assert.notEqual(made.source.video.rotation % 180, 0);
  const [top] = made.renditions;
  assert.deepEqual([top?.name, top?.width, top?.height], ['180p', 180, 320]);
});

test('ladder: HDR with missing or impossible color tags is treated as BT.2020', async () => {
  const shown: Buffer[] = [];
  // Primaries and matrix (ITU-T H.273): valid, unspecified, constant luminance, and RGB for media that is not
  // RGB.
  for (const [primaries, matrix] of [
    [9, 9],
    [2, 2],
    [9, 10],
    [9, 0],
  ] as const) {
    const tags = `colour_primaries=${primaries}:transfer_characteristics=16:matrix_coefficients=${matrix}`;
    const args = [...pictures('64x64', 10, 0.4), ...H264.slice(0, -1), 'yuv420p10le'];
    const name = `colours-${primaries}-${matrix}.mp4`;
    const made = await transcode(dir, await make(dir, ...args, '-bsf:v', `h264_metadata=${tags}`, name));
    assert.equal(made.source.video.range, 'PQ');
    shown.push(await readFile(join(made.outDir, '64p', 's_00000.m4s')));
  }
  const [expected] = shown;
  for (const [index, one] of shown.entries())
    assert.ok(expected?.equals(one), `the colours of source ${index}`);
});

test('ladder: encodes nothing without rungs and audio', async () => {
  const input = join(dir, 'plain.mp4');
  const signal = AbortSignal.timeout(120_000);
  const source = await transcoder.probe(input, signal);
  const outDir = join(dir, 'none');
  await mkdir(outDir);
  const run = { input, source, outDir, signal, rungs: [], audio: [], alignToSource: false };
  assert.deepEqual(await transcoder.encode(run), []);
});
