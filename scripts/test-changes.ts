import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { ROOT } from './program.ts';

/** Files that every test depends on. */
const AFFECTS_ALL = /^(?:package(?:-lock)?[.]json|scripts\/(?!.*[.]test[.]ts$))/;
/** Dependencies that no import shows: programs that tests start, and pages that browsers load. */
const HIDDEN: Record<string, readonly string[]> = {
  'test/harness/platform.ts': ['src/main/start.ts', 'src/main/cli.ts'],
  'test/harness/browser.ts': ['web/'],
};
/** A quoted path: of an import, or of a file that is read or started. */
const QUOTED_PATH = /['"`]([\w@./-]+)['"`]/g;

/** Lists the test files that depend on files changed since the branch left `main`, committed or not. */
export function changedTests(): string[] | null {
  const base = git('merge-base', 'main', 'HEAD')[0] ?? 'HEAD';
  const untracked = git('ls-files', '--others', '--exclude-standard');
  const files = [...git('ls-files'), ...untracked];
  return affectedTests(files, [...git('diff', '--name-only', base), ...untracked], (file) =>
    readFileSync(join(ROOT, file), 'utf8'),
  );
}

/**
 * Lists the test files among `files` that depend on one of `changed`.
 *
 * @returns null when every test may be affected.
 */
export function affectedTests(
  files: readonly string[],
  changed: readonly string[],
  read: (file: string) => string,
): string[] | null {
  if (changed.some((file) => AFFECTS_ALL.test(file))) return null;
  const dependents = dependentsOf(files, read);
  const affected = new Set(changed);
  for (const file of affected) for (const dependent of dependents.get(file) ?? []) affected.add(dependent);
  const known = new Set(files);
  return [...affected].filter((file) => file.endsWith('.test.ts') && known.has(file)).sort();
}

/** Maps each file to the files that name it. */
function dependentsOf(files: readonly string[], read: (file: string) => string): Map<string, Set<string>> {
  const known = new Set(files);
  const dependents = new Map<string, Set<string>>(files.map((file) => [file, new Set()]));
  for (const file of files.filter((name) => /[.]m?[jt]sx?$/.test(name))) {
    for (const path of [...pathsIn(file, read(file)), ...(HIDDEN[file] ?? [])]) {
      const named = known.has(path)
        ? [path]
        : path.endsWith('/')
          ? files.filter((other) => other.startsWith(path))
          : [`${path}.ts`];
      for (const dependency of named) dependents.get(dependency)?.add(file);
    }
  }
  return dependents;
}

/** Resolves the quoted paths of a file, as one of the checkout and as one relative to the file; folders end in `/`. */
function pathsIn(file: string, text: string): string[] {
  return [...text.matchAll(QUOTED_PATH)].flatMap(([, path = '']) => {
    const relative = normalize(join(dirname(file), path));
    const isFolder = path.startsWith('../') && !relative.startsWith('.');
    return [normalize(path), relative, ...(isFolder ? [`${relative}/`] : [])];
  });
}

/** Lines that git prints; none when it fails. */
function git(...args: string[]): string[] {
  try {
    return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: 'pipe' })
      .split('\n')
      .filter(Boolean);
  } catch {
    return [];
  }
}
