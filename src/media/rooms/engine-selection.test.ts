import assert from 'node:assert/strict';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ConfigError, loadConfig } from '../../platform/config.ts';
import { selectRoomEngine } from './engine-selection.ts';

test('rooms use the best available engine, and the reason for a missing better one is reported', async (t) => {
  const dir = await mkdtemp(join(tmpdir(), 'marquee-choice-'));
  t.after(() => rm(dir, { recursive: true }));
  const program = async (name: string, version: string) => {
    const path = join(dir, name);
    // As Janus does it.
    await writeFile(path, `#!/bin/sh\necho 'Janus version: ${version}'\nexit 1\n`);
    await chmod(path, 0o755);
    return path;
  };
  const choose = (env: Record<string, string>) => selectRoomEngine(loadConfig(env));
  const janus = await program('new', '1102 (1.1.2)');
  const old = await program('old', '92 (0.9.2)');
  const hasJanus = process.platform === 'linux';
  if (hasJanus)
    assert.deepEqual(await choose({ JANUS_PATH: janus }), { name: 'janus', lack: null, hasJanus });
  assert.deepEqual(await choose({ JANUS_PATH: janus, ROOMS_ENGINE: 'mesh' }), { name: 'mesh', lack: null });
  const livekit = {
    LIVEKIT_URL: 'ws://127.0.0.1:7880',
    LIVEKIT_API_KEY: 'key',
    LIVEKIT_API_SECRET: 'secret',
  };
  const chosen = { name: 'livekit', lack: null };
  assert.deepEqual(await choose({ ...livekit, JANUS_PATH: janus }), { ...chosen, hasJanus });
  assert.deepEqual(await choose({ ...livekit, JANUS_PATH: old }), { ...chosen, hasJanus: false });
  assert.equal((await choose({ ...livekit, ROOMS_ENGINE: 'mesh' })).name, 'mesh');
  assert.equal((await choose({ ...livekit, ROOMS_ENGINE: 'livekit' })).name, 'livekit');
  for (const [path, lack] of [
    [join(dir, 'none'), /none is not installed/],
    [old, /too old/],
  ] as const) {
    if (process.platform !== 'linux') continue;
    const chosen = await choose({ JANUS_PATH: path });
    assert.equal(chosen.name, 'mesh');
    assert.match(chosen.lack ?? '', lack);
    await assert.rejects(choose({ JANUS_PATH: path, ROOMS_ENGINE: 'janus' }), ConfigError);
  }
});
