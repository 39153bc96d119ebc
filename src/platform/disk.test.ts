import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { AppError } from '../kernel/errors.ts';
import { createDiskSpace, isDiskError, reservedBytes, toDiskFullError } from './disk.ts';

const GB = 2 ** 30;
const full = Object.assign(new Error('write'), { code: 'ENOSPC' });

describe('the room of a disk', () => {
  test('the default is 5 % or 2 GB, whichever is less', () => {
    assert.equal(reservedBytes(10 * GB, undefined), GB / 2);
    assert.equal(reservedBytes(4000 * GB, undefined), 2 * GB);
    assert.equal(reservedBytes(4000 * GB, { percent: 10 }), 400 * GB);
    assert.equal(reservedBytes(4000 * GB, { bytes: 1 }), 1);
  });

  test('what would reach into the reserve is refused', async () => {
    const wide = createDiskSpace(tmpdir(), { bytes: 0 });
    assert.equal(await wide.isThere(), true);
    await wide.admit(1);
    await assert.rejects(wide.admit(2 ** 60), { code: 'INSUFFICIENT_STORAGE', status: 507 });
    const none = createDiskSpace(tmpdir(), { bytes: 2 ** 60 });
    assert.equal(await none.isThere(), false);
    await assert.rejects(none.admit(0), { code: 'INSUFFICIENT_STORAGE' });
  });

  test('a folder that does not exist yet is on no full disk', async () => {
    await createDiskSpace(join(tmpdir(), 'marquee-none'), { bytes: 2 ** 60 }).admit(1);
  });
});

test('a full disk is trouble that may pass, told as 507', () => {
  assert.equal(isDiskError(new AppError('INSUFFICIENT_STORAGE')), true);
  assert.equal(isDiskError(new Error('outer', { cause: full })), true);
  assert.equal(isDiskError(new Error('other')), false);
  const told = toDiskFullError(full);
  assert.ok(told instanceof AppError && told.code === 'INSUFFICIENT_STORAGE');
  const other = new Error('other');
  assert.equal(toDiskFullError(other), other);
});
