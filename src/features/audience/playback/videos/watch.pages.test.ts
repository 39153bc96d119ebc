import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../../test/harness/app.ts';
import type { TestAccount } from '../../../../../test/harness/factories.ts';
import { addVideo, FOLDER, madeUpFiles } from '../../../../../test/videos/fixture.ts';
import { VISIBILITIES } from '../../../../kernel/visibility.ts';

const SITE = 'http://marquee.test';
let app: TestApp;
let account: TestAccount;
let key: string;

before(async () => {
  app = await startTestApp();
  ({ account, key } = await app.createKey());
});
after(() => app.close());

const add = (columns: Parameters<typeof addVideo>[3] = {}, owner = account) =>
  addVideo(app.container, owner, madeUpFiles(), columns);

async function get(path: string) {
  const answer = await fetch(app.url + path);
  return { status: answer.status, headers: answer.headers, body: await answer.text() };
}

function policyOf({ headers }: { headers: Headers }): Map<string, string> {
  const directives = (headers.get('content-security-policy') ?? '').split('; ');
  return new Map(directives.map((one) => [one.split(' ')[0] ?? '', one.split(' ').slice(1).join(' ')]));
}

describe('the watch page', () => {
  test('an open video shows all its data to people and machines', async () => {
    const id = await add({
      description: 'Two sets\n of jazz.',
      view_count: 12_345,
      published_at: new Date('2026-11-12T10:00:00Z'),
      chapters: JSON.stringify([
        { startSec: 0, title: 'Tuning' },
        { startSec: 4.5, title: 'First' },
      ]),
    });
    const { status, body } = await get(`/watch/${id}?t=2.5`);
    assert.equal(status, 200);
    const image = `${SITE}/v/${id}/${FOLDER}/img/poster.jpg`;
    for (const part of [
      '<title>Evening concert · ',
      '<h1><bdi>Evening concert</bdi></h1>',
      '<span>12,345 views</span>',
      '<time datetime="2026-11-12T10:00:00.000Z" data-style="date">12 November 2026</time>',
      'data-seek="4.5"><span class="chapter-time">0:04</span> <bdi>First</bdi>',
      `<link rel="canonical" href="${SITE}/watch/${id}">`,
      `<link rel="alternate" type="application/json+oembed" href="${SITE}/oembed?url=${encodeURIComponent(`${SITE}/watch/${id}`)}&amp;format=json"`,
      '<meta property="og:type" content="video.other">',
      '<meta property="og:description" content="Two sets of jazz.">',
      `<meta property="og:image" content="${image}">`,
      `<meta property="og:video:url" content="${SITE}/embed/${id}">`,
      '<meta name="twitter:card" content="player">',
      `<marquee-player kind="video" src="/v/${id}/master.m3u8" label="Evening concert" ready`,
      `storyboard="/v/${id}/${FOLDER}/img/storyboard.vtt"`,
      `chapters="/v/${id}/chapters.vtt"`,
      `views="/api/v1/videos/${id}/views"`,
      ' start="2.5" autoplay',
    ]) {
      assert.ok(body.includes(part), part);
    }
    assert.ok(!body.includes('noindex'));
    const data: unknown = JSON.parse(
      /<script type="application\/ld\+json">(.*?)<\/script>/s.exec(body)?.[1] ?? '',
    );
    assert.deepEqual(data, {
      '@context': 'https://schema.org',
      '@type': 'VideoObject',
      name: 'Evening concert',
      description: 'Two sets\n of jazz.',
      thumbnailUrl: [image],
      uploadDate: '2026-11-12T10:00:00.000Z',
      duration: 'PT10S',
      embedUrl: `${SITE}/embed/${id}`,
      url: `${SITE}/watch/${id}`,
      author: { '@type': 'Person', name: account.id },
      interactionStatistic: {
        '@type': 'InteractionCounter',
        interactionType: { '@type': 'WatchAction' },
        userInteractionCount: 12_345,
      },
      hasPart: [
        { '@type': 'Clip', name: 'Tuning', startOffset: 0, endOffset: 4, url: `${SITE}/watch/${id}?t=0` },
        { '@type': 'Clip', name: 'First', startOffset: 4, endOffset: 10, url: `${SITE}/watch/${id}?t=4` },
      ],
    });
  });

  test('creator texts are escaped in markup and in the data block', async () => {
    const hostile = `"'></title></script><script>alert(1)</script><!--<img src=x onerror=alert(1)>\u2028`;
    const id = await add({
      title: hostile,
      description: hostile,
      chapters: JSON.stringify([{ startSec: 0, title: hostile }]),
    });
    for (const page of ['watch', 'embed']) {
      const { body } = await get(`/${page}/${id}`);
      assert.ok(!body.includes('<script>') && !body.includes('<img src=x') && !body.includes('<!--'), page);
    }
    const { body } = await get(`/watch/${id}`);
    const data: unknown = JSON.parse(
      /<script type="application\/ld\+json">(.*?)<\/script>/s.exec(body)?.[1] ?? '',
    );
    assert.ok(JSON.stringify(data).includes('alert(1)'));
  });

  test('only an open video is shown, and only a PUBLIC one is indexed by search engines', async () => {
    const missing = await get('/watch/vid_00000000000000000000000000');
    assert.equal(missing.status, 404);
    assert.match(missing.body, /This video was not found/);
    for (const visibility of VISIBILITIES) {
      const id = await add({ visibility });
      const isOpen = visibility === 'PUBLIC' || visibility === 'UNLISTED';
      for (const query of ['', '?token=x', '?token=playback.zzzzzz.x', '?t=-1&t=2']) {
        const page = await get(`/watch/${id}${query}`);
        const isSold = visibility === 'TIER' || visibility === 'PURCHASE';
        const isForFollowers = visibility === 'FOLLOWERS';
        assert.equal(page.status, isOpen || isSold || isForFollowers ? 200 : 404, visibility + query);
        if (isForFollowers) assert.match(page.body, /for followers only\..*Sign in to follow/s);
        else if (isSold) assert.match(page.body, /Get a sign-in link by email/);
        else if (!isOpen) assert.equal(page.body, missing.body);
        else assert.equal(page.body.includes('noindex'), visibility !== 'PUBLIC');
      }
    }
  });

  test('a token opens the watch page, is passed to the player and the chapters, and is not shared', async () => {
    const chapters = JSON.stringify([{ startSec: 3, title: 'x' }]);
    const id = await add({ visibility: 'TIER', chapters });
    const made = await app.request('POST', `/videos/${id}/playback-tokens`, { key });
    const { pathname, search } = new URL(made.string('data.watchUrl'));
    const { status, body } = await get(pathname + search);
    assert.equal(status, 200);
    assert.ok(body.includes(`src="/v/${id}/master.m3u8${search}"`));
    assert.ok(body.includes(`href="?t=3&amp;${search.slice(1)}"`));
    assert.ok(body.includes('noindex'));
    assert.ok(!body.includes('og:image') && !body.includes('ld+json') && !body.includes('oembed'));
    assert.ok(!body.includes(`${SITE}/watch/${id}?token`));
    assert.ok(!body.includes('views="'), 'nobody counts it');
  });

  test('a processing video shows a notice, and a failed one is unavailable', async () => {
    const files = { ...madeUpFiles(), renditions: [] };
    const waiting = await addVideo(app.container, account, files, { status: 'PROCESSING' });
    const page = await get(`/watch/${waiting}`);
    assert.equal(page.status, 200);
    assert.match(page.body, /This video is still processing/);
    assert.match(page.body, /data-phase="offline"/);
    assert.match(page.body, /noindex/);
    assert.doesNotMatch(page.body, / ready[ >]|hls-engine/);
    const failed = await addVideo(app.container, account, files, { status: 'FAILED' });
    const none = await get(`/watch/${failed}`);
    assert.equal(none.status, 404);
    assert.match(none.body, /This video is not available/);
    assert.doesNotMatch(none.body, /Evening concert/);
  });

  test('a video in test mode is not indexed by search engines', async () => {
    const id = await add();
    await app.container.db
      .updateTable('video')
      .set({ workspace_id: account.test })
      .where('id', '=', id)
      .execute();
    assert.match((await get(`/watch/${id}`)).body, /noindex/);
  });
});

