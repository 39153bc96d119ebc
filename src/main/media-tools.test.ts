import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { ConfigError, loadConfig } from '../platform/config.ts';
import { createGuardCheck } from './media-tools.ts';

let dir = '';
/** Starts where it finds a file that no sandbox shows. */
let ffmpeg = '';
before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'media-tools-'));
  ffmpeg = join(dir, 'ffmpeg');
  await writeFile(join(dir, 'needed'), '');
  await writeFile(ffmpeg, `#!/bin/sh\n[ -r ${dir}/needed ]\n`, { mode: 0o755 });
});
after(() => rm(dir, { recursive: true, force: true }));

test('where there is no sandbox, programs run without it and the reason is known', async () => {
  const guard = await createGuardCheck(loadConfig({ FFMPEG_PATH: ffmpeg }))();
  assert.notEqual(guard.weakness, null);
});

test('REQUIRE_SANDBOX is a bad configuration where there is none', async () => {
  const check = createGuardCheck(loadConfig({ FFMPEG_PATH: ffmpeg, REQUIRE_SANDBOX: 'true' }));
  await assert.rejects(check(), (error) => {
    assert.ok(error instanceof ConfigError);
    assert.match(error.message, /^REQUIRE_SANDBOX is set, but ffmpeg has no sandbox: \S/);
    return true;
  });
});
