import type { Engine, EngineEvent, EngineState } from './playback.ts';
import { watchProgress } from './progress.ts';

export function canPlayNatively(video: HTMLVideoElement): boolean {
  return video.canPlayType('application/vnd.apple.mpegurl') !== '';
}

/** The browser does not expose playback details. */
const FACTS: EngineState = {
  protocol: 'Native HLS',
  ...{ liveSec: null, delaySec: null, frameRate: null, bitrate: null, bandwidth: null, codecs: null },
};

/** Leaves the playlists to the browser (Safari on iPhone before version 17.1 has no Media Source). */
export function attachNative(
  video: HTMLVideoElement,
  src: string,
  report: (event: EngineEvent) => void,
  /** Second at which a video begins; null plays a broadcast. */
  startSec: number | null,
): Engine {
  const onError = () => {
    const isDecoding =
      video.error?.code === MediaError.MEDIA_ERR_DECODE ||
      // An empty or missing playlist is also reported as "not supported"; the next request distinguishes the
      // two.
      (video.error?.code === MediaError.MEDIA_ERR_SRC_NOT_SUPPORTED && video.readyState > 0);
    report(isDecoding ? 'media' : 'gone');
  };
  const onEnded = () => report('gone');
  video.addEventListener('error', onError);
  // Reaching the end finishes a broadcast; a video can be played again.
  if (startSec === null) video.addEventListener('ended', onEnded);
  const unwatch = watchProgress(video, report);
  video.src = startSec === null || startSec === 0 ? src : `${src}#t=${startSec}`;
  video.load();
  return {
    opaque: startSec === null,
    facts: () => FACTS,
    destroy: () => {
      unwatch();
      video.removeEventListener('error', onError);
      video.removeEventListener('ended', onEnded);
      video.removeAttribute('src');
      video.load();
    },
  };
}
