import type { SeekableRange } from './seekable-range.ts';

/** Shortcut in the list, with its action. */
export interface Shortcut {
  /** Key names of the browser, with letters in lower case. */
  keys: readonly string[];
  /** Label for the list of shortcuts. */
  shown: string;
  does: string;
  /** Repeats while the key is held down. */
  repeats?: boolean;
  /** Only where one can seek: in a video, and in a broadcast that can be watched from before. */
  seeks?: boolean;
  /** Not in a broadcast, which has one speed. */
  isOfVideos?: boolean;
  /** Applies only while the player has the focus: elsewhere the key scrolls the page. */
  isOfPlayer?: boolean;
  /** @returns the message shown briefly. */
  run(reach: SeekableRange, key: string): string;
}

const STEP_SEC = { arrow: 5, letter: 10 };
const VOLUME_STEP = 0.05;
const RATES = [0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2];

/** The keys that other players of videos have, too. */
export const SHORTCUTS: readonly Shortcut[] = [
  { keys: [' ', 'k'], shown: 'Space, K', does: 'Play or pause', run: togglePlay },
  {
    ...{ keys: ['j', 'l'], shown: 'J, L', does: 'Back or forward 10 seconds', repeats: true, seeks: true },
    run: (reach, key) => seekBy(reach, key === 'l' ? STEP_SEC.letter : -STEP_SEC.letter),
  },
  {
    keys: ['arrowleft', 'arrowright'],
    ...{ shown: '←, →', does: 'Back or forward 5 seconds', repeats: true, seeks: true },
    run: (reach, key) => seekBy(reach, key === 'arrowright' ? STEP_SEC.arrow : -STEP_SEC.arrow),
  },
  {
    keys: ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9'],
    ...{ shown: '0 to 9', does: 'Jump to start, 10% … 90%', seeks: true },
    run: seekToTenth,
  },
  {
    keys: ['home', 'end'],
    ...{ shown: 'Home, End', does: 'Jump to start or end', seeks: true, isOfPlayer: true },
    run: seekToSide,
  },
  {
    ...{ keys: [',', '.'], shown: ', and .', does: 'Previous or next frame (while paused)', repeats: true },
    run: stepFrame,
  },
  {
    keys: ['<', '>'],
    shown: '< and >',
    does: 'Decrease or increase speed',
    isOfVideos: true,
    run: changeRate,
  },
  {
    keys: ['arrowup', 'arrowdown'],
    ...{ shown: '↑, ↓', does: 'Volume up or down (in the player)', repeats: true, isOfPlayer: true },
    run: changeVolume,
  },
  { keys: ['m'], shown: 'M', does: 'Mute or unmute', run: toggleSound },
  { keys: ['f'], shown: 'F', does: 'Full screen', run: toggleFullscreen },
  { keys: ['c'], shown: 'C', does: 'Captions', run: toggleCaptions },
  { keys: ['s'], shown: 'S', does: 'Statistics', run: openStats },
  { keys: ['?'], shown: '?', does: 'Keyboard shortcuts', run: openKeys },
];

/**
 * localStorage key of the viewer's choice: single-key shortcuts must be possible to turn off (WCAG 2.1.4).
 */
const CHOICE = 'marquee-keys';

export function areKeysOfPage(): boolean {
  try {
    return localStorage.getItem(CHOICE) !== 'player';
  } catch {
    // Storage may be unavailable in a frame.
    return true;
  }
}

export function setKeysOfPage(isOn: boolean): void {
  try {
    localStorage.setItem(CHOICE, isOn ? 'page' : 'player');
  } catch {}
}

/**
 * Listens on the whole page, even before any click, except while text is entered or where a key has another
 * function.
 *
 * @returns a function that stops listening.
 */
export function listenToKeys(reach: SeekableRange): () => void {
  const listener = (event: KeyboardEvent) => onKey(reach, event);
  document.addEventListener('keydown', listener);
  return () => document.removeEventListener('keydown', listener);
}

function onKey(reach: SeekableRange, event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.altKey || event.metaKey) return;
  if (!reach.hasPicture()) return;
  const key = event.key.toLowerCase();
  const shortcut = SHORTCUTS.find(({ keys }) => keys.includes(key));
  const [target] = event.composedPath();
  if (shortcut === undefined || isTaken(target, key)) return;
  const isInPlayer = reach.hasFocus();
  if (!isInPlayer && ((shortcut.isOfPlayer === true && canScroll()) || !areKeysOfPage())) return;
  if (!isUseful(shortcut, reach)) return;
  event.preventDefault();
  if (event.repeat && shortcut.repeats !== true) return;
  reach.say(shortcut.run(reach, key));
}

/** Reports whether a shortcut applies to the current media. */
export function isUseful({ seeks, isOfVideos }: Shortcut, reach: Pick<SeekableRange, 'span'>): boolean {
  const span = reach.span();
  return (seeks !== true || span !== null) && (isOfVideos !== true || span?.isLive === false);
}

