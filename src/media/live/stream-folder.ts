import { access, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { renderMaster } from './master.ts';
import { type MediaPlaylist, parseMediaPlaylist, renderMediaPlaylist } from './playlist.ts';
import { UNFINISHED } from './segment-writer.ts';
import { type LiveState, replaceFile } from './state.ts';
import { mediaPlaylistOf, variantsOf } from './window.ts';

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

/** The state first: a process that dies in between writes the same playlists again from it. */
export async function publish(
  dir: string,
  state: LiveState,
  { isNew, written }: { isNew: boolean; written: Map<string, string> },
): Promise<void> {
  if (isNew) await replaceFile(join(dir, 'state.json'), JSON.stringify(state));
  const files = state.playlists.map((rung) => [
    `${rung}.m3u8`,
    renderMediaPlaylist(mediaPlaylistOf(state, rung), { hasOffsets: true }),
  ]);
  if (isNew) files.push(['master.m3u8', renderMaster(variantsOf(state))]);
  await Promise.all(
    files.map(async ([name = '', text = '']) => {
      if (written.get(name) === text) return;
      await replaceFile(join(dir, name), text);
      written.set(name, text);
    }),
  );
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
