import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startBridge } from '../../../test/bridges/bridge.ts';
import { until } from '../../../test/harness/wait.ts';
import { NO_NGINX_RTMP, startNginxRtmp, startTcp } from '../../../test/restream/far-ends.ts';
import { startPublisher } from '../../../test/rtmp/publisher.ts';

const FPS = 15;

test('a stream of an RTMP server is taken, ends with it, and comes back', {
  skip: NO_NGINX_RTMP,
}, async (t) => {
  const nginx = await startNginxRtmp(t);
  const url = `${nginx.url}/a-secret-name`;
  const publish = () =>
    startPublisher({ url, width: 320, height: 180, fps: FPS, bitrateKbps: 200, gopSec: 1 });
  let encoder = publish();
  t.after(() => encoder.kill('SIGKILL'));
  await until(async () => (await nginx.stream('a-secret-name'))?.publishing === true, { timeoutMs: 10_000 });
  const once = await startBridge(t, url);
  const again = await startBridge(t, url, { autoRestart: true });
  await Promise.all([once.when('ACTIVE'), again.when('ACTIVE')]);
  const before = once.frames();
  const startedMs = performance.now();
  await until(() => once.frames() >= before + 2 * FPS, { timeoutMs: 10_000 });
  assert.ok(performance.now() - startedMs > 1500, 'at its own pace');
  assert.ok(once.sounds() > 50);
  await encoder.stop();
  assert.equal((await once.when('STOPPED')).endReason, 'SOURCE_ENDED');
  assert.match((await again.when('PENDING')).message ?? '', /has ended its broadcast/);
  assert.equal(again.ingest.ends()[0]?.reason, 'closed', 'the signal has its grace');
  encoder = publish();
  await until(() => again.ingest.sessions('start').length === 2, {
    timeoutMs: 15_000,
    message: () => JSON.stringify(again.reports),
  });
  assert.ok(!JSON.stringify(again.reports).includes('a-secret-name'));
});

test('a server that is none, hangs up or is not there is said in words', async (t) => {
  const garbage = await startTcp(t, (socket) => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'));
  const closing = await startTcp(t, (socket) => socket.destroy());
  const cases: [string, RegExp][] = [
    [`rtmp://127.0.0.1:${garbage}/live/a`, /does not answer as an RTMP server does/],
    [`rtmp://127.0.0.1:${closing}/live/a`, /closed the connection|broken the connection/],
    ['rtmp://127.0.0.1:1/live/a', /takes no connection/],
    ['rtmp://10.0.0.1/live/a', /private address/],
  ];
  await Promise.all(
    cases.map(async ([url, words]) => {
      const bridge = await startBridge(t, url);
      assert.match((await bridge.when('FAILED')).message ?? '', words, url);
    }),
  );
});
