import assert from 'node:assert/strict';
import { test } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { startBridge } from '../../../test/bridges/bridge.ts';
import { makeHls, nullPackets } from '../../../test/bridges/hls.ts';
import { startHttpsSink } from '../../../test/harness/https-sink.ts';

const SECONDS = 4;
const GRANT = { streamId: 'str_1', maxHeight: 1080, maxFps: 60 };

test('a source that trickles, stalls, or continues without media is abandoned within about half a minute', async (t) => {
  const files = await makeHls(SECONDS);
  const sink = await startHttpsSink();
  setDefaultCACertificates([...getCACertificates('default'), sink.ca.pem]);
  t.after(() => sink.close());
  const still = files.get('index.m3u8')?.toString().replace('#EXT-X-ENDLIST', '') ?? '';
  const nothing = nullPackets(20_000);
  const more = Array.from({ length: 1000 }, (_, i) => `#EXTINF:1,\nnull${i}.ts\n`).join('');
  const media = Array.from({ length: SECONDS }, (_, i) => `#EXTINF:1,\nindex${i}.ts\n`).join('');
  const fill = `#EXTM3U\n#EXT-X-TARGETDURATION:1\n${media}${more}#EXT-X-ENDLIST`;
  sink.reply = ({ path }) => {
    if (path === '/fill.m3u8') return { body: fill };
    if (path.startsWith('/null')) return { body: nothing };
    if (path === '/drip.m3u8') return { fault: 'drip' };
    if (path === '/index.m3u8') return { body: still.replace('#EXT-X-PLAYLIST-TYPE:VOD', '') };
    return { body: files.get(path.slice(1)) ?? '' };
  };
  const [drips, stands, fills] = await Promise.all([
    startBridge(t, `${sink.url}/drip.m3u8`),
    startBridge(t, `${sink.url}/index.m3u8`),
    startBridge(t, `${sink.url}/fill.m3u8`, { grant: { ...GRANT, maxBitrateKbps: 15_000 } }),
  ]);
  const { message } = await drips.when('FAILED', 40_000);
  assert.match(message ?? '', /too slowly|sent no media|in time/);
  const asked = sink.requests.filter(({ path }) => path === '/drip.m3u8').length;
  assert.ok(asked <= 4, `${asked} requests`);
  assert.match((await stands.when('FAILED', 40_000)).message ?? '', /has not been updated for \d+ seconds/);
  assert.match((await fills.when('FAILED', 40_000)).message ?? '', /stopped sending/);
  assert.ok(stands.frames() > 0, 'what was there has come');
});
