/** A view is so much watched, or the share of a shorter video. */
const COUNTED_SEC = 10;
const COUNTED_SHARE = 0.25;
/** Between two looks the picture moves less; more is a seek. */
const STEP_SEC = 1.5;

/** Tells the server of the view once enough of the video has been watched, seeks left out. */
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
    // The count is not worth a word to the viewer.
  }
}

/** Of this page alone. `randomUUID` is missing where the page came without TLS. */
function sessionId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