const WRITING = 'input:not([type=range]), textarea, select, [contenteditable], dialog, [role=dialog]';
/** Elements that the space bar activates. */
const PRESSED = 'button, a[href], summary, [role=button], [role=link], [role=tab], video[controls]';
/** Elements that the arrow keys, Home and End control. */
const MOVED = 'input[type=range], [role=slider], [role=menu], [role=tablist], [role=listbox]';
const PRESSES: ReadonlySet<string> = new Set([' ']);
const MOVES: ReadonlySet<string> = new Set([
  'arrowleft',
  'arrowright',
  'arrowup',
  'arrowdown',
  'home',
  'end',
]);

/** Reports whether the focused element handles the key; `target` may be in a shadow tree. */
function isTaken(target: EventTarget | undefined, key: string): boolean {
  if (!(target instanceof Element)) return false;
  const host = target.getRootNode() instanceof ShadowRoot ? hostOf(target) : null;
  const isIn = (selector: string) =>
    target.closest(selector) !== null || (host !== null && host.closest(selector) !== null);
  if (isIn(WRITING) || isIn('[role^=menuitem], [role=menu]')) return true;
  return (PRESSES.has(key) && isIn(PRESSED)) || (MOVES.has(key) && isIn(MOVED));
}

function hostOf(element: Element): Element | null {
  const root = element.getRootNode();
  return root instanceof ShadowRoot ? root.host : null;
}

function canScroll(): boolean {
  const { scrollHeight, clientHeight } = document.documentElement;
  return scrollHeight > clientHeight && document.fullscreenElement === null;
}

function openStats({ open }: SeekableRange): string {
  open('stats');
  return '';
}

function openKeys({ open }: SeekableRange): string {
  open('keys');
  return '';
}

function togglePlay({ video, request }: SeekableRange): string {
  request(video.paused ? 'mediaplayrequest' : 'mediapauserequest');
  return video.paused ? 'Play' : 'Paused';
}

function seekBy(reach: SeekableRange, seconds: number): string {
  const span = reach.span();
  if (span === null) return '';
  const wanted = reach.video.currentTime + seconds;
  reach.seek(Math.min(span.end, Math.max(span.start, wanted)));
  if (span.isLive && wanted >= span.end) return 'Live';
  return seconds > 0 ? `+${seconds} s` : `−${-seconds} s`;
}

function seekToTenth(reach: SeekableRange, key: string): string {
  const span = reach.span();
  if (span === null) return '';
  reach.seek(span.start + ((span.end - span.start) * Number(key)) / 10);
  return `${Number(key) * 10} %`;
}

function seekToSide(reach: SeekableRange, key: string): string {
  const span = reach.span();
  if (span === null) return '';
  reach.seek(key === 'home' ? span.start : span.end);
  if (key === 'home') return 'Start';
  return span.isLive ? 'Live' : 'End';
}

function stepFrame({ video, frameRate }: SeekableRange, key: string): string {
  video.pause();
  const { buffered, seekable, currentTime } = video;
  const wanted = currentTime + (key === '.' ? 1 : -1) / frameRate();
  // A player that has just started has no data before its first frame, but can load it.
  if ([buffered, seekable].some((ranges) => isWithin(ranges, wanted))) video.currentTime = wanted;
  return key === '.' ? '1 frame forward' : '1 frame back';
}

function isWithin(ranges: TimeRanges, time: number): boolean {
  const indexes = Array.from({ length: ranges.length }, (_, index) => index);
  return indexes.some((index) => ranges.start(index) <= time && time < ranges.end(index));
}

function changeRate({ video }: SeekableRange, key: string): string {
  const others = key === '>' ? RATES : RATES.toReversed();
  const next = others.find((rate) => (key === '>' ? rate > video.playbackRate : rate < video.playbackRate));
  video.playbackRate = next ?? video.playbackRate;
  return `${video.playbackRate}×`;
}

function changeVolume({ video }: SeekableRange, key: string): string {
  const wanted = video.volume + (key === 'arrowup' ? VOLUME_STEP : -VOLUME_STEP);
  video.volume = Math.min(1, Math.max(0, Math.round(wanted * 20) / 20));
  if (video.volume > 0) video.muted = false;
  return `Volume ${Math.round(video.volume * 100)} %`;
}

function toggleSound({ video, request }: SeekableRange): string {
  request(video.muted ? 'mediaunmuterequest' : 'mediamuterequest');
  return video.muted ? 'Muted' : 'Unmuted';
}

function toggleFullscreen({ request }: SeekableRange): string {
  request(document.fullscreenElement === null ? 'mediaenterfullscreenrequest' : 'mediaexitfullscreenrequest');
  return '';
}

function toggleCaptions({ request }: SeekableRange): string {
  request('mediatogglesubtitlesrequest');
  return '';
}
