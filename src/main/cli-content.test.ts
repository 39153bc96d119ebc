import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../../test/harness/app.ts';
import { commandLine, runCommand } from '../../test/harness/command-line.ts';
import type { TestAccount } from '../../test/harness/factories.ts';
import { waitFor } from '../../test/harness/wait-for.ts';
import { addVideo, FOLDER } from '../../test/videos/fixture.ts';

let app: TestApp;
let key: string;
let account: TestAccount;

before(async () => {
  app = await startTestApp();
  ({ key, account } = await app.createKey());
});
after(() => app.close());

const json = async (...args: string[]): Promise<unknown> =>
  JSON.parse(await commandLine(app, ...args, '--json'));
const get = async (path: string) => (await app.request('GET', path, { key })).assertOk(200);
const listNotifications = async (resourceId: string) => {
  const all = (await get('/notifications')).list('data').map(Object);
  return all.filter(({ resource }) => resource.id === resourceId);
};

async function playable(): Promise<string> {
  const files = new Map([['s_00001.m4s', Buffer.from('a second')]]);
  const rates = { codecs: 'avc1.64001f', bitrate: 1_000_000 };
  const rendition = { name: '720p', kind: 'VIDEO', width: 1280, height: 720, ...rates, files } as const;
  const fixture = { renditions: [rendition], images: new Map(), durationSec: 2 };
  return addVideo(app.container, account, fixture, { visibility: 'PUBLIC', title: 'A film' });
}

test('a video that is taken down is hidden, shows the reason to its owner, and is restored unchanged', async () => {
  const id = await playable();
  const minted = await app.request('POST', `/videos/${id}/playback-tokens`, { key, body: {} });
  const { token } = Object(minted.at('data'));
  assert.equal(typeof token, 'string');
  const addresses = [
    `/watch/${id}`,
    `/embed/${id}`,
    `/v/${id}/master.m3u8`,
    `/v/${id}/master.m3u8?token=${token}`,
    `/v/${id}/${FOLDER}/720p/s_00001.m4s`,
  ];
  const statuses = () =>
    Promise.all(addresses.map(async (address) => (await fetch(app.url + address)).status));
  const listed = async () => (await get(`/channel/${account.id}/videos`)).list('data').length;
  const settled = (status: number) =>
    waitFor(async () => (await statuses()).every((one) => one === status), { message: `${status} for all` });
  await settled(200);
  assert.equal(await listed(), 1);

  const reason = 'The music infringes third-party rights.';
  const done = await json('content', 'takedown', '--id', id, '--reason', reason);
  assert.deepEqual(done, { id, title: 'A film', reason });
  await settled(404);
  assert.equal(await listed(), 0);
  const video = await get(`/videos/${id}`);
  assert.deepEqual(video.at('data.takedown'), { reason, takenDownAt: video.string('data.updatedAt') });
  assert.equal(video.at('data.visibility'), 'PUBLIC');
  const [notice] = await listNotifications(id);
  assert.deepEqual([notice.type, notice.severity], ['video.taken_down', 'CRITICAL']);
  assert.match(notice.body, /"A film".* The music infringes third-party rights\./);
  const mails: unknown = await json('mail', 'list');
  const subjects = Array.isArray(mails) ? mails.map(Object).filter(({ to }) => to === account.email) : [];
  assert.deepEqual(
    subjects.map(({ subject }) => subject),
    [notice.title],
  );

  await json('content', 'restore', '--id', id);
  await settled(200);
  assert.equal((await get(`/videos/${id}`)).at('data.takedown'), null);
  assert.equal((await listNotifications(id)).length, 2);
});

test('a stream that is taken down is ended and cannot be enabled before it is restored', async () => {
  const body = { title: 'A match', autoStart: false };
  const made = (await app.request('POST', '/streams', { key, body })).assertOk(201);
  const id = made.string('data.id');
  (await app.request('POST', `/streams/${id}/start`, { key })).assertOk(200);
  const page = async () => (await fetch(`${app.url}/watch/${id}`)).status;
  assert.equal(await page(), 200);
  const grant = {
    key: made.string('data.streamKey'),
    ip: '127.0.0.1',
    app: 'live',
    protocol: 'rtmp',
  } as const;
  assert.equal((await app.container.signals.authorise(grant))?.streamId, id);

  await json('content', 'takedown', '--id', id, '--reason', 'Not theirs.');
  await waitFor(async () => (await page()) === 404, { message: 'the page is gone' });
  const stream = await get(`/streams/${id}`);
  assert.deepEqual([stream.at('data.enabled'), stream.at('data.isLive')], [false, false]);
  assert.equal(stream.at('data.takedown.reason'), 'Not theirs.');
  assert.equal((await get(`/channel/${account.id}/streams`)).list('data').length, 0);
  assert.equal(await app.container.signals.authorise(grant), null);
  const enable = () => app.request('PATCH', `/streams/${id}`, { key, body: { enabled: true } });
  const refused = await enable();
  refused.assertError('CONFLICT', 'enabled');
  assert.match(refused.string('error.message'), /took the stream down: Not theirs\./);
  (await app.request('POST', `/streams/${id}/start`, { key })).assertError('CONFLICT', 'enabled');

  await json('content', 'restore', '--id', id);
  (await enable()).assertOk(200);
  await waitFor(async () => (await page()) === 200, { message: 'the page is back' });
  assert.deepEqual((await listNotifications(id)).map(({ type }) => type).sort(), [
    'stream.restored',
    'stream.taken_down',
  ]);
});

test('impossible actions are reported', async () => {
  const outcome = async (...args: string[]) => {
    const { code, stdout, stderr } = await runCommand(app, ['content', ...args]);
    assert.equal(stdout, '');
    return [code, stderr.split('\n')[0]];
  };
  const none = 'vid_00000000000000000000000000';
  assert.deepEqual(await outcome('takedown', '--id', none, '--reason', 'x'), [
    1,
    'marquee: Resource not found.',
  ]);
  assert.deepEqual(await outcome('takedown', '--id', none, '--reason', ' '), [
    2,
    'marquee: --reason must have at most 1000 characters; it is shown to the owner',
  ]);
  assert.deepEqual(await outcome('takedown', '--id', 'pl_x', '--reason', 'x'), [
    2,
    'marquee: --id must be a video ID (vid_…) or stream ID (str_…)',
  ]);
  const id = await playable();
  assert.deepEqual(await outcome('restore', '--id', id), [1, 'marquee: The video has not been taken down.']);
});
