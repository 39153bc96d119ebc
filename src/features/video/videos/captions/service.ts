import { nextSequence } from '../../../../events/index.ts';
import type { Clock } from '../../../../kernel/clock.ts';
import { AppError, badRequest, notFound } from '../../../../kernel/errors.ts';
import { newId } from '../../../../kernel/ids.ts';
import { canonicalLanguage, languageName } from '../../../../kernel/languages.ts';
import { videoPrefix } from '../../../../kernel/media-keys.ts';
import type { PageRequest } from '../../../../kernel/page.ts';
import type { BlobStore } from '../../../../media/contract/index.ts';
import type { Db } from '../../../../platform/db/index.ts';
import type { DiskSpace } from '../../../../platform/disk.ts';
import { videoCaptionReady } from '../events.ts';
import type { VideoDetails } from '../repository.ts';
import { updateVideo } from '../repository.ts';
import type { LockVideo } from '../with-locked-video.ts';
import type { CaptionRow } from './repository.ts';
import * as repository from './repository.ts';
import { toWebVtt } from './webvtt.ts';

export interface CaptionsInput {
  /** BCP 47. */
  language: string;
  /** Label in the player's menu; the name of the language by default. */
  label: string | undefined;
  /** WebVTT or SubRip; null when none was sent. */
  text: string | null;
  /** Field of the request that contained the text. */
  field: string;
}

/** Uploaded captions, one file per language. Functions reject with NOT_FOUND for a missing video. */
export interface Captions {
  list(
    workspaceId: string,
    videoId: string,
    page: PageRequest,
  ): Promise<{ video: VideoDetails; rows: CaptionRow[] }>;
  /** Stores captions, replacing those in the same language; emits `video.caption.ready`. */
  put(
    workspaceId: string,
    videoId: string,
    input: CaptionsInput,
  ): Promise<{ video: VideoDetails; row: CaptionRow }>;
  /** @throws {AppError} NOT_FOUND when there are none in this language. */
  remove(workspaceId: string, videoId: string, language: string): Promise<void>;
}

/** Maximum size of an uploaded file. */
export const CAPTIONS_MAX_BYTES = 1_048_576;
const TYPE = 'text/vtt; charset=utf-8';
/** Message when a video already has the maximum number of captions. */
export const TOO_MANY = `Limit of ${repository.MAX_LANGUAGES} caption languages per video reached.`;

interface Deps {
  db: Db;
  store: Pick<BlobStore, 'put' | 'delete'>;
  disk: Pick<DiskSpace, 'admit'>;
  clock: Clock;
  videos: { get(workspaceId: string, id: string): Promise<VideoDetails> };
  locked: LockVideo;
}

export function createCaptions({ db, store, disk, clock, videos, locked }: Deps): Captions {
  const keyOf = (video: Pick<VideoDetails, 'id' | 'workspace_id'>, file: string) =>
    `${videoPrefix(video)}/captions/${file}`;
  return {
    async list(workspaceId, videoId, page) {
      const video = await videos.get(workspaceId, videoId);
      return { video, rows: await repository.listCaptions(db, videoId, page) };
    },
    async put(workspaceId, videoId, { language: tag, label, text, field }) {
      const video = await videos.get(workspaceId, videoId);
      const language = canonicalLanguage(tag);
      if (language === null)
        throw badRequest('language', 'language must be a BCP 47 tag, such as en or pt-BR.');
      if (text === null) throw badRequest(field, 'Send a file as multipart/form-data, or {content} as JSON.');
      const content = toWebVtt(text, field);
      const id = newId('cap');
      const file = `${id}.vtt`;
      await disk.admit(content.length);
      await store.put(keyOf(video, file), content, TYPE);
      const { row, old } = await locked(workspaceId, videoId, async (tx, _row, append) => {
        const old = await repository.deleteCaption(tx, videoId, language);
        if (await repository.hasAllCaptions(tx, videoId)) {
          throw new AppError('CONFLICT', { message: TOO_MANY });
        }
        const created_at = clock.now();
        const name = label ?? languageName(language);
        const made = { id, video_id: videoId, language, label: name, file, created_at };
        const row = await repository.insertCaption(tx, made);
        await updateVideo(tx, videoId, { updated_at: created_at });
        const sequence = await nextSequence(tx, 'video', videoId);
        await append(videoCaptionReady, workspaceId, { videoId, language, isAuto: false, sequence });
        return { row, old };
      }).catch(async (error: unknown) => {
        await store.delete(keyOf(video, file));
        throw error;
      });
      if (old !== undefined) await store.delete(keyOf(video, old));
      return { video, row };
    },
    async remove(workspaceId, videoId, tag) {
      const language = canonicalLanguage(tag);
      const { key } = await locked(workspaceId, videoId, async (tx, video) => {
        const file = language === null ? undefined : await repository.deleteCaption(tx, videoId, language);
        if (file === undefined) throw notFound();
        await updateVideo(tx, videoId, { updated_at: clock.now() });
        return { key: keyOf(video, file) };
      });
      await store.delete(key);
    },
  };
}
