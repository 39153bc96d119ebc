import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { isJson } from '../../src/http/openapi/json.ts';

const ROOT = join(import.meta.dirname, '../..');
const PROGRAM = join(ROOT, '.cache/peers/oasdiff');
/** Folder with the document of each release: `openapi-0.2.0.json`. */
const RELEASES = join(ROOT, 'docs/releases');

export const NO_OASDIFF = 'oasdiff is not there; with Go installed type: node scripts/test-tools.mjs oasdiff';
export const hasOasdiff = () => existsSync(PROGRAM);

/** A change that a client of the earlier document may not survive. */
export interface Breaking {
  /** `GET /streams` */
  endpoint: string;
  text: string;
}

const ERROR_LEVEL = 3;
/** Only a warning of the tool, but docs/guides/versioning.md promises that no field is removed. */
const PROMISED: readonly unknown[] = ['response-optional-property-removed'];

/** Returns the breaking changes between two documents, by oasdiff, which ignores additions. */
export async function breakingChanges(earlier: string, later: string): Promise<Breaking[]> {
  const args = ['breaking', earlier, later, '--format', 'json', '--allow-external-refs=false'];
  const { stdout } = await promisify(execFile)(PROGRAM, args, { maxBuffer: 1e7 });
  const found: unknown = stdout.trim() === '' ? [] : JSON.parse(stdout);
  if (!Array.isArray(found)) throw new Error('oasdiff answers a list');
  return found
    .filter(isJson)
    .filter(({ level, id }) => level === ERROR_LEVEL || PROMISED.includes(id))
    .map(({ operation, path, text }) => ({ endpoint: `${operation} ${path}`, text: String(text) }));
}

/**
 * Returns the changes whose endpoint the changelog does not name, in backticks, below `### Breaking` of `##
 * Unreleased`.
 */
export function unannounced(changes: readonly Breaking[], changelog: string): Breaking[] {
  const unreleased = section(changelog, '## Unreleased', /^## /m);
  const breaking = section(unreleased, '### Breaking', /^##/m);
  return changes.filter(({ endpoint }) => !breaking.includes(`\`${endpoint}\``));
}

/** The text between a heading and the next one. */
function section(text: string, heading: string, next: RegExp): string {
  const [, after = ''] = text.split(new RegExp(`^${heading}$`, 'm'));
  return after.split(next, 1)[0] ?? '';
}

/** The document of the last release; null before the first. */
export async function lastRelease(): Promise<string | null> {
  const names = await readdir(RELEASES).catch(() => []);
  const versions = names.flatMap((name) => /^openapi-(\d+\.\d+\.\d+)\.json$/.exec(name)?.[1] ?? []);
  const last = versions.sort((a, b) => a.localeCompare(b, 'en', { numeric: true })).at(-1);
  return last === undefined ? null : join(RELEASES, `openapi-${last}.json`);
}
