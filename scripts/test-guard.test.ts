import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { waitFor } from '../test/harness/wait-for.ts';
import { ROOT } from './program.ts';

const run = promisify(execFile);
const STEP = pathToFileURL(join(import.meta.dirname, 'test-step.ts')).href;
const LEFTOVERS = pathToFileURL(join(import.meta.dirname, 'orphan-processes.ts')).href;
/** Starts a `sleep` whose process ID is written to the file `name`. */
const START = `
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { after, test } from 'node:test';
const start = (name, options) => {
  const child = spawn('sleep', ['100'], options);
  writeFileSync(join(import.meta.dirname, name), String(child.pid));
  return child;
};
`;
const FILES = {
  open: `${START}
    after(() => { throw new Error('the end fails, so nothing is closed'); });
    test('fails', () => {
      createServer().listen(0, '127.0.0.1');
      start('child', { stdio: 'ignore' });
      start('group', { stdio: 'ignore', detached: true });
      throw new Error('on purpose');
    });`,
  // It exits, but its child keeps its output open.
  left: `${START}
    import { unmarked } from '${LEFTOVERS}';
    test('passes', () => {
      start('output', { stdio: 'inherit', detached: true }).unref();
      start('served', { stdio: 'ignore', detached: true, env: unmarked() }).unref();
    });`,
  busy: `${START}
    test('never ends', () => { start('busy', { stdio: 'ignore' }); for (;;); });`,
  good: `${START}
    test('passes', () => {});`,
};

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'marquee-guard-'));
  for (const [name, text] of Object.entries(FILES)) await writeFile(join(folder, `${name}.test.mjs`), text);
});
after(() => rm(folder, { recursive: true, force: true }));

/**
 * Runs `npm test` on these files with a shorter time limit. @returns its output, the result of the step
 * first.
 */
async function runStep(): Promise<string> {
  const patterns = [join(relative(ROOT, folder), '*.test.mjs')];
  const options = { concurrency: 4, timeoutMs: 60_000, graceMs: 500, silenceMs: 3000 };
  const code = `
    import { printTestSummary, testStep } from '${STEP}';
    const [step] = testStep('these', ${JSON.stringify(patterns)}, ${JSON.stringify(options)});
    const failure = await step.run();
    printTestSummary();
    console.log('failure: ' + JSON.stringify(failure));`;
  // Set by the test runner of this test.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', code], { cwd: ROOT, env });
  return stdout;
}

const pidOf = async (name: string) => Number(await readFile(join(folder, name), 'utf8'));

/** Reports whether the process is alive; an ended one may still be a zombie until its parent reaps it. */
async function lives(name: string): Promise<boolean> {
  const stat = await readFile(`/proc/${await pidOf(name)}/stat`, 'utf8').catch(() => '');
  return stat !== '' && !stat.includes(') Z ');
}

test('hung files are named and ended with their child processes, and other processes are not affected', async () => {
  const output = await runStep();
  const served = await pidOf('served');
  try {
    assert.match(output, /failure: ""/);
    const summary = output.slice(output.lastIndexOf('Failed tests:'));
    assert.match(summary, /open\.test\.mjs:\d+ {2}fails/);
    assert.match(summary, /open\.test\.mjs: its process was open 0\.5 s after its last test/);
    assert.match(summary, /left\.test\.mjs: its process was open 0\.5 s after its last test/);
    assert.match(summary, /busy\.test\.mjs: its process began and ended no test for 3 s/);
    assert.doesNotMatch(summary, /good\.test\.mjs/);
    assert.match(output, /open\.test\.mjs was open .*; ended:\n(?: {2}\d+ {2}.*\n)* {2}\d+ {2}sleep 100\n/);
    for (const name of ['child', 'group', 'output', 'busy'])
      await waitFor(async () => !(await lives(name)), { message: `the end of ${name}` });
    assert.ok(await lives('served'), 'what serves other tests');
  } finally {
    process.kill(served, 'SIGKILL');
  }
});
