import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { hasNginx, startNginx } from '../../../test/harness/nginx.ts';
import { createDiskStore } from '../storage/disk.ts';
import { createVideoFiles } from './vod.ts';

const KEY = 'w/wsp_1/v/vid_1/r0a1/720p/s_00000.m4s';
let root: string;

before(async () => {
  root = await mkdtemp(join(tmpdir(), 'vod-'));
  await mkdir(join(root, KEY, '..'), { recursive: true });
  await writeFile(join(root, KEY), Buffer.alloc(1000, 7));
});
after(() => rm(root, { recursive: true, force: true }));

test('a store elsewhere sends its files itself, under an address that stays the same for a while', async () => {
  let signed = 0;
  const store = {
    ...createDiskStore(root),
    localPath: () => null,
    async signedUrl(key: string, ttlSec: number) {
      signed += 1;
      return `https://store.example/${key}?ttl=${ttlSec}&n=${signed}`;
    },
  };
  const vod = createVideoFiles({ store });
  const first = await vod.openFile({ method: 'GET', key: KEY });
  assert.deepEqual([first.status, first.body], [302, null]);
  assert.equal(first.headers.location, `https://store.example/${KEY}?ttl=600&n=1`);
  const maxAge = Number(/^public, max-age=(\d+)$/.exec(first.headers['cache-control'] ?? '')?.[1]);
  assert.ok(maxAge > 0 && maxAge <= 300, 'kept for less long than the address is good for');
  const second = await vod.openFile({ method: 'HEAD', key: KEY, isPrivate: true });
  assert.equal(second.headers.location, first.headers.location);
  assert.match(second.headers['cache-control'] ?? '', /^private, /);
});

test('a store that clients cannot reach is read for them, in parts as well', async () => {
  const store = { ...createDiskStore(root), localPath: () => null, signedUrl: async () => null };
  const vod = createVideoFiles({ store });
  const part = await vod.openFile({ method: 'GET', key: KEY, range: 'bytes=10-14' });
  assert.deepEqual([part.status, part.headers['content-range']], [206, 'bytes 10-14/1000']);
  assert.ok(part.body !== null && typeof part.body !== 'string' && !Buffer.isBuffer(part.body));
  assert.deepEqual(await buffer(part.body), Buffer.alloc(5, 7));
  const head = await vod.openFile({ method: 'HEAD', key: KEY });
  assert.deepEqual([head.status, head.headers['content-length'], head.body], [200, '1000', null]);
  const known = await vod.openFile({ method: 'GET', key: KEY, ifNoneMatch: head.headers.etag });
  assert.equal(known.status, 304);
  assert.equal((await vod.openFile({ method: 'GET', key: `${KEY}x` })).status, 404);
});

test('a master has stereo, surround with equal members, captions by purpose, and an audio-only variant', () => {
  const rates = { averageBitrate: 100, peakBitrate: 120, codecs: 'mp4a.40.2', isDescription: false };
  const sound = (path: string, track: number, language: string | null, label: string, channels: number) => {
    return { path, track, language, label, channels, ...rates };
  };
  const rung = { path: 'r/720p', codecs: 'avc1.64001f', averageBitrate: 1000, peakBitrate: 1500 };
  const master = {
    rungs: [
      { ...rung, width: 1280, height: 720, frameRate: 25, videoRange: 'SDR' as const, iframeBitrate: 90 },
    ],
    audio: [
      sound('r/audio', 0, 'de', 'Deutsch', 2),
      { ...sound('r/audio-1-surround', 1, 'en', 'A "film"', 6), peakBitrate: 500, averageBitrate: 400 },
      sound('r/audio-1', 1, 'en', 'A "film"', 2),
      sound('r/audio-2', 2, 'en', 'Comments', 1),
      { ...sound('r/audio-3', 3, 'en', 'Described', 2), isDescription: true },
    ],
    captions: [
      { file: 'a.vtt', language: 'en-x-sdh', label: 'English', isDefault: true },
      { file: 'b.vtt', language: 'en', label: 'English', isDefault: false },
      { file: 'c.vtt', language: 'en-x-forced', label: 'Signs', isDefault: true },
      { file: 'd.vtt', language: 'en-x-2', label: 'Jokes', isDefault: false },
    ],
  };
  const vod = createVideoFiles({ store: createDiskStore(root) });
  const { body } = vod.readMaster({ method: 'GET', master, uriSuffix: '?t' });
  const members = (group: string, english: string) => [
    `#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="${group}",NAME="Deutsch",LANGUAGE="de",DEFAULT=YES,AUTOSELECT=YES,CHANNELS="2",URI="r/audio/index.m3u8?t"`,
    `#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="${group}",NAME="A  film ",LANGUAGE="en",DEFAULT=NO,AUTOSELECT=YES,${english}`,
    `#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="${group}",NAME="Comments",LANGUAGE="en",DEFAULT=NO,AUTOSELECT=NO,CHANNELS="1",URI="r/audio-2/index.m3u8?t"`,
    `#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="${group}",NAME="Described",LANGUAGE="en",DEFAULT=NO,AUTOSELECT=YES,CHARACTERISTICS="public.accessibility.describes-video",CHANNELS="2",URI="r/audio-3/index.m3u8?t"`,
  ];
  const sdh =
    'CHARACTERISTICS="public.accessibility.transcribes-spoken-dialog,public.accessibility.describes-music-and-sound"';
  const caption = (name: string, flags: string, file: string) =>
    `#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="captions",NAME="${name}",LANGUAGE="en",${flags},URI="captions/${file}.vtt.m3u8?t"`;
  const picture = 'CODECS="avc1.64001f,mp4a.40.2",RESOLUTION=1280x720,FRAME-RATE=25.000,VIDEO-RANGE=SDR';
  assert.deepEqual(String(body).trim().split('\n').slice(3), [
    ...members('audio', 'CHANNELS="2",URI="r/audio-1/index.m3u8?t"'),
    ...members('surround', 'CHANNELS="6",URI="r/audio-1-surround/index.m3u8?t"'),
    caption('English', `DEFAULT=YES,AUTOSELECT=YES,FORCED=NO,${sdh}`, 'a'),
    caption('English 2', 'DEFAULT=NO,AUTOSELECT=YES,FORCED=NO', 'b'),
    caption('Signs', 'DEFAULT=NO,AUTOSELECT=YES,FORCED=YES', 'c'),
    caption('Jokes', 'DEFAULT=NO,AUTOSELECT=NO,FORCED=NO', 'd'),
    `#EXT-X-STREAM-INF:BANDWIDTH=1620,AVERAGE-BANDWIDTH=1100,${picture},AUDIO="audio",SUBTITLES="captions",CLOSED-CAPTIONS=NONE`,
    'r/720p/index.m3u8?t',
    `#EXT-X-STREAM-INF:BANDWIDTH=2000,AVERAGE-BANDWIDTH=1400,${picture},AUDIO="surround",SUBTITLES="captions",CLOSED-CAPTIONS=NONE`,
    'r/720p/index.m3u8?t',
    '#EXT-X-STREAM-INF:BANDWIDTH=120,AVERAGE-BANDWIDTH=100,CODECS="mp4a.40.2",AUDIO="audio",SUBTITLES="captions",CLOSED-CAPTIONS=NONE',
    'r/audio/index.m3u8?t',
    '#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=90,CODECS="avc1.64001f",RESOLUTION=1280x720,VIDEO-RANGE=SDR,URI="r/720p/iframes.m3u8?t"',
  ]);
});

