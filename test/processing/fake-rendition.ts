import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AudioPlan, RenditionFiles, RungPlan } from '../../src/media/contract/index.ts';

type Plan = RungPlan | AudioPlan;

/** Writes the files of an empty rendition in `<outDir>/<name>`. */
export async function writeRendition(
  outDir: string,
  plan: Plan,
  durationSec: number,
): Promise<RenditionFiles> {
  const { name } = plan;
  const rung = 'width' in plan ? plan : null;
  const files = ['init.mp4', 'index.m3u8', 's_00000.m4s'];
  await mkdir(join(outDir, name), { recursive: true });
  for (const file of files) await writeFile(join(outDir, name, file), `${name} ${file}`);
  return {
    name,
    kind: rung === null ? 'AUDIO' : 'VIDEO',
    width: rung?.width ?? null,
    height: rung?.height ?? null,
    frameRate: rung?.frameRate ?? null,
    durationSec,
    codecs: rung === null ? 'mp4a.40.2' : 'avc1.640028',
    videoRange: 'SDR',
    averageBitrate: 1000,
    peakBitrate: 1200,
    iframeBitrate: null,
    sizeBytes: 30,
    files,
  };
}
