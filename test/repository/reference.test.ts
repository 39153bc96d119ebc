import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const ROOT = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

test('every endpoint stands in the API reference', () => {
  const document: { paths: Record<string, unknown> } = JSON.parse(read('openapi.json'));
  const paths = Object.keys(document.paths);
  assert.ok(paths.length > 50);
  const reference = globSync('docs/concepts/*.md', { cwd: ROOT })
    .filter((path) => !path.endsWith('/events.md'))
    .map(read)
    .join('\n');
  // Followed by neither a longer path nor a longer word.
  const stands = (path: string) =>
    new RegExp(`${path.replace(/[{}]/g, '\\$&')}(?![\\w/-]*[/\\w])`).test(reference);
  assert.equal(
    paths.filter((path) => !stands(path)).join('\n'),
    '',
    'describe it in a page of docs/concepts, with its shape, limits and errors',
  );
});

test('every page of the reference, the guides and the decisions is in an index', () => {
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
