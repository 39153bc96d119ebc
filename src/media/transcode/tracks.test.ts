import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { assertNear, type Made, transcode } from '../../../test/transcode/result.ts';
import { H264, make, packetTimes, pictures, streamOf, tone } from '../../../test/transcode/sources.ts';

const run = promisify(execFile);
const SEC = 2;

let dir = '';
let made: Made;
before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'tracks-'));
  const input = await make(
    dir,
    ...[...pictures('160x90', 25, SEC), ...[400, 800, 1600].flatMap((hertz) => tone(SEC, hertz))],
    ...['-map', '0', '-map', '1', '-map', '2', '-map', '3', ...H264],
    ...['-c:a:0', 'ac3', '-ac:a:0', '6', '-metadata:s:a:0', 'language=eng'],
    ...[
      '-c:a:1',
      'aac',
      '-ac:a:1',
      '2',
      '-metadata:s:a:1',
      'language=ger',
      '-metadata:s:a:1',
      'title=Original',
    ],
    ...['-c:a:2', 'libopus', '-ac:a:2', '1', '-metadata:s:a:2', 'language=eng'],
    ...['-disposition:a:0', '0', '-disposition:a:1', 'default', '-disposition:a:2', 'visual_impaired'],
    'languages.mkv',
  );
  made = await transcode(dir, input);
});
after(() => rm(dir, { recursive: true, force: true }));

/** Of a tone, by how often its wave passes zero. */
async function hertz(name: string): Promise<number> {
  const args = ['-v', 'info', '-i', made.path(name), '-af', 'pan=mono|c0=c0,astats', '-f', 'null', '-'];
  const { stderr } = await run('ffmpeg', ['-nostdin', '-hide_banner', ...args]);
  return Number(/Zero crossings rate: ([\d.]+)/.exec(stderr)?.[1]) * 24_000;
}

test('every sound of a file is kept, what plays by default first, and surround beside stereo', async () => {
  assert.deepEqual(
    made.source.audio.map(({ codec, channels, language, title, isDescription, canCopy }) => {
      return [codec, channels, language, title, isDescription, canCopy];
    }),
    [
      ['aac', 2, 'de', 'Original', false, true],
      ['ac3', 6, 'en', null, false, false],
      ['opus', 1, 'en', null, true, false],
    ],
  );
  const sounds = made.renditions.filter(({ kind }) => kind === 'AUDIO');
  const expected: [name: string, channels: number, hertz: number][] = [
    ['audio', 2, 800],
    ['audio-1', 2, 400],
    ['audio-1-surround', 6, 400],
    ['audio-2', 1, 1600],
  ];
  assert.deepEqual(
    sounds.map(({ name, codecs }) => [name, codecs]),
    [...expected.map(([name]) => [name, 'mp4a.40.2'])],
  );
  for (const [name, channels, pitch] of expected) {
    const { codec_name: codec, channels: has, channel_layout: layout } = await streamOf(made.path(name));
    assert.deepEqual([codec, has], ['aac', channels], name);
    if (channels === 6) assert.equal(layout, '5.1');
    else assertNear(await hertz(name), pitch, 20, name);
    const times = await packetTimes(made.path(name), 'a:0');
    assertNear(times[0] ?? 1, 0, 0.022, `${name} begins`);
    assertNear(times.at(-1) ?? 0, SEC, 0.05, `${name} ends`);
  }
});
