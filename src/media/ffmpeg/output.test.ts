import assert from 'node:assert/strict';
import { constants } from 'node:fs';
import {
  chown,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { KINDS, plantOutput } from '../../../test/transcode/malicious-outputs.ts';
import { createGuard } from './guard.ts';
import {
  checkOutputs,
  openOutput,
  readOutput,
  removeOutput,
  renameOutput,
  UnsafeOutputError,
  writeOutput,
} from './output.ts';

let root = '';
let folder = '';
let secret = '';
before(async () => {
  root = await mkdtemp(join(tmpdir(), 'output-'));
});
beforeEach(async () => {
  folder = await mkdtemp(join(root, 'run-'));
  secret = join(await mkdtemp(join(root, 'outside-')), 'made');
  await mkdir(join(folder, 'src'));
  await writeFile(join(folder, 'src/made'), 'media');
  await writeFile(secret, 'secret');
});
after(() => rm(root, { recursive: true, force: true }));

const text = (name: string) => readOutput(folder, name, 100).then(String);

test('output: an existing file is opened, and a missing one is reported as missing', async () => {
  assert.equal(await text('src/made'), 'media');
  await checkOutputs(folder);
  await assert.rejects(text('src/absent'), { code: 'ENOENT' });
  await assert.rejects(text('absent/made'), { code: 'ENOENT' });
});

for (const kind of KINDS) {
  test(`output: ${kind} in the place of a file is refused`, async () => {
    await plantOutput(kind, join(folder, 'src/made'), secret);
    await assert.rejects(openOutput(folder, 'src/made'), UnsafeOutputError);
    await assert.rejects(openOutput(join(folder, 'src'), 'made', constants.O_RDWR), UnsafeOutputError);
    await assert.rejects(writeOutput(folder, 'src/made', 'ours'), UnsafeOutputError);
    if (kind !== 'a folder') await assert.rejects(checkOutputs(folder), UnsafeOutputError);
    assert.equal(await readFile(secret, 'utf8'), 'secret');
  });
}

test('output: a folder that is a link is not entered', async () => {
  const outside = join(secret, '..');
  await rm(join(folder, 'src'), { recursive: true });
  await symlink(outside, join(folder, 'src'));
  await assert.rejects(openOutput(folder, 'src/made'), UnsafeOutputError);
  await assert.rejects(writeOutput(folder, 'src/made', 'ours'), UnsafeOutputError);
  await assert.rejects(removeOutput(folder, 'src/made'), UnsafeOutputError);
  await assert.rejects(renameOutput(folder, 'src/made', 'other'), UnsafeOutputError);
  await assert.rejects(checkOutputs(folder), UnsafeOutputError);
  assert.deepEqual(await readdir(outside), ['made']);
  assert.equal(await readFile(secret, 'utf8'), 'secret');
});

test('output: a folder that changes places with a link while it is read shows nothing of outside', async () => {
  const [inside, link] = [join(folder, 'src'), join(folder, 'link')];
  await symlink(join(secret, '..'), link);
  let isOver = false;
  const swapping = (async () => {
    while (!isOver) {
      await rename(inside, join(folder, 'kept'));
      await rename(link, inside);
      await rename(inside, link);
      await rename(join(folder, 'kept'), inside);
    }
  })();
  const seen = new Set<string>();
  for (let turn = 0; turn < 400; turn++) {
    seen.add(
      await text('src/made').catch((error: unknown) =>
        error instanceof UnsafeOutputError ? 'refused' : 'absent',
      ),
    );
  }
  isOver = true;
  await swapping;
  assert.ok(!seen.has('secret'));
  assert.ok(seen.has('media'), [...seen].join());
});

test('output: a file of another user is refused', {
  skip: process.getuid?.() === 0 ? false : 'only root can give files away',
}, async () => {
  await chown(join(folder, 'src/made'), 12_345, 12_345);
  await assert.rejects(openOutput(folder, 'src/made'), UnsafeOutputError);
  await assert.rejects(checkOutputs(folder), UnsafeOutputError);
});

test('output: a file that is replaced while it is read is the old one or the new one', async () => {
  const path = join(folder, 'src/made');
  const replace = async (n: number) => {
    await writeFile(`${path}.tmp`, `media ${n}`);
    await rename(`${path}.tmp`, path);
  };
  await replace(0);
  let isOver = false;
  const replacing = (async () => {
    for (let n = 1; !isOver; n += 1) await replace(n);
  })();
  try {
    for (let n = 0; n < 500; n += 1) assert.match(await text('src/made'), /^media \d+$/);
  } finally {
    isOver = true;
    await replacing;
  }
});

test('output: a file that is larger than any of its kind is not read', async () => {
  await writeFile(join(folder, 'src/made'), 'x'.repeat(101));
  await assert.rejects(text('src/made'), UnsafeOutputError);
});

test('output: what one run has left shows nothing to the next, and gives nothing away', async (t) => {
  const guard = await createGuard();
  if (guard.weakness !== null) return t.skip(guard.weakness);
  const limits = { memoryBytes: 2 ** 30, cpuSec: 10, fileBytes: 2 ** 20 };
  const outside = join(secret, '..');
  await symlink(outside, join(folder, 'linked'));
  const before = await stat(secret);
  await guard.start('true', limits, { reads: [], writes: folder });
  assert.equal((await stat(secret)).uid, before.uid);
  assert.equal((await stat(outside)).uid, before.uid);
  await symlink(secret, join(folder, 'part.mp4'));
  const view = { reads: [join(folder, 'part.mp4')], writes: folder };
  await assert.rejects(guard.start('true', limits, view), UnsafeOutputError);
  assert.equal((await stat(secret)).mode, before.mode);
});
