import { badRequest } from '../../../kernel/errors.ts';

/** Pure rules for the profile of a channel. */

/** Control characters except the line break of a description. */
const CONTROL = /(?!\n)\p{Cc}/u;
/** Visible character. */
const VISIBLE = /[^\p{C}\p{Z}\s]/u;

/** Returns the ID of a channel, derived from that of its workspace. */
export function channelIdOf(workspaceId: string): string {
  return workspaceId.replace(/^wsp_/, 'chn_');
}

/** Parses one line of text. @throws {AppError} BAD_REQUEST naming the field. */
function parseLine(field: string, text: string): string {
  const line = text.trim();
  if (CONTROL.test(line) || line.includes('\n')) {
    throw badRequest(field, `${field} must not contain line breaks or control characters.`);
  }
  if (!VISIBLE.test(line)) throw badRequest(field, `${field} must contain visible characters.`);
  return line;
}

/**
 * Parses a display name; null uses the name of the account. @throws {AppError} BAD_REQUEST, field
 * `displayName`.
 */
export function parseDisplayName(name: string | null): string | null {
  return name === null || name.trim() === '' ? null : parseLine('displayName', name);
}

/** Parses a description; null for none. @throws {AppError} BAD_REQUEST, field `description`. */
export function parseDescription(description: string | null): string | null {
  const text = description?.replaceAll('\r\n', '\n').trim() ?? '';
  if (CONTROL.test(text)) throw badRequest('description', 'description must not contain control characters.');
  return text === '' ? null : text;
}

/**
 * Parses the links of a channel. The platform never opens them.
 *
 * @throws {AppError} BAD_REQUEST, field `links.<n>.label` or `links.<n>.url`.
 */
export function parseLinks(
  links: readonly { label: string; url: string }[],
): { label: string; url: string }[] {
  return links.map(({ label, url }, index) => {
    const field = `links.${index}.url`;
    const address = URL.parse(url.trim());
    if (address === null || !/^https?:$/.test(address.protocol)) {
      throw badRequest(field, `${field} must be a URL starting with https:// or http://.`);
    }
    if (address.username !== '' || address.password !== '') {
      throw badRequest(field, `${field} must not contain a username or password.`);
    }
    return { label: parseLine(`links.${index}.label`, label), url: address.href };
  });
}
