import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { test } from 'node:test';
import { ROOT } from './program.ts';
import { groupsOf } from './test-groups.ts';

const files = globSync(['{src,test,e2e}/**/*.test.ts'], { cwd: ROOT }).sort();

const groupWith = (groups: readonly string[][], part: string) =>
  groups.find((group) => group.some((file) => file.includes(part)));

test('each file is in one group', () => {
  assert.deepEqual(groupsOf(files, 3).flat().sort(), files);
});

test('files that declare or imply a separate process do not share it', () => {
  const groups = groupsOf(files, 3);
  for (const part of [
    'e2e/restream',
    'worker.alone',
    'codecs.full',
    'src/http/event-stream',
    'outbound/client',
  ]) {
    assert.equal(groupWith(groups, part)?.length, 1, part);
  }
  const positions = groups.flatMap((group, index) => (group.length === 1 ? [index] : []));
  assert.ok((positions.at(-1) ?? 0) > groups.length / 2, 'they are mixed with groups');
});

test('other files share a process with files of other folders', () => {
  const group = groupWith(groupsOf(files, 3), 'api-keys/api') ?? [];
  assert.ok(group.length > 8 && group.length <= 20, `${group.length}`);
  const folders = new Set(group.map((file) => file.split('/').slice(0, 3).join('/')));
  assert.ok(folders.size > group.length / 2, `${folders.size} folders`);
});

test('files in a browser share a process only with each other', () => {
  const group = groupWith(groupsOf(files, 3), 'browser/watch') ?? [];
  assert.ok(group.length > 1 && group.length <= 5, `${group.length}`);
  for (const file of group) assert.match(file, /^test\/(?:browser|dashboard)\//);
});

test('a few files are spread over the processes that run at a time', () => {
  const few = files.filter((file) => file.startsWith('src/features/identity/api-keys/'));
  assert.equal(groupsOf(few, 3).length, few.length);
  assert.deepEqual(groupsOf([], 3), []);
});
