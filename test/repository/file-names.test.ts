import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';

const ROOT = join(import.meta.dirname, '../..');
const WORD = '[a-z0-9]+(?:-[a-z0-9]+)*';

/** Layer of a file in a feature, as the whole name or after its subject: `watch.pages.ts`. */
const LAYERS = [
  'routes',
  'pages',
  'views',
  'schemas',
  'service',
  'repository',
  'rules',
  'events',
  'emit',
  'consumers',
  'jobs',
];
/** Kind of test: property test, test that runs separately, or long form. */
const KINDS = ['property', 'alone', 'full'];

/** Files with another name, and the reason. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'src/platform/db/tables.generated.ts': 'generated: the name warns against editing it',
  'src/features/integration/changelog/first-release-endpoints.generated.ts':
    'generated: the name warns against editing it',
};
/** Declarations in other files, and the reason. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'src/features/module.ts': 'the types of modules, shared by all features',
  'src/features/video/uploads/tus.ts':
    'the tus endpoint: a protocol outside the base URL, whose creations are as a route',
};

const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  .map((path) => `src/${path.replaceAll('\\', '/')}`)
  .filter((path) => path.endsWith('.ts'));
const exists = new Set(sources);

/** Returns the problem with the name; null if there is none. */
function fault(path: string): string | null {
  const layers = path.startsWith('src/features/') ? LAYERS : [];
  const layer = layers.length === 0 ? '' : `(?:[.](?:${layers.join('|')}))?`;
  const name = new RegExp(`^${WORD}${layer}(?:(?:[.](?:${KINDS.join('|')}))?[.]test)?[.]ts$`);
  if (!name.test(basename(path))) return `${path}: no name of ours`;
  const [, subject] = /^(.*[.][a-z]+?)(?:[.](?:property|alone|full))?[.]test[.]ts$/.exec(path) ?? [];
  const isLayer = subject !== undefined && layers.some((one) => subject.endsWith(`.${one}`));
  if (isLayer && !exists.has(`${subject}.ts`)) return `${path}: there is no ${basename(subject)}.ts`;
  return null;
}

test('the file name grammar rejects invalid names', () => {
  for (const path of ['src/features/video/videos/a.pages.ts', 'src/http/rate-limit.alone.test.ts'])
    assert.equal(fault(path), null);
  for (const path of [
    'src/features/video/videos/a.utils.ts',
    'src/http/a.service.ts',
    'src/http/camelCase.ts',
  ])
    assert.match(fault(path) ?? '', /no name of ours/);
  assert.match(fault('src/features/video/videos/gone.pages.test.ts') ?? '', /there is no gone[.]pages[.]ts/);
});

test('files are named by subject and layer, and test files by the tested module', () => {
  const faults = sources
    .filter((path) => EXCEPTIONS[path] === undefined)
    .map(fault)
    .filter((one) => one !== null);
  assert.deepEqual(faults, []);
});

/** Files in which each kind of declaration belongs. */
const HOMES = [
  { call: /\bdefineRoute\(\{/, layer: 'routes' },
  { call: /\bdefineEvent\(/, layer: 'events' },
  { call: /\bdefineJob\(/, layer: 'jobs' },
  { call: /\bapp: FastifyInstance\b/, layer: 'pages' },
];

test('routes, events, jobs and pages are declared in files named for them', () => {
  const stray = sources
    .filter((path) => path.startsWith('src/features/') && !path.endsWith('.test.ts'))
    .filter((path) => ELSEWHERE[path] === undefined)
    .flatMap((path) => {
      const text = readFileSync(join(ROOT, path), 'utf8');
      const layer = basename(path, '.ts').split('.').at(-1);
      return HOMES.filter((home) => home.call.test(text) && home.layer !== layer).map(
        (home) => `${path} declares ${home.layer}`,
      );
    });
  assert.deepEqual(stray, []);
});

test('every exception is still needed', () => {
  for (const path of [...Object.keys(EXCEPTIONS), ...Object.keys(ELSEWHERE)]) {
    assert.ok(
      exists.has(path),
      `${path} is gone: take it off the list in ${basename(dirname(import.meta.filename))}`,
    );
  }
});
