import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { fastify } from 'fastify';
import { playableSnapshot } from '../../../../../test/videos/playable-snapshot.ts';
import type { PageAssets, WebAssets } from '../../../../http/assets.ts';
import { createSnapshots } from '../../../../kernel/snapshots.ts';
import { createAccess } from '../access.service.ts';
import type { VideoSnapshot } from '../videos/snapshot.ts';
import type { StreamSnapshot } from './snapshot.ts';
import { liveWatchPages } from './watch.pages.ts';

const NOW = new Date('2026-11-20T18:00:00Z');
const ID = 'str_01jexample0000000000000000';
const STREAM: StreamSnapshot = {
  id: ID,
  workspaceId: 'wsp_1',
  accountId: 'acc_1',
  tierIds: [],
  mode: 'live',
  title: 'Evening concert',
  description: 'Two sets.',
  visibility: 'PUBLIC',
  isLive: false,
  hasSignal: false,
  dvrWindowSec: 0,
  currentSessionId: null,
  liveSince: null,
  ended: null,
  scheduledStartAt: null,
  viewerCount: 0,
  creator: { username: 'harbour', name: 'Harbour Jazz' },
  embedHosts: null,
  video: null,
  issues: [],
};
const VISIBILITIES = ['PUBLIC', 'UNLISTED', 'PRIVATE', 'FOLLOWERS', 'TIER', 'PURCHASE'] as const;

function stubAssets(entry: (source: string) => PageAssets | null): WebAssets {
  return { entry, url: (source) => `/assets/${source}`, register: () => {} };
}

const BUILT = stubAssets((source) => ({
  scripts: source.endsWith('.ts') ? [`/assets/${source}.js`] : [],
  styles: [`/assets/${source}.css`],
  preloads: [],
  lazy: [`/assets/${source}.lazy.js`],
}));

async function setUp(
  t: TestContext,
  changes: Partial<StreamSnapshot> = {},
  {
    assets = BUILT,
    videos = [],
    hasWhep = false,
  }: { assets?: WebAssets; videos?: readonly VideoSnapshot[]; hasWhep?: boolean } = {},
) {
  const stream = { ...STREAM, ...changes };
  const asked: string[] = [];
  const app = fastify();
  liveWatchPages({
    streams: createSnapshots(
      {
        find: async (id) => {
          asked.push(id);
          return id === stream.id ? stream : undefined;
        },
        onChanged: () => {},
      },
      'str',
    ),
    recordings: { get: async (id) => (id === 'ses_1' ? videos.map((video) => video.id) : undefined) },
    videos: { get: async (id) => videos.find((video) => video.id === id) },
    sellers: async () => ({ offers: [], memberPath: '/members/somebody' }),
    access: createAccess({
      entitlements: { allows: async () => false },
      tokens: {
        read: (token, id) => {
          if (id !== stream.id) return null;
          return token === 'playback' || token === 'preview' ? token : null;
        },
      },
    }),
    reception: { recordImpression: async (_request, { id, grant }) => `${id}.${grant ?? 'open'}` },
    assets,
    clock: { ms: () => NOW.getTime(), now: () => NOW },
    publicUrl: 'https://video.example',
    platformHosts: ['video.example'],
    hasWhep: () => hasWhep,
    mediaOrigins: ['https://bucket.example'],
  })(app);
  t.after(() => app.close());
  return {
    asked,
    get: (url: string) => app.inject({ url }),
    head: (url: string) => app.inject({ method: 'HEAD', url }),
  };
}

test('the player gets the WHEP URL when the platform supports WHEP', async (t) => {
  const [without, there] = [await setUp(t), await setUp(t, {}, { hasWhep: true })];
  assert.doesNotMatch((await without.get(`/watch/${ID}`)).body, / whep=/);
  assert.ok((await there.get(`/watch/${ID}`)).body.includes(` whep="/whep/${ID}"`));
  assert.ok(
    (await there.get(`/embed/${ID}?token=playback`)).body.includes(` whep="/whep/${ID}?token=playback"`),
  );
});

