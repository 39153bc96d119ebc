import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { waitFor } from '../../../../test/harness/wait-for.ts';
import { type ImportFixture, startFreeImports } from '../../../../test/imports/fixture.ts';
import { file } from '../../../../test/imports/source.ts';
import { videoProcessingCompleted, videoProcessingFailed } from '../videos/events.ts';

let fixture: ImportFixture;
let key: string;
let workspaceId: string;

before(async () => {
  ({ fixture, key, workspaceId } = await startFreeImports());
});
after(() => fixture.close());
beforeEach(() => {
  fixture.source.requests.length = 0;
});

const bytes = randomBytes(700_000);
/** Creates an import of a file that is served with these options. */
function importOf(path: string, ...options: Parameters<typeof file>) {
  return fixture.create(key, { sourceUrl: fixture.served(path, ...options) });
}
const asked = () => fixture.source.requests.map(({ range }) => range);
const events = async (type: string) =>
  (await fixture.app.request('GET', `/me/events?type=${type}`, { key })).assertOk(200).list('data');

test('a file becomes the original of a video, and the import ends when the video is ready', async () => {
  const before = await fixture.used(workspaceId);
  fixture.served('/My%20film.mp4', () => bytes);
  const answer = await fixture.app.request('POST', '/imports', {
    key,
    body: { sourceUrl: `${fixture.source.url}/My%20film.mp4`, visibility: 'PRIVATE', metadata: { a: 'b' } },
  });
  const id = answer.assertOk(201).string('data.id');
  const { createdAt: _, videoId, ...rest } = Object(answer.at('data'));
  assert.deepEqual(rest, {
    id,
    replaces: false,
    sourceUrl: `${fixture.source.url}/My%20film.mp4`,
    provider: 'URL',
    status: 'PENDING',
    progressPercent: 0,
    bytesTotal: null,
    bytesReceived: 0,
    error: null,
    completedAt: null,
  });
  const done = await fixture.reached(key, id, 'PROCESSING');
  assert.deepEqual([done.at('data.progressPercent'), done.at('data.bytesTotal')], [100, bytes.length]);
  const video = await fixture.video(key, id);
  assert.deepEqual(
    ['title', 'status', 'visibility', 'metadata', 'source', 'importId', 'sizeBytes'].map((name) =>
      video.at(`data.${name}`),
    ),
    ['My film', 'QUEUED', 'PRIVATE', { a: 'b' }, 'IMPORT', id, bytes.length],
  );
  assert.ok(bytes.equals((await fixture.original(id)) ?? Buffer.alloc(0)));
  assert.equal((await fixture.used(workspaceId)) - before, bytes.length);

  await fixture.app.container.events.transaction((_tx, append) =>
    append(videoProcessingCompleted, workspaceId, {
      ...videoProcessingCompleted.sample,
      videoId: String(videoId),
    }),
  );
  const completed = await fixture.reached(key, id, 'COMPLETED');
  assert.equal(typeof completed.at('data.completedAt'), 'string');
  const [event] = await events('import.completed');
  assert.deepEqual(Object(event).data, {
    importId: id,
    videoId,
    provider: 'URL',
    error: null,
    sequence: 1,
  });
  await cancel(id, 409);
  (await fixture.app.request('POST', `/imports/${id}/retry`, { key })).assertError('CONFLICT');
});

/** Lists everything on the disk that belongs to the import. */
async function filesOf(id: string): Promise<string[]> {
  const names = await readdir(fixture.app.container.config.DATA_DIR, { recursive: true });
  return names.filter((name) => name.includes(id));
}

async function cancel(id: string, status: 200 | 409) {
  const answer = await fixture.app.request('POST', `/imports/${id}/cancel`, { key });
  return status === 200 ? answer.assertOk(200) : answer.assertError('CONFLICT');
}

test('a repeatedly broken connection is resumed, byte for byte', async () => {
  const id = await importOf('/cut.mp4', () => bytes, { etag: '"v1"', cutAfter: 300_000 });
  await fixture.reached(key, id, 'PROCESSING');
  assert.ok(bytes.equals((await fixture.original(id)) ?? Buffer.alloc(0)));
  const [first, ...others] = fixture.source.requests;
  assert.equal(first?.range, undefined);
  assert.ok(others.length >= 2 && others.every(({ ifRange }) => ifRange === '"v1"'));
  assert.ok(
    others.every(({ range }) => Number(range?.slice(6, -1)) > 0),
    JSON.stringify(asked()),
  );
});

