/** Seconds watched that count as a view; shorter videos need only a share of their duration. */
const COUNTED_SEC = 10;
const COUNTED_SHARE = 0.25;
/** Maximum position change between two time updates during playback; a larger one is a seek. */
const STEP_SEC = 1.5;

/** Sends the view to the server once enough of the video has been watched, without seeks. */
export function countView(video: HTMLVideoElement, url: string): void {
  let watchedSec = 0;
  let lastSec = 0;
  const look = () => {
    const step = video.currentTime - lastSec;
    lastSec = video.currentTime;
    if (video.seeking || step <= 0 || step > STEP_SEC) return;
    watchedSec += step;
    if (watchedSec < Math.min(COUNTED_SEC, video.duration * COUNTED_SHARE)) return;
    video.removeEventListener('timeupdate', look);
    void send(url, Math.max(watchedSec, video.currentTime));
  };
  video.addEventListener('timeupdate', look);
}

async function send(url: string, positionSec: number): Promise<void> {
  const referrer = document.referrer === '' ? undefined : document.referrer;
  const body = JSON.stringify({ sessionId: sessionId(), positionSec: Math.ceil(positionSec), referrer });
  try {
    await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
      keepalive: true,
    });
  } catch {
    // A failed count is not shown to the viewer.
  }
}

/** Returns an ID unique to this page. `randomUUID` is missing on pages without TLS. */
function sessionId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