test('the watch page shows all data before any script runs', async (t) => {
  const { get } = await setUp(t);
  const page = await get(`/watch/${ID}`);
  assert.equal(page.statusCode, 200);
  assert.equal(page.headers['content-type'], 'text/html; charset=utf-8');
  assert.equal(page.headers['cache-control'], 'no-store');
  assert.equal(page.headers['x-content-type-options'], 'nosniff');
  assert.equal(page.headers['referrer-policy'], 'strict-origin-when-cross-origin');
  for (const part of [
    '<title>Evening concert · Harbour Jazz</title>',
    '<h1><bdi>Evening concert</bdi></h1>',
    '@harbour',
    'Two sets.',
    'The broadcast has not started yet.',
    `<link rel="canonical" href="https://video.example/watch/${ID}">`,
    '<meta property="og:title" content="Evening concert">',
    '<meta property="og:description" content="Two sets.">',
    `<meta property="og:url" content="https://video.example/watch/${ID}">`,
    `<meta property="og:video:url" content="https://video.example/embed/${ID}">`,
    '<meta property="og:image" content="https://video.example/assets/site/card.png">',
    '<meta name="twitter:card" content="player">',
    `<meta name="twitter:player" content="https://video.example/embed/${ID}">`,
    `src="/live/${ID}/master.m3u8"`,
    '<script type="module" src="/assets/watch/main.ts.js"></script>',
  ]) {
    assert.ok(page.body.includes(part), part);
  }
  assert.ok(!page.body.includes('noindex'));
});

test('the player gets a session for beacons, except the player of the owner', async (t) => {
  const { get } = await setUp(t, { isLive: true, hasSignal: true });
  const session = async (query: string) => / session="([^"]*)"/.exec((await get(query)).body)?.[1];
  assert.equal(await session(`/watch/${ID}`), `${ID}.open`);
  assert.equal(await session(`/embed/${ID}?token=playback`), `${ID}.playback`);
  assert.equal(await session(`/watch/${ID}?token=preview`), undefined);
});

test('the policies allow only own scripts, data from the bucket too, and frames of the embed page only', async (t) => {
  const { get } = await setUp(t);
  const policyOf = async (url: string) => {
    const { headers } = await get(url);
    const directives = String(headers['content-security-policy']).split('; ');
    return new Map(directives.map((directive) => [directive.split(' ')[0], directive]));
  };
  const watch = await policyOf(`/watch/${ID}`);
  assert.equal(watch.get('default-src'), "default-src 'none'");
  assert.equal(watch.get('script-src'), "script-src 'self'");
  for (const page of [watch, await policyOf(`/embed/${ID}`)]) {
    // The DVR window may be stored in a bucket.
    assert.equal(page.get('connect-src'), "connect-src 'self' https://bucket.example");
    assert.equal(page.get('media-src'), "media-src 'self' https://bucket.example blob: data:");
  }
  assert.equal(watch.get('base-uri'), "base-uri 'none'");
  assert.equal(watch.get('frame-ancestors'), "frame-ancestors 'none'");
  assert.equal((await policyOf(`/embed/${ID}`)).get('frame-ancestors'), 'frame-ancestors *');
  assert.equal((await policyOf('/watch/nothing')).get('style-src'), "style-src 'self'");
});

test('creator texts are escaped', async (t) => {
  const hostile = `"'></title></script><script>alert(1)</script><img src=x onerror=alert(1)>\u202e`;
  const creator = { username: hostile, name: hostile };
  const { get } = await setUp(t, { title: hostile, description: hostile, creator, isLive: true });
  for (const url of [`/watch/${ID}`, `/embed/${ID}`]) {
    const { body } = await get(url);
    assert.ok(body.includes('&lt;script&gt;alert(1)'));
    assert.ok(!body.includes('<script>'), 'a script');
    assert.ok(!body.includes('<img'), 'an element');
    assert.equal(body.match(/<script /g)?.length, 1);
    assert.ok(!/="[^"]*"'>/.test(body), 'an attribute that was left');
  }
});

