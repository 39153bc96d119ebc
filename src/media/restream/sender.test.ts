import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { before, test } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { createTestCa, type TestCa } from '../../../test/harness/certificates.ts';
import { freePort } from '../../../test/harness/platform.ts';
import { waitFor } from '../../../test/harness/wait-for.ts';
import { LOOPBACK, type SentBroadcast, startBroadcast, wanted } from '../../../test/restream/broadcast.ts';
import {
  countFrames,
  NO_NGINX_RTMP,
  startNginxRtmp,
  startSrtListener,
  startTcp,
} from '../../../test/restream/destinations.ts';
import { openFlv } from '../../../test/rtmp/flv-reader.ts';
import { startIngest } from '../../../test/rtmp/ingest.ts';
import type { FlvTag } from '../../../test/rtmp/media.ts';
import { createOutbound } from '../../platform/outbound/index.ts';

let ca: TestCa;
before(async () => {
  ca = await createTestCa();
  setDefaultCACertificates([...getCACertificates('default'), ca.pem]);
  return () => ca.close();
});

const sends = ({ last }: SentBroadcast, ...ids: string[]) =>
  waitFor(() => ids.every((id) => last(id)?.state === 'BROADCASTING'), {
    timeoutMs: 15_000,
    message: () => JSON.stringify(ids.map((id) => last(id))),
  });
const fails = ({ last }: SentBroadcast, id: string, message: RegExp, severity = 'NORMAL') =>
  waitFor(() => last(id)?.severity === severity && message.test(last(id)?.message ?? ''), {
    timeoutMs: 15_000,
    message: () => `${id} ${severity} ${message}: ${JSON.stringify(last(id))}`,
  });

const PASSPHRASE = 'a-long-passphrase';

/** Returns the hashes of the video frames. */
function pictures(tags: FlvTag[]): string[] {
  const frames = tags.filter(({ type, payload }) => type === 9 && payload[1] === 1);
  return frames.map(({ payload }) => createHash('sha256').update(payload).digest('hex'));
}

test('nginx, our own ingest over TLS and an SRT listener receive every frame', {
  skip: NO_NGINX_RTMP,
}, async (t) => {
  const broadcast = await startBroadcast(t);
  const { sender, ingest, publish } = broadcast;
  const nginx = await startNginxRtmp(t);
  const tls = { port: 0, ...(await ca.issue(['127.0.0.1'])) };
  const own = await startIngest(t, { tls });
  const srtPort = await freePort();
  const heard = countFrames(`srt://127.0.0.1:${srtPort}?mode=listener`, 2, ['-f', 'mpegts']);
  const sealedPort = await freePort();
  const listener = `srt://127.0.0.1:${sealedPort}?mode=listener&passphrase=${PASSPHRASE}`;
  const unsealed = countFrames(listener, 2, ['-f', 'mpegts']);
  publish();
  sender.want([
    wanted('nginx', nginx.url),
    wanted('own', `rtmps://127.0.0.1:${own.engine.ports.rtmps}/live`, { streamKey: 'key-far' }),
    wanted('srt', `srt://127.0.0.1:${srtPort}?latency=300`, { streamKey: '#!::r=live/one,m=publish' }),
    wanted('sealed', `srt://127.0.0.1:${sealedPort}?pbkeylen=32`, { passphrase: PASSPHRASE }),
  ]);
  const [near, far] = await Promise.all([
    waitFor(() => ingest.sessions('media')[0], { timeoutMs: 15_000 }),
    waitFor(() => own.sessions('media')[0], { timeoutMs: 15_000 }),
  ]);
  const [sent, taken] = [openFlv(ingest.engine, near), openFlv(own.engine, far)];
  t.after(() => [sent, taken].map((reader) => reader.destroy()));
  assert.equal(await nginx.countFrames('nginx', 2), 60);
  assert.equal(await heard, 60);
  assert.equal(await unsealed, 60, 'a listener with the passphrase reads what is encrypted');
  await sends(broadcast, 'nginx', 'own');
  await waitFor(() => pictures(taken.tags()).length > 60);
  const all = pictures(taken.tags());
  await waitFor(() => pictures(sent.tags()).includes(all.at(-1) ?? ''));
  const from = pictures(sent.tags());
  const first = all.find((picture) => from.includes(picture)) ?? '';
  const there = all.slice(all.indexOf(first));
  assert.ok(there.length > 30);
  assert.deepEqual(there, from.slice(from.indexOf(first)).slice(0, there.length));
  assert.ok(sender.bitrates().length >= 2);
  // The end is announced in the way an encoder does.
  sender.want([]);
  await waitFor(() => own.ends()[0]?.reason === 'unpublish');
});

