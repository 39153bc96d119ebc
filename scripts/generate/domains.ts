import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { ROOT } from '../program.ts';
import { withTable } from './tables-in-documents.ts';

const MAX_ARROWS = 20;
const IMPORT = /\bfrom '(\.[^']+)'/g;

interface Arrow {
  from: string;
  to: string;
  imports: number;
}

/** Returns the domain of a path below `src/features`. */
function domainOf(path: string): string | undefined {
  return /^src\/features\/([^/]+)\//.exec(path)?.[1];
}

/** Returns the imports between domains, most first. Features import only types of each other. */
function importsBetweenDomains(): Arrow[] {
  const arrows = new Map<string, Arrow>();
  for (const path of globSync('src/features/**/*.ts', { cwd: ROOT })) {
    const from = domainOf(path);
    if (from === undefined || path.endsWith('.test.ts')) continue;
    for (const [, target = ''] of readFileSync(join(ROOT, path), 'utf8').matchAll(IMPORT)) {
      const to = domainOf(normalize(join(dirname(path), target)));
      if (to === undefined || to === from) continue;
      const key = `${from} ${to}`;
      const arrow = arrows.get(key) ?? { from, to, imports: 0 };
      arrows.set(key, { ...arrow, imports: arrow.imports + 1 });
    }
  }
  return [...arrows.values()].sort((a, b) => b.imports - a.imports);
}

/** Returns the arrows that carry at least `minImports`, which is the smallest number that leaves `MAX_ARROWS`. */
function strongest(arrows: readonly Arrow[]): { minImports: number; drawn: Arrow[] } {
  const minImports = (arrows[MAX_ARROWS]?.imports ?? 0) + 1;
  return { minImports, drawn: arrows.filter(({ imports }) => imports >= minImports) };
}

/** Returns the architecture page with its diagram of the domains. */
export function withDomains(page: string): string {
  const { minImports, drawn } = strongest(importsBetweenDomains());
  const domains = globSync('src/features/*/', { cwd: ROOT }).flatMap((path) => domainOf(`${path}/`) ?? []);
  const lines = drawn.map(({ from, to }) => `  ${from} --> ${to}`);
  const without = domains.filter((name) => !drawn.some(({ from, to }) => from === name || to === name));
  return withTable(page, 'domains', [
    `Arrows with at least ${minImports === 1 ? 'one import' : `${minImports} imports`}:`,
    '',
    '```mermaid',
    'flowchart LR',
    ...[...lines, ...without.map((name) => `  ${name}`)].sort(),
    '```',
  ]);
}
