import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { childrenOf } from '../../test/harness/processes.ts';
import { waitFor } from '../../test/harness/wait-for.ts';

const SUPERVISOR = join(import.meta.dirname, 'supervise.sh');
const PARENTS = join(import.meta.dirname, '../../src/main/parent-watch.ts');

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'marquee-supervise-'));
  await writeFile(
    join(folder, 'program.mjs'),
    `import { writeFileSync } from 'node:fs';
     import { parentsOf, signalReady, onParentExit } from ${JSON.stringify(PARENTS)};
     const drain = () => setTimeout(() => { writeFileSync('${folder}/drained', 'yes'); process.exit(7); }, 50);
     process.on('SIGTERM', drain);
     const args = process.argv.slice(2);
     onParentExit(parentsOf(args), drain);
     setInterval(() => {}, 1000);
     process.on('SIGUSR2', () => console.log('rolled'));
     if (process.env.LISTEN_PID === String(process.pid)) console.log('has sockets');
     if (process.env.NEVER_READY === undefined) signalReady(parentsOf(args), args);
     console.log(process.pid);`,
  );
  const command = `exec sh ${SUPERVISOR} ${process.execPath} ${join(folder, 'program.mjs')}`;
  await writeFile(join(folder, 'package.json'), JSON.stringify({ scripts: { start: command } }));
});
after(() => rm(folder, { recursive: true, force: true }));

interface Run {
  /** The first process. */
  parent: ChildProcess;
  /** Process IDs of the programs at the end of the chain, in order. */
  pids: number[];
  errors(): string;
  /** Other lines of its output. */
  lines: string[];
}

async function run(command: string, args: string[], environment: Record<string, string> = {}): Promise<Run> {
  await rm(join(folder, 'drained'), { force: true });
  const env: NodeJS.ProcessEnv = { ...process.env, ...environment };
  // Set by the npm process that runs these tests.
  delete env.npm_lifecycle_event;
  const parent = spawn(command, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'], env });
  let errors = '';
  parent.stderr.on('data', (text) => {
    errors += String(text);
  });
  const pids: number[] = [];
  const lines: string[] = [];
  createInterface({ input: parent.stdout }).on('line', (line) => {
    if (/^\d+$/.test(line)) pids.push(Number(line));
    else lines.push(line);
  });
  await waitFor(() => pids[0], { message: 'the first start' });
  return { parent, pids, errors: () => errors, lines };
}

const supervise = (environment: Record<string, string> = {}) =>
  run('sh', [SUPERVISOR, process.execPath, join(folder, 'program.mjs')], environment);

async function drained(pid = -1): Promise<void> {
  await waitFor(() => readFile(join(folder, 'drained'), 'utf8'), { message: 'the program to drain' });
  const ended = async () => (await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ') Z')).includes(') Z');
  await waitFor(ended, { message: 'the program to end' });
}

test('a killed program is restarted with the reason logged, and ends with the supervisor', async () => {
  const { parent, pids, errors } = await supervise();
  process.kill(pids[0] ?? -1, 'SIGKILL');
  const second = await waitFor(() => pids[1], { timeoutMs: 10_000, message: 'the second start' });
  assert.match(errors(), /the platform died: killed by SIGKILL/);
  parent.kill('SIGTERM');
  const [code] = await once(parent, 'exit');
  assert.equal(code, 7);
  await drained(second);
});

test('a signal while the supervisor waits to start again ends it', async () => {
  const { parent, pids, errors } = await supervise();
  process.kill(pids[0] ?? -1, 'SIGKILL');
  await waitFor(() => errors().includes('starting it again'));
  parent.kill('SIGTERM');
  const [code] = await once(parent, 'exit');
  assert.equal(code, 143);
  assert.equal(pids.length, 1);
});

test('a program that never was ready is not started again', async () => {
  const { parent, pids } = await supervise({ NEVER_READY: '1' });
  process.kill(pids[0] ?? -1, 'SIGKILL');
  const [code] = await once(parent, 'exit');
  assert.equal(code, 137);
});

test('SIGUSR2 is forwarded to the program', async () => {
  const { parent, pids, lines } = await supervise();
  parent.kill('SIGUSR2');
  await waitFor(() => lines.includes('rolled'), { message: 'the signal' });
  parent.kill('SIGTERM');
  await drained(pids[0]);
});

test('sockets of systemd are those of the program', async () => {
  const command = `LISTEN_PID=$$; export LISTEN_PID; exec sh ${SUPERVISOR} ${process.execPath} ${join(folder, 'program.mjs')}`;
  const { parent, pids, lines } = await run('sh', ['-c', command]);
  assert.deepEqual(lines, ['has sockets']);
  parent.kill('SIGTERM');
  await drained(pids[0]);
});

test('the program drains when the supervisor is killed', async () => {
  const { parent, pids } = await supervise();
  parent.kill('SIGKILL');
  await drained(pids[0]);
});

for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
  test(`the program drains and the supervisor ends when npm start gets ${signal}`, async () => {
    const { parent, pids } = await run('npm', ['start']);
    const [supervisor = -1] = childrenOf(parent.pid ?? -1, 'supervise.sh');
    parent.kill(signal);
    await drained(pids[0]);
    await waitFor(() =>
      readFile(`/proc/${supervisor}/stat`, 'utf8').then(
        (stat) => stat.includes(') Z'),
        () => true,
      ),
    );
  });
}
