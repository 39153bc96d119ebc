import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { waitFor } from '../../../test/harness/wait-for.ts';
import { RtmpClient } from '../../../test/rtmp/client.ts';
import {
  grantByName,
  openPublisher,
  REFUSED,
  STARTED,
  sendHeaders,
  startIngest,
  UNAVAILABLE,
} from '../../../test/rtmp/ingest.ts';
import {
  AVC_360P30,
  AVC_1080P60,
  audioFrame,
  metadata,
  videoFrame,
  videoHeader,
} from '../../../test/rtmp/media.ts';

for (const [what, properties] of [
  ['no tcUrl', { app: 'live' }],
  ['a garbage tcUrl', { app: 'live', tcUrl: 'notaurl' }],
  ['a tcUrl that is not text', { app: 'live/', tcUrl: 7 }],
] as const) {
  test(`connect with ${what} is accepted`, async (t) => {
    const ingest = await startIngest(t);
    const client = await RtmpClient.handshaken(ingest.port);
    t.after(() => client.destroy());
    client.command(0, 'connect', 1, [properties]);
    assert.ok(await client.reply((reply) => reply.code === 'NetConnection.Connect.Success'));
    assert.equal(await client.publish('key-a'), STARTED);
  });
}

test('connect names all codecs accepted in enhanced RTMP', async (t) => {
  const ingest = await startIngest(t);
  const client = await RtmpClient.connected(ingest.port);
  t.after(() => client.destroy());
  const [reply] = client.replies();
  const { fourCcList } = Object(reply?.args.at(-1));
  assert.deepEqual(fourCcList, ['avc1', 'hvc1', 'av01', 'vp09', 'mp4a', 'Opus']);
});

test('the publish is acknowledged only after the key check and the start hook', async (t) => {
  const order: string[] = [];
  const ingest = await startIngest(
    t,
    {},
    {
      authorise: async (request) => {
        await sleep(60);
        order.push('authorised');
        return grantByName(request);
      },
      onStart: async () => {
        await sleep(60);
        order.push('started');
      },
    },
  );
  const client = await RtmpClient.connected(ingest.port);
  t.after(() => client.destroy());
  assert.equal(await client.publish('key-a?token=1'), STARTED);
  order.push('acknowledged');
  assert.deepEqual(order, ['authorised', 'started', 'acknowledged']);
  const [call] = ingest.calls;
  assert.ok(call?.hook === 'authorise');
  assert.deepEqual(call.request, { app: 'live', key: 'key-a', ip: '127.0.0.1', protocol: 'rtmp' });
  assert.deepEqual(
    ingest.engine.list().map((session) => session.streamId),
    ['str_a'],
  );
});

test('a rejected key is refused by BadName, starts nothing, and its media is ignored', async (t) => {
  const ingest = await startIngest(t);
  const client = await RtmpClient.connected(ingest.port);
  client.media('video', 0, videoHeader(AVC_360P30));
  client.media('data', 0, metadata({ width: 6666 }));
  const answer = client.publish('wrong');
  sendHeaders(client);
  client.media('video', 0, videoFrame(true));
  assert.equal(await answer, REFUSED);
  client.media('video', 40, videoFrame(true));
  await client.closedSoon();
  assert.deepEqual(
    ingest.calls.map((call) => call.hook),
    ['authorise'],
  );
  assert.deepEqual(ingest.engine.list(), []);
});

test('an authorize hook that fails or hangs rejects, and not because of the key', async (t) => {
  const limits = { authoriseMs: 50 };
  const failing = await startIngest(t, { limits }, { authorise: () => Promise.reject(new Error('down')) });
  const first = await RtmpClient.connected(failing.port);
  assert.equal(await first.publish('key-a'), UNAVAILABLE);
  const hanging = await startIngest(t, { limits }, { authorise: () => new Promise(() => {}) });
  const second = await RtmpClient.connected(hanging.port);
  assert.equal(await second.publish('key-a'), UNAVAILABLE);
  await Promise.all([first.closedSoon(), second.closedSoon()]);
});

