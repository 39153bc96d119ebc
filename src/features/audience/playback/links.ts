import { HOUR_SEC } from '../../../kernel/durations.ts';
import { isLinkAccessible, type Visibility } from '../../../kernel/visibility.ts';
import type { PlaybackTokens } from './tokens.ts';

/** Properties of a video that its URLs depend on. */
export interface LinkedVideo {
  id: string;
  visibility: Visibility;
  /** True when a rung of the current revision is playable. */
  isPlayable: boolean;
  /** Folder (`r<revision>a<attempt>`) of poster, storyboard and preview; null before they exist. */
  imageFolder: string | null;
  hasPreview: boolean;
  hasStoryboard: boolean;
  /** Chosen thumbnail, below the video's `thumbnails/`; null shows the poster. */
  thumbnailFile: string | null;
}

/** URLs at which a video is played and embedded, and of its images. */
export interface VideoLinks {
  /** Returns the URL of the master playlist; null before the video is playable. */
  playbackUrl(video: LinkedVideo): string | null;
  embedUrl(video: LinkedVideo): string;
  /** Returns the URL of the chosen thumbnail or the poster; null before there is one. */
  thumbnailUrl(video: LinkedVideo): string | null;
  /** Returns the URL of the animated preview; null before there is one. */
  previewUrl(video: LinkedVideo): string | null;
  /**
   * Returns the URL of the storyboard, a WebVTT file with an image per few seconds for the seek bar; null
   * before it exists.
   */
  storyboardUrl(video: LinkedVideo): string | null;
  captionUrl(video: LinkedVideo, file: string): string;
}

/** URLs at which a stream is played, previewed and embedded, and of its thumbnail. */
export interface StreamLinks {
  playbackUrl(stream: { id: string; visibility: Visibility }): string;
  previewUrl(id: string): string;
  /**
   * Returns the thumbnail URL: open like the playback URL while the stream is live, signed like the preview
   * before.
   */
  thumbnailUrl(stream: { id: string; visibility: Visibility; isLive: boolean }): string;
  embedUrl(id: string): string;
  /** Returns the WHEP URL for players; open or signed like the playback URL. */
  whepUrl(stream: { id: string; visibility: Visibility }): string;
}

const PLAYBACK_SEC = 12 * HOUR_SEC;
const PREVIEW_SEC = HOUR_SEC;

/** @param publicUrl without a trailing slash. */
export function createStreamLinks(
  publicUrl: string,
  tokens: Pick<PlaybackTokens, 'mintSteady'>,
): StreamLinks {
  const file = (id: string, name: string) => `${publicUrl}/live/${id}/${name}`;
  const master = (id: string) => file(id, 'master.m3u8');
  const playback = (id: string) => tokens.mintSteady('playback', id, PLAYBACK_SEC);
  const preview = (id: string) => tokens.mintSteady('preview', id, PREVIEW_SEC);
  return {
    playbackUrl: ({ id, visibility }) =>
      isLinkAccessible(visibility) ? master(id) : `${master(id)}?token=${playback(id)}`,
    previewUrl: (id) => `${master(id)}?token=${preview(id)}`,
    thumbnailUrl({ id, visibility, isLive }) {
      const picture = file(id, 'thumbnail.jpg');
      if (isLive && isLinkAccessible(visibility)) return picture;
      return `${picture}?token=${isLive ? playback(id) : preview(id)}`;
    },
    embedUrl: (id) => `${publicUrl}/embed/${id}`,
    whepUrl({ id, visibility }) {
      const address = `${publicUrl}/whep/${id}`;
      return isLinkAccessible(visibility) ? address : `${address}?token=${playback(id)}`;
    },
  };
}

/**
 * Creates the links of videos. A URL is signed when the video is restricted.
 *
 * @param publicUrl without a trailing slash.
 * @param tokens null for URLs that grant nothing: events are retained for weeks, and reach receivers and keys
 *   that may
 * not read videos.
 */
export function createVideoLinks(
  publicUrl: string,
  tokens: Pick<PlaybackTokens, 'mintSteady'> | null,
): VideoLinks {
  const signed = (path: string, { id, visibility }: LinkedVideo) => {
    const address = `${publicUrl}${path}`;
    return tokens === null || isLinkAccessible(visibility)
      ? address
      : `${address}?token=${tokens.mintSteady('playback', id, PLAYBACK_SEC)}`;
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
    storyboardUrl(video) {
      const { id, hasStoryboard, imageFolder } = video;
      if (!hasStoryboard || imageFolder === null) return null;
      return signed(`/v/${id}/${imageFolder}/img/storyboard.vtt`, video);
    },
    captionUrl: (video, file) => signed(`/v/${video.id}/captions/${file}`, video),
  };
}