test('a body without a length is complete when it ends properly', async () => {
  const id = await importOf('/chunked.mp4', () => bytes, { chunked: true });
  const done = await fixture.reached(key, id, 'PROCESSING');
  assert.equal(done.at('data.bytesTotal'), bytes.length);
  assert.ok(bytes.equals((await fixture.original(id)) ?? Buffer.alloc(0)));
});

test('a file that changed in the interim is fetched from its start', async () => {
  const newer = randomBytes(650_000);
  let served = bytes;
  fixture.source.answers.set('/changed.mp4', (request, response) => {
    const etag = served === bytes ? '"old"' : '"new"';
    const answer = file(() => served, {
      etag,
      cutAfter: served === bytes ? 200_000 : Number.POSITIVE_INFINITY,
    });
    const done = answer(request, response);
    served = newer;
    return done;
  });
  const id = await fixture.create(key, { sourceUrl: `${fixture.source.url}/changed.mp4` });
  await fixture.reached(key, id, 'PROCESSING');
  assert.ok(newer.equals((await fixture.original(id)) ?? Buffer.alloc(0)));
});

test('a server without range support is requested again from the start, a limited number of times', async () => {
  let count = 0;
  fixture.source.answers.set('/plain.mp4', (request, response) =>
    file(() => bytes, { ranges: false, cutAfter: ++count === 1 ? 100_000 : 1e9 })(request, response),
  );
  const id = await fixture.create(key, { sourceUrl: `${fixture.source.url}/plain.mp4` });
  await fixture.reached(key, id, 'PROCESSING');
  assert.ok(bytes.equals((await fixture.original(id)) ?? Buffer.alloc(0)));

  const liar = await importOf('/liar.mp4', () => bytes.subarray(0, 50_000), {
    ranges: false,
    length: 60_000,
  });
  await fails(liar, 'SOURCE_UNREACHABLE', /connection|less/);
});

/** Waits for the import to fail after its three tries. */
async function fails(id: string, code: string, message: RegExp): Promise<void> {
  const ended = await waitFor(
    async () => {
      await fixture.hurry();
      const answer = (await fixture.app.request('GET', `/imports/${id}`, { key })).assertOk(200);
      return answer.string('data.status') === 'FAILED' && answer;
    },
    { timeoutMs: 10_000, intervalMs: 50 },
  );
  assert.equal(ended.at('data.error.code'), code);
  assert.match(ended.string('data.error.message'), message);
  const video = await fixture.video(key, id);
  assert.equal(video.string('data.status'), 'FAILED');
  assert.equal(video.at('data.error.message'), ended.at('data.error.message'));
  await waitFor(async () => (await filesOf(id)).length === 0, { message: 'no file of a failed import' });
}

test('an unreachable source is tried three times; a response that is not a file fails immediately', async () => {
  const before = await fixture.used(workspaceId);
  fixture.source.answers.set('/failing.mp4', (_request, response) => void response.writeHead(502).end());
  const id = await fixture.create(key, { sourceUrl: `${fixture.source.url}/failing.mp4` });
  await fails(id, 'SOURCE_UNREACHABLE', /status 502/);
  assert.equal(fixture.source.requests.length, 3);
  const [event] = await events('import.failed');
  assert.equal(Object(event).data.importId, id);
  assert.deepEqual(Object(event).data.error, {
    code: 'SOURCE_UNREACHABLE',
    message: 'The server returned status 502.',
  });
  await fails(
    await fixture.create(key, { sourceUrl: 'http://127.0.0.1:1/a.mp4' }),
    'SOURCE_UNREACHABLE',
    /ECONNREFUSED/,
  );

  fixture.source.requests.length = 0;
  const page = await importOf('/page', () => Buffer.from('<html>'), { type: 'text/html; charset=utf-8' });
  await fails(page, 'UNSUPPORTED_FORMAT', /web page/);
  const empty = await importOf('/empty.mp4', () => Buffer.alloc(0));
  await fails(empty, 'CORRUPT_INPUT', /empty/);
  assert.equal(fixture.source.requests.length, 2);
  assert.equal(await fixture.used(workspaceId), before);
});

