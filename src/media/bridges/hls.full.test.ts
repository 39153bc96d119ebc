import assert from 'node:assert/strict';
import { test } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { startBridge } from '../../../test/bridges/bridge.ts';
import { startHttpsSink } from '../../../test/harness/https-sink.ts';

test('a source that trickles is given up within the half minute that a first frame may take', async (t) => {
  const sink = await startHttpsSink();
  setDefaultCACertificates([...getCACertificates('default'), sink.ca.pem]);
  t.after(() => sink.close());
  sink.reply = () => ({ fault: 'drip' });
  const bridge = await startBridge(t, `${sink.url}/index.m3u8`);
  const { message } = await bridge.when('FAILED', 40_000);
  assert.match(message ?? '', /too slowly|sends no media|answer in time/);
  assert.ok(sink.requests.length <= 4, `${sink.requests.length} requests`);
});
