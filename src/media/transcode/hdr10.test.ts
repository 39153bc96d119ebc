import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { make, normalPriorityGuard, pictures, testTranscoder } from '../../../test/transcode/sources.ts';
import { checkFfmpeg } from '../ffmpeg/check.ts';
import { readHdr10, type SideData } from './hdr10.ts';

const run = promisify(execFile);
const transcoder = testTranscoder({ guard: normalPriorityGuard });
const { signal } = new AbortController();
const { videoCodecs } = await checkFfmpeg('ffmpeg');
const skip = videoCodecs.length < 3 && 'this ffmpeg was built without libx265 or libsvtav1';

let dir = '';
before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'hdr10-'));
});
after(() => rm(dir, { recursive: true, force: true }));

/** Returns the side data of the first frame, as a player gets it. */
async function sideData(path: string): Promise<SideData[]> {
  const { stdout } = await run('ffprobe', [
    ...[
      '-v',
      'error',
      '-select_streams',
      'v',
      '-show_frames',
      '-read_intervals',
      '%+#1',
      '-of',
      'json',
      path,
    ],
  ]);
  return Object(JSON.parse(stdout).frames[0]).side_data_list ?? [];
}

/**
 * Returns the side data of the initialization segment; one media segment is appended, so that the file can be
 * opened.
 */
async function headerData(folder: string): Promise<SideData[]> {
  const path = join(folder, 'whole.mp4');
  const parts = ['init.mp4', 's_00000.m4s'].map((name) => readFile(join(folder, name)));
  await writeFile(path, Buffer.concat(await Promise.all(parts)));
  const show = ['-select_streams', 'v', '-show_streams', '-of', 'json', path];
  const { stdout } = await run('ffprobe', ['-v', 'error', ...show]);
  return Object(JSON.parse(stdout).streams[0]).side_data_list ?? [];
}

test('HEVC and AV1 keep the mastering display and light levels of an HDR10 file', { skip }, async () => {
  const display = 'G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,50)';
  const colours = 'colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc';
  const input = await make(
    dir,
    ...[...pictures('426x240', 25, 1), '-c:v', 'libx265', '-preset', 'ultrafast', '-x265-params'],
    ...[
      `log-level=error:pools=none:wpp=0:frame-threads=1:${colours}:master-display=${display}:max-cll=1000,400`,
    ],
    ...['-pix_fmt', 'yuv420p10le', '-tag:v', 'hvc1', 'hdr10.mp4'],
  );
  const source = await transcoder.probe(input, signal);
  const { hdr10 } = source.video;
  assert.deepEqual(hdr10, {
    mastering: {
      ...{ red: [34_000, 16_000], green: [13_250, 34_500], blue: [7500, 3000], white: [15_635, 16_450] },
      ...{ max: 10_000_000, min: 50 },
    },
    light: { maxContent: 1000, maxAverage: 400 },
  });
  const { further } = transcoder.plan(source, 1080, ['HEVC', 'AV1']);
  for (const rung of further) {
    const outDir = await mkdtemp(join(dir, 'out-'));
    await transcoder.encode({
      input,
      source,
      outDir,
      signal,
      audio: [],
      alignToSource: false,
      rungs: [rung],
    });
    const kept = readHdr10(await sideData(join(outDir, rung.name, 'index.m3u8')));
    // The header has the exact values too, for players that set up the display before the first frame.
    assert.deepEqual(readHdr10(await headerData(join(outDir, rung.name))), hdr10, rung.name);
    const { mastering, light } = kept ?? {};
    assert.deepEqual(light, hdr10?.light, rung.name);
    // AV1 uses other fractions.
    const numbers = (one: typeof mastering) => Object.values(one ?? {}).flat();
    const wanted = numbers(hdr10?.mastering);
    assert.equal(numbers(mastering).length, wanted.length, rung.name);
    for (const [index, number] of numbers(mastering).entries())
      assert.ok(
        Math.abs(number - (wanted[index] ?? 0)) <= Math.max(2, number * 1e-3),
        `${rung.name}: ${number}`,
      );
  }
});

test('an HDR file without metadata, or with invalid metadata, has none', () => {
  assert.equal(readHdr10([]), null);
  const light = { side_data_type: 'Content light level metadata', max_content: 1000, max_average: 400 };
  assert.deepEqual(readHdr10([light])?.light, { maxContent: 1000, maxAverage: 400 });
  for (const change of [
    { max_content: 0 },
    { max_average: -1 },
    { max_content: 70_000 },
    { max_content: '1' },
  ])
    assert.equal(readHdr10([{ ...light, ...change }]), null);
  const point = {
    red_x: '34000/50000',
    red_y: '16000/50000',
    green_x: '13250/50000',
    green_y: '34500/50000',
  };
  const display = {
    ...{ side_data_type: 'Mastering display metadata', ...point, blue_x: '7500/50000', blue_y: '3000/50000' },
    ...{ white_point_x: '15635/50000', white_point_y: '16450/50000' },
    ...{ min_luminance: '50/10000', max_luminance: '10000000/10000' },
  };
  assert.deepEqual(readHdr10([display])?.mastering?.red, [34_000, 16_000]);
  for (const change of [
    { red_x: '1:L(0,0)' },
    { red_x: '3/0' },
    { green_y: '70000/50000' },
    { max_luminance: '1/10000' },
    { blue_x: undefined },
    { max_luminance: '99999999/1' },
  ])
    assert.equal(readHdr10([{ ...display, ...change }]), null, JSON.stringify(change));
});
