import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { breakingChanges, hasOasdiff, lastRelease, NO_OASDIFF, unannounced } from './breaking.ts';

const ROOT = join(import.meta.dirname, '../..');

const answers = (properties: object, required: string[]) => ({
  '200': {
    description: 'A thing.',
    content: { 'application/json': { schema: { type: 'object', required, properties } } },
  },
});
const text = { type: 'string' };
const documentOf = (paths: object) => ({ openapi: '3.1.0', info: { title: 'Things', version: '1' }, paths });

const EARLIER = documentOf({
  '/things': {
    get: { responses: answers({ id: text, note: text, kind: { ...text, enum: ['A'] } }, ['id']) },
    delete: { responses: answers({}, []) },
  },
  '/other': { get: { responses: answers({ id: text }, ['id']) } },
});
const LATER = documentOf({
  '/things': {
    get: {
      parameters: [{ name: 'by', in: 'query', required: true, schema: text }],
      responses: answers({ id: text, kind: { ...text, enum: ['A', 'B'] } }, ['id']),
    },
  },
  '/other': {
    get: {
      parameters: [{ name: 'by', in: 'query', schema: text }],
      responses: answers({ id: text, more: text }, ['id', 'more']),
    },
  },
});

test('breaking changes are found, and additions are not reported', async (t) => {
  if (!hasOasdiff()) return t.skip(NO_OASDIFF);
  const folder = await mkdtemp(join(tmpdir(), 'marquee-breaking-'));
  t.after(() => rm(folder, { recursive: true }));
  const [earlier, later] = [join(folder, 'earlier.json'), join(folder, 'later.json')];
  await writeFile(earlier, JSON.stringify(EARLIER));
  await writeFile(later, JSON.stringify(LATER));
  assert.deepEqual(await breakingChanges(earlier, earlier), []);
  const found = await breakingChanges(earlier, later);
  assert.deepEqual(
    new Set(found.map(({ endpoint }) => endpoint)),
    new Set(['GET /things', 'DELETE /things']),
  );
  assert.equal(found.length, 3);
  assert.ok(found.some((change) => /`note`/.test(change.text)));
});

test('a break is announced below Breaking of the coming version, by its endpoint in backticks', () => {
  const changes = [
    { endpoint: 'GET /things', text: 'a' },
    { endpoint: 'DELETE /things', text: 'b' },
  ];
  const changelog = (breaking: string) =>
    `# Changelog\n\n## Unreleased\n\n### Added\n- \`DELETE /things\`\n\n### Breaking\n${breaking}\n\n## 0.2.0\n\n### Breaking\n- \`GET /things\`\n`;
  assert.deepEqual(unannounced(changes, changelog('- Nothing of note.')), changes);
  assert.deepEqual(unannounced(changes, changelog('- `GET /things` needs `by`.')), changes.slice(1));
  assert.deepEqual(unannounced(changes, changelog('- `GET /things`\n- `DELETE /things` is gone.')), []);
  assert.deepEqual(unannounced(changes, '# Changelog\n\n## 0.2.0\n'), changes);
});

test('all breaking changes since the last release are in the changelog', async (t) => {
  const release = await lastRelease();
  if (release === null) return t.skip('nothing is released yet with a document in docs/releases');
  if (!hasOasdiff()) return t.skip(NO_OASDIFF);
  const changes = await breakingChanges(release, join(ROOT, 'openapi.json'));
  assert.deepEqual(unannounced(changes, await readFile(join(ROOT, 'CHANGELOG.md'), 'utf8')), []);
});
