import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';

const ROOT = join(import.meta.dirname, '../..');
const MAX_LINES = 500;
/** One ordered list, which a reader would have to put together again. */
const LONG_LIST = 'src/main/modules.ts';

const listed = spawnSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
  cwd: ROOT,
  encoding: 'utf8',
});
const skip = listed.status === 0 ? false : 'not a git checkout';
const files = (listed.status === 0 ? listed.stdout : '')
  .split('\0')
  .filter((path) => path !== '' && existsSync(join(ROOT, path)));
const binary = /[.](png|jpg|ico|woff2?|bin|mp4|flv|ts_segment)$|^test\/fuzz-corpus\//;
const texts = files
  .filter((path) => !binary.test(path))
  .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));

/** `path:line` of every match. */
function find(pattern: RegExp, of = texts): string[] {
  return of.flatMap(({ path, text }) =>
    text
      .split('\n')
      .flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : [])),
  );
}

test('no file contains a path of a developer’s machine', { skip }, () => {
  const pattern = /(?<![\w.~/-])[/](work|root|home|Users)[/][\w.-]+[/\w]/;
  assert.match('see /work/somewhere', pattern, 'the pattern finds what it should');
  const allowed = new Set(['test/repository/files.test.ts']);
  assert.deepEqual(
    find(
      pattern,
      texts.filter(({ path }) => !allowed.has(path)),
    ),
    [],
  );
});

test('no file runs the command line by npx, which outside a checkout installs an unrelated package', {
  skip,
}, () => {
  const pattern = /\b(?:npx|npm (?:exec|x)|pnpx|pnpm dlx|yarn dlx|bunx)\b[^|;]*\smarquee\b/;
  for (const runner of ['npx', 'npx --yes', 'npm exec --', 'pnpm dlx'])
    assert.match(`$ ${runner} marquee doctor`, pattern, 'the pattern finds what it should');
  assert.doesNotMatch('npx vite build, then node scripts/marquee.mjs doctor', pattern);
  assert.deepEqual(find(pattern), []);
});

test('the lock file names no registry: npm takes the one that is configured', { skip }, () => {
  const lock = texts.filter(({ path }) => path === 'package-lock.json');
  assert.equal(lock.length, 1);
  assert.deepEqual(find(/"resolved":/, lock), []);
  assert.deepEqual(
    find(
      /\bregistry[.][\w.-]+|_authToken/,
      texts.filter(({ path }) => path.endsWith('.npmrc')),
    ),
    [],
  );
});

interface Locked {
  optionalDependencies?: Record<string, string>;
}

function lockedPackages(): Record<string, Locked> {
  const lock: { packages: Record<string, Locked> } = JSON.parse(
    readFileSync(join(ROOT, 'package-lock.json'), 'utf8'),
  );
  return lock.packages;
}

// npm omits builds missing from its registry, and npm ci then rejects the lock file everywhere.
test('the lock file has the builds for every system', () => {
  const packages = lockedPackages();
  const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter(
      (name) =>
        packages[`${path}/node_modules/${name}`] === undefined &&
        packages[`node_modules/${name}`] === undefined,
    ),
  );
  assert.ok(Object.values(packages).some((locked) => locked.optionalDependencies !== undefined));
  assert.deepEqual(missing, []);
});

test('links between documents lead somewhere', { skip }, () => {
  const dead = texts
    .filter(({ path }) => path.endsWith('.md'))
    .flatMap(({ path, text }) =>
      [...text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)]
        .map((match) => match[1] ?? '')
        .filter((target) => !/^[a-z]+:/.test(target) && !existsSync(join(ROOT, dirname(path), target)))
        .map((target) => `${path}: ${target}`),
    );
  assert.deepEqual(dead, []);
});

test('the files that ARCHITECTURE.md names are there', { skip }, () => {
  const text = texts.find(({ path }) => path === 'ARCHITECTURE.md')?.text ?? '';
  const named = [...text.matchAll(/`([\w./-]*\w[.](?:ts|mjs|cjs))`/g)].map((match) => match[1] ?? '');
  assert.ok(named.length > 30);
  assert.deepEqual(
    named.filter((name) => !files.some((path) => `/${path}`.endsWith(`/${name}`))),
    [],
  );
});

test('every dependency is pinned to one version', () => {
  const manifest: unknown = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const versions = (name: 'dependencies' | 'devDependencies') => {
    if (typeof manifest !== 'object' || manifest === null || !(name in manifest)) return [];
    return Object.entries(Object(Reflect.get(manifest, name)));
  };
  const all = [...versions('dependencies'), ...versions('devDependencies')];
  assert.ok(all.length > 10);
  assert.deepEqual(
    all.filter(([, version]) => !/^(npm:[\w-]+@)?\d+[.]\d+[.]\d+[\w.-]*$/.test(String(version))),
    [],
  );
});

test('no file is long, except generated files and the list of modules', { skip }, () => {
  const long = texts.filter(({ path, text }) => {
    const isSource = /^(src|sdk|web|scripts|test|e2e|bench)\/.*[.](tsx?|mjs)$/.test(path);
    const isExempt = path.endsWith('.generated.ts') || path === LONG_LIST;
    return isSource && !isExempt && text.split('\n').length - 1 > MAX_LINES;
  });
  assert.deepEqual(
    long.map(({ path }) => path),
    [],
  );
});
