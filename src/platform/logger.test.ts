import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { DatabaseUnavailableError } from './db/unavailable-error.ts';
import { createLogger } from './logger.ts';

const folder = mkdtempSync(join(tmpdir(), 'marquee-log-'));
after(() => rmSync(folder, { recursive: true }));

const logger = pathToFileURL(join(import.meta.dirname, 'logger.ts')).href;

/** Returns a program that logs the given number of 1 kB lines, lets the first writes begin, and ends. */
const program = (lines: number) => `
  const { createLogger } = await import('${logger}');
  const log = createLogger('info');
  for (let n = 0; n < ${lines}; n++) log.info({ n }, 'x'.repeat(960));
  setTimeout(() => process.exit(7), 100);`;

function run(stdout: 'pipe' | number, code: string) {
  const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', code];
  const child = spawn(process.execPath, args, { stdio: ['ignore', stdout, 'ignore'] });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  return { child, ended };
}

test('a process ends although its log is not read', async () => {
  const path = join(folder, 'pipe');
  execFileSync('mkfifo', [path]);
  const pipe = openSync(path, constants.O_RDWR);
  // More than any pipe holds.
  const ends = [run('pipe', program(3000)), run(pipe, program(3000))].map(({ ended }) => ended);
  assert.deepEqual(await Promise.all(ends), [7, 7]);
  closeSync(pipe);
});

async function outputOf(code: string): Promise<string> {
  const { child, ended } = run('pipe', code);
  let output = '';
  child.stdout?.on('data', (chunk) => {
    output += String(chunk);
  });
  const closed = new Promise((resolve) => child.once('close', resolve));
  assert.equal(await ended, 7);
  await closed;
  return output;
}

test('the last lines reach who reads them', async () => {
  assert.equal((await outputOf(program(100))).split('\n').length - 1, 100);
});

test('the access log has a line of JSON for each request, and none is lost at the end', async () => {
  const line = { requestId: 'r', operation: 'streams.get', method: 'GET', path: '/a', status: 200, ms: 1.5 };
  const odd = '/"\\\u00e9\n\u2028';
  const lines = [
    { ...line, actor: { kind: 'key', id: 'key_1' } },
    { ...line, path: odd, actor: { kind: 'session', id: 'uss_1' } },
    { ...line, actor: null },
  ];
  const output = await outputOf(`
    const { createAccessLog } = await import('${logger}');
    createAccessLog('warn', 'api').note(${JSON.stringify(lines[0])});
    const log = createAccessLog('info', 'api');
    for (let n = 0; n < 400; n++) for (const line of ${JSON.stringify(lines)}) log.note(line);
    process.exit(7);`);
  const read = output.trimEnd().split('\n');
  assert.equal(read.length, 1200);
  const fixed = { level: 30, process: 'api', msg: 'request' };
  const [first, second, third] = read.map((text) => ({ ...JSON.parse(text), time: 0 }));
  assert.deepEqual(first, { ...fixed, time: 0, ...line, keyId: 'key_1' });
  assert.deepEqual(second, { ...fixed, time: 0, ...line, path: odd, sessionId: 'uss_1' });
  assert.deepEqual(third, { ...fixed, time: 0, ...line });
});

test('a failure that only repeats an outage of the database is not logged', () => {
  const lines: string[] = [];
  const log = createLogger('info', {}, { write: (line) => lines.push(line) });
  const outage = new DatabaseUnavailableError();
  log.error({ err: outage }, 'omitted');
  log.child({ job: 1 }).warn({ err: new Error('wrapped', { cause: outage }) }, 'omitted');
  log.error({ err: new Error('another') }, 'logged');
  log.info('logged');
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).msg),
    ['logged', 'logged'],
  );
});