describe('the embed page', () => {
  test('the embed page contains only the player and follows its query parameters', async () => {
    const id = await add();
    const plain = await get(`/embed/${id}`);
    assert.match(
      plain.body,
      /<body class="embed">\s*<main aria-label="Player"><marquee-player kind="video" /,
    );
    assert.doesNotMatch(plain.body, / autoplay| muted|<header/);
    assert.match((await get(`/embed/${id}?autoplay=1&muted=1&t=3`)).body, / start="3" autoplay muted /);
    assert.equal((await get('/embed/vid_00000000000000000000000000')).status, 404);
  });

  test('the embed page may be framed by the listed sites, and its player has a token', async () => {
    const open = await get(`/embed/${await add()}`);
    assert.equal(policyOf(open).get('frame-ancestors'), '*');
    const listing = await app.createKey();
    const body = { mode: 'ALLOWLIST', domains: ['shop.example', '*.club.example'] };
    (await app.request('PUT', '/me/embed-allowlist', { key: listing.key, body })).assertOk(200);
    const id = await add({}, listing.account);
    const embed = await get(`/embed/${id}`);
    assert.equal(
      policyOf(embed).get('frame-ancestors'),
      'http://shop.example:* http://*.club.example:* http://marquee.test:*',
    );
    assert.equal(policyOf(await get(`/watch/${id}`)).get('frame-ancestors'), "'none'");
    const playlist = /src="(\/v\/[^"]+)"/.exec(embed.body)?.[1] ?? '';
    assert.match(playlist, /\?token=site\./);
    assert.equal((await get(playlist)).status, 200);
    assert.equal((await get(playlist.replace(/\?.*/, ''))).status, 403);
  });
});

