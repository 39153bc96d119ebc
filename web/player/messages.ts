import type { Phase } from './playback.ts';

/** Kind of media in the player: a live broadcast or a video. */
export type Kind = 'broadcast' | 'video';
/** `state` is the short label, `message` the sentence below the title. */
type Words = Record<Phase, { state: string; message: string }>;

const BROADCAST: Words = {
  offline: {
    state: 'Offline',
    message: 'The broadcast has not started yet. Playback starts automatically when it does.',
  },
  starting: { state: 'Live', message: 'Waiting for video…' },
  live: { state: 'Live', message: 'The broadcast is live.' },
  interrupted: {
    state: 'Live',
    message: 'The signal was interrupted. The broadcast will resume when it returns.',
  },
  reconnecting: {
    state: 'Connection lost',
    message: 'Cannot reach the server. Check your connection. Retrying…',
  },
  ended: {
    state: 'Ended',
    message: 'The broadcast has ended. If it starts again, playback resumes here.',
  },
  failed: {
    state: 'Problem',
    message:
      'This browser cannot play the current format of the broadcast. Try another browser; playback starts if the format changes.',
  },
};

const VIDEO: Words = {
  offline: {
    state: 'Processing',
    message: 'This video is still processing. Playback starts automatically when it is ready.',
  },
  starting: { state: 'Video', message: 'Loading…' },
  live: { state: 'Video', message: 'The video can be played.' },
  interrupted: { state: 'Video', message: 'Buffering…' },
  reconnecting: {
    state: 'Connection lost',
    message: 'Cannot reach the server. Check your connection. Retrying…',
  },
  ended: { state: 'Not available', message: 'This video is no longer available.' },
  failed: { state: 'Problem', message: 'This browser cannot play the video.' },
};

/** Texts shown to viewers in each phase. */
export const MESSAGES: Record<Kind, Words> = { broadcast: BROADCAST, video: VIDEO };

/** Instead of the message of `reconnecting`, when the browser knows that it has no network. */
export const NO_NETWORK = 'This device is offline. Playback resumes when the connection is back.';
export const RETRY = 'Try again';
export const UNMUTE = 'Unmute';
export const NO_REAL_TIME = 'Real-time playback is not available';

const DAY_MS = 86_400_000;
const UNITS = [
  ['day', DAY_MS],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;

/** "in 2 hours", "12 minutes ago", in the language of the viewer. */
export function relativeTime(at: Date, now: Date): string {
  const ms = at.getTime() - now.getTime();
  const [unit, size] = UNITS.find(([, length]) => Math.abs(ms) >= length) ?? (['minute', 60_000] as const);
  return new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' }).format(Math.trunc(ms / size), unit);
}

/** "2 days 04:05:06": how long it is until then. */
export function countdown(at: Date, now: Date): string {
  const seconds = Math.max(0, Math.ceil((at.getTime() - now.getTime()) / 1000));
  const two = (value: number) => String(Math.trunc(value)).padStart(2, '0');
  const clock = [(seconds / 3600) % 24, (seconds / 60) % 60, seconds % 60].map(two).join(':');
  const days = Math.trunc(seconds / 86_400);
  if (days === 0) return clock;
  const format = new Intl.NumberFormat(undefined, { style: 'unit', unit: 'day', unitDisplay: 'long' });
  return `${format.format(days)} ${clock}`;
}

/** Formats a time in the viewer's time zone, with its name. */
export function localTime(at: Date): string {
  return new Intl.DateTimeFormat(undefined, {
    weekday: 'long',
    day: 'numeric',
    month: 'long',
    hour: 'numeric',
    minute: '2-digit',
    timeZoneName: 'short',
  }).format(at);
}

/** Formats a date in the viewer's time zone. */
export function localDate(at: Date): string {
  return new Intl.DateTimeFormat(undefined, { dateStyle: 'long' }).format(at);
}

/** "1,024 watching", in the figures of the viewer. */
export function formatViewerCount(count: number): string {
  return `${new Intl.NumberFormat().format(count)} watching`;
}
