/**
 * History of live streams: the part of a live broadcast that viewers can seek back to
 * (docs/decisions/dvr.md).
 */
import type { LiveHistory } from '../../../media/contract/index.ts';
import type { FeatureModule } from '../../module.ts';
import type { Platform } from '../../platform.ts';
import type { VideoIntake } from '../../video/videos/index.ts';
import type { Recordings } from '../recordings/index.ts';
import { createLiveHistory } from './history.service.ts';
import { createDvr, type Dvr } from './retention.service.ts';

interface DvrDeps extends Pick<Platform, 'clock' | 'db' | 'events' | 'store'> {
  recordings: Recordings;
  intake: VideoIntake;
}

const SWEEP_MS = 5000;

/** Builds the DVR window of live streams. */
export function createDvrModule(deps: DvrDeps): FeatureModule & { dvr: Dvr; liveHistory: LiveHistory } {
  const dvr = createDvr({ ...deps, isRecordingComing: deps.recordings.isComing });
  return {
    dvr,
    liveHistory: createLiveHistory(deps.db),
    tasks: () => [{ name: 'DVR history', everyMs: SWEEP_MS, run: () => dvr.sweep() }],
  };
}
