import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '../../platform/logger.ts';
import { liveLimits } from '../ffmpeg/limits.ts';
import { spawnFfmpeg } from '../ffmpeg/process.ts';
import type { FfmpegProgram } from '../ffmpeg/program.ts';
import { findFont } from '../rooms/compose/font.ts';
import { captionOf, stillArgs } from '../rooms/compose/graph.ts';
import type { Box, FrameSize } from '../rooms/compose/layout.ts';
import { bytesOf } from './room-canvas.ts';

/** Tile of the frame, labeled with the name of its participant. */
export interface NamedTile extends Box {
  name: string;
  caption: Box;
  /** A video frame is drawn over it. */
  isSeen: boolean;
}

/** Timeout of a program that hangs: on a busy machine, work of a tenth of a second takes seconds. */
const TIMEOUT_MS = 20_000;
/** The program has a user of its own, and is shown nothing else of the folder. */
const READ_BY_ALL = 0o644;

/** Renderer of the static parts of a room's video. */
export interface OverlayRenderer {
  /** @returns pixels; null where it could not be drawn. */
  paint(tiles: readonly NamedTile[]): Promise<Buffer | null>;
}

/** @param dir that names are put into for a moment, for the program to read. */
export async function createStillPainter(
  { ffmpeg, dir, log }: { ffmpeg: FfmpegProgram; dir: string; log: Logger },
  picture: FrameSize,
): Promise<OverlayRenderer> {
  const font = await findFont();
  return {
    async paint(tiles) {
      await mkdir(dir, { recursive: true });
      const folder = await mkdtemp(join(dir, 'names-'));
      try {
        return await draw(folder, tiles);
      } catch (error) {
        log.warn({ err: error }, 'the names of a room could not be drawn');
        return null;
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
  };

  async function draw(folder: string, tiles: readonly NamedTile[]): Promise<Buffer | null> {
    const named = tiles.map((tile, index) => ({
      ...{ tile, isSeen: tile.isSeen, nameFile: join(folder, `${index}.txt`) },
    }));
    for (const { tile, nameFile } of named) {
      await writeFile(nameFile, captionOf(tile, picture));
      await chmod(nameFile, READ_BY_ALL);
    }
    const reads = [...(font === null ? [] : [font]), ...named.map(({ nameFile }) => nameFile)];
    const program = await ffmpeg.guard.start(ffmpeg.bin, liveLimits(0), { reads, writes: null });
    const pieces: Buffer[] = [];
    const child = spawnFfmpeg({
      program,
      args: stillArgs({ picture, tiles: named, font }),
      log,
      onBytes: (bytes) => pieces.push(bytes),
    });
    const late = setTimeout(() => child.kill('SIGKILL'), TIMEOUT_MS);
    const { stderr } = await child.exited;
    clearTimeout(late);
    const pixels = Buffer.concat(pieces);
    if (pixels.length === bytesOf(picture)) return pixels;
    throw new Error(stderr.slice(-300));
  }
}
