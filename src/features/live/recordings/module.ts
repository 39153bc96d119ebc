import type { RecordingJoiner } from '../../../media/contract/index.ts';
import { type Declarations, type FeatureModule, INTERVALS } from '../../module.ts';
import type { Platform } from '../../platform.ts';
import type { VideoIntake } from '../../video/videos/index.ts';
import type { emitRecordingReady, stopRecording } from '../streams/index.ts';
import { createRecordingAssembly } from './assembly.service.ts';
import { recordingJob } from './jobs.ts';
import { createRecordingReady } from './recording-ready.service.ts';
import { createRecordings, type Recordings } from './recordings.service.ts';

export const recordingsDeclarations: Declarations = { jobs: [recordingJob] };

interface RecordingsDeps
  extends Pick<Platform, 'clock' | 'db' | 'events' | 'jobs' | 'log' | 'scratchDir' | 'store'> {
  intake: VideoIntake;
  joiner: RecordingJoiner;
  emitRecordingReady: typeof emitRecordingReady;
  stopRecording: typeof stopRecording;
}

const SWEEP_MS = 15_000;

/** Recordings, and the worker that makes videos of them. */
export function createRecordingsModule(deps: RecordingsDeps): FeatureModule & { recordings: Recordings } {
  const recordings = createRecordings({ ...deps, queue: deps.jobs, refuse: deps.stopRecording });
  return {
    recordings,
    jobs: () => [createRecordingAssembly(deps)],
    tasks: () => [
      { name: 'recordings', everyMs: SWEEP_MS, run: () => recordings.sweep() },
      { name: 'recording cleanup', everyMs: INTERVALS.hour, run: () => recordings.cleanUp() },
    ],
  };
}

/** Returns the hook that announces a recording when its video becomes playable. */
export function onRecordingPlayable({
  clock,
  emitRecordingReady,
}: Pick<RecordingsDeps, 'clock' | 'emitRecordingReady'>) {
  return createRecordingReady({ clock, emit: emitRecordingReady });
}
