import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { waitFor } from '../../test/harness/wait-for.ts';

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'marquee-bootstrap-'));
  await writeFile(
    join(folder, 'program.mjs'),
    `import { writeFileSync } from 'node:fs';
     const drain = () => setTimeout(() => { writeFileSync('${folder}/drained', 'yes'); process.exit(7); }, 50);
     process.on('SIGTERM', drain); process.on('disconnect', drain);
     setInterval(() => {}, 1000);
     console.log(process.pid);`,
  );
  await writeFile(
    join(folder, 'bootstrap.mjs'),
    `import { handOver } from ${JSON.stringify(join(import.meta.dirname, 'handoff.mjs'))};
     handOver(process.execPath, [process.argv[2]], process.env);`,
  );
  await writeFile(
    join(folder, 'package.json'),
    JSON.stringify({ scripts: { start: `exec node bootstrap.mjs ${join(folder, 'program.mjs')}` } }),
  );
});
after(() => rm(folder, { recursive: true, force: true }));

interface Run {
  parent: ChildProcess;
  /** Process id of the program at the end of the chain. */
  pid: number;
}

async function run(command: string, args: string[]): Promise<Run> {
  await rm(join(folder, 'drained'), { force: true });
  const parent = spawn(command, args, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const line of createInterface({ input: parent.stdout })) {
    if (/^\d+$/.test(line)) return { parent, pid: Number(line) };
  }
  throw new Error('the program said nothing');
}

async function drained({ pid }: Run): Promise<void> {
  await waitFor(() => readFile(join(folder, 'drained'), 'utf8'), { message: 'the program to drain' });
  await waitFor(
    async () => {
      const state = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ') Z');
      return state.includes(') Z');
    },
    { message: 'the program to end' },
  );
}

const program = () => join(folder, 'program.mjs');
const bootstrap = () => join(folder, 'bootstrap.mjs');

test('SIGTERM reaches the program, and its exit code is ours', async () => {
  const chain = await run(process.execPath, [bootstrap(), program()]);
  chain.parent.kill('SIGTERM');
  const [code] = await once(chain.parent, 'exit');
  assert.equal(code, 7);
  await drained(chain);
});

test('the program drains when the bootstrap is killed', async () => {
  const chain = await run(process.execPath, [bootstrap(), program()]);
  chain.parent.kill('SIGKILL');
  await drained(chain);
});

for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
  test(`the program drains when npm start gets ${signal}`, async () => {
    const chain = await run('npm', ['start']);
    chain.parent.kill(signal);
    await drained(chain);
  });
}

test('a program killed by a signal ends the bootstrap with 128 and its number', async () => {
  const chain = await run(process.execPath, [bootstrap(), program()]);
  process.kill(chain.pid, 'SIGKILL');
  const [code] = await once(chain.parent, 'exit');
  assert.equal(code, 137);
});
