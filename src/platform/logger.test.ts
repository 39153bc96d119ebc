import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';

const folder = mkdtempSync(join(tmpdir(), 'marquee-log-'));
after(() => rmSync(folder, { recursive: true }));

/** Logs so many lines of a kilobyte, lets the first writes begin, and ends. */
const program = (lines: number) => `
  const { createLogger } = await import('${pathToFileURL(join(import.meta.dirname, 'logger.ts')).href}');
  const log = createLogger('info');
  for (let n = 0; n < ${lines}; n++) log.info({ n }, 'x'.repeat(960));
  setTimeout(() => process.exit(7), 100);`;

function run(stdout: 'pipe' | number, lines: number) {
  const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', program(lines)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', stdout, 'ignore'] });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  return { child, ended };
}

test('a process ends although nobody reads its log', async () => {
  const path = join(folder, 'pipe');
  execFileSync('mkfifo', [path]);
  const pipe = openSync(path, constants.O_RDWR);
  // More than any pipe holds.
  const ends = [run('pipe', 3000), run(pipe, 3000)].map(({ ended }) => ended);
  assert.deepEqual(await Promise.all(ends), [7, 7]);
  closeSync(pipe);
});

test('the last lines reach who reads them', async () => {
  const { child, ended } = run('pipe', 100);
  let lines = 0;
  child.stdout?.on('data', (chunk: Buffer) => {
    lines += chunk.toString().split('\n').length - 1;
  });
  const closed = new Promise((resolve) => child.once('close', resolve));
  assert.equal(await ended, 7);
  await closed;
  assert.equal(lines, 100);
});
