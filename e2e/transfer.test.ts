import assert from 'node:assert/strict';
import { createHash, randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Upload } from 'tus-js-client';
import { startFlakyProxy } from '../test/harness/flaky-proxy.ts';
import { headersOf, OWNER_KEY, type RunningPlatform, startPlatform } from '../test/harness/platform.ts';
import { waitFor } from '../test/harness/wait-for.ts';

const MiB = 2 ** 20;
let folder: string;
let platform: RunningPlatform;

/** Without a worker: the files here are not videos, and remain unprocessed. */
const start = (port?: number) =>
  startPlatform({
    dataDir: folder,
    environment: { ROLES: 'api' },
    ...(port === undefined ? {} : { port }),
  });

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'marquee-transfer-'));
  platform = await start();
});
after(async () => {
  await platform?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function kill(): Promise<void> {
  const { process: child, port } = platform;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
  platform = await start(port);
}

async function api(method: string, path: string, body?: object): Promise<Record<string, unknown>> {
  const payload = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await fetch(platform.api + path, { method, headers: headersOf(OWNER_KEY), ...payload });
  const answer = await response.json();
  assert.ok(response.ok, JSON.stringify(answer));
  return Object(answer).data;
}

interface TusOptions {
  endpoint?: string;
  uploadUrl?: string;
  chunkSize?: number;
  uploadLengthDeferred?: boolean;
  onProgress?: (bytes: number) => void;
}

/** Uploads with the unmodified tus-js-client. @returns the URL of the file. */
function tus(file: Buffer, options: TusOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    const upload = new Upload(file, {
      ...options,
      headers: options.endpoint === undefined ? {} : { Authorization: `Bearer ${OWNER_KEY}` },
      metadata: { filename: 'From a plain client.mp4', filetype: 'video/mp4' },
      retryDelays: Array.from({ length: 100 }, () => 200),
      onSuccess: () => resolve(upload.url ?? ''),
      onError: reject,
    });
    upload.start();
  });
}

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

test('cuts at random points, dead connections and kill -9 leave the exact file', async (t) => {
  const file = randomBytes(12 * MiB + randomInt(1000));
  const session = await api('POST', '/upload', {
    filename: 'long.mp4',
    sizeBytes: file.length,
    sha256: sha256(file),
  });
  let made = 0;
  const points: string[] = [];
  t.after(() => t.diagnostic(`cuts: ${points.join(', ')}`));
  const proxy = await startFlakyProxy(platform.port, () => {
    made += 1;
    const cut = {
      // Small enough that the file is not complete before its fourth cut.
      bytes: randomInt(1000, 2 * MiB),
      how: made % 3 === 0 ? ('vanish' as const) : ('reset' as const),
    };
    points.push(`${cut.how} ${cut.bytes}`);
    return cut;
  });
  t.after(() => proxy.close());
  const url = new URL(String(session.uploadUrl));
  url.host = `127.0.0.1:${proxy.port}`;
  const killAt = randomInt(4, 8) * MiB;
  let killing: Promise<void> | null = null;
  await tus(file, {
    uploadUrl: url.href,
    onProgress(bytes) {
      if (bytes >= killAt) killing ??= kill();
    },
  });
  await killing;
  assert.ok(killing !== null && proxy.cuts >= 4, `${proxy.cuts} cuts`);
  const { id, videoId } = session;
  const done = await api('POST', `/upload/${id}/complete`, { sha256: sha256(file) });
  assert.equal(done.status, 'COMPLETED');
  assert.equal(done.receivedBytes, file.length);
  assert.equal((await api('GET', `/videos/${videoId}`)).status, 'QUEUED');
});

test('a plain tus client creates, sends in chunks and with a deferred length', async () => {
  const file = randomBytes(5 * MiB + 17);
  for (const uploadLengthDeferred of [false, true]) {
    const url = await tus(file, {
      endpoint: `${platform.url}/uploads`,
      chunkSize: MiB,
      uploadLengthDeferred,
    });
    const [latest] = Object.values(await api('GET', '/upload?limit=1')).map(Object);
    assert.equal(latest.uploadUrl, url);
    assert.equal(latest.status, 'COMPLETED');
    assert.equal(latest.filename, 'From a plain client.mp4');
    const done = await api('POST', `/upload/${latest.id}/complete`, { sha256: sha256(file) });
    assert.equal(done.sizeBytes, file.length);
  }
});

test('curl-like: one PUT of a file', async () => {
  const file = randomBytes(3 * MiB);
  const session = await api('POST', '/upload', { filename: 'put.mp4', sizeBytes: file.length });
  const response = await fetch(String(session.uploadUrl), { method: 'PUT', body: file });
  assert.equal(response.status, 204);
  const done = await api('GET', `/upload/${session.id}`);
  assert.equal(done.status, 'COMPLETED');
  assert.equal(done.protocol, 'PUT');
  const workspaces = join(folder, 'media/w');
  const [workspace = ''] = await readdir(workspaces);
  const stored = await readFile(
    join(workspaces, workspace, 'v', String(session.videoId), 'original', String(session.id)),
  );
  assert.ok(stored.equals(file));
});

test('a stopping platform stores the received bytes, and does not wait for the rest', async () => {
  const session = await api('POST', '/upload', { filename: 'stop.mp4', sizeBytes: 100_000 });
  const { pathname } = new URL(String(session.uploadUrl));
  const socket = connect(platform.port, '127.0.0.1').on('error', () => {});
  const head = ['Host: a', 'Tus-Resumable: 1.0.0', 'Upload-Offset: 0', 'Content-Length: 100000'];
  head.push('Content-Type: application/offset+octet-stream');
  socket.write(`PATCH ${pathname} HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n${'x'.repeat(60_000)}`);
  const partial = join(folder, 'media/.partial');
  const size = async () => {
    const name = (await readdir(partial)).find((file) => file.endsWith(String(session.id)));
    return name === undefined ? 0 : (await stat(join(partial, name))).size;
  };
  await waitFor(async () => (await size()) === 60_000);
  const startedMs = performance.now();
  assert.equal(await platform.stop(), 0);
  assert.ok(performance.now() - startedMs < 8000);
  socket.destroy();
  platform = await start(platform.port);
  const answer = await fetch(String(session.uploadUrl), {
    method: 'HEAD',
    headers: { 'Tus-Resumable': '1.0.0' },
  });
  assert.equal(answer.headers.get('upload-offset'), '60000');
});
