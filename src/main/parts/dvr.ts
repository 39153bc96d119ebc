import { createDvr, type Dvr } from '../../features/dvr/index.ts';
import type { Recordings } from '../../features/recordings/index.ts';
import type { VideoIntake } from '../../features/videos/index.ts';
import type { Built } from '../part.ts';
import type { Base } from '../wiring.ts';

const SWEEP_MS = 5000;

/** What viewers can go back to while a stream is live. */
export function dvrPart(needs: Base & { intake: VideoIntake; recordings: Recordings }): Built<{ dvr: Dvr }> {
  const dvr = createDvr({ ...needs, isRecordingComing: needs.recordings.isComing });
  return {
    gives: { dvr },
    part: { tasks: () => [{ name: 'history of streams', everyMs: SWEEP_MS, run: () => dvr.sweep() }] },
  };
}
