import {
  createRecordingAssembly,
  createRecordingReady,
  createRecordings,
  type Recordings,
} from '../../features/live/recordings/index.ts';
import { emitRecordingReady, stopRecording } from '../../features/live/streams/index.ts';
import type { VideoIntake } from '../../features/video/videos/index.ts';
import { createRecordingJoiner } from '../../media/recording/join.ts';
import { INTERVALS, type ModuleWithExports } from '../feature-module.ts';
import type { BaseContext } from '../wiring.ts';

const SWEEP_MS = 15_000;

/** Recordings, and the worker that makes videos of them. */
export function recordingsPart(
  needs: BaseContext & { intake: VideoIntake },
): ModuleWithExports<{ recordings: Recordings }> {
  const { config, encoderThreads, jobs, log } = needs;
  const recordings = createRecordings({ ...needs, queue: jobs, refuse: stopRecording });
  return {
    exports: { recordings },
    module: {
      jobs: () => [
        createRecordingAssembly({
          ...needs,
          joiner: createRecordingJoiner({
            ffmpeg: config.FFMPEG_PATH,
            ffprobe: config.FFPROBE_PATH,
            guard: needs.guard,
            threads: encoderThreads,
            log,
          }),
        }),
      ],
      tasks: () => [
        { name: 'recordings', everyMs: SWEEP_MS, run: () => recordings.sweep() },
        { name: 'obsolete recordings', everyMs: INTERVALS.hour, run: () => recordings.cleanUp() },
      ],
    },
  };
}

/** Returns the hook that announces a recording when its video becomes playable. */
export function recordingReady({ clock }: BaseContext) {
  return createRecordingReady({ clock, emit: emitRecordingReady });
}
