import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, mkdtemp, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { TestClock } from '../../../test/harness/clock.ts';
import { waitFor } from '../../../test/harness/wait-for.ts';
import { createLogger } from '../../platform/logger.ts';
import { createSecrets } from '../../platform/secrets.ts';
import { MediaNodeUnavailableError } from '../contract/index.ts';
import { createLastServed } from './last-served.ts';
import { createLocalSource } from './local-source.ts';
import { createNodeClient, type NodeAddress } from './node-client.ts';
import { type NodeServer, startNodeServer } from './node-server.ts';
import { createRemoteSources } from './remote-source.ts';
import { signRequest } from './signature.ts';

const STREAM = 's1';
const PLACE = { streamId: STREAM, epoch: 'e1', rung: 'src', file: 's_000001.m4s' };
const PATH = '/live/s1/e1/src/s_000001.m4s';
const NODE = 'nod_1';
const secrets = createSecrets(Buffer.alloc(32, 1));
const log = createLogger('silent');
const clock = new TestClock('2026-11-20T09:00:00.000Z');
const closers: (() => Promise<void> | void)[] = [];
let folder = '';

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'nodes-'));
  await mkdir(join(folder, 'live', STREAM, 'e1/src'), { recursive: true });
  await writeFile(join(folder, 'live', PATH.slice('/live/'.length)), 'a whole segment');
  await writeFile(join(folder, 'secret.key'), 'secret');
});
after(() => rm(folder, { recursive: true }));
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function serve(
  isLive?: () => boolean | undefined,
): Promise<{ server: NodeServer; node: NodeAddress; stop: () => Promise<void> }> {
  const source = createLocalSource({ liveDir: join(folder, 'live') });
  const server = await startNodeServer({
    source,
    isLive: () => isLive?.(),
    nodeId: NODE,
    secrets,
    clock,
    log,
    host: '127.0.0.1',
    port: 0,
  });
  let stopping: Promise<void> | null = null;
  const stop = () => {
    stopping ??= server.stop();
    return stopping;
  };
  closers.push(stop);
  return { server, stop, node: { nodeId: NODE, url: `http://127.0.0.1:${server.port}` } };
}

function reader() {
  const asked: string[] = [];
  const onAsked = (kind: string, outcome: string) => void asked.push(`${kind} ${outcome}`);
  const remote = createRemoteSources(createNodeClient({ secrets, clock, log, onAsked }));
  closers.push(() => remote.close());
  return { remote, asked };
}

/** Replaces a playlist atomically, as the composer does. */
async function show(text: string, name = 'src.m3u8'): Promise<void> {
  await writeFile(join(folder, 'live', STREAM, 'new'), text);
  await rename(join(folder, 'live', STREAM, 'new'), join(folder, 'live', STREAM, name));
}

test('a client without the key of the installation gets no information', async () => {
  const { node, server } = await serve();
  const status = async (authorization?: string, path = PATH) =>
    (await fetch(node.url + path, authorization === undefined ? {} : { headers: { authorization } })).status;
  const signed = (nodeId = NODE, path = PATH, by = secrets) => signRequest(by, clock, { nodeId, path });
  const good = signed();
  assert.equal(await status(good), 200);
  assert.equal(await status(), 401);
  assert.equal(await status('Marquee'), 401);
  assert.equal(await status(`Marquee ${clock.ms()}.`), 401);
  assert.equal(await status(`${good}x`), 401);
  assert.equal(await status(signed(NODE, PATH, createSecrets(Buffer.alloc(32, 2)))), 401, 'another key');
  assert.equal(await status(signed('nod_2')), 401, 'for another node');
  assert.equal(await status(good, '/live/s1/changes'), 401, 'for another path');
  assert.equal(await status(good, `${PATH}?offset=0&bytes=5`), 401, 'for another query');
  clock.advance(121_000);
  assert.equal(await status(good), 401, 'from long ago');
  assert.equal(server.served.segment, 1, 'what is refused is not looked at');
});

test('paths give access only to live streams', async () => {
  const { node } = await serve();
  const status = async (path: string, method = 'GET') => {
    const authorization = signRequest(secrets, clock, { nodeId: NODE, path });
    // Sent unmodified: `fetch` would normalize the path.
    const asked = request(node.url, { method, path, headers: { authorization } }).end();
    const [answer]: IncomingMessage[] = await once(asked, 'response');
    return answer?.resume().statusCode;
  };
  assert.equal(await status(PATH), 200);
  assert.equal(await status(PATH, 'DELETE'), 405);
  for (const path of [
    '/',
    '/live',
    '/live/s1',
    '/live/s1/state.json',
    '/live/%2e%2e/changes',
    '/live/../changes',
    '/live/s1/e1/../src/s_000001.m4s',
    '/live/s1/..%2f../src/s_000001.m4s',
    '/live/s1/e1/src/secret.key',
    '/live/s1/e1/src/s_000001.m4s.part',
    `${PATH}?offset=-1&bytes=5`,
    `${PATH}?offset=0&bytes=999999999`,
    `${PATH}/more`,
    '/live/s1/changes?x=1',
  ])
    assert.equal(await status(path), 404, path);
});

