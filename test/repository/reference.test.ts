import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const ROOT = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

test('every page of the concepts, the guides and the decisions is in an index', () => {
  for (const [folder, index] of [
    ['docs/concepts', 'docs/concepts/README.md'],
    ['docs/decisions', 'docs/decisions/README.md'],
    ['docs/guides', 'docs/README.md'],
  ] as const) {
    const listed = read(index);
    const missing = globSync(`${folder}/*.md`, { cwd: ROOT })
      .map((path) => path.slice(path.lastIndexOf('/') + 1))
      .filter((name) => name !== 'README.md' && !listed.includes(`${name})`) && !listed.includes(`${name}#`));
    assert.deepEqual(missing, [], index);
  }
});
