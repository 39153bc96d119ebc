/**
 * `npm run create-feature DOMAIN/NAME [PREFIX]`: writes the files of a new feature and registers it, as
 * CONTRIBUTING.md describes. NAME is a plural noun of one word, PREFIX the prefix of its IDs.
 */
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ROOT, runProgram } from './program.ts';

const TEMPLATES = join(import.meta.dirname, 'create-feature');
const MIGRATION_STEP = 10;

interface Feature {
  domain: string;
  /** Plural, such as `bookmarks`. */
  name: string;
  singular: string;
  prefix: string;
}

function fail(message: string): never {
  process.stderr.write(`create-feature: ${message}\n`);
  process.exit(1);
}

function capitalize(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

function write(path: string, text: string): void {
  mkdirSync(dirname(join(ROOT, path)), { recursive: true });
  writeFileSync(join(ROOT, path), text);
  process.stdout.write(`wrote ${path}\n`);
}

function parseArguments([target = '', prefix]: readonly string[]): Feature {
  const [, domain = '', name = ''] = /^([a-z]+)\/([a-z]{3,}s)$/.exec(target) ?? [];
  if (name === '')
    fail(
      'usage: npm run create-feature DOMAIN/NAME [PREFIX], such as audience/bookmarks bmk (NAME: one plural word)',
    );
  const domains = globSync('src/features/*/*/', { cwd: ROOT }).map((path) => path.split('/')[2]);
  if (!domains.includes(domain))
    fail(`domain ${domain} not found: use one of ${[...new Set(domains)].join(', ')}`);
  if (existsSync(join(ROOT, `src/features/${domain}/${name}`))) fail(`${target} exists`);
  const singular = name.endsWith('ies') ? `${name.slice(0, -3)}y` : name.slice(0, -1);
  const feature = { domain, name, singular, prefix: prefix ?? name.replace(/[aeiou]/g, '').slice(0, 3) };
  if (!/^[a-z]{2,4}$/.test(feature.prefix)) fail('PREFIX must have two to four lowercase letters');
  if (read('src/kernel/ids.ts').includes(`| '${feature.prefix}'`))
    fail(`prefix ${feature.prefix} is in use: pass another PREFIX`);
  return feature;
}

/** Returns the text of a template with the names of the feature in place of the example's. */
function render(text: string, { domain, name, singular, prefix }: Feature): string {
  return text
    .replaceAll('audience/bookmarks', `${domain}/${name}`)
    .replaceAll('bookmarks', name)
    .replaceAll('Bookmarks', capitalize(name))
    .replaceAll('bookmark', singular)
    .replaceAll('Bookmark', capitalize(singular))
    .replaceAll('bmk', prefix)
    .replaceAll(/\b([Aa]) (?=[aeio])/g, '$1n ');
}

function nextMigration(): string {
  const numbers = globSync('migrations/*.sql', { cwd: ROOT }).map((path) =>
    Number(/\/(\d+)_/.exec(path)?.[1]),
  );
  const next = (Math.floor(Math.max(...numbers) / MIGRATION_STEP) + 1) * MIGRATION_STEP;
  return String(next).padStart(4, '0');
}

/** Files by their template. */
function filesOf({ domain, name }: Feature): Record<string, string> {
  const folder = `src/features/${domain}/${name}`;
  const inFolder = ['routes', 'service', 'repository', 'schemas', 'module', 'api.test'].map((file) => [
    `${file}.ts.txt`,
    `${folder}/${file}.ts`,
  ]);
  return {
    ...Object.fromEntries(inFolder),
    'migration.sql.txt': `migrations/${nextMigration()}_${name}.sql`,
  };
}

/** Registrations: the file, the text before which a line is inserted, and the line. */
const REGISTRATIONS: readonly [path: string, before: string | RegExp, line: string][] = [
  [
    'src/main/modules.ts',
    /import \{ createMaintenanceModule/,
    "import { createBookmarksModule } from '../features/audience/bookmarks/module.ts';\n",
  ],
  ['src/main/modules.ts', / {2}add\(createMaintenanceModule/, '  add(createBookmarksModule(platform));\n'],
  ['src/kernel/ids.ts', /;\n\nconst LETTERS/, "\n  | 'bmk'"],
  [
    'src/features/integration/changelog/first-release.ts',
    /\];\n$/,
    "  added(['bookmarks'], 'Bookmarks', 'Bookmarks of a workspace.'),\n",
  ],
  [
    'src/features/integration/changelog/first-release-endpoints.generated.ts',
    /\} as const;\n$/,
    "  bookmarks: ['POST /bookmarks', 'GET /bookmarks', 'GET /bookmarks/{id}'],\n",
  ],
  ['src/http/openapi/tags.ts', /\};\n\n\/\*\* The tags/, "  bookmarks: 'Bookmarks of a workspace.',\n"],
  [
    'src/features/identity/privacy/data-inventory.ts',
    / {2}workspace: \{ of: 'account' \},\n/,
    '  bookmark: workspace,\n',
  ],
  ['test/repository/table-owners.ts', /\};\n/, "  bookmark: 'features/audience/bookmarks',\n"],
  [
    'test/contract/resources.ts',
    / {4}\['\/playlists\/\{id\}'/,
    "    ['/bookmarks/{id}', made('/bookmarks', { title: 'A bookmark' })],\n",
  ],
];

function register(feature: Feature): void {
  for (const [path, before, line] of REGISTRATIONS) {
    const text = read(path);
    const at = text.search(before);
    if (at < 0) fail(`${path} has no match for ${before}`);
    write(path, text.slice(0, at) + render(line, feature) + text.slice(at));
  }
}

const feature = parseArguments(process.argv.slice(2));
const files = Object.entries(filesOf(feature));
for (const [template, path] of files)
  write(path, render(readFileSync(join(TEMPLATES, template), 'utf8'), feature));
register(feature);
const changed = [...files.map(([, path]) => path), ...REGISTRATIONS.map(([path]) => path)].filter((path) =>
  path.endsWith('.ts'),
);
await runProgram([join(ROOT, 'node_modules/.bin/biome'), 'check', '--write', ...changed], {
  timeoutMs: 60_000,
});
process.stdout.write(`next: npm run generate, npm run check, npm test -- ${feature.name}\n`);
