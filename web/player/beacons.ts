/** URL to which players send beacons (docs/concepts/playback.md#beacons). */
const URL = '/playback/beacon';
const TICK_MS = 15_000;
/** Time within which events are sent together: dragging the seek bar causes many. */
const GATHER_MS = 300;
const MAX_EVENTS = 50;

type Kind = 'PLAY' | 'PAUSE' | 'SEEK' | 'TICK' | 'END' | 'ERROR';

/** Reports playback to the server, every 15 seconds while the video plays. */
export interface Beacons {
  /** Sets whether there is something to play. */
  show(isOn: boolean): void;
  stop(): void;
}

/** Next sequence number of each session: a recreated player continues the count. */
const numbers = new Map<string, number>();

/** Collects events, and sends them together. */
function createMessages(session: string, isPresence: boolean) {
  let events: object[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    if (events.length === 0) return;
    const n = numbers.get(session) ?? 0;
    numbers.set(session, n + 1);
    const body = JSON.stringify({
      session,
      n,
      sentAt: Date.now(),
      ...(isPresence ? {} : { isPresence }),
      events: events.slice(-MAX_EVENTS),
    });
    events = [];
    // Sent as text: a page that is closing has no time for a preflight.
    if (navigator.sendBeacon?.(URL, body)) return;
    void fetch(URL, { method: 'POST', body, keepalive: true }).catch(() => {});
  };
  return {
    flush,
    add(event: object): void {
      events.push(event);
      timer ??= setTimeout(flush, GATHER_MS);
    },
  };
}

/**
 * @param session from the page; without it no viewer is counted.
 * @param isPresence false where playlists count the viewer.
 */
export function createBeacons(video: HTMLVideoElement, session: string, isPresence = true): Beacons {
  const { add, flush } = createMessages(session, isPresence);
  let isOn = false;
  let isTold = false;
  /** Position before the current seek. */
  let lastSec = 0;
  let isSeeking = false;
  let ticks: ReturnType<typeof setInterval> | undefined;

  const tell = (type: Kind, positionSec = video.currentTime) => {
    const { videoHeight } = video;
    add({ type, positionSec, at: Date.now(), ...(videoHeight > 0 && { quality: videoHeight }) });
  };
  const leave = (type: Kind) => {
    clearInterval(ticks);
    if (isTold) tell(type);
    isTold = false;
  };
  const look = () => {
    const plays = isOn && !video.paused && !video.ended;
    if (!plays) return leave(isOn && !video.ended ? 'PAUSE' : 'END');
    if (isTold) return;
    isTold = true;
    tell('PLAY');
    clearInterval(ticks);
    ticks = setInterval(() => tell('TICK'), TICK_MS);
  };
  const onTime = () => {
    if (!video.seeking) lastSec = video.currentTime;
  };
  const onSeeking = () => {
    // Reports playback up to the seek once; dragging the seek bar seeks many times.
    if (isTold && !isSeeking) tell('TICK', lastSec);
    isSeeking = true;
  };
  const onSought = () => {
    isSeeking = false;
    onTime();
    if (isTold) tell('SEEK');
  };
  const onHide = () => {
    leave('END');
    flush();
  };
  const onError = () => void (isTold && tell('ERROR'));
  const listeners = {
    ...{ playing: look, pause: look, ended: look, error: onError },
    ...{ timeupdate: onTime, seeking: onSeeking, seeked: onSought },
  };
  for (const [name, listener] of Object.entries(listeners)) video.addEventListener(name, listener);
  window.addEventListener('pagehide', onHide);
  // A page restored from the back-forward cache resumes playback.
  window.addEventListener('pageshow', look);
  return {
    show(next) {
      isOn = next;
      look();
    },
    stop() {
      onHide();
      for (const [name, listener] of Object.entries(listeners)) video.removeEventListener(name, listener);
      window.removeEventListener('pagehide', onHide);
      window.removeEventListener('pageshow', look);
    },
  };
}
