import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyPresence, capacityOf, hasVisibleText, isName, permissionsOf } from './rules.ts';

const all = { canPublish: true, canSubscribe: true, canPublishData: true, canScreenShare: true };

test('a viewer sends no media whatever the token grants, a host may do everything, and a token changes the rest', () => {
  const quiet = { ...all, canPublishData: false, canScreenShare: false };
  assert.deepEqual(permissionsOf('HOST', quiet), all);
  assert.deepEqual(permissionsOf('SPEAKER', quiet), quiet);
  assert.deepEqual(permissionsOf('SPEAKER', quiet, { canScreenShare: true }), {
    ...quiet,
    canScreenShare: true,
  });
  assert.deepEqual(permissionsOf('VIEWER', all, { canPublish: true }), {
    ...all,
    canPublish: false,
    canScreenShare: false,
  });
});

test('names in every script are valid; invisible characters and text-direction controls are not', () => {
  for (const name of ['Ада', '阿里 👩‍🏫', 'مها', "O'Neill-Sánchez", 'नमस्ते', 'ไทย'])
    assert.ok(isName(name), name);
  for (const name of ['', ' ', '\u200b', 'a\nb', 'a\u0000', '\u202eabc', 'a\u2066b'])
    assert.ok(!isName(name));
  assert.ok(hasVisibleText('two\nlines') && !hasVisibleText('\u0007bell') && !hasVisibleText(' \n '));
});

test('the smallest limit applies, and an ended room is unchanged', () => {
  assert.equal(capacityOf(10, 25, 4), 4);
  assert.equal(capacityOf(3, 25, 4), 3);
  const at = new Date(0);
  const ended = {
    status: 'ENDED' as const,
    ...{ started_at: at, empty_since: null, alone_since: null, peak_participants: 2 },
  };
  assert.deepEqual(applyPresence(ended, 0, new Date(5)), ended);
});