describe('oEmbed', () => {
  const oembed = async (url: string, query = '&format=json') => {
    const answer = await get(`/oembed?url=${encodeURIComponent(url)}${query}`);
    return {
      ...answer,
      json: answer.headers.get('content-type')?.includes('json') ? JSON.parse(answer.body) : null,
    };
  };

  test('oEmbed describes how to embed an open video', async () => {
    const id = await add();
    for (const page of ['watch', 'embed']) {
      const { status, json, headers } = await oembed(`${SITE}/${page}/${id}?t=3`);
      assert.equal(status, 200);
      assert.equal(headers.get('access-control-allow-origin'), '*');
      assert.deepEqual(json, {
        type: 'video',
        version: '1.0',
        title: 'Evening concert',
        author_name: account.id,
        provider_name: 'Marquee',
        provider_url: SITE,
        cache_age: 3600,
        html: `<iframe src="${SITE}/embed/${id}" title="Evening concert" width="1280" height="720" style="border:0" allow="autoplay; fullscreen; picture-in-picture" allowfullscreen></iframe>`,
        width: 1280,
        height: 720,
        thumbnail_url: `${SITE}/v/${id}/${FOLDER}/img/poster.jpg`,
        thumbnail_width: 1280,
        thumbnail_height: 720,
      });
    }
    const { json } = await oembed(`${SITE}/watch/${id}`, '&maxwidth=400&maxheight=1000');
    assert.deepEqual([json.width, json.height, json.thumbnail_url], [400, 225, undefined]);
  });

  test('oEmbed supports streams', async () => {
    const stream = await app.request('POST', '/streams', { key, body: { title: 'Live now' } });
    const { status, json } = await oembed(`${SITE}/watch/${stream.string('data.id')}`);
    assert.deepEqual([status, json.title, json.type], [200, 'Live now', 'video']);
  });

  test('oEmbed rejects restricted media, foreign URLs and malformed requests', async () => {
    const id = await add();
    const hidden = await add({ visibility: 'PRIVATE' });
    const others = [
      `https://evil.example/watch/${id}`,
      `${SITE}/v/${id}`,
      `${SITE}/watch/${id}/x`,
      `${SITE}/watch/${hidden}`,
    ];
    for (const url of [...others, `${SITE}/watch/vid_00000000000000000000000000`, `${SITE}/watch/x`]) {
      assert.equal((await oembed(url)).status, 404, url);
    }
    assert.equal((await oembed(`${SITE}/watch/${id}`, '&format=xml')).status, 501);
    for (const query of ['', '?url=', '?url=nonsense', `?url=${SITE}/watch/${id}&maxwidth=0`, '?url[]=x']) {
      assert.equal((await get(`/oembed${query}`)).status, 400, query);
    }
  });
});
