import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';

const ROOT = join(import.meta.dirname, '../..');

const listed = spawnSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
  cwd: ROOT,
  encoding: 'utf8',
});
const skip = listed.status === 0 ? false : 'not a git checkout';

/**
 * Migrations are never changed, whatever their comments cite; this file contains the patterns it searches
 * for.
 */
const exempt = /^migrations\/|^test\/repository\/citations\.test\.ts$|^package-lock\.json$/;
const readable = /\.(ts|mjs|js|cjs|json|md|css|html|sql|sh|yml|yaml)$/;
const texts = (listed.status === 0 ? listed.stdout : '')
  .split('\0')
  .filter((path) => readable.test(path) && !exempt.test(path) && existsSync(join(ROOT, path)))
  .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));

/** A page of the noun that CONTRIBUTING.md adds as its example. */
const example = 'docs/concepts/bookmarks.md';

interface Citation {
  /** `path:line` of the citation. */
  at: string;
  /** Path relative to the root of the checkout. */
  target: string;
  anchor: string | undefined;
}

/** `docs/x.md#anchor` and `ARCHITECTURE.md#anchor` anywhere, and the links of documents. */
function citationsOf({ path, text }: { path: string; text: string }): Citation[] {
  return text.split('\n').flatMap((line, index) => {
    const at = `${path}:${index + 1}`;
    const named = [...line.matchAll(/(?<![\w-])(docs\/[\w./-]+\.md|[A-Z]+\.md)(?:#([\w-]+))?/g)]
      .filter(([whole]) => !line.includes(`](${whole}`) && !line.includes(`/${whole}`))
      .map(([, target = '', anchor]) => ({ at, target, anchor }));
    const links = [...(path.endsWith('.md') ? line.matchAll(/\]\(([\w./-]*)(?:#([\w-]+))?\)/g) : [])]
      .filter(([, target = '', anchor]) => target.endsWith('.md') || (target === '' && anchor !== undefined))
      .map(([, target = '', anchor]) => ({
        at,
        target: target === '' ? path : normalize(join(dirname(path), target)),
        anchor,
      }));
    return [...named, ...links];
  });
}

const anchors = new Map<string, ReadonlySet<string>>();

/** Returns the anchors that GitHub generates for a document's headings. */
function anchorsOf(path: string): ReadonlySet<string> {
  const known = anchors.get(path);
  if (known !== undefined) return known;
  const text = readFileSync(join(ROOT, path), 'utf8').replace(/^```[\s\S]*?^```/gm, '');
  const slugs = new Map<string, number>();
  const all = [...text.matchAll(/^#{1,6} +(.+)$/gm)].map(([, heading = '']) => {
    const slug = heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .trim()
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-');
    const seen = slugs.get(slug) ?? 0;
    slugs.set(slug, seen + 1);
    return seen === 0 ? slug : `${slug}-${seen}`;
  });
  const found = new Set(all);
  anchors.set(path, found);
  return found;
}

test('every cited page of the documentation is there, with its section', { skip }, () => {
  const cited = texts.flatMap(citationsOf);
  assert.ok(cited.length > 200, 'citations are found');
  const dead = cited
    .filter(
      ({ target, anchor }) =>
        target !== example &&
        (!existsSync(join(ROOT, target)) || (anchor !== undefined && !anchorsOf(target).has(anchor))),
    )
    .map(({ at, target, anchor }) => `${at}: ${target}${anchor === undefined ? '' : `#${anchor}`}`);
  assert.deepEqual(dead, []);
});

test('every source file that a document names is there', { skip }, () => {
  const layers = 'kernel|platform|http|events|jobs|media|features|main';
  const named = new RegExp(`\`(?:src/)?((?:${layers})/[\\w./-]+[.]ts)\``, 'g');
  const dead = texts
    .filter(({ path }) => path === 'ARCHITECTURE.md' || path.startsWith('docs/'))
    .flatMap(({ path, text }) =>
      [...text.matchAll(named)]
        .map(([, file = '']) => `${path}: src/${file}`)
        .filter((line) => !existsSync(join(ROOT, line.slice(line.indexOf('src/'))))),
    );
  assert.deepEqual(dead, []);
});

/** The sections of C23 are those of docs/decisions/contract-audit.md, by which its tests are named. */
const FOREIGN =
  /\b[Cc]ontract,? (section )?§?\d|\bthe contract, section|§|(?<![\w/-])(api|architecture|delivery|media|partner-api|peers|rooms-ui|style)\.md\b|\bC(?!23\.)\d+\.\d+\b/;

test('no file cites a document that is missing from the repository', { skip }, () => {
  for (const text of ['contract 6.3', 'Contract, section 5', '`api.md` C3.1', '(media.md 2)', 'see C0.18']) {
    assert.match(text, FOREIGN, 'the pattern finds what it should');
  }
  const foreign = texts.flatMap(({ path, text }) =>
    text
      .split('\n')
      .flatMap((line, index) => (FOREIGN.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : [])),
  );
  assert.equal(foreign.join('\n'), '', 'cite a page of docs/ (CONTRIBUTING.md, "Comments and documents")');
});