test('a hundred requests for one resource are sent once', async () => {
  const { node, server } = await serve();
  const { remote, asked } = reader();
  const source = remote.on(node);
  const hundred = Array.from({ length: 100 });
  const files = await Promise.all(hundred.map(() => source.open(PLACE)));
  for (const file of files) assert.equal(String(await file?.read()), 'a whole segment');
  assert.deepEqual(asked, ['segment answered']);
  assert.equal(await source.open({ ...PLACE, file: 's_000009.m4s' }), null);
  assert.equal(String(await source.part(PLACE, { offset: 2, bytes: 5 })), 'whole');
  assert.equal(await source.part(PLACE, { offset: 2, bytes: 500 }), null, 'more than there is');
  assert.equal(await source.picture(STREAM), null);
  const at = clock.now();
  await writeFile(join(folder, 'live', STREAM, 'thumbnail.jpg'), 'picture');
  await utimes(join(folder, 'live', STREAM, 'thumbnail.jpg'), at, at);
  const pictures = await Promise.all(hundred.map(() => source.picture(STREAM)));
  assert.deepEqual(pictures.at(-1), { bytes: Buffer.from('picture'), mtimeMs: at.getTime() });
  assert.ok(server.served.thumbnail <= 3, `${server.served.thumbnail}`);
});

test('texts arrive as they change, by one request, and stay while the node is unavailable', async () => {
  await show('#EXTM3U 1');
  const first = await serve();
  const { remote } = reader();
  const source = remote.on(first.node);
  const text = async (name = 'src.m3u8') => (await source.text(STREAM, name))?.text;
  const texts = await Promise.all(Array.from({ length: 100 }, () => text()));
  assert.ok(texts.every((one) => one === '#EXTM3U 1'));
  const same = await source.text(STREAM, 'src.m3u8');
  await show('#EXTM3U 720', '720.m3u8');
  await waitFor(async () => (await text('720.m3u8')) === '#EXTM3U 720');
  assert.equal(await source.text(STREAM, 'src.m3u8'), same, 'what has not changed is the same object');
  for (let number = 2; number < 6; number += 1) {
    const change = source.next(STREAM);
    await show(`#EXTM3U ${number}`);
    await change;
    await waitFor(async () => (await text()) === `#EXTM3U ${number}`);
  }
  await rm(join(folder, 'live', STREAM, '720.m3u8'));
  await waitFor(async () => (await text('720.m3u8')) === undefined);
  assert.equal(first.server.served.changes, 1);
  await first.stop();
  assert.equal(await text(), '#EXTM3U 5');
  await assert.rejects(() => source.part(PLACE, { offset: 0, bytes: 1 }), MediaNodeUnavailableError);
  await assert.rejects(() => source.open(PLACE), MediaNodeUnavailableError);
  await show('#EXTM3U 6');
  // A node that starts again has another port.
  const again = await serve();
  remote.on(again.node);
  await waitFor(async () => (await text()) === '#EXTM3U 6');
  assert.equal(String(await remote.on(again.node).part(PLACE, { offset: 0, bytes: 1 })), 'a');
});

test('a node with no response or an invalid one counts as unavailable', async () => {
  const strange = createServer((request, response) => {
    if (request.url?.endsWith('/changes')) response.writeHead(200).end('{"texts": 1}\n');
    else response.writeHead(500).end();
  });
  await new Promise<void>((resolve) => strange.listen(0, '127.0.0.1', resolve));
  closers.push(() => void strange.close());
  const address = strange.address();
  assert.ok(address !== null && typeof address === 'object');
  const { remote, asked } = reader();
  const source = remote.on({ nodeId: NODE, url: `http://127.0.0.1:${address.port}` });
  assert.equal(await source.text(STREAM, 'src.m3u8'), null);
  await assert.rejects(() => source.part(PLACE, { offset: 0, bytes: 1 }), MediaNodeUnavailableError);
  assert.ok(asked.includes('changes away') && asked.includes('part away'));
});

test('segment numbers of a stream continue after those of another node', async () => {
  await show(
    [
      ...[
        '#EXTM3U',
        '#EXT-X-TARGETDURATION:4',
        '#EXT-X-MEDIA-SEQUENCE:40',
        '#EXT-X-DISCONTINUITY-SEQUENCE:3',
      ],
      ...['#EXT-X-MAP:URI="../e1/src/init.mp4"', '#EXT-X-PROGRAM-DATE-TIME:2026-11-20T09:00:00.000Z'],
      ...['#EXTINF:2.000000,', '../e1/src/s_000001.m4s', ''],
    ].join('\n'),
  );
  const { node, stop } = await serve();
  const { remote } = reader();
  const sourceOf = async () => remote.on(node);
  const numbers = createLastServed({ before: async () => node, sourceOf, clock });
  const shown = await numbers(STREAM, 0);
  assert.ok(shown !== null && shown.seq > 40 && shown.seq < 50, `${shown?.seq}`);
  assert.deepEqual([shown.disc, shown.epoch], [3, NODE]);
  await stop();
  const other = reader();
  const guess = createLastServed({
    before: async () => node,
    sourceOf: async () => other.remote.on(node),
    clock,
  });
  const first = await guess(STREAM, 0);
  clock.advance(2000);
  const second = await guess(STREAM, 0);
  assert.ok(first !== null && second !== null && first.seq > shown.seq && second.seq > first.seq + 1);
  assert.equal(await createLastServed({ before: async () => undefined, sourceOf, clock })(STREAM, 0), null);
});

test('a node pushes the state of a broadcast until it falls silent', async () => {
  let isLive: boolean | undefined;
  const { node, stop } = await serve(() => isLive);
  const { remote } = reader();
  const known = () => remote.isLive(node, STREAM);
  assert.equal(known(), null, 'nothing was received yet');
  await remote.on(node).text(STREAM, 'src.m3u8');
  assert.equal(known(), null, 'the node has not read it yet');
  isLive = true;
  await waitFor(() => known() === true);
  isLive = false;
  await waitFor(() => known() === false);
  await stop();
  await waitFor(() => known() === null, { message: 'a node that does not respond tells nothing' });
});
