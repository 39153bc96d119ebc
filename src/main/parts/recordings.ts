import {
  createRecordingAssembly,
  createRecordingReady,
  createRecordings,
  type Recordings,
} from '../../features/recordings/index.ts';
import { emitRecordingReady, refuseRecording } from '../../features/streams/index.ts';
import type { VideoIntake } from '../../features/videos/index.ts';
import { createRecordingJoiner } from '../../media/recording/join.ts';
import { type Built, EVERY } from '../part.ts';
import type { Base } from '../wiring.ts';

const SWEEP_MS = 15_000;

/** Recordings, and the worker that makes videos of them. */
export function recordingsPart(needs: Base & { intake: VideoIntake }): Built<{ recordings: Recordings }> {
  const { config, encoderThreads, jobs, log } = needs;
  const recordings = createRecordings({ ...needs, queue: jobs, refuse: refuseRecording });
  return {
    gives: { recordings },
    part: {
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
        { name: 'obsolete recordings', everyMs: EVERY.hour, run: () => recordings.cleanUp() },
      ],
    },
  };
}

/** A recording is told of when its video can be played. */
export function recordingReady({ clock }: Base) {
  return createRecordingReady({ clock, emit: emitRecordingReady });
}
