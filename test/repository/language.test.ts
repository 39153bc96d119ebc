import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const ROOT = join(import.meta.dirname, '../..');
const CORPORA = ['comments', 'errors', 'ui', 'api', 'docs', 'tests'] as const;
type Corpus = (typeof CORPORA)[number];

interface Text {
  corpus: Corpus;
  /** Path of the file, and the line or key inside it. */
  at: string;
  text: string;
}

interface Ban {
  corpora: readonly Corpus[];
  pattern: RegExp;
}

const LITERAL = String.raw`('(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|\`[^\`]*\`)`;
const COMMENT = /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/[^\n]*/g;
const TITLE = new RegExp(String.raw`^\s*(?:await t\.)?(?:test|describe|it)\(\s*${LITERAL}`, 'gm');
const MESSAGE = new RegExp(
  String.raw`(?:badRequest\(\s*(?:\`[^\`]*\`|'[^']*'|[\w.]+),\s*|(?:message|description):\s*|conflict\([^'"\`)]{0,40}?|quotaExceeded\([^'"\`)]{0,60}?,\s*|throw new \w*Error\(\s*)${LITERAL}`,
  'g',
);

const GENERATED = /generated|fixtures|\.d\.mts$/;
/** Documents that quote API texts, which are read from `openapi.json`, or that record the past. */
const GENERATED_DOCUMENT = /^(CHANGELOG|docs\/(errors|endpoints|concepts\/events))\.md$/;

function lineAt(source: string, index: number): number {
  return source.slice(0, index).split('\n').length;
}

function literalsIn(corpus: Corpus, path: string, source: string, pattern: RegExp): Text[] {
  return [...source.matchAll(pattern)].map(({ index, 1: literal = '' }) => ({
    corpus,
    at: `${path}:${lineAt(source, index)}`,
    text: literal.slice(1, -1).replace(/\\(.)/g, '$1').replace(/\s+/g, ' ').trim(),
  }));
}

function commentsIn(path: string, source: string): Text[] {
  return [...source.matchAll(COMMENT)].flatMap(({ index, 0: block }) => {
    const first = lineAt(source, index);
    return block.split('\n').map((line, offset) => ({
      corpus: 'comments' as const,
      at: `${path}:${first + offset}`,
      text: line.replace(/^\s*(\/\*\*?|\*\/|\*|\/\/)?\s?/, '').replace(/\s*\*\/\s*$/, ''),
    }));
  });
}

