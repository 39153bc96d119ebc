import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { ingestSession } from '../../../../test/harness/factories.ts';
import { waitFor } from '../../../../test/harness/wait-for.ts';
import { call, createSession, offsetOf, PATCH, patch, TUS } from '../../../../test/uploads/fixture.ts';
import { addVideo, FOLDER, madeUpFiles } from '../../../../test/videos/fixture.ts';
import { newId } from '../../../kernel/ids.ts';
import { commands } from '../../../main/cli-commands.ts';

let first: TestApp;
let second: TestApp;

before(async () => {
  first = await startTestApp();
  second = await startTestApp({ beside: first });
});
after(async () => {
  await second.close();
  await first.close();
});

async function operator(verb: 'suspend' | 'unsuspend', email: string): Promise<void> {
  const command = commands.get(`account ${verb}`);
  assert.ok(command !== undefined);
  await command.run(first.container, { email }, []);
}

type Made = Awaited<ReturnType<TestApp['createKey']>>;

/** Returns a path of every kind that is reachable without a key. */
async function publicPaths({ account, key }: Made): Promise<string[]> {
  const video = await addVideo(first.container, account, madeUpFiles());
  const hidden = await addVideo(first.container, account, madeUpFiles(), { visibility: 'PRIVATE' });
  const minted = await first.request('POST', `/videos/${hidden}/playback-tokens`, { key });
  const token = `?token=${minted.assertOk(201).string('data.token')}`;
  const stream = (await first.request('POST', '/streams', { key, body: { title: 'Launch' } })).string(
    'data.id',
  );
  (await first.request('POST', `/streams/${stream}/start`, { key })).assertOk(200);
  const avatar = newId('ava');
  const image = { id: avatar, account_id: account.id, image: Buffer.from('RIFF'), created_at: new Date() };
  await first.container.db.insertInto('avatar').values(image).execute();
  return [
    `/watch/${video}`,
    `/embed/${video}`,
    `/v/${video}/master.m3u8`,
    `/v/${video}/${FOLDER}/360p/s_00001.m4s`,
    `/v/${video}/${FOLDER}/img/poster.jpg`,
    `/watch/${hidden}${token}`,
    `/v/${hidden}/master.m3u8${token}`,
    `/v/${hidden}/${FOLDER}/360p/s_00001.m4s${token}`,
    `/watch/${stream}`,
    `/embed/${stream}`,
    `/live/${stream}/master.m3u8`,
    `/api/v1/videos/${video}/related`,
    `/oembed?url=${encodeURIComponent(`http://marquee.test/watch/${video}`)}`,
    `/avatars/${avatar}.webp`,
  ];
}

/** Returns the responses of both nodes whose status is not `status`. */
async function otherThan(status: number, paths: readonly string[]): Promise<string[]> {
  const asked = [first, second].flatMap((app) => paths.map((path) => app.url + path));
  const answers = await Promise.all(
    asked.map(async (url) => {
      const answer = await fetch(url);
      await answer.arrayBuffer();
      return answer.status === status ? [] : [`${answer.status} ${url}`];
    }),
  );
  return answers.flat();
}

async function allAnswer(status: number, paths: readonly string[]): Promise<void> {
  let left: string[] = [];
  await waitFor(
    async () => {
      left = await otherThan(status, paths);
      return left.length === 0;
    },
    { timeoutMs: 15_000, message: () => `${status} everywhere, but: ${left.join(', ')}` },
  );
}

test('content of a suspended account is hidden on every node, and restored afterwards', async () => {
  const made = await first.createKey();
  const paths = await publicPaths(made);
  assert.deepEqual(await otherThan(200, paths), []);
  await operator('suspend', made.account.email);
  await allAnswer(404, paths);
  for (const app of [first, second]) {
    (await app.request('GET', '/me', { key: made.key })).assertError('KEY_DISABLED');
  }
  await operator('unsuspend', made.account.email);
  await allAnswer(200, paths);
  for (const app of [first, second]) (await app.request('GET', '/me', { key: made.key })).assertOk(200);
});

test('a suspension does not affect other accounts', async () => {
  const [made, other] = [await first.createKey(), await first.createKey()];
  const paths = await publicPaths(other);
  await operator('suspend', made.account.email);
  (await second.request('GET', '/me', { key: made.key })).assertError('KEY_DISABLED');
  assert.deepEqual(await otherThan(200, paths), []);
});

test('event streams on another node end', async () => {
  const { account, key } = await first.createKey();
  const tail = await fetch(`${second.url}/api/v1/me/events/stream`, { headers: { 'x-api-key': key } });
  assert.equal(tail.status, 200);
  const read = tail.text();
  await operator('suspend', account.email);
  assert.match(await read, /event: bye\ndata: \{"reason":"KEY_REVOKED","reconnect":false\}/);
});

test('an encoder is disconnected, and rejected until the suspension is lifted', async () => {
  const { account, key } = await first.createKey();
  const made = (await first.request('POST', '/streams', { key, body: { title: 'Launch' } })).assertOk(201);
  const { signals } = second.container;
  const authorise = () =>
    signals.authorise({
      key: made.string('data.streamKey'),
      ip: '192.0.2.1',
      app: 'live',
      protocol: 'rtmp',
    });
  const session = ingestSession(made.string('data.id'));
  assert.notEqual(await authorise(), null);
  await signals.publishStarted(session);
  const cutOff = () => signals.heartbeat(session.nodeId, [session.sessionId]);
  assert.deepEqual(await cutOff(), []);
  await operator('suspend', account.email);
  assert.deepEqual(await cutOff(), [session.sessionId]);
  assert.equal(await authorise(), null);
  await operator('unsuspend', account.email);
  assert.notEqual(await authorise(), null);
});

test('an upload on another node is aborted and can be resumed afterwards', async () => {
  const { account, key } = await first.createKey();
  const session = await createSession(first, key, { sizeBytes: 10 });
  const url = session.url.replace(first.url, second.url);
  assert.equal((await patch(url, 0, 'abc')).status, 204);
  let isCut = false;
  async function* slow() {
    yield Buffer.from('d');
    // The rest would arrive if the test waited.
    for (let i = 0; !isCut && i < 600; i++) await sleep(50);
    yield Buffer.from('efghij');
  }
  const running = call(url, 'PATCH', { ...PATCH, 'upload-offset': '3' }, slow()).then(
    ({ status }) => status,
    () => null,
  );
  const broken = running.finally(() => {
    isCut = true;
  });
  await waitFor(async () => {
    const row = await first.container.db
      .selectFrom('upload')
      .select('writer')
      .where('id', '=', session.id)
      .executeTakeFirstOrThrow();
    return row.writer !== null;
  });
  await operator('suspend', account.email);
  assert.notEqual(await broken, 204);
  assert.equal((await call(url, 'HEAD', TUS)).status, 404);
  assert.equal((await patch(session.url, 3, 'd')).status, 404);
  await operator('unsuspend', account.email);
  const offset = await offsetOf(url);
  assert.ok(offset >= 3 && offset < 10, String(offset));
  assert.equal((await patch(url, offset, 'abcdefghij'.slice(offset))).status, 204);
  const state = await first.request('GET', `/upload/${session.id}`, { key });
  assert.equal(state.at('data.status'), 'COMPLETED');
});
