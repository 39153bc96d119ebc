import type { MediaKind } from './client/protocol.ts';
import type { Outcome } from './client/room-state.ts';

export type Device = 'CAMERA' | 'MICROPHONE';

const NAMES: Record<Device, { the: string; article: string }> = {
  CAMERA: { the: 'the camera', article: 'a camera' },
  MICROPHONE: { the: 'the microphone', article: 'a microphone' },
};

/** Why a device does not work, and what to do, by the error of `getUserMedia`. */
export function deviceProblem(device: Device, error: unknown): string {
  const { the, article } = NAMES[device];
  const name = error instanceof DOMException ? error.name : '';
  const message = error instanceof DOMException ? error.message : '';
  const without = `You can join without ${device === 'CAMERA' ? 'it' : 'it and listen'}.`;
  if (navigator.mediaDevices === undefined) {
    return `The browser gives ${the} to secure pages only: open this address with https. ${without}`;
  }
  switch (name) {
    case 'NotAllowedError':
    case 'SecurityError':
      return /system/i.test(message)
        ? `The system of this device keeps ${the} from the browser. Allow it in the privacy settings of the system, then try again. ${without}`
        : `The browser may not use ${the} here. Allow it by the icon beside the address of this page, then try again. ${without}`;
    case 'NotFoundError':
      return `No ${NAMES[device].article.slice(2)} was found. Connect ${article}, or switch it on, then try again. ${without}`;
    case 'NotReadableError':
    case 'AbortError':
      return `Another program uses ${the}, or it does not answer. Close that program or connect ${the} anew, then try again. ${without}`;
    default:
      return `The browser could not start ${the}. Try again, or choose another one. ${without}`;
  }
}

/** What the last screen says. */
export interface Ending {
  heading: string;
  text: string;
  /** Words of the button that begins again; null where that is of no use. */
  again: string | null;
}

const REMOVED_TEXT = 'The host has ended your visit. Ask the host if you think that this was a mistake.';

const ENDINGS: Record<Outcome, Ending> = {
  LEFT: { heading: 'You left the room.', text: 'You can close this page.', again: 'Join again' },
  REMOVED: { heading: 'You are no longer in this room.', text: REMOVED_TEXT, again: null },
  NOT_FOUND: {
    heading: 'Room not found.',
    text: 'The address may be mistyped, or the room may have been removed. Ask whoever gave you the address.',
    again: null,
  },
  TOKEN: {
    heading: 'This link has expired.',
    text: 'Links to a room run out. Ask the host for a new one, or wait for the host to let you in.',
    again: 'Ask to join',
  },
  FULL: {
    heading: 'The room is full.',
    text: 'The room has reached its participant limit. Try again later.',
    again: 'Try again',
  },
  ENDED: { heading: 'The room has ended.', text: 'Thank you for being there.', again: null },
  REPLACED: {
    heading: 'You joined from another window or device.',
    text: 'The same link was opened in another window or on another device, and you are in the room there.',
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

/** Why a room has ended, by the gateway's reason. */
const END_REASONS: Record<string, string> = {
  CALL: 'A host has ended it. Thank you for being there.',
  MAX_DURATION: 'The maximum duration was reached.',
  EXPIRED: 'Its time is over.',
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
  const text = words === '' ? ending.text : `${words} Ask the host if you think that this was a mistake.`;
  return { ...ending, text, ...(wasIn ? {} : { heading: 'You cannot join.' }) };
}

/** What a host did about what this participant sends. */
export const MUTED_WORDS: Record<MediaKind, { muted: string; lifted: string }> = {
  AUDIO: { muted: 'The host has muted you.', lifted: 'The host lets you speak again.' },
  VIDEO: { muted: 'The host has stopped your camera.', lifted: 'The host lets you show yourself again.' },
  SCREEN: {
    muted: 'The host has stopped your screen.',
    lifted: 'The host lets you share your screen again.',
  },
};

/** How somebody went, by the gateway's reason. */
export function leftWords(name: string, reason: string): string {
  switch (reason) {
    case 'KICKED':
      return `${name} was removed.`;
    case 'TIMEOUT':
      return `${name} has lost the connection.`;
    default:
      return `${name} has left.`;
  }
}

/** What somebody is called who gave no name. */
export function nameOf({ name, identity }: { name: string | null; identity: string }): string {
  return name ?? `Guest ${identity.slice(-4)}`;
}
