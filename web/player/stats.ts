import { bufferedAheadSec } from './progress.ts';
import type { SeekableRange } from './seekable-range.ts';

const LOOK_MS = 1000;
const UNKNOWN = '–';
const NAMES = [
  'Live latency',
  'Resolution',
  'Bitrate',
  'Network',
  'Dropped frames',
  'Buffer',
  'Codecs',
  'Protocol',
] as const;

type Row = (typeof NAMES)[number];

/** Shows or hides the playback statistics above the video, updated each second. */
export function toggleStats(reach: SeekableRange): void {
  const { stage } = reach;
  const open = stage.querySelector('.player-stats');
  if (open !== null) {
    open.remove();
    return;
  }
  const panel = document.createElement('section');
  panel.className = 'player-stats';
  panel.setAttribute('aria-label', 'Statistics');
  const close = document.createElement('button');
  Object.assign(close, { type: 'button', className: 'player-close', textContent: '✕', ariaLabel: 'Close' });
  close.addEventListener('click', () => panel.remove());
  const list = document.createElement('dl');
  const values = new Map<Row, HTMLElement>();
  for (const name of NAMES) {
    const [term, value] = [document.createElement('dt'), document.createElement('dd')];
    term.textContent = name;
    values.set(name, value);
    list.append(term, value);
  }
  panel.append(close, list);
  stage.append(panel);
  const show = () => {
    if (!panel.isConnected) return clearInterval(timer);
    for (const [name, text] of Object.entries(read(reach))) {
      const value = values.get(nameOf(name));
      if (value !== undefined && value.textContent !== text) value.textContent = text;
    }
  };
  const timer = setInterval(show, LOOK_MS);
  show();
}

function nameOf(name: string): Row {
  return NAMES.find((known) => known === name) ?? 'Protocol';
}

function read({ video, facts }: SeekableRange): Record<Row, string> {
  const { delaySec = null, bitrate = null, bandwidth = null, codecs = null, protocol = '' } = facts() ?? {};
  const { droppedVideoFrames, totalVideoFrames } = video.getVideoPlaybackQuality();
  const { videoWidth, videoHeight } = video;
  return {
    'Live latency': delaySec === null ? UNKNOWN : `${delaySec.toFixed(1)} s`,
    Resolution: videoWidth === 0 ? UNKNOWN : `${videoWidth} × ${videoHeight}${rateOf(facts()?.frameRate)}`,
    Bitrate: megabits(bitrate),
    Network: megabits(bandwidth),
    'Dropped frames': `${droppedVideoFrames} of ${totalVideoFrames}`,
    Buffer: `${bufferedAheadSec(video).toFixed(1)} s`,
    Codecs: codecs ?? UNKNOWN,
    Protocol: protocol === '' ? UNKNOWN : protocol,
  };
}

function rateOf(frameRate: number | null | undefined): string {
  return frameRate == null ? '' : `, ${Math.round(frameRate * 100) / 100} a second`;
}

function megabits(bits: number | null): string {
  return bits === null || !Number.isFinite(bits) ? UNKNOWN : `${(bits / 1e6).toFixed(2)} Mbit/s`;
}
