import assert from 'node:assert/strict';
import { test } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { startBridge } from '../../../test/bridges/bridge.ts';
import { makeHls } from '../../../test/bridges/hls.ts';
import { startHttpsSink } from '../../../test/harness/https-sink.ts';

const SECONDS = 4;

test('a source that trickles, or stands still, is given up within half a minute or so', async (t) => {
  const files = await makeHls(SECONDS);
  const sink = await startHttpsSink();
  setDefaultCACertificates([...getCACertificates('default'), sink.ca.pem]);
  t.after(() => sink.close());
  const still = files.get('index.m3u8')?.toString().replace('#EXT-X-ENDLIST', '') ?? '';
  sink.reply = ({ path }) => {
    if (path === '/drip.m3u8') return { fault: 'drip' };
    if (path === '/index.m3u8') return { body: still.replace('#EXT-X-PLAYLIST-TYPE:VOD', '') };
    return { body: files.get(path.slice(1)) ?? '' };
  };
  const [drips, stands] = await Promise.all([
    startBridge(t, `${sink.url}/drip.m3u8`),
    startBridge(t, `${sink.url}/index.m3u8`),
  ]);
  const { message } = await drips.when('FAILED', 40_000);
  assert.match(message ?? '', /too slowly|sends no media|answer in time/);
  const asked = sink.requests.filter(({ path }) => path === '/drip.m3u8').length;
  assert.ok(asked <= 4, `${asked} requests`);
  assert.match((await stands.when('FAILED', 40_000)).message ?? '', /nothing new for \d+ seconds/);
  assert.ok(stands.frames() > 0, 'what was there has come');
});