test('a live stream is loaded immediately, and a scheduled one shows its start', async (t) => {
  const live = await setUp(t, { isLive: true, liveSince: new Date('2026-11-20T17:48:00Z') });
  const page = (await live.get(`/watch/${ID}`)).body;
  assert.match(page, /<marquee-player [^>]* live /);
  assert.match(page, /<span class="badge" data-badge="live">Live<\/span>/);
  assert.match(page, /Started <time datetime="2026-11-20T17:48:00.000Z"/);
  assert.match(page, /rel="modulepreload" href="\/assets\/watch\/main.ts.lazy.js"/);
  assert.match(page, /<noscript>.*<a href="\/live\/str_01jexample0000000000000000\/master.m3u8">/s);

  const scheduled = await setUp(t, { scheduledStartAt: new Date('2026-11-21T19:00:00Z') });
  const announced = (await scheduled.get(`/watch/${ID}`)).body;
  assert.match(announced, /<marquee-player [^>]* starts-at="2026-11-21T19:00:00.000Z"/);
  assert.match(announced, /Starts <time [^>]*>21 November 2026 at 19:00 UTC<\/time>/);
  assert.doesNotMatch(announced, /modulepreload/);

  const missed = await setUp(t, { scheduledStartAt: new Date('2026-11-20T17:00:00Z') });
  assert.doesNotMatch((await missed.get(`/watch/${ID}`)).body, /starts-at/);
});

test('an ended broadcast is shown as such, and its recording is offered to entitled viewers', async (t) => {
  const recording = playableSnapshot();
  const over = { ended: { since: NOW, until: NOW }, currentSessionId: 'ses_1' };
  const offer = /<p class="player-panel-recording"><a href="([^"]+)"/;
  const offered = async (changes: Partial<StreamSnapshot>, video: Partial<VideoSnapshot> = {}) => {
    const { get } = await setUp(t, { ...over, ...changes }, { videos: [playableSnapshot(video)] });
    return offer.exec((await get(`/watch/${ID}`)).body)?.[1] ?? null;
  };
  const { get } = await setUp(t, over);
  const { body } = await get(`/watch/${ID}`);
  assert.match(body, / ended data-phase="ended">/);
  assert.match(body, /The broadcast has ended\..*data-badge="ended">Ended</s);
  assert.doesNotMatch(body, offer, 'the video is gone, or of nobody');
  const address = `https://video.example/watch/${recording.id}`;
  assert.equal(await offered({}), address);
  assert.equal(await offered({ isLive: true }), null);
  assert.equal(await offered({}, { rungs: [] }), null, 'it is still being processed');
  assert.equal(await offered({ currentSessionId: 'ses_2' }), null);
  for (const visibility of ['PRIVATE', 'FOLLOWERS', 'TIER', 'PURCHASE', 'UNLISTED'] as const) {
    assert.equal(await offered({}, { visibility }), null, visibility);
  }
  assert.equal(await offered({ visibility: 'UNLISTED' }, { visibility: 'UNLISTED' }), address);
  const embed = await setUp(t, over, { videos: [recording] });
  assert.match((await embed.get(`/embed/${ID}`)).body, /player-panel-recording"><a [^>]+ target="_blank">/);
  const ids = ['vid_1', 'vid_2', 'vid_3'];
  const videos = ids.map((id) => playableSnapshot({ id, ...(id === 'vid_2' && { rungs: [] }) }));
  const long = await setUp(t, over, { videos });
  const links = (await long.get(`/watch/${ID}`)).body.matchAll(
    /watch\/(vid_\d)">Watch the recording, (part \d)</g,
  );
  assert.deepEqual(
    [...links].map(([, id, part]) => `${id} is ${part}`),
    ['vid_1 is part 1', 'vid_3 is part 3'],
  );
  assert.match((await long.get(`/watch/${ID}`)).body, /player-panel-recording" data-more>/, 'one is to come');
});

test('hidden and missing streams get the same 404', async (t) => {
  for (const path of ['watch', 'embed']) {
    const missing = await (await setUp(t)).get(`/${path}/str_01jmissing000000000000000`);
    assert.equal(missing.statusCode, 404);
    assert.match(missing.body, /<h1>/);
    for (const visibility of VISIBILITIES) {
      const { get } = await setUp(t, { visibility, isLive: true });
      const isOpen = visibility === 'PUBLIC' || visibility === 'UNLISTED';
      for (const query of ['', '?token=wrong', '?token=playback&token=playback', '?token[]=playback']) {
        const page = await get(`/${path}/${ID}${query}`);
        const isSold = path === 'watch' && visibility !== 'PRIVATE' && visibility !== 'FOLLOWERS';
        assert.equal(page.statusCode, isOpen || isSold ? 200 : 404, `${visibility} ${query}`);
        if (isSold && !isOpen) assert.match(page.body, /It is not available for purchase right now/);
        if (isOpen || isSold) continue;
        assert.equal(page.body, missing.body);
        assert.deepEqual({ ...page.headers, date: '' }, { ...missing.headers, date: '' });
      }
    }
  }
});