test('five redirects are followed, each is checked', async () => {
  const hop = (to: string) => (_request: unknown, response: ServerResponse) =>
    void response.writeHead(302, { location: to }).end();
  for (let i = 1; i <= 6; i++) {
    fixture.source.answers.set(`/hop${i}`, hop(i === 1 ? '/end.mp4' : `/hop${i - 1}`));
  }
  fixture.source.answers.set(
    '/end.mp4',
    file(() => bytes),
  );
  const id = await fixture.create(key, { sourceUrl: `${fixture.source.url}/hop5` });
  await fixture.reached(key, id, 'PROCESSING');
  await fails(
    await fixture.create(key, { sourceUrl: `${fixture.source.url}/hop6` }),
    'SOURCE_UNREACHABLE',
    /redirect: too many/,
  );
  for (const inside of ['http://10.0.0.1/a.mp4', 'http://169.254.169.254/latest/', 'file:///etc/passwd']) {
    fixture.source.answers.set('/inside', hop(inside));
    fixture.source.requests.length = 0;
    const refused = await fixture.create(key, { sourceUrl: `${fixture.source.url}/inside` });
    await fails(refused, 'SOURCE_UNREACHABLE', /The URL cannot be used/);
    assert.equal(fixture.source.requests.length, 1);
  }
});

test('a URL that cannot be fetched is rejected when the import is created', async () => {
  const refused = [
    'http://10.0.0.1/a.mp4',
    'http://[::1]/a.mp4',
    'https://169.254.169.254/latest/meta-data/',
    'https://user:secret@files.example.com/a.mp4',
    'ftp://files.example.com/a.mp4',
    'file:///etc/passwd',
    'not an address',
    'https://printer.local/a.mp4',
    'https://www.youtube.com/watch?v=dQw4w9WgXcQ',
    'https://vimeo.com/76979871',
    'https://www.twitch.tv/videos/1',
  ];
  for (const sourceUrl of refused) {
    (await fixture.app.request('POST', '/imports', { key, body: { sourceUrl } })).assertError(
      'BAD_REQUEST',
      'sourceUrl',
    );
  }
  const unpriced = { sourceUrl: 'https://files.example.com/a.mp4', visibility: 'PURCHASE' };
  const answer = await fixture.app.request('POST', '/imports', { key, body: unpriced });
  answer.assertError('BAD_REQUEST', 'visibility');
});

test('a length above the limits fails before a byte is fetched', async () => {
  const huge = await importOf('/huge.mp4', () => bytes, { length: 101 * 2 ** 30 });
  await fails(huge, 'SIZE_EXCEEDED', /100 GB/);
  const big = await importOf('/big.mp4', () => bytes, { length: 11 * 2 ** 30 });
  await fails(big, 'QUOTA_EXCEEDED', /plan includes 10 GB/);
  assert.equal((await fixture.video(key, big)).at('data.error.code'), 'SIZE_EXCEEDED');
});

test('an endless body is stopped when the storage is full', async () => {
  const { sql } = fixture.app.container;
  const before = await fixture.used(workspaceId);
  const block = Buffer.alloc(64 * 1024);
  let sent = 0;
  fixture.source.answers.set('/endless', async (_request, response) => {
    response.writeHead(200, { 'content-type': 'video/mp4' });
    while (!response.destroyed) {
      sent += block.length;
      response.write(block);
      await sleep(5);
    }
  });
  await sql`update workspace set storage_bytes = ${10 * 2 ** 30 - 2 ** 20} where id = ${workspaceId}`;
  const id = await fixture.create(key, { sourceUrl: `${fixture.source.url}/endless` });
  await fails(id, 'QUOTA_EXCEEDED', /plan includes 10 GB/);
  assert.ok(sent < 200 * 2 ** 20);
  await sql`update workspace set storage_bytes = ${10 * 2 ** 30} where id = ${workspaceId}`;
  const body = { sourceUrl: `${fixture.source.url}/endless` };
  (await fixture.app.request('POST', '/imports', { key, body })).assertError('QUOTA_EXCEEDED');
  await sql`update workspace set storage_bytes = ${before} where id = ${workspaceId}`;
});

test('a canceled import stops, leaves no files behind, and can be started again', async () => {
  const before = await fixture.used(workspaceId);
  const id = await importOf('/slow.mp4', () => bytes, { etag: '"s"', stallAfter: 200_000 });
  // The file must have begun: a retry reuses a video whose file never did.
  const read = () => fixture.app.request('GET', `/imports/${id}`, { key });
  await waitFor(async () => (await read()).at('data.bytesTotal') === bytes.length);
  const first = (await fixture.video(key, id)).string('data.id');
  const canceled = await cancel(id, 200);
  assert.equal(canceled.at('data.status'), 'CANCELED');
  assert.equal((await fixture.video(key, id)).at('data.status'), 'FAILED');
  assert.equal(await fixture.used(workspaceId), before);
  await cancel(id, 409);
  await waitFor(async () => (await filesOf(id)).length === 0, { message: 'no file of a cancelled import' });

  fixture.source.answers.set(
    '/slow.mp4',
    file(() => bytes),
  );
  const again = (await fixture.app.request('POST', `/imports/${id}/retry`, { key })).assertOk(200);
  assert.equal(again.at('data.status'), 'PENDING');
  await fixture.reached(key, id, 'PROCESSING');
  const second = await fixture.video(key, id);
  assert.notEqual(second.string('data.id'), first);
  assert.deepEqual([second.at('data.status'), second.at('data.title')], ['QUEUED', 'slow']);
  assert.ok(bytes.equals((await fixture.original(id)) ?? Buffer.alloc(0)));

  await fixture.app.container.events.transaction((_tx, append) =>
    append(videoProcessingFailed, workspaceId, {
      ...videoProcessingFailed.sample,
      videoId: second.string('data.id'),
    }),
  );
  const failed = await fixture.reached(key, id, 'FAILED');
  assert.deepEqual(failed.at('data.error'), videoProcessingFailed.sample.error);
});

