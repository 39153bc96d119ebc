import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { acquireInstanceLock } from './instance-lock.ts';

let dataDir: string;
before(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'marquee-lock-'));
});
after(() => rm(dataDir, { recursive: true, force: true }));

test('a second process is refused in one line; kill -9 frees the folder although a child lives on', async () => {
  const code = `
    import { spawn } from 'node:child_process';
    import { acquireInstanceLock } from ${JSON.stringify(join(import.meta.dirname, 'instance-lock.ts'))};
    globalThis.held = acquireInstanceLock(${JSON.stringify(dataDir)});
    const child = spawn('sleep', ['60'], { stdio: 'ignore', detached: true });
    console.log(child.pid);
    setInterval(() => {}, 1000);`;
  const holder = spawn(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(createInterface({ input: holder.stdout }), 'line');
  const grandchild = Number(line);
  try {
    assert.throws(() => acquireInstanceLock(dataDir), {
      message: `another Marquee process already runs on ${dataDir}`,
    });
    holder.kill('SIGKILL');
    await once(holder, 'exit');
    assert.ok(process.kill(grandchild, 0), 'the child lives');
    acquireInstanceLock(dataDir).release();
  } finally {
    holder.kill('SIGKILL');
    process.kill(grandchild, 'SIGKILL');
  }
});

test('release lets the next one in, also in the same process', () => {
  const lock = acquireInstanceLock(dataDir);
  assert.throws(() => acquireInstanceLock(dataDir), /already runs/);
  lock.release();
  acquireInstanceLock(dataDir).release();
});

test('a folder that cannot be used is named', async () => {
  await writeFile(join(dataDir, 'file'), '');
  assert.throws(
    () => acquireInstanceLock(join(dataDir, 'file')),
    /^Error: DATA_DIR .*file cannot be used: .*$/,
  );
});
