import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { HardwareKind, VideoCodec } from '../../src/kernel/video-codecs.ts';
import { fileEncoderArgs, hardwareEncoder, liveEncoderOptions } from '../../src/media/ffmpeg/hardware.ts';

const run = promisify(execFile);

/** Options that ffmpeg itself reads for an output. */
const OF_FFMPEG = new Set(['c', 'tag']);

/** Returns the names of options, and for those with named values the values. */
function optionsIn(help: string): Map<string, Set<string>> {
  const options = new Map<string, Set<string>>();
  let words = new Set<string>();
  for (const line of help.split('\n')) {
    const option = /^ {2}-([\w-]+) +<(\w+)> +E/.exec(line);
    if (option !== null) {
      words = new Set();
      options.set(option[1] ?? '', words);
    }
    const word = /^ {5}([\w.]+) +-?\d* *E/.exec(line)?.[1];
    if (word !== undefined) words.add(word);
  }
  return options;
}

async function help(ffmpeg: string, args: string[]): Promise<string> {
  return (await run(ffmpeg, ['-v', 'error', ...args], { maxBuffer: 16 * 2 ** 20 })).stdout;
}

/** Returns all options of an encoder, for files and broadcasts, as pairs of option and value. */
function given(kind: HardwareKind, codec: VideoCodec): [string, string][] {
  const depths = codec === 'H264' ? [false] : [false, true];
  const files = depths.flatMap((isDeep) => {
    const args = fileEncoderArgs(kind, { codec, ceiling: 1_000_000, is10Bit: isDeep });
    return args.flatMap((arg, index): [string, string][] =>
      index % 2 === 0 ? [[arg.replace(/^-|:v$/g, ''), args[index + 1] ?? '']] : [],
    );
  });
  const live = ['2.1', '3.0', '5.2'].flatMap((level) => Object.entries(liveEncoderOptions(kind, level)));
  return codec === 'H264' ? [...files, ...live] : files;
}

/** Asserts that this ffmpeg has every option and named value used for the encoders of an interface. */
export async function assertOptionsExist(
  ffmpeg: string,
  kind: HardwareKind,
  codecs: readonly VideoCodec[],
): Promise<void> {
  const full = await help(ffmpeg, ['-h', 'full']);
  const shared = optionsIn(
    full.slice(full.indexOf('AVCodecContext AVOptions:')).split(/\n(?=\S)/, 1)[0] ?? '',
  );
  assert.ok(shared.has('maxrate') && shared.has('g'), 'the options of all encoders were read');
  for (const codec of codecs) {
    const name = hardwareEncoder(kind, codec);
    const text = await help(ffmpeg, ['-h', `encoder=${name}`]);
    assert.match(text, new RegExp(`^Encoder ${name} `, 'm'), `this ffmpeg has no ${name}`);
    const own = optionsIn(text);
    for (const [option, value] of given(kind, codec)) {
      if (OF_FFMPEG.has(option)) continue;
      const words = own.get(option) ?? shared.get(option);
      assert.ok(words, `${name} has no -${option}`);
      const isWord = words.size > 0 && /[a-z]/i.test(value);
      assert.ok(!isWord || words.has(value), `-${option} of ${name} has no ${value}`);
    }
  }
}
