import { type Clock, dateFromMs } from '../../../../kernel/clock.ts';
import { AppError, badRequest, notFound } from '../../../../kernel/errors.ts';
import { videoPrefix } from '../../../../kernel/media-keys.ts';
import type { Snapshots } from '../../../../kernel/snapshots.ts';
import type { DownloadedFile, FileReply, FileRequest, VideoFiles } from '../../../../media/contract/index.ts';
import type { Secrets } from '../../../../platform/secrets.ts';
import { signToken, verifyToken } from '../../../../platform/signed-token.ts';
import type { VideoSnapshot } from './snapshot.ts';

/** Name of the original; all other names are renditions. */
export const ORIGINAL = 'original';

export interface Download extends DownloadedFile {
  url: string;
  expiresAt: Date;
}

/** Target of a download link. */
export interface OpenDownload {
  video: VideoSnapshot;
  reply: FileReply;
}

/** The files of a video for its owner, by addresses that end (docs/concepts/videos.md#download). */
export interface Downloads {
  /**
   * @param name `original` or the name of a rendition.
   * @throws {AppError} NOT_FOUND; BAD_REQUEST, field `rendition`; CONFLICT while the original was not
   *   received.
   */
  mint(workspaceId: string, id: string, name: string, ttlSec: number): Promise<Download>;
  /** Returns null when the file is missing or the link has expired. */
  open(
    link: { videoId: string; name: string; token: string | undefined },
    request: FileRequest,
  ): Promise<OpenDownload | null>;
}

interface Deps {
  videos: Snapshots<VideoSnapshot>;
  files: Pick<VideoFiles, 'downloadOriginal' | 'downloadMp4' | 'describeOriginal' | 'describeMp4'>;
  secrets: Secrets;
  clock: Clock;
  /** URL without a trailing slash. */
  publicUrl: string;
}

const PURPOSE = 'download';
const EXPIRY = /^[0-9a-z]{1,8}$/;

export function createDownloads({ videos, files, secrets, clock, publicUrl }: Deps): Downloads {
  const of = (videoId: string, name: string) => `${videoId}/${name}`;
  const isValid = (videoId: string, name: string, token: string) => {
    const head = verifyToken(secrets, PURPOSE, { text: token, of: of(videoId, name) });
    return head !== null && EXPIRY.test(head) && Number.parseInt(head, 36) * 1000 > clock.ms();
  };
  return {
    async mint(workspaceId, id, name, ttlSec) {
      const video = await videos.get(id);
      if (video === undefined || video.workspaceId !== workspaceId) throw notFound();
      const file = await describe(files, video, name);
      const expiresSec = Math.floor(clock.ms() / 1000) + ttlSec;
      const token = signToken(secrets, PURPOSE, { head: expiresSec.toString(36), of: of(id, name) });
      const url = `${publicUrl}/v/${id}/download/${name}?token=${token}`;
      return { ...file, url, expiresAt: dateFromMs(expiresSec * 1000) };
    },
    async open({ videoId, name, token }, request) {
      if (token === undefined || !isValid(videoId, name, token)) return null;
      const video = await videos.get(videoId);
      if (video === undefined) return null;
      const file = { ...request, isPrivate: true, title: video.title };
      if (name === ORIGINAL) {
        const { originalKey: key } = video;
        return key === null ? null : { video, reply: await files.downloadOriginal({ ...file, key }) };
      }
      const rung = rungOf(video, name);
      if (rung === undefined) return null;
      const folder = (path: string) =>
        `${videoPrefix({ workspace_id: video.workspaceId, id: video.id })}/${path}`;
      const [main] = video.audio;
      const audio = main === undefined ? null : folder(main.path);
      const durationSec = video.durationSec ?? 0;
      return {
        video,
        reply: await files.downloadMp4({ ...file, video: folder(rung.path), audio, durationSec }),
      };
    },
  };
}

async function describe(files: Deps['files'], video: VideoSnapshot, name: string): Promise<DownloadedFile> {
  const { title, originalKey: key, rungs } = video;
  if (name === ORIGINAL) {
    const file = key === null ? null : await files.describeOriginal({ key, title });
    if (file === null) throw new AppError('CONFLICT', { message: 'The video does not have a file yet.' });
    return file;
  }
  if (rungOf(video, name) !== undefined) return files.describeMp4(title);
  const names = [ORIGINAL, ...rungs.map(({ path }) => nameOf(path))].join(', ');
  throw badRequest('rendition', `rendition must be one of: ${names}.`);
}

function rungOf({ rungs }: VideoSnapshot, name: string) {
  return rungs.find(({ path }) => nameOf(path) === name);
}

/** Returns `720p` for `r1a1/720p`. */
function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
