import assert from 'node:assert/strict';
import { before, type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { startBridge } from '../../../test/bridges/bridge.ts';
import { FPS, type HlsFiles, makeHls, nullPackets, slidingPlaylist } from '../../../test/bridges/hls.ts';
import { createTestCa, type TestCa } from '../../../test/harness/certificates.ts';
import { startTestDns } from '../../../test/harness/dns.ts';
import { type SinkReply, type SinkRequest, startHttpsSink } from '../../../test/harness/https-sink.ts';
import { waitFor } from '../../../test/harness/wait-for.ts';
import { createOutbound } from '../../platform/outbound/index.ts';

const SECONDS = 4;
const FRAMES = SECONDS * FPS;
let ca: TestCa;
let plain: HlsFiles;
before(async () => {
  ca = await createTestCa();
  setDefaultCACertificates([...getCACertificates('default'), ca.pem]);
  plain = await makeHls(SECONDS);
  return () => ca.close();
});

async function serve(t: TestContext, reply: (request: SinkRequest, index: number) => SinkReply) {
  const sink = await startHttpsSink({ ca });
  sink.reply = reply;
  t.after(() => sink.close());
  return sink;
}

const nameOf = ({ path }: SinkRequest) => path.split('?')[0]?.slice(1) ?? '';

/** Responds with ranges, as file servers do. */
function answer(files: HlsFiles, request: SinkRequest): SinkReply {
  const body = files.get(nameOf(request));
  if (body === undefined) return { status: 404 };
  const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
  if (from === undefined) return { body };
  return { status: 206, body: body.subarray(Number(from), Number(to) + 1) };
}

test('every segment format delivers all video frames and the audio at the pace of the media', async (t) => {
  const fmp4 = ['-hls_segment_type', 'fmp4'];
  const forms: [string, HlsFiles][] = [
    ['MPEG-TS', plain],
    ['fragmented MP4', await makeHls(SECONDS, fmp4)],
    ['byte ranges', await makeHls(SECONDS, ['-hls_flags', 'single_file', ...fmp4])],
    [
      'AES-128',
      await makeHls(SECONDS, [
        '-hls_enc',
        '1',
        '-hls_enc_key',
        '0123456789abcdef',
        '-hls_enc_key_url',
        'index.key',
      ]),
    ],
    [
      'sound apart',
      apart(
        await makeHls(SECONDS, [...fmp4, '-map', '0:v', '-hls_fmp4_init_filename', 'v.mp4']),
        await makeHls(SECONDS, [...fmp4, '-map', '1:a', '-hls_fmp4_init_filename', 'a.mp4']),
      ),
    ],
  ];
  await Promise.all(
    forms.map(async ([form, files]) => {
      if (form === 'AES-128') files.set('index.key', Buffer.from('0123456789abcdef'));
      const { url } = await serve(t, (request) => answer(files, request));
      const startedMs = performance.now();
      const bridge = await startBridge(t, `${url}/index.m3u8`);
      await bridge.when('ACTIVE');
      const { endReason } = await bridge.when('STOPPED');
      const tookSec = (performance.now() - startedMs) / 1000;
      assert.equal(endReason, 'SOURCE_ENDED', form);
      assert.equal(bridge.frames(), FRAMES, form);
      assert.ok(bridge.sounds() > SECONDS * 40, `${form}: ${bridge.sounds()}`);
      assert.ok(tookSec > SECONDS - 1, `${form}: ${tookSec}`);
      assert.equal(bridge.ingest.sessions('start').length, 1);
      assert.equal(bridge.ingest.ends()[0]?.reason, 'unpublish');
    }),
  );
});

/** Creates a master playlist with separate audio and video playlists. */
function apart(picture: HlsFiles, sound: HlsFiles): HlsFiles {
  const master = `#EXTM3U
#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="one",DEFAULT=YES,URI="a/index.m3u8"
#EXT-X-STREAM-INF:BANDWIDTH=9000000,RESOLUTION=3840x2160,CODECS="avc1.640033,mp4a.40.2",AUDIO="a"
none.m3u8
#EXT-X-STREAM-INF:BANDWIDTH=900000,RESOLUTION=320x180,CODECS="avc1.42c00d,mp4a.40.2",AUDIO="a"
v/index.m3u8
#EXT-X-STREAM-INF:BANDWIDTH=950000,RESOLUTION=320x180,CODECS="hvc1.1.6.L60,mp4a.40.2",AUDIO="a"
none.m3u8
`;
  const below = (folder: string, files: HlsFiles) =>
    [...files].map(([name, body]) => [`${folder}/${name}`, body] as const);
  return new Map([...below('v', picture), ...below('a', sound), ['index.m3u8', Buffer.from(master)]]);
}

test('a live playlist is followed across discontinuities, and a redirect is the base of its relative URLs', async (t) => {
  let startedMs: number | null = null;
  const { url, requests } = await serve(t, (request) => {
    if (nameOf(request) === 'live.m3u8')
      return { status: 302, headers: { location: '/deep/index.m3u8?token=t' } };
    if (nameOf(request) === 'deep/index.m3u8') {
      startedMs ??= performance.now();
      return { body: slidingPlaylist(SECONDS, startedMs) };
    }
    const file = plain.get(nameOf(request).replace(/^deep\//, ''));
    return nameOf(request).startsWith('deep/') && file !== undefined ? { body: file } : { status: 404 };
  });
  const bridge = await startBridge(t, `${url}/live.m3u8`);
  await bridge.when('ACTIVE');
  await waitFor(() => bridge.frames() > 8 * FPS, {
    timeoutMs: 20_000,
    message: () => JSON.stringify(bridge.last()),
  });
  assert.equal(bridge.last()?.status, 'ACTIVE');
  assert.equal(bridge.ingest.sessions('start').length, 1);
  const [session] = bridge.ingest.engine.list();
  const stats = bridge.ingest.engine.stats(session?.sessionId ?? '');
  assert.deepEqual(stats?.issues, [], 'its times go on');
  const loads = requests.filter((request) => nameOf(request) === 'live.m3u8').length;
  assert.ok(loads < 20, `${loads} loads: a second each`);
});

test('a user and a password are sent only to the source, not to other hosts it names', async (t) => {
  let startedMs: number | null = null;
  const files = await serve(t, (request) => answer(plain, request));
  const pair = `Basic ${Buffer.from('ada:p:ss/w rd').toString('base64')}`;
  const home = await serve(t, ({ headers }) => {
    if (headers.authorization !== pair) return { status: 401 };
    startedMs ??= performance.now();
    return { body: slidingPlaylist(SECONDS, startedMs).replace(/^index/gm, `${files.url}/index`) };
  });
  const place = `${new URL(home.url).host}/index.m3u8`;
  const [good, nobody] = await Promise.all([
    startBridge(t, `https://ada:p%3Ass%2Fw%20rd@${place}`),
    startBridge(t, `https://${place}`),
  ]);
  await waitFor(() => good.frames() > FPS && good.sounds() > 30, {
    timeoutMs: 15_000,
    message: () => JSON.stringify(good.reports),
  });
  assert.match((await nobody.when('FAILED')).message ?? '', /denied access \(401\)/);
  assert.ok(files.requests.length > 0);
  assert.ok(files.requests.every(({ headers }) => headers.authorization === undefined));
});

test('a source that moves to a private address while running is abandoned', async (t) => {
  const dns = await startTestDns();
  t.after(() => dns.close());
  dns.a.set('receiver.test', ['127.0.0.1']);
  const outbound = createOutbound({ allowPrivate: ['127.0.0.0/8'], dnsServers: [dns.address] });
  t.after(() => outbound.close());
  let startedMs: number | null = null;
  let isAway = false;
  const { url, port } = await serve(t, (request) => {
    startedMs ??= performance.now();
    if (nameOf(request) !== 'index.m3u8') return answer(plain, request);
    // Asked by its own name it stays as it was.
    if (isAway && request.headers.host?.startsWith('localhost'))
      return { status: 302, headers: { location: 'https://10.0.0.1/index.m3u8' } };
    return { body: slidingPlaylist(SECONDS, startedMs) };
  });
  const [redirected, renamed] = await Promise.all([
    startBridge(t, `${url}/index.m3u8`),
    startBridge(t, `https://receiver.test:${port}/index.m3u8`, { outbound }),
  ]);
  await Promise.all([redirected.when('ACTIVE'), renamed.when('ACTIVE')]);
  isAway = true;
  dns.a.set('receiver.test', ['10.0.0.1']);
  for (const bridge of [redirected, renamed]) {
    assert.match((await bridge.when('FAILED')).message ?? '', /private address/);
    assert.equal(bridge.ingest.ends().length, 1);
  }
});

test('a source whose segments are not media is read at the bitrate of its plan, not at full speed', async (t) => {
  const nothing = nullPackets(5000);
  const more = Array.from({ length: 300 }, (_, i) => `#EXTINF:1,\nnull${i}.ts`);
  const lines = ['#EXTM3U', '#EXT-X-TARGETDURATION:1', '#EXTINF:1,', 'index0.ts', ...more, '#EXT-X-ENDLIST'];
  const list = lines.join('\n');
  let sent = 0;
  const { url } = await serve(t, (request) => {
    if (nameOf(request) === 'index.m3u8') return { body: list };
    if (!nameOf(request).startsWith('null')) return answer(plain, request);
    sent += nothing.length;
    return { body: nothing };
  });
  // 500 kB a second, with a burst of 5 MB.
  const grant = { streamId: 'str_1', maxHeight: 1080, maxFps: 60, maxBitrateKbps: 1000 };
  await startBridge(t, `${url}/index.m3u8`, { grant });
  await waitFor(() => sent > 4_000_000, { timeoutMs: 10_000 });
  await delay(2000);
  assert.ok(sent < 9_000_000, `${sent} bytes`);
});

test('errors of a source are reported in words and not retried in a tight loop', async (t) => {
  const privately = 'https://10.0.0.1/a.ts';
  const list = (uri: string, more = '') =>
    `#EXTM3U\n#EXT-X-TARGETDURATION:1\n${more}#EXTINF:1,\n${uri}\n#EXT-X-ENDLIST\n`;
  const cases: [string, (request: SinkRequest) => SinkReply, RegExp][] = [
    ['not there', () => ({ status: 404 }), /^The source returned status 404\.$/],
    ['refused', () => ({ status: 403 }), /denied access \(403\)/],
    ['no playlist', () => ({ body: '<html>' }), /it is not an HLS playlist/],
    ['a private redirect', () => ({ status: 302, headers: { location: privately } }), /private address/],
    ['a private segment', () => ({ body: list(privately) }), /private address/],
    [
      'a plain redirect',
      () => ({ status: 302, headers: { location: 'http://localhost/' } }),
      /scheme is not https/,
    ],
    ['redirects in a ring', () => ({ status: 302, headers: { location: '/again' } }), /redirect|too many/],
    ['endless', () => ({ fault: 'endless' }), /a file that is too large/],
    [
      'garbage',
      (request) => ({ body: nameOf(request) === 'a.ts' ? Buffer.alloc(5000, 1) : list('a.ts') }),
      /neither MPEG-TS nor/,
    ],
    [
      'noise in the packets',
      (request) => ({ body: nameOf(request) === 'a.ts' ? Buffer.alloc(188_000, 0x47) : list('a.ts') }),
      /no readable media|could not be read/,
    ],
    [
      'protected',
      () => ({ body: list('a.ts', '#EXT-X-KEY:METHOD=SAMPLE-AES,URI="k"\n') }),
      /protected \(SAMPLE-AES\)/,
    ],
    [
      'another codec',
      () => ({ body: '#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1,CODECS="hvc1.1,mp4a.40.2"\na.m3u8\n' }),
      /no variant uses H\.264 with AAC/,
    ],
  ];
  await Promise.all(
    cases.map(async ([name, reply, words]) => {
      const { url, requests } = await serve(t, reply);
      const bridge = await startBridge(t, `${url}/index.m3u8?key=secret-word`);
      const { message } = await bridge.when('FAILED');
      assert.match(message ?? '', words, name);
      assert.ok(!message?.includes('secret-word'));
      assert.ok(requests.length <= 10, `${name}: ${requests.length} requests`);
      assert.equal(bridge.ingest.sessions('start').length, 0, `${name}: no signal`);
    }),
  );
});

test('a source that breaks is tried again when it shall be, under one session of the stream after another', async (t) => {
  let isBroken = false;
  let startedMs: number | null = null;
  const { url } = await serve(t, (request) => {
    if (isBroken) return { status: 503 };
    startedMs ??= performance.now();
    return nameOf(request) === 'index.m3u8'
      ? { body: slidingPlaylist(SECONDS, startedMs) }
      : answer(plain, request);
  });
  const bridge = await startBridge(t, `${url}/index.m3u8`, { autoRestart: true });
  await bridge.when('ACTIVE');
  isBroken = true;
  const { message, retryInMs, retryCount } = await bridge.when('PENDING');
  assert.match(message ?? '', /503/);
  assert.ok(retryInMs !== null && retryCount === 1);
  assert.equal(bridge.ingest.ends()[0]?.reason, 'closed', 'the signal has its grace');
  isBroken = false;
  await waitFor(() => bridge.last()?.status === 'ACTIVE', { timeoutMs: 10_000 });
  assert.equal(bridge.ingest.sessions('start').length, 2);
});

/** Creates a playlist of segments, each preceded by the result of `before`. */
const listOf = (count: number, before: (index: number) => string) =>
  [
    '#EXTM3U\n#EXT-X-TARGETDURATION:1',
    ...Array.from({ length: count }, (_, index) => `${before(index)}\n#EXTINF:0.2,\nindex${index}.ts`),
    '#EXT-X-ENDLIST\n',
  ].join('\n');

/** Three seconds in segments of a fifth of a second, each of which can be decoded by itself. */
function makeShort(...options: string[]): Promise<HlsFiles> {
  const video = ['-c:v', 'libx264', '-preset', 'ultrafast', '-tune', 'zerolatency', '-pix_fmt', 'yuv420p'];
  const coded = [...video, '-g', '3', '-keyint_min', '3', '-sc_threshold', '0', '-c:a', 'aac', '-b:a', '64k'];
  return makeHls(3, ['-hls_time', '0.2', ...options], coded);
}

test('a source that restarts with every segment starts at most seven programs, and fails with the reason', async (t) => {
  const segments = await makeShort();
  const fmp4 = await makeShort('-hls_segment_type', 'fmp4');
  const count = [...segments.keys()].filter((name) => name.endsWith('.ts')).length;
  assert.ok(count > 10, `${count} segments`);
  const free = (index: number) =>
    Buffer.from(`0000000c66726565${index.toString(16).padStart(8, '0')}`, 'hex');
  const lists: [string, string][] = [
    ['discontinuities', listOf(count, () => '#EXT-X-DISCONTINUITY')],
    ['headers', listOf(count, (index) => `#EXT-X-MAP:URI="${index}.map"`).replaceAll('.ts', '.m4s')],
  ];
  await Promise.all(
    lists.map(async ([what, list]) => {
      const { url, requests } = await serve(t, (request) => {
        const map = /^(\d+)\.map$/.exec(nameOf(request))?.[1];
        if (nameOf(request) === 'index.m3u8') return { body: list };
        if (map !== undefined) {
          return { body: Buffer.concat([fmp4.get('init.mp4') ?? Buffer.alloc(0), free(Number(map))]) };
        }
        return answer(what === 'headers' ? fmp4 : segments, request);
      });
      const bridge = await startBridge(t, `${url}/index.m3u8`, { autoRestart: true });
      const { message } = await bridge.when('FAILED');
      assert.match(message ?? '', /more than 6 times a minute/, what);
      const taken = requests.filter((request) => /\.(ts|m4s)$/.test(nameOf(request))).length;
      assert.ok(taken <= 8, `${what}: ${taken} segments`);
    }),
  );
});

test('a header that is the same under another address continues', async (t) => {
  const files = await makeShort('-hls_segment_type', 'fmp4');
  const count = [...files.keys()].filter((name) => name.endsWith('.m4s')).length;
  const list = listOf(count, (index) => `#EXT-X-MAP:URI="init.mp4?token=${index}"`).replaceAll('.ts', '.m4s');
  const { url } = await serve(t, (request) =>
    nameOf(request) === 'index.m3u8' ? { body: list } : answer(files, request),
  );
  const bridge = await startBridge(t, `${url}/index.m3u8`);
  await bridge.when('STOPPED');
  assert.equal(bridge.frames(), 3 * FPS);
});

test('a playlist of more than a megabyte is not read', async (t) => {
  const { url, requests } = await serve(t, () => ({ body: listOf(1000, () => `#${'x'.repeat(1100)}`) }));
  const bridge = await startBridge(t, `${url}/index.m3u8`);
  assert.match((await bridge.when('FAILED')).message ?? '', /a file that is too large/);
  assert.ok(requests.every((request) => nameOf(request) === 'index.m3u8'));
});
