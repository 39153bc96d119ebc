import { lstat, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { SANDBOX_UID } from '../../ffmpeg/output.ts';
import { RECORDINGS_FOLDER } from './settings.ts';

/** Behind it every user may have a folder; it outlives a restart of the machine. */
const ELSEWHERE = '/var/tmp/marquee-janus-';
const ENTER_BY_ALL = 0o001;

/**
 * Where Janus works: `wanted`, if the user that it runs as can come there by its path, which Janus asks for when it records.
 * Else a folder in /var/tmp, the same at each start.
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

/** Leaves nothing in /var/tmp but what was recorded and not fetched yet. */
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

/** No link, and nobody else's. */
async function isOurs(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => null);
  return found?.isDirectory() === true && [0, SANDBOX_UID].includes(found.uid);
}
