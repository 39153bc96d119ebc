import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { assertNear, type Made, transcode } from '../../../test/transcode/result.ts';
import {
  H264,
  make,
  packetTimes,
  pictures,
  streamOf,
  testTranscoder,
  tone,
} from '../../../test/transcode/sources.ts';

const run = promisify(execFile);
const SEC = 2;
const CHAPTERS = `;FFMETADATA1
[CHAPTER]
TIMEBASE=1/1000
START=0
END=1000
title=Opening
[CHAPTER]
TIMEBASE=1/1000
START=1000
END=2000
`;

/** Builds an empty PGS subtitle track: one composition without objects, and its end. */
function emptyPgs(): Buffer {
  const segment = (type: number, payload: number[]) => {
    const head = Buffer.alloc(13);
    head.write('PG');
    head.writeUInt8(type, 10);
    head.writeUInt16BE(payload.length, 11);
    return Buffer.concat([head, Buffer.from(payload)]);
  };
  return Buffer.concat([segment(0x16, [0, 160, 0, 90, 16, 0, 0, 0x80, 0, 0, 0]), segment(0x80, [])]);
}

let dir = '';
let input = '';
let made: Made;
before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'tracks-'));
  await writeFile(join(dir, 'a.srt'), '1\n00:00:00,500 --> 00:00:01,500\nHello <i>there</i>\n');
  await writeFile(join(dir, 'a.sup'), emptyPgs());
  await writeFile(join(dir, 'a.ini'), CHAPTERS);
  const text = ['-i', join(dir, 'a.srt')];
  input = await make(
    dir,
    ...[...pictures('160x90', 25, SEC), ...[400, 800, 1600].flatMap((hertz) => tone(SEC, hertz))],
    ...[...text, '-i', join(dir, 'a.sup'), '-i', join(dir, 'a.ini')],
    ...['-map', '0', '-map', '1', '-map', '2', '-map', '3', ...H264, '-map_chapters', '6'],
    ...['-map', '4', '-map', '4', '-map', '4', '-map', '5', '-map', '0'],
    ...['-c:s:0', 'srt', '-metadata:s:s:0', 'language=eng', '-disposition:s:0', 'default'],
    ...['-c:s:1', 'ass', '-metadata:s:s:1', 'language=en-x-sdh', '-disposition:s:1', 'hearing_impaired'],
    ...['-c:s:2', 'webvtt', '-metadata:s:s:2', 'language=fre', '-metadata:s:s:2', 'title=Forced'],
    ...['-c:s:3', 'copy', '-metadata:s:s:3', 'language=de-u-co-phonebk', '-disposition:s:3', '0'],
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

/** Measures the frequency of a tone by its zero crossings. */
async function hertz(name: string): Promise<number> {
  const args = ['-v', 'info', '-i', made.path(name), '-af', 'pan=mono|c0=c0,astats', '-f', 'null', '-'];
  const { stderr } = await run('ffmpeg', ['-nostdin', '-hide_banner', ...args]);
  return Number(/Zero crossings rate: ([\d.]+)/.exec(stderr)?.[1]) * 24_000;
}

test('every audio track of a file is included, the default one first, and surround in addition to stereo', async () => {
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

test('a long title is truncated at a whole character, which a database accepts', async () => {
  const [title, chapter] = [99, 199].map((count) => `${'a'.repeat(count)}\u{1F600}`);
  const marks = `;FFMETADATA1\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=900\ntitle=${chapter}\n`;
  await writeFile(join(dir, 'long.ini'), marks);
  const inputs = [...pictures('160x90', 25, 1), ...tone(1, 440), '-i', join(dir, 'long.ini')];
  const maps = ['-map', '0', '-map', '1', '-map_chapters', '2', '-metadata:s:a:0', `title=${title}`];
  const path = await make(dir, ...inputs, ...maps, ...H264, '-c:a', 'aac', 'long.mkv');
  const { audio, chapters } = await testTranscoder().probe(path, AbortSignal.timeout(30_000));
  assert.deepEqual([audio[0]?.title, chapters[0]?.title], ['a'.repeat(99), 'a'.repeat(199)]);
});

test('captions, their purpose and chapters are extracted, and omitted parts are listed', async () => {
  const { captions, chapters, notes } = made.source;
  assert.deepEqual(
    captions.map(({ language, isDefault, isForced, isSdh }) => [language, isDefault, isForced, isSdh]),
    [
      ['en', true, false, false],
      ['en-x-sdh', false, false, true],
      ['fr', false, true, false],
    ],
  );
  assert.deepEqual(
    chapters.map(({ title }) => title),
    ['Opening', 'Chapter 2'],
  );
  assert.equal(chapters[0]?.startSec, 0);
  // The audio of the file starts one packet before the video.
  assertNear(chapters[1]?.startSec ?? 0, 1, 0.025, 'the second chapter');
  assert.deepEqual(
    notes.map(({ code, message }) => [code, message.split(' ').slice(0, 3).join(' ')]),
    [
      ['CAPTIONS_LEFT_OUT', 'Track 8 (German)'],
      ['VIDEO_LEFT_OUT', 'Track 9 was'],
    ],
  );
  assert.match(notes[0]?.message ?? '', /images \(PGS\)/);
  const outDir = await mkdtemp(join(dir, 'captions-'));
  const run = { source: made.source, outDir, signal: AbortSignal.timeout(60_000) };
  const texts = await testTranscoder().captions({ ...run, input });
  for (const text of texts) {
    const [, from, to] =
      /^WEBVTT\n\n00:([\d.]+) --> 00:([\d.]+)\nHello <i>there<\/i>\n/.exec(text ?? '') ?? [];
    assertNear(Number(from) - made.source.zeroSec, 0.5, 0.002, 'it begins');
    assertNear(Number(to) - made.source.zeroSec, 1.5, 0.002, 'it ends');
  }
  // A missing track does not affect the others.
  const [first] = captions;
  assert.ok(first);
  const source = { ...made.source, captions: [first, { ...first, streamIndex: 30 }] };
  const some = await testTranscoder().captions({ ...run, source, input });
  assert.deepEqual([some[0], some[1]], [texts[0], null]);
});
