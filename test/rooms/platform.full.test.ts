import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readLink } from '../../src/media/rooms/janus/link-file.ts';
import { janusUnavailableReason } from '../../src/media/rooms/janus/process.ts';
import { startPlatform } from '../harness/platform.ts';
import { waitFor } from '../harness/wait-for.ts';

const skip = (await janusUnavailableReason('janus')) ?? false;

test('the platform runs Janus for its rooms, and leaves none behind when it is killed', {
  skip,
}, async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'marquee-rooms-'));
  const platform = await startPlatform({ dataDir, environment: { ROOMS_UDP_PORTS: '21000-21199' } });
  const linkFile = join(dataDir, 'rooms', 'janus.json');
  const { pid } = await waitFor(() => readLink(linkFile), { timeoutMs: 10_000, message: 'Janus' });
  assert.doesNotMatch(platform.output(), /Small rooms/);
  platform.process.kill('SIGKILL');
  await waitFor(() => !existsSync(`/proc/${pid}`), { timeoutMs: 10_000, message: 'the end of Janus' });
  await rm(dataDir, { recursive: true, force: true });
});
