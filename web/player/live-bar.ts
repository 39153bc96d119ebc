import { formatViewerCount } from './messages.ts';
import type { SeekableRange } from './seekable-range.ts';
import type { View } from './view.ts';

/**
 * Maximum distance behind the live position, in seconds, that counts as live: larger ones are only reached by
 * seeking.
 */
const LIVE_SEC = 6;
/** Maximum distance behind the end of the seekable range, in seconds, if the live position is unknown. */
const EDGE_SEC = 12;

/**
 * Updates the controls of a broadcast: the seek bar if it has a DVR window, the delay behind live, and the
 * number of viewers.
 */
export function followLive(view: View, reach: SeekableRange): void {
  const { stage, video, controller } = view;
  const bar = stage.querySelector<HTMLElement>('.player-seek');
  const behind = stage.querySelector<HTMLElement>('.player-behind');
  const viewers = stage.querySelector<HTMLElement>('.player-viewers');
  const live = () => reach.facts()?.liveSec ?? null;
  const slackSec = () => (live() === null ? EDGE_SEC : LIVE_SEC);
  // Overrides the live seek of media-chrome, which would go to the last loaded second, where playback stalls.
  Object.defineProperties(video, {
    targetLiveWindow: { get: () => (reach.span() === null ? 0 : Number.POSITIVE_INFINITY) },
    liveEdgeStart: { get: () => (live() ?? edgeOf(video)) - slackSec() },
  });
  const look = () => {
    const span = reach.span();
    if (bar !== null && bar.hidden !== (span === null)) {
      bar.hidden = span === null;
      video.dispatchEvent(new Event('targetlivewindowchange'));
    }
    const second = live();
    const offset = second === null ? 0 : Math.max(0, edgeOf(video) - second);
    controller.setAttribute('seektoliveoffset', offset.toFixed(1));
    if (behind === null) return;
    const lack = span === null ? 0 : span.end - video.currentTime;
    behind.hidden = lack < slackSec();
    behind.textContent = behind.hidden ? '' : `−${clock(lack)}`;
  };
  for (const name of ['timeupdate', 'progress', 'emptied', 'seeking']) video.addEventListener(name, look);
  stage.parentElement?.addEventListener('marquee-viewers', ({ detail }) => {
    if (viewers === null) return;
    viewers.hidden = detail === 0;
    viewers.textContent = formatViewerCount(detail);
  });
}

function edgeOf({ seekable }: HTMLVideoElement): number {
  return seekable.length === 0 ? Number.NaN : seekable.end(seekable.length - 1);
}

/** `1:04:09` */
function clock(seconds: number): string {
  const whole = Math.round(seconds);
  const two = (value: number) => String(value).padStart(2, '0');
  const hours = Math.trunc(whole / 3600);
  const minutes = Math.trunc(whole / 60) % 60;
  return `${hours === 0 ? minutes : `${hours}:${two(minutes)}`}:${two(whole % 60)}`;
}
