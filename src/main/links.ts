import type { PlaybackTokens, StreamLinks } from '../features/streams/index.ts';
import type { VideoLinks, VideoTokens } from '../features/videos/index.ts';
import { type Clock, dateFromMs } from '../kernel/clock.ts';
import { isOpen } from '../kernel/visibility.ts';
import type { Config } from '../platform/config.ts';
import type { Secrets } from '../platform/secrets.ts';

const HOUR_SEC = 3600;
const TTL_HOURS = { preview: 1, playback: 12 } as const;
type View = keyof typeof TTL_HOURS;

/**
 * `<view>.<expiry>.<signature>` under the key of `purpose`, for one id. The expiry counts units of `unitSec` since
 * the Unix epoch.
 */
function signedViews<const V extends string>(
  { secrets, clock }: { secrets: Secrets; clock: Clock },
  { purpose, views, unitSec }: { purpose: string; views: readonly V[]; unitSec: number },
) {
  const payload = (view: V, expiry: string, id: string) => `${view}.${expiry}.${id}`;
  return {
    mint(view: V, id: string, expiresAt: number): string {
      const expiry = expiresAt.toString(36);
      return `${view}.${expiry}.${secrets.sign(purpose, payload(view, expiry, id))}`;
    },
    read(token: string, id: string): V | null {
      const [name, expiry = '', signature = '', ...rest] = token.split('.');
      const view = views.find((one) => one === name);
      if (view === undefined || rest.length > 0 || !/^[0-9a-z]{1,8}$/.test(expiry)) return null;
      if (Number.parseInt(expiry, 36) * unitSec * 1000 <= clock.ms()) return null;
      return secrets.verify(purpose, payload(view, expiry, id), signature) ? view : null;
    },
  };
}

/** The signed queries of streams. They end with a whole hour, so that an address stays the same for a while. */
export function createPlaybackTokens(secrets: Secrets, clock: Clock) {
  const views = ['preview', 'playback'] as const;
  const signed = signedViews({ secrets, clock }, { purpose: 'live', views, unitSec: HOUR_SEC });
  return {
    mint(view: View, streamId: string): string {
      const hour = Math.floor(clock.ms() / 1000 / HOUR_SEC) + 1 + TTL_HOURS[view];
      return signed.mint(view, streamId, hour);
    },
    read: signed.read,
  } satisfies PlaybackTokens & { mint(view: View, streamId: string): string };
}

/** The signed queries of videos, good to the second. */
export function createVideoTokens(secrets: Secrets, clock: Clock): VideoTokens {
  const views = ['playback', 'site'] as const;
  const signed = signedViews({ secrets, clock }, { purpose: 'video', views, unitSec: 1 });
  return {
    mint(grant, videoId, ttlSec) {
      const expiresSec = Math.floor(clock.ms() / 1000) + ttlSec;
      return {
        token: signed.mint(grant, videoId, expiresSec),
        expiresAt: dateFromMs(expiresSec * 1000),
      };
    },
    /** Ends with a whole hour, so that the address stays the same for a while and can be cached. */
    mintSteady(grant, videoId, ttlSec) {
      const hour = Math.ceil((clock.ms() / 1000 + ttlSec) / HOUR_SEC);
      return signed.mint(grant, videoId, hour * HOUR_SEC);
    },
    read: signed.read,
  };
}

/** Where a stream is published, played, previewed and embedded. */
export function createStreamLinks(
  config: Pick<Config, 'PUBLIC_URL' | 'RTMP_URL'>,
  tokens: ReturnType<typeof createPlaybackTokens>,
): StreamLinks {
  const master = (id: string) => `${config.PUBLIC_URL}/live/${id}/master.m3u8`;
  return {
    rtmpUrl: config.RTMP_URL,
    playbackUrl: ({ id, visibility }) =>
      isOpen(visibility) ? master(id) : `${master(id)}?token=${tokens.mint('playback', id)}`,
    previewUrl: (id) => `${master(id)}?token=${tokens.mint('preview', id)}`,
    embedUrl: (id) => `${config.PUBLIC_URL}/embed/${id}`,
  };
}

const VIDEO_TTL_SEC = 12 * HOUR_SEC;

/**
 * Where a video is played and embedded, and its pictures; signed where the video is not open to everybody.
 *
 * @param tokens null for addresses that grant nothing: events are kept for weeks, and go to receivers and to keys
 * that may not read videos.
 */
export function createVideoLinks(
  { PUBLIC_URL: publicUrl }: Pick<Config, 'PUBLIC_URL'>,
  tokens: VideoTokens | null,
): VideoLinks {
  const signed = (path: string, { id, visibility }: Parameters<VideoLinks['embedUrl']>[0]) => {
    const address = `${publicUrl}${path}`;
    return tokens === null || isOpen(visibility)
      ? address
      : `${address}?token=${tokens.mintSteady('playback', id, VIDEO_TTL_SEC)}`;
  };
  return {
    playbackUrl: (video) => (video.isPlayable ? signed(`/v/${video.id}/master.m3u8`, video) : null),
    embedUrl: (video) => signed(`/embed/${video.id}`, video),
    thumbnailUrl(video) {
      const { id, thumbnailFile, imageFolder } = video;
      if (thumbnailFile !== null) return signed(`/v/${id}/thumbnails/${thumbnailFile}`, video);
      return imageFolder === null ? null : signed(`/v/${id}/${imageFolder}/img/poster.jpg`, video);
    },
    previewUrl(video) {
      const { id, hasPreview, imageFolder } = video;
      if (!hasPreview || imageFolder === null) return null;
      return signed(`/v/${id}/${imageFolder}/img/preview.webp`, video);
    },
    captionUrl: (video, file) => signed(`/v/${video.id}/captions/${file}`, video),
  };
}
