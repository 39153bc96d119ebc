import assert from 'node:assert/strict';
import { globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import ts from 'typescript';
import { RESOURCE_KEYS } from '../../src/kernel/plans.ts';

const DASHBOARD = join(import.meta.dirname, '../../web/dashboard');
const LANGUAGES = ['en', 'de'];
/** Attributes that are visible or read by screen readers. */
const SPOKEN = new Set([
  'label',
  'title',
  'placeholder',
  'description',
  'text',
  'aria-label',
  'alt',
  'message',
]);
/** Names that are not translated. */
const NAMES = new Set(['Marquee']);

interface Use {
  namespace: string;
  /** Key, or the prefix of a template. */
  key: string;
  isPrefix: boolean;
  at: string;
}

const sources = globSync('**/*.{ts,tsx}', { cwd: DASHBOARD }).filter(
  (path) => !/generated|[.]test[.]/.test(path),
);
const trees = sources.map((path) => ({
  path,
  tree: ts.createSourceFile(path, readFileSync(join(DASHBOARD, path), 'utf8'), ts.ScriptTarget.Latest, true),
}));

/** Returns the namespace of a file: pages of an area use that of the area, all others that of the shell. */
function namespaceOf(path: string): string {
  return /^pages\/([^/]+)\//.exec(path)?.[1] ?? 'app';
}

/** Returns the keys of all texts in a translation file, as `a.b`. */
function flatten(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return [path];
  return Object.entries(value).flatMap(([key, inner]) =>
    flatten(inner, path === '' ? key : `${path}.${key}`),
  );
}

function wordsOf(language: string, namespace: string): string[] {
  return flatten(JSON.parse(readFileSync(join(DASHBOARD, `locales/${language}/${namespace}.json`), 'utf8')));
}

function walk(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node);
  node.forEachChild((child) => walk(child, visit));
}

const lineOf = (path: string, tree: ts.SourceFile, node: ts.Node) =>
  `${path}:${tree.getLineAndCharacterOfPosition(node.getStart()).line + 1}`;

/** Returns the keys used by `t('…')`, `` t(`….${x}`) `` and `i18nKey`. */
function usesIn(path: string, tree: ts.SourceFile): { uses: Use[]; opaque: string[] } {
  const uses: Use[] = [];
  const opaque: string[] = [];
  const namespace = namespaceOf(path);
  walk(tree, (node) => {
    if (!ts.isCallExpression(node) || node.expression.getText() !== 't') return;
    const [key] = node.arguments;
    const at = lineOf(path, tree, node);
    if (key === undefined) return;
    if (ts.isStringLiteralLike(key)) uses.push({ namespace, key: key.text, isPrefix: false, at });
    else if (ts.isTemplateExpression(key)) uses.push({ namespace, key: key.head.text, isPrefix: true, at });
    else opaque.push(at);
  });
  return { uses, opaque };
}

/** Returns literal text between tags, and in attributes that screen readers read. */
function bareWords(path: string, tree: ts.SourceFile): string[] {
  const found: string[] = [];
  const isWords = (text: string) => /\p{L}{2}/u.test(text) && !NAMES.has(text.trim());
  walk(tree, (node) => {
    if (ts.isJsxText(node) && isWords(node.text))
      found.push(`${lineOf(path, tree, node)}: ${node.text.trim()}`);
    if (!ts.isJsxAttribute(node) || !SPOKEN.has(node.name.getText())) return;
    const { initializer } = node;
    if (initializer !== undefined && ts.isStringLiteral(initializer) && isWords(initializer.text)) {
      found.push(`${lineOf(path, tree, node)}: ${initializer.text}`);
    }
  });
  return found;
}

const read = trees.map(({ path, tree }) => usesIn(path, tree));
const uses = read.flatMap((one) => one.uses);
/** Looked up by the error code of the API. */
uses.push({ namespace: 'app', key: 'error.', isPrefix: true, at: 'app/error-message.ts' });

const namespaces = readdirSync(join(DASHBOARD, 'locales/en')).map((name) => name.replace(/[.]json$/, ''));
/** `key_one` and `key_other` are the forms of `key`. */
const base = (key: string) => key.replace(/_(zero|one|two|few|many|other)$/, '');

test('every language has the keys of every other', () => {
  assert.ok(namespaces.length > 2);
  for (const language of LANGUAGES) {
    assert.deepEqual(
      readdirSync(join(DASHBOARD, 'locales', language)).sort(),
      namespaces.map((name) => `${name}.json`).sort(),
    );
    for (const name of namespaces) {
      assert.deepEqual(
        new Set(wordsOf(language, name).map(base)),
        new Set(wordsOf('en', name).map(base)),
        `${language}/${name}`,
      );
    }
  }
});

test('every used key exists', () => {
  assert.ok(uses.length > 50);
  const missing = uses.filter(({ namespace, key, isPrefix }) => {
    const words = namespaces.includes(namespace) ? wordsOf('en', namespace).map(base) : [];
    return isPrefix ? !words.some((word) => word.startsWith(key)) : !words.includes(key);
  });
  assert.deepEqual(missing, []);
});

test('every existing key is used', () => {
  const unused = namespaces.flatMap((name) =>
    wordsOf('en', name)
      .map(base)
      .filter(
        (word) =>
          !uses.some(
            ({ namespace, key, isPrefix }) =>
              namespace === name && (isPrefix ? word.startsWith(key) : word === key),
          ),
      )
      .map((word) => `${name}: ${word}`),
  );
  assert.deepEqual(unused, []);
});

test('keys are literals, so that this test can read them', () => {
  const allowed = /^app\/error-message[.]ts:/;
  assert.deepEqual(
    read.flatMap((one) => one.opaque).filter((at) => !allowed.test(at)),
    [],
  );
});

test('an area uses only its own keys', () => {
  const wrong = trees.flatMap(({ path, tree }) => {
    const found: string[] = [];
    walk(tree, (node) => {
      if (!ts.isCallExpression(node) || node.expression.getText() !== 'useTranslation') return;
      const [argument] = node.arguments;
      const namespace = argument !== undefined && ts.isStringLiteralLike(argument) ? argument.text : 'app';
      if (namespace !== namespaceOf(path)) found.push(`${lineOf(path, tree, node)}: ${namespace}`);
    });
    return found;
  });
  assert.deepEqual(wrong, []);
});

test('no component contains literal text', () => {
  const sample = ts.createSourceFile(
    'a.tsx',
    '<p title="Hello">There</p>',
    ts.ScriptTarget.Latest,
    true,
    ts.ScriptKind.TSX,
  );
  assert.equal(bareWords('a.tsx', sample).length, 2, 'it finds what it should');
  assert.deepEqual(
    trees.flatMap(({ path, tree }) => bareWords(path, tree)),
    [],
  );
});

test('every resource of a plan has a translation', () => {
  for (const language of LANGUAGES) {
    const words = wordsOf(language, 'limits');
    const missing = RESOURCE_KEYS.filter((key) => !words.includes(`resource.${key}`));
    assert.deepEqual(missing, [], language);
  }
});
