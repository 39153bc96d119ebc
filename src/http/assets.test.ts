import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { brotliCompressSync, brotliDecompressSync, gzipSync } from 'node:zlib';
import { fastify } from 'fastify';
import { createLogger } from '../platform/logger.ts';
import { loadAssets } from './assets.ts';
import { landingPage } from './landing-page.ts';

const SCRIPT = 'export const answer = 42;\n';
const MANIFEST = {
  'site/site.css': { file: 'assets/site-1.css', isEntry: true },
  'site/icon.svg': { file: 'assets/icon-1.svg' },
  'watch/main.ts': { file: 'assets/watch-1.js', isEntry: true, imports: ['_player.js'] },
  '_player.js': {
    file: 'assets/player-1.js',
    css: ['assets/player-1.css'],
    dynamicImports: ['player/engine.ts'],
  },
  'player/engine.ts': { file: 'assets/engine-1.js', imports: ['_progress.js', '_player.js'] },
  '_progress.js': { file: 'assets/progress-1.js' },
};

async function temporaryFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'marquee-assets-'));
  t.after(() => rm(folder, { recursive: true }));
  return folder;
}

async function setUp(t: TestContext, isBuilt = true) {
  const root = await temporaryFolder(t);
  await writeFile(join(root, 'secret.txt'), 'secret');
  const dir = join(root, 'dist');
  if (isBuilt) {
    await mkdir(join(dir, 'assets'), { recursive: true });
    await writeFile(join(dir, 'manifest.json'), JSON.stringify(MANIFEST));
    await writeFile(join(dir, 'assets/watch-1.js'), SCRIPT);
    await writeFile(join(dir, 'assets/watch-1.js.br'), brotliCompressSync(SCRIPT));
    await writeFile(join(dir, 'assets/watch-1.js.gz'), gzipSync(SCRIPT));
    await writeFile(join(dir, 'assets/icon-1.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>');
  }
  const assets = loadAssets({ dir, log: createLogger('silent') });
  const app = fastify();
  assets.register(app);
  landingPage({ assets })(app);
  t.after(() => app.close());
  return { assets, app };
}

test('an entry names its scripts, styles, and what to load early', async (t) => {
  const { assets } = await setUp(t);
  assert.deepEqual(assets.entry('watch/main.ts'), {
    scripts: ['/assets/watch-1.js'],
    styles: ['/assets/player-1.css'],
    preloads: ['/assets/player-1.js'],
    lazy: ['/assets/engine-1.js', '/assets/progress-1.js'],
  });
  assert.deepEqual(assets.entry('site/site.css')?.styles, ['/assets/site-1.css']);
  assert.equal(assets.url('site/icon.svg'), '/assets/icon-1.svg');
  assert.throws(() => assets.entry('other.ts'), /no entry other\.ts/);
});

test('files are served for ever, compressed, with their type', async (t) => {
  const { app } = await setUp(t);
  const plain = await app.inject({ url: '/assets/watch-1.js' });
  assert.equal(plain.statusCode, 200);
  assert.equal(plain.body, SCRIPT);
  assert.match(String(plain.headers['content-type']), /^(text|application)\/javascript/);
  assert.equal(plain.headers['cache-control'], 'public, max-age=31536000, immutable');
  assert.equal(plain.headers['x-content-type-options'], 'nosniff');
  const { etag } = plain.headers;
  assert.ok(etag);
  const headers = { 'if-none-match': etag };
  assert.equal((await app.inject({ url: '/assets/watch-1.js', headers })).statusCode, 304);

  const packed = await app.inject({
    url: '/assets/watch-1.js',
    headers: { 'accept-encoding': 'gzip, br' },
  });
  assert.equal(packed.headers['content-encoding'], 'br');
  assert.equal(packed.headers.vary, 'accept-encoding');
  assert.equal(packed.headers['cache-control'], 'public, max-age=31536000, immutable');
  assert.equal(brotliDecompressSync(packed.rawPayload).toString(), SCRIPT);
  assert.match(
    String((await app.inject({ url: '/assets/icon-1.svg' })).headers['content-type']),
    /^image\/svg\+xml/,
  );
});

test('no path leads out of the folder', async (t) => {
  const { app } = await setUp(t);
  const paths = [
    '../manifest.json',
    '..%2f..%2fsecret.txt',
    '%2e%2e/%2e%2e/secret.txt',
    '..%5c..%5csecret.txt',
  ];
  for (const path of [...paths, '', '%00', '/etc/passwd', 'watch-1.js%00.css']) {
    const answer = await app.inject({ url: `/assets/${path}` });
    assert.equal(answer.statusCode, 404, path);
    assert.ok(answer.body !== 'secret' && !answer.body.includes('isEntry'), path);
  }
});

test('assets get 404 and pages get 503 without a build', async (t) => {
  const { assets, app } = await setUp(t, false);
  assert.equal(assets.entry('watch/main.ts'), null);
  assert.equal((await app.inject({ url: '/assets/watch-1.js' })).statusCode, 404);
  const page = await app.inject({ url: '/' });
  assert.equal(page.statusCode, 503);
  assert.match(page.body, /have not been built/);
});

test('the landing page is compressed, and a cached copy gets 304', async (t) => {
  const { app } = await setUp(t);
  const first = await app.inject({ url: '/', headers: { 'accept-encoding': 'br' } });
  assert.equal(first.headers['content-encoding'], 'br');
  assert.ok(first.headers['content-security-policy']);
  const tag = String(first.headers.etag);
  const again = await app.inject({ url: '/', headers: { 'accept-encoding': 'br', 'if-none-match': tag } });
  assert.equal(again.statusCode, 304);
});

test('the landing page needs no script', async (t) => {
  const { app } = await setUp(t);
  const page = await app.inject({ url: '/' });
  assert.equal(page.statusCode, 200);
  assert.match(page.body, /<h1>This is a Marquee server\.<\/h1>/);
  assert.match(page.body, /href="\/openapi\.json"/);
  assert.doesNotMatch(page.body, /<script/);
  assert.match(String(page.headers['content-security-policy']), /frame-ancestors 'none'$/);
});
