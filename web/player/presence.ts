/** Where players tell that they play (docs/api/playback.md#beacons). */
const URL = '/playback/beacon';
const TICK_MS = 15_000;

type Kind = 'PLAY' | 'PAUSE' | 'SEEK' | 'TICK' | 'END' | 'ERROR';

/** Tells the server that a broadcast plays, every 15 seconds while it does. */
export interface Presence {
  /** There is something to play, or not any more. */
  show(isOn: boolean): void;
  stop(): void;
}

/** @param session from the page; without it nobody is counted. */
export function createPresence(video: HTMLVideoElement, session: string): Presence {
  let n = 0;
  let isOn = false;
  let isTold = false;
  let timer: ReturnType<typeof setInterval> | undefined;

  const send = (type: Kind) => {
    const event = { type, positionSec: video.currentTime, at: new Date().toISOString() };
    const body = JSON.stringify({ session, n: n++, events: [event] });
    // As text: a page that is being closed has no time for a preflight.
    if (navigator.sendBeacon?.(URL, body)) return;
    void fetch(URL, { method: 'POST', body, keepalive: true }).catch(() => {});
  };
  const leave = (type: Kind) => {
    clearInterval(timer);
    if (isTold) send(type);
    isTold = false;
  };
  const look = () => {
    const plays = isOn && !video.paused && !video.ended;
    if (!plays) return leave(isOn && !video.ended ? 'PAUSE' : 'END');
    if (isTold) return;
    isTold = true;
    send('PLAY');
    clearInterval(timer);
    timer = setInterval(() => send('TICK'), TICK_MS);
  };
  const onHide = () => leave('END');
  const onSeek = () => void (isTold && send('SEEK'));
  const onError = () => void (isTold && send('ERROR'));
  const listeners = { playing: look, pause: look, ended: look, seeked: onSeek, error: onError };
  for (const [name, listener] of Object.entries(listeners)) video.addEventListener(name, listener);
  window.addEventListener('pagehide', onHide);
  // Out of the back-forward cache it goes on playing.
  window.addEventListener('pageshow', look);
  return {
    show(next) {
      isOn = next;
      look();
    },
    stop() {
      leave('END');
      for (const [name, listener] of Object.entries(listeners)) video.removeEventListener(name, listener);
      window.removeEventListener('pagehide', onHide);
      window.removeEventListener('pageshow', look);
    },
  };
}