test('a valid token opens the page and is passed to the playlist, and an invalid one is not', async (t) => {
  const { get } = await setUp(t, { visibility: 'PRIVATE', isLive: true });
  const page = await get(`/watch/${ID}?token=playback`);
  assert.equal(page.statusCode, 200);
  assert.ok(page.body.includes(`src="/live/${ID}/master.m3u8?token=playback"`));
  assert.ok(page.body.includes('noindex'));
  assert.ok(!page.body.includes(`/watch/${ID}?token`), 'the shared address has no token');
  const open = await setUp(t, { isLive: true });
  assert.ok(!(await open.get(`/watch/${ID}?token=wrong`)).body.includes('wrong'));
});

test('a preview token shows the signal before the start, and only while it exists', async (t) => {
  const withSignal = await setUp(t, { hasSignal: true });
  const preview = (await withSignal.get(`/watch/${ID}?token=preview`)).body;
  assert.match(preview, /data-badge="preview">Preview</);
  assert.match(preview, /<marquee-player [^>]* live /);
  assert.match((await withSignal.get(`/watch/${ID}?token=playback`)).body, /data-badge="offline">Offline</);
  const without = await setUp(t, { hasSignal: false });
  assert.match((await without.get(`/watch/${ID}?token=preview`)).body, /data-badge="offline">Offline</);
});

test('issues of the signal are shown to its owner only, even after the encoder was disconnected', async (t) => {
  const { get } = await setUp(t, { issues: ['UNSUPPORTED_CODEC'] });
  const line = /<p class="signal-issues" [^>]*data-issues="UNSUPPORTED_CODEC"/;
  assert.match((await get(`/watch/${ID}?token=preview`)).body, line);
  assert.doesNotMatch((await get(`/watch/${ID}`)).body, /signal-issues|UNSUPPORTED/);
  assert.doesNotMatch((await get(`/watch/${ID}?token=playback`)).body, /signal-issues|UNSUPPORTED/);
});

test('the embed page contains only the player and starts muted', async (t) => {
  const { get } = await setUp(t);
  const { body } = await get(`/embed/${ID}`);
  assert.match(body, /<body class="embed">\s*<main aria-label="Player"><marquee-player [^>]* muted /);
  assert.doesNotMatch(body, /<header|<footer|<h1/);
  assert.ok(body.includes('/assets/embed/main.ts.js'));
});

test('HEAD responds like GET, without a body', async (t) => {
  const { head } = await setUp(t);
  const page = await head(`/watch/${ID}`);
  assert.deepEqual([page.statusCode, page.body], [200, '']);
  assert.equal((await head('/watch/nothing')).statusCode, 404);
});

test('hostile IDs get 404 and never reach the database', async (t) => {
  const { get, asked } = await setUp(t);
  for (const id of [
    '%00',
    'a%00b',
    '..%2f..%2fetc',
    '%3Cscript%3E',
    'A'.repeat(4000),
    "'or'1",
    '%F0%9F%92%A9',
  ]) {
    for (const path of ['watch', 'embed']) {
      const page = await get(`/${path}/${id}`);
      assert.ok(page.statusCode === 404 || page.statusCode === 414, `${id}: ${page.statusCode}`);
      assert.ok(!page.body.includes('script>'));
    }
  }
  assert.deepEqual(asked, []);
});

test('pages explain how to fix a missing build', async (t) => {
  const { get } = await setUp(t, {}, { assets: stubAssets(() => null) });
  const page = await get(`/watch/${ID}`);
  assert.equal(page.statusCode, 503);
  assert.match(page.body, /^The web pages have not been built\. Run "npm start"/);
});
