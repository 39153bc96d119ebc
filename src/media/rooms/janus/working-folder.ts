import { lstat, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { SANDBOX_UID } from '../../ffmpeg/output.ts';
import { RECORDINGS_FOLDER } from './settings.ts';

/** Prefix of a folder for each user; it outlives a restart of the machine. */
const ELSEWHERE = '/var/tmp/marquee-janus-';
const ENTER_BY_ALL = 0o001;

/**
 * Returns the working folder of Janus: `wanted`, if its user can access that path, which Janus uses for
 * recordings; otherwise a folder in /var/tmp, the same at each start.
 */
export async function workingFolder(wanted: string): Promise<string> {
  const folder = resolve(wanted);
  await mkdir(dirname(folder), { recursive: true });
  if (process.getuid?.() !== 0 || (await isOpen(dirname(folder)))) return folder;
  const note = `${folder}.folder`;
  const known = await readFile(note, 'utf8').catch(() => '');
  if (known.startsWith(ELSEWHERE) && (await isOurs(known))) return known;
  const made = await mkdtemp(ELSEWHERE);
  await writeFile(note, made, { mode: 0o600 });
  return made;
}

/** Deletes the folder in /var/tmp, unless it contains recordings that were not fetched yet. */
export async function cleanFolder(wanted: string): Promise<void> {
  const note = `${resolve(wanted)}.folder`;
  const known = await readFile(note, 'utf8').catch(() => '');
  if (!known.startsWith(ELSEWHERE) || !(await isOurs(known))) return;
  const recorded = await readdir(join(known, RECORDINGS_FOLDER)).catch(() => []);
  if (recorded.length > 0) return;
  await rm(known, { recursive: true, force: true });
  await rm(note, { force: true });
}

async function isOpen(folder: string): Promise<boolean> {
  for (let path = folder; ; path = dirname(path)) {
    if (((await stat(path)).mode & ENTER_BY_ALL) === 0) return false;
    if (path === dirname(path)) return true;
  }
}

/** Reports whether the path is a folder, not a link, and belongs to the platform. */
async function isOurs(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => null);
  return found?.isDirectory() === true && [0, SANDBOX_UID].includes(found.uid);
}
