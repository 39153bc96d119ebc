import assert from 'node:assert/strict';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { make, testGuard, tone } from '../../../test/transcode/sources.ts';
import { createLogger } from '../../platform/logger.ts';
import { TranscriptError } from '../contract/index.ts';
import { splitCommand } from './command.ts';
import { createTranscriber } from './index.ts';
import { parseEngineOutput } from './parse-output.ts';

let dir = '';
let sound = '';
before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'transcribe-'));
  sound = await make(dir, ...tone(1), '-c:a', 'aac', 'sound.mp4');
});
after(() => rm(dir, { recursive: true, force: true }));

interface Run {
  signal?: AbortSignal;
  baseMs?: number;
  /** Words of the command. */
  more?: readonly string[];
}

async function run(
  script: string,
  { signal = AbortSignal.timeout(110_000), baseMs = 100_000, more = [] }: Run = {},
) {
  const log = createLogger('silent');
  const tools = { ffmpeg: 'ffmpeg', ffprobe: 'ffprobe', guard: testGuard, threads: 1, stallMs: 30_000, log };
  const limits = { baseMs, perSecond: 0 };
  const command = ['sh', '-c', script, '{input}', ...more];
  const own = await mkdtemp(join(dir, 'run-'));
  return createTranscriber({ ...tools, limits, command }).transcribe({
    ...{ sound, durationSec: 1, language: null, dir: own, signal },
  });
}

test('an engine that hangs or writes without end is ended', async () => {
  await assert.rejects(run('sleep 60', { baseMs: 500 }), (error) => {
    assert.ok(error instanceof TranscriptError);
    return /timed out/.test(error.message);
  });
  await assert.rejects(run('yes'), /output of the speech engine is too large/);
});

test('an engine sees the audio, and nothing of the platform', async (t) => {
  const { weakness } = await testGuard();
  if (weakness !== null) t.skip(weakness);
  const seen = await run(
    'echo WEBVTT; echo; ls -A "$(dirname "$0")" /root /home /work 2>/dev/null | tr "\\n" " "',
  ).catch((error: unknown) => assert.fail(String(error)));
  assert.match(seen.text, /sound\.wav/);
  assert.doesNotMatch(seen.text, /main|wt-/);
});

test('a model is shown to an engine where the command names its folder', async (t) => {
  const { weakness } = await testGuard();
  if (weakness !== null) t.skip(weakness);
  const model = await mkdtemp(join(dir, 'model-'));
  await chmod(model, 0o755);
  await writeFile(join(model, 'words.bin'), 'WEBVTT\n\n', { mode: 0o644 });
  const reads = `cat "$1/words.bin" && ! touch "$1/made" && ls "${dir}"`;
  assert.equal((await run(reads, { more: [`${model}/`] })).text.includes('sound.mp4'), false);
  await assert.rejects(run(reads, { more: ['elsewhere'] }), TranscriptError);
});

test('an aborted run rejects with the reason', async () => {
  const abort = new AbortController();
  const running = run('sleep 60', { signal: abort.signal });
  abort.abort(new Error('enough'));
  await assert.rejects(running, /enough/);
});

test('a command is cut at spaces and quotes', () => {
  assert.deepEqual(splitCommand(`whisper-cli -m "/opt/my models/a.bin" -l '{language}' {input}`), [
    ...['whisper-cli', '-m', '/opt/my models/a.bin', '-l', '{language}', '{input}'],
  ]);
  assert.throws(() => splitCommand('whisper "{input}'), /quote/);
  assert.throws(() => splitCommand('whisper'), /\{input\}/);
});

test('a language in the WebVTT header is read', () => {
  assert.equal(
    parseEngineOutput('WEBVTT\nLanguage: fr\n\n00:01.000 --> 00:02.000\nBonsoir\n').language,
    'fr',
  );
  assert.equal(parseEngineOutput('WEBVTT\n\n00:01.000 --> 00:02.000\nLanguage: fr\n').language, null);
});