test('settings select among the default captions of several of a kind, otherwise the first is selected', () => {
  const caption = (file: string, language: string, isDefault: boolean) => {
    return { file, language, label: 'English', isDefault };
  };
  const captions = [
    ...[caption('a', 'en', false), caption('b', 'en-x-2', true)],
    ...[caption('c', 'en-x-sdh', false), caption('d', 'en-x-sdh-2', false)],
  ];
  const vod = createVideoFiles({ store: createDiskStore(root) });
  const master = { rungs: [], audio: [], captions };
  const { body } = vod.readMaster({ method: 'GET', master, uriSuffix: '' });
  const flags = [...String(body).matchAll(/DEFAULT=(\w+),AUTOSELECT=(\w+)/g)];
  assert.deepEqual(
    flags.map(([, one, other]) => `${one} ${other}`),
    ['NO NO', 'YES YES', 'NO YES', 'NO NO'],
  );
});

/** The snippet of the guide, on ports of the test. */
async function guideServer(upstream: string): Promise<string> {
  const guide = await readFile(new URL('../../../docs/guides/playback.md', import.meta.url), 'utf8');
  const snippet = /```nginx\n([\s\S]*?)```/.exec(guide)?.[1] ?? '';
  const body = /server \{\n([\s\S]*)\n\}/.exec(snippet)?.[1] ?? '';
  return body
    .replace(/^\s*(listen|server_name|ssl_\w+) .*;$/gm, '')
    .replaceAll('http://127.0.0.1:8080', upstream)
    .replaceAll('/var/lib/marquee/media/', `${root}/`);
}

test('behind nginx it sends the files, as the guide sets it up', {
  skip: !hasNginx() && 'no nginx',
}, async (t) => {
  const vod = createVideoFiles({ store: createDiskStore(root), accelPrefix: '/_media/' });
  const server: Server = createServer(async (request, response) => {
    const reply = await vod.openFile({ method: request.method === 'HEAD' ? 'HEAD' : 'GET', key: KEY });
    response.writeHead(reply.status, { ...reply.headers, 'access-control-allow-origin': '*' }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const nginx = await startNginx(await guideServer(`http://127.0.0.1:${port}`));
  t.after(() => nginx.close());
  const whole = await fetch(`${nginx.url}/v/x`);
  assert.equal(whole.status, 200);
  assert.equal((await whole.arrayBuffer()).byteLength, 1000);
  assert.equal(whole.headers.get('content-type'), 'video/iso.segment');
  assert.equal(whole.headers.get('access-control-allow-origin'), '*');
  assert.equal(whole.headers.get('cache-control'), 'public, max-age=300, must-revalidate');
  assert.equal(whole.headers.get('x-content-type-options'), 'nosniff');
  const part = await fetch(`${nginx.url}/v/x`, { headers: { range: 'bytes=5-9' } });
  assert.deepEqual([part.status, part.headers.get('content-range')], [206, 'bytes 5-9/1000']);
  const known = { 'if-none-match': whole.headers.get('etag') ?? '' };
  assert.equal((await fetch(`${nginx.url}/v/x`, { headers: known })).status, 304);
  assert.equal((await fetch(`${nginx.url}/_media/${KEY}`)).status, 404, 'not without being sent there');
});
