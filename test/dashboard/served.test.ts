import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { fastify } from 'fastify';
import { loadAssets } from '../../src/http/assets.ts';
import { dashboardPage } from '../../src/http/dashboard.ts';
import { createLogger } from '../../src/platform/logger.ts';

const DIST = join(import.meta.dirname, '../../web/dist');
const FIRST_LOAD_BYTES = 240_000;

async function get(path: string) {
  const app = fastify();
  const assets = loadAssets({ dir: DIST, log: createLogger('silent') });
  assets.register(app);
  dashboardPage({ assets, mediaOrigins: ['https://media.example'] })(app);
  const reply = await app.inject({ url: path });
  await app.close();
  return reply;
}

test('the page is served at /dashboard and every path below it', async () => {
  for (const path of ['/dashboard', '/dashboard/', '/dashboard/keys/key_1?tab=log']) {
    const { statusCode, headers, body } = await get(path);
    assert.equal(statusCode, 200, path);
    assert.equal(headers['cache-control'], 'no-store');
    assert.match(body, /<div id="root"><\/div>/);
    assert.match(body, /<script type="module" src="\/assets\/dashboard-[\w-]+[.]js"><\/script>/);
  }
});

test('the content security policy allows only own scripts and styles', async () => {
  const [first, second] = await Promise.all([get('/dashboard'), get('/dashboard')]);
  const policy = String(first.headers['content-security-policy']);
  assert.match(policy, /script-src 'self'(;|$)/);
  assert.match(policy, /img-src 'self' https:[/][/]media[.]example data: blob:(;|$)/);
  assert.match(policy, /frame-ancestors 'none'/);
  assert.doesNotMatch(policy, /unsafe/);
  const nonce = /'nonce-([^']+)'/.exec(policy)?.[1] ?? '';
  assert.ok(nonce.length >= 22);
  assert.match(first.body, new RegExp(`<meta name="style-nonce" nonce="${RegExp.escape(nonce)}">`));
  assert.notEqual(policy, second.headers['content-security-policy'], 'each answer has a nonce of its own');
});

interface Chunk {
  file: string;
  imports?: string[];
  css?: string[];
}

/** Returns the files of these modules, their imports, and their styles. */
function filesOf(modules: string[]): Set<string> {
  const manifest: Record<string, Chunk> = JSON.parse(readFileSync(join(DIST, 'manifest.json'), 'utf8'));
  const keys = new Set(modules);
  const files = new Set<string>();
  for (const key of keys) {
    const chunk = manifest[key];
    assert.ok(chunk !== undefined, key);
    for (const file of [chunk.file, ...(chunk.css ?? [])]) files.add(file);
    for (const next of chunk.imports ?? []) keys.add(next);
  }
  return files;
}

test('the first page loads at most 240 kB', () => {
  const files = filesOf(
    [
      'main.tsx',
      'pages/home/home-page.tsx',
      'app/prompt-dialogs.tsx',
      'locales/de/app.json',
      'locales/de/home.json',
    ].map((path) => `dashboard/${path}`),
  );
  const bytes = [...files]
    .map((file) => gzipSync(readFileSync(join(DIST, file))).length)
    .reduce((a, b) => a + b);
  assert.ok(bytes > 100_000, 'it found the files');
  assert.ok(bytes <= FIRST_LOAD_BYTES, `${bytes} bytes in ${files.size} files`);
});

test('public pages load nothing of the dashboard', () => {
  const shell = filesOf(['dashboard/main.tsx']);
  const shared = [...filesOf(['watch/main.ts', 'embed/main.ts', 'room/main.ts', 'book/main.ts'])]
    .filter((file) => shell.has(file))
    .map((file) => readFileSync(join(DIST, file)).length);
  assert.ok(
    shared.every((bytes) => bytes < 3000),
    `${shared}`,
  );
});
