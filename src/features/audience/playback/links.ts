import { HOUR_SEC } from '../../../kernel/durations.ts';
import { isLinkAccessible, type Visibility } from '../../../kernel/visibility.ts';
import type { PlaybackTokens } from './tokens.ts';

/** What the addresses of a video depend on. */
export interface LinkedVideo {
  id: string;
  visibility: Visibility;
  /** A rung of the current revision can be played. */
  isPlayable: boolean;
  /** The folder (`r<revision>a<attempt>`) of poster, storyboard and preview; null before they are made. */
  imageFolder: string | null;
  hasPreview: boolean;
  hasStoryboard: boolean;
  /** The chosen thumbnail, below the video's `thumbnails/`; null shows the poster. */
  thumbnailFile: string | null;
}

/** Where a video is played and embedded, and its pictures. */
export interface VideoLinks {
  /** The master playlist; null before the video can be played. */
  playbackUrl(video: LinkedVideo): string | null;
  embedUrl(video: LinkedVideo): string;
  /** The chosen thumbnail, else the poster; null before there is one. */
  thumbnailUrl(video: LinkedVideo): string | null;
  /** The moving preview; null before there is one. */
  previewUrl(video: LinkedVideo): string | null;
  /** WebVTT that names a picture for every few seconds, for the seek bar; null before there is one. */
  storyboardUrl(video: LinkedVideo): string | null;
  captionUrl(video: LinkedVideo, file: string): string;
}

/** Where a stream is played, previewed and embedded, and its picture. */
export interface StreamLinks {
  playbackUrl(stream: { id: string; visibility: Visibility }): string;
  previewUrl(id: string): string;
  /** Open like the playback while the stream is live, signed like the preview before. */
  thumbnailUrl(stream: { id: string; visibility: Visibility; isLive: boolean }): string;
  embedUrl(id: string): string;
  /** Where a player asks for it by WebRTC; open or signed like the playback. */
  whepUrl(stream: { id: string; visibility: Visibility }): string;
}

const PLAYBACK_SEC = 12 * HOUR_SEC;
const PREVIEW_SEC = HOUR_SEC;

/** @param publicUrl without a slash at the end. */
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
 * Signed where the video is not open to everybody.
 *
 * @param publicUrl without a slash at the end.
 * @param tokens null for addresses that grant nothing: events are kept for weeks, and go to receivers and to keys
 * that may not read videos.
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