test('the import of a deleted video ends', async () => {
  const id = await importOf('/deleted.mp4', () => bytes, { stallAfter: 200_000 });
  const videoId = (await fixture.video(key, id)).string('data.id');
  await fixture.reached(key, id, 'DOWNLOADING');
  (await fixture.app.request('DELETE', `/videos/${videoId}`, { key })).assertOk(200);
  assert.equal((await fixture.reached(key, id, 'CANCELED')).at('data.error'), null);
});

test('a download resumes where a stopped worker left it', async () => {
  const id = await importOf('/handed.mp4', () => bytes, { etag: '"h"', stallAfter: 200_000 });
  const dataDir = fixture.app.container.config.DATA_DIR;
  await waitFor(async () => {
    const [name = ''] = await filesOf(id);
    return (await stat(join(dataDir, name))).size > 100_000;
  });
  await fixture.rest();
  fixture.source.answers.set(
    '/handed.mp4',
    file(() => bytes, { etag: '"h"' }),
  );
  fixture.work();
  await fixture.reached(key, id, 'PROCESSING');
  assert.match(asked().at(-1) ?? '', /^bytes=[1-9]\d+-$/);
  assert.ok(bytes.equals((await fixture.original(id)) ?? Buffer.alloc(0)));
});

test('a watch page of PeerTube resolves to its best file', async () => {
  const { url } = fixture.source;
  const at = (id: number, path: string) => ({ resolution: { id }, size: 1, fileUrl: url + path });
  fixture.source.answers.set('/api/v1/videos/9c9de5e8-0a1e', (_request, response) => {
    const streamingPlaylists = [{ files: [at(1080, '/best.mp4'), at(0, '/sound.mp4')] }];
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ files: [at(480, '/small.mp4')], streamingPlaylists }));
  });
  fixture.source.answers.set(
    '/best.mp4',
    file(() => bytes),
  );
  const id = await fixture.create(key, { sourceUrl: `${url}/w/9c9de5e8-0a1e`, title: 'Tube' });
  const done = await fixture.reached(key, id, 'PROCESSING');
  assert.equal(done.at('data.provider'), 'PEERTUBE');
  assert.ok(bytes.equals((await fixture.original(id)) ?? Buffer.alloc(0)));

  fixture.source.answers.set(
    '/api/v1/videos/no-peertube',
    (_request, response) => void response.end('hello'),
  );
  const other = await fixture.create(key, { sourceUrl: `${url}/w/no-peertube` });
  await fails(other, 'UNSUPPORTED_FORMAT', /not a page of a video/);
});

test('lists can be filtered by status and provider', async () => {
  const list = async (query: string) =>
    (await fixture.app.request('GET', `/imports?limit=100&${query}`, { key })).assertOk(200).list('data');
  const all = await list('');
  const failed = await list('status=FAILED,CANCELED');
  assert.ok(failed.length > 0 && failed.length < all.length);
  assert.equal((await list('provider=PEERTUBE')).length, 2);
  (await fixture.app.request('GET', '/imports?status=GONE', { key })).assertError('BAD_REQUEST', 'status');
});

test('reading requires imports:read, writing imports:write, which includes it', async () => {
  const reader = await fixture.app.createKey({ scope: 'STANDARD', permissions: ['imports:read'] });
  (await fixture.app.request('GET', '/imports', { key: reader.key })).assertOk(200);
  const body = { sourceUrl: 'https://files.example.com/a.mp4' };
  (await fixture.app.request('POST', '/imports', { key: reader.key, body })).assertError('PERMISSION_DENIED');
  const writer = await fixture.app.createKey({ scope: 'STANDARD', permissions: ['imports:write'] });
  (await fixture.app.request('POST', '/imports', { key: writer.key, body })).assertOk(201);
  (await fixture.app.request('GET', '/imports', { key: writer.key })).assertOk(200);
});
