import { JobDeferredError, JobPermanentError, type JobRun } from '../../../../jobs/job.ts';
import { MediaFileError } from '../../../../media/contract/index.ts';
import { isDiskError } from '../../../../platform/disk.ts';
import type { VideoFailure } from '../transitions.ts';
import type { ProcessingDeps } from './context.ts';
import { commitRun, failVideo, type Run, type Target } from './flow.ts';

const FULL_RETRY_SEC = 60;

/**
 * These may pass by themselves; all others are the file's own fault and final (docs/concepts/videos.md#failures).
 */
const PASSING = new Set(['INTERNAL', 'SOURCE_UNREACHABLE']);

const INTERNAL: VideoFailure = {
  code: 'INTERNAL',
  message: 'The video could not be processed because of a server error. Try again.',
};

/** Maximum tries whose process died; more are not a coincidence. */
export const MAX_WORKER_CRASHES = 8;

interface StepOptions<P extends Target> {
  /** Called instead of failing the video when the step cannot be done. */
  onGivenUp?: (run: Run<P>) => Promise<void>;
  /** Selects the runs that `onGivenUp` applies to; all when absent. */
  canDoWithout?: (payload: P) => boolean;
}

/** Wraps a step as a job handler that decides which errors are retried and which end the processing. */
export function withErrorHandling<P extends Target>(
  deps: ProcessingDeps,
  step: (run: Run<P>) => Promise<void>,
  { onGivenUp, canDoWithout = () => true }: StepOptions<P> = {},
): (run: JobRun<P>) => Promise<void> {
  const { log, checkTools } = deps;
  return async (run) => {
    await checkTools().catch((error: unknown) => {
      throw new JobDeferredError(error instanceof Error ? error.message : String(error), FULL_RETRY_SEC);
    });
    if (!(await deps.disk.isThere())) throw new JobDeferredError('no disk space', FULL_RETRY_SEC);
    try {
      if (run.lost > MAX_WORKER_CRASHES) throw new MediaFileError('INTERNAL', INTERNAL.message);
      await step(run);
    } catch (error) {
      if (run.signal.aborted || error instanceof JobDeferredError) throw error;
      const { videoId } = run.payload;
      if (isDiskError(error)) {
        log.error({ err: error, videoId }, 'processing waits for disk space');
        throw new JobDeferredError('no disk space', FULL_RETRY_SEC);
      }
      const own = error instanceof MediaFileError ? error : undefined;
      const isFinal = own !== undefined && !PASSING.has(own.code);
      if (!isFinal && !run.isLast && run.lost <= MAX_WORKER_CRASHES) throw error;
      log.warn({ err: error, videoId }, 'a processing step failed permanently');
      if (onGivenUp !== undefined && canDoWithout(run.payload)) return onGivenUp(run);
      const failure = own === undefined ? INTERNAL : { code: own.code, message: own.message };
      await commitRun(deps, run, (tx, append, video) => failVideo(deps, tx, append, video, failure));
      throw new JobPermanentError(failure.message, { cause: error });
    }
  };
}
