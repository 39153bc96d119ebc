import type { ProcessingNote, RenditionFiles, SourceInfo } from '../../../../media/contract/index.ts';
import type { Tx } from '../../../../platform/db/index.ts';
import { type ProcessedVideo, updateProcessed } from './processed.ts';
import * as repository from './repository.ts';

/** Larger differences are noted. */
const NOTED_SHARE = 0.02;

interface Facts {
  durationSec: number;
  frameRate: number;
  width: number;
  height: number;
}

/**
 * Replaces the probed properties of a video by those measured on its renditions, so that the API, playlists,
 * images and clips agree. A duration that differs by one frame counts as equal.
 */
export async function reconcile(
  tx: Tx,
  row: ProcessedVideo,
  made: readonly RenditionFiles[],
): Promise<ProcessedVideo> {
  const processing = await repository.findProcessing(tx, row.id, row.revision);
  if (processing === undefined) return row;
  const { source, ladder } = processing;
  const probed = { durationSec: source.durationSec, ...source.video };
  const copied = ladder.rungs.find(({ isCopy }) => isCopy)?.name;
  const measured = measure(probed, made, copied);
  if (measured === null) return row;
  const { durationSec, ...video } = measured;
  const replaced: SourceInfo = { ...source, durationSec, video: { ...source.video, ...video } };
  const audio = ladder.audio.map(({ span, ...plan }) => {
    return span === undefined ? plan : { ...plan, span: { ...span, endSec: durationSec } };
  });
  await repository.updateProcessing(tx, row.id, row.revision, {
    source: JSON.stringify(replaced),
    ladder: JSON.stringify({ ...ladder, audio }),
  });
  const notes = [...row.processing_notes, ...differences(probed, measured)];
  return updateProcessed(tx, row, {
    duration_sec: durationSec,
    frame_rate: video.frameRate,
    width: video.width,
    height: video.height,
    processing_notes: JSON.stringify(notes),
  });
}

/**
 * Derives the measured properties. Pure. A copied rendition also yields size and frame rate; encoded ones
 * have the planned values.
 *
 * @returns null where nothing differs.
 */
export function measure(
  probed: Facts,
  made: readonly RenditionFiles[],
  copied: string | undefined,
): Facts | null {
  const videos = made.filter(({ kind }) => kind === 'VIDEO');
  const longestSec = Math.max(0, ...videos.map(({ durationSec }) => durationSec));
  const frameSec = 1 / Math.min(...videos.map(({ frameRate }) => frameRate ?? probed.frameRate));
  const isSame = videos.length === 0 || Math.abs(longestSec - probed.durationSec) <= frameSec;
  const copy = videos.find(({ name }) => name === copied);
  const measured = {
    durationSec: isSame ? probed.durationSec : Math.round(longestSec * 1000) / 1000,
    frameRate: copy?.frameRate ?? probed.frameRate,
    width: copy?.width ?? probed.width,
    height: copy?.height ?? probed.height,
  };
  const keys = ['durationSec', 'frameRate', 'width', 'height'] as const;
  return keys.every((key) => measured[key] === probed[key]) ? null : measured;
}

function differences(probed: Facts, measured: Facts): ProcessingNote[] {
  const differs = (key: keyof Facts) => Math.abs(measured[key] / probed[key] - 1) > NOTED_SHARE;
  const shown = (value: number) => String(Math.round(value * 100) / 100);
  const note = (what: string, before: string, after: string): ProcessingNote => {
    return {
      code: 'SOURCE_DIFFERS',
      message: `The ${what} of the file is ${before}; the video uses ${after}.`,
    };
  };
  const seconds = (value: number) => `${shown(value)} seconds`;
  const frames = (value: number) => `${shown(value)} frames per second`;
  const pixels = ({ width, height }: Facts) => `${width}x${height} pixels`;
  return [
    ...(differs('durationSec')
      ? [note('length', seconds(probed.durationSec), seconds(measured.durationSec))]
      : []),
    ...(differs('frameRate')
      ? [note('frame rate', frames(probed.frameRate), frames(measured.frameRate))]
      : []),
    ...(differs('width') || differs('height') ? [note('size', pixels(probed), pixels(measured))] : []),
  ];
}
