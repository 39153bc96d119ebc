import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { ROOT } from './program.ts';

const COPIED = [
  '.gitignore',
  'biome.json',
  'package.json',
  'migrations',
  'scripts',
  'src/features',
  'src/http/openapi',
  'src/kernel',
  'src/main',
  'test/contract',
  'test/repository',
];

let checkout: string;
before(() => {
  checkout = mkdtempSync(join(realpathSync(tmpdir()), 'marquee-feature-'));
  for (const path of COPIED) cpSync(join(ROOT, path), join(checkout, path), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(checkout, 'node_modules'));
});
after(() => rmSync(checkout, { recursive: true }));

function createFeature(...args: string[]) {
  return spawnSync(process.execPath, [join(checkout, 'scripts/create-feature.ts'), ...args], {
    cwd: checkout,
    encoding: 'utf8',
  });
}

const read = (path: string) => readFileSync(join(checkout, path), 'utf8');

test('create-feature writes the files of a feature and registers it', () => {
  const { status, stdout, stderr } = createFeature('audience/entries', 'etr');
  assert.equal(status, 0, stdout + stderr);
  assert.match(stdout, /^wrote migrations\/\d{4}_entries\.sql$/m);
  const folder = 'src/features/audience/entries';
  for (const file of ['routes', 'service', 'repository', 'schemas', 'module', 'api.test'])
    assert.doesNotMatch(read(`${folder}/${file}.ts`), /bookmark|bmk/i);
  assert.match(read(`${folder}/routes.ts`), /summary: 'Create an entry'/);
  for (const [path, line] of [
    [
      'src/main/modules.ts',
      /^import \{ createEntriesModule \} from '\.\.\/features\/audience\/entries\/module\.ts';$/m,
    ],
    ['src/main/modules.ts', /^ {2}add\(createEntriesModule\(platform\)\);$/m],
    ['src/kernel/ids.ts', /^ {2}\| 'etr';$/m],
    ['src/features/integration/changelog/first-release.ts', /^ {2}added\(\['entries'\], 'Entries', /m],
    [
      'src/features/integration/changelog/first-release-endpoints.generated.ts',
      /^ {2}entries: \['POST \/entries', 'GET \/entries', 'GET \/entries\/\{id\}'\],$/m,
    ],
    ['src/http/openapi/tags.ts', /^ {2}entries: 'Entries of a workspace\.',$/m],
    ['src/features/identity/privacy/data-inventory.ts', /^ {2}entry: workspace,$/m],
    ['test/repository/table-owners.ts', /^ {2}entry: 'features\/audience\/entries',$/m],
    ['test/contract/resources.ts', /\['\/entries\/\{id\}', made\(/],
  ] as const)
    assert.match(read(path), line, path);
});

test('create-feature rejects unknown domains, used prefixes and names that are not one plural word', () => {
  for (const [args, message] of [
    [['nowhere/pages'], /domain nowhere not found/],
    [['audience/pages', 'vid'], /prefix vid is in use/],
    [['audience/page'], /^create-feature: usage/],
    [['video/playlists', 'xyz'], /video\/playlists exists/],
  ] as const) {
    const { status, stderr } = createFeature(...args);
    assert.equal(status, 1);
    assert.match(stderr, message);
  }
});