test('an authorize hook that fails for a moment is asked again', async (t) => {
  let isDown = true;
  const authorise = async () => {
    if (!isDown) return { streamId: 'a', maxHeight: 720, maxFps: 60 };
    isDown = false;
    throw new Error('down');
  };
  const ingest = await startIngest(t, {}, { authorise });
  const client = await RtmpClient.connected(ingest.port);
  assert.equal(await client.publish('key-a'), 'NetStream.Publish.Start');
});

test('a start hook that fails refuses, and no end is reported', async (t) => {
  const ingest = await startIngest(t, {}, { onStart: () => Promise.reject(new Error('no database')) });
  const client = await RtmpClient.connected(ingest.port);
  assert.equal(await client.publish('key-a'), REFUSED);
  await client.closedSoon();
  assert.deepEqual(ingest.ends(), []);
  assert.deepEqual(ingest.engine.list(), []);
});

test('media sent before Publish.Start waits for the acceptance and is then used', async (t) => {
  const gate = Promise.withResolvers<void>();
  const ingest = await startIngest(
    t,
    {},
    {
      authorise: async (request) => {
        await gate.promise;
        return grantByName(request);
      },
    },
  );
  const client = await RtmpClient.connected(ingest.port);
  t.after(() => client.destroy());
  const answer = client.publish('key-a');
  sendHeaders(client);
  client.media('video', 0, videoFrame(true, 300_000));
  await waitFor(() => ingest.calls.length === 1);
  gate.resolve();
  assert.equal(await answer, STARTED);
  const session = await waitFor(() => ingest.sessions('media')[0]);
  assert.equal(session.video?.width, 640);
});

test('a player is rejected, and its messages are not forwarded', async (t) => {
  const ingest = await startIngest(t);
  const encoder = await openPublisher(t, ingest.port, 'key-a');
  const player = await RtmpClient.connected(ingest.port);
  player.command(0, 'createStream', 2, [null]);
  player.command(1, 'play', 3, [null, 'key-a']);
  player.media('data', 0, metadata({ width: 6666, height: 6666 }));
  player.media('video', 0, videoHeader(AVC_1080P60));
  player.media('video', 0, videoFrame(true));
  const refusal = await player.reply((reply) => reply.name === 'onStatus');
  assert.equal(refusal?.code, 'NetStream.Play.StreamNotFound');
  await player.closedSoon();
  sendHeaders(encoder);
  encoder.media('video', 0, videoFrame(true));
  const session = await waitFor(() => ingest.sessions('media')[0]);
  assert.deepEqual(session.video, { codec: 'avc1.42c01e', width: 640, height: 360, fps: 30 });
  assert.deepEqual(session.audio, { codec: 'mp4a.40.2', sampleRate: 48000, channels: 2 });
  assert.equal(ingest.sessions('media').length, 1);
});

test('publish before connect, connect twice and publish twice end the connection', async (t) => {
  const ingest = await startIngest(t);
  const early = await RtmpClient.handshaken(ingest.port);
  early.command(0, 'publish', 2, [null, 'key-a']);
  await early.closedSoon();
  const twice = await RtmpClient.connected(ingest.port);
  twice.command(0, 'connect', 2, [{ app: 'live' }]);
  await twice.closedSoon();
  assert.deepEqual(ingest.calls, []);
  const again = await openPublisher(t, ingest.port, 'key-a');
  again.command(1, 'publish', 6, [null, 'key-b']);
  await again.closedSoon();
  assert.equal(ingest.ends()[0]?.reason, 'closed');
  assert.equal(ingest.sessions('start').length, 1);
});

test('another app, an empty key and an endless key are refused without asking', async (t) => {
  const ingest = await startIngest(t);
  const client = await RtmpClient.handshaken(ingest.port);
  client.command(0, 'connect', 1, [{ app: 'vod' }]);
  assert.ok(await client.reply((reply) => reply.code === 'NetConnection.Connect.InvalidApp'));
  for (const key of ['', '?', 'x'.repeat(257)]) {
    const other = await RtmpClient.connected(ingest.port);
    assert.equal(await other.publish(key), REFUSED);
  }
  assert.deepEqual(ingest.calls, []);
});

