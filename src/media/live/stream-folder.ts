import { constants } from 'node:fs';
import { access, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { renderMaster } from './master.ts';
import { type MediaPlaylist, parseMediaPlaylist, renderMediaPlaylist, renderNewParts } from './playlist.ts';
import { UNFINISHED } from './segment-writer.ts';
import { type LiveState, replaceFile } from './state.ts';
import { mediaPlaylistOf, partsSince, variantsOf } from './window.ts';

/** Flags for appending to an existing file. */
const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_NOFOLLOW;

/** Returns a unique name, never reused, because segments are cached by their URL. */
export async function newEpochName(dir: string, nowMs: number): Promise<string> {
  for (let at = nowMs; ; at += 1) {
    const name = at.toString(36);
    const taken = await access(join(dir, name)).then(
      () => true,
      () => false,
    );
    if (!taken) return name;
  }
}

/** Ends the open segments of a killed process: their parts are final. */
export async function endOpenSegments(dir: string, state: LiveState): Promise<void> {
  const open = state.slots.filter((slot) => Object.values(slot.rungs).some(({ isOpen }) => isOpen));
  for (const slot of open) {
    for (const [rung, held] of Object.entries(slot.rungs)) {
      if (!held.isOpen) continue;
      // The playlist is newer than the state.
      const shown = (await readPlaylist(dir, rung))?.open;
      if (shown?.epoch === slot.epoch && shown.file === slot.file && shown.rung === rung) {
        held.durationSec = shown.durationSec;
        held.parts = (shown.parts ?? []).map(({ offset: _, ...part }) => part);
        held.bytes = held.parts.reduce((sum, { bytes }) => sum + bytes, 0);
      }
      const path = join(dir, slot.epoch, rung, slot.file);
      await rename(path + UNFINISHED, path).catch(() => {});
      const isThere = await stat(path).then(
        () => true,
        () => false,
      );
      delete held.isOpen;
      if (!isThere) delete slot.rungs[rung];
    }
  }
}

async function readPlaylist(dir: string, rung: string): Promise<MediaPlaylist | null> {
  const text = await readFile(join(dir, `${rung}.m3u8`), 'utf8').catch(() => '');
  return parseMediaPlaylist(text);
}

/** Content of a written file. */
export interface PublishedState {
  text: string;
  /** Playlist of a rung, including the parts appended to it. */
  playlist?: MediaPlaylist;
}

/**
 * Writes the state first: after a crash, the next process writes the same playlists from it. When only parts
 * were added, they are appended to the playlists: they are frequent, and readers tolerate a partial line.
 *
 * @param shown file contents by name; updated here, and used to skip unchanged files.
 */
export async function publish(
  dir: string,
  state: LiveState,
  { isNew, shown }: { isNew: boolean; shown: Map<string, PublishedState> },
): Promise<void> {
  if (isNew) await replaceFile(join(dir, 'state.json'), JSON.stringify(state));
  const replace = async (name: string, next: PublishedState) => {
    if (shown.get(name)?.text === next.text) return;
    await replaceFile(join(dir, name), next.text);
    shown.set(name, next);
  };
  const rungs = state.playlists.map(async (rung) => {
    const name = `${rung}.m3u8`;
    if (!isNew && (await addParts(join(dir, name), state, shown.get(name)))) return;
    const playlist = mediaPlaylistOf(state, rung);
    await replace(name, { text: renderMediaPlaylist(playlist, { hasOffsets: true }), playlist });
  });
  await Promise.all([
    ...rungs,
    ...(isNew ? [replace('master.m3u8', { text: renderMaster(variantsOf(state)) })] : []),
  ]);
}

/** @returns false when the playlist must be rewritten. */
async function addParts(path: string, state: LiveState, shown: PublishedState | undefined): Promise<boolean> {
  const { open } = shown?.playlist ?? {};
  const parts = shown?.playlist === undefined ? null : partsSince(state, shown.playlist);
  if (shown === undefined || open === undefined || parts === null) return false;
  if (parts.length === 0) return true;
  const known = open.parts?.length ?? 0;
  open.parts = [...(open.parts ?? []), ...parts];
  // Invalidated even on failure: the file may have a partial line.
  shown.text = '';
  await writeFile(path, renderNewParts(open, known), { flag: APPEND });
  return true;
}

export async function prune(dir: string, state: LiveState, leftBeforeMs: number): Promise<void> {
  const due = state.slots.filter((slot) => slot.leftAtMs !== null && slot.leftAtMs <= leftBeforeMs);
  for (const slot of due) {
    for (const rung of Object.keys(slot.rungs))
      await rm(join(dir, slot.epoch, rung, slot.file), { force: true });
  }
  state.slots = state.slots.filter((slot) => !due.includes(slot));
  if (due.length > 0) await replaceFile(join(dir, 'state.json'), JSON.stringify(state));
  // Unreferenced folders: finished runs, and runs without a segment.
  const used = new Set([...state.slots.map((slot) => slot.epoch), state.epoch?.name]);
  for (const entry of await readdir(dir, { withFileTypes: true })) {
    if (entry.isDirectory() && !used.has(entry.name))
      await rm(join(dir, entry.name), { recursive: true, force: true });
  }
}
