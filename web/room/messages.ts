import type { MediaKind } from './client/protocol.ts';
import type { Outcome } from './client/room-state.ts';

export type Device = 'CAMERA' | 'MICROPHONE';

const NAMES: Record<Device, { the: string; article: string }> = {
  CAMERA: { the: 'the camera', article: 'a camera' },
  MICROPHONE: { the: 'the microphone', article: 'a microphone' },
};

/** Returns the problem of a device and its remedy, by the error of `getUserMedia`. */
export function deviceProblem(device: Device, error: unknown): string {
  const { the, article } = NAMES[device];
  const name = error instanceof DOMException ? error.name : '';
  const message = error instanceof DOMException ? error.message : '';
  const without = `You can join without ${device === 'CAMERA' ? 'it' : 'it and listen'}.`;
  if (navigator.mediaDevices === undefined) {
    return `The browser allows ${the} only on secure pages. Open this page with https. ${without}`;
  }
  switch (name) {
    case 'NotAllowedError':
    case 'SecurityError':
      return /system/i.test(message)
        ? `The operating system blocks ${the} for the browser. Allow it in the system's privacy settings, then try again. ${without}`
        : `The browser is not allowed to use ${the} here. Allow it with the icon next to the address bar, then try again. ${without}`;
    case 'NotFoundError':
      return `No ${NAMES[device].article.slice(2)} was found. Connect ${article} or turn it on, then try again. ${without}`;
    case 'NotReadableError':
    case 'AbortError':
      return `Another program is using ${the}, or it is not responding. Close that program or reconnect ${the}, then try again. ${without}`;
    default:
      return `The browser could not start ${the}. Try again, or choose another device. ${without}`;
  }
}

/** Texts of the last screen. */
export interface Ending {
  heading: string;
  text: string;
  /** Label of the button that starts over; null if that is useless. */
  again: string | null;
}

const REMOVED_TEXT = 'The host removed you from the room. Contact the host if you think this was a mistake.';

const ENDINGS: Record<Outcome, Ending> = {
  LEFT: { heading: 'You left the room.', text: 'You can close this page.', again: 'Join again' },
  REMOVED: { heading: 'You are no longer in this room.', text: REMOVED_TEXT, again: null },
  NOT_FOUND: {
    heading: 'Room not found.',
    text: 'The URL may be mistyped, or the room may have been removed. Ask the person who invited you.',
    again: null,
  },
  TOKEN: {
    heading: 'This link has expired.',
    text: 'Room links expire. Ask the host for a new one, or wait for the host to admit you.',
    again: 'Ask to join',
  },
  FULL: {
    heading: 'The room is full.',
    text: 'The room has reached its participant limit. Try again later.',
    again: 'Try again',
  },
  ENDED: { heading: 'The room has ended.', text: 'Thank you for joining.', again: null },
  REPLACED: {
    heading: 'You joined from another window or device.',
    text: 'You joined with the same link in another window or on another device.',
    again: 'Join here instead',
  },
  BAD_MESSAGE: {
    heading: 'Connection lost.',
    text: 'The page and server are out of sync. Reload the page.',
    again: 'Reload',
  },
  NO_ENGINE: {
    heading: 'This page is out of date.',
    text: 'The server was updated. Reload the page.',
    again: 'Reload',
  },
};

/** Reasons for the end of a room, by the gateway's code. */
const END_REASONS: Record<string, string> = {
  CALL: 'A host ended the room. Thank you for joining.',
  MAX_DURATION: 'The maximum duration was reached.',
  EXPIRED: 'The time limit of the room was reached.',
  ALONE: 'You were the last participant.',
};

/**
 * The last screen.
 *
 * @param words of the gateway: a sentence, or the reason why a room has ended.
 * @param wasIn whether this visitor has been in the room.
 */
export function endingOf(outcome: Outcome, words: string, wasIn: boolean): Ending {
  const ending = ENDINGS[outcome];
  if (outcome === 'ENDED') return { ...ending, text: END_REASONS[words] ?? ending.text };
  if (outcome !== 'REMOVED') return ending;
  const text = words === '' ? ending.text : `${words} Contact the host if you think this was a mistake.`;
  return { ...ending, text, ...(wasIn ? {} : { heading: 'You cannot join.' }) };
}

/** Messages about a host's mutes of this participant. */
export const MUTED_MESSAGES: Record<MediaKind, { muted: string; lifted: string }> = {
  AUDIO: { muted: 'The host muted you.', lifted: 'The host allowed your microphone.' },
  VIDEO: { muted: 'The host stopped your camera.', lifted: 'The host allowed your camera.' },
  SCREEN: {
    muted: 'The host stopped your screen sharing.',
    lifted: 'The host allowed your screen sharing.',
  },
};

/** Returns the message for a participant who left, by the gateway's reason. */
export function leaveMessage(name: string, reason: string): string {
  switch (reason) {
    case 'KICKED':
      return `${name} was removed.`;
    case 'TIMEOUT':
      return `${name} lost connection.`;
    default:
      return `${name} left.`;
  }
}

/** Returns the name of a participant, or a placeholder for a missing one. */
export function nameOf({ name, identity }: { name: string | null; identity: string }): string {
  return name ?? `Guest ${identity.slice(-4)}`;
}
