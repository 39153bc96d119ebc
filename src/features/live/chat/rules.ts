/** Pure rules for the text of a post. The service decides whether posting is allowed. */

/**
 * Control characters except the line break, `\n` or `\r\n`; tags and other invisible characters are left to
 * the display.
 */
const CONTROL = /(?!\r?\n)\p{Cc}/u;
/** Visible character. */
const VISIBLE = /[^\p{C}\p{Z}\s]/u;

/** @returns the error message for the text; null when the text is valid. */
export function validateText(text: string): string | null {
  if (CONTROL.test(text)) return 'text must not contain control characters.';
  return VISIBLE.test(text) ? null : 'text must contain visible characters.';
}

/** Scripts written without spaces, in which a word has no boundaries. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;
const LETTER = '[\\p{L}\\p{N}\\p{M}]';

/**
 * Normalizes text that looks alike to one form: compatibility forms, case, and invisible characters between
 * letters.
 */
function folded(text: string): string {
  return text
    .normalize('NFKC')
    .replaceAll(/\p{Cf}/gu, '')
    .toLowerCase();
}

/** Reports whether the text contains one of the words as a whole word. */
export function hasBannedWord(text: string, words: readonly string[]): boolean {
  if (words.length === 0) return false;
  const parts = words.map((word) => {
    const plain = folded(word).trim();
    const escaped = plain.split(/\s+/u).map(RegExp.escape).join('\\s+');
    return UNSPACED.test(plain) ? escaped : `(?<!${LETTER})${escaped}(?!${LETTER})`;
  });
  return new RegExp(parts.join('|'), 'u').test(folded(text));
}

export const NAME_MAX = 30;

/** Parses the name of a guest to one line; returns null when it is invalid. */
export function parseGuestName(name: string): string | null {
  const plain = name
    .normalize('NFC')
    .replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '')
    .replaceAll(/\s+/gu, ' ')
    .trim();
  const { length } = [...plain];
  return length > 0 && length <= NAME_MAX && VISIBLE.test(plain) ? plain : null;
}

/** Reports whether people would confuse the two names. */
export function isSameName(a: string, b: string): boolean {
  const plain = (name: string) => folded(name).replaceAll(/[^\p{L}\p{N}]/gu, '');
  return plain(a) === plain(b) && plain(a) !== '';
}

/** Chat modes in which a visitor writes only with the entitlement of that name. */
export const RESTRICTED_MODES = ['FOLLOWERS', 'TIER'] as const;
export type RestrictedMode = (typeof RESTRICTED_MODES)[number];

/** @param entitledModes restricted modes for which the visitor has the entitlement. */
export function mayGuestWrite(
  mode: Openness['chat_mode'],
  entitledModes: readonly RestrictedMode[],
): boolean {
  return mode === 'OPEN' || entitledModes.some((one) => one === mode);
}

interface Openness {
  chat_enabled: boolean;
  chat_mode: 'OPEN' | 'FOLLOWERS' | 'TIER' | 'OFF';
  slow_mode_sec: number;
}

const WHO_WRITES = {
  OPEN: 'Chat is open to everyone.',
  FOLLOWERS: 'Chat is open to followers only.',
  TIER: 'Chat is open to members only.',
  OFF: 'Chat is disabled.',
} as const;

/**
 * Returns the announcements for changed chat settings.
 * @param changes changed fields of the stream.
 */
export function settingsAnnouncements(
  chat: Openness,
  changes: Readonly<Record<string, { from: unknown } | undefined>>,
): string[] {
  const mode = chat.chat_enabled ? chat.chat_mode : 'OFF';
  const { chatEnabled, chatMode, slowModeSec } = changes;
  const wasEnabled = chatEnabled === undefined ? chat.chat_enabled : chatEnabled.from === true;
  const before = wasEnabled ? (chatMode?.from ?? chat.chat_mode) : 'OFF';
  const said: string[] = before === mode ? [] : [WHO_WRITES[mode]];
  if (slowModeSec === undefined || mode === 'OFF') return said;
  const { slow_mode_sec: seconds } = chat;
  const every = seconds === 1 ? 'second' : `${seconds} seconds`;
  said.push(seconds === 0 ? 'Slow mode is off.' : `Slow mode: guests can post once every ${every}.`);
  return said;
}
