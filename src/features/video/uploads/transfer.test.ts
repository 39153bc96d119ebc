import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { after, before, describe, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { openRawSocket } from '../../../../test/harness/raw-http.ts';
import { waitFor } from '../../../../test/harness/wait-for.ts';
import {
  call,
  createSession,
  offsetOf,
  PATCH,
  patch,
  type Session,
  TUS,
} from '../../../../test/uploads/fixture.ts';
import { toRequestBody } from './request-body.ts';
import { createUploads } from './service.ts';

const checksum = (algorithm: string, bytes: Uint8Array | string) =>
  `${algorithm} ${createHash(algorithm).update(bytes).digest('base64')}`;
const pair = (key: string, value: string) => `${key} ${Buffer.from(value).toString('base64')}`;

describe('transfers', () => {
  let app: TestApp;
  let key: string;
  let workspaceId: string;
  before(async () => {
    app = await startTestApp();
    const made = await app.createKey();
    key = made.key;
    workspaceId = made.account.live;
  });
  after(() => app.close());

  const create = (body: Record<string, unknown>) => createSession(app, key, body);
  const statusOf = async ({ id }: Session) =>
    (await app.request('GET', `/upload/${id}`, { key })).assertOk(200).string('data.status');
  const storedOf = async ({ id, videoId }: Session) => {
    const path = app.container.store.localPath(`w/${workspaceId}/v/${videoId}/original/${id}`);
    return path === null ? null : readFile(path);
  };

  test('OPTIONS returns the capabilities of the server, HEAD the offset of the upload', async () => {
    const session = await create({ sizeBytes: 10 });
    const options = await call(session.url, 'OPTIONS');
    assert.equal(options.status, 204);
    assert.equal(options.headers['tus-version'], '1.0.0');
    const opened = await call(session.url, 'GET');
    assert.equal(opened.status, 405);
    assert.match(opened.headers.allow ?? '', /PATCH/);
    assert.equal(options.headers['tus-max-size'], String(100 * 2 ** 30));
    assert.deepEqual(options.headers['tus-extension']?.split(',').sort(), [
      'checksum',
      'creation',
      'creation-defer-length',
      'creation-with-upload',
      'expiration',
      'termination',
    ]);
    const patched = await patch(session.url, 0, 'abc');
    assert.equal(patched.status, 204);
    assert.equal(patched.headers['upload-offset'], '3');
    assert.ok(Date.parse(patched.headers['upload-expires'] ?? '') > performance.timeOrigin + 6 * 86_400_000);
    const head = await call(session.url, 'HEAD', TUS);
    assert.equal(head.status, 200);
    assert.equal(head.headers['upload-offset'], '3');
    assert.equal(head.headers['upload-length'], '10');
    assert.equal(head.headers['tus-resumable'], '1.0.0');
    assert.equal(head.headers['cache-control'], 'no-store');
  });

  test('malformed headers are rejected with an error envelope and store nothing', async () => {
    const session = await create({ sizeBytes: 10 });
    const refused: [number, string, Record<string, string | undefined>][] = [
      [412, 'Tus-Resumable', { 'tus-resumable': undefined }],
      [412, 'Tus-Resumable', { 'tus-resumable': '0.2.2' }],
      [415, 'Content-Type', { 'content-type': 'video/mp4' }],
      [415, 'Content-Type', { 'content-type': undefined }],
      [400, 'Upload-Offset', { 'upload-offset': undefined }],
      [400, 'Upload-Offset', { 'upload-offset': '-1' }],
      [400, 'Upload-Offset', { 'upload-offset': '0x0' }],
      [400, 'Upload-Offset', { 'upload-offset': '1e0' }],
      [400, 'Upload-Offset', { 'upload-offset': '99999999999999999999' }],
      [409, 'Upload-Offset', { 'upload-offset': '1' }],
      [400, 'Upload-Length', { 'upload-length': '11' }],
      [400, 'Upload-Length', { 'upload-length': 'many' }],
      [400, 'Upload-Checksum', { 'upload-checksum': 'crc32 AAAA' }],
      [400, 'Upload-Checksum', { 'upload-checksum': 'sha1' }],
      [400, 'Upload-Checksum', { 'upload-checksum': 'sha1 AAAA' }],
      [400, 'Upload-Checksum', { 'upload-checksum': 'constructor AAAA' }],
    ];
    for (const [status, field, change] of refused) {
      const headers = Object.entries({ ...PATCH, 'upload-offset': '0', ...change });
      const sent = headers.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
      const answer = await call(session.url, 'PATCH', Object.fromEntries(sent), 'abc');
      assert.equal(answer.status, status, `${field} ${JSON.stringify(change)} ${answer.text}`);
      assert.equal(answer.at('error.field'), field);
      assert.equal(answer.at('success'), false);
    }
    for (const token of ['x', 'a'.repeat(43), 'a'.repeat(5000), '..%2f..%2fetc']) {
      assert.equal((await call(`${app.url}/uploads/${token}`, 'HEAD', TUS)).status, 404);
      assert.equal((await patch(`${app.url}/uploads/${token}`, 0, 'abc')).status, 404);
    }
    assert.equal(await offsetOf(session.url), 0);
    assert.equal(await statusOf(session), 'WAITING');
  });

  test('more bytes than announced are rejected; without a length they fail the upload', async () => {
    const told = await create({ sizeBytes: 5 });
    assert.equal((await patch(told.url, 0, 'abcdef')).status, 413);
    assert.equal(await offsetOf(told.url), 0);
    assert.equal((await call(told.url, 'PUT', {}, 'abcdef')).status, 413);
    assert.equal((await patch(told.url, 0, 'abcde')).status, 204);
    assert.equal(await statusOf(told), 'COMPLETED');

    const untold = await create({ sizeBytes: 5 });
    const endless = (async function* () {
      for (let i = 0; i < 1000; i++) yield Buffer.from('abcdef');
    })();
    const answer = await patch(untold.url, 0, endless);
    answer.assertError('PAYLOAD_TOO_LARGE');
    assert.equal(await statusOf(untold), 'FAILED');
    assert.equal((await call(untold.url, 'HEAD', TUS)).status, 410);
    assert.equal(await storedOf(untold).catch(() => null), null);
  });

  test('a wrong checksum of a part is 460 and leaves the offset unchanged', async () => {
    const session = await create({ sizeBytes: 9 });
    const send = (offset: number, body: string, of: string, algorithm: string) =>
      patch(session.url, offset, body, { 'upload-checksum': checksum(algorithm, of) });
    assert.equal((await send(0, 'abc', 'abd', 'sha1')).status, 460);
    assert.equal(await offsetOf(session.url), 0);
    assert.equal((await send(0, 'abc', 'abc', 'sha1')).status, 204);
    assert.equal((await send(3, 'def', 'dex', 'sha256')).status, 460);
    assert.equal(await offsetOf(session.url), 3);
    assert.equal((await send(3, 'def', 'def', 'sha256')).status, 204);
    assert.equal((await send(6, 'ghi', 'ghi', 'md5')).status, 204);
    assert.equal((await storedOf(session))?.toString(), 'abcdefghi');
  });

  test('a length that is sent later reserves the storage then', async () => {
    const creation = await call(`${app.url}/uploads`, 'POST', {
      ...TUS,
      authorization: `Bearer ${key}`,
      'upload-defer-length': '1',
      'upload-metadata': `${pair('filename', 'späte Länge.mov')},${pair('filetype', 'video/quicktime')}`,
    });
    assert.equal(creation.status, 201, creation.text);
    const location = creation.headers.location ?? '';
    assert.match(location, /^http:\/\/marquee\.test\/uploads\//);
    const url = app.url + new URL(location).pathname;
    assert.equal((await call(url, 'HEAD', TUS)).headers['upload-defer-length'], '1');
    assert.equal((await patch(url, 0, 'abc')).status, 204);
    const list = (await app.request('GET', '/upload?limit=1', { key })).assertOk(200);
    assert.equal(list.at('data.0.sizeBytes'), null);
    assert.equal(list.at('data.0.filename'), 'späte Länge.mov');
    assert.equal(list.at('data.0.mimeType'), 'video/quicktime');
    assert.equal((await patch(url, 3, 'de', { 'upload-length': '2' })).status, 400);
    assert.equal((await patch(url, 3, 'de', { 'upload-length': String(101 * 2 ** 30) })).status, 400);
    assert.equal((await patch(url, 3, 'de', { 'upload-length': '5' })).status, 204);
    const video = await app.request('GET', `/videos/${list.string('data.0.videoId')}`, { key });
    assert.equal(video.assertOk(200).at('data.status'), 'QUEUED');
    assert.equal(video.at('data.title'), 'späte Länge');
  });

  test('a plain tus client creates uploads with a key, and may send bytes with the creation', async () => {
    const headers = { ...TUS, authorization: `Bearer ${key}` };
    const post = (more: Record<string, string>, body: string | null = null) =>
      call(`${app.url}/uploads`, 'POST', { ...headers, ...more }, body);
    const keyless = await call(`${app.url}/uploads`, 'POST', { ...TUS, 'upload-length': '3' });
    keyless.assertError('UNAUTHORIZED');
    assert.equal(keyless.headers['access-control-allow-origin'], '*');
    assert.equal(keyless.headers['tus-resumable'], '1.0.0');
    const part = await post({ 'upload-length': '3', 'upload-concat': 'partial' });
    part.assertError('BAD_REQUEST', 'Upload-Concat');
    assert.equal((await call(`${app.url}/uploads`, 'POST', { authorization: `Bearer ${key}` })).status, 412);
    for (const refused of [
      {},
      { 'upload-length': '0' },
      { 'upload-length': '1', 'upload-defer-length': '1' },
      { 'upload-defer-length': '2' },
      { 'upload-length': '1', 'upload-metadata': 'filename !!!' },
      { 'upload-length': '1', 'upload-metadata': `filename ${Buffer.from([0xff, 0xfe]).toString('base64')}` },
      { 'upload-length': '1', 'upload-metadata': pair('title', 'a\0b') },
      { 'upload-length': '1', 'upload-metadata': pair('visibility', 'SECRET') },
    ]) {
      assert.equal((await post(refused)).status, 400, JSON.stringify(refused));
    }
    const whole = await post(
      {
        'upload-length': '3',
        'content-type': 'application/offset+octet-stream',
        'upload-metadata': `${pair('title', 'Along')},${pair('visibility', 'PRIVATE')},is_ok`,
      },
      'abc',
    );
    assert.equal(whole.status, 201);
    assert.equal(whole.headers['upload-offset'], '3');
    const { data } = Object((await app.request('GET', '/videos?limit=1', { key })).json);
    assert.equal(data[0].title, 'Along');
    assert.equal(data[0].visibility, 'PRIVATE');
    assert.equal(data[0].status, 'QUEUED');
    const { key: reader } = await app.createKey({ scope: 'READ_ONLY' });
    const refused = await call(`${app.url}/uploads`, 'POST', {
      ...TUS,
      authorization: `Bearer ${reader}`,
      'upload-length': '3',
    });
    refused.assertError('INSUFFICIENT_SCOPE');
  });

  test('DELETE ends the upload, also with the override header', async () => {
    for (const [method, headers] of [
      ['DELETE', TUS],
      ['POST', { ...TUS, 'x-http-method-override': 'DELETE' }],
    ] as const) {
      const session = await create({ sizeBytes: 5 });
      await patch(session.url, 0, 'ab');
      assert.equal((await call(session.url, method, headers)).status, 204);
      assert.equal((await call(session.url, 'HEAD', TUS)).status, 404);
      assert.equal(await statusOf(session), 'CANCELED');
    }
    const session = await create({ sizeBytes: 2 });
    const override = { ...PATCH, 'upload-offset': '0', 'x-http-method-override': 'PATCH' };
    assert.equal((await call(session.url, 'POST', override, 'ab')).status, 204);
    assert.equal((await call(session.url, 'DELETE', TUS)).status, 409);
    (await call(session.url, 'POST', { ...TUS, 'x-http-method-override': 'GET' })).assertError(
      'METHOD_NOT_ALLOWED',
    );
  });

  test('one PUT, a repeated PUT after an interrupted one, and a resuming PUT all complete the upload', async () => {
    const bytes = randomBytes(200_000);
    const whole = await create({ sizeBytes: bytes.length });
    (await call(whole.url, 'PUT', {}, bytes.subarray(1))).assertError('BAD_REQUEST', 'Content-Length');
    assert.equal((await call(whole.url, 'PUT', { 'content-type': 'video/mp4' }, bytes)).status, 204);
    assert.deepEqual(await storedOf(whole), bytes);
    assert.equal((await call(whole.url, 'PUT', {}, bytes)).status, 409);

    const broken = async () => {
      const session = await create({ sizeBytes: bytes.length });
      const socket = await openRawSocket(app.port);
      const { pathname } = new URL(session.url);
      socket.write(`PUT ${pathname} HTTP/1.1\r\nHost: a\r\nContent-Length: ${bytes.length}\r\n\r\n`);
      socket.write(bytes.subarray(0, 70_000));
      await waitFor(async () => (await receivedFile(session)) === 70_000);
      socket.close();
      await waitFor(async () => (await offsetOf(session.url)) === 70_000);
      return session;
    };
    const again = await broken();
    assert.equal((await call(again.url, 'PUT', {}, bytes)).status, 204);
    assert.deepEqual(await storedOf(again), bytes);

    const resumed = await broken();
    const asked = await call(resumed.url, 'PUT', { 'content-range': `bytes */${bytes.length}` });
    assert.equal(asked.status, 308);
    assert.equal(asked.headers.range, 'bytes=0-69999');
    const rest = (from: number) =>
      call(
        resumed.url,
        'PUT',
        { 'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}` },
        bytes.subarray(from),
      );
    assert.equal((await rest(69_999)).status, 409);
    assert.equal((await rest(70_000)).status, 204);
    assert.deepEqual(await storedOf(resumed), bytes);
    assert.equal((await call(resumed.url, 'PUT', { 'content-range': 'bytes */*' })).status, 204);
    (await call(resumed.url, 'PUT', { 'content-range': 'lines 1-2/3' })).assertError(
      'BAD_REQUEST',
      'Content-Range',
    );
  });

  /** Reads the bytes on disk of an upload in progress. */
  const receivedFile = async ({ id, videoId }: Session) => {
    const key = `w/${workspaceId}/v/${videoId}/original/${id}`;
    return (await app.container.store.partials.inspect(key, { sizeBytes: 0, driver: {} })).sizeBytes;
  };

  test('one of twenty requests at the same offset succeeds, and the file is exact', async () => {
    const bytes = randomBytes(300_000);
    const session = await create({ sizeBytes: bytes.length });
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => patch(session.url, 0, bytes.subarray(0, 100_000))),
    );
    assert.deepEqual(answers.map(({ status }) => status).sort(), [204, ...Array(19).fill(409)]);
    assert.equal(await offsetOf(session.url), 100_000);
    assert.equal((await patch(session.url, 100_000, bytes.subarray(100_000))).status, 204);
    assert.deepEqual(await storedOf(session), bytes);
  });

  test('a request takes over from one whose connection has died unnoticed', async () => {
    const session = await create({ sizeBytes: 10 });
    const socket = await openRawSocket(app.port);
    const { pathname } = new URL(session.url);
    const headers = Object.entries({ ...PATCH, 'upload-offset': '0', 'content-length': '10', host: 'a' });
    const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
    socket.write(`PATCH ${pathname} HTTP/1.1\r\n${lines}\r\nabcd`);
    await waitFor(async () => (await receivedFile(session)) === 4);
    const started = performance.now();
    assert.equal(await offsetOf(session.url), 4);
    assert.equal((await patch(session.url, 4, 'efghij')).status, 204);
    assert.ok(performance.now() - started < 5000);
    await socket.closed();
    assert.equal((await storedOf(session))?.toString(), 'abcdefghij');
  });

  test('a request at another process takes over too, and the file is exact', async () => {
    const { container } = app;
    const other = createUploads({ ...container, publicUrl: app.url });
    const session = await create({ sizeBytes: 10 });
    const socket = await openRawSocket(app.port);
    const { pathname } = new URL(session.url);
    const headers = Object.entries({ ...PATCH, 'upload-offset': '0', 'content-length': '10', host: 'a' });
    const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
    socket.write(`PATCH ${pathname} HTTP/1.1\r\n${lines}\r\nabcd`);
    await waitFor(async () => (await receivedFile(session)) === 4);
    const row = await other.transfers.find(pathname.replace('/uploads/', ''));
    const { offset } = await other.transfers.receive(row, {
      protocol: 'TUS',
      offset: 4,
      totalBytes: null,
      pieceBytes: 6,
      digest: null,
      body: toRequestBody(Readable.from([Buffer.from('efghij')])),
    });
    assert.equal(offset, 10);
    await socket.closed();
    assert.equal((await storedOf(session))?.toString(), 'abcdefghij');
  });

  test('pages of any origin may upload, or only those of one configured origin', async () => {
    const any = await create({ sizeBytes: 4 });
    const origin = 'https://studio.example.com';
    const preflight = { origin, 'access-control-request-method': 'PATCH' };
    const allowed = await call(any.url, 'OPTIONS', preflight);
    assert.equal(allowed.headers['access-control-allow-origin'], '*');
    assert.match(allowed.headers['access-control-allow-methods'] ?? '', /PATCH/);
    assert.match(allowed.headers['access-control-allow-headers'] ?? '', /Upload-Offset/);
    assert.match(allowed.headers['access-control-allow-headers'] ?? '', /\*$/);
    const patched = await patch(any.url, 0, 'ab', { origin });
    assert.equal(patched.headers['access-control-allow-origin'], '*');
    assert.match(patched.headers['access-control-expose-headers'] ?? '', /Upload-Offset/);

    const own = await create({ sizeBytes: 4, corsOrigin: origin });
    const preflighted = await call(own.url, 'OPTIONS', preflight);
    assert.equal(preflighted.headers['access-control-allow-origin'], origin);
    assert.match(preflighted.headers.vary ?? '', /Origin/);
    const foreign = { origin: 'https://evil.example.com' };
    assert.equal((await call(own.url, 'OPTIONS', { ...preflight, ...foreign })).status, 403);
    (await patch(own.url, 0, 'abcd', foreign)).assertError('DOMAIN_NOT_ALLOWED', 'Origin');
    assert.equal((await patch(own.url, 0, 'ab', { origin })).status, 204);
    assert.equal((await patch(own.url, 2, 'cd')).status, 204);
  });

  test('deleting a video also ends its upload', async () => {
    const session = await create({ sizeBytes: 10 });
    await patch(session.url, 0, 'abcd');
    (await app.request('DELETE', `/videos/${session.videoId}`, { key })).assertOk(200);
    assert.equal((await patch(session.url, 4, 'efghij')).status, 404);
    assert.equal(await statusOf(session), 'CANCELED');
    assert.equal(await receivedFile(session), 4);
    await app.container.uploads.sweep();
    assert.equal(await receivedFile(session), 0);
  });

  test('an upload left complete by a crash is completed by the sweep, and by the next request', async () => {
    for (const look of [() => app.container.uploads.sweep(), (url: string) => offsetOf(url)]) {
      const session = await create({ sizeBytes: 4 });
      await patch(session.url, 0, 'abc');
      const { db, store } = app.container;
      const blob = `w/${workspaceId}/v/${session.videoId}/original/${session.id}`;
      // State left by a process that dies between the last byte and the transaction.
      const state = { sizeBytes: 3, driver: {} };
      await store.partials.append(
        blob,
        state,
        3,
        (async function* () {
          yield Buffer.from('d');
        })(),
      );
      await db.updateTable('upload').set({ received_bytes: 4 }).where('id', '=', session.id).execute();
      await look(session.url);
      assert.equal(await statusOf(session), 'COMPLETED');
    }
  });
});