test('permanent failures are reported in words, not retried in a tight loop, and do not affect other targets', async (t) => {
  let address = '127.0.0.1';
  const outbound = { ...LOOPBACK, resolve: async () => [address] };
  const broadcast = await startBroadcast(t, { outbound });
  const { sender, publish } = broadcast;
  const own = await startIngest(t);
  const url = (port: number) => `rtmp://127.0.0.1:${port}/live`;
  const good = url(own.port);
  const hangsUp = await startTcp(t, (socket) => socket.once('data', () => socket.end()));
  const talksHttp = await startTcp(t, (socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  const floods = await startTcp(t, (socket) => {
    const flood = Buffer.alloc(3073, 3);
    const more = () => socket.writable && socket.write(flood, more);
    more();
  });
  const nobody = await freePort();
  const sealed = await startSrtListener(t, `passphrase=${PASSPHRASE}`);
  const open = await startSrtListener(t, 'transtype=live');
  publish();
  sender.want([
    wanted('no-passphrase', sealed),
    wanted('other-passphrase', `${sealed}?pbkeylen=24`, { passphrase: 'another passphrase' }),
    wanted('not-asked', open, { passphrase: PASSPHRASE }),
    wanted('good', good, { streamKey: 'key-good' }),
    wanted('bad-key', good, { streamKey: 'wrong' }),
    wanted('bad-app', `rtmp://127.0.0.1:${own.port}/nothing`),
    wanted('hangs-up', url(hangsUp)),
    wanted('http', url(talksHttp)),
    wanted('floods', url(floods)),
    wanted('nobody', url(nobody)),
    wanted('plain', `rtmps://127.0.0.1:${own.port}/live`),
    wanted('private', 'rtmp://10.1.2.3/live'),
    wanted('turns', `rtmp://destination.example.com:${own.port}/live`, { streamKey: 'key-turns' }),
  ]);
  await sends(broadcast, 'good', 'turns');
  await fails(broadcast, 'bad-key', /rejected the stream key/, 'FATAL');
  await fails(broadcast, 'hangs-up', /connection/);
  await fails(broadcast, 'http', /did not return a valid RTMP response/);
  await fails(broadcast, 'floods', /did not return a valid RTMP response/);
  await fails(broadcast, 'nobody', /ECONNREFUSED/);
  await fails(broadcast, 'plain', /TLS|SSL|certificate|connection/i);
  await fails(broadcast, 'private', /private address/, 'FATAL');
  await fails(broadcast, 'no-passphrase', /passphrase/, 'FATAL');
  await fails(broadcast, 'other-passphrase', /rejected the passphrase/, 'FATAL');
  await fails(broadcast, 'not-asked', /passphrase/, 'FATAL');
  assert.ok(!JSON.stringify(broadcast.reports).includes(PASSPHRASE));
  const asked = own.calls.filter((call) => call.hook === 'authorise' && call.request.key === 'wrong');
  assert.equal(asked.length, 3);
  assert.ok(!JSON.stringify(broadcast.reports).includes('wrong'), 'no report has a key');

  // The name now resolves to another host: the existing connection continues, and a new one is rejected.
  address = '10.0.0.1';
  const turned = waitFor(() => own.engine.list().find(({ streamId }) => streamId === 'str_turns'));
  await own.engine.kick((await turned).sessionId, 'kicked');
  await fails(broadcast, 'turns', /private address/, 'FATAL');
  assert.equal(broadcast.last('good')?.state, 'BROADCASTING');
  assert.equal(broadcast.reports.filter(({ targetId }) => targetId === 'good').length, 2, 'never disturbed');

  // Another revision is another try.
  sender.want([wanted('bad-key', good, { revision: 2, streamKey: 'key-b' })]);
  await sends(broadcast, 'bad-key');
});

test('a codec that a platform does not support is reported before an attempt', async (t) => {
  const broadcast = await startBroadcast(t);
  broadcast.publish({ extraArgs: ['-c:v', 'flv1'] });
  broadcast.sender.want([
    wanted('x', 'rtmps://live.twitch.tv/app', { platform: 'TWITCH' }),
    wanted('srt', 'srt://127.0.0.1:9'),
  ]);
  await fails(broadcast, 'x', /TWITCH does not support h263/, 'FATAL');
  await fails(broadcast, 'srt', /SRT destination does not support h263/, 'FATAL');
  assert.ok(!broadcast.reports.some(({ state }) => state === 'CONNECTING'));
});

test('destinations stay connected for an encoder that reconnects', async (t) => {
  const broadcast = await startBroadcast(t);
  const own = await startIngest(t);
  const first = broadcast.publish();
  broadcast.sender.want([wanted('far', `rtmp://127.0.0.1:${own.port}/live`, { streamKey: 'key-far' })]);
  await sends(broadcast, 'far');
  const reader = openFlv(own.engine, own.engine.list()[0] ?? assert.fail());
  first.kill('SIGKILL');
  await waitFor(() => broadcast.ingest.ends().length === 1);
  const before = await waitFor(() =>
    reader
      .tags()
      .filter(({ type }) => type === 9)
      .at(-1),
  );
  broadcast.publish();
  const later = await waitFor(() => {
    const tags = reader.tags().filter(({ type }) => type === 9);
    const keyframe = tags.findIndex((tag) => tag.timestamp > before.timestamp && tag.payload[0] === 0x17);
    return keyframe > 0 ? tags[keyframe] : null;
  });
  assert.ok(later.timestamp - before.timestamp < 60_000);
  assert.deepEqual(
    broadcast.reports.map(({ state }) => state),
    ['CONNECTING', 'BROADCASTING'],
  );
  assert.equal(own.sessions('start').length, 1);
});

test('a checked address is the one that is dialled', async (t) => {
  const port = await startTcp(t, (socket) => void socket.end('hello'));
  const outbound = createOutbound({ ...LOOPBACK, resolve: async () => ['127.0.0.1'] });
  t.after(() => outbound.close());
  const dial = (url: string, tls = false) => outbound.connect({ url, port, tls, timeoutMs: 5000 });
  const socket = await dial('https://destination.example.com/');
  assert.equal(socket.remoteAddress, '127.0.0.1');
  socket.destroy();
  for (const host of [
    '10.0.0.1',
    '0x0a.1',
    '[::ffff:10.0.0.1]',
    '[fe80::1]',
    'printer.local',
    '100.64.0.1',
  ]) {
    await assert.rejects(dial(`https://${host}/`), /ssrf_guard/, host);
    await assert.rejects(
      outbound.datagrams({ url: `https://${host}/`, port, timeoutMs: 5000 }),
      /ssrf_guard/,
    );
  }
});
