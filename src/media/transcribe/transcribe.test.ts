import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { make, testGuard, tone } from '../../../test/transcode/sources.ts';
import { createLogger } from '../../platform/logger.ts';
import { TranscriptError } from '../contract/index.ts';
import { readAnswer } from './answer.ts';
import { wordsOf } from './command.ts';
import { createTranscriber } from './index.ts';

let dir = '';
let sound = '';
before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'transcribe-'));
  sound = await make(dir, ...tone(1), '-c:a', 'aac', 'sound.mp4');
});
after(() => rm(dir, { recursive: true, force: true }));

async function run(script: string, { signal = AbortSignal.timeout(110_000), baseMs = 100_000 } = {}) {
  const log = createLogger('silent');
  const tools = { ffmpeg: 'ffmpeg', ffprobe: 'ffprobe', guard: testGuard, threads: 1, stallMs: 30_000, log };
  const limits = { baseMs, perSecond: 0 };
  const command = ['sh', '-c', script, '{input}'];
  const own = await mkdtemp(join(dir, 'run-'));
  return createTranscriber({ ...tools, limits, command }).transcribe({
    ...{ sound, durationSec: 1, language: null, dir: own, signal },
  });
}

test('an engine that hangs or writes without end is ended', async () => {
  await assert.rejects(run('sleep 60', { baseMs: 500 }), (error) => {
    assert.ok(error instanceof TranscriptError);
    return /took too long/.test(error.message);
  });
  await assert.rejects(run('yes'), /wrote too much/);
});

test('an engine sees the sound, and nothing of the platform', async (t) => {
  const { weakness } = await testGuard();
  if (weakness !== null) t.skip(weakness);
  const seen = await run(
    'echo WEBVTT; echo; ls -A "$(dirname "$0")" /root /home /work 2>/dev/null | tr "\\n" " "',
  ).catch((error: unknown) => assert.fail(String(error)));
  assert.match(seen.text, /sound\.wav/);
  assert.doesNotMatch(seen.text, /main|wt-/);
});

test('an aborted run rejects with the reason', async () => {
  const abort = new AbortController();
  const running = run('sleep 60', { signal: abort.signal });
  abort.abort(new Error('enough'));
  await assert.rejects(running, /enough/);
});

test('a command is cut at spaces and quotes', () => {
  assert.deepEqual(wordsOf(`whisper-cli -m "/opt/my models/a.bin" -l '{language}' {input}`), [
    ...['whisper-cli', '-m', '/opt/my models/a.bin', '-l', '{language}', '{input}'],
  ]);
  assert.throws(() => wordsOf('whisper "{input}'), /quote/);
  assert.throws(() => wordsOf('whisper'), /\{input\}/);
});

test('the header of WebVTT may say the language', () => {
  assert.equal(readAnswer('WEBVTT\nLanguage: fr\n\n00:01.000 --> 00:02.000\nBonsoir\n').language, 'fr');
  assert.equal(readAnswer('WEBVTT\n\n00:01.000 --> 00:02.000\nLanguage: fr\n').language, null);
});
