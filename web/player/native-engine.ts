import type { Engine, EngineEvent } from './playback.ts';
import { watchProgress } from './progress.ts';

export function canPlayNatively(video: HTMLVideoElement): boolean {
  return video.canPlayType('application/vnd.apple.mpegurl') !== '';
}

/** Leaves the playlists to the browser (Safari on iPhone before version 17.1 has no Media Source). */
export function attachNative(
  video: HTMLVideoElement,
  src: string,
  report: (event: EngineEvent) => void,
): Engine {
  const onError = () => {
    const isDecoding =
      video.error?.code === MediaError.MEDIA_ERR_DECODE ||
      // An empty or missing playlist is "not supported" here as well: what it was shows when asked again.
      (video.error?.code === MediaError.MEDIA_ERR_SRC_NOT_SUPPORTED && video.readyState > 0);
    report(isDecoding ? 'media' : 'gone');
  };
  const onEnded = () => report('gone');
  video.addEventListener('error', onError);
  video.addEventListener('ended', onEnded);
  const unwatch = watchProgress(video, report);
  video.src = src;
  video.load();
  return {
    opaque: true,
    destroy: () => {
      unwatch();
      video.removeEventListener('error', onError);
      video.removeEventListener('ended', onEnded);
      video.removeAttribute('src');
      video.load();
    },
  };
}
