import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { NODE_BINARIES, refuseNode } from './node-binary.mjs';

const ROOT = join(import.meta.dirname, '../..');

test('the checksums are those of the pinned version, and the installed binary matches', async () => {
  const manifest = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  assert.equal(NODE_BINARIES.version, manifest.dependencies.node);
  assert.equal(refuseNode(join(ROOT, 'node_modules/node/bin/node')), null);
});

test('an unsupported binary is rejected by name, and so is a system without a checksum', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'marquee-node-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, 'node');
  await writeFile(path, 'something else');
  assert.match(refuseNode(path) ?? '', /is not the published Node/);
  assert.match(refuseNode(path, 'plan9 mips') ?? '', /plan9 mips/);
});
