/** Where players tell that they play (docs/concepts/playback.md#beacons). */
const URL = '/playback/beacon';
const TICK_MS = 15_000;
/** What happens within it goes together: a viewer drags the seek bar. */
const GATHER_MS = 300;
const MOST_EVENTS = 50;

type Kind = 'PLAY' | 'PAUSE' | 'SEEK' | 'TICK' | 'END' | 'ERROR';

/** Tells the server that the picture plays, every 15 seconds while it does. */
export interface Beacons {
  /** There is something to play, or not any more. */
  show(isOn: boolean): void;
  stop(): void;
}

/** The next number of each session: a player that is built anew goes on counting. */
const numbers = new Map<string, number>();

/** Gathers what happens, and sends it together. */
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
      events: events.slice(-MOST_EVENTS),
    });
    events = [];
    // As text: a page that is being closed has no time for a preflight.
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
 * @param session from the page; without it nobody is counted.
 * @param isPresence false where playlists count the viewer.
 */
export function createBeacons(video: HTMLVideoElement, session: string, isPresence = true): Beacons {
  const { add, flush } = createMessages(session, isPresence);
  let isOn = false;
  let isTold = false;
  /** Where the picture was before it was sought elsewhere. */
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
    // What was watched until now; a seek bar that is dragged seeks many times.
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
  // Out of the back-forward cache it goes on playing.
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