test('an app of many slashes does not block other connections', async (t) => {
  const ingest = await startIngest(t);
  const client = await RtmpClient.handshaken(ingest.port);
  const begun = performance.now();
  client.command(0, 'connect', 1, [{ app: `${'/'.repeat(65_000)}x` }]);
  assert.ok(await client.reply((reply) => reply.code === 'NetConnection.Connect.InvalidApp'));
  const ms = performance.now() - begun;
  assert.ok(ms < 1000, `${ms} ms`);
});

test('unknown commands are ignored', async (t) => {
  const ingest = await startIngest(t);
  const client = await RtmpClient.connected(ingest.port);
  t.after(() => client.destroy());
  client.command(0, '_checkbw', 9, [null]);
  client.command(0, 'nonsense', 10, [{ a: 1 }]);
  assert.equal(await client.publish('key-a'), STARTED);
});

for (const name of ['FCUnpublish', 'deleteStream', 'closeStream']) {
  test(`${name} is a clean end, reported once`, async (t) => {
    const ingest = await startIngest(t);
    const client = await openPublisher(t, ingest.port, 'key-a');
    client.command(name === 'FCUnpublish' ? 0 : 1, name, 6, [null, name === 'deleteStream' ? 1 : 'key-a']);
    client.command(0, 'deleteStream', 7, [null, 1]);
    await waitFor(() => ingest.ends().length > 0);
    await client.closedSoon();
    assert.deepEqual(
      ingest.ends().map((end) => end.reason),
      ['unpublish'],
    );
  });
}

for (const [how, cut] of [
  ['RST', (client: RtmpClient) => client.reset()],
  ['FIN', (client: RtmpClient) => client.destroy()],
] as const) {
  test(`a connection that breaks (${how}) is reported immediately`, async (t) => {
    const ingest = await startIngest(t);
    const client = await openPublisher(t, ingest.port, 'key-a');
    const at = performance.now();
    cut(client);
    await waitFor(() => ingest.ends().length > 0);
    assert.ok(performance.now() - at < 500, 'within half a second');
    assert.equal(ingest.ends()[0]?.reason, 'closed');
    assert.deepEqual(ingest.engine.list(), []);
  });
}

test('a publisher that stays silent ends as idle, and metadata is not media', async (t) => {
  const ingest = await startIngest(t, { limits: { idleMs: 300 } });
  const client = await openPublisher(t, ingest.port, 'key-a');
  sendHeaders(client);
  const at = performance.now();
  const chatter = setInterval(() => client.media('data', 0, metadata({ width: 640 })), 50);
  t.after(() => clearInterval(chatter));
  await waitFor(() => ingest.ends().length > 0);
  assert.ok(performance.now() - at >= 250, 'not before its time');
  assert.equal(ingest.ends()[0]?.reason, 'idle');
  await client.closedSoon();
});

test('media keeps a publish alive past the idle time', async (t) => {
  const ingest = await startIngest(t, { limits: { idleMs: 200 } });
  const client = await openPublisher(t, ingest.port, 'key-a');
  for (let i = 0; i < 10; i++) {
    client.media('audio', i * 50, audioFrame());
    await sleep(50);
  }
  assert.deepEqual(ingest.ends(), []);
  assert.equal(ingest.engine.list().length, 1);
});

test('a second encoder takes the stream over while the first is silent', async (t) => {
  const ingest = await startIngest(t);
  const old = await openPublisher(t, ingest.port, 'key-a-1');
  const next = await openPublisher(t, ingest.port, 'key-a-2');
  await old.closedSoon();
  const hooks = ingest.calls.filter((call) => call.hook !== 'authorise').map((call) => call.hook);
  assert.deepEqual(hooks, ['start', 'end', 'start']);
  assert.equal(ingest.ends()[0]?.reason, 'replaced');
  const [first, second] = ingest.sessions('start');
  assert.notEqual(first?.sessionId, second?.sessionId);
  assert.deepEqual(
    ingest.engine.list().map((session) => session.sessionId),
    [second?.sessionId],
  );
  assert.equal(next.isClosed, false);
});

