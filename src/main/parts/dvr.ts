import { createDvr, type Dvr } from '../../features/live/dvr/index.ts';
import type { Recordings } from '../../features/live/recordings/index.ts';
import type { VideoIntake } from '../../features/video/videos/index.ts';
import type { ModuleWithExports } from '../feature-module.ts';
import type { BaseContext } from '../wiring.ts';

const SWEEP_MS = 5000;

/** Builds the DVR window of live streams. */
export function dvrPart(
  needs: BaseContext & { intake: VideoIntake; recordings: Recordings },
): ModuleWithExports<{ dvr: Dvr }> {
  const dvr = createDvr({ ...needs, isRecordingComing: needs.recordings.isComing });
  return {
    exports: { dvr },
    module: { tasks: () => [{ name: 'history of streams', everyMs: SWEEP_MS, run: () => dvr.sweep() }] },
  };
}
