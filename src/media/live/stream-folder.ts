import { constants } from 'node:fs';
import { access, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { renderMaster } from './master.ts';
import { type MediaPlaylist, parseMediaPlaylist, renderMediaPlaylist, renderNewParts } from './playlist.ts';
import { UNFINISHED } from './segment-writer.ts';
import { type LiveState, replaceFile } from './state.ts';
import { mediaPlaylistOf, partsSince, variantsOf } from './window.ts';

/** To the end of a file that is there. */
const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_NOFOLLOW;

/** Names are unique for ever, because segments are cached by their address. */
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

/** A process that was killed has left parts of segments: they are all that there will be of these. */
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

/** What a file holds. */
export interface PublishedState {
  text: string;
  /** Of a rung: with the parts that were put at its end. */
  playlist?: MediaPlaylist;
}

/**
 * The state first: a process that dies in between writes the same playlists again from it. Where only parts have come,
 * they are put at the end of the playlists: there are many a second, and readers know half a line.
 *
 * @param shown by the names of the files; it is kept up to date, and tells which have not changed.
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

/** @returns false where the playlist has to be written anew. */
async function addParts(path: string, state: LiveState, shown: PublishedState | undefined): Promise<boolean> {
  const { open } = shown?.playlist ?? {};
  const parts = shown?.playlist === undefined ? null : partsSince(state, shown.playlist);
  if (shown === undefined || open === undefined || parts === null) return false;
  if (parts.length === 0) return true;
  const known = open.parts?.length ?? 0;
  open.parts = [...(open.parts ?? []), ...parts];
  // Also when it fails: half a line may be there.
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
  // Folders that nothing refers to: finished runs, and runs that never made a segment.
  const used = new Set([...state.slots.map((slot) => slot.epoch), state.epoch?.name]);
  for (const entry of await readdir(dir, { withFileTypes: true })) {
    if (entry.isDirectory() && !used.has(entry.name))
      await rm(join(dir, entry.name), { recursive: true, force: true });
  }
}
