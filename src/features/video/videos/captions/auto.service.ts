import type { JobQueue } from '../../../../jobs/job.ts';
import type { Clock } from '../../../../kernel/clock.ts';
import { AppError, badRequest } from '../../../../kernel/errors.ts';
import { canonicalLanguage } from '../../../../kernel/languages.ts';
import type { Db } from '../../../../platform/db/index.ts';
import { getWorkspaceOwner } from '../../../../platform/db/workspace.ts';
import { priorityOf } from '../processing/rules.ts';
import type { VideoDetails } from '../repository.ts';
import type { LockVideo } from '../with-locked-video.ts';
import { transcribeJob } from './auto.jobs.ts';
import type { TranscriptionRow } from './auto.repository.ts';
import * as repository from './auto.repository.ts';
import { findCaption } from './repository.ts';

export interface AutoCaptionsState {
  /** Whether the platform has a speech engine. */
  isAvailable: boolean;
  /** Latest request. */
  last: TranscriptionRow | undefined;
}

/** Captions that a speech engine makes (docs/concepts/videos.md#automatic-captions). NOT_FOUND for a missing video. */
export interface AutoCaptions {
  /**
   * Requests automatic captions; while a request is pending, another one changes nothing.
   *
   * @param language BCP 47 tag of the speech; undefined lets the engine detect it.
   * @throws {AppError} SERVICE_UNAVAILABLE where the platform has no engine; BAD_REQUEST, field `language`;
   *   CONFLICT unless the video is READY and has audio, or where the owner has uploaded captions in that
   *   language.
   */
  request(workspaceId: string, videoId: string, language: string | undefined): Promise<AutoCaptionsState>;
  get(workspaceId: string, videoId: string): Promise<AutoCaptionsState>;
}

interface Deps {
  db: Db;
  queue: JobQueue;
  clock: Clock;
  videos: { get(workspaceId: string, id: string): Promise<VideoDetails> };
  locked: LockVideo;
  /** Whether the platform has a speech engine. */
  isThere: boolean;
}

const NO_ENGINE =
  'This platform has no speech engine. The operator can configure one with TRANSCRIBE_COMMAND.';

export function createAutoCaptions({ db, queue, clock, videos, locked, isThere }: Deps): AutoCaptions {
  return {
    async request(workspaceId, videoId, tag) {
      await videos.get(workspaceId, videoId);
      if (!isThere) throw new AppError('SERVICE_UNAVAILABLE', { message: NO_ENGINE });
      const language = tag === undefined ? null : canonicalLanguage(tag);
      if (tag !== undefined && language === null)
        throw badRequest('language', 'language must be a BCP 47 tag, such as en or pt-BR.');
      const last = await locked(workspaceId, videoId, async (tx, row) => {
        const known = await repository.findTranscription(tx, videoId);
        if (known !== undefined && known.ended_at === null) return known;
        if (row.status !== 'READY') {
          throw new AppError('CONFLICT', { field: 'status', message: 'The video is not READY.' });
        }
        if ((await repository.findAudio(tx, videoId)) === undefined) {
          throw new AppError('CONFLICT', { message: 'The video does not contain audio.' });
        }
        const own = language === null ? undefined : await findCaption(tx, videoId, language);
        if (own !== undefined && !own.is_auto) {
          throw new AppError('CONFLICT', { field: 'language', message: ownCaptionsExist(own.language) });
        }
        const asked = { video_id: videoId, language, requested_at: clock.now() };
        const made = await repository.putTranscription(tx, asked);
        const { plan, accountId } = await getWorkspaceOwner(tx, workspaceId);
        const options = { priority: priorityOf(plan), group: accountId, key: videoId };
        await queue.enqueue(tx, transcribeJob, { videoId }, options);
        return made;
      });
      return { isAvailable: true, last };
    },
    async get(workspaceId, videoId) {
      await videos.get(workspaceId, videoId);
      return { isAvailable: isThere, last: await repository.findTranscription(db, videoId) };
    },
  };
}

/** Returns the message when the owner's captions prevent automatic ones. */
export function ownCaptionsExist(language: string): string {
  return `The video already has uploaded captions in ${language}. Delete them first.`;
}
