import type { EngineState } from './playback.ts';
import type { View } from './view.ts';

/** Where one can seek, in seconds of the element. `end` of a broadcast is where one is live. */
export interface Span {
  start: number;
  end: number;
  isLive: boolean;
}

/** What the keys, the list of keys and the statistics can get at. */
export interface SeekableRange {
  stage: HTMLElement;
  video: HTMLVideoElement;
  /** There is something to play. */
  hasPicture(): boolean;
  hasFocus(): boolean;
  /** Null where there is nowhere to go: a broadcast of which only the present can be watched. */
  span(): Span | null;
  seek(second: number): void;
  frameRate(): number;
  facts(): EngineState | null;
  /** Asks the controls, by one of media-chrome's names of events. */
  request(name: string): void;
  /** Shows a few words for a moment; none for an empty text. */
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

/** A broadcast that can be watched from so long ago has a line to seek on; the usual window is shorter. */
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
