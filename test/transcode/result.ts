import assert from 'node:assert/strict';
import { mkdtemp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RenditionFiles, SourceInfo } from '../../src/media/contract/index.ts';
import { testTranscoder } from './sources.ts';

const transcoder = testTranscoder();

export interface Made {
  source: SourceInfo;
  outDir: string;
  renditions: RenditionFiles[];
  /** Returns the path of a rendition's playlist. */
  path(name: string): string;
  isCopied: boolean;
}

/** Processes a file completely, as for a video, in a new folder in `dir`. */
export async function transcode(dir: string, input: string, maxHeight = 2160): Promise<Made> {
  const signal = AbortSignal.timeout(120_000);
  const outDir = await mkdtemp(join(dir, 'out-'));
  const source = await transcoder.probe(input, signal);
  const { rungs, audio } = transcoder.plan(source, maxHeight);
  const run = { input, source, outDir, signal };
  const top = rungs.find(({ isCopy }) => isCopy);
  const copied = top ? await transcoder.copyTop({ ...run, rung: top, audio: audio.slice(0, 1) }) : [];
  const encoded = await transcoder.encode({
    ...run,
    rungs: rungs.filter((rung) => !rung.isCopy),
    audio: top ? audio.slice(1) : audio,
    alignToSource: top !== undefined,
  });
  const path = (name: string) => join(outDir, name, 'index.m3u8');
  return { source, outDir, renditions: [...copied, ...encoded], path, isCopied: top !== undefined };
}

/** Durations of the segments, in seconds. */
export async function segments(path: string): Promise<number[]> {
  const playlist = await readFile(path, 'utf8');
  assert.match(
    playlist,
    /^#EXT-X-PLAYLIST-TYPE:VOD\n[\s\S]*#EXT-X-MAP:URI="init\.mp4"\n[\s\S]*#EXT-X-ENDLIST\n$/m,
  );
  return [...playlist.matchAll(/#EXTINF:([\d.]+)/g)].map(([, sec]) => Number(sec));
}

export function assertNear(actual: number, expected: number, tolerance: number, what: string): void {
  assert.ok(Math.abs(actual - expected) <= tolerance, `${what}: ${actual} is not ${expected} ± ${tolerance}`);
}
