import assert from 'node:assert/strict';
import { test } from 'node:test';
import { affectedTests } from './test-changes.ts';

const TREE: Record<string, string> = {
  'src/kernel/ids.ts': '',
  'src/kernel/ids.test.ts': "import { newId } from './ids.ts';",
  'src/features/clips/service.ts': "import { newId } from '../../kernel/ids.ts';",
  'src/features/clips/api.test.ts': "import './service.ts';",
  'src/main/worker.ts': "import '../features/clips/service.ts';",
  'test/jobs/worker.test.ts': "spawn(join(ROOT, 'src/main/worker.ts'));",
  'test/harness/migrations.ts': "join(import.meta.dirname, '../../migrations')",
  'test/harness/database.test.ts': "import './migrations.ts';",
  'test/harness/browser.ts': '',
  'test/browser/keys.test.ts': "import '../harness/browser.ts';",
  'web/player/video.ts': '',
  'migrations/0001_platform.sql': '',
  'docs/endpoints.md': '',
  'package.json': '',
};

const affectedBy = (...changed: string[]) =>
  affectedTests(Object.keys(TREE), changed, (file) => TREE[file] ?? '');

test('a changed test affects itself', () => {
  assert.deepEqual(affectedBy('src/kernel/ids.test.ts'), ['src/kernel/ids.test.ts']);
});

test('a changed module affects the tests that import it, directly or not, or start it', () => {
  assert.deepEqual(affectedBy('src/kernel/ids.ts'), [
    'src/features/clips/api.test.ts',
    'src/kernel/ids.test.ts',
    'test/jobs/worker.test.ts',
  ]);
  assert.deepEqual(affectedBy('src/main/worker.ts'), ['test/jobs/worker.test.ts']);
});

test('a changed file of a folder affects the tests that read the folder', () => {
  assert.deepEqual(affectedBy('migrations/0001_platform.sql'), ['test/harness/database.test.ts']);
  assert.deepEqual(affectedBy('web/player/video.ts'), ['test/browser/keys.test.ts']);
});

test('deleted tests and files without dependents affect no test', () => {
  assert.deepEqual(affectedBy('docs/endpoints.md', 'src/old.test.ts'), []);
});

test('a changed dependency or script may affect every test', () => {
  assert.equal(affectedBy('package.json'), null);
  assert.equal(affectedBy('scripts/steps.ts'), null);
});
