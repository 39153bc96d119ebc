import type { EngineEvent } from './playback.ts';

const LOOK_MS = 1000;
/** Shorter pauses are the spinner's business. */
const STALLED_MS = 6000;
/** Seconds buffered ahead without progress that mean a hung decoder. */
const HUNG_AHEAD_SEC = 2;
const HUNG_MS = 12_000;

/** Watches the position of the video, independent of the engine. Returns a function that stops watching. */
export function watchProgress(video: HTMLVideoElement, report: (event: EngineEvent) => void): () => void {
  let isReady = false;
  let isStalled = false;
  let lastTime = -1;
  let lastMove = performance.now();

  const ready = () => {
    if (isReady) return;
    isReady = true;
    lastMove = performance.now();
    report('ready');
  };
  const look = () => {
    const now = performance.now();
    if (video.currentTime !== lastTime || video.paused || video.ended || video.seeking) {
      lastTime = video.currentTime;
      lastMove = now;
      if (isStalled && !video.paused) report('resumed');
      isStalled = false;
      return;
    }
    if (!isReady) return;
    const stillMs = now - lastMove;
    if (!isStalled && stillMs > STALLED_MS) {
      isStalled = true;
      report('stalled');
    }
    if (stillMs > HUNG_MS && bufferedAheadSec(video) > HUNG_AHEAD_SEC) report('media');
  };

  video.addEventListener('loadeddata', ready);
  const timer = setInterval(look, LOOK_MS);
  return () => {
    clearInterval(timer);
    video.removeEventListener('loadeddata', ready);
  };
}

/** Seconds that are loaded from here on. */
export function bufferedAheadSec(video: HTMLVideoElement): number {
  const { buffered, currentTime } = video;
  for (let index = 0; index < buffered.length; index++) {
    if (buffered.start(index) <= currentTime + 0.5 && buffered.end(index) > currentTime) {
      return buffered.end(index) - currentTime;
    }
  }
  return 0;
}
