import { badRequest } from '../../../kernel/errors.ts';

/** What channels say of themselves, pure. */

/** Control characters; the line break of a description is none here. */
const CONTROL = /(?!\n)\p{Cc}/u;
/** Something that can be seen. */
const VISIBLE = /[^\p{C}\p{Z}\s]/u;

/** The id of a channel, which is its workspace's by another name. */
export function channelIdOf(workspaceId: string): string {
  return workspaceId.replace(/^wsp_/, 'chn_');
}

/** One line of text as it is shown. @throws {AppError} BAD_REQUEST naming the field. */
function parseLine(field: string, text: string): string {
  const line = text.trim();
  if (CONTROL.test(line) || line.includes('\n')) {
    throw badRequest(field, `${field} must not contain line breaks or control characters.`);
  }
  if (!VISIBLE.test(line)) throw badRequest(field, `${field} must contain visible characters.`);
  return line;
}

/** Null: the name of the account. @throws {AppError} BAD_REQUEST, field `displayName`. */
export function parseDisplayName(name: string | null): string | null {
  return name === null || name.trim() === '' ? null : parseLine('displayName', name);
}

/** Null for none. @throws {AppError} BAD_REQUEST, field `description`. */
export function parseDescription(description: string | null): string | null {
  const text = description?.replaceAll('\r\n', '\n').trim() ?? '';
  if (CONTROL.test(text)) throw badRequest('description', 'description must not contain control characters.');
  return text === '' ? null : text;
}

/**
 * Links as they are shown: nobody here ever opens them.
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
