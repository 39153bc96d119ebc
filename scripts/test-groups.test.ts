import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { test } from 'node:test';
import { ROOT } from './program.ts';
import { groupsOf } from './test-groups.ts';

const files = globSync(['{src,test,e2e}/**/*.test.ts'], { cwd: ROOT }).sort();

test('each file is in one group, and what needs a process for itself has one', () => {
  const groups = groupsOf(files, 3);
  assert.deepEqual(groups.flat().sort(), files);
  const groupOf = (part: string) => groups.find((group) => group.some((file) => file.includes(part)));
  for (const part of [
    'e2e/faults',
    'worker.alone',
    'codecs.full',
    'src/http/event-stream',
    'outbound/client',
  ]) {
    assert.equal(groupOf(part)?.length, 1, part);
  }
  assert.deepEqual(groupOf('api-keys/api')?.length, 16);
  assert.equal(groups.at(0)?.length, 1, 'the long ones begin');
});

test('a few files are spread over the processes that run at a time', () => {
  const few = files.filter((file) => file.startsWith('src/features/api-keys/'));
  assert.equal(groupsOf(few, 3).length, few.length);
  assert.deepEqual(groupsOf([], 3), []);
});
