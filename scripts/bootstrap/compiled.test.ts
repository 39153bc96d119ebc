import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { trimFolder } from './compiled.mjs';

const folder = mkdtempSync(join(tmpdir(), 'marquee-compiled-'));
after(() => rmSync(folder, { recursive: true }));

test('the newest files are retained up to the size limit', () => {
  const below = join(folder, 'v26-x64');
  mkdirSync(below);
  for (const [index, name] of ['oldest', 'older', 'newer', 'newest'].entries()) {
    writeFileSync(join(below, name), Buffer.alloc(100));
    utimesSync(join(below, name), 1000 + index, 1000 + index);
  }
  trimFolder(folder, 250);
  assert.deepEqual(readdirSync(below).sort(), ['newer', 'newest']);
  trimFolder(folder, 200);
  assert.equal(readdirSync(below).length, 2);
});

test('a folder that is not there is no failure', () => {
  trimFolder(join(folder, 'none'), 1);
});
