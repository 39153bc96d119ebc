import type { Secrets } from './secrets.ts';

type Signing = Pick<Secrets, 'sign' | 'verify'>;

/**
 * Returns `<head>.<signature>`: the head is readable but cannot be forged.
 *
 * @param of the subject the token is valid for.
 */
export function signToken(
  secrets: Signing,
  purpose: string,
  { head, of }: { head: string; of: string },
): string {
  return `${head}.${secrets.sign(purpose, `${head}.${of}`)}`;
}

/** The head; null when it was not sealed for this purpose and thing. */
export function verifyToken(
  secrets: Signing,
  purpose: string,
  { text, of }: { text: string; of: string },
): string | null {
  const end = text.lastIndexOf('.');
  if (end <= 0) return null;
  const head = text.slice(0, end);
  return secrets.verify(purpose, `${head}.${of}`, text.slice(end + 1)) ? head : null;
}
