/** What a post may say, pure. Whether it may be posted at all, the service decides. */

/** Control characters but for the line break, `\n` or `\r\n`; tags and the rest of the invisible are left to the display. */
const CONTROL = /(?!\r?\n)\p{Cc}/u;
/** Something that can be seen. */
const VISIBLE = /[^\p{C}\p{Z}\s]/u;

/** @returns what is wrong with the text, as a sentence; null when nothing is. */
export function validateText(text: string): string | null {
  if (CONTROL.test(text)) return 'text must not contain control characters.';
  return VISIBLE.test(text) ? null : 'text must contain visible characters.';
}

/** Scripts that are written without spaces: a word in them has no edges to look for. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;
const LETTER = '[\\p{L}\\p{N}\\p{M}]';

/** One form for what looks the same: compatibility forms, case, and what is invisible between letters. */
function folded(text: string): string {
  return text
    .normalize('NFKC')
    .replaceAll(/\p{Cf}/gu, '')
    .toLowerCase();
}

/** Does the text have one of the words, as a whole word? */
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

/** A name as a guest gives it, on one line; null when it cannot be one. */
export function parseGuestName(name: string): string | null {
  const plain = name
    .normalize('NFC')
    .replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '')
    .replaceAll(/\s+/gu, ' ')
    .trim();
  const { length } = [...plain];
  return length > 0 && length <= NAME_MAX && VISIBLE.test(plain) ? plain : null;
}

/** Would people take one name for the other? */
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

/** What is said in a chat whose settings were changed. @param changes fields of the stream. */
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