test('concurrent encoders are accepted one after another, each with one start and one end', async (t) => {
  const ingest = await startIngest(t, {}, { onStart: () => sleep(10) });
  const clients = await Promise.all(Array.from({ length: 6 }, () => RtmpClient.connected(ingest.port)));
  t.after(() => {
    for (const client of clients) client.destroy();
  });
  await Promise.all(clients.map((client, index) => client.publish(`key-a-${index}`)));
  const hooks = ingest.calls.filter((call) => call.hook === 'start' || call.hook === 'end');
  assert.deepEqual(
    hooks.map((call) => call.hook),
    [...Array.from({ length: 5 }, () => ['start', 'end']).flat(), 'start'],
  );
  assert.equal(ingest.engine.list().length, 1);
});

test('an encoder that disconnects while its key is checked neither starts nor replaces', async (t) => {
  const gate = Promise.withResolvers<void>();
  const ingest = await startIngest(
    t,
    {},
    {
      authorise: async (request) => {
        if (request.key === 'key-a-2') await gate.promise;
        return grantByName(request);
      },
    },
  );
  const old = await openPublisher(t, ingest.port, 'key-a-1');
  const client = await RtmpClient.connected(ingest.port);
  const answer = client.publish('key-a-2');
  await waitFor(() => ingest.calls.length === 3);
  client.reset();
  assert.equal(await answer.catch(() => 'closed'), 'closed');
  // A complete publish on another connection proves that the server has seen the reset.
  await openPublisher(t, ingest.port, 'key-b');
  gate.resolve();
  await openPublisher(t, ingest.port, 'key-c');
  assert.deepEqual(
    ingest.sessions('start').map((session) => session.streamId),
    ['str_a', 'str_b', 'str_c'],
  );
  assert.deepEqual(ingest.ends(), []);
  assert.equal(old.isClosed, false);
});

test('an encoder that disconnects while it replaces another does not start', async (t) => {
  const gate = Promise.withResolvers<void>();
  const ingest = await startIngest(t, {}, { onEnd: () => gate.promise });
  await openPublisher(t, ingest.port, 'key-a-1');
  const client = await RtmpClient.connected(ingest.port);
  const answer = client.publish('key-a-2').catch(() => 'closed');
  await waitFor(() => ingest.ends().length === 1);
  client.reset();
  assert.equal(await answer, 'closed');
  await openPublisher(t, ingest.port, 'key-b');
  gate.resolve();
  await openPublisher(t, ingest.port, 'key-c');
  assert.deepEqual(
    ingest.sessions('start').map((session) => session.streamId),
    ['str_a', 'str_b', 'str_c'],
  );
});

test('an encoder that disconnects during the start hook is ended after it', async (t) => {
  const gate = Promise.withResolvers<void>();
  const ingest = await startIngest(t, {}, { onStart: () => gate.promise });
  const client = await RtmpClient.connected(ingest.port);
  const answer = client.publish('key-a').catch(() => 'closed');
  await waitFor(() => ingest.sessions('start').length === 1);
  client.reset();
  assert.equal(await answer, 'closed');
  assert.deepEqual(ingest.ends(), []);
  gate.resolve();
  await waitFor(() => ingest.ends().length === 1);
  assert.equal(ingest.ends()[0]?.reason, 'closed');
});

test('kick ends one publish, stop ends all, each with its reason', async (t) => {
  const ingest = await startIngest(t);
  const first = await openPublisher(t, ingest.port, 'key-a');
  const second = await openPublisher(t, ingest.port, 'key-b');
  const [a] = ingest.sessions('start');
  assert.ok(a);
  await ingest.engine.kick(a.sessionId, 'kicked');
  assert.deepEqual(
    ingest.ends().map((end) => [end.streamId, end.reason]),
    [['str_a', 'kicked']],
  );
  await first.closedSoon();
  await ingest.engine.stop();
  await second.closedSoon();
  assert.equal(ingest.ends()[1]?.reason, 'shutdown');
});
