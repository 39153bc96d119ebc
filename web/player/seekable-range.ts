import type { EngineState } from './playback.ts';
import type { View } from './view.ts';

/** Seekable range, in seconds of the element. `end` of a broadcast is the live position. */
export interface Span {
  start: number;
  end: number;
  isLive: boolean;
}

/** Playback state available to the shortcuts, their list and the statistics. */
export interface SeekableRange {
  stage: HTMLElement;
  video: HTMLVideoElement;
  /** Reports whether there is something to play. */
  hasPicture(): boolean;
  hasFocus(): boolean;
  /** Returns the seekable range; null if there is none: a broadcast without a DVR window. */
  span(): Span | null;
  seek(second: number): void;
  frameRate(): number;
  facts(): EngineState | null;
  /** Sends a request to the controls, by the name of a media-chrome event. */
  request(name: string): void;
  /** Shows a brief message; an empty text clears it. */
  say(text: string): void;
  open(panel: Panel): void;
}

export type Panel = 'stats' | 'keys';

interface Source {
  view: View;
  isBroadcast: boolean;
  hasPicture(): boolean;
  facts(): EngineState | null;
  open(panel: Panel, reach: SeekableRange): void;
}

/** Minimum DVR window, in seconds, for a seek bar; the usual window is shorter. */
const SEEKABLE_SEC = 45;
const SAID_MS = 900;
const USUAL_FRAME_RATE = 30;

export function createSeekableRange({ view, isBroadcast, hasPicture, facts, open }: Source): SeekableRange {
  const { stage, video, controller, said } = view;
  let saidTimer: ReturnType<typeof setTimeout> | undefined;
  const reach: SeekableRange = {
    ...{ stage, video, hasPicture, facts },
    hasFocus: () => stage.contains(document.activeElement) || document.fullscreenElement === stage,
    span: () => (isBroadcast ? liveSpan(video, facts()) : videoSpan(video)),
    seek(second) {
      video.currentTime = second;
    },
    frameRate: () => facts()?.frameRate ?? USUAL_FRAME_RATE,
    request: (name) =>
      void controller.dispatchEvent(new CustomEvent(name, { composed: true, bubbles: true })),
    say(text) {
      clearTimeout(saidTimer);
      said.textContent = text;
      if (text !== '') saidTimer = setTimeout(() => said.replaceChildren(), SAID_MS);
    },
    open: (panel) => open(panel, reach),
  };
  return reach;
}

function videoSpan(video: HTMLVideoElement): Span | null {
  return Number.isFinite(video.duration) ? { start: 0, end: video.duration, isLive: false } : null;
}

function liveSpan({ seekable }: HTMLVideoElement, facts: EngineState | null): Span | null {
  if (seekable.length === 0) return null;
  const [start, edge] = [seekable.start(0), seekable.end(seekable.length - 1)];
  if (edge - start < SEEKABLE_SEC) return null;
  return { start, end: Math.min(edge, facts?.liveSec ?? edge), isLive: true };
}
