import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestApp } from '../../test/harness/app.ts';
import { createOwner } from './first-run.ts';

test('one of several nodes that start together on an empty database creates the owner', async () => {
  const app = await startTestApp();
  try {
    const made = await Promise.all([app, app, app].map(({ container }) => createOwner(container)));
    assert.equal(made.filter((owner) => owner !== null).length, 1);
    assert.equal(await createOwner(app.container), null);
  } finally {
    await app.close();
  }
});
