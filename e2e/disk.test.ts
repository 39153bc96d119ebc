import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { type HttpsSink, startHttpsSink } from '../test/harness/https-sink.ts';
import { createPartner } from '../test/harness/partner.ts';
import { headersOf, OWNER_KEY, type RunningPlatform, startPlatform } from '../test/harness/platform.ts';
import { mountSmall } from '../test/harness/tmpfs-disk.ts';
import { waitFor } from '../test/harness/wait-for.ts';
import { call, offsetOf, patch } from '../test/uploads/fixture.ts';

const MB = 2 ** 20;
const RESERVE_MB = 256;
const cleanups: (() => Promise<unknown>)[] = [];
after(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
});

async function freeMegabytes(dir: string): Promise<number> {
  const { bavail, bsize } = await statfs(dir);
  return (bavail * bsize) / MB;
}

const api = (platform: RunningPlatform, method: string, path: string, body?: object) =>
  call(`${platform.api}${path}`, method, headersOf(OWNER_KEY), body ? JSON.stringify(body) : null);

async function session(platform: RunningPlatform, sizeBytes: number) {
  const made = await api(platform, 'POST', '/upload', { filename: 'a.mp4', sizeBytes });
  made.assertOk(201);
  return {
    id: made.string('data.id'),
    url: platform.url + new URL(made.string('data.uploadUrl')).pathname,
  };
}

/** Uploads until the platform takes no more. @returns the ids of the sessions. */
async function fill(platform: RunningPlatform): Promise<string[]> {
  const ids: string[] = [];
  const block = randomBytes(16 * MB);
  for (;;) {
    const next = await session(platform, 64 * MB);
    ids.push(next.id);
    for (let offset = 0; offset < 3 * block.length; offset += block.length) {
      const answer = await patch(next.url, offset, block);
      if (answer.status === 204) continue;
      answer.assertError('INSUFFICIENT_STORAGE');
      assert.equal(answer.status, 507);
      return ids;
    }
  }
}

/** Asserts that no stored data is lost, and that everything except new files works. */
async function assertWorksOnFullDisk(platform: RunningPlatform, sink: HttpsSink): Promise<void> {
  (await api(platform, 'GET', '/videos')).assertOk(200);
  (await api(platform, 'GET', '/health')).assertOk(200);
  // The platform checks the disk once a second.
  const isRefused = async () =>
    (await api(platform, 'POST', '/upload', { filename: 'b.mp4', sizeBytes: 1 })).status === 507;
  await waitFor(isRefused, { timeoutMs: 20_000, message: 'a refusal of new uploads' });
  const made = await api(platform, 'POST', '/streams', { title: 'On a full disk' });
  const streamId = made.assertOk(201).string('data.id');
  await waitFor(() => sink.requests.some(({ rawBody }) => rawBody.toString().includes(streamId)), {
    timeoutMs: 20_000,
    message: 'the delivery of an event on a full disk',
  });
  (await api(platform, 'GET', `/streams/${streamId}`)).assertOk(200);
}

test('a full disk rejects uploads, preserves stored files, and recovers when space is freed', async (t) => {
  const disk = await mountSmall(768);
  if (disk === null) return t.skip('no file system can be mounted here');
  const { dir, remove } = disk;
  cleanups.push(remove);
  const sink = await startHttpsSink();
  cleanups.push(() => sink.close());
  const platform = await startPlatform({
    dataDir: join(dir, 'data'),
    environment: {
      ROLES: 'api,worker',
      DISK_RESERVE: `${RESERVE_MB}MB`,
      WEBHOOK_ALLOW_PRIVATE: '127.0.0.0/8',
      NODE_EXTRA_CA_CERTS: sink.ca.file,
    },
  });
  cleanups.push(() => platform.stop());
  await createPartner(platform).createWebhook(`${sink.url}/hook`, ['stream.created']);

  const content = randomBytes(8 * MB);
  const begun = await session(platform, content.length);
  assert.equal((await patch(begun.url, 0, content.subarray(0, 4 * MB))).status, 204);
  const ids = await fill(platform);
  assert.ok((await freeMegabytes(dir)) > RESERVE_MB - 64, 'the reserve is left to the database');
  // Other programs use up the remaining space, and a little of the reserve.
  const filler = join(dir, 'filler');
  const left = (await freeMegabytes(dir)) - RESERVE_MB;
  await writeFile(filler, Buffer.alloc(Math.ceil(left + 2) * MB, 1));
  await assertWorksOnFullDisk(platform, sink);
  assert.equal(await offsetOf(begun.url), 4 * MB);
  (await patch(begun.url, 4 * MB, content.subarray(4 * MB))).assertError('INSUFFICIENT_STORAGE');

  await rm(filler);
  for (const id of ids) (await api(platform, 'DELETE', `/upload/${id}`)).assertOk(200);
  const rest = async () => (await patch(begun.url, 4 * MB, content.subarray(4 * MB))).status === 204;
  await waitFor(rest, { timeoutMs: 20_000, message: 'room again' });
  const sha256 = createHash('sha256').update(content).digest('hex');
  const done = await api(platform, 'POST', `/upload/${begun.id}/complete`, { sha256 });
  assert.equal(done.assertOk(200).string('data.status'), 'COMPLETED');
});
