import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { test } from 'node:test';
import { CURRENT_FFMPEG_DIR, NO_CURRENT_FFMPEG } from '../../../test/live/current-ffmpeg.ts';

const ROOT = join(import.meta.dirname, '../../..');
const FOLDERS = 'transcode,live,recording,ingest';

test('every media test passes with the current ffmpeg', { skip: NO_CURRENT_FFMPEG }, async () => {
  const files = globSync(`src/media/{${FOLDERS}}/*.test.ts`, { cwd: ROOT });
  // Variable of the test runner: a nested run with it would report to this one.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--test', '--test-concurrency=1', ...files],
    {
      cwd: ROOT,
      env: { ...env, PATH: `${CURRENT_FFMPEG_DIR}${delimiter}${process.env.PATH ?? ''}` },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const [code]: unknown[] = await once(child, 'close');
  assert.equal(code, 0, output.slice(-20_000));
});
