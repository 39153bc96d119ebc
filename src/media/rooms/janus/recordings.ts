import {
  copyFile,
  lchown,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { readMjrHeader } from '../compose/mjr.ts';
import type { RecordedTrack } from '../engine.ts';
import type { JanusHandle } from './client.ts';
import { RECORDINGS_FOLDER } from './settings.ts';
import { kindOf, readDescription } from './sources.ts';

/** What records a room: Janus, in its own folder, since it can reach no other. */
interface Place {
  desk: JanusHandle;
  /** That Janus works in. */
  folder: string;
}

/**
 * A file begins with a whole picture. Janus asks for one when it begins to record, but browsers pass over what is asked
 * within 300 ms of the last; so it asks again and again.
 */
const KEYFRAME_SEC = 2;

/**
 * Where the files of a room are to go in the end is noted beside them: another process may stop what this one has started,
 * and a Janus that died has left its files.
 *
 * @throws {JanusError} when the room is not there.
 */
export async function startRecording({ desk, folder }: Place, ref: string, target: string): Promise<void> {
  const name = nameOf(ref);
  await mkdir(join(folder, RECORDINGS_FOLDER), { recursive: true });
  await writeFile(noteOf(folder, ref), target, { mode: 0o600 });
  const edits = { new_rec_dir: join(RECORDINGS_FOLDER, name), new_fir_freq: KEYFRAME_SEC };
  await desk.send({ request: 'edit', room: ref, ...edits });
  await desk.send({ request: 'enable_recording', room: ref, record: true });
}

/** Idempotent. */
export async function stopRecording({ desk }: Place, ref: string): Promise<void> {
  await desk.send({ request: 'enable_recording', room: ref, record: false });
  await desk.send({ request: 'edit', room: ref, new_fir_freq: 0 });
}

/** @returns what lies in the target now; empty when nothing was recorded. */
export async function collectRecording(folder: string, ref: string): Promise<RecordedTrack[]> {
  const note = noteOf(folder, ref);
  const target = await readFile(note, 'utf8').catch(() => null);
  if (target === null) return [];
  const source = join(folder, RECORDINGS_FOLDER, nameOf(ref));
  const tracks: RecordedTrack[] = [];
  for (const file of (await readdir(source).catch(() => [])).toSorted()) {
    const path = join(source, file);
    const found = await lstat(path);
    // Nothing but what Janus itself writes: its user might have left a link to something else.
    if (!found.isFile() || found.nlink !== 1 || !file.endsWith('.mjr')) continue;
    await move(path, join(target, file));
    const track = await read(join(target, file));
    if (track !== null) tracks.push({ ...track, file });
  }
  await rm(source, { recursive: true, force: true });
  await rm(note, { force: true });
  return tracks;
}

async function move(from: string, to: string): Promise<void> {
  await rename(from, to).catch(async () => {
    // On another disk.
    await copyFile(from, to);
    await rm(from);
  });
  if (process.getuid?.() === 0) await lchown(to, 0, 0);
}

/** @returns null for a file in which nothing came. */
async function read(path: string): Promise<Omit<RecordedTrack, 'file'> | null> {
  const file = await open(path);
  try {
    const header = await readMjrHeader(file);
    const known = readDescription(header?.description);
    if (header === null || known === null) return null;
    const kind = header.kind === 'AUDIO' ? 'AUDIO' : kindOf(known.source);
    return { identity: known.identity, kind, startedMs: header.startedMs };
  } finally {
    await file.close();
  }
}

const noteOf = (folder: string, ref: string) => join(folder, RECORDINGS_FOLDER, `${nameOf(ref)}.target`);
/** Refs are ids of ours. */
const nameOf = (ref: string) => ref.replaceAll(/[^\w-]/g, '_');