function proseIn(path: string, document: string): Text[] {
  let isFenced = false;
  return document.split('\n').flatMap((line, index) => {
    if (/^\s*```/.test(line)) isFenced = !isFenced;
    const text = isFenced ? '' : line.replace(/\]\([^)]*\)/g, '').trim();
    return [{ corpus: 'docs' as const, at: `${path}:${index + 1}`, text }];
  });
}

/** Returns the strings of a JSON value with their keys. */
function stringsIn(value: unknown, key: string): { key: string; text: string }[] {
  if (typeof value === 'string') return [{ key, text: value }];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value)
    .filter(([name]) => name !== 'example' && name !== 'examples')
    .flatMap(([name, child]) => stringsIn(child, `${key}.${name}`));
}

function textsOf(path: string, source: string): Text[] {
  if (/^(src|web|scripts|test|e2e|bench)\/.*\.(ts|tsx|mts|mjs)$/.test(path) && !GENERATED.test(path)) {
    const comments = commentsIn(path, source);
    if (/\.test\.tsx?$/.test(path)) return [...comments, ...literalsIn('tests', path, source, TITLE)];
    if (path.startsWith('src/')) return [...comments, ...literalsIn('errors', path, source, MESSAGE)];
    return comments;
  }
  if (/locales\/en\/.*\.json$/.test(path))
    return stringsIn(JSON.parse(source), '').map(({ key, text }) => ({
      corpus: 'ui',
      at: `${path} ${key}`,
      text,
    }));
  if (path === 'openapi.json')
    return stringsIn(JSON.parse(source), '')
      .filter(({ key }) => /\.(summary|description)$/.test(key))
      .flatMap(({ key, text }) => text.split(/\n+/).map((line) => ({ corpus: 'api', at: key, text: line })));
  return path.endsWith('.md') && !GENERATED_DOCUMENT.test(path) ? proseIn(path, source) : [];
}

function isCorpus(name: string): name is Corpus {
  return CORPORA.some((corpus) => corpus === name);
}

function parseBan(line: string): Ban {
  const [, names = '', source = '', flags] = /^(\S+) +\/(.*)\/(i?)$/.exec(line) ?? [];
  const corpora = names === 'all' ? CORPORA : names.split(',').filter(isCorpus);
  assert.ok(corpora.length > 0 && source !== '', `docs/glossary.md: invalid pattern: ${line}`);
  return { corpora, pattern: new RegExp(source, flags) };
}

const glossary = readFileSync(join(ROOT, 'docs/glossary.md'), 'utf8');
const [, block = ''] = /^## Banned patterns\n[\s\S]*?^```text\n([\s\S]*?)^```/m.exec(glossary) ?? [];
const bans = block.trim().split('\n').map(parseBan);

function matchesIn(texts: readonly Text[], { corpora, pattern }: Ban): Text[] {
  return texts.filter(
    ({ corpus, text }) => corpora.includes(corpus) && pattern.test(text.replace(/`[^`]*`/g, '').trim()),
  );
}

const listed = spawnSync('git', ['ls-files', '-z'], { cwd: ROOT, encoding: 'utf8' });
const skip = listed.status === 0 ? false : 'not a git checkout';
const files = (listed.status === 0 ? listed.stdout : '')
  .split('\0')
  .filter((path) => /\.(tsx?|m[jt]s|json|md)$/.test(path) && existsSync(join(ROOT, path)))
  .map((path) => ({ path, source: readFileSync(join(ROOT, path), 'utf8') }));

test('no text matches a banned pattern of docs/glossary.md', { skip }, () => {
  const texts = files.flatMap(({ path, source }) => textsOf(path, source));
  for (const corpus of CORPORA)
    assert.ok(texts.filter((text) => text.corpus === corpus).length > 500, `${corpus}: texts are found`);
  const found = bans.flatMap((ban) => matchesIn(texts, ban).map(({ at, text }) => `${at}: ${text}`));
  assert.equal(found.join('\n'), '', 'see the replacements in docs/glossary.md');
});

/** Texts that the patterns must find, in a file of each corpus. */
const SAMPLES: readonly [path: string, source: string][] = [
  [
    'src/a.ts',
    [
      '// Is it valid?',
      '// Passed to whoever asks, seen by nobody, and told of it.',
      '// Hears of it, stands at the end, gives it back, is good until noon.',
      '// Mended anew beside it for good, not any more, all the same unless told.',
      '// Repeating it changes nothing of whatever most viewers serialise.',
      "throw new AppError('This is no address.');",
      "throw badRequest('url', 'there is no such page');",
      "const issue = { message: 'kind is not such as exists' };",
    ].join('\n'),
  ],
  ['src/a.test.ts', "test('a key is told of', () => {});"],
  ['web/locales/en/a.json', '{"a": {"b": "Nobody is there."}}'],
  ['openapi.json', '{"paths": {"summary": "Hear of\\nbehaviour"}}'],
  ['web/a.md', 'It starts anew.\n`anew`\n```\nanew\n```\n'],
];

test('each banned pattern finds its sample, and quotations are exempt', () => {
  const texts = SAMPLES.flatMap(([path, source]) => textsOf(path, source));
  const unmatched = bans
    .filter((ban) => matchesIn(texts, ban).length === 0)
    .map(({ pattern }) => pattern.source);
  assert.deepEqual(unmatched, []);
  const found = new Set(bans.flatMap((ban) => matchesIn(texts, ban).map(({ at }) => at)));
  assert.deepEqual(
    [...found].filter((at) => !at.startsWith('src/a.ts')).sort(),
    ['.paths.summary', 'web/a.md:1', 'src/a.test.ts:1', 'web/locales/en/a.json .a.b'].sort(),
  );
});

const EXPORT =
  /^export (?:declare |abstract |async )*(?:const|let|class|function\*?|interface|type|enum) ([\w$]+)/gm;
const BANNED_NAME =
  /^(?:Told|Said|Kept|Shown|Asked|Asking|Wanted|Taken|Held|Known|Whose|Beside|Further|Former|Standing|Finding|Given|Built|Piece|Walk|Deed|Places)$|^(?:MOST|LEAST)_|_KEPT_|^lackOf[A-Z]|^(?!is)\w*Refusal$/;

test('no exported name is a bare participle or a banned word', { skip }, () => {
  for (const name of ['Told', 'MOST_ROWS', 'ROWS_KEPT_MS', 'lackOfTool', 'LoginRefusal'])
    assert.match(name, BANNED_NAME);
  const names = files
    .filter(({ path }) => /^(src|web|scripts)\/.*\.tsx?$/.test(path) && !GENERATED.test(path))
    .flatMap(({ path, source }) => [...source.matchAll(EXPORT)].map(([, name = '']) => ({ path, name })));
  assert.ok(names.length > 2000);
  const banned = names
    .filter(({ name }) => BANNED_NAME.test(name))
    .map(({ path, name }) => `${path}: ${name}`);
  assert.deepEqual(banned, []);
});
